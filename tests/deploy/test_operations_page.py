"""The operators' page, step by step, as far as one machine and no service manager go."""

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from commands import START, run, started, state, until

from coterie.deploy.doctor import BYTES_FREE, CHECKS, DAYS_LEFT, GRAVEST_FIRST
from coterie.deploy.log import EVENTS
from coterie.deploy.settings import load_settings
from coterie.deploy.up import is_free
from coterie.deploy.wire.broker import STREAM_BYTES
from test_docs import Reader, hand_over, nats, write_file

PAGE = (Path(__file__).parents[2] / "docs/operations.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^    (\S.*)$", PAGE, flags=re.MULTILINE)
NOT_HERE = ("sudo ", "nats-server ")  # need an administrator, or run until they are stopped


def does(reader, command, broken=False):
    """A command of the page, as it stands."""
    assert command in COMMANDS, command
    words = shlex.join(START)
    text = reader.here(command.replace("coterie ", f"{words} ", 1) if command.startswith("coterie ") else command)
    done = subprocess.run(["sh", "-c", text], cwd=reader.folder, capture_output=True, text=True)
    reader.done.add(command)
    assert broken or (done.returncode, done.stderr) == (0, ""), (command, done)
    return done


def member(reader, role, folder, port):
    address = f"127.0.0.1:{port}"
    return started(role, folder, "--listen", address, cwd=reader.folder, first="writing needs the token")


@pytest.mark.slow
def test_the_commands_of_the_page_work(tmp_path):
    reader, names = Reader(tmp_path), ("north", "east", "centre")
    lines = {"north": does(reader, "coterie agent init north/ --name north").stdout}
    lines |= {name: run("agent", "init", f"{name}/", "--name", name, cwd=tmp_path).stdout for name in names[1:]}
    lacking = does(reader, "coterie doctor north/", broken=True)
    assert lacking.returncode == 2 and "bad     file" in lacking.stdout
    write_file(reader, lines)
    does(reader, "coterie federation broker federation.toml broker/")
    with nats(reader):
        until(lambda: not is_free(reader.broker_port))
        does(reader, "coterie federation broker federation.toml broker/")
        hand_over(reader, names)
        number = re.search(r"run (\w{16})", does(reader, "coterie federation check north/federation.toml").stdout)[1]
    with (
        member(reader, "agent", "north/", reader.port),
        member(reader, "agent", "east/", reader.port + 1),
        member(reader, "coordinator", "centre/", reader.port + 2),
    ):
        shutil.rmtree(tmp_path / "broker" / "store")
        with nats(reader):  # all that was there is lost
            until(lambda: not is_free(reader.broker_port))
            does(reader, "coterie federation broker federation.toml broker/")
            until(lambda: all(state(reader.port + place)["connected"] for place in range(3)))
            until(lambda: does(reader, "coterie doctor north/", broken=True).returncode == 0)
            does(reader, "coterie ledger north/ --json > north-ledger.json")
            does(reader, "coterie doctor north/ --json > north-doctor.json")
    assert json.loads((tmp_path / "north-ledger.json").read_text())["run"].startswith(number)
    assert json.loads((tmp_path / "north-doctor.json").read_text())["code"] == 0
    does(reader, "mkdir -m 700 north-2")
    does(reader, "cp -p north/sign.key north/connect.key north-2/")
    west = does(reader, "coterie agent init west/ --name west").stdout
    file = (tmp_path / "federation.toml").read_text()
    (tmp_path / "federation.toml").write_text(file.replace("agents = [", f"agents = [\n{west.strip()},", 1))
    does(reader, "coterie federation broker federation.toml broker/")
    with nats(reader):
        until(lambda: not is_free(reader.broker_port))
        does(reader, "coterie federation broker federation.toml broker/")
        hand_over(reader, ("north-2", "west"))
        with member(reader, "agent", "north-2/", reader.port):
            until(lambda: state(reader.port)["connected"])
            assert state(reader.port)["run"] != number
    does(reader, "coterie agent init north/ --name north --anew")
    left = [command for command in COMMANDS if command not in reader.done and not command.startswith(NOT_HERE)]
    assert left == []


def test_the_page_says_what_the_program_says(tmp_path):
    told = [int(code) for code in re.findall(r"^\| (\d) \|", PAGE, flags=re.MULTILINE)]
    assert tuple(told) == GRAVEST_FIRST and f"within {DAYS_LEFT} days" in PAGE and f"{BYTES_FREE >> 20} MB" in PAGE
    assert STREAM_BYTES == 1 << 30 and "(1 GiB)" in PAGE and {"peers", "modes"} <= CHECKS.keys()
    table = PAGE.partition("| event | fields |")[2].partition("All of it")[0]
    assert set(re.findall(r"`(\w+)`", table)) == {event.__name__.lower() for event in EVENTS}
    (tmp_path / "settings.toml").write_text(re.search(r"<!-- settings -->\n```toml\n(.*?)```", PAGE, flags=re.DOTALL)[1])
    assert load_settings(tmp_path).budget.model_dump() == {"person": 3.0, "persons": "../persons.db"}


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(([^)]+)\)", PAGE))))
def test_links_lead_somewhere(link):
    name, _, place = link.partition("#")
    text = (Path(__file__).parents[2] / "docs" / name).read_text() if name else PAGE
    headings = [re.sub(r"[^\w -]", "", line.lower()).replace(" ", "-") for line in re.findall(r"^#+ (.*)$", text, re.MULTILINE)]
    assert not place or place in headings
