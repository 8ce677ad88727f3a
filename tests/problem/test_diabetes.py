"""The tables of the diabetes data, counted anew from the real file where it is at hand; the rules on small files."""

import csv
import gzip
import hashlib
import io
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from coterie.errors import UsageError
from coterie.problem import diabetes
from coterie.problem.diabetes import ARMS, DRUGS, EXCLUSIVE, HOSPITALS, load, samples, share_out, table

PLACES = [folder / "shared/data/diabetes/diabetic_data.csv.gz" for folder in Path(__file__).resolve().parents]
REAL = next((place for place in PLACES if place.exists()), None)
with_real_file = pytest.mark.skipif(REAL is None, reason="diabetic_data.csv.gz is not beside the project")

# The order of the file; the arms name them in another one.
COLUMNS = [
    *("metformin", "repaglinide", "nateglinide", "chlorpropamide", "glimepiride", "acetohexamide", "glipizide"),
    *("glyburide", "tolbutamide", "pioglitazone", "rosiglitazone", "acarbose", "miglitol", "troglitazone"),
    *("tolazamide", "examide", "citoglipton", "insulin", "glyburide-metformin", "glipizide-metformin"),
    *("glimepiride-pioglitazone", "metformin-rosiglitazone", "metformin-pioglitazone"),
]
ARM_3 = {"repaglinide", "glipizide", "rosiglitazone", "acarbose", "miglitol", "troglitazone"}
ARM_OF = {column: 2 if column in ARM_3 else 3 for column in COLUMNS} | {"insulin": 0, "metformin": 1}


# The real file, counted a second time with other tools


@pytest.fixture(scope="module")
def records():
    """For each record the set of arms with a Steady drug, whether any drug is Up or Down, and the reward."""
    found = []
    with gzip.open(REAL, "rt", encoding="utf-8") as file:
        for record in csv.DictReader(file):
            uses = {column: record[column] for column in COLUMNS if record[column] != "No"}
            steady = {ARM_OF[column] for column, use in uses.items() if use == "Steady"}
            found.append((steady, not uses, set(uses.values()) & {"Up", "Down"}, record["readmitted"] == ">30"))
    return found


def counted(pairs, order):
    successes, counts = np.zeros((3, 5), int), np.zeros((3, 5), int)
    for place, sample in enumerate(order):
        arm, reward = pairs[sample]
        counts[3 * place // len(pairs), arm] += 1
        successes[3 * place // len(pairs), arm] += reward
    return successes, counts


def pairs_of(records, rule):
    pairs = []
    for steady, none, changed, reward in records:
        arms = [4] if none else sorted(steady)
        if rule == "exclusive" and (changed or len(arms) > 1):
            continue
        pairs += [(arm, reward) for arm in (arms[:1] if rule == "precedence" else arms)]
    return pairs


@with_real_file
@pytest.mark.parametrize("split", ["order", "random"])
def test_the_real_file_gives_the_built_in_tables(split):
    ours = table("exclusive", split, REAL)
    assert np.array_equal(ours.successes, EXCLUSIVE[split].successes)
    assert np.array_equal(ours.counts, EXCLUSIVE[split].counts)
    assert ours.counts.sum(axis=1).tolist() == [18_548, 18_548, 18_547]


@with_real_file
@pytest.mark.parametrize("split", ["order", "random"])
@pytest.mark.parametrize(("rule", "total"), [("exclusive", 55_643), ("multi", 111_227), ("precedence", 85_087)])
def test_every_rule_and_split_gives_what_another_count_gives(records, rule, total, split):
    pairs = pairs_of(records, rule)
    order = range(total) if split == "order" else np.random.default_rng(0).permutation(total)
    ours, (successes, counts) = table(rule, split, REAL), counted(pairs, order)
    assert len(pairs) == counts.sum() == total
    assert np.array_equal(ours.successes, successes)
    assert np.array_equal(ours.counts, counts)


@with_real_file
def test_the_real_file_loses_as_many_records_to_each_condition_as_is_known(records):
    changed = sum(bool(changed) for _, _, changed, _ in records)
    several = sum(not changed and len(steady) > 1 for steady, _, changed, _ in records)
    assert (len(records), changed, several) == (101_766, 27_703, 18_420)
    assert len(samples(load(REAL), "exclusive")[0]) == 101_766 - 27_703 - 18_420


@with_real_file
def test_the_real_file_may_be_plain(tmp_path):
    plain = tmp_path / "diabetic_data.csv"
    plain.write_bytes(gzip.decompress(REAL.read_bytes()))
    frame = load(plain)
    assert frame.shape == (diabetes.ROWS, diabetes.COLUMNS)
    assert frame.columns[24:47] == COLUMNS
    assert dict(frame["readmitted"].value_counts().iter_rows()) == {"NO": 54_864, ">30": 35_545, "<30": 11_357}


# The tables in the module


@pytest.mark.parametrize(
    ("split", "means", "best_arms"),
    [
        ("order", [0.34049, 0.32496, 0.39254, 0.37724, 0.30849], [2, 3, 2]),
        ("random", [0.34009, 0.32533, 0.39224, 0.37617, 0.30879], [2, 2, 2]),
    ],
)
def test_the_built_in_tables_have_the_known_means_and_local_preferences(split, means, best_arms):
    """In the order of the file the second hospital does best with the fourth arm, the group with the third."""
    found = table("exclusive", split)
    assert np.allclose(found.means.mean(axis=0), means, rtol=0, atol=5e-6)
    assert found.means.argmax(axis=1).tolist() == best_arms
    assert found.counts.sum(axis=1).tolist() == [18_548, 18_548, 18_547]
    assert found.counts.dtype == found.successes.dtype == np.int64


def test_both_splits_hold_the_same_samples():
    one, other = table(split="order"), table(split="random")
    assert np.array_equal(one.counts.sum(axis=0), other.counts.sum(axis=0))
    assert np.array_equal(one.successes.sum(axis=0), other.successes.sum(axis=0))


def test_every_drug_belongs_to_one_arm():
    drugs = [drug for group in DRUGS.values() for drug in group]
    assert sorted(drugs) == sorted(COLUMNS)
    assert {drug: arm for arm, group in enumerate(DRUGS.values()) for drug in group} == ARM_OF
    assert (len(ARMS), len(HOSPITALS)) == (5, 3)


# The rules, on records written by hand


def small_file(*records, header=()):
    """The text of a file with the columns that matter; a record is its drugs in use and its readmission."""
    text = io.StringIO()
    writer = csv.DictWriter(text, [*header, *COLUMNS, "readmitted"], restval="?")
    writer.writeheader()
    for uses, readmitted in records:
        writer.writerow(dict.fromkeys(COLUMNS, "No") | uses | {"readmitted": readmitted})
    return text.getvalue().encode()


RECORDS = [
    ({"insulin": "Steady"}, ">30"),
    ({"insulin": "Steady", "metformin": "Steady"}, ">30"),
    ({"glipizide": "Steady", "acarbose": "Steady"}, "<30"),
    ({"tolazamide": "Steady", "insulin": "Up"}, ">30"),
    ({"insulin": "Down"}, "NO"),
    ({}, ">30"),
    ({"metformin-pioglitazone": "Steady"}, "NO"),
    ({"metformin": "Steady", "miglitol": "Steady", "glyburide": "Steady", "examide": "Down"}, ">30"),
]


@pytest.mark.parametrize(
    ("rule", "arms", "rewards"),
    [
        ("exclusive", [0, 2, 4, 3], [1, 0, 1, 0]),
        ("multi", [0, 0, 1, 2, 3, 4, 3, 1, 2, 3], [1, 1, 1, 0, 1, 1, 0, 1, 1, 1]),
        ("precedence", [0, 0, 2, 3, 4, 3, 1], [1, 1, 0, 1, 1, 0, 1]),
    ],
)
def test_a_rule_says_which_records_are_samples_of_which_arms(rule, arms, rewards):
    arm, reward = samples(pl.read_csv(small_file(*RECORDS), infer_schema=False), rule)
    assert arm.tolist() == arms
    assert reward.tolist() == rewards


def test_samples_are_cut_into_three_parts_in_their_order():
    arm, reward = np.array([0, 1, 2, 3, 4, 0, 1]), np.array([True, False, True, False, True, True, True])
    found = share_out(arm, reward, "order")
    assert found.counts.tolist() == [[1, 1, 1, 0, 0], [0, 0, 0, 1, 1], [1, 1, 0, 0, 0]]
    assert found.successes.tolist() == [[1, 0, 1, 0, 0], [0, 0, 0, 0, 1], [1, 1, 0, 0, 0]]


def test_the_random_split_permutes_before_it_cuts():
    order = np.random.default_rng(0).permutation(5).tolist()
    arm = np.arange(5)
    counts = share_out(arm, np.ones(5, bool), "random").counts
    assert [np.flatnonzero(row).tolist() for row in counts] == [sorted(order[:2]), sorted(order[2:4]), order[4:]]


@pytest.mark.parametrize("compress", [bytes, gzip.compress], ids=["plain", "gzipped"])
def test_a_table_is_made_of_the_file_that_is_named(compress, tmp_path, monkeypatch):
    content = small_file(*RECORDS)
    monkeypatch.setattr(diabetes, "SHA256", hashlib.sha256(content).hexdigest())
    file = tmp_path / "records"
    file.write_bytes(compress(content))
    found = table("multi", "order", file)
    assert found.counts.tolist() == [[2, 1, 1, 0, 0], [0, 0, 0, 2, 1], [0, 1, 1, 1, 0]]
    assert found.successes.tolist() == [[2, 1, 0, 0, 0], [0, 0, 0, 1, 1], [0, 1, 1, 1, 0]]


# What is refused

WANTED = (
    "problem.file must be the path of diabetic_data.csv, plain or gzipped, with 101,766 rows, 50 columns "
    "and sha256 0689e7ec0312... (UCI Machine Learning Repository, "
    '"Diabetes 130-US Hospitals for Years 1999-2008", CC BY 4.0), got '
)


def complaint(*arguments):
    with pytest.raises(UsageError) as caught:
        table(*arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def full_width(rows):
    return small_file(*([({}, "NO")] * rows), header=[f"other {number}" for number in range(26)])


@pytest.mark.parametrize(
    ("content", "size"),
    [
        (full_width(7), "7 rows, 50 columns"),
        (small_file(*RECORDS), "8 rows, 24 columns"),
        (b"a,b\n", "0 rows, 2 columns"),
    ],
    ids=["too few rows", "too few columns", "no rows"],
)
def test_another_table_is_refused_with_its_size(content, size, tmp_path):
    file = tmp_path / "other.csv"
    file.write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()[:12]
    assert complaint("exclusive", "order", file) == f"{WANTED}{str(file)!r} with {size} and sha256 {digest}..."


def test_a_table_of_the_right_size_with_other_content_is_refused(tmp_path):
    row = full_width(1).splitlines(keepends=True)[1]
    content = full_width(0) + row * 101_766
    file = tmp_path / "diabetic_data.csv"
    file.write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()[:12]
    refused = complaint("exclusive", "order", file)
    assert refused == f"{WANTED}{str(file)!r} with 101,766 rows, 50 columns and sha256 {digest}..."


DAMAGED = {
    "empty": (b"", "which is not a CSV table"),
    "ragged": (b"a,b\n1,2\n1,2,3,4\n", "which is not a CSV table"),
    "no text": (b"a,b\n\xff\xfe,\x80\n", "which is not a CSV table"),
    "cut short": (gzip.compress(small_file(*RECORDS))[:-20], "which is a gzip file cut short or damaged"),
    "wrong checksum": (gzip.compress(b"a,b\n")[:-8] + b"\0" * 8, "which is a gzip file cut short or damaged"),
    "no stream": (gzip.compress(b"a,b\n")[:10] + b"\xff" * 30, "which is a gzip file cut short or damaged"),
}


@pytest.mark.parametrize(("content", "named"), DAMAGED.values(), ids=DAMAGED)
def test_what_is_no_table_is_refused(content, named, tmp_path):
    file = tmp_path / "damaged"
    file.write_bytes(content)
    assert complaint("exclusive", "order", file) == f"{WANTED}{str(file)!r}, {named}"


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    missing = str(tmp_path / "missing.csv")
    reason = "which cannot be read: No such file or directory"
    assert complaint("exclusive", "order", missing) == f"{WANTED}{missing!r}, {reason}"
    assert complaint("exclusive", "order", tmp_path).endswith("which cannot be read: Is a directory")
    assert complaint("exclusive", "order", "a\0b").startswith(WANTED + repr("a\0b") + ", which is no path")


@pytest.mark.parametrize("rule", ["multi", "precedence"])
def test_a_rule_that_is_not_built_in_needs_the_file(rule):
    assert complaint(rule) == f"{WANTED}nothing (only the rule 'exclusive' is built in, not {rule!r})"


def test_an_unknown_rule_or_split_is_refused_with_the_known_ones():
    assert complaint("both") == "problem.rule must be one of exclusive, multi, precedence, got 'both'"
    assert complaint("multi", "half") == "problem.split must be one of order, random, got 'half'"
