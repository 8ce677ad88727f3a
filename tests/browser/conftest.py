"""One browser for all tests of this folder, and what looks at a page with it."""

import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

LOOK = (Path(__file__).parent / "look.js").read_text(encoding="utf-8")
WIDTHS, SCHEMES = (360, 420, 700, 900, 1400), ("light", "dark")
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
OPEN_ALL = "document.querySelectorAll('details').forEach(one => { one.open = true })"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """The installed one: nothing is fetched. It is closed after each file: while it is open no other loop can run."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip("needs an installed Chromium")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as play:
        found = play.chromium.launch(executable_path=program)
        yield found
        found.close()


@pytest.fixture(scope="module")
def opened(browser: Any) -> Callable[..., Any]:
    """Opens a file or an address in a window of its own and closes it; what the page does on its own is kept in `noise`."""

    @contextmanager
    def window(place: Path | str, **options: Any) -> Iterator[Any]:
        context = browser.new_context(**{"viewport": {"width": 1400, "height": 1000}} | options)
        page, address = context.new_page(), place.as_uri() if isinstance(place, Path) else place
        page.noise = []
        page.on("console", lambda message: page.noise.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: page.noise.append(f"error: {error}"))
        page.on("request", lambda asked: page.noise.append(f"request: {asked.url}") if is_foreign(asked.url, address) else None)
        try:
            page.goto(address)
            yield page
        finally:
            context.close()

    return window


def is_foreign(asked: str, address: str) -> bool:
    """Whether somebody else is asked: of a file its own folder is somebody else, too."""
    own = asked.startswith(address) if address.startswith("http") else asked.partition("#")[0] == address
    return not own and not asked.startswith(("data:", "blob:"))


@pytest.fixture(scope="module")
def look(opened: Callable[..., Any]) -> Callable[..., list[str]]:
    """All that is wrong with the looks of a page, in every width, light and dark."""

    def faults(path: Path, hero: bool = False, widths: Sequence[int] = WIDTHS) -> list[str]:
        with opened(path) as page:
            found = []
            for width in widths if hero else ():
                page.set_viewport_size({"width": width, "height": 1000})
                found += hero_faults(page, width)
            page.evaluate(OPEN_ALL)
            for width in widths:
                page.set_viewport_size({"width": width, "height": 1000})
                for scheme in SCHEMES:
                    page.emulate_media(color_scheme=scheme)
                    found += [f"{width} px, {scheme}: {fault}" for fault in page.evaluate(LOOK)]
            return found + page.noise

    return faults


def hero_faults(page: Any, width: int) -> list[str]:
    """The first picture is seen within 1,000 px: all of it on a wide screen, its first 300 px on others."""
    box = page.locator("#hero").bounding_box()
    seen = box["y"] + (box["height"] if width > 1000 else min(300, box["height"]))
    return [f"{width} px: the hero is seen only after {seen:.0f} px"] if seen > 1000 else []


@pytest.fixture(scope="module")
def sheets() -> Callable[[Any], int]:
    """How many sheets of A4 a page prints on."""

    def count(page: Any) -> int:
        return len(re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True)))

    return count


@pytest.fixture(scope="module")
def saved() -> Callable[..., str]:
    """What a button below a picture leaves on the disk."""

    def text(page: Any, figure: Any, form: str) -> str:
        with page.expect_download() as download:
            figure.get_by_role("button", name=form).click()
        assert download.value.suggested_filename.endswith(f".{form.lower()}")
        return Path(download.value.path()).read_text(encoding="utf-8")

    return text
