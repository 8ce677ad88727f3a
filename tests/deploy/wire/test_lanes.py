"""Who speaks in which lane, and who hears it: the two sides agree, for every structure."""

import pytest
from nodes import make_federation

from coterie.deploy.wire.lanes import Lanes

CASES = [
    ("fed-ucb", {}),
    ("private-ucb", {"network": {"graph": "path", "life": 1}}),
    ("pooled-ucb", {}),
    ("ddp-mab", {}),
    ("dp-ucb-int", {}),
]


@pytest.mark.parametrize(("algorithm", "tables"), CASES)
def test_every_lane_that_is_heard_is_one_that_somebody_speaks_in(tmp_path, algorithm, tables):
    federation = make_federation(tmp_path, algorithm, agents=("north", "south", "west", "east"), **tables)
    lanes = {member.name: Lanes(federation, member.name) for member in federation.members}
    spoken = {lane.subject(own): name for name, lane in lanes.items() for own in lane.own}
    for name, lane in lanes.items():
        for subject, (_, sender) in lane.heard.items():
            assert spoken[subject] == sender
            assert (
                sender in [other for other, _ in federation.hears(name)]
                or sender == name
                or sender in federation.neighbours(name)
            )
    direct = [subject for subject in spoken if ".to." in subject]
    assert all(any(subject in lane.heard for lane in lanes.values()) for subject in direct)


def test_words_between_two_are_heard_by_no_third(tmp_path):
    federation = make_federation(tmp_path, "pooled-ucb")
    lanes = {member.name: Lanes(federation, member.name) for member in federation.members}
    report = lanes["north"].subject("to.centre")
    assert [name for name, lane in lanes.items() if report in lane.heard] == ["centre"]
    assert lanes["centre"].heard[report] == ("to.north", "north")


def test_where_all_count_in_one_order_everyone_hears_itself(tmp_path):
    federation = make_federation(tmp_path, "ddp-mab")
    assert {sender for _, sender in Lanes(federation, "north").heard.values()} == {"north", "south", "west"}


def test_who_is_alone_hears_nothing(tmp_path):
    assert Lanes(make_federation(tmp_path, "dp-ucb-int"), "north").heard == {}
