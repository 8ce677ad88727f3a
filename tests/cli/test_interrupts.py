"""Signals: every command says one line, keeps what was finished, and ends with a code of its own."""

import ctypes
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from coterie.cli import interrupts
from coterie.cli import main as main_module
from coterie.cli.interrupts import interruptible, keeps

ENDLESS = """
horizon = 1_000_000_000
[problem]
instance = "uniform"
arms = 5
agents = 3
[[algorithm]]
name = "ucb1"
"""
HANGING = 60  # seconds, where hours are left: a bound against hanging, not a claim about speed


class Ended(Exception):
    """In place of the end of this process."""


@pytest.fixture
def ended(monkeypatch):
    codes = []

    def end(code):
        codes.append(code)
        raise Ended

    monkeypatch.setattr(interrupts, "_end", end)
    return codes


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_interrupts_a_command_and_decides_its_code(ended, capsys, name, code):
    tidied = []

    @interruptible
    def command():
        keeps("all of it is kept")
        try:
            signal.raise_signal(getattr(signal, name))
        finally:
            signal.raise_signal(signal.SIGINT)  # a second one must not cut short what is being put in order
            tidied.append(True)

    before = signal.getsignal(getattr(signal, name))
    with pytest.raises(Ended):
        command()
    assert ended == [code] and tidied == [True]
    assert capsys.readouterr().err == "interrupted: all of it is kept\n"
    assert signal.getsignal(getattr(signal, name)) == before


@pytest.mark.parametrize("there", [False, True])
def test_nothing_is_said_to_be_kept_in_a_folder_that_was_not_made(ended, capsys, tmp_path, there):
    folder = tmp_path / "run"

    @interruptible
    def command():
        keeps(f"kept in {folder}", folder)
        if there:
            folder.mkdir()
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(Ended):
        command()
    assert capsys.readouterr().err == (f"interrupted: kept in {folder}\n" if there else "interrupted\n")


def test_whatever_comes_of_an_interrupt_is_not_told_as_an_error(ended, capsys):
    @interruptible
    def command():
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise ValueError("a library's own idea of it") from None

    with pytest.raises(Ended):
        command()
    assert ended == [130] and capsys.readouterr().err == "interrupted\n"


def test_a_command_that_does_not_answer_is_ended_where_it_stands(monkeypatch, capsys):
    codes = []
    monkeypatch.setattr(interrupts, "GRACE", 0.01)
    monkeypatch.setattr(interrupts, "_end", codes.append)

    @interruptible
    def command():
        try:
            signal.raise_signal(signal.SIGTERM)
        except KeyboardInterrupt:
            while not codes:
                pass

    with pytest.raises(SystemExit):
        command()
    assert codes[0] == 143


def test_a_signal_that_is_ignored_stays_so(ended):
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with pytest.raises(SystemExit) as stopped:
            interruptible(lambda: signal.raise_signal(signal.SIGHUP))()
    finally:
        signal.signal(signal.SIGHUP, before)
    assert stopped.value.code is None and ended == []


def test_ctrl_c_is_answered_inside_a_replication_that_takes_hours(tmp_path):
    (tmp_path / "endless.toml").write_text(ENDLESS)
    command = [Path(sys.executable).with_name("coterie"), "run", "endless.toml", "--out", "here", "--progress", "json", "--yes"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ)
    facts = {"stage": "", "done": 0}
    while facts["stage"] != "running" or not facts["done"]:
        facts = json.loads(process.stderr.readline())
    process.send_signal(signal.SIGINT)
    printed, told = process.communicate(timeout=HANGING)
    *objects, last = told.splitlines()
    assert process.returncode == 130 and printed == ""
    assert last == "interrupted: what was finished is kept in here; the same command goes on from there"
    assert json.loads(objects[-1])["stage"] == "interrupted"
    assert {path.name for path in (tmp_path / "here").rglob("*")} == {"manifest.json"}


def test_a_signal_inside_a_callback_of_the_compiler_is_one_line(ended, capfd, monkeypatch):
    """What is raised there reaches nobody, and Python would print a traceback of its own."""

    @interruptible
    def command():
        ctypes.CFUNCTYPE(None)(lambda: os.kill(os.getpid(), signal.SIGTERM))()

    monkeypatch.setattr(sys, "unraisablehook", sys.__unraisablehook__)
    with pytest.raises(Ended):
        command()
    assert ended == [128 + signal.SIGTERM] and sys.unraisablehook is sys.__unraisablehook__
    assert capfd.readouterr().err.count("\n") == 1


def test_what_a_library_makes_of_an_interrupt_is_an_interrupt(ended, capsys, monkeypatch):
    """Some raise an error of their own where they are interrupted while they are loaded: it was called our bug."""

    def library(**_):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise ImportError("failed to import") from None

    monkeypatch.setattr(main_module, "app", library)
    with pytest.raises(Ended):
        main_module.main()
    assert ended == [130] and capsys.readouterr().err == "interrupted\n"
