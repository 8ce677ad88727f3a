"""The command as a whole: help, exit codes, names that do not exist, and output that nobody reads."""

import errno
import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from coterie.cli import main as entry
from coterie.errors import CoterieError, StateError, UsageError, exit_codes, hint, nearest

DOCS = Path(__file__).parents[2] / "docs/commands.md"


def test_without_arguments_there_is_help_and_no_error(command):
    done = command()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() == command("--help").stdout.strip() != ""


def test_the_exit_codes_are_those_of_the_errors_and_stand_in_the_help_and_the_docs(command):
    codes = exit_codes()
    assert set(codes) == {0, 1, 2, 3, 4, 5, 6, 7, 70, 129, 130, 141, 143}
    assert codes[UsageError.exit_code] == UsageError.meaning and codes[CoterieError.exit_code] == CoterieError.meaning
    rows = re.findall(r"^\| (\d+) \| (.+) \|$", DOCS.read_text(), re.MULTILINE)
    assert {int(code): meaning for code, meaning in rows} == codes
    text = command("--help").stdout
    for code, meaning in codes.items():
        assert re.search(rf"^ +{code}  {re.escape(meaning)} *$", text, re.MULTILINE)


def test_an_error_that_says_no_code_of_its_own_has_that_of_its_parent():
    class Torn(StateError):
        """A special case."""

    assert Torn.exit_code == 4 and exit_codes()[4] == StateError.meaning


class Closed(io.StringIO):
    """Output that nobody reads any more, or that has no room left; if it is `lazy` this shows when it is flushed."""

    def __init__(self, number, file, lazy=False):
        super().__init__()
        self.number, self.file, self.lazy = number, file, lazy

    def reconfigure(self, errors):
        assert errors == "backslashreplace"

    def fileno(self):
        return self.file.fileno()

    def write(self, text):
        if not self.lazy:
            raise OSError(self.number, "refused")
        return len(text)

    def flush(self):
        if self.lazy:
            raise OSError(self.number, "refused")


@pytest.mark.parametrize("arguments", [["--help"], ["budget", "cdp-mab", "--json"], ["budget", "cdp-mab"]], ids=" ".join)
@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize(("number", "code"), [(errno.EPIPE, 141), (errno.ENOSPC, 7)])
def test_output_that_cannot_be_written_has_codes_of_its_own(command, monkeypatch, arguments, lazy, number, code):
    with tempfile.TemporaryFile() as file:
        monkeypatch.setattr(sys, "stdout", Closed(number, file, lazy))
        done = command(*arguments)
    assert done.returncode == code
    assert done.stderr == ("" if code == 141 else "coterie: the output: refused\n")


def test_a_terminal_that_lacks_a_character_is_no_bug(command, monkeypatch):
    written = io.BytesIO()
    with io.TextIOWrapper(written, encoding="ascii", write_through=True) as output:
        monkeypatch.setattr(sys, "stdout", output)
        assert command("budget", "cdp-mab").returncode == 0
        assert b"\\u03b5" in written.getvalue()
        monkeypatch.undo()


def test_an_interruption_has_its_code_whatever_was_done(command, monkeypatch):
    def interrupt(**how):
        raise KeyboardInterrupt

    monkeypatch.setattr(entry, "app", interrupt)
    assert command("studies").returncode == 130


@pytest.mark.parametrize(
    ("arguments", "near"),
    [
        (["rnu", "quickstart"], "run"),
        (["run", "quickstart", "--otu", "x"], "--out"),
        (["run", "Quickstrat"], "quickstart"),
        (["run", "quickstart", "--engine", "locla"], "local"),
        (["run", "quickstart", "--set", "horizn=3"], "horizon"),
        (["run", "quickstart", "--set", "network.graph=compleet"], "complete"),
        (["run", "quickstart", "--set", "problem.kind=bernouli"], "bernoulli"),
        (["run", "quickstart", "--set", "algorithm.0.name=fed-ubc"], "fed-ucb"),
        (["run", "quickstart", "--set", "faults.attack=promote-wurst"], "promote-worst"),
        (["budget", "fed-ubc"], "fed-ucb"),
        (["budget", "hospital"], "hospitals"),
        (["budget", "cdp-mab", "--mode", "privat"], "private"),
        (["budget", "cdp-mab", "--set", "epsilom=1"], "epsilon"),
        (["audit", "fed-ubc"], "fed-ucb"),
        (["audit", "hospital"], "hospitals"),
        (["audit", "ucb1", "--view", "pubic", "--horizon", "24"], "public"),
        (["check", "fed-ubc"], "fed-ucb"),
        (["statement", "quikstart"], "quickstart"),
        (["statement", "quickstart", "--set", "horizon=200", "--row", "together, privat epsilon=1"],
         "together, private epsilon=1"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)  # fmt: skip
def test_wherever_a_name_is_asked_for_the_nearest_is_suggested(command, arguments, near, tmp_path):
    done = command(*arguments)
    assert done.returncode == 2 and f"did you mean {near!r}?" in done.stderr
    assert len(done.stderr.splitlines()) == 1 and done.stdout == "" and list(tmp_path.iterdir()) == []


def test_only_a_near_word_is_suggested_and_its_case_does_not_matter():
    assert nearest("EPSILO", ["mode", "epsilon"]) == "epsilon" and nearest("qqq", ["mode", "epsilon"]) is None
    assert hint("qqq", ["mode"]) == ""


# --- where nobody listens -----------------------------------------------------------------------------------------


def test_a_closed_output_is_no_crash(command, monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    assert command("--version").returncode == 0


@pytest.mark.parametrize("stream", [None, "full"])
def test_an_error_that_cannot_be_told_keeps_its_code_and_stays_out_of_the_output(command, monkeypatch, stream):
    class Full(io.StringIO):
        def write(self, text):
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(sys, "stderr", stream and Full())
    done = command("run", "nope")
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize("name", ["run", "audit", "plan", "replay"])
def test_help_names_no_type_of_a_flag_and_fills_its_paragraphs(command, name):
    done = command(name, "--help")
    assert done.returncode == 0 and "<bool>" not in done.stdout and "{" not in done.stdout
    if name == "audit":
        assert "A pass proves nothing" in " ".join(done.stdout.split()) and "A pass\n" not in done.stdout


def test_a_folder_that_was_removed_meanwhile_is_named(command, tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    done = command("run", "quickstart", "--set", "horizon=10", "--set", "replications=1", "--out", "here")
    assert (done.returncode, done.stderr) == (7, "coterie: the current folder: No such file or directory\n")


def test_a_terminal_that_does_not_know_its_width_is_printed_to():
    start = "from coterie.cli import start; start()"
    done = subprocess.run(
        [sys.executable, "-c", start, "--help"], env=os.environ | {"COLUMNS": "0"}, capture_output=True, text=True, check=True
    )
    assert "coterie run hospitals" in done.stdout
