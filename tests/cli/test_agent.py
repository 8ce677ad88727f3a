"""`coterie agent`: keys, erasure, and what is refused."""

import re
import stat
import tomllib

import pytest

from coterie.cli.agent import read_day
from coterie.deploy.keys import load_keys
from coterie.errors import UsageError

LINE = re.compile(r'\{ name = "north", signs = "[0-9a-f]{64}", connects = "U[A-Z2-7]{55}", seals = "[0-9a-f]{64}" \}\n')


def test_init_prints_the_one_line_that_is_handed_over(command, tmp_path):
    done = command("agent", "init", "north", "--name", "north")
    assert done.returncode == 0 and LINE.fullmatch(done.stdout)
    keys, line = load_keys(tmp_path / "north"), tomllib.loads(f"agent = {done.stdout}")["agent"]
    assert line == {"name": "north", "signs": keys.signs, "connects": keys.connects, "seals": keys.seals}
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "north").iterdir()} == {0o600}
    assert stat.S_IMODE((tmp_path / "north").stat().st_mode) == 0o700


def test_keys_in_use_are_not_made_again_unless_that_is_meant(command, tmp_path):
    first = command("agent", "init", "north", "--name", "north").stdout
    again = command("agent", "init", "north", "--name", "north")
    assert again.returncode == 2 and "must not be there yet" in again.stderr
    anew = command("agent", "init", "north", "--name", "north", "--anew").stdout
    assert LINE.fullmatch(anew) and anew != first


@pytest.mark.parametrize("name", ["a.b", "", "a b", "x" * 41, "*", ">"])
def test_a_name_must_be_a_token_of_a_subject(command, tmp_path, name):
    done = command("agent", "init", "north", "--name", name)
    assert done.returncode == 2 and "--name must be" in done.stderr and list(tmp_path.iterdir()) == []


def test_an_agent_without_file_or_keys_is_refused(command, tmp_path):
    assert "north/federation.toml: cannot be read" in command("agent", "north").stderr
    command("agent", "init", "north", "--name", "north")
    assert command("agent", "north/").returncode == 2


@pytest.mark.parametrize(
    "words, said",
    [
        (("--listen", "0.0.0.0:8400"), "TLS"),
        (("--listen", "8400"), "ADDRESS:PORT"),
        (("--certificate", "x.pem"), "given together"),
        (("--listne", "x"), "did you mean '--listen'"),
    ],
)
def test_what_does_not_do_is_refused_before_anything_is_opened(command, tmp_path, words, said):
    for role in ("agent", "coordinator"):
        done = command(role, "north", *words)
        assert done.returncode == 2 and said in done.stderr and list(tmp_path.iterdir()) == []


def test_forgetting_needs_a_day_and_a_folder(command, tmp_path):
    assert "--before must be a day" in command("agent", "forget", "north", "--before", "yesterday").stderr
    assert command("agent", "forget", "north", "--before", "2026-01-31").returncode != 0


def test_days_are_read_in_utc():
    assert read_day("2026-01-31") == read_day("2026-01-31T00:00Z") == read_day("2026-01-31T01:00+01:00")
    with pytest.raises(UsageError, match="--before"):
        read_day("31.1.2026")
