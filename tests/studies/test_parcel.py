"""Studies that are sent elsewhere arrive as they were, with their files."""

import pickle
import shutil
import sys
from pathlib import Path

import polars as pl
import pytest

from coterie.errors import UsageError
from coterie.studies import builtin_names, load_study
from coterie.studies.parcel import pack, unpack

EXAMPLE = Path(__file__).parents[2] / "examples/own_algorithm.py"
SELLERS = """agent,producer,cost,capacity,quality
A,x,0.9,6,0.96
A,y,0.5,8,0.7
B,x,0.8,5,0.96
B,y,0.4,8,0.7
"""


@pytest.mark.parametrize("name", builtin_names())
def test_every_built_in_study_arrives_as_it_was(name):
    given = load_study(name).specification
    assert unpack(pack(given)).digest == given.digest


def test_files_travel_with_a_study_and_need_not_be_where_it_arrives(tmp_path):
    own, sellers = tmp_path / "mine.py", tmp_path / "sellers.csv"
    shutil.copy(EXAMPLE, own)
    sellers.write_text(SELLERS)
    arms = {"horizon": 20, "problem": {"means": [0.9, 0.5], "agents": 2}, "algorithm": [{"name": str(own)}]}
    goods = {"kind": "procurement", "file": str(sellers), "alpha": 0.7}
    bought = {"horizon": 20, "problem": goods, "algorithm": [{"name": "nf-cb"}]}
    studies = [load_study(table).specification for table in (arms, bought)]
    packed, digests = [pack(study) for study in studies], [study.digest for study in studies]
    own.unlink()
    sellers.unlink()
    for name in [name for name in sys.modules if name.startswith("coterie_own_mine")]:
        del sys.modules[name]
    assert [unpack(one).digest for one in packed] == digests


def test_a_table_that_is_no_text_arrives_as_it_was(tmp_path):
    sent = tmp_path / "decisions.parquet"
    pl.DataFrame({"arm": ["a", "b", "a", "b"], "reward": [1.0, 0.0, 0.0, 1.0]}).write_parquet(sent)
    table = {"horizon": 20, "problem": {"file": str(sent), "agents": 2}, "algorithm": [{"name": "ucb1"}]}
    study, content = load_study(table).specification, sent.read_bytes()
    packed = pack(study)
    sent.unlink()
    arrived = unpack(packed)
    assert arrived.digest == study.digest and Path(arrived.problem.file).read_bytes() == content


def test_another_version_is_refused():
    _, files, study = pickle.loads(pack(load_study("quickstart").specification))
    with pytest.raises(UsageError, match=r"all nodes must have Coterie 0\.0\.1, got"):
        unpack(pickle.dumps(("0.0.1", files, study)))
