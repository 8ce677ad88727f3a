"""Compiled code is kept in one folder."""

from pathlib import Path

import pytest

from coterie.kernel import caching
from coterie.network import complete, distances, graphs


def code_of(folder: Path) -> set[Path]:
    return set(folder.rglob("*.nbi"))


def test_graphs_and_distances_compile_into_the_folder_of_everything_else():
    beside = code_of(Path(graphs.__file__).parent)
    assert distances(complete(5)).sum() == 20
    place = Path(graphs._pairs.stats.cache_path)
    assert place.is_relative_to(caching.cache_folder())
    assert any(file.name.startswith("graphs._pairs") for file in code_of(place))
    assert code_of(Path(graphs.__file__).parent) == beside


@pytest.fixture
def fresh(monkeypatch):
    """The folder is asked for anew."""
    monkeypatch.setattr(caching, "cache_folder", caching.cache_folder.__wrapped__)
    return monkeypatch


def test_the_folder_is_the_one_that_is_named(fresh, tmp_path):
    fresh.setenv("COTERIE_CACHE", str(tmp_path / "own"))
    assert caching.cache_folder() == tmp_path / "own" and list((tmp_path / "own").iterdir()) == []


def test_a_folder_that_cannot_be_written_is_replaced_by_a_temporary_one(fresh, tmp_path):
    (tmp_path / "file").write_text("")
    fresh.setenv("COTERIE_CACHE", str(tmp_path / "file" / "below"))
    assert caching.cache_folder().name.startswith("coterie-")
