"""Records: flat memory with named fields, the same bytes in a simulation, on disk and on a wire."""

import functools
from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

UNIT = 1 << 16  # a reward of 1.0 on the integer grid of everything an agent accumulates or releases


def record(**fields: Any) -> np.dtype:
    """A record type. A field is `int64` or `float64`, or `(type, shape)`: no padding, so bytes have one meaning.

    Scalars come first. A scalar between two arrays would make their distance odd, and then the compiler refuses vectors;
    and a message that is cut after its first words (see `speak`) keeps its scalars.

    >>> record(total=(np.int64, 4), count=np.int64).names
    ('count', 'total')
    """
    return _record(tuple(fields.items()))


@functools.cache
def _record(fields: tuple[tuple[str, Any], ...]) -> np.dtype:
    scalars = [(name, kind) for name, kind in fields if not isinstance(kind, tuple)]
    arrays = [(name, *kind) for name, kind in fields if isinstance(kind, tuple)]
    hidden = [name for name, _ in fields if hasattr(np.void, name)]
    if hidden:
        raise ValueError(f"field {hidden[0]!r} of a record must have another name: numpy hides it behind a method")
    dtype = np.dtype(scalars + arrays)
    odd = [name for name in dtype.names or () if dtype[name].base not in (np.int64, np.float64)]
    if odd:
        raise ValueError(f"field {odd[0]!r} of a record must be int64 or float64, got {dtype[odd[0]].base}")
    return dtype


def extend(kind: np.dtype, **fields: Any) -> np.dtype:
    """The same record with further fields."""
    own = {name: (kind[name].base, kind[name].shape) if kind[name].shape else kind[name].type for name in kind.names or ()}
    return record(**own, **fields)


def capacity(count: int) -> int:
    """Slots to reserve for `count` things. Shapes are types to the compiler, so few of them are wanted.

    >>> [capacity(n) for n in (0, 1, 9, 17, 33, 100)]
    [0, 4, 12, 24, 64, 128]
    """
    return next((size for size in (0, 4, 8, 12, 16, 24, 32) if count <= size), 1 << (int(count) - 1).bit_length())


_get, _put, _attribute = np.void.__getitem__, np.void.__setitem__, np.void.__getattribute__


class Record(np.record):  # type: ignore[misc]  # final in numpy's stubs alone
    """A record whose fields are attributes. numpy's own looks for methods first, by an error, and takes four times as long."""

    def __getattribute__(self, name: str) -> Any:
        try:
            return _get(self, name)
        except ValueError:
            return _attribute(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in (_attribute(self, "dtype").names or ()):
            raise AttributeError(f"a record has no field {name!r}")
        _put(self, name, value)


class Rows(np.recarray):
    """Of such records."""

    def __array_finalize__(self, whole: Any) -> None:
        if self.dtype.names is not None and self.dtype.type is not Record:
            np.ndarray.dtype.__set__(self, np.dtype((Record, self.dtype)))  # type: ignore[attr-defined]

    def __getitem__(self, where: Any) -> Any:
        found = np.ndarray.__getitem__(self, where)
        return found.view(np.ndarray) if isinstance(found, np.ndarray) and found.dtype.names is None else found


def named(array: np.ndarray) -> Rows:
    """The same records; interpreted code reaches their fields as attributes."""
    return array.view(Rows)


def rows(shape: int | tuple[int, ...], kind: np.dtype, compiled: bool) -> np.ndarray:
    """Zeroed records; interpreted code reaches their fields as attributes, compiled code always does."""
    array = np.zeros(shape, kind)
    return array if compiled else named(array)


def rows_together(shapes: Mapping[str, tuple[tuple[int, ...], np.dtype]], compiled: bool) -> dict[str, np.ndarray]:
    """The same of several kinds, in one block of memory. Many blocks that come and go with every batch would be handed back to
    the system each time and come anew, page by page: a third of a batch of 10 replications of elimination."""
    sizes = {name: prod(shape) * kind.itemsize for name, (shape, kind) in shapes.items()}
    block, end, arrays = np.zeros(sum(sizes.values()), np.uint8), 0, {}
    for name, (shape, kind) in shapes.items():
        array = block[end : end + sizes[name]].view(kind).reshape(shape)
        arrays[name] = array if compiled else named(array)
        end += sizes[name]
    return arrays


def one(kind: np.dtype) -> Any:
    """A single zeroed record for interpreted code."""
    return named(np.zeros(1, kind))[0]


class Narrow:
    """A record of which only some fields can be reached."""

    __slots__ = ("names", "whole")

    def __init__(self, whole: Any, names: tuple[str, ...]):
        object.__setattr__(self, "whole", whole)
        object.__setattr__(self, "names", names)

    def __getattr__(self, field: str) -> Any:
        return getattr(self.whole, self._named(field))

    def __setattr__(self, field: str, value: Any) -> None:
        setattr(self.whole, self._named(field), value)

    def _named(self, field: str) -> str:
        if field not in self.names:
            raise AttributeError(f"no field {field!r} here")
        return field
