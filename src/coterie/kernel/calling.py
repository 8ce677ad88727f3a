"""How Python calls an engine: by its address, with the numbers and addresses of memory that it takes.

The compiler's own wrapper takes groups of arrays apart in machine code, which has to be made for every engine: a sixth of its
time. Here that is done by a few lines of Python. The interpreter's lock is let go of meanwhile.
"""

import functools
import pickle
from collections.abc import Callable, Iterator
from ctypes import CFUNCTYPE, POINTER, Structure, byref, c_bool, c_double, c_int8, c_int32, c_int64, c_void_p, string_at
from typing import Any

import numpy as np
from llvmlite import ir
from numba import typeof

SORTS: dict[str, Any] = {"i1": c_bool, "i8": c_int8, "i64": c_int64, "double": c_double}  # of numbers
FINE = (0, -2)  # codes of a call that gives a number or a record, or nothing


class _Raised(Structure):
    """What the compiler keeps of an exception."""

    _fields_ = (("pickled", c_void_p), ("size", c_int32))


def by_address(run: Any) -> Callable[..., None]:
    """The same function, which gives nothing back. It is compiled at its first call with arguments of these types."""
    entries: dict[tuple, Callable[..., int]] = {}

    @functools.wraps(run)
    def called(*arguments: Any) -> None:
        kinds: list[Any] = []
        numbers: list[Any] = []
        _take_apart(arguments, kinds, numbers)
        if (of := tuple(kinds)) not in entries:
            entries[of] = _entry(run, tuple(map(typeof, arguments)))
        nothing, raised = c_void_p(), POINTER(_Raised)()
        if entries[of](byref(nothing), byref(raised), *numbers) not in FINE:
            raise _error(raised.contents) if raised else RuntimeError("it was stopped without a word")

    return called


def _error(raised: _Raised) -> BaseException:
    """What was raised; words and numbers in it that are known at run time only are left out."""
    kind, about, _ = pickle.loads(string_at(raised.pickled, raised.size))
    told = [value for value in about if not isinstance(value, ir.Constant)]
    try:
        return (kind or RuntimeError)(*told)
    except TypeError:
        return RuntimeError(kind.__name__)


def _entry(run: Any, signature: tuple) -> Callable[..., int]:
    if signature not in run.overloads:
        run.compile(signature)
    made, models = run.overloads[signature], run.targetctx.data_model_manager
    sorts = [sort for kind in signature for sort in _leaves(models[kind].get_argument_type())]
    if wrong := [str(sort) for sort in sorts if not isinstance(sort, ir.PointerType) and str(sort) not in SORTS]:
        raise TypeError(f"numbers must have 64 bits, got one of the kind {wrong[0]}")
    taken = [c_void_p if isinstance(sort, ir.PointerType) else SORTS[str(sort)] for sort in sorts]
    address = made.library.get_pointer_to_function(made.fndesc.llvm_func_name)
    assert address, "compiled code is called by its address"
    return CFUNCTYPE(c_int32, c_void_p, c_void_p, *taken)(address)


def _leaves(sort: Any) -> Iterator[Any]:
    for part in sort if isinstance(sort, tuple) else ():
        yield from _leaves(part)
    if not isinstance(sort, tuple):
        yield sort


def _take_apart(values: tuple, kinds: list[Any], numbers: list[Any]) -> None:
    """What distinguishes types, as far as engines are called with some, and numbers in the compiler's order.

    An array has no owner here: whoever calls keeps it.
    """
    for value in values:
        if isinstance(value, np.ndarray):
            kinds += (value.dtype, value.ndim, value.flags.num)
            numbers += (None, None, value.size, value.itemsize, value.ctypes.data, *value.shape, *value.strides)
        elif isinstance(value, tuple):
            kinds.append(type(value))
            _take_apart(value, kinds, numbers)
        elif isinstance(value, np.void):
            kinds.append(value.dtype)
            numbers.append(value.__array_interface__["data"][0])
        else:
            kinds += (type(value), value >> 63 if type(value) is int else 0)  # beyond 63 bits they have another type, or none
            numbers.append(value.item() if isinstance(value, np.generic) else value)
