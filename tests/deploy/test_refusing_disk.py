"""A disk that refuses, under the real node: nothing is sent that is not on it, decisions go on, and it ends where it must."""

import resource
import subprocess

import apsw
import pytest
from commands import ENVIRONMENT, START, call
from powercut import World, check
from powercut_disk import Disk
from powercut_node import Real, Stage

from coterie.deploy.federation import federation_text
from coterie.deploy.keys import make_keys
from coterie.deploy.node import PATIENCE
from coterie.deploy.refusals import UnknownDecision
from coterie.errors import StorageError

NEVER = (0, 0, "", apsw.FullError)
FOR_EVER = 10**9


@pytest.fixture
def disk():
    made = Disk("refusing node")
    yield made
    made.close()


@pytest.fixture
def stage(tmp_path):
    made = Stage(tmp_path, {"name": "fed-ucb", "mechanism": "tree"})
    yield made
    made.forget()


@pytest.fixture
def node(tmp_path, stage, disk):
    """After a few patients, so that there is something released."""
    (tmp_path / "north").mkdir()
    made = Real(stage, tmp_path / "north", disk, World())
    for number in range(4):
        id, arm = made.ask(f"patient {number}")
        made.world.decided[f"patient {number}"] = (id, arm)
        made.tell(id, 100)
        made.world.told[id] = 100
    return made


def refuse(disk, kind, error, where):
    disk.refuses, disk.refusing = (disk.points + 1, FOR_EVER, kind, error), where


def seen(node):
    return {id: value for id, value in node.world.seen.items() if id[0] in ("release", "say")}


def test_a_full_disk_of_the_ledger_holds_back_releases_and_no_decision(node, disk):
    before = seen(node)
    refuse(disk, "write", apsw.FullError, "ledger.db")
    for number in range(4, 8):
        made = node.do(node.node.ask(f"patient {number}"))
        node.do(node.node.tell(made.id, 0.5))
        node.world.decided[f"patient {number}"] = (made.id, made.arm)
    assert seen(node) == before
    assert any(alarm.kind == "storage" for alarm in node.node.view().alarms)
    disk.refuses = NEVER
    for _ in range(5):
        node.settle()
    assert len(seen(node)) > len(before), "what was held back leaves, once there is room"
    assert not any(alarm.kind == "storage" for alarm in node.node.view().alarms)
    check(node, node.world)


def test_a_full_disk_of_the_ledger_that_does_not_clear_ends_the_node_with_7(node, disk):
    refuse(disk, "write", apsw.FullError, "ledger.db")
    before = seen(node)
    with pytest.raises(StorageError) as ended:
        for number in range(4, 4 + 10 * PATIENCE):
            node.tell(node.ask(f"patient {number}")[0], 100)
    assert ended.value.exit_code == 7
    assert seen(node) == before


@pytest.mark.parametrize("kind", ["write", "sync"])
@pytest.mark.parametrize("where", ["ledger.db", "rewards.db"])
def test_a_failed_write_or_sync_ends_the_node_with_7_and_nothing_is_sent(node, disk, stage, kind, where, tmp_path):
    windows = stage.loop.create_task(node.node.keep_windows())
    refuse(disk, kind, apsw.IOError, where)
    before = seen(node)
    ended = None
    for number in range(4, 30):
        made = node.do(node.node.ask(f"patient {number}"))
        assert made.name in stage.federation.arms
        try:
            node.tell(made.id, 100)
        except StorageError as error:
            ended = error
        if windows.done() or node.turns.done():
            ended = (windows if windows.done() else node.turns).exception()
            break
    assert isinstance(ended, StorageError)
    assert ended.exit_code == 7
    disk.refuses = NEVER
    assert seen(node) == before


def test_questions_are_answered_while_rewards_cannot_be_written_and_learned_from_again_afterwards(node, disk, stage):
    windows = stage.loop.create_task(node.node.keep_windows())
    known, untold = node.world.decided["patient 2"], node.ask("patient 8")[0]
    refuse(disk, "write", apsw.FullError, "rewards.db")
    made = node.do(node.node.ask("patient 9"))
    assert made.name in stage.federation.arms
    assert not made.learned
    assert node.do(node.node.ask("patient 2"))[:2] == known, "a known key has its decision"
    for id in (untold, made.id):
        with pytest.raises(StorageError):
            node.do(node.node.tell(id, 0.75))
        with pytest.raises(StorageError):
            node.do(node.node.cancel(id))
    disk.refuses = NEVER
    for number in range(10, 13):
        id, _ = node.ask(f"patient {number}")
        node.tell(id, 100)
    assert not windows.done()
    assert not any(alarm.kind == "storage" for alarm in node.node.view().alarms)
    with pytest.raises(UnknownDecision):  # it was not kept
        node.do(node.node.tell(made.id, 0.75))


def test_rewards_that_cannot_be_written_for_long_end_the_node_with_7(node, disk, stage):
    windows = stage.loop.create_task(node.node.keep_windows())
    refuse(disk, "write", apsw.FullError, "rewards.db")
    node.do(node.node.ask("patient 9"))
    for _ in range(3 * PATIENCE):
        node.settle()
        if windows.done():
            break
    assert isinstance(windows.exception(), StorageError)


def test_a_process_whose_disk_refuses_answers_to_its_end_and_exits_with_7(tmp_path):
    """The system refuses to let any file grow beyond a limit, as a failing disk would."""
    folder = tmp_path / "alone"
    keys = make_keys(folder)
    folder.chmod(0o700)
    tables = {
        "arms": ["old", "new"], "horizon": 100_000, "tick": 0.2, "algorithm": {"name": "dp-ucb-int"},
        "rewards": {"within": "at once"}, "agents": [{"name": "alone", "signs": keys.signs, "connects": keys.connects}],
    }  # fmt: skip
    (folder / "federation.toml").write_text(federation_text(tables))

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

    how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": ENVIRONMENT, "preexec_fn": limit}
    process = subprocess.Popen([*START, "agent", folder, "--listen", "127.0.0.1:0"], **how)
    try:
        port = int(process.stdout.readline().split("127.0.0.1:")[1].split()[0].rstrip("/"))
        token, answers = (folder / "token").read_text().strip(), []
        for _ in range(2000):
            try:
                answers.append(call(port, "POST", "/v1/decisions", {}, token)[0])
            except OSError:
                break
        assert process.wait(60) == 7
    finally:
        process.kill()
        process.wait()
    assert len(answers) > 10
    assert set(answers) <= {200, 201}
    said = process.stderr.read()
    assert "cannot be written" in said
    assert "Traceback" not in said
