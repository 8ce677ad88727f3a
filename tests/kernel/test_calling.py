"""Engines are called by their address: with the same numbers, and what they raise is raised."""

import threading
from typing import Any, NamedTuple

import numpy as np
import pytest

from coterie.guests import OWN
from coterie.kernel.calling import by_address
from coterie.kernel.compiling import whole

KIND = np.dtype([("count", np.int64), ("share", np.float64, (3,))])


class Group(NamedTuple):
    rows: Any
    table: Any
    step: int
    scale: float


def fill(group, worlds, first, is_odd):
    for i in range(len(group.rows)):
        group.rows[i].count = first + i * group.step + (1 if is_odd else 0)
        for k in range(3):
            group.rows[i].share[k] = worlds[i, k] * group.scale
    for i in range(group.table.shape[0]):
        for k in range(group.table.shape[1]):
            group.table[i, k] = 10 * i + k


def refuse(values, most):
    if values[0] > most:
        raise ValueError("too many")
    values[0] += 1


run = by_address(whole(fill))


def filled(table, is_odd=True, worlds=None):
    group = Group(np.zeros(4, KIND), table, 7, 0.5)
    run(group, np.arange(12.0).reshape(4, 3) if worlds is None else worlds, 100, is_odd)
    return group


def test_records_groups_and_numbers_arrive():
    group = filled(np.zeros((2, 3), np.int32))
    assert group.rows["count"].tolist() == [101, 108, 115, 122]
    assert (group.rows["share"] == np.arange(12.0).reshape(4, 3) / 2).all()
    assert group.table.tolist() == [[0, 1, 2], [10, 11, 12]]
    assert filled(np.zeros((2, 3), np.int32), is_odd=False).rows["count"][0] == 100


def test_numbers_of_numpy_are_numbers():
    group = Group(np.zeros(1, KIND), np.zeros((1, 3)), np.int64(7), np.float64(0.5))
    run(group, np.ones((1, 3)), np.int64(5), np.bool_(True))
    assert group.rows["count"][0] == 6 and group.rows["share"][0].tolist() == [0.5] * 3


def halve(number, values):
    values[0] = number / 2


def test_a_number_beyond_63_bits_is_no_negative_one():
    half, values = by_address(whole(halve)), np.zeros(1)
    for number in (6, -6, 2**63 + 2**40, 6):
        half(number, values)
        assert values[0] == number / 2
    with pytest.raises(Exception, match="too large"):
        half(2**64, values)


def double(group, values):
    for k in range(3):
        values[k] = group.rows.share[k] * 2.0 + group.rows.count


def test_a_record_in_a_group_arrives():
    rows, values = np.array([(1, [1, 2, 3]), (2, [4, 5, 6])], KIND), np.zeros(3)
    by_address(whole(double))(Group(rows[1], values, 0, 0.0), values)
    assert values.tolist() == [10, 12, 14]


@pytest.mark.parametrize("table", [
    np.zeros((2, 3)), np.zeros((0, 3)), np.zeros((4, 6))[::2, ::2], np.zeros((3, 2)).T, np.zeros((2, 3), np.uint8),
], ids=["real", "empty", "with gaps", "turned", "bytes"])  # fmt: skip
def test_arrays_of_any_kind_get_an_engine_of_their_own(table):
    filled(table)
    expected = np.add.outer(10 * np.arange(len(table)), np.arange(3))
    assert (table == expected).all()


def test_a_table_that_cannot_be_written_is_refused_before_anything_runs():
    table = np.zeros((2, 3))
    table.flags.writeable = False
    with pytest.raises(Exception, match="readonly"):
        filled(table)


def test_what_compiled_code_raises_is_raised():
    careful, values = by_address(whole(refuse)), np.array([3])
    careful(values, 3)
    with pytest.raises(ValueError, match=r"^too many$"):
        careful(values, 3)
    assert values[0] == 4


def refuse_more(values, most):
    if values[0] > most:
        raise ValueError("more than", most)


def test_what_is_known_at_run_time_only_is_left_out(monkeypatch):
    monkeypatch.setattr(refuse_more, "__module__", f"{OWN}more")  # only users' own files may raise such
    with pytest.raises(ValueError, match=r"^more than$"):
        by_address(whole(refuse_more))(np.array([3]), 2)


def test_numbers_of_other_sizes_are_refused():
    with pytest.raises(TypeError, match=r"^numbers must have 64 bits, got one of the kind i32$"):
        by_address(whole(halve))(np.int32(3), np.zeros(1))


def test_others_run_meanwhile():
    seen, group = [], Group(np.zeros(4, KIND), np.zeros((4000, 4000)), 1, 1.0)
    threads = [threading.Thread(target=lambda: seen.append(run(group, np.zeros((4, 3)), 0, True))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [None] * 3 and group.table[-1, -1] == 43989
