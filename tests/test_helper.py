"""The process that compiles for another one: when it is started, which one is taken, and that it never stays alone."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from coterie.helper import _early as ahead_of_time
from coterie.helper import expect_compiling, get_helper
from coterie.tied import TIED


def test_a_helper_that_is_told_nothing_ends_too():
    helper = get_helper()
    helper.stdin.close()
    assert helper.wait(60) == 0


def test_a_helper_ends_with_its_parent_before_it_was_told_anything():
    """While it still imports, too."""
    dies = "import os; from coterie.helper import get_helper; print(get_helper().pid, flush=True); os._exit(0)"
    assert_ends(subprocess.run([sys.executable, "-c", dies], stdout=subprocess.PIPE, text=True, check=True).stdout)


@pytest.mark.skipif(TIED is None, reason="needs Linux")
def test_a_helper_inside_a_library_that_never_comes_back_ends_with_its_parent_too():
    """No thread of it runs then. One was found that had turned for half an hour, in a library that found no memory."""
    stuck = "import ctypes; from coterie.helper import begin; begin(); print('here', flush=True); ctypes.PyDLL(None).pause()"
    start = "import os, subprocess, sys; p = subprocess.PIPE; c = subprocess.Popen(sys.argv[1:], stdin=p, stdout=p)"
    dies = f"{start}; c.stdout.readline(); print(c.pid, flush=True); os._exit(0)"
    command = [sys.executable, "-c", dies, sys.executable, "-c", stuck]
    assert_ends(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)


def assert_ends(process):
    for _ in range(200):
        if not is_running(int(process)):
            return
        time.sleep(0.1)
    raise AssertionError("a helper without a parent is still there after twenty seconds")


def is_running(process):
    """One that ended and that nobody has waited for is none."""
    stat = Path(f"/proc/{process}/stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize(
    ("workers", "there", "started"), [(None, False, True), (2, False, True), (2, True, False), (1, False, False)]
)
def test_a_helper_is_started_first_where_nothing_was_ever_compiled(tmp_path, monkeypatch, workers, there, started):
    monkeypatch.setenv("COTERIE_CACHE", str(tmp_path))
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    if there:
        (tmp_path / "coterie_mesh_1.py").touch()
    expect_compiling(workers)
    early = ahead_of_time.get(tmp_path)
    assert (early is not None) == started
    if early:
        assert get_helper() is early, "and taken, not started again"
        early.communicate()
        assert early.returncode == 0


def test_a_helper_for_another_folder_is_not_taken(tmp_path, monkeypatch):
    """It would keep its work where this process does not look."""
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setenv("COTERIE_CACHE", str(tmp_path / "one"))
    expect_compiling(2)
    early = ahead_of_time[tmp_path / "one"]
    monkeypatch.setenv("COTERIE_CACHE", str(tmp_path / "other"))
    other = get_helper()
    assert other is not early
    monkeypatch.setenv("COTERIE_CACHE", str(tmp_path / "one"))
    assert get_helper() is early
    for helper in (early, other):
        helper.communicate()
