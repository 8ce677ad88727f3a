"""Records: one meaning for every byte."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy import float64, int64

from coterie.kernel import capacity, extend, one, record, rows
from coterie.kernel.records import named, rows_together


def test_scalars_come_first_and_no_byte_is_padding():
    kind = record(total=(int64, 3), count=int64, score=(float64, (2, 5)), target=float64)
    assert kind.names == ("count", "target", "total", "score")
    assert kind.itemsize == 8 * (1 + 1 + 3 + 10)
    assert [kind.fields[name][1] for name in kind.names] == [0, 8, 16, 40]


def test_an_extended_record_is_the_one_with_all_fields():
    plain = record(count=int64, total=(int64, (2, 3)))
    assert extend(plain, target=float64, last=(int64, 4)) == record(
        count=int64, target=float64, total=(int64, (2, 3)), last=(int64, 4)
    )
    with pytest.raises(ValueError, match="must have another name"):
        extend(plain, size=int64)


@pytest.mark.parametrize("name", ["size", "mean", "sum", "round", "data", "max"])
def test_names_that_numpy_hides_are_refused(name):
    with pytest.raises(ValueError, match=f"field '{name}' of a record must have another name"):
        record(**{name: int64})


@pytest.mark.parametrize("kind", [np.int32, np.float32, np.uint64, np.bool_, np.complex128, (np.int32, 2)])
def test_fields_of_other_types_than_the_two_are_refused(kind):
    with pytest.raises(ValueError, match="field 'count' of a record must be int64 or float64, got "):
        record(count=kind)


@given(st.integers(1, 5000))
def test_capacity_has_room_for_all_and_wastes_less_than_half(count):
    slots = capacity(count)
    assert count <= slots < max(2 * count, count + 4)
    assert capacity(slots) == slots


def test_capacities_are_few():
    """Every one of them is a type of its own to the compiler."""
    small, large = (4, 8, 12, 16, 24, 32), (64, 128, 256, 512, 1024)
    assert {capacity(count) for count in range(1, 1025)} == {*small, *large}


def test_rows_and_one_start_as_zeros_and_show_fields_as_attributes():
    kind = record(count=int64, total=(float64, 4))
    assert not any(rows((2, 3), kind, True).tobytes() + rows((2, 3), kind, False).tobytes() + one(kind).tobytes())
    many, single = rows((2, 3), kind, False), one(kind)
    many[1, 2].total[3] = single.total[1] = 2.5
    many[1, 2].count = single.count = 7
    assert (many["total"][1, 2, 3], many["count"][1, 2]) == (2.5, 7)
    assert (single["total"][1], single["count"]) == (2.5, 7)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("replications", [0, 2])
def test_rows_together_are_those_apart_in_one_block(compiled, replications):
    kinds = {"opens": record(count=int64, total=(float64, 4)), "peers": record(last=int64), "ledgers": record(loss=float64)}
    shapes = {name: ((replications, places), kind) for places, (name, kind) in enumerate(kinds.items(), 1)}
    together, before = rows_together(shapes, compiled), 0
    for name, (shape, kind) in shapes.items():
        apart = rows(shape, kind, compiled)
        assert (type(together[name]), together[name].dtype, together[name].shape) == (type(apart), apart.dtype, apart.shape)
        assert together[name].ctypes.data == next(iter(together.values())).ctypes.data + before
        before += together[name].nbytes
        assert together[name].flags.c_contiguous and together[name].flags.aligned and not any(together[name].tobytes())
    for number, array in enumerate(together.values(), 1):
        array.view(np.ndarray).view(int64)[...] = number
    assert [set(array.view(np.ndarray).view(int64).ravel()) for array in together.values()] == [
        {number} if replications else set() for number in (1, 2, 3)
    ]


def test_named_records_are_the_same_memory_and_take_no_name_but_their_fields():
    plain = np.zeros(3, record(count=int64, total=(float64, 2)))
    second = named(plain)[1]
    second.count, second.total[1] = 5, 0.5
    assert (plain["count"][1], plain["total"][1].tolist()) == (5, [0.0, 0.5])
    assert (second.count, named(plain).count.tolist()) == (5, [0, 5, 0])
    assert second.tobytes() == plain[1].tobytes() and named(plain).dtype == plain.dtype
    for name in ("cuont", "shape"):
        with pytest.raises(AttributeError, match="a record has no field"):
            setattr(second, name, 1)
    with pytest.raises(AttributeError):
        second.cuont  # noqa: B018
