"""The command as a process of its own, and what it answers over HTTP."""

import contextlib
import http.client
import io
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import coterie
from coterie.cli.main import main

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


def run_here(*words, cwd):
    """To its end, too, but in this process: it has loaded all libraries."""
    out, err, argv = io.StringIO(), io.StringIO(), ["coterie", *map(str, words)]
    with contextlib.chdir(cwd), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            with mock.patch("sys.argv", argv), mock.patch("coterie.cli.deployed.log_to_stderr"):  # the log of others stays
                main()
        except SystemExit as ending:
            return SimpleNamespace(returncode=ending.code, stdout=out.getvalue(), stderr=err.getvalue())


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
