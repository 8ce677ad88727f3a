"""The folder for what can be made again: where it is, and what becomes of what is kept there."""

import os
from pathlib import Path

import pytest

from coterie import cache

TEXT = '"""Of a test."""\n'


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("COTERIE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_warned", [])
    return tmp_path / "cache"


def test_a_folder_may_be_named_from_home(tmp_path, monkeypatch):
    """As in a unit's file of variables, which no shell reads."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("COTERIE_CACHE", "~/engines")
    assert cache.cache_folder() == tmp_path / "engines"


def test_a_text_that_was_cut_short_is_written_again(folder):
    path = cache.keep("coterie_test_text.py", TEXT)
    path.write_text(TEXT[:20])
    assert cache.keep("coterie_test_text.py", TEXT) == path == folder / "coterie_test_text.py"
    assert path.read_text() == TEXT and os.listdir(folder) == [path.name]


def test_a_user_without_a_home_has_a_cache_for_a_while(monkeypatch, caplog):
    def homeless(_):
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("COTERIE_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "expanduser", homeless)
    assert cache.keep("coterie_test_homeless.py", TEXT).read_text() == TEXT
    assert len(caplog.messages) == 1
