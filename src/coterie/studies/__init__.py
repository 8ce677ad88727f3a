"""Studies: a file says which algorithms meet which problem on which network; a run leaves results one can trust and repeat."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from coterie.studies.reading import BUILTIN, load
from coterie.studies.results import Result, make_result, open_folder, read_result
from coterie.studies.running import Progress, check_rows, run_batches
from coterie.studies.spec import Specification

__all__ = ["BUILTIN", "Result", "Study", "builtin_studies", "load_study"]


class Study:
    """A study that was read and checked. `specification` holds every value, defaults filled in."""

    def __init__(self, specification: Specification):
        self.specification = specification

    @property
    def folder(self) -> Path:
        """Where the command puts a run by default."""
        return Path("runs") / f"{self.specification.name}-{self.specification.digest}"

    def run(self, workers: int | None = None, out: Path | str | None = None, progress: Progress | None = None) -> Result:
        """Run it, on all cores by default. With `out`, keep everything there and go on with what was begun there."""
        check_rows(self.specification)
        if out is None:
            return make_result(self.specification, run_batches(self.specification, workers, None, progress))
        folder = Path(out)
        if open_folder(self.specification, folder):
            return read_result(self.specification, folder)
        result = make_result(self.specification, run_batches(self.specification, workers, folder / "parts", progress))
        result.write(folder)
        shutil.rmtree(folder / "parts", ignore_errors=True)
        return result


def load_study(source: str | Path | Mapping[str, Any], sets: Sequence[str] = ()) -> Study:
    """A study by the path of its file, by the name of a built-in one, or from a dict.

    >>> load_study("li-song-4").specification.horizon
    100000
    """
    return Study(load(source, sets))


def builtin_studies() -> dict[str, str]:
    """Names and titles."""
    import tomllib

    return {path.stem: tomllib.loads(path.read_text())["title"] for path in sorted(BUILTIN.glob("*.toml"))}
