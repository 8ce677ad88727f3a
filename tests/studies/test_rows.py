"""The rows that a run leaves have the type that pages and tables read them by."""

from functools import partial
from types import NoneType, UnionType
from typing import Any, Literal, NotRequired, get_args, get_origin, get_type_hints, is_typeddict

import pytest

from coterie.engines.simulate import simulate_mesh
from coterie.studies import case, load_study
from coterie.studies.rows import SummaryRow

BUYING = {"kind": "procurement", "quality": [0.9, 0.6, 0.3], "cost": [0.2, 0.3, 0.1], "capacity": [5, 4, 3], "agents": 2}


@pytest.fixture(scope="module")
def rows():
    """Interpreted: a few rounds are not worth a compiler."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(case, "simulate_mesh", partial(simulate_mesh, compiled=False))
        return run_rows()


def run_rows():
    plain = {"horizon": 40, "problem": {"means": [0.2, 0.5, 0.8], "agents": 3}, "algorithm": [{"name": "coop-ucb"}]}
    buying = {"horizon": 60, "replications": 2, "problem": BUYING, "algorithm": [{"name": "nf-cb"}, {"name": "fcb"}]}
    return [row for study in (plain, buying) for row in load_study(study).run(workers=1).summary]


def misfits(kind: Any, value: Any, place: str = "row") -> list[str]:
    """Where a value is not of a type: keys of records exactly, entries of lists and tables one by one."""
    origin, inside = get_origin(kind), get_args(kind)
    if is_typeddict(kind) and isinstance(value, dict):
        hints = get_type_hints(kind, include_extras=True)
        needed = {key for key, hint in hints.items() if get_origin(hint) is not NotRequired}
        odd = [f"{place}.{key}" for key in (needed - value.keys()) | (value.keys() - hints.keys())]
        plain = get_type_hints(kind)
        return odd + [text for key in value.keys() & plain.keys() for text in misfits(plain[key], value[key], f"{place}.{key}")]
    if origin is Literal:
        return [] if value in inside else [place]
    if origin is UnionType:
        return [] if any(not misfits(one, value) for one in inside) else [place]
    if origin is list and isinstance(value, list):
        return [text for entry in value for text in misfits(inside[0], entry, f"{place}[]")]
    if origin is dict and isinstance(value, dict):
        return [text for entry in value.values() for text in misfits(inside[1], entry, f"{place}{{}}")]
    if kind is Any:
        return []
    wanted = {float: (int, float), None: NoneType}.get(kind, kind)
    return [] if origin is None and not is_typeddict(kind) and isinstance(value, wanted) else [place]


def test_rows_of_a_run_have_all_keys_of_their_type_and_no_others(rows):
    assert ["procurement" in row for row in rows] == [False, True, True]
    for row in rows:
        assert misfits(SummaryRow, row) == []


def test_a_key_that_the_type_does_not_know_or_that_is_missing_is_seen(rows):
    assert misfits(SummaryRow, rows[0] | {"surprise": 1}) == ["row.surprise"]
    assert misfits(SummaryRow, {key: value for key, value in rows[0].items() if key != "curve"}) == ["row.curve"]
    assert misfits(SummaryRow, rows[0] | {"agents": "three"}) == ["row.agents"]
