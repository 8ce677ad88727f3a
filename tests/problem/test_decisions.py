"""Tables of one's own: sums against brute force, intervals against scipy, and one line for everything that does not fit."""

import csv
import resource
import subprocess
import sys
from collections import defaultdict

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from coterie.errors import UsageError
from coterie.problem.decisions import FEW, names_in, read

COUNTS = "agent,arm,successes,trials\nNorth,a,3,10\nNorth,b,4,8\nSouth,a,1,4\nSouth,b,2,2\n"
REWARDS = "agent,arm,reward\nNorth,b,1\nNorth,a,0\nNorth,a,1\nSouth,a,0\nSouth,b,1\n"


@pytest.fixture
def table(tmp_path):
    def write(content, name="table.csv"):
        file = tmp_path / name
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(file)

    return write


def refusal(file, low=0.0, high=1.0, **how):
    with pytest.raises(UsageError) as caught:
        read(file, low, high, **how)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# What is read


def test_successes_and_trials_give_means_and_rows_of_one_cell_add_up(table):
    found = read(table(COUNTS + "North,a,1,2\n"), 0.0, 1.0)
    assert (found.agents, found.arms) == (("North", "South"), ("a", "b"))
    assert found.counts.tolist() == [[12, 8], [4, 2]]
    assert found.means(0.0, 1.0).tolist() == [[4 / 12, 0.5], [0.25, 1.0]]


def test_a_success_is_worth_high_and_a_failure_low(table):
    assert read(table(COUNTS), -10.0, 30.0).means(-10.0, 30.0).tolist() == [[2.0, 10.0], [0.0, 30.0]]


def test_names_are_numbered_as_they_first_appear(table):
    found = read(table(REWARDS), 0.0, 1.0)
    assert (found.agents, found.arms) == names_in(table(REWARDS)) == (("North", "South"), ("b", "a"))
    assert found.means(0.0, 1.0).tolist() == [[1.0, 0.5], [1.0, 0.0]]


def test_without_agents_there_is_one_row_for_all(table):
    found = read(table("arm,reward\nx,1\ny,0\nx,0\n"), 0.0, 1.0)
    assert (found.agents, found.means(0.0, 1.0).tolist()) == ((), [[0.5, 0.0]])


def test_parquet_blanks_quotes_a_byte_order_mark_and_other_columns_do_not_matter(table, tmp_path):
    plain = read(table(REWARDS), 0.0, 1.0)
    dressed = '\ufeffagent,arm,note,reward\n"North",b,x, 1\nNorth ,a,,0\nNorth,a,,1.0\nSouth,"a",,0e0\n South,b,,1\n'
    pl.read_csv(REWARDS.encode()).write_parquet(tmp_path / "table.parquet")
    for file in (table(dressed, "dressed.csv"), str(tmp_path / "table.parquet")):
        found = read(file, 0.0, 1.0)
        assert (found.agents, found.arms, found.shares.tolist()) == (plain.agents, plain.arms, plain.shares.tolist())


def test_a_changed_file_is_read_again(table):
    assert read(table(COUNTS), 0.0, 1.0).counts[0, 0] == 10
    assert read(table(COUNTS.replace("3,10", "3,100")), 0.0, 1.0).counts[0, 0] == 100


rows_of = st.lists(
    st.tuples(st.sampled_from("AB"), st.sampled_from("xyz"), st.floats(-5, 5), st.floats(0.05, 1), st.integers(0, 4)),
    min_size=1,
    max_size=40,
)


@settings(max_examples=40, deadline=None)
@given(rows_of)
def test_means_persons_and_sizes_are_those_of_a_loop_over_the_rows(tmp_path_factory, rows):
    rows = rows + [(agent, arm, 0.5, 1.0, 9) for agent in "AB" for arm in "xyz"]
    file = tmp_path_factory.mktemp("rows") / "table.csv"
    with file.open("w", newline="") as text:
        csv.writer(text).writerows([("agent", "arm", "reward", "probability", "person"), *rows])
    weights, sums, squares, persons = (defaultdict(float) for _ in range(4))
    for agent, arm, reward, probability, person in rows:
        weights[agent, arm] += 1 / probability
        squares[agent, arm] += 1 / probability**2
        sums[agent, arm] += min(max(reward, -1), 2) / probability
        persons[person] += 1
    found = read(str(file), -1.0, 2.0, cut=True)
    for i, agent in enumerate(found.agents):
        for k, arm in enumerate(found.arms):
            assert found.means(-1.0, 2.0)[i, k] == pytest.approx(sums[agent, arm] / weights[agent, arm], abs=1e-12)
            assert found.sizes[i, k] == pytest.approx(weights[agent, arm] ** 2 / squares[agent, arm])
    assert found.counts.sum() == len(rows)
    assert found.cut == sum(not -1 <= reward <= 2 for _, _, reward, _, _ in rows)
    assert (found.persons, found.person_most) == (len(persons), max(persons.values()))


def test_of_counted_trials_a_person_has_as_many_rewards(table):
    found = read(table("arm,successes,trials,person\nx,1,4,p\ny,2,3,q\nx,0,1,q\n"), 0.0, 1.0)
    assert (found.persons, found.person_most) == (2, 4)


# How sure it is


def test_margins_are_half_of_wilsons_interval(table):
    margins = read(table(COUNTS), 0.0, 1.0).margins(0.0, 1.0, 0.5)
    for margin, (good, n) in zip(margins.ravel(), ((3, 10), (4, 8), (1, 4), (2, 2)), strict=True):
        interval = binomtest(good, n).proportion_ci(method="wilson")
        assert margin == pytest.approx((interval.high - interval.low) / 2, abs=1e-12)


def test_margins_have_the_unit_of_the_rewards_and_follow_sigma_where_there_is_no_range(table):
    found = read(table(COUNTS), 0.0, 1.0)
    assert found.margins(-10.0, 30.0, 0.5) == pytest.approx(40 * found.margins(0.0, 1.0, 0.5))
    assert found.margins(-np.inf, np.inf, 2.0)[0, 0] == pytest.approx(1.96 * 2 / np.sqrt(10), rel=1e-4)


def test_the_note_names_the_least_sure_mean_and_counts_what_rests_on_little(table):
    told = read(table(COUNTS), 0.0, 1.0).facts(0.0, 1.0, 0.5)
    assert (told["rewards"], told["cells"], told["few"], told["cut"]) == (24, 4, 4, 0)
    assert "South with a" in told["note"] or "South with b" in told["note"]
    assert f"4 of 4 means rest on fewer than {FEW} rewards" in told["note"]
    cut = read(table("arm,reward\nx,1\ny,7\n"), 0.0, 1.0, cut=True).facts(0.0, 1.0, 0.5)
    assert cut["note"].endswith("1 rewards were cut to 0..1.")


# What is refused

WRONG = [
    (COUNTS.replace("4,8", ",8"), "a whole number in 0..trials as successes in row 2, got nothing in 'table.csv'"),
    (COUNTS.replace("4,8", "-4,8"), "a whole number in 0..trials as successes in row 2, got '-4' in 'table.csv'"),
    (COUNTS.replace("4,8", "9,8"), "a whole number in 0..trials as successes in row 2, got '9'"),
    (COUNTS.replace("4,8", "4.5,8"), "a whole number in 0..trials as successes in row 2, got '4.5'"),
    (COUNTS.replace("4,8", "0,-8"), "as trials in row 2, got '-8'"),
    (COUNTS.replace("4,8", "nan,8"), "as successes in row 2, got 'nan'"),
    (COUNTS.replace("South,b,2,2\n", ""), "rewards of each agent with each arm, got none of agent 'South' with arm 'b'"),
    (COUNTS.replace("South,b,2,2", "South,b,0,0"), "got none of agent 'South' with arm 'b'"),
    (COUNTS.replace("South,a", ",a"), "a name as agent in row 3, got nothing"),
    (REWARDS.replace("South,a,0", "South,a,"), "as reward in row 4, got nothing in 'table.csv'"),
    (REWARDS.replace("South,a,0", "South,a,1.5"), "1] as reward in row 4 (give low and high, or outside = 'clip'), got 1.5"),
    (REWARDS.replace("South,a,0", "South,a,inf"), "as reward in row 4, got 'inf'"),
    (REWARDS.replace("South,a,0", "South,a,good"), "as reward in row 4, got 'good'"),
    (REWARDS.replace("South,a,0", "South,,0"), "a name as arm in row 4, got nothing"),
    ("arm,reward,probability\nx,1,0.5\ny,0,0\n", "a number in [1e-12, 1] as probability in row 2, got '0'"),
    ("arm,reward,probability\nx,1,0.5\ny,0,1.2\n", "a number in [1e-12, 1] as probability in row 2, got '1.2'"),
    ("arm,reward,probability\nx,1,0.5\ny,0,1e-320\n", "a number in [1e-12, 1] as probability in row 2, got '1e-320'"),
    ("arm,reward\nx,1\n\ny,0\n", "must have no empty lines, got one as row 2"),
    ("arm,successes,trials,trials\nx,1,2,3\ny,1,2,3\n", "must have each column once, got 'trials' twice"),
    ("arm;reward\nx;1\ny;0\n", "with commas between them, got 'arm;reward'"),
    ("arm,reward,person\nx,1,p\ny,0,\n", "a name as person in row 2, got nothing"),
    ("agent,arm,rewrad\nA,x,1\n", "successes and trials (did you mean 'reward'?), got only 'agent', 'arm', 'rewrad'"),
    ("agent,arm,successes\nA,x,1\n", "must have the columns arm and either reward or successes and trials"),
    ("arm,reward,successes,trials\nx,1,1,1\n", "must have the columns arm and either reward or successes and trials, got both"),
    ("agents,arm,reward\nA,x,1\n", "must have a column 'agent' or nothing like it, got 'agents'"),
    ("arm,reward,Person\nx,1,p\ny,0,q\n", "must have a column 'person' or nothing like it, got 'Person'"),
    ("arm,successes,trials,probability\nx,1,2,0.5\ny,1,2,0.5\n", "must have one row for each choice where it has the column"),
    ("agent,arm,reward\n", "got no rows in 'table.csv'"),
    ("arm,reward\nx,1\nx,0\n", "must have at least 2 arms, got 1"),
    ("", "table.csv', which is empty"),
    (b"agent,arm,reward\nM\xfcnchen,x,1\n", "table.csv', which is not text in UTF-8"),
    ("arm,reward\nx,1\nx,1,2\n", "which has 3 fields in row 2, and 2 in its header"),
    ("Agent,Arm,Reward\nA,x,1\n", "(did you mean 'agent', 'arm', 'reward'?), got only 'Agent', 'Arm', 'Reward'"),
    ('arm,reward\nx,1\ny,"0\n', "which has a quote that is not closed, or stands inside a field, in row 2"),
    ("arm,reward\nx,1\ny,0\n".encode("utf-16"), "table.csv', which is text in UTF-16: save it as UTF-8"),
    ("arm,reward\nx,1\ny,?\n", "must have a number as reward in row 2, got '?'"),
    ("arm,reward\nx,1\n\ny,0\n\n\n", "must have no empty lines, got one as row 2"),
    ("arm,reward\nx,1\n,\n\n", "must have no empty lines, got one as row 2"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "told"), WRONG, ids=[told[-60:] for _, told in WRONG])
def test_what_does_not_fit_is_one_line_with_file_column_and_row(table, content, told):
    assert told in refusal(table(content))
    assert refusal(table(content)).startswith("problem.file must ")


@pytest.mark.parametrize("end", ["\n", "\n\n\n", "\r\n\r\n", "\n  \n"])
def test_empty_lines_at_the_end_are_skipped(table, end):
    found = read(table(REWARDS.replace("\n", "\r\n") + end if "\r" in end else REWARDS + end), 0, 1)
    assert found.counts.sum() == 5 and found.agents == ("North", "South")


def test_in_parquet_a_list_is_no_value_and_not_a_number_is_no_name(tmp_path):
    file = str(tmp_path / "table.parquet")
    pl.DataFrame({"arm": [["a"], ["b"]], "reward": [0, 1]}).write_parquet(file)
    assert "must have one value in each row of arm, got List(String)" in refusal(file)
    pl.DataFrame({"arm": [1.0, float("nan")], "reward": [0, 1]}).write_parquet(file)
    assert "a name as arm in row 2, got nan" in refusal(file)


def test_blanks_around_a_name_are_not_part_of_it(table):
    found = read(table("agent,arm,reward\nA,x,1\nA ,y,0\n A, x,0\n"), 0, 1)
    assert found.agents == ("A",) and found.arms == ("x", "y")


def test_what_is_no_table_is_refused(table, tmp_path):
    assert "which is a directory" in refusal(str(tmp_path))
    assert "cannot be read: No such file" in refusal(str(tmp_path / "none.csv"))
    assert "which is none" in refusal(table(COUNTS, "table.parquet"))
    assert "which is no path" in refusal("a\0b")


def test_the_first_bad_row_is_named_wherever_it_stands(table):
    rows = [f"x,{n % 2}" for n in range(5000)] + ["y,1"]
    rows[4321], rows[4900] = "x,?", "x,-"
    assert "as reward in row 4,322, got '?'" in refusal(table("\n".join(["arm,reward", *rows])))


BIG = """
import sys, numpy as np, polars as pl
rng, n = np.random.default_rng(0), 1_000_000
with open(sys.argv[1], "wb") as file:
    for part in range(10):
        arm = rng.integers(0, 10, n)
        frame = pl.DataFrame({"agent": rng.integers(0, 20, n), "arm": arm, "reward": (rng.random(n) < arm / 10).astype(int),
                              "probability": np.full(n, 0.1), "person": rng.integers(0, 3_000_000, n)})
        frame.write_csv(file, include_header=part == 0)
"""


@pytest.mark.slow
def test_ten_million_rows_are_read_within_two_gigabytes(tmp_path):
    """In processes of their own, of which the second is measured: reading, a study of it, and a refusal of the last row."""
    file = tmp_path / "big.csv"
    subprocess.run([sys.executable, "-c", BIG, str(file)], check=True)
    look = (
        "import sys, resource; from coterie.studies.reading import load\n"
        "study = load({'horizon': 10, 'problem': {'file': sys.argv[1]}, 'algorithm': [{'name': 'ucb1'}]})\n"
        "told = study.problem.told_by_table()['data']\n"
        "print(told['rewards'], study.problem.rewards_of_person, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    done = subprocess.run([sys.executable, "-c", look, str(file)], check=True, capture_output=True, text=True)
    rewards, person, kilobytes = map(int, done.stdout.split())
    assert rewards == 10_000_000 and 5 <= person <= 30
    assert kilobytes < 2_000_000
    with file.open("a") as text:
        text.write("3,4,two,0.1,7\n")
    assert "as reward in row 10,000,001, got 'two'" in refusal(str(file))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 2_000_000
