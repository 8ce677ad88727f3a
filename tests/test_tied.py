"""A child does not outlive its parent, even one that is killed."""

import os
import signal
import subprocess
import sys

import pytest

from coterie.tied import TIED

PARENT = """
import subprocess, sys
from coterie.tied import TIED
child = subprocess.Popen([sys.executable, "-c", "import time; print('here', flush=True); time.sleep(600)"],
                         stdout=sys.stdout, start_new_session=True, preexec_fn=TIED)
print(child.pid, flush=True)
child.wait()
"""


@pytest.mark.skipif(TIED is None, reason="needs Linux")
def test_a_killed_parent_takes_its_child_along():
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True)
    lines = sorted(parent.stdout.readline().strip() for _ in range(2))
    assert lines[1] == "here"
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    assert parent.stdout.read() == ""  # the pipe ends when the last who holds it is gone, and the child holds it
