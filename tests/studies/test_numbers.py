"""Numbers and lists as people write them."""

import pytest

from coterie.studies import numbers


def plain(text: str) -> str:
    """With ordinary spaces."""
    return " ".join(text.split())


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.01234, "0.0123"),
        (4.567, "4.57"),
        (100, "100"),
        (127.6, "128"),
        (1234567.8, "1,234,568"),
        (-25.0, "-25"),
    ],
)
def test_a_number_has_three_digits_and_is_whole_from_a_thousand_on(value: float, text: str) -> None:
    assert numbers.number(value) == text


@pytest.mark.parametrize(
    ("mean", "margin", "text"),
    [
        (1234.5, 12.3, "1,234 ± 12"),
        (24.71, 0.246, "24.71 ± 0.25"),
        (24.71, None, "24.7"),
        (24.71, 0.0, "24.7 ± 0"),
        (0.0, 0.0, "0 ± 0"),
    ],
)
def test_a_mean_is_given_as_precisely_as_its_interval_allows(mean: float, margin: float | None, text: str) -> None:
    assert plain(numbers.measured({"mean": mean, "margin": margin})) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (980, "980 bytes"),
        (999.7, "1 kB"),
        (12_500, "12.5 kB"),
        (3.1e6, "3.1 MB"),
        (2.5e9, "2.5 GB"),
    ],
)
def test_data_is_given_in_units_people_use(count: float, text: str) -> None:
    assert plain(numbers.data_size(count)) == text


@pytest.mark.parametrize(("value", "text"), [(0, "0"), (250, "250"), (20_000, "20k"), (1.5e6, "1.5M"), (0.05, "0.05")])
def test_an_axis_label_is_short(value: float, text: str) -> None:
    assert numbers.compact(value) == text


@pytest.mark.parametrize(
    ("share", "text"), [(1, "100 %"), (0, "0 %"), (2 / 3, "66.7 %"), (0.99999, "over 99.9 %"), (1e-5, "under 0.1 %")]
)
def test_percent_says_all_or_nothing_only_if_it_is(share: float, text: str) -> None:
    assert plain(numbers.percent(share)) == text


@pytest.mark.parametrize(("ratio", "text"), [(0.05, "0.05 times"), (1, "1.00 times"), (23.14, "23.1 times")])
def test_a_ratio_has_three_digits(ratio: float, text: str) -> None:
    assert plain(numbers.times(ratio)) == text


@pytest.mark.parametrize(
    "text",
    [
        numbers.measured({"mean": 24.7, "margin": 0.2}),
        numbers.measured({"mean": 24.7, "margin": 0.0}),
        numbers.data_size(980),
        numbers.data_size(12_500),
        numbers.percent(0.99),
        numbers.times(2),
        numbers.plural(3, "round"),
    ],
)
def test_no_line_breaks_between_a_number_and_what_belongs_to_it(text: str) -> None:
    assert " " not in text


@pytest.mark.parametrize(
    ("items", "text"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_a_list_is_read_aloud(items: list[str], text: str) -> None:
    assert numbers.listed(items) == text


def test_who_sends_no_byte_sends_nothing() -> None:
    assert [plain(numbers.sent_text(count)) for count in (0, 1, 12_500)] == ["sends nothing", "1 byte", "12.5 kB"]


def test_amounts_have_the_decimals_of_their_unit_and_a_minus_of_their_own() -> None:
    assert [numbers.amount(value, 1) for value in (1204.26, -0.94, 0.0)] == ["1,204.3", "\N{MINUS SIGN}0.9", "0.0"]


@pytest.mark.parametrize(
    ("values", "decimals"), [([1.0], 1), ([2.0, 2.0], 1), ([2.28, 2.24], 2), ([5.7505, 5.7494], 3), ([1.0, 1.0 + 1e-9], 3)]
)
def test_decimals_show_differences_about_as_large_as_they_are(values: list[float], decimals: int) -> None:
    assert numbers.decimals_apart(values) == decimals
