"""The cache of engines saves time; whatever is wrong with it, a run goes on."""

import errno
import os
import shutil
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from numba import njit, types

from coterie import cache
from coterie.engines.bind import import_text
from coterie.errors import StorageError
from coterie.files import locked
from coterie.kernel import caching
from coterie.kernel.caching import keep_compiled
from coterie.network import complete, distances, graphs
from coterie.network.distances import eccentricities, near

TEXT = '"""Of a test."""\n\n\ndef run(x):\n    return 3 * x\n'
REMEDY = "COTERIE_CACHE may name another folder"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("COTERIE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_warned", [])
    return tmp_path / "cache"


def compiled(name, text=TEXT):
    """As a new process would find it: (the answer, whether it was found and not compiled)."""
    sys.modules.pop(name, None)
    run = keep_compiled(njit(import_text(name, text).run))
    return run(14), sum(run.stats.cache_hits.values()) == 1


def test_what_was_compiled_is_found_again(folder):
    assert [compiled("coterie_test_kept") for _ in range(2)] == [(42, False), (42, True)]
    assert {path.suffix for path in folder.rglob("*") if path.is_file()} == {".py", ".nbi", ".nbc"}


def test_what_another_one_is_compiling_is_left_to_it_or_waited_for(folder):
    run = keep_compiled(njit(import_text("coterie_test_locked", TEXT).run))
    signature = (types.int64,)
    with locked(folder / "coterie_test_locked.py"):
        assert run.compile(signature, wait=False) is None and not run.overloads
        waiting = threading.Thread(target=run.compile, args=(signature,))
        waiting.start()
        waiting.join(0.2)
        assert waiting.is_alive() and not run.overloads
    waiting.join()
    assert signature in run.overloads


def cut(content):
    return content[: len(content) // 2]


def flipped(content):
    """In the middle: of the code and not of what surrounds it."""
    place = len(content) // 2
    return content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :]


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", [cut, flipped, lambda _: b"", lambda _: b"noise"], ids=["cut", "flipped", "empty", "noise"])
def test_damaged_code_is_compiled_anew_and_kept(folder, suffix, damage):
    name = f"coterie_test_{suffix}"
    compiled(name)
    (file,) = folder.rglob(f"*.{suffix}")
    file.write_bytes(damage(file.read_bytes()))
    assert [compiled(name) for _ in range(2)] == [(42, False), (42, True)]


def test_what_one_process_cannot_load_is_not_taken_from_the_others(folder, monkeypatch):
    """One without memory, or about to end, once emptied the index for everybody."""

    def refused(*_):
        raise MemoryError

    compiled("coterie_test_shared")
    with monkeypatch.context() as without_memory:
        without_memory.setattr(caching._Checked, "rebuild", refused)
        (index,) = folder.rglob("*.nbi")
        before = index.read_bytes()
        assert compiled("coterie_test_shared") == (42, False) and index.read_bytes() == before
    assert compiled("coterie_test_shared") == (42, True)


def test_a_cache_may_be_copied(folder, tmp_path, monkeypatch):
    """As for a machine that is prepared beforehand."""
    compiled("coterie_test_copied")
    shutil.copytree(folder, tmp_path / "copy", copy_function=shutil.copyfile)  # neither its times nor its place are kept
    monkeypatch.setenv("COTERIE_CACHE", str(tmp_path / "copy"))
    assert compiled("coterie_test_copied") == (42, True)


def refuse(*_, **__):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_code_that_cannot_be_kept_is_one_line_and_runs(folder, monkeypatch, caplog):
    opened = open
    monkeypatch.setattr(
        "numba.core.caching.open", lambda name, mode: opened(name, mode) if mode == "rb" else refuse(), raising=False
    )
    assert compiled("coterie_test_full") == compiled("coterie_test_full") == (42, False)
    (line,) = caplog.messages
    assert REMEDY in line and "No space left on device" in line and "\n" not in line and "Errno" not in line
    assert [path.suffix for path in folder.rglob("*") if path.is_file()] == [".py"]


def test_code_that_has_no_place_is_one_line_and_runs(monkeypatch, caplog):
    monkeypatch.setattr("numba.core.caching._CacheLocator.ensure_cache_path", refuse)
    assert compiled("coterie_test_nowhere") == (42, False)
    (line,) = caplog.messages
    assert REMEDY in line and "locator" not in line


def test_a_text_that_cannot_be_kept_goes_elsewhere(folder, caplog, full_disk):
    folder.write_text("a file where the folder should be")
    path = cache.keep("coterie_test_elsewhere.py", TEXT)
    assert path.read_text() == TEXT and folder not in path.parents
    assert len(caplog.messages) == 1 and "is a file, and no folder" in caplog.messages[0] and REMEDY in caplog.messages[0]
    full_disk()
    with pytest.raises(StorageError, match="No space left"):
        cache.keep("coterie_test_nowhere_at_all.py", TEXT)


def test_without_any_folder_the_error_names_the_remedy(folder, monkeypatch):
    folder.write_text("a file where the folder should be")
    monkeypatch.setattr(cache, "_spare", cache._spare.__wrapped__)
    monkeypatch.setattr("tempfile.TemporaryDirectory", refuse)
    with pytest.raises(StorageError, match=r"neither .* \(No space left on device\): COTERIE_CACHE must name a folder"):
        cache.keep("coterie_test_none.py", TEXT)


def test_graphs_and_distances_compile_into_the_folder_of_everything_else(folder):
    beside = set(Path(graphs.__file__).parent.rglob("*.nbi"))
    assert distances(complete(40)).sum() == 40 * 39
    kept_now = keep_compiled(njit(graphs._pairs.__wrapped__))
    assert Path(kept_now.stats.cache_path).is_relative_to(folder)
    assert set(Path(graphs.__file__).parent.rglob("*.nbi")) == beside


@pytest.mark.parametrize("life", [1, 2])
def test_little_is_interpreted_and_much_is_compiled_with_the_same_result(monkeypatch, life):
    def all_of(graph):
        return [*graph[1:], *graphs.parts(graph), distances(graph), eccentricities(graph), *near(graph, life)]

    def drawn():
        return all_of(graphs.disjoint([graphs.ring(9), graphs.erdos_renyi(12, np.random.default_rng(1)), complete(4)]))

    monkeypatch.setattr(caching, "LITTLE", 0)
    compiled = drawn()
    monkeypatch.setattr(caching, "LITTLE", 10**6)
    for one, other in zip(compiled, drawn(), strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


def test_code_of_another_engine_is_damaged_code(folder):
    """Whole, and in the wrong place: a copy that went wrong. It once ended every later run."""
    texts = {"coterie_test_one": TEXT, "coterie_test_other": TEXT.replace("3 * x", "x + 28")}
    for name, text in texts.items():
        compiled(name, text)
    one, other = (next(folder.rglob(f"{name}*/*.nbc")) for name in texts)
    code = one.read_bytes(), other.read_bytes()
    one.write_bytes(code[1])
    other.write_bytes(code[0])
    assert [[compiled(*about) for _ in range(2)] for about in texts.items()] == [[(42, False), (42, True)]] * 2


def test_code_for_other_arguments_is_damaged_code(folder):
    run = keep_compiled(njit(import_text("coterie_test_types", TEXT).run))
    assert run(14) == 42 and run(0.5) == 1.5
    one, other = sorted(folder.rglob("*.nbc"))
    code = one.read_bytes(), other.read_bytes()
    one.write_bytes(code[1])
    other.write_bytes(code[0])
    sys.modules.pop("coterie_test_types")
    run = keep_compiled(njit(import_text("coterie_test_types", TEXT).run))
    assert run(14) == 42 and run(0.5) == 1.5 and not run.stats.cache_hits


def test_what_python_calls_is_done_by_another_thread(monkeypatch):
    """A breadth-first search from each of 30,000 agents takes half a minute, in which nobody heard Ctrl-C."""
    seen = []
    monkeypatch.setattr(caching, "elsewhere", lambda work: seen.append(threading.current_thread()) or work())
    monkeypatch.setattr(caching, "LITTLE", 0)
    eccentricities(complete(4))
    assert len(seen) >= 3  # pairs, adjacency, components, distances
