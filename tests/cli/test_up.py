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
        (("nowhere.toml",), "nowhere.toml"),
    ],
)
def test_what_does_not_do_is_one_line(command, tmp_path, words, said):
    done = command("up", *words)
    assert done.returncode in (2, 7) and said in done.stderr and done.stderr.count("\n") == 1 and done.stdout == ""


def test_a_folder_in_use_is_that_of_another_process(command, tmp_path):
    with locked(tmp_path, wait=False) as is_mine:
        assert is_mine
        done = command("up", "--out", str(tmp_path))
    assert done.returncode == 6 and "is in use by another `coterie up`" in done.stderr and list(tmp_path.iterdir()) == []


def test_a_file_without_a_window_is_refused(command, tmp_path):
    (tmp_path / "mine.toml").write_text(
        'arms = ["x", "y"]\nhorizon = 9\nagents = [{ name = "a" }, { name = "b" }]\n[algorithm]\nname = "fed-ucb"\n[rewards]\n'
    )
    done = command("up", "mine.toml")
    assert done.returncode == 2 and "rewards.within" in done.stderr
