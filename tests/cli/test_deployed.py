"""Without the extra the commands of a deployment say what to install, and all others work."""

import builtins
import sys

import pytest

import coterie.deploy

MISSING = ("msgspec", "starlette", "uvicorn", "nats", "nkeys", "cryptography", "prometheus_client")
COMMANDS = [
    ("up",),
    ("agent", "."),
    ("agent", "init", "x", "--name", "x"),
    ("coordinator", "."),
    ("federation", "check", "x.toml"),
]


@pytest.fixture
def core_only(monkeypatch):
    """As where `coterie` was installed without its extra."""
    for name in [name for name in sys.modules if name.startswith(("coterie.deploy", *MISSING))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(coterie, "deploy", coterie.deploy)  # a second one is made, and must not stay
    real = builtins.__import__

    def without(name, *rest, **more):
        if name.partition(".")[0] in MISSING:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name.partition(".")[0])
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_what_to_install_is_said_in_one_line(command, core_only, words, tmp_path):
    done = command(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1 and "pip install 'coterie[deploy]'" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_agent_and_a_coordinator_have_the_same_options(command):
    def options(*words):
        return {word for word in command(*words, "--help").stdout.split() if word.startswith("--")}

    assert options("agent", "run") == options("coordinator") >= {"--listen", "--certificate", "--key", "--called", "--log"}


def test_the_core_needs_none_of_it(command, core_only):
    assert command("--help").returncode == command("studies").returncode == 0
