"""What may be seen of a node."""

import pytest
from nodes import make_federation

from coterie.deploy.message import Message
from coterie.deploy.seen import SHOWN, Seen
from coterie.deploy.stores.ledger import Release


@pytest.fixture(scope="module")
def federation(tmp_path_factory):
    return make_federation(tmp_path_factory.mktemp("seen"))


@pytest.fixture
def seen(federation):
    changes = []
    made = Seen(federation, "north", lambda: 5.0, lambda: changes.append(1))
    made.changes = changes
    return made


def view(seen, t=7):
    return seen.view(t, None, lambda k: 0.5, {1}, None)


def test_the_same_alarm_is_told_once_and_ends_when_it_is_over(seen):
    for _ in range(3):
        seen.alarm("broker", "is away")
    seen.alarm("storage", "is full")
    assert [alarm.kind for alarm in view(seen).alarms] == ["storage", "broker"]
    seen.calm("broker")
    seen.calm("broker")
    assert [alarm.kind for alarm in view(seen).alarms] == ["storage"]
    assert len(seen.changes) == 3


def test_the_last_releases_are_shown_and_all_that_tell_of_a_reward_are_counted(seen):
    for t in range(SHOWN + 5):
        seen.release(
            t, [Release(0, 1, 0, 1, 4, "laplace", 1.0, 0.5, 99, 6.0), Release(1, 0, 0, 5, 4, "laplace", 1.0, 0.5, 1, 6.0)]
        )
    shown = view(seen)
    assert shown.released == SHOWN + 5
    assert [release.turn for release in shown.releases] == list(range(SHOWN + 4, 4, -1))
    assert (shown.releases[0].arm, shown.releases[0].rewards) == ("arm 1", 4)
    assert "99" not in str(shown.releases)  # a noised sum may be seen by those who hear it, and nobody needs it on a page


def test_peers_are_those_that_are_heard_with_their_lag(seen):
    assert [peer.name for peer in view(seen).peers] == ["south", "west"]
    seen.hear([Message("say.south", 1, "south", 4, "say", b"")])
    south, west = view(seen, t=7).peers
    assert (south.turn, south.lag, south.at) == (4, 3, 5.0)
    assert (west.turn, west.lag) == (None, None)
    assert view(seen, t=2).peers[0].lag == 0


def test_decisions_are_counted_by_arm(seen):
    for arm, learns in ((0, True), (2, True), (2, False)):
        seen.decide(arm, learns)
    shown = view(seen)
    assert [arm.choices for arm in shown.arms] == [1, 0, 2]
    assert (shown.decisions, shown.learned, shown.waiting) == (3, 2, 2)
    assert [arm.withheld for arm in shown.arms] == [False, True, False]
