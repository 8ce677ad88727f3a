"""Old copies, deleted ledgers and clones: processes that must not go on, by their exit codes."""

import asyncio
import shutil
import subprocess

import pytest
from commands import ENVIRONMENT, START, until
from parties import broker_of, make_parties

from coterie.deploy.opening import open_agent
from coterie.deploy.wire.broker import lay_out
from coterie.deploy.wire.embedded import free_port

NAMES = ("north", "south")


@pytest.fixture
def federation(tmp_path):
    """Two agents that release at every turn, each with the file in its folder, and a broker that runs."""
    found = make_parties(tmp_path, names=NAMES, tick=0.05)
    for name in NAMES:
        shutil.copy(tmp_path / "federation.toml", tmp_path / name)
        (tmp_path / name).chmod(0o700)
    with broker_of(found, tmp_path):
        assert asyncio.run(lay_out(found, tmp_path / "broker"))
        yield found


def ended(folder):
    """The exit code and the last line of an agent that must not go on."""
    words = [*START, "agent", str(folder), "--listen", f"127.0.0.1:{free_port()}"]
    done = subprocess.run(words, env=ENVIRONMENT, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stderr.splitlines()[-1]


def play(agent, releases):
    """Customers ask and tell until so many numbers have left."""

    def enough():
        for _ in range(20):
            agent.tell(agent.ask().id, 1.0)
        return agent.view().released >= releases and agent.view().unsent == 0

    until(enough)
    return agent.view().released


def test_an_old_copy_a_deleted_ledger_and_a_clone(tmp_path, federation):
    north = tmp_path / "north"
    with open_agent(north) as agent:
        before = play(agent, releases=2)
    shutil.copytree(north, tmp_path / "old")
    for _ in range(2):  # the first words of the second start rest on what the first has released, also if that was never sent
        with open_agent(north) as agent:
            before = play(agent, releases=before + 2)
    code, line = ended(tmp_path / "old")
    assert code == 4 and "older" in line
    shutil.copytree(north, tmp_path / "forgotten")
    for file in (tmp_path / "forgotten").glob("*.db*"):
        file.unlink()
    code, line = ended(tmp_path / "forgotten")
    assert code == 4 and "older" in line
    shutil.copytree(north, tmp_path / "clone")
    with open_agent(north) as agent:
        until(lambda: agent.view().connected and agent.view().unsent == 0)
        code, line = ended(tmp_path / "clone")
        assert (code, "older" in line) == (4, True) or (code, "another process speaks" in line) == (6, True)  # has it released?
        code, line = ended(north)
        assert code == 6 and "in use by another process" in line
        released = agent.view().released
        assert play(agent, releases=released + 1) > released
