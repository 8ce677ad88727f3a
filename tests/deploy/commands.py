"""The command as a process of its own, and what it answers over HTTP."""

import contextlib
import http.client
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import coterie

ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(coterie.__file__).parents[1])}
START = [sys.executable, "-c", "from coterie.cli import start; start()"]
PATIENCE = 120.0


@contextlib.contextmanager
def started(*words, cwd, first="page:"):
    """Inside, it has printed this; at the end it is gone."""
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "start_new_session": True}
    process = subprocess.Popen([*START, *map(str, words)], cwd=cwd, env=ENVIRONMENT, **how)
    process.said = []
    try:
        for line in process.stdout:
            process.said.append(line)
            if first in line:
                break
        assert any(first in line for line in process.said), process.said
        yield process
    finally:
        process.kill()
        process.wait()
        process.said += process.stdout.readlines()


def run(*words, cwd):
    """To its end."""
    return subprocess.run([*START, *map(str, words)], cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True)


def call(port, method, path, body=None, token=None):
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        line.request(method, path, body and json.dumps(body), {"Authorization": f"Bearer {token}"} if token else {})
        answer = line.getresponse()
        return answer.status, answer.read().decode()
    finally:
        line.close()


def state(port):
    return json.loads(call(port, "GET", "/v1/state")[1])


def until(found, patience=PATIENCE):
    """What `found` gives, as soon as it is something; a process that is being started refuses at first."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        with contextlib.suppress(OSError, http.client.HTTPException):
            if result := found():
                return result
        time.sleep(0.1)
    raise AssertionError("it has not come")
