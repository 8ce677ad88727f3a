"""What is left out for our own code is done for everybody else's, and what is remembered is what the compiler would find."""

import gc
import resource

from llvmlite.binding import ffi
from llvmlite.ir import ArrayType, DoubleType, IntType, LiteralStructType
from numba import njit, objmode
from numba.core.registry import cpu_target

from coterie.kernel.needless import roomy, undisturbed

CALLS = 200


def leaf():
    """A frame of its own."""


def new_pages(depth):
    """That so many calls take, at this depth."""
    if depth:
        return new_pages(depth - 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(CALLS):
        leaf()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def most_new_pages():
    new_pages(400)  # once before: what the interpreter itself needs
    return max(map(new_pages, range(400)))


def test_calls_below_a_roomy_function_take_no_memory_from_the_system():
    """Elsewhere there is a depth at which every call does."""
    assert most_new_pages() >= CALLS
    assert roomy(lambda: most_new_pages())() < CALLS / 4


def test_a_roomy_function_is_the_same_function():
    @roomy
    def total(*values, start=0):
        """Of all."""
        return sum(values, start)

    assert total(1, 2, start=3) == 6 and total.__doc__ == "Of all."


def test_types_have_the_sizes_that_the_compiler_finds():
    context = cpu_target.target_context
    kinds = [IntType(1), IntType(64), DoubleType(), ArrayType(IntType(8), 13), IntType(8).as_pointer()]
    kinds += [LiteralStructType([IntType(8), DoubleType()]), LiteralStructType([IntType(8), IntType(8)])]
    for kind in kinds + kinds:
        assert context.get_abi_sizeof(kind) == kind.get_abi_size(context.target_data)


def test_whoever_compiles_beside_us_may_use_all_of_python():
    @njit
    def word(x):
        with objmode(y="float64"):
            y = float(str(x))
        return y

    @njit
    def values(x):
        return {"a": x, **{"b": x + 1.0}}["b"]

    assert word(0.25) == 0.25 and values(1.0) == 2.0


def test_nobody_is_disturbed_after_it():
    told, collecting = list(ffi.lib._lock._cblist), gc.isenabled()
    with undisturbed():
        assert not ffi.lib._lock._cblist and not gc.isenabled()
    assert ffi.lib._lock._cblist == told and gc.isenabled() == collecting
    gc.disable()
    try:
        with undisturbed():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
