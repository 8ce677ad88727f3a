"""What is marked `apart` keeps its promise to the compiler: no two records that an engine hands it share memory.

Every algorithm with such hooks is played by the interpreted engines, in fair weather and in rough, and every call is looked at.
"""

import inspect
import re
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import coterie
from coterie.algorithms import entries
from coterie.checking.stage import AGENTS, DELAYS, HORIZON, ROUNDS, SEED, make_form
from coterie.contract import HOOKS, SWITCHES
from coterie.engines.bind import bind
from coterie.engines.simulate import simulate_mesh, simulate_star
from coterie.kernel.records import Narrow, rows

FORMS = {
    f"{name} {example}": make_form(entry, example, name) for name, entry in entries().items() for example in entry.examples
}


def is_marked(hook):
    return inspect.getsource(hook).startswith("@apart")


def marked_of(form):
    roles = {"": form.method.node, "server_": form.method.server}
    hooks = {prefix + name: getattr(role, name) for prefix, role in roles.items() if role for name in HOOKS + SWITCHES}
    return {name: hook for name, hook in hooks.items() if hook is not None and is_marked(hook)}


MARKED = {name: form for name, form in FORMS.items() if marked_of(form)}


def share_memory(arguments):
    """Whether two of them that are records, or arrays of records, have a byte in common."""
    records = [a.whole if isinstance(a, Narrow) else a for a in arguments if isinstance(a, np.void | np.ndarray | Narrow)]
    bytes_of = [np.frombuffer(record, np.uint8) for record in records if record.nbytes]
    memory = sorted((own.ctypes.data, own.ctypes.data + own.nbytes) for own in bytes_of)
    return any(start < end for (_, end), (start, _) in pairwise(memory))


@cache
def played(name, rough):
    """The marked hooks that were called; each call was looked at."""
    with pytest.MonkeyPatch.context() as patch:
        return play(MARKED[name], rough, patch)


def play(form, rough, monkeypatch):
    called = set()

    def looked_at(name, hook):
        def call(*arguments):
            assert not share_memory(arguments), name
            called.add(hook)
            return hook(*arguments)

        return call

    def binding(*which, **how):
        run = bind(*which, **how)
        for name, hook in marked_of(form).items():
            if name in run.__globals__:
                monkeypatch.setitem(run.__globals__, name, looked_at(name, hook))
        return run

    arguments = (form.method, form.problem, form.worlds, AGENTS)
    how = {"seed": SEED, "weather": form.weather(rough), "compiled": False, "binding": binding}
    if form.links is not None:
        simulate_mesh(*arguments, ROUNDS, np.array([ROUNDS]), form.links, **how)
    else:
        simulate_star(*arguments, HORIZON, np.array([HORIZON]), delay=DELAYS.get(form.method.structure, 0), **how)
    return called


@pytest.mark.parametrize("rough", [False, True])
@pytest.mark.parametrize("name", MARKED)
def test_records_of_a_marked_hook_lie_apart(name, rough):
    assert played(name, rough)


def test_every_marked_function_is_a_hook_that_some_run_calls():
    """A function that only hooks call might be handed one record twice, and nobody would look. So none is marked."""
    hooks = {hook for name in MARKED for rough in (False, True) for hook in played(name, rough)}
    called = {f"{hook.__module__}.{hook.__name__}" for hook in hooks}
    folder = Path(coterie.__path__[0])
    written = {
        ".".join(("coterie", *file.relative_to(folder).with_suffix("").parts, name))
        for file in folder.rglob("*.py")
        for name in re.findall(r"^@apart\ndef (\w+)", file.read_text(), re.MULTILINE)
    }
    assert written == called


def test_the_look_finds_what_is_shared():
    array = rows(3, np.dtype([("count", np.int64)]), False)
    assert not share_memory((array[0], array[1], 7))
    assert share_memory((array[1], 7, array[1]))
    assert share_memory((array, array[2]))
    assert share_memory((Narrow(array[2], ("count",)), array[2]))
