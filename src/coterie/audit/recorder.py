"""An algorithm that keeps a transcript of itself: its own hooks, each followed by a note of what can be seen of it.

A trial must run compiled, and a compiled hook must stand in a module on disk. So the recorder writes one: for each hook that
acts visibly a function that calls the algorithm's own and then notes its outcome in the open record. Rewards are dealt there,
too, in front of `release`, which sees both records: the same ones in every trial but for the canary. What the engine's problem
has drawn is put aside.

    choose or peek   entries, rounds, then (arm, pulls) of each entry
    idle             the arm, plus one
    release          how many numbers passed the door (seen by nobody; it tells where canaries hurt)
    speak, greet     how many words, then the words
"""

import hashlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy import dtype, int64

from coterie import contract
from coterie.audit import dealing
from coterie.contract import Algorithm
from coterie.engines.bind import import_text
from coterie.kernel import capacity, extend


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


def record_agent(rule: Algorithm, p: Any, turns: int) -> Recorded:
    """The algorithm with fixed rewards and a transcript of its first turns."""
    plan = [Column("choice", "entries"), Column("choice", "rounds")]
    plan += [Column("choice", f"{word} of entry {e}") for e in range(p.arms) for word in ("arm", "pulls")]
    parts = {
        "peek" if rule.peek else "choose": plan,
        "idle": [Column("idle", "arm plus one")],
        "release": [Column("door", "numbers released")],
        "speak": said("message", rule.message(p)),
        "greet": said("card", rule.card(p)),
    }
    recorded = write_down(rule, p, parts, turns)
    dealt = recorded.algorithm._replace(observe=contract.observe)
    return recorded._replace(algorithm=dealt)


def record_server(rule: Algorithm, p: Any, turns: int) -> Recorded:
    """The server with a transcript of what it has said."""
    return write_down(rule, p, {"speak": said("message", rule.message(p))}, turns)


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
    own = {hook: getattr(rule, hook) for hook in (*parts, *(["observe"] if "release" in parts else []))}
    lines = [f'"""Generated: {rule.name} with a transcript. {_digest(own.values())}"""']
    lines += ["from coterie.audit.dealing import bits, deal, note_plan", "from coterie.kernel import node"]
    lines += [f"from {hook.__module__} import {hook.__name__} as own_{name}" for name, hook in own.items()]
    for hook, part in parts.items():
        place = f"(t - {rule.first_round}) * {len(columns)} + {starts[hook]}"
        lines += ["", "", "@node", *WRITERS[hook](place, part, p, f"t < {rule.first_round + turns}")]
    text = "\n".join(lines) + "\n"
    module = import_text(f"coterie_audit_{rule.name}_{hashlib.sha256(text.encode()).hexdigest()[:16]}", text)
    slots = capacity(p.arms)

    def open_record(p: Any) -> dtype:
        return extend(
            rule.open(p), audit_arm=int64, audit_number=int64, audit_value=int64, audit_rest=int64,
            audit_pulls=(int64, slots), audit_seen=(int64, len(columns) * turns),
        )

    hooks = {hook: getattr(module, hook) for hook in parts}
    return Recorded(rule._replace(open=open_record, **hooks), columns, rule.first_round, turns)


# --- the text of one hook: each takes (where its words begin, its columns, parameters, whether the turn is noted) -----------


def _decides(signature: str) -> Callable[..., list[str]]:
    def text(place: str, part: list[Column], p: Any, noted: str) -> list[str]:
        note = f"note_plan(open, {place}, plan, {p.arms})"
        return [f"def {signature}:", f"    own_{signature}", f"    if {noted}:", f"        {note}"]

    return text


def _idles(place: str, part: list[Column], p: Any, noted: str) -> list[str]:
    return [
        "def idle(open, p, t, die):",
        "    arm = own_idle(open, p, t, die)",
        f"    if {noted}:",
        f"        open.audit_seen[{place}] = arm + 1",
        "    return arm",
    ]


def _releases(place: str, part: list[Column], p: Any, noted: str) -> list[str]:
    return [
        "def release(secret, open, p, t, plan, out):",
        "    for e in range(plan.entries):",
        "        own_observe(secret, p, t, plan.arm[e], plan.pulls[e], deal(open, plan.arm[e], plan.pulls[e]))",
        "    own_release(secret, open, p, t, plan, out)",
        f"    if {noted}:",
        f"        open.audit_seen[{place}] = out.entries",
    ]


def _says(name: str, record: str) -> Callable[..., list[str]]:
    def text(place: str, part: list[Column], p: Any, noted: str) -> list[str]:
        lines = [
            f"def {name}(open, p, t, {record}):",
            f"    words = own_{name}(open, p, t, {record})",
            f"    if {noted}:",
            f"        at = {place}",
            "        open.audit_seen[at] = words",
        ]
        for number, column in enumerate(part[1:]):
            value = f"{record}.{column.word}"
            lines += [f"        if words > {number}:",
                      f"            open.audit_seen[at + {number + 1}] = {value if column.shown else f'bits({value})'}"]
        return [*lines, "    return words"]

    return text


WRITERS: dict[str, Callable[..., list[str]]] = {
    "choose": _decides("choose(open, p, t, die, plan)"),
    "peek": _decides("peek(secret, open, p, t, die, plan)"),
    "idle": _idles,
    "release": _releases,
    "speak": _says("speak", "message"),
    "greet": _says("greet", "card"),
}


def _digest(hooks: Any) -> str:
    """Of all sources the module takes in: engines are cached under the text that holds it."""
    files = {sys.modules[hook.__module__].__file__ for hook in hooks} | {dealing.__file__}
    texts = [Path(file).read_bytes() for file in sorted(filter(None, files))]
    return hashlib.sha256(b"\0".join(texts)).hexdigest()[:16]
