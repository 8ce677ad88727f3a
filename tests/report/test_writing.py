"""Every page is written as a whole or not at all."""

import pytest

from coterie.errors import StorageError
from coterie.report import audit, statement, study

WRITERS = {
    "report.html": lambda folder: study.write(folder / "report.html", {}, {}),
    "audit.html": lambda folder: audit.write(folder, {"verdict": "none"}),
    "statement.html": lambda folder: statement.write(folder / "statement.html", {}),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_page_on_a_full_disk_is_an_error_of_storage_and_leaves_no_half(tmp_path, monkeypatch, full_disk, name):
    for module in (study, audit, statement):
        monkeypatch.setattr(module, "render", lambda *_: "a page of ε" * 100)
    WRITERS[name](tmp_path / "before")
    assert (tmp_path / "before" / name).read_text(encoding="utf-8") == "a page of ε" * 100
    full_disk()
    with pytest.raises(StorageError, match="cannot be written: No space left on device"):
        WRITERS[name](tmp_path / "after")
    assert list((tmp_path / "after").iterdir()) == []
