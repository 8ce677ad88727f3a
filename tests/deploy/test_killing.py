"""kill -9 of a whole process with its threads, at any moment: what was acknowledged and seen stays as it was."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("killing.py")


def killed(folder, *arguments):
    return subprocess.run([sys.executable, SCRIPT, folder, *map(str, arguments)], capture_output=True, text=True)


@pytest.mark.parametrize("kills", [10, pytest.param(100, marks=pytest.mark.slow)])
def test_kills_lose_nothing_and_show_no_two_values(tmp_path, kills):
    done = killed(tmp_path, kills)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["kills"] == kills
    assert min(found["told"], found["releases"], found["heard"]) > kills


def test_a_process_that_shows_noise_before_it_is_committed_is_found(tmp_path):
    done = killed(tmp_path, 40, "early")
    assert done.returncode == 1
    assert "two values for ('release'," in done.stderr
