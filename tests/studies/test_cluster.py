"""A study on a Ray cluster: the same results, whoever is killed in the middle."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from json import dumps
from math import inf
from pathlib import Path

import pytest

from coterie.errors import StateError, StorageError, UsageError
from coterie.studies import cluster, load_study
from coterie.studies.cluster import ATTEMPTS, KNOCKS, Cluster, Session, Told
from coterie.studies.estimate import estimate_study
from coterie.studies.running import run_batches

TABLE = {
    "horizon": 3_000_000, "replications": 6, "seed": 5, "problem": {"means": [0.9, 0.5], "agents": 3},
    "algorithm": [{"name": "ucb1"}, {"name": str(Path(__file__).parents[2] / "examples/own_algorithm.py")}],
}  # fmt: skip
DRIVER = "import coterie, json, sys; coterie.load_study(json.loads(sys.argv[1])).run(workers=2, out=sys.argv[2], engine='ray')"


def test_without_ray_there_is_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match=r"needs Ray, which is not installed: pip install 'coterie\[ray\]'"):
        load_study(TABLE).run(engine="ray")


def test_an_address_without_a_cluster_and_an_unknown_engine_are_refused():
    with pytest.raises(UsageError, match="address must be left out but for engine ray"):
        load_study(TABLE).run(address="auto")
    with pytest.raises(UsageError, match="engine must be local or ray, got 'slurm'"):
        load_study(TABLE).run(engine="slurm")


@pytest.mark.parametrize(("address", "why"), [
    ("127.0.0.1:99999", "a port is a whole number in 1..65535"), ("127.0.0.1:x", "a port is a whole number"),
    ("127.0.0.1:\uff16\uff13\uff17\uff19", "a port is a whole number"), ("127.0.0.1:" + "9" * 5000, "a port is"),
    ("", "it is empty"), ("127.0.0.1:1", "Connection refused"), ("localhost..:1", ""), ("\udcff:1", ""), (6379, "it is no"),
])  # fmt: skip
def test_an_address_where_nobody_answers_is_refused_before_ray_is_asked(address, why):
    """Ray itself went on asking for minutes."""
    with pytest.raises(UsageError, match=f"address must be that of a Ray cluster that answers, got .*: {why}"):
        Session(None, 1, address).start()


@pytest.fixture
def silent():
    """An address where somebody listens, and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def test_something_else_than_ray_at_the_address_is_given_up(silent, monkeypatch):
    monkeypatch.setattr(cluster, "ANSWERS_WITHIN", 0.2)
    with pytest.raises(UsageError, match=r"got '127\.0\.0\.1:\d+': no Ray has answered within"):
        Session(None, 1, silent).start()


def test_auto_is_what_the_environment_says(monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    with pytest.raises(UsageError, match=r"got '127\.0\.0\.1:1': Connection refused"):
        Session(None, 1, "auto").start()


def test_why_ray_refuses_is_told_in_one_line(silent, monkeypatch):
    said = "Traceback:\n  File x\nray.exceptions.AuthenticationError: the token is incorrect. Ensure that\n"

    def refuse(command, **_):
        raise subprocess.CalledProcessError(1, command, stderr=said)

    monkeypatch.setattr(subprocess, "run", refuse)
    with pytest.raises(UsageError, match=r"got '127\.0\.0\.1:\d+': the token is incorrect$"):
        Session(None, 1, silent).start()


class Starting:
    """A Ray that can be told how its start ends."""

    def __init__(self, error=None):
        self.error, self.given, self.may, self.ended = error, {}, threading.Event(), threading.Event()
        self.may.set()

    def is_initialized(self):
        return False

    def init(self, **given):
        self.given = given
        self.may.wait()
        if self.error:
            raise self.error

    def shutdown(self):
        self.ended.set()


@pytest.mark.parametrize("error", [Exception("The current node timed out\nduring startup."), SystemExit(15)])
def test_a_ray_that_does_not_start_here_is_no_bug_of_ours(error):
    why = " ".join(str(error).split())
    with pytest.raises(StorageError, match=f"Ray did not start on this machine: {why}"):
        Session(Starting(error), 2, None).start()


def test_a_cluster_of_its_own_has_no_more_processes_than_batches_whatever_the_environment_says(monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    monkeypatch.setattr(cluster, "_ray", lambda: ray)
    for workers, processes in ((1000, 3), (2, 2)):
        ray, made = Starting(), Cluster(None, "abc", workers, None)
        with pytest.raises(AttributeError):  # it is no whole Ray
            made.start()
        made.stop()
        assert (ray.given["address"], ray.given["num_cpus"]) == ("local", processes) and ray.ended.is_set()


def test_an_interrupt_while_ray_starts_is_heard_and_what_has_started_by_then_is_ended():
    before = signal.signal(signal.SIGTERM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            ray = Starting()
            ray.may.clear()
            session = Session(ray, 1, None)
            threading.Timer(0.3, os.kill, (os.getpid(), number)).start()
            with pytest.raises(KeyboardInterrupt):
                session.start()
            session.stop()
            assert not ray.ended.is_set()
            ray.may.set()
            assert ray.ended.wait(10)
    finally:
        signal.signal(signal.SIGTERM, before)


def test_what_is_shown_while_ray_starts(monkeypatch):
    study, shown = load_study(TABLE).specification, []
    for address in (None, "127.0.0.1:1"):
        monkeypatch.setattr(cluster, "_ray", lambda: Starting(Exception("no")))
        with pytest.raises((StorageError, UsageError)):
            run_batches(study, engine="ray", address=address, progress=lambda done, total, label: shown.append(label))
    assert shown == ["starting Ray", "connecting to 127.0.0.1:1"]


class Lost(Exception):
    """What Ray raises where a process died."""


class Wrong(Lost):
    """What Ray raises where Python did."""


class FakeRay:
    """Every stream answers with the next of what it is given, or is lost."""

    class exceptions:
        RayError = Lost
        RayTaskError = Wrong

    def __init__(self, *lives):
        self.lives, self.begun, self.cancelled = list(lives), [], []

    def cancel(self, stream):
        self.cancelled.append(stream)

    def wait(self, streams, timeout):
        return streams, []

    def get(self, said):
        if isinstance(said, Lost):
            raise said
        return said

    def remote(self, bundle, piece):
        self.begun.append(piece)
        return iter(self.lives.pop(0))


def crew(ray, pieces):
    made = Cluster(None, pieces, 1, None)
    made.ray, made.task, made.bundle = ray, ray, b""
    made.home, made.looked, made.processors = "127.0.0.1:1", inf, 1  # the cluster is looked at elsewhere
    return made


def test_a_batch_that_is_lost_is_given_out_again_before_all_others():
    ray = FakeRay([Told(5, "compiling ucb1"), Lost()], [Told(9, ""), "first"], ["second"])
    made = crew(ray, ["a", "b"])
    assert made.next() is None and made.played() == {"a": 5} and made.note() == "compiling ucb1"
    assert made.next() is None and made.played() == {} and made.note() == ""
    assert made.next() is None and made.played() == {"a": 9}
    assert [made.next(), made.next()] == [("a", "first"), ("b", "second")] and ray.begun == ["a", "a", "b"]


def test_a_batch_that_kills_every_process_comes_to_an_end():
    class Piece:
        name = "0000-0000000"

    made = crew(FakeRay(*[[Lost()]] * ATTEMPTS), [Piece()])
    with pytest.raises(StateError, match=f"was lost {ATTEMPTS} times"):
        for _ in range(ATTEMPTS):
            made.next()


def test_a_node_without_coterie_is_told_in_a_line():
    with pytest.raises(UsageError, match=r"all nodes must have Coterie \S+, and one of them has none"):
        crew(FakeRay([Wrong("System error: No module named 'coterie'\ntraceback")]), ["a"]).next()
    with pytest.raises(Wrong):
        crew(FakeRay([Wrong("division by zero")]), ["a"]).next()


def test_a_cluster_that_is_gone_is_told_and_asked_nothing(silent, monkeypatch):
    """Ray would have ended the process, after a minute."""
    monkeypatch.setattr(cluster, "LOOKED_EVERY", 0.0)
    ray, asked = FakeRay(), []
    ray.cluster_resources = lambda: asked.append(1) or {"CPU": 2.0}
    made = crew(ray, [])
    made.home, made.looked, made.processors = silent, -inf, 0
    assert made.next() is None and made.processors == 2 and len(asked) == 1
    made.home = "127.0.0.1:1"
    for _ in range(KNOCKS - 1):
        assert made.next() is None
    made.home = silent  # it was too busy to answer
    assert made.next() is None
    made.home = "127.0.0.1:1"
    with pytest.raises(StateError, match="has gone while it was at work: the same command goes on"):
        for _ in range(KNOCKS):
            made.next()
    assert len(asked) == 2


def test_what_is_shown_while_nothing_is_told():
    made = crew(FakeRay([Told(5, ""), "first"]), ["a"])
    assert made.note() == "waiting for the cluster"
    assert [made.next(), made.note(), made.next(), made.note()] == [None, "", ("a", "first"), ""]
    made.processors = 0
    assert made.note() == "waiting for the cluster: no node offers a processor"


def test_a_session_that_is_there_already_is_left_alone(monkeypatch):
    ray = FakeRay([Told(5, "")])
    ray.is_initialized = lambda: True  # and it can neither be started nor be shut down
    monkeypatch.setattr(cluster, "_ray", lambda: ray)
    made = Cluster(None, ["a"], 1, "somewhere:1")
    with pytest.raises(UsageError, match=r"must be left out where this process has a session of Ray already, got 'some"):
        made.start()
    made.stop()
    made = crew(ray, ["a"])
    assert made.next() is None
    made.stop()
    assert ray.cancelled == list(made.tasks) and len(ray.cancelled) == 1


def nodes(*memories, alive=True):
    return [{"Alive": alive, "Resources": {"CPU": 4.0, "memory": memory}} for memory in memories]


def test_a_node_without_memory_for_its_processors_is_told_before_anything_runs():
    study = load_study(TABLE).specification
    need = estimate_study(study, 1).memory
    ray, made = FakeRay(), Cluster(study, "abcdefgh", None, "somewhere")
    made.ray = ray
    for good in (nodes(4 * need, 5 * need), nodes(1.0, alive=False), [{"Alive": True, "Resources": {}}]):
        ray.nodes = lambda good=good: good
        made._check_nodes()
    ray.nodes = lambda: nodes(5 * need, 3 * need)
    with pytest.raises(UsageError, match=r"4 batches at a time need about .* of memory, and a node has .* for them"):
        made._check_nodes()
    made.workers = 3
    made._check_nodes()
    made.workers = None
    made.waiting.clear()
    made.waiting.extend("abc")  # no more are at work at a time
    made._check_nodes()


def test_what_goes_wrong_in_a_batch_is_raised_as_it_was():
    with pytest.raises(UsageError, match="all nodes"):
        crew(FakeRay([UsageError("all nodes")]), ["a"]).next()


def children(root):
    """Of a process and of its children, by /proc: {pid: command line}."""
    parents, found = {}, {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                found[int(folder.name)] = (folder / "cmdline").read_text()
            except OSError:
                continue
    inside = {root}
    for _ in range(6):
        inside |= {pid for pid, parent in parents.items() if parent in inside}
    return {pid: line for pid, line in found.items() if pid in inside}


@pytest.fixture(scope="module")
def expected():
    return load_study(TABLE).run(workers=2)


def test_a_killed_worker_changes_nothing(expected):
    killed = []

    def kill(done, total, label):
        if not killed and done > 0:
            workers = [pid for pid, line in children(os.getpid()).items() if line.startswith("ray::play")]
            if workers:
                os.kill(workers[0], signal.SIGKILL)
                killed.append(workers[0])

    found = load_study(TABLE).run(workers=2, engine="ray", progress=kill)
    assert killed and found.frame().equals(expected.frame())


def test_a_session_of_the_callers_is_used_and_what_is_under_way_in_it_is_called_off(expected):
    import ray

    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        with pytest.raises(ZeroDivisionError):
            load_study(TABLE | {"horizon": 300_000_000}).run(engine="ray", progress=lambda done, total, label: done and 1 // 0)
        found = load_study(TABLE).run(engine="ray")  # whose tasks get the processors
        assert ray.is_initialized() and found.frame().equals(expected.frame())
    finally:
        ray.shutdown()


def test_a_killed_driver_changes_nothing(expected, tmp_path):
    command = [sys.executable, "-c", DRIVER, dumps(TABLE), str(tmp_path / "run")]
    paths = {"PYTHONPATH": os.pathsep.join(place for place in sys.path if place)}
    driver = subprocess.Popen(command, env=os.environ | paths)
    while not list((tmp_path / "run").glob("parts/*.npz")):
        assert driver.poll() is None
        time.sleep(0.05)
    processes = children(driver.pid)
    driver.kill()
    driver.wait()
    kept = {path: path.read_bytes() for path in (tmp_path / "run").glob("parts/*.npz")}
    assert 0 < len(kept) < 12 and not (tmp_path / "run/summary.json").exists()
    found = load_study(TABLE).run(workers=2, out=tmp_path / "run", engine="ray")
    assert found.frame().equals(expected.frame())
    for pid, line in processes.items():  # Ray's own would stay for minutes
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/cmdline").read_text() == line:
                os.kill(pid, signal.SIGKILL)
