"""Power cuts around every write and sync of both files. The harness is tested, too: it must find what is planted."""

import random

import apsw
import pytest
from powercut import live
from powercut_disk import Disk
from powercut_node import Early, Stage, Swapped, Unpaid

from coterie.errors import StateError

PATIENTS = 5
AGAIN_MOST = 80  # points until the second cut: often in the middle of the recovery from the first


@pytest.fixture(scope="module")
def disk():
    return Disk()


def cuts_of(at):
    return [at, random.Random(at).randrange(1, AGAIN_MOST)]


def violations(folder, disk, make, points, losing):
    """(point, what was found) of lives with two cuts; None loses all that was not synced, a number a part of it."""
    found = []
    for at in points:
        try:
            live(folder, disk, make, cuts_of(at), None if losing == "all" else at, PATIENTS)
        except (AssertionError, StateError) as violation:
            found.append((at, str(violation)))
    return found


def is_found(what, folder, disk, make, points):
    """Whether a cut at one of these points shows it; it is looked for no further."""
    return any(what in each for at in points for _, each in violations(folder, disk, make, [at], "all"))


@pytest.fixture(scope="module")
def stage_of(tmp_path_factory, disk):
    """A federation, with words of another agent to be heard, and the points of a life without cuts."""

    made = []

    def staged(**tables):
        folder = tmp_path_factory.mktemp("stage")
        stage = Stage(folder, **tables)
        made.append(stage)
        (folder / "north").mkdir()
        world, _ = live(folder / "north", disk, stage, [], None, PATIENTS)
        stage.words = [body for id, body in world.seen.items() if id[0] == "say"]
        stage.forget()
        _, node = live(folder / "north", disk, stage, [], None, PATIENTS)
        assert node.facts()["s"] > 2, "a life has several commits"
        return stage, disk.points

    yield staged
    for stage in made:
        stage.forget()


@pytest.fixture(scope="module")
def stage(stage_of):
    return stage_of()


WAYS = {
    "fed-ucb": {},
    "tree": {"algorithm": {"name": "fed-ucb", "mechanism": "tree"}},
    "pr-ucb": {"algorithm": {"name": "pr-ucb", "batch": 1}},
    "persons": {"persons": True},
    "windows": {"algorithm": {"name": "fed-ucb", "mechanism": "tree"}, "rewards": {"within": 3.0, "missing": 0.0}},
}


@pytest.mark.parametrize("losing", ["all", "part"])
def test_a_cut_at_some_points_shows_no_two_values_and_loses_nothing(tmp_path, disk, stage, losing):
    make, points = stage
    assert points > 300
    start = 1 if losing == "all" else 9
    assert violations(tmp_path, disk, make, range(start, points + 1, 16), losing) == []


@pytest.fixture(scope="module")
def paid_stage(stage_of):
    return stage_of(persons=True)


@pytest.mark.parametrize("losing", ["all", "part"])
def test_a_cut_lets_nobody_give_a_reward_that_was_not_paid_for_and_charges_nobody_twice(tmp_path, disk, paid_stage, losing):
    make, points = paid_stage
    start = 1 if losing == "all" else 12
    assert violations(tmp_path, disk, make, range(start, points + 1, 22), losing) == []


def test_a_charge_after_its_decision_is_found(tmp_path, disk, paid_stage):
    make, points = paid_stage
    make.node, kept = Unpaid, make.node
    try:
        assert is_found("must have a charge for each of", tmp_path, disk, make, range(1, points + 1, 7))
    finally:
        make.node = kept


@pytest.mark.parametrize("kind, error", [("write", apsw.IOError), ("sync", apsw.IOError), ("write", apsw.FullError)])
def test_a_write_or_sync_that_fails_once_and_a_power_cut_after_it_lose_nothing(tmp_path, disk, stage, monkeypatch, kind, error):
    make, points = stage
    failed = 0
    for at in range(7, points + 1, 24):
        monkeypatch.setattr(disk, "refuses", (at, at + 11, kind, error))  # a stretch, as syncs are few
        live(tmp_path, disk, make, [], at, PATIENTS)
        failed += disk.refused
    assert failed > 10


@pytest.mark.slow
@pytest.mark.parametrize("losing", ["all", "part"])
@pytest.mark.parametrize("way", WAYS)
def test_a_cut_at_any_point_shows_no_two_values_and_loses_nothing(tmp_path, disk, stage_of, way, losing):
    make, points = stage_of(**WAYS[way])
    assert violations(tmp_path, disk, make, range(1, points + 1), losing) == []


@pytest.mark.parametrize(
    "mutant, what",
    [
        ("normal", "lost or changed"),  # synchronous=NORMAL: an answer is not on the disk
        ("swapped", "must be there, and rewards.db does not have it"),  # the ledger is committed first
        ("early", "two values for"),  # noise is shown before the ledger has it
        ("redrawn", "two values for"),  # a resend draws again
    ],
)
def test_the_harness_finds_what_is_planted(tmp_path, disk, stage, mutant, what):
    make, points = stage
    make.node, kept = {"swapped": Swapped, "early": Early}.get(mutant, make.node), make.node
    disk.normal, make.redrawn = mutant == "normal", mutant == "redrawn"
    try:
        some = [at for start in range(4) for at in range(100 + 5 * start, points, 20)]
        assert is_found(what, tmp_path, disk, make, some)
    finally:
        make.node, disk.normal, make.redrawn = kept, False, False
