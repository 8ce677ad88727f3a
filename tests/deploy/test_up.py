"""A whole federation on this machine, as processes: it learns, is killed and goes on, and leaves nobody behind."""

import os
import signal
import socket

import pytest
from commands import call, run, run_here, started, state, until

from coterie.deploy.federation import load_federation
from coterie.deploy.keys import load_keys
from coterie.deploy.opening import FILE, TOKEN
from coterie.deploy.up import Ended, Household, clear, folder_of, is_free, last_line, prepare, seats
from coterie.errors import UsageError

ON_LINUX = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks at /proc")


TWO = """
arms = ["x", "y", "z"]
horizon = 100_000
tick = "0.5 seconds"
agents = [{ name = "a" }, { name = "b" }]
algorithm = { name = "pooled-ucb" }
rewards = { within = "at once" }
"""


@pytest.fixture
def port():
    """The first of some that are free."""
    for first in range(10_000 + os.getpid() % 1_000 * 8, 20_000, 8):
        if all(map(is_free, range(first, first + 5))):
            return first


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(word) for word in file.read().split()]


def words_of(pid):
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        return file.read().replace(b"\0", b" ").decode()


def is_there(pid):
    """Not one that has ended and was not asked for."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def chained(home, folder):
    """How many numbers a ledger says have left."""
    told = run_here("ledger", home, cwd=folder)
    assert told.returncode == 0 and "chain: all of its" in told.stdout
    return int(told.stdout.partition("all of its ")[2].split()[0].replace(",", ""))


@ON_LINUX
def test_three_hospitals_learn_are_killed_and_go_on(tmp_path, port):
    with started("up", "--port", port, "--rate", 40, cwd=tmp_path) as process:
        until(lambda: state(port)["released"] >= 2)
        before = state(port)
        assert before["algorithm"] == "pooled-ucb" and before["turn"] >= 2 and before["connected"] and not before["alarms"]
        assert {arm["worth"] is None for arm in before["arms"]} != {True}
        assert [peer["name"] for peer in state(port + 3)["peers"]] == ["north", "east", "south"]
        assert call(port, "GET", "/")[0] == 200
        started_here = children(process.pid)
        assert len(started_here) == 5
        north = next(pid for pid in started_here if "up-hospitals/north" in words_of(pid))
        os.kill(north, signal.SIGKILL)
        until(lambda: north not in children(process.pid) and state(port)["decisions"] > before["decisions"])
        assert state(port)["released"] >= before["released"]
        last, everybody = state(port), children(process.pid)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        until(lambda: not any(map(is_there, everybody)))
    assert any("north was killed: it is started again" in line for line in process.said)
    assert chained("runs/up-hospitals/north", tmp_path) >= last["released"]


@ON_LINUX
def test_peers_do_without_a_coordinator_and_nobody_outlives_a_killed_supervisor(tmp_path, port):
    (tmp_path / "two.toml").write_text(TWO)
    up = ("up", "two.toml", "--port", port, "--rate", 40, "--algorithm", "fed-ucb")
    with started(*up, cwd=tmp_path) as process:
        until(lambda: state(port)["released"] >= 1 and all(peer["turn"] for peer in state(port)["peers"]))
        assert state(port)["clock"] == "own"
        everybody = children(process.pid)
        assert len(everybody) == 3
        last = state(port)
        os.kill(process.pid, signal.SIGKILL)
        until(lambda: not any(map(is_there, everybody)))
    done = run(*up, "--seconds", 1, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert chained("runs/up-two-fed-ucb/a", tmp_path) >= last["released"]


def test_a_file_of_ones_own_gets_keys_of_its_own_and_keeps_them(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(
        'arms = ["x", "y"]\nhorizon = 100\nagents = [{ name = "a" }, { name = "b" }]\n[algorithm]\nname = "pooled-ucb"\n'
        '[rewards]\nwithin = "at once"\n'
    )
    first = prepare(tmp_path / "up", file)
    assert [member.name for member in first.members] == ["a", "b", "coordinator"]
    for member in first.members:
        home = tmp_path / "up" / member.name
        assert load_keys(home).signs == member.signs
        assert load_federation(home / FILE).run == first.run
        assert (home / "ca.pem").read_bytes() == (tmp_path / "up/broker/ca.pem").read_bytes()
    again = prepare(tmp_path / "up", file)
    assert again.members == first.members and again.broker == first.broker and again.run == first.run
    other = prepare(tmp_path / "up-fed", file, "fed-ucb")
    assert other.coordinator is None and other.run != first.run


def test_clearing_takes_what_is_ours_and_nothing_else(tmp_path):
    (tmp_path / "up").mkdir()
    (tmp_path / "up" / "notes.txt").write_text("mine")
    clear(tmp_path / "up")
    prepare(tmp_path / "up")
    clear(tmp_path / "up")
    assert [path.name for path in (tmp_path / "up").iterdir()] == ["notes.txt"]


def test_ports_in_use_are_said(tmp_path, port):
    federation = prepare(tmp_path)
    assert [seat.port for seat in seats(federation, tmp_path, port)] == [port, port + 1, port + 2, port + 3]
    with socket.create_server(("127.0.0.1", port + 2)), pytest.raises(UsageError, match=f"{port + 2} is in use"):
        seats(federation, tmp_path, port)
    with pytest.raises(UsageError, match="65536"):
        seats(federation, tmp_path, 65_533)


def test_a_member_that_ends_by_itself_ends_all_with_its_line_and_code(tmp_path, port):
    federation = prepare(tmp_path)
    north = seats(federation, tmp_path, port)[0]
    (north.folder / "sign.key").chmod(0o644)
    household = Household(federation, tmp_path, print)
    household.start(north)
    try:
        with pytest.raises(Ended, match=r"north: .*sign.key: must be for its owner alone") as ended:
            until(lambda: household.look())
        assert ended.value.exit_code == 5
    finally:
        household.stop()


@pytest.mark.parametrize("role, name", [("agent", "north"), ("coordinator", "coordinator")])
def test_an_empty_token_lets_nobody_start(tmp_path, port, role, name):
    prepare(tmp_path)
    (tmp_path / name / TOKEN).touch(0o600)
    done = run_here(role, tmp_path / name, "--listen", f"127.0.0.1:{port}", cwd=tmp_path)
    assert done.returncode == 5 and "token must be 32 to 200 letters" in done.stderr
    assert done.stdout == "" and done.stderr.count("\n") == 1 and is_free(port)


def test_folders_are_named_by_file_and_algorithm(tmp_path):
    assert folder_of(None, None).name == "up-hospitals" and folder_of(tmp_path / "x.toml", "fed-ucb").name == "up-x-fed-ucb"
    (tmp_path / "log").write_text("")
    assert "said nothing" in last_line(tmp_path / "log")
