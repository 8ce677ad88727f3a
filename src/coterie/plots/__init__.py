"""Pictures for papers, from the summary of a run: drawn by matplotlib, each with its numbers as a table.

A picture is an entry of `figures.FIGURES`. Names, numbers, units and colours are those of the page.
"""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coterie.errors import UsageError, hint
from coterie.files import write
from coterie.plots.figures import FIGURES, numbers_of
from coterie.report.view import View
from coterie.studies.rows import Summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FIGURES", "FORMATS", "draw", "save"]
FORMATS = ("pdf", "svg", "png")
DATELESS: dict[str, Any] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}  # the same run gives the same file
STYLE = Path(__file__).parent / "style.mplstyle"


def draw(summary: Summary, figure: str = "regret") -> "Figure":
    """The picture, not yet saved."""
    if figure not in FIGURES:
        raise UsageError(f"figure must be one of {', '.join(FIGURES)}, got {figure!r}{hint(figure, FIGURES)}")
    view, kind = View(summary), FIGURES[figure]
    if why := kind.missing(view):
        raise UsageError(f"figure {figure} {why}")
    with _style():
        picture = _new()
        kind.draw(view, picture.subplots())
    return picture


def save(summary: Summary, path: Path, figure: str = "regret") -> Path:
    """The picture in the format its name ends in, and its numbers beside it; returns where these are."""
    _save(draw(summary, figure), path)
    table = path.with_suffix(".csv")
    write(table, numbers_of(FIGURES[figure], View(summary)))
    return table


def need_matplotlib() -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise UsageError("pictures need matplotlib: pip install 'coterie[plot]'") from None


@contextmanager
def picture_file(path: Path) -> Iterator[Any]:
    """Axes to draw into; they are saved at the end."""
    _check(path)
    with _style():
        picture = _new()
        yield picture.subplots()
    _save(picture, path)


def _save(picture: "Figure", path: Path) -> None:
    kind, image = _check(path), io.BytesIO()
    with _style():
        picture.savefig(image, format=kind, metadata=DATELESS.get(kind))
    write(path, image.getvalue())


def _check(path: Path) -> str:
    if path.suffix[1:] not in FORMATS:
        raise UsageError(f"a picture must have a name that ends in one of {', '.join(FORMATS)}, got {path.name!r}")
    return path.suffix[1:]


def _new() -> "Figure":
    from coterie.plots.picture import Picture

    return Picture()


def _style() -> Any:
    need_matplotlib()
    from matplotlib import style

    return style.context(STYLE)
