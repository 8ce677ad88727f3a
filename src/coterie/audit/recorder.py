"""An algorithm that keeps a transcript of itself: its own hooks, each followed by a note of what can be seen of it.

A trial must run compiled, and a compiled hook must stand in a module on disk. So the recorder writes one: for each hook that
acts visibly a function that calls the algorithm's own and then notes its outcome in the open record.

    choose or peek   entries, then (arm, pulls) of each; in a second life an earlier choice may be imposed on `peek`
    idle             the arm, plus one
    release          how many numbers are to leave (seen by nobody; it tells where canaries hurt)
    publish          nothing; in a second life it is handed the numbers of the first
    speak, greet     how many words, then the words
"""

import hashlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy import dtype, int64

from coterie.audit.tape import __file__ as tape_file
from coterie.audit.tape import with_notes
from coterie.contract import Algorithm, out_record
from coterie.engines.bind import import_text


class Column(NamedTuple):
    """One word of a turn's stretch of the transcript."""

    channel: str  # choice | idle | door | message | card
    word: str  # its name
    shown: bool = True  # as a number; False: the bits of a floating-point number


class Recorded(NamedTuple):
    algorithm: Algorithm
    columns: tuple[Column, ...]  # of one turn
    first: int  # number of the first turn
    turns: int  # that are noted


def record_agent(rule: Algorithm, p: Any, turns: int, replayed: bool = False) -> Recorded:
    """The algorithm with a transcript of its first turns; `replayed`: and with a tape, so that it can live twice."""
    plan = [Column("choice", "entries")]
    plan += [Column("choice", f"{word} of entry {e}") for e in range(p.arms) for word in ("arm", "pulls")]
    parts = {
        "peek" if rule.peek else "choose": plan,
        "idle": [Column("idle", "arm plus one")],
        "release": [Column("door", "numbers released")],
        "speak": said("message", rule.message(p)),
        "greet": said("card", rule.card(p)),
    }
    return write_down(rule, p, parts | ({"publish": []} if replayed else {}), turns)


def record_server(rule: Algorithm, p: Any, turns: int, replayed: bool = False) -> Recorded:
    """The server with a transcript of what it has said, and with a tape where it has a door of its own."""
    parts = {"speak": said("message", rule.message(p))}
    return write_down(rule, p, parts | ({"publish": []} if replayed and (rule.trusted or rule.sums) else {}), turns)


def said(channel: str, kind: dtype) -> list[Column]:
    return [Column(channel, "words"), *(Column(channel, name, shown) for name, shown in words_of(kind))]


def words_of(kind: dtype) -> Iterator[tuple[str, bool]]:
    """The words of a record in their order: how each is reached, and whether it is an integer."""
    for name in kind.names or ():
        for index in np.ndindex(kind[name].shape):
            yield name + (str(list(index)) if index else ""), kind[name].base == int64


def write_down(rule: Algorithm, p: Any, parts: dict[str, list[Column]], turns: int) -> Recorded:
    columns = tuple(column for part in parts.values() for column in part)
    starts = dict(zip(parts, np.cumsum([0, *map(len, parts.values())]).tolist(), strict=False))
    own = {hook: getattr(rule, hook) for hook in parts}
    lines = [f'"""Generated: {rule.name} with a transcript. {_digest(own.values())}"""']
    lines += ["from coterie.audit.tape import bits, hand_back, impose, note_plan", "from coterie.kernel import node"]
    lines += [f"from {hook.__module__} import {hook.__name__} as own_{name}" for name, hook in own.items()]
    for hook, part in parts.items():
        place = f"(t - {rule.first_round}) * {len(columns)} + {starts[hook]}"
        lines += ["", "", "@node", *WRITERS[hook](Note(place, part, f"t < {rule.first_round + turns}", rule, p))]
    text = "\n".join(lines) + "\n"
    module = import_text(f"coterie_audit_{rule.name}_{hashlib.sha256(text.encode()).hexdigest()[:16]}", text)
    noted = len(columns) * turns
    tape = turns * (1 + len_of_out(rule, p)) if "publish" in parts else 0

    def open_record(p: Any) -> dtype:
        return with_notes(rule.open(p), noted, tape, noted if rule.peek and tape else 0)

    hooks = {hook: getattr(module, hook) for hook in parts}
    return Recorded(rule._replace(open=open_record, **hooks), columns, rule.first_round, turns)


def len_of_out(rule: Algorithm, p: Any) -> int:
    """How many numbers may leave in one turn."""
    return int(out_record(rule, p)["value"].shape[0])


# --- the text of one hook ---------------------------------------------------------------------------------


class Note(NamedTuple):
    """What is to be written for a hook: where its words begin, which they are, and in which turns they are noted."""

    place: str
    part: list[Column]
    noted: str
    rule: Algorithm
    p: Any


def _decides(signature: str) -> Callable[[Note], list[str]]:
    def text(note: Note) -> list[str]:
        lines = [f"def {signature}:", f"    own_{signature}", f"    if {note.noted}:"]
        if note.rule.peek:
            lines += ["        if open.audit_pin == 1:", f"            impose(open, {note.place}, plan, {note.p.arms})"]
        return [*lines, f"        note_plan(open, {note.place}, plan, {note.p.arms})"]

    return text


def _idles(note: Note) -> list[str]:
    return [
        "def idle(open, p, t, die):",
        "    arm = own_idle(open, p, t, die)",
        f"    if {note.noted}:",
        f"        open.audit_seen[{note.place}] = arm + 1",
        "    return arm",
    ]


def _releases(note: Note) -> list[str]:
    return [
        "def release(open, p, t, plan, out):",
        "    own_release(open, p, t, plan, out)",
        f"    if {note.noted}:",
        f"        open.audit_seen[{note.place}] = out.entries",
    ]


def _publishes(note: Note) -> list[str]:
    return [
        "def publish(open, p, t, plan, out):",
        f"    hand_back(open, out, {note.rule.mechanism.covers == 'stream'})",
        "    own_publish(open, p, t, plan, out)",
    ]


def _says(name: str, record: str) -> Callable[[Note], list[str]]:
    def text(note: Note) -> list[str]:
        lines = [
            f"def {name}(open, p, t, {record}):",
            f"    words = own_{name}(open, p, t, {record})",
            f"    if {note.noted}:",
            f"        at = {note.place}",
            "        open.audit_seen[at] = words",
        ]
        for number, column in enumerate(note.part[1:]):
            value = f"{record}.{column.word}"
            lines += [f"        if words > {number}:",
                      f"            open.audit_seen[at + {number + 1}] = {value if column.shown else f'bits({value})'}"]
        return [*lines, "    return words"]

    return text


WRITERS: dict[str, Callable[[Note], list[str]]] = {
    "choose": _decides("choose(open, p, t, die, plan)"),
    "peek": _decides("peek(secret, inner, open, p, t, die, plan)"),
    "idle": _idles,
    "release": _releases,
    "publish": _publishes,
    "speak": _says("speak", "message"),
    "greet": _says("greet", "card"),
}


def _digest(hooks: Any) -> str:
    """Of all sources the module takes in: engines are cached under the text that holds it."""
    files = {sys.modules[hook.__module__].__file__ for hook in hooks} | {tape_file}
    texts = [Path(file).read_bytes() for file in sorted(filter(None, files))]
    return hashlib.sha256(b"\0".join(texts)).hexdigest()[:16]
