"""From arrival to the commit that has heard it."""

import random

from coterie.deploy.mailbox import Mailbox
from coterie.deploy.message import Message, Word


def word(lane, seq, kind="say"):
    return Message(lane, seq, lane, seq, kind, b"")


def test_a_lane_is_heard_in_order_whatever_the_order_of_arrival():
    for seed in range(20):
        draw, mail = random.Random(seed), Mailbox({"a": 3})
        words = [word("a", seq) for seq in range(4, 12)] + [word("b", seq) for seq in range(1, 9)]
        draw.shuffle(words)
        came = [each for message in words for each in mail.arrive(message)]
        assert came == mail.arrived
        assert [each.seq for each in came if each.lane == "a"] == list(range(4, 12))
        assert [each.seq for each in came if each.lane == "b"] == list(range(1, 9))
        assert mail.early == {}


def test_what_comes_before_its_turn_waits():
    mail = Mailbox({})
    assert mail.arrive(word("a", 2)) == []
    assert mail.arrived == []
    assert [each.seq for each in mail.arrive(word("a", 1))] == [1, 2]


def test_greetings_count_in_their_lane_and_are_not_seen():
    mail = Mailbox({})
    for seq, kind in enumerate(("hello", "say", "bye", "say"), start=1):
        mail.arrive(word("a", seq, kind))
    assert [each.seq for each in mail.arrived] == [2, 4]
    assert [each.seq for each in mail.heard] == [1, 3]


def test_what_was_heard_since_the_last_commit_can_be_unheard_in_its_order():
    mail = Mailbox({})
    for seq, kind in enumerate(("say", "hello", "say", "say", "say"), start=1):
        mail.arrive(word("a", seq, kind))
    mail.hear(mail.arrived[0])
    mail.committed(len(mail.heard))
    first, second, _ = mail.arrived
    mail.hear(first)
    mail.hear(second)
    mail.unhear()
    assert [each.seq for each in mail.arrived] == [3, 4, 5]
    assert mail.heard == []


def test_a_word_that_waits_behind_a_greeting_is_not_lost_at_a_start():
    """The greeting was committed as heard, the word before it was not."""
    before = Mailbox({})
    for seq, kind in enumerate(("report", "hello"), start=1):
        before.arrive(word("a", seq, kind))
    (heard,) = before.heard
    after = Mailbox({"a": heard.seq})
    assert [each.seq for each in after.arrive(word("a", 1, "report"))] == [1]
    assert [each.seq for each in after.arrive(word("a", 3, "report"))] == [3]
    assert (after.early, [each.seq for each in after.arrived]) == ({}, [1, 3])


def test_what_comes_during_a_commit_is_of_the_next():
    mail = Mailbox({})
    mail.arrive(word("a", 1, "hello"))
    under_way = len(mail.heard)
    mail.arrive(word("a", 2, "bye"))
    mail.committed(under_way)
    assert [each.seq for each in mail.heard] == [2]


def test_a_word_goes_to_all_or_to_one():
    assert Word("say", 1, b"").lane == "say"
    assert Word("report", 1, b"", "centre").lane == "to.centre"
