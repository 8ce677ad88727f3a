"""Suppliers as drawn, written out or read from a table; each refusal is one line that names the place."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import chisquare, kstest, norm, truncnorm

from coterie.errors import UsageError
from coterie.problem.suppliers import draw, explicit, read_table

# Drawn


def many(distribution, **options):
    drawn = draw(distribution, 40, 500, np.random.default_rng(6), **options)
    return drawn, np.concatenate([drawn.quality, drawn.cost.ravel()])


def test_uniform_suppliers_are_uniform():
    """Kolmogorov-Smirnov and chi-square, false alarm 1e-6 each."""
    drawn, numbers = many("uniform")
    assert kstest(numbers, "uniform").pvalue > 1e-6
    counts = np.bincount(drawn.capacity.ravel(), minlength=51)
    assert counts[0] == 0 and len(counts) == 51
    assert chisquare(counts[1:]).pvalue > 1e-6


def test_normal_suppliers_are_normal_and_moved_to_the_ends_of_the_interval():
    _, numbers = many("normal", centre=0.4, sd=0.316)
    inside = numbers[(numbers > 0) & (numbers < 1)]
    low, high = norm.cdf([0, 1], 0.4, 0.316)
    assert kstest(inside, truncnorm(-0.4 / 0.316, 0.6 / 0.316, 0.4, 0.316).cdf).pvalue > 1e-6
    for share, end in ((low, 0), (1 - high, 1)):  # 5 standard deviations: false alarm 6e-7
        assert abs((numbers == end).mean() - share) < 5 * np.sqrt(share * (1 - share) / len(numbers))


def test_truncated_normal_suppliers_are_never_at_the_ends():
    _, numbers = many("truncated-normal", centre=0.4, sd=0.316)
    assert kstest(numbers, truncnorm(-0.4 / 0.316, 0.6 / 0.316, 0.4, 0.316).cdf).pvalue > 1e-6
    assert ((numbers > 0) & (numbers < 1)).all()


def test_a_homogeneous_draw_has_one_row_for_all_and_the_qualities_of_the_other():
    same = draw("uniform", 5, 30, np.random.default_rng(1), homogeneous=True)
    differ = draw("uniform", 5, 30, np.random.default_rng(1))
    assert same.cost.shape == same.capacity.shape == (5, 30)
    assert (same.cost == same.cost[0]).all() and (same.capacity == same.capacity[0]).all()
    assert not (differ.cost == differ.cost[0]).all() and not (differ.capacity == differ.capacity[0]).all()
    assert np.array_equal(same.quality, differ.quality)


def test_fewer_agents_are_the_first_ones_of_the_larger_draw():
    large = draw("normal", 20, 30, np.random.default_rng(2), centre=0.4)
    small = large.first(5)
    assert small.quality is large.quality
    assert np.array_equal(small.cost, large.cost[:5]) and np.array_equal(small.capacity, large.capacity[:5])


# Written out


def test_one_row_holds_for_all_agents():
    found = explicit([0.2, 0.9], [0.1, 0.3], [[4, 0], [0, 2], [1, 1]])
    assert found.cost.tolist() == [[0.1, 0.3]] * 3
    assert found.capacity.dtype == np.int64
    assert found.available.tolist() == [[True, False], [False, True], [True, True]]
    assert explicit([0.2], [0.1], [3], agents=4).capacity.tolist() == [[3]] * 4


@pytest.mark.parametrize(
    ("arrays", "line"),
    [
        (([1.2], [0.1], [1]), "problem.quality must lie in [0, 1], got 1.2 at [0]"),
        (([float("nan")], [0.1], [1]), "problem.quality must lie in [0, 1], got nan at [0]"),
        (
            ([[0.1], [0.2]], [0.1], [1]),
            "problem.quality must be one number per producer, the same for all agents, got 2 rows",
        ),
        (([0.5, 0.5], [[0.1, 0.1], [0.1, -1]], [1, 1]), "problem.cost must lie in [0, 1], got -1 at [1][1]"),
        (([0.5], [0.1], [1.5]), "problem.capacity must be whole numbers in 0..1,000,000, got 1.5 at [0]"),
        (([0.5], [0.1], [-1]), "problem.capacity must be whole numbers in 0..1,000,000, got -1 at [0]"),
        (([0.5], [0.1], [2_000_000]), "problem.capacity must be whole numbers in 0..1,000,000, got 2e+06 at [0]"),
        (
            ([0.5, 0.6], [0.1, 0.1], [1]),
            "problem.capacity must have 2 entries per row, one for each of problem.quality, got 1",
        ),
        (([0.5], [[0.1], [0.2]], [[1], [1], [1]]), "problem.cost must have 1 row or 3, one for each agent, got 2"),
        (([0.5, 0.6], [[0.1, 0.1], [0.1]], [1, 1]), "problem.cost must have rows of equal length, got rows that differ"),
        (([], [], []), "problem.quality must be one row of numbers, or one for each agent, got shape (0,)"),
    ],
)
def test_arrays_that_do_not_fit_are_refused_by_their_place(arrays, line):
    with pytest.raises(UsageError) as caught:
        explicit(*arrays)
    assert str(caught.value) == line


# Read from a table

TABLE = """\
agent,producer,quality,cost,capacity,remark
Anna,mill,0.7,0.2,10,cheap
Anna,forge,0.9,0.5,5,
Bert,mill,,0.25,8,
Bert, loom ,0.4,0.1,0,
Anna,loom,0.4,0.3,3,
"""


@pytest.fixture
def place(tmp_path):
    def write(text, name="suppliers.csv"):
        file = tmp_path / name
        file.write_text(text)
        return file

    return write


def test_a_table_names_its_agents_and_producers_in_order_of_appearance(place):
    found = read_table(place(TABLE))
    assert (found.agents, found.producers) == (("Anna", "Bert"), ("mill", "forge", "loom"))
    assert found.quality.tolist() == [0.7, 0.9, 0.4]
    assert found.cost.tolist() == [[0.2, 0.5, 0.3], [0.25, 0.0, 0.1]]
    assert found.capacity.tolist() == [[10, 5, 3], [8, 0, 0]]
    assert found.available.tolist() == [[True, True, True], [True, False, False]]
    assert found.first(1).agents == ("Anna",)


def test_the_same_table_as_parquet_gives_the_same_suppliers(place):
    file = place(TABLE)
    parquet = file.with_suffix(".parquet")
    pl.read_csv(file).with_columns(pl.col("producer").cast(pl.Categorical)).write_parquet(parquet)
    for one, other in zip(read_table(file), read_table(parquet), strict=True):
        assert np.array_equal(one, other)


def test_numbers_of_a_parquet_table_are_read_to_the_last_bit(tmp_path):
    file, values = tmp_path / "s.parquet", np.random.default_rng(0).random(50)
    names = [f"p{index}" for index in range(50)]
    columns = {"agent": ["a"] * 50, "producer": names, "quality": values, "cost": values, "capacity": [1] * 50}
    pl.DataFrame(columns).write_parquet(file)
    assert np.array_equal(read_table(file).quality, values)
    assert np.array_equal(read_table(file).cost[0], values)


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("0.25,8", "1.25,8", "have a number in [0, 1] as cost in row 3, got '1.25'"),
        ("0.25,8", "a lot,8", "have a number in [0, 1] as cost in row 3, got 'a lot'"),
        ("0.25,8", ",8", "have a number in [0, 1] as cost in row 3, got nothing"),
        ("0.25,8", "nan,8", "have a number in [0, 1] as cost in row 3, got 'nan'"),
        ("0.1,0", "0.1,2.5", "have a whole number in 0..1,000,000 as capacity in row 4, got '2.5'"),
        ("0.1,0", "0.1,-2", "have a whole number in 0..1,000,000 as capacity in row 4, got '-2'"),
        ("Bert,mill", ",mill", "have the name of one as agent in row 3, got nothing"),
        ("Bert,mill", "Bert, ", "have the name of one as producer in row 3, got nothing"),
        ("forge,0.9", "forge,9", "have a number in [0, 1] as quality in row 2, got '9'"),
        ("forge,0.9", "forge,", "have the quality of each producer in one of its rows, got none for 'forge'"),
        ("Anna,loom,0.4", "Anna,loom,0.5", "have 0.4 as before for 'loom' as quality in row 5, got 0.5"),
        ("Bert,mill", "Anna,mill", "name each pair of agent and producer once, got 'Anna' and 'mill' in rows 1 and 3"),
        (
            "agent,producer,quality,cost",
            "agent,producer,quality,price",
            "have the columns agent, producer, cost, capacity, quality, got none called 'cost' in 'suppliers.csv'",
        ),
        (TABLE.partition("\n")[2], "", "have a row for each agent and producer that trade, got no rows in 'suppliers.csv'"),
    ],
)
def test_a_table_that_does_not_fit_is_refused_by_its_row(place, old, new, line):
    assert TABLE.count(old) == 1
    with pytest.raises(UsageError) as caught:
        read_table(place(TABLE.replace(old, new)))
    assert str(caught.value) == f"problem.file must {line}"


def test_what_is_no_table_is_refused(place, tmp_path):
    wanted = "problem.file must be the path of a CSV or Parquet table, got "
    for file, reason in (
        (tmp_path / "none.csv", ", which cannot be read: No such file or directory"),
        (tmp_path, ", which cannot be read: Is a directory"),
        (place("", "empty.csv"), ", which is none"),
        (place("PAR1 and then nothing", "broken.parquet"), ", which is none"),
    ):
        with pytest.raises(UsageError) as caught:
            read_table(file)
        assert str(caught.value) == f"{wanted}{str(file)!r}{reason}"
