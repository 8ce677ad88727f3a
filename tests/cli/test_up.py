"""`coterie up`: what is refused before anything is made."""

import pytest

from coterie.files import locked


@pytest.mark.parametrize(
    "words, said",
    [
        (("--rate", "0"), "--rate must be a number > 0"),
        (("--rate", "nan"), "--rate must be a number > 0"),
        (("--rate", "1001"), "<= 1000"),
        (("--seconds", "-1"), "--seconds must be a number > 0"),
        (("--port", "0"), "--port must be a whole number"),
        (("--algorithm", "fed-ubc"), "did you mean 'fed-ucb'"),
        (("--algorithm", "hdp-mab"), "sinks"),
        (("nowhere.toml",), "nowhere.toml: cannot be read: No such file or directory"),
        (("folder.toml",), "folder.toml: cannot be read: Is a directory"),
        (("--port", "65533"), "--port 65533 must leave 4 free ports"),
    ],
)
def test_what_does_not_do_is_one_line_and_leaves_nothing(command, tmp_path, words, said):
    (tmp_path / "folder.toml").mkdir()
    done = command("up", *words)
    assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1 and done.stdout == ""
    assert [path.name for path in tmp_path.rglob("*")] == ["folder.toml"]


@pytest.mark.parametrize("words", [(), ("--fresh",)])
def test_a_folder_that_it_has_not_made_is_not_touched(command, tmp_path, words):
    """Members may keep their folders side by side, with the file beside them."""
    (tmp_path / "real/north").mkdir(parents=True)
    for path in ("real/federation.toml", "real/north/sign.key"):
        (tmp_path / path).write_text("mine")
    done = command("up", "--out", str(tmp_path / "real"), *words)
    assert done.returncode == 2 and "--out must be an empty folder, or one that an earlier `coterie up` has made" in done.stderr
    assert {path.name: path.read_text() for path in tmp_path.rglob("*") if path.is_file()} == {
        "federation.toml": "mine", "sign.key": "mine",
    }  # fmt: skip


def test_a_folder_in_use_is_that_of_another_process(command, tmp_path):
    with locked(tmp_path, wait=False) as is_mine:
        assert is_mine
        done = command("up", "--out", str(tmp_path))
    assert done.returncode == 6 and "is in use by another `coterie up`" in done.stderr and list(tmp_path.iterdir()) == []


ARMS, HORIZON, AGENTS = 'arms = ["x", "y"]\n', "horizon = 9\n", 'agents = [{ name = "a" }, { name = "b" }]\n'
ALGORITHM, REWARDS = '[algorithm]\nname = "pooled-ucb"\n', '[rewards]\nwithin = "at once"\n'


def named(name):
    return AGENTS.replace('"a"', f'"{name}"')


@pytest.mark.parametrize(
    "text, said",
    [
        ("", "arms must be a list"),
        (ARMS + HORIZON + "agents = 5\n" + ALGORITHM + REWARDS, "agents must be a list"),
        (ARMS + HORIZON + 'agents = ["x"]\n' + ALGORITHM + REWARDS, "agents[0] must be a table, got 'x'"),
        (ARMS + HORIZON + "agents = [{}, {}]\n" + ALGORITHM + REWARDS, "agents[0].name must be text, got nothing"),
        (ARMS + HORIZON + AGENTS + 'algorithm = "pooled-ucb"\n' + REWARDS, "algorithm must be a table, got 'pooled-ucb'"),
        (ARMS + HORIZON + AGENTS + REWARDS, "algorithm must be a table, got nothing"),
        (ARMS + HORIZON + AGENTS + ALGORITHM + 'epsilon = "much"\n' + REWARDS, "algorithm.epsilon of pooled-ucb must be"),
        (ARMS + AGENTS + ALGORITHM + REWARDS, "horizon must be a whole number"),
        (ARMS + 'horizon = "many"\n' + AGENTS + ALGORITHM + REWARDS, "horizon must be a whole number"),
        ("arms = 5\n" + HORIZON + AGENTS + ALGORITHM + REWARDS, "arms must be a list of at least 2 entries"),
        (ARMS + HORIZON + AGENTS + ALGORITHM, "rewards must be a table, got nothing"),
        (ARMS + HORIZON + AGENTS + ALGORITHM + "[rewards]\n", "rewards.within must be"),
        (ARMS + HORIZON + AGENTS + "broker = 5\n" + ALGORITHM + REWARDS, "broker must be a table, got 5"),
        (ARMS + HORIZON + AGENTS + "coordinator = 5\n" + ALGORITHM + REWARDS, "coordinator must be a table, got 5"),
        (ARMS + HORIZON + named("../../evil") + ALGORITHM + REWARDS, "agents[0].name must be 1 to 40 letters"),
        (ARMS + HORIZON + named("b") + ALGORITHM + REWARDS, "agents[1].name must not repeat agents[0].name, got 'b'"),
        (ARMS + HORIZON + named("broker") + ALGORITHM + REWARDS, "agents[0].name must be another one, got 'broker'"),
        (ARMS + HORIZON + named("coordinator") + ALGORITHM + REWARDS, "coordinator.name must not repeat agents[0].name"),
        ("arms = [", "line 1 is not valid TOML"),
        ("a." * 5000 + "a = 1", "too deep"),
        ("horizon = " + "9" * 5000, "too large"),
    ],
)
def test_a_file_that_does_not_run_is_one_line_and_leaves_nothing(command, tmp_path, text, said):
    home = tmp_path / "deep" / "down"
    home.mkdir(parents=True)
    (home / "mine.toml").write_text(text)
    for words in (("--out", "deep/down/up"), ()):
        done = command("up", "deep/down/mine.toml", *words)
        assert said in done.stderr and done.returncode == 2 and done.stderr.count("\n") == 1 and done.stdout == ""
        assert sorted(path.name for path in tmp_path.rglob("*")) == ["deep", "down", "mine.toml"]
