"""The words for what a field takes, and one line for every way to get it wrong."""

import datetime
import math
from typing import Annotated, Any, Literal, Optional

import annotated_types
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st
from pydantic import (
    AllowInfNan,
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    PositiveInt,
    field_validator,
    model_validator,
)

from coterie.studies.messages import Complaint, allowed, check, first_of, given, misfit, nearest, spell, unfit_values


class Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Inner(Strict):
    batch: int = Field(1, ge=1)
    size: float


class Square(Strict):
    shape: Literal["square"] = "square"
    side: float = Field(gt=0)


class Circle(Strict):
    shape: Literal["circle", "disc"] = "circle"
    radius: float = Field(gt=0)


class Sample(Strict):
    rate: float = Field(1.0, gt=0, le=2)
    rounds: int | None = Field(None, ge=1)
    gap: Literal["true"] | Annotated[float, Field(gt=0, lt=1)] | None = None
    start: Optional[Annotated[int, Field(ge=0)]] = None  # noqa: UP045  both spellings of a union are in use
    weights: tuple[Annotated[float, Field(ge=0)], ...] = Field((), min_length=2)
    mixed: tuple[int, str] = (0, "")
    inner: Inner | None = None
    figure: Annotated[Square | Circle, Field(discriminator="shape")] | None = None
    prices: dict[str, Annotated[float, Field(ge=0)]] = Field(default_factory=dict)
    day: datetime.date | None = None
    even: int = 0
    short: str = ""
    low: float = 0
    high: float = 1

    @field_validator("even")
    @classmethod
    def is_even(cls, value):
        if value % 2:
            raise ValueError("must be an even whole number")
        return value

    @field_validator("short")
    @classmethod
    def is_short(cls, value):
        if len(value) > 2:
            raise AssertionError(f"must be text\nof at most 2 letters, got {len(value)} letters")
        return value

    @model_validator(mode="after")
    def is_a_range(self):
        if self.high < self.low:
            raise misfit("high", text=f"must be at least low = {self.low}, got {self.high}")
        if self.high == self.low:
            raise ValueError("must have low < high")
        return self


def lines(table, **context):
    return [complaint.text for complaint in check(Sample, table, **context)[1]]


@pytest.mark.parametrize(
    ("annotation", "text"),
    [
        (int, "a whole number"),
        (PositiveInt, "a whole number > 0"),
        (float, "a number"),
        (FiniteFloat, "a finite number"),
        (Annotated[float, Field(allow_inf_nan=False, le=3)], "a finite number <= 3"),
        (Annotated[float, AllowInfNan(True), Field(lt=0.5)], "a number < 0.5"),
        (Annotated[int, Field(ge=2, le=10_000)], "a whole number in [2, 10000]"),
        (Annotated[float, Field(gt=0, lt=1)], "a number in (0, 1)"),
        (Annotated[float, Field(gt=0, le=1)], "a number in (0, 1]"),
        (Annotated[float, annotated_types.Interval(ge=0, lt=0.5)], "a number in [0, 0.5)"),
        (Annotated[float, Field(ge=1e-9, le=2_000_000)], "a number in [1e-09, 2000000]"),
        (Annotated[float, Field(gt=0, description="inf: no privacy")], "a number > 0 (inf: no privacy)"),
        (str, "text"),
        (bool, "true or false"),
        (Literal["a"], "'a'"),
        (Literal["a", "b", 3], "'a', 'b' or 3"),
        (int | None, "a whole number"),
        (Annotated[int | None, Field(ge=1)], "a whole number >= 1"),
        (Literal["a", "b"] | Annotated[int, Field(ge=0)] | None, "'a', 'b' or a whole number >= 0"),
        (Annotated[float, Field(description="one")] | Literal["a"], "a number (one) or 'a'"),
        (tuple[int, ...], "a list of entries, each a whole number"),
        (tuple[float, float, float], "a list of 3 entries, each a number"),
        (tuple[int, str], "a list of 2 entries"),
        (Annotated[tuple[Any, ...], Field(min_length=1)], "a list of at least 1 entry"),
        (Annotated[list[str], Field(min_length=2)], "a list of at least 2 entries, each text"),
        (dict[str, int], "a table"),
        (Square | Circle, "a table"),
        (datetime.date, ""),
    ],
)
def test_what_a_type_takes_is_spelt_out_with_its_whole_range(annotation, text):
    assert allowed(annotation) == text


@pytest.mark.parametrize(
    ("table", "line"),
    [
        ({"rate": 0}, "rate must be a number in (0, 2], got 0"),
        ({"rate": 2.5}, "rate must be a number in (0, 2], got 2.5"),
        ({"rate": math.nan}, "rate must be a number in (0, 2], got NaN"),
        ({"rate": "1"}, "rate must be a number in (0, 2], got '1' (text)"),
        ({"rate": True}, "rate must be a number in (0, 2], got true"),
        ({"rate": (1,)}, "rate must be a number in (0, 2], got [1]"),
        ({"rate": {}}, "rate must be a number in (0, 2], got a table"),
        ({"rounds": 0}, "rounds must be a whole number >= 1, got 0"),
        ({"rounds": 1.5}, "rounds must be a whole number >= 1, got 1.5"),
        ({"start": -1}, "start must be a whole number >= 0, got -1"),
        ({"weights": (0.5,)}, "weights must be a list of at least 2 entries, each a number >= 0, got [0.5]"),
        ({"weights": (0.5, -1)}, "weights[1] must be a number >= 0, got -1"),
        ({"mixed": (1, 2)}, "mixed[1] must be text, got 2"),
        ({"mixed": (1, "a", 2)}, "mixed must be a list of 2 entries, got [1, 'a', 2]"),
        ({"inner": {}}, "inner.size must be a number, got nothing"),
        ({"inner": {"size": 1, "batch": 0}}, "inner.batch must be a whole number >= 1, got 0"),
        ({"inner": {"size": 1, "bach": 1}}, "unknown key 'bach' in inner; did you mean 'batch'?"),
        ({"figure": {"shape": "disc", "radius": 0}}, "figure.radius must be a number > 0, got 0"),
        ({"figure": {"shape": "line"}}, "figure.shape must be 'square', 'circle' or 'disc', got 'line'"),
        ({"prices": {"a": -1}}, "prices.a must be a number >= 0, got -1"),
        ({"day": 3}, "day must be a valid date, got 3"),
        ({"rate": datetime.date(2024, 1, 2)}, "rate must be a number in (0, 2], got '2024-01-02' (date)"),
        ({"rato": 1}, "unknown key 'rato'; did you mean 'rate'?"),
    ],
)
def test_a_mistake_is_put_into_one_line(table, line):
    assert lines(table) == [line]


def test_every_branch_of_a_union_gives_the_same_line():
    line = "gap must be 'true' or a number in (0, 1), got 2"
    assert set(lines({"gap": 2})) == {line}
    assert set(lines({"gap": "false"})) == {"gap must be 'true' or a number in (0, 1), got 'false'"}


def test_what_validators_raise_comes_out_in_the_same_form():
    assert lines({"even": 3}) == ["even must be an even whole number, got 3"]
    assert lines({"short": "long"}) == ["short must be text of at most 2 letters, got 4 letters"]
    assert lines({"low": 2.0}) == ["high must be at least low = 2.0, got 1"]
    assert lines({"low": 1.0}, path=("algorithm", 0), owner="x") == ["algorithm[0] of x must have low < high"]


def test_a_place_an_owner_and_a_sweep_are_named():
    context = {"path": ("algorithm", 1), "owner": "fed-ucb"}
    assert lines({"rounds": 0}, **context) == ["algorithm[1].rounds of fed-ucb must be a whole number >= 1, got 0"]
    assert lines({"rato": 0}, **context) == ["unknown key 'rato' in algorithm[1] (fed-ucb); did you mean 'rate'?"]
    moved = {"weights": ("algorithm", 1, "sweep", "weights", 3)}
    line = "algorithm[1].sweep.weights[3][1] of fed-ucb must be a number >= 0, got -2"
    assert lines({"weights": (1, -2)}, **context, moved=moved) == [line]


def test_a_valid_table_has_no_complaints():
    found, complaints = check(Sample, {"rate": 2, "figure": {"shape": "disc", "radius": 1}, "gap": "true"})
    assert complaints == []
    assert found == Sample(rate=2.0, figure=Circle(shape="disc", radius=1.0), gap="true")


def test_values_that_no_field_may_hold_are_found_wherever_they_are():
    tree = {"a": (1.0, math.nan), "b": {"c": 2**63 - 1, "d": -(2**63), "g": -(2**63) - 1}, "e": math.inf, "f": True}
    tree["h"] = ("é", "\udcff")
    assert list(unfit_values(tree)) == [
        Complaint(("a", 1), "a[1] must be a number, got NaN"),
        Complaint(("b", "g"), "b.g must be a number in [-2^63, 2^63 - 1], got a whole number of 64 bits"),
        Complaint(("h", 1), "h[1] must be text that UTF-8 can hold, got '\\udcff'"),
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "nothing"),
        (False, "false"),
        (0, "0"),
        (5.0, "5.0"),
        (math.inf, "inf"),
        (math.nan, "NaN"),
        ("a\nb", r"'a\nb'"),
        ((1, (True, "x"), {}), "[1, [true, 'x'], a table]"),
        (-(2**64), "a whole number of 65 bits"),
        (b"x", "\"b'x'\" (bytes)"),
        ("x" * 100, "'" + "x" * 76 + "..."),
    ],
)
def test_a_value_is_written_as_it_stands_in_the_file(value, text):
    assert given(value) == text


@settings(derandomize=True, deadline=None)
@drawn(st.recursive(st.text() | st.floats() | st.integers() | st.none(), lambda inner: st.lists(inner).map(tuple)))
def test_a_value_is_always_short_and_on_one_line(value):
    text = given(value)
    assert len(text) <= 80
    assert len(text.splitlines()) == 1


def test_a_number_too_long_to_be_printed_is_described():
    assert given(10**5000) == "a whole number of 16610 bits"


def test_paths_are_written_as_they_are_read():
    assert spell(("algorithm", 1, "sweep", "epsilon", 0)) == "algorithm[1].sweep.epsilon[0]"
    assert spell(("horizon",)) == "horizon"
    assert spell((), "ucb1") == "study of ucb1"


def test_only_a_near_word_is_suggested():
    assert nearest("epsilo", ["mode", "epsilon"]) == "epsilon"
    assert nearest("qqq", ["mode", "epsilon"]) is None


def complaints_at(*paths):
    return [Complaint(path, ".".join(map(str, path))) for path in paths]


@pytest.mark.parametrize("order", [1, -1])
def test_the_first_complaint_in_the_order_of_the_file_is_chosen(order):
    study = {"seed": 1, "algorithm": ({"b": 1, "a": 2}, {}), "horizon": 2}
    paths = [("seed",), ("algorithm", 0, "b"), ("algorithm", 0, "a"), ("algorithm", 0, "missing"), ("algorithm", 1)]
    paths += [("horizon",), ("problem", "agents")]
    for start in range(len(paths)):
        first, others = first_of(complaints_at(*paths[start:][::order]), study)
        assert (first.path, others) == (paths[start], len(paths) - start - 1)


def test_one_entry_counts_once_and_its_last_complaint_holds():
    first, others = first_of([Complaint(("a",), "vague"), Complaint(("a",), "exact")], {"a": 1})
    assert (first.text, others) == ("exact", 0)


def test_a_key_that_is_missing_because_it_was_misspelt_is_not_counted():
    found = check(Inner, {"sise": 3})[1]
    assert len(found) == 2
    first, others = first_of(found, {"sise": 3})
    assert (first.text, others) == ("unknown key 'sise'; did you mean 'size'?", 0)
