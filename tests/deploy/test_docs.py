"""The engineer's page, step by step: every command on it is run, as it stands but for ports and what is made on the way."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from commands import ENVIRONMENT, run_here, started, state, until

from coterie.deploy.keys import load_keys
from coterie.deploy.up import is_free
from coterie.deploy.wire.embedded import free_port, server_path
from coterie.errors import exit_codes

PAGE = (Path(__file__).parents[2] / "docs/deploy.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^    ((?:coterie|curl|nats-server) .*)$", PAGE, flags=re.MULTILINE)
TOML = re.search(r"<!-- federation -->\n```toml\n(.*?)```", PAGE, flags=re.DOTALL)[1]
PYTHON = re.search(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)[1]


class Reader:
    """Somebody who does what the page says, in a folder; `done` is what was run."""

    def __init__(self, folder):
        self.folder, self.done, self.broker_port = folder, set(), free_port()
        self.port = next(
            first for first in range(10_000 + os.getpid() % 1_000 * 8, 20_000, 8) if all(map(is_free, range(first, first + 3)))
        )

    def here(self, text):
        """The page's ports are ours."""
        for place in range(3):
            text = text.replace(f":{8400 + place}", f":{self.port + place}")
        return text.replace(":4222", f":{self.broker_port}")

    def find(self, words, nth=0):
        command = [one for one in COMMANDS if one.startswith(words)][nth]
        self.done.add(command)
        return self.here(command)

    def does(self, words, nth=0):
        done = run_here(*shlex.split(self.find(words, nth))[1:], cwd=self.folder)
        assert (done.returncode, done.stderr) == (0, ""), (words, done)
        return done.stdout

    def starts(self, words):
        return started(*shlex.split(self.find(words))[1:], cwd=self.folder, first="writing needs the token")

    def curls(self, words, nth=0, **put):
        command = self.find(words, nth)
        for old, new in put.items():
            command = command.replace(old.replace("_", "..."), new)
        done = subprocess.run(["sh", "-c", command + " --fail"], cwd=self.folder, capture_output=True, text=True)
        assert done.returncode == 0, (command, done)
        return done.stdout


@pytest.mark.skipif(not shutil.which("curl"), reason="needs curl")
def test_every_command_of_the_page_works(tmp_path):
    reader, names = Reader(tmp_path), ("north", "east", "centre")
    lines = {name: reader.does(f"coterie agent init {name}/") for name in names}
    write_file(reader, lines)
    assert run_here("federation", "check", "federation.toml", cwd=tmp_path).returncode == 0
    reader.does("coterie federation broker")
    with nats(reader) as broker:
        until(lambda: not is_free(reader.broker_port))
        assert "has the stream and consumers" in reader.does("coterie federation broker", 1)
        hand_over(reader, names)
        with (
            reader.starts("coterie agent north/"),
            reader.starts("coterie agent east/"),
            reader.starts("coterie coordinator centre/"),
        ):
            until(lambda: all(state(reader.port + place)["connected"] for place in range(3)))
            made = json.loads(reader.curls("curl -s -X POST"))
            assert made["learned"] and made["name"] in ("usual care", "drug A", "drug B")
            reader.curls("curl -s -X PUT localhost:8400/v1/decisions", **{"5c0f_": made["id"]})
            reader.curls("curl -s -X PUT localhost:8400/v1/arms")
            assert state(reader.port)["silent"] == "withheld"
        assert "north" in reader.does("coterie ledger north/")
        python = subprocess.run([sys.executable, "-c", PYTHON], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True)
        assert (python.returncode, python.stderr) == (0, "") and "True" not in python.stdout  # the stop is remembered
        write_file(reader, lines | {"north": reader.does("coterie agent init north/ --name north --anew")})
        reader.does("coterie federation broker")
        broker.send_signal(signal.SIGHUP)
        hand_over(reader, names)
        with reader.starts("coterie agent north/"), reader.starts("coterie coordinator centre/"):
            until(lambda: state(reader.port)["connected"] and state(reader.port + 2)["connected"])
        reader.does("coterie agent forget north/")
    assert set(COMMANDS) - reader.done == {"nats-server -c broker/broker.json", "coterie up"}  # both are run, if not from here


def write_file(reader, lines):
    text = reader.here(TOML)
    for name, line in lines.items():
        text = text.replace(f'{{ name = "{name}", signs = "...", connects = "..." }}', line.strip())
    (reader.folder / "federation.toml").write_text(text)


def hand_over(reader, names):
    for name in names:
        for file in ("federation.toml", "broker/ca.pem"):
            shutil.copy(reader.folder / file, reader.folder / name)
        assert load_keys(reader.folder / name).signs in (reader.folder / name / "federation.toml").read_text()


def nats(reader):
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen([server_path(), "-c", "broker/broker.json"], cwd=reader.folder, start_new_session=True, **quiet)

    class Ending:
        def __enter__(self):
            return process

        def __exit__(self, *error):
            process.kill()
            process.wait()

    return Ending()


def test_the_page_names_every_exit_code_that_is_of_a_deployment_alone():
    told = {
        int(code)
        for row in re.findall(r"^\| ([\d, ]+) \|", PAGE.partition("## Exit codes")[2], flags=re.MULTILINE)
        for code in row.split(",")
    }
    assert told <= set(exit_codes()) and {2, 4, 5, 6, 7, 130, 143} == told


def test_the_page_names_every_key_of_the_file_and_every_option(tmp_path, monkeypatch):
    from coterie.deploy.federation import FederationFile

    table = PAGE.partition("| key | says |")[2].partition("`coterie federation check")[0]
    for key in FederationFile.model_fields:
        assert f"`{key}`" in table or f"[{key}]" in table, key
    monkeypatch.setenv("COLUMNS", "200")
    options = set(re.findall(r"--[a-z]+", run_here("up", "--help", cwd=tmp_path).stdout)) - {"--help"}
    assert options
    assert options <= set(re.findall(r"--[a-z]+", PAGE.partition("The rest of this page")[0]))
