"""A study on a Ray cluster: the same results, whoever is killed in the middle."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from json import dumps
from pathlib import Path

import pytest

from coterie.errors import StateError, StorageError, UsageError
from coterie.studies import load_study
from coterie.studies.cluster import ATTEMPTS, Cluster, Told, _connect
from coterie.studies.estimate import estimate_study

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
    ("", "it is empty"), ("127.0.0.1:1", "Connection refused"), ("localhost..:1", ""), ("\udcff:1", ""),
])  # fmt: skip
def test_an_address_where_nobody_answers_is_refused_before_ray_is_asked(address, why):
    """Ray itself went on asking for minutes."""
    with pytest.raises(UsageError, match=f"address must be that of a Ray cluster that answers, got .*: {why}"):
        _connect(None, None, address)


def test_a_ray_that_does_not_start_here_is_no_bug_of_ours():
    class Broken:
        def init(self, **_):
            raise Exception("The current node timed out\nduring startup.")

    with pytest.raises(StorageError, match=r"Ray did not start on this machine: The current node timed out during startup\."):
        _connect(Broken(), 2, None)


class Lost(Exception):
    """What Ray raises where a process died."""


class FakeRay:
    """Every stream answers with the next of what it is given, or is lost."""

    class exceptions:
        RayError = Lost
        RayTaskError = ArithmeticError

    def __init__(self, *lives):
        self.lives, self.begun = list(lives), []

    def cluster_resources(self):
        return {"CPU": 1.0}

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
    return made


def test_a_batch_that_is_lost_is_given_out_again_before_all_others():
    ray = FakeRay([Told(5, "compiling ucb1"), Lost()], [Told(9, ""), "first"], ["second"])
    made = crew(ray, ["a", "b"])
    assert made.next() is None and made.played() == {"a": 5} and made.note() == "compiling ucb1"
    assert made.next() is None and made.played() == {} and made.note() == "waiting for the cluster"
    assert made.next() is None and made.played() == {"a": 9}
    assert [made.next(), made.next()] == [("a", "first"), ("b", "second")] and ray.begun == ["a", "a", "b"]


def test_a_batch_that_kills_every_process_comes_to_an_end():
    class Piece:
        name = "0000-0000000"

    made = crew(FakeRay(*[[Lost()]] * ATTEMPTS), [Piece()])
    with pytest.raises(StateError, match=f"was lost {ATTEMPTS} times"):
        for _ in range(ATTEMPTS):
            made.next()


def nodes(*memories, alive=True):
    return [{"Alive": alive, "Resources": {"CPU": 4.0, "memory": memory}} for memory in memories]


def test_a_node_without_memory_for_its_processors_is_told_before_anything_runs():
    study = load_study(TABLE).specification
    need = estimate_study(study, 1).memory
    ray, made = FakeRay(), Cluster(study, [], None, "somewhere")
    made.ray = ray
    for good in (nodes(4 * need, 5 * need), nodes(1.0, alive=False), [{"Alive": True, "Resources": {}}]):
        ray.nodes = lambda good=good: good
        made._check_nodes()
    ray.nodes = lambda: nodes(5 * need, 3 * need)
    with pytest.raises(UsageError, match=r"4 batches at a time need about .* of memory, and a node has .* for them"):
        made._check_nodes()
    made.workers = 3
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
