"""Parts are linked and not emitted; an index of a user's own file may count from the back."""

import os
import subprocess
import sys
import types
from math import cos

import numpy as np
import pytest
from numba import njit, typeof

from coterie.guests import OWN
from coterie.kernel.calling import by_address
from coterie.kernel.compiling import OPTIONS, apart, inline, node, rare, whole

TEXT = """
def last(values, k):
    return values[k]

def run(values, k):
    return last(values, k)
"""


def compiled(name):
    module = types.ModuleType(name)
    exec(compile(TEXT, __file__, "exec"), vars(module))
    module.last = node(module.last)
    return njit(**OPTIONS)(module.run)


@pytest.fixture
def values():
    return np.arange(5) + 10


def test_an_own_file_counts_from_the_back_as_python_does(values):
    run = compiled(f"{OWN}counts")
    assert [run(values, k) for k in (-1, -5, 0, 4)] == [14, 10, 10, 14]


def test_our_own_parts_do_not_look_whether_an_index_is_negative(values):
    looks = {}
    for name in ("coterie.counts", f"{OWN}counts"):
        run = compiled(name)
        assert run(values, 3) == 13
        (text,) = run.inspect_llvm().values()
        looks[name] = text.count("icmp slt") + text.count("ashr i64") + text.count("lshr i64")
    assert looks["coterie.counts"] < looks[f"{OWN}counts"]


def test_an_inline_function_gives_the_same_bits_to_python_and_to_a_loop():
    @inline
    def third(x):
        return x / 3.0 + 0.1

    @njit(**OPTIONS)
    def run(x):
        return third(x)

    assert third(0.7).hex() == run(0.7).hex() == (0.7 / 3.0 + 0.1).hex()


@pytest.mark.parametrize("mark", [inline, rare])
def test_a_rare_function_is_one_that_is_called(mark):
    """What is inlined behind a branch may be worked out whether it is needed or not."""

    @mark
    def wave(x):
        return cos(3.0 * x)

    @njit(**OPTIONS)
    def run(values, limit):
        for e in range(values.size):
            if values[e] < limit:
                values[e] += wave(values[e])

    values = np.linspace(0.0, 1.0, 17)
    run(values, 0.5)
    assert values.tolist() == [x + cos(3.0 * x) if x < 0.5 else x for x in np.linspace(0.0, 1.0, 17).tolist()]
    (text,) = run.inspect_llvm().values()
    assert any("define" in line and "wave" in line for line in text.splitlines()) == (mark is rare)


@pytest.mark.parametrize("mark", [node, apart])
def test_the_compiler_is_told_that_records_lie_apart(mark):
    """Then what was read before a record was written need not be read again."""

    def copy(values, others):
        others[0] = values[0] + 1
        others[1] = values[0]

    copy = mark(copy)

    @njit(**OPTIONS)
    def run(values, others):
        copy(values, others)

    values, others = np.arange(3) + 5, np.zeros(3, int)
    run(values, others)
    assert others.tolist() == [6, 5, 0]
    (text,) = run.inspect_llvm().values()
    body = text[: text.index("\n}\n")]
    assert body.count("load i64") == (1 if mark is apart else 2)


MAKES = """
import numpy as np

def middle(values, k):
    made = np.zeros(3)
    made[1] = values[k]
    return made[1:].sum()

def run(values, k):
    total = 0.0
    for _ in range(100):
        total += middle(values, k)
    values[0] = total
"""


@pytest.mark.parametrize("name", ["coterie.makes", f"{OWN}makes"])
def test_references_are_not_counted_but_where_arrays_may_be_made(values, name):
    module = types.ModuleType(name)
    exec(compile(MAKES, __file__, "exec"), vars(module))
    module.middle = node(module.middle)
    module.run.__module__ = "coterie.makes"
    by_address(whole(module.run))(values, 3)
    assert values[0] == 1300
    ours = types.ModuleType("coterie.makes_none")
    exec(compile(TEXT, __file__, "exec"), vars(ours))
    ours.last = node(ours.last)
    looks = whole(ours.run)
    looks.compile((typeof(values), typeof(3)))
    (text,) = looks.inspect_llvm().values()
    assert "\ndefine " in text and "NRT_incref" not in text


@pytest.mark.parametrize("switch", ["NUMBA_DISABLE_JIT", "NUMBA_DEBUGINFO"])
def test_switches_of_the_compiler_that_our_code_cannot_do_with_are_named(switch):
    done = subprocess.run(
        [sys.executable, "-c", "import coterie.kernel"], env=os.environ | {switch: "1"}, capture_output=True, text=True
    )
    assert f"{switch} must not be set" in done.stderr.splitlines()[-1]
