"""The protocol of a deployed agent: what it allows when, what it refuses, and that a refusal changes nothing.

A small algorithm of this file pulls one of three arms twice and the next one once, and releases without noise.
"""

import re
from fractions import Fraction
from math import inf, nan
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy import int64

from coterie.contract import Algorithm, offer, order
from coterie.engines import agent as module
from coterie.engines.agent import Agent
from coterie.engines.chance import Keyed, System
from coterie.engines.memory import keys_of, seeds_of
from coterie.engines.protocol import COMMITTED, TABLES, Event, Protocol, Turn
from coterie.errors import AlgorithmError, CoterieError, ProtocolError, UsageError
from coterie.kernel import UNIT, capacity, node, record
from coterie.privacy.budget import Budget

ARMS = 3


class Params(NamedTuple):
    arms: int = ARMS
    price: float = inf


def open_record(p):
    n = capacity(p.arms)
    return record(said=int64, heard=int64, count=(int64, n), total=(int64, n))


def word_record(p):
    return record(arm=int64, count=int64, total=int64)


def peer_record(p):
    return record(voices=int64, words=int64)


def card_record(p):
    return record(heard=int64)


@node
def choose(open, p, t, die, plan):
    order(plan, t % p.arms, 2)
    order(plan, (t + 1) % p.arms, 1)


@node
def release(open, p, t, plan, out):
    for e in range(plan.entries):
        offer(out, plan.arm[e], p.price)


@node
def publish(open, p, t, plan, out):
    for e in range(out.entries):
        k = open.said = out.arm[e]
        open.count[k] += out.last[e] - out.first[e] + 1
        open.total[k] += out.value[e]


@node
def speak(open, p, t, message):
    message.arm, message.count, message.total = open.said, open.count[open.said], open.total[open.said]
    return 3


@node
def hear(open, peer, p, t, message):
    peer.words += 1
    open.heard += message.count
    open.total[message.arm] += message.total


@node
def greet(open, p, t, card):
    card.heard = open.heard
    return 1


@node
def meet(open, p, t, mine, theirs):
    open.heard += theirs.heard - mine.heard


@node
def leave(open, p, t, card):
    card.heard, open.heard = open.heard, 0


@node
def inherit(open, p, t, card):
    open.heard += card.heard


SMALL = Algorithm(
    "small", open_record, word_record, peer_record, card_record, choose=choose, release=release, publish=publish, speak=speak,
    hear=hear, greet=greet, meet=meet, leave=leave, inherit=inherit,
)  # fmt: skip
ADDITIVE = SMALL._replace(name="additive", additive="words")
TRUSTING = SMALL._replace(name="trusting", release=Algorithm("nothing").release, trusts=True)
TRUSTED = SMALL._replace(name="trusted", trusted=True)


def made(role=SMALL, p=Params(), **facts):
    agent = Agent(role, p, System(), **facts)
    agent.know("other", voices=1)
    return agent


def playing(role=SMALL, p=Params(), **facts):
    agent = made(role, p, **facts)
    agent.begin(1)
    return agent


def asked(agent):
    """The tickets of the rest of a plan."""
    return [agent.ask()[0] for _ in range(sum(agent.left))]


def done(role=SMALL, rewards=(1.0, 0.0, 0.25), p=Params(), **facts):
    agent = playing(role, p, **facts)
    for ticket, reward in zip(asked(agent), rewards, strict=True):
        agent.tell(ticket, reward)
    agent.finish()
    return agent


def hearing(role=TRUSTED, **facts):
    server = made(role, **facts)
    server.announce(1)
    return server


def state(agent):
    """All that an agent has, as bytes."""
    records = (agent.secret, agent.inner, agent.open, agent.plan, agent.out, agent.ledger, agent.peers)
    waiting = (list(agent.left), dict(agent.waiting), dict(agent.desk.told), list(agent.senders))
    heard = [{key: words.tolist() for key, words in kept.items()} for kept in (agent.sums.amounts, agent.sums.former)]
    place = (agent.protocol.turn, agent.protocol.meeting, agent.t, agent.shown, agent.exhausted)
    return *place, *waiting, *heard, *(each.tobytes() for each in records)


def refused(agent, event, *arguments):
    """The words of a refusal, which is one line and changes nothing."""
    before = state(agent)
    with pytest.raises(ProtocolError) as refusal:
        getattr(agent, event)(*arguments)
    assert state(agent) == before
    assert "\n" not in str(refusal.value)
    return str(refusal.value)


def words(*numbers):
    return np.array(numbers, int64).tobytes()


# --- the table ----------------------------------------------------------------------------------------


def test_the_table_in_the_docstring_is_the_table():
    """A line reads: STATE event, event -> NEXT; event -> NEXT."""
    for table in TABLES:
        for now, row in table.items():
            line = re.search(rf"^    {now.name} +(.*)$", module.__doc__, re.MULTILINE)
            told = {}
            for group in line[1].split("; ") if line[1] != "nothing" else ():
                names, _, following = group.partition(" -> ")
                told |= {Event(name): type(now)[following] for name in names.split(", ")}
            assert told == row


def test_a_peer_that_commits_may_hear_others_in_the_middle_of_a_plan_and_all_else_is_the_same():
    line = re.search(r"may in PLAYING also (.*) -> PLAYING", module.__doc__)
    more = {Event(name) for name in re.split(", | and ", line[1])}
    assert TABLES[0] | {Turn.PLAYING: TABLES[0][Turn.PLAYING] | dict.fromkeys(more, Turn.PLAYING)} == COMMITTED


def test_every_event_is_a_call_and_every_state_can_be_reached():
    assert all(callable(getattr(Agent, event)) for event in Event)
    for table in TABLES:
        first, *others = table
        reached = {following for row in table.values() for following in row.values()}
        assert {*others} - {Turn.FAILED} <= reached | {first}


@pytest.mark.parametrize("now", Turn)
def test_a_refusal_names_the_event_the_state_and_what_is_allowed(now):
    protocol = Protocol()
    protocol.turn = now
    for event in set(Event) - set(TABLES[0][now]):
        with pytest.raises(ProtocolError, match=rf"^{event} .* {now.name}") as refusal:
            protocol.check(event)
        assert all(allowed in str(refusal.value) for allowed in TABLES[0][now])
        assert protocol.turn is now


@pytest.mark.parametrize(
    ("begun", "event", "arguments"),
    [
        (made, "speak", (1,)), (made, "finish", ()), (made, "release", ()), (made, "meet", (1, b"")),
        (playing, "begin", (2,)), (playing, "speak", (1,)), (playing, "hear", (2, "other", words(0, 0, 0))),
        (playing, "release", ()), (playing, "announce", (2,)), (playing, "know", ("third",)),
        (done, "finish", ()), (done, "release", ()), (done, "begin", (1,)), (done, "begin", (0,)), (done, "begin", ("a\nb",)),
        (done, "begin", (1.5,)), (done, "begin", (2**70,)), (done, "speak", (2,)), (done, "announce", (2,)),
        (done, "meet", (1, words(0))), (done, "hear", (0, "other", words(0, 0, 0))), (done, "know", ("other",)),
        (hearing, "begin", (2,)), (hearing, "announce", (1,)), (hearing, "speak", (1,)),
    ],
)  # fmt: skip
def test_a_wrong_event_is_refused_and_changes_nothing(begun, event, arguments):
    refused(begun(), event, *arguments)


def test_a_turn_is_spoken_of_once_and_not_after_others_were_heard():
    agent = done()
    assert agent.speak(1) == words(2, 1, 0)
    refused(agent, "speak", 1)
    agent = done()
    agent.hear(2, "other", words(0, 1, 5))
    refused(agent, "speak", 1)
    refused(agent, "speak", 2)


def test_a_server_lets_out_once_in_a_turn():
    server = hearing()
    server.release()
    assert "release" in refused(server, "release")
    refused(server, "hear", 1, "other", words(0, 0, 0, 0))
    server.announce(2)
    server.release()


def test_a_meeting_takes_two_cards_of_the_same_turn_and_is_held_once():
    agent = done()
    assert agent.greet(2) == words(0)
    refused(agent, "meet", 3, words(5))
    refused(agent, "meet", 2, bytes(7))
    agent.meet(2, words(5))
    assert agent.open.heard == 5
    refused(agent, "meet", 2, words(5))
    agent.greet(3)
    assert agent.leave(3) == words(5)
    refused(agent, "meet", 3, words(5))
    agent.inherit(3, words(4))
    assert agent.open.heard == 4


def test_what_is_known_of_a_sender_is_a_number():
    agent = made()
    before = state(agent)
    with pytest.raises(ProtocolError, match="voices of a sender must be a number, got str"):
        agent.know("third", voices="many")
    assert state(agent) == before


def test_an_agent_that_rests_hears_what_came_and_does_not_speak():
    agent = made(ADDITIVE)
    agent.hear(1, "other", words(2, 3, 7))
    agent.rest(1)
    assert agent.open.heard == 3 and agent.open.total[2] == 7
    refused(agent, "speak", 1)
    refused(agent, "rest", 1)
    refused(agent, "begin", 1)
    agent.begin(2)


# --- rewards ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reward", [1000.0 * UNIT, 1.0001, -0.0001, nan, inf, -inf, "0.8765", None, 1j])
def test_a_reward_outside_its_range_is_refused_and_never_shown(reward):
    agent = playing()
    ticket, _ = agent.ask()
    line = refused(agent, "tell", ticket, reward)
    assert line == "a reward must be a number in 0..1, got another"
    assert agent.desk.told == {}


@pytest.mark.parametrize(("reward", "steps"), [(0.7, 45875), (Fraction(1, 3), 21845), (1, UNIT), (np.float32(0.5), UNIT // 2)])
def test_a_reward_is_a_real_number_and_lies_on_the_grid(reward, steps):
    agent = done(rewards=(reward, 0.0, 0.0))
    assert agent.secret.total.tolist() == [0, steps, 0, 0]


@pytest.mark.parametrize(("reward", "steps"), [(7, 13107), (-7.0, -6553), (inf, 13107), (0.0, 0), (0.2, 13107), (-0.1, -6553)])
def test_where_a_problem_clips_rewards_lie_inside_its_range_on_the_grid(reward, steps):
    """0.2 is 13107.2 steps, and -0.1 is -6553.6: both ends are rounded inwards."""
    agent = done(rewards=(reward, 0.0, 0.0), low=-0.1, high=0.2, clip=True)
    assert agent.secret.total[1] == steps
    assert agent.secret.reach == 0.2 - -0.1
    with pytest.raises(ProtocolError, match=r"must be a number in -0\.1\.\.0\.2"):
        done(rewards=(nan, 0.0, 0.0), low=-0.1, high=0.2, clip=True)


@given(st.floats(-5, 5), st.floats(0.001, 5), st.lists(st.floats(-20, 20), min_size=2, max_size=2))
def test_two_rewards_lie_no_further_apart_than_the_reach(low, span, rewards):
    agent = playing(low=low, high=low + span, clip=True)
    steps = [agent.desk.steps(reward) for reward in rewards]
    assert abs(steps[0] - steps[1]) <= UNIT * Fraction(float(agent.secret.reach))


@pytest.mark.parametrize(
    "facts",
    [
        {"low": 1.0, "high": 1.0}, {"low": 1.0}, {"low": nan}, {"high": nan}, {"low": -inf},
        {"low": -inf, "high": inf, "reach": 1.0}, {"reach": 0.5}, {"low": 0.1, "high": 0.10000001}, {"high": 2.0**40},
        {"high": 3.0, "reach": 1.0}, {"reach": nan}, {"reach": -1.0}, {"reach": inf}, {"reach": [1.0, 0.5, 1.0]},
        {"missing": 1.5}, {"missing": nan},
    ],
)  # fmt: skip
def test_a_range_and_a_reach_that_do_not_fit_are_refused(facts):
    with pytest.raises(UsageError, match="must be") as refusal:
        made(**facts)
    assert "\n" not in str(refusal.value)


def test_only_a_rehearsal_has_rewards_without_bounds_and_then_their_reach_is_stated():
    keyed = Keyed(keys_of(seeds_of(1), 0), 0)
    with pytest.raises(UsageError, match="reach must be a number where the range of rewards is infinite"):
        Agent(SMALL, Params(), keyed, rehearsal=True, low=-inf, high=inf)
    agent = Agent(SMALL, Params(), keyed, rehearsal=True, low=-inf, high=inf, reach=2.0)
    agent.begin(1)
    ticket, _ = agent.ask()
    for reward in (inf, -inf, nan, 1e300):
        refused(agent, "tell", ticket, reward)
    agent.tell(ticket, -1000 - 3 / UNIT)
    assert agent.desk.told == {ticket: -1000 * UNIT - 3} and agent.secret.reach == 2.0


def test_a_reach_may_exceed_the_range_of_a_decision_and_differ_between_arms():
    """One order is many units: each brings 0 or 1, all of them up to the reach. An arm of reach 0 is never played."""
    for reach, line in (([9.0, 0.0, 1.0], "more than the arm allows"), (0.0, "an arm whose rewards have no reach")):
        agent = made(reach=reach)
        with pytest.raises(AlgorithmError, match=line):
            agent.begin(1)
        assert agent.protocol.turn is Turn.FAILED


def test_a_reward_told_again_has_no_effect_and_another_one_is_refused():
    agent = playing()
    first, *others = asked(agent)
    agent.tell(first, 0.7)
    before = state(agent)
    agent.tell(first, 0.7)
    agent.tell(first, 0.7 + 1e-9)  # the same on the grid
    assert state(agent) == before
    line = refused(agent, "tell", first, 0.625)
    assert "ticket 1" in line and "0.6" not in line and "0.7" not in line
    for ticket in others:
        agent.tell(ticket, 0.0)
    agent.finish()
    assert agent.secret.total.tolist() == [0, 45875, 0, 0]


@pytest.mark.parametrize("ticket", [0, 2, -1, 99, "1\n1", [1], 1.0])
def test_a_reward_of_no_decision_is_refused(ticket):
    agent = playing()
    agent.ask()
    assert "ticket" in refused(agent, "tell", ticket, 0.5)


def test_a_reward_that_comes_after_its_plan_is_refused():
    agent = done()
    refused(agent, "tell", 1, 1.0)
    agent.tell(None, 1.0)


def test_rewards_wait_at_the_desk_and_are_booked_at_the_end_of_a_plan():
    agent = playing()
    before, tickets = agent.secret.tobytes(), asked(agent)
    for ticket in tickets:
        agent.tell(ticket, 1.0)
        assert agent.secret.tobytes() == before
    agent.finish()
    assert agent.secret.count.tolist() == [0, 2, 1, 0] and agent.secret.total.tolist() == [0, 2 * UNIT, UNIT, 0]
    assert agent.waiting == {} and agent.desk.told == {}


def test_without_a_stated_value_a_missing_reward_keeps_a_plan_open():
    agent = playing()
    agent.tell(asked(agent)[1], 1.0)
    assert "2 are missing" in refused(agent, "finish")


def test_a_missing_reward_is_booked_as_the_stated_value():
    agent = playing(missing=0.25)
    agent.tell(asked(agent)[0], 1.0)
    agent.finish()
    assert agent.secret.total.tolist() == [0, UNIT + UNIT // 4, UNIT // 4, 0]
    assert agent.secret.count.tolist() == [0, 2, 1, 0]


def test_a_decision_that_was_not_asked_for_keeps_a_plan_open_whatever_is_stated():
    agent = playing(missing=0.0)
    agent.ask()
    assert "2 are left" in refused(agent, "finish")


@settings(max_examples=60)
@given(st.lists(st.floats(0, 1), min_size=3, max_size=3), st.permutations(range(3)), st.lists(st.integers(0, 2), max_size=5))
def test_the_order_and_the_repeats_of_rewards_show_nowhere(rewards, arrivals, repeats):
    plain, mixed = done(rewards=rewards), playing()
    tickets = asked(mixed)
    for i in arrivals:
        mixed.tell(tickets[i], rewards[i])
        for again in repeats:
            if tickets[again] in mixed.desk.told:
                mixed.tell(tickets[again], rewards[again])
    mixed.finish()
    assert state(plain) == state(mixed)


# --- messages -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", [SMALL, ADDITIVE])
@pytest.mark.parametrize("data", [bytes(7), bytes(25), bytes(32), bytes(1 << 20), None, "text", 5])
def test_malformed_messages_are_refused(role, data):
    refused(made(role), "hear", 1, "other", data)


def test_a_message_of_an_unknown_sender_is_refused_without_naming_anyone():
    for role in (SMALL, ADDITIVE):
        line = refused(made(role), "hear", 1, "stranger", words(0, 0, 0))
        assert line == "sender of a message must be one of the 1 known, got another"


@pytest.mark.parametrize("arm", [-1, ARMS, 1 << 40])
def test_an_additive_message_about_no_arm_is_refused(arm):
    agent = made(ADDITIVE)
    assert f"0..{ARMS - 1}" in refused(agent, "hear", 1, "other", words(arm, 1, 1))
    refused(agent, "hear", 1, "other", b"")
    agent.begin(1)
    assert agent.open.heard == 0


def test_a_message_that_its_hook_cannot_take_is_refused_and_half_of_it_is_taken_back():
    agent = made()
    line = refused(agent, "hear", 1, "other", words(1 << 40, 1, 1))
    assert "IndexError" in line
    agent.hear(1, "other", words(1, 1, 1))
    assert agent.peers.words.tolist() == [1] and agent.open.heard == 1


NEWS = {
    "nothing": b"", "no number": words(0, 0, 0)[:-1], "fewer than told": words(0, 0, 0, 1, 1),
    "a negative number": words(0, -1), "an absurd number": words(0, 1 << 60),
    "a negative count": words(0, 0, -1, 0, 1), "no count": words(0, 0, 0, 0, 1),
    "no arm": words(0, 3, 1, 0, 1), "a negative arm": words(0, -1, 1, 0, 1), "an arm twice": words(0, 1, 1, 0, 1, 1, 0, 2),
    "more than the range": words(0, 0, 1, UNIT + 1, 1), "less than the range": words(0, 0, 1, -1, 1),
    "an absurd count": words(0, 0, 1 << 62, 0, 1), "a long message": words(0, 0, 0, 0, 0),
}  # fmt: skip


@pytest.mark.parametrize("data", NEWS.values(), ids=NEWS.keys())
def test_malformed_news_of_raw_rewards_are_refused(data):
    server = hearing()
    refused(server, "hear", 1, "other", data)
    refused(server, "hear", 1, "stranger", words(0, 0, 0, 0))
    assert server.secret.count.sum() == 0


def test_raw_rewards_reach_a_trusted_server_once():
    client, server = done(TRUSTING), hearing()
    server.hear(1, "other", client.speak(1))
    assert server.secret.count.tolist() == [0, 2, 1, 0] and server.secret.total.tolist() == [0, UNIT + UNIT // 4, 0, 0]
    client.begin(2)
    for ticket in asked(client):
        client.tell(ticket, 1.0)
    client.finish()
    server.release()
    server.announce(2)
    server.hear(2, "other", client.speak(2))
    assert server.secret.total.tolist() == client.secret.total.tolist() == [UNIT, UNIT + UNIT // 4, 2 * UNIT, 0]


# --- what goes wrong for good -------------------------------------------------------------------------


@node
def offer_no_arm(open, p, t, plan, out):
    offer(out, p.arms, p.price)


@node
def order_no_arm(open, p, t, die, plan):
    order(plan, p.arms, 1)


@node
def break_off(open, p, t, plan, out):
    open.count[99] = 1


def test_a_refused_release_ends_an_agent():
    agent = playing(SMALL._replace(release=offer_no_arm), missing=0.0)
    asked(agent)
    with pytest.raises(AlgorithmError, match="an arm, a mark or a chain that does not exist"):
        agent.finish()
    assert agent.protocol.turn is Turn.FAILED and agent.out.value.sum() == 0
    every_event_is_refused(agent)


@pytest.mark.parametrize(("hook", "broken"), [("choose", order_no_arm), ("publish", break_off)])
def test_a_hook_that_breaks_the_contract_ends_an_agent(hook, broken):
    agent = made(SMALL._replace(**{hook: broken}), missing=0.0)
    with pytest.raises(AlgorithmError, match="small: "):
        agent.begin(1)
        asked(agent)
        agent.finish()
    every_event_is_refused(agent)


def test_an_error_that_a_hook_words_itself_stays_as_it_is_and_ends_an_agent():
    def hear_nothing(open, peer, p, t, message):
        raise AlgorithmError("small: these are my words")

    agent = made(SMALL._replace(hear=hear_nothing))
    with pytest.raises(AlgorithmError, match=r"^small: these are my words$"):
        agent.hear(1, "other", words(0, 0, 0))
    every_event_is_refused(agent)


def test_the_words_of_a_hook_that_reads_the_secret_are_not_passed_on():
    def look(secret, inner, open, p, t, die, plan):
        raise ValueError("0.7")

    for caveat in ("this is a test", ""):
        agent = made(SMALL._replace(peek=look, caveat=caveat))
        with pytest.raises(AlgorithmError, match=r"^small: look of turn 1 broke off with ValueError$") as refusal:
            agent.begin(1)
        assert (refusal.value.__cause__ is None) == bool(caveat)


def every_event_is_refused(agent):
    for event in Event:
        assert "FAILED; allowed: nothing" in refused(agent, event, *ARGUMENTS[event])


ARGUMENTS = dict.fromkeys(Event, ()) | {
    Event.KNOW: ("new",), Event.TELL: (None, 0.0), Event.HEAR: (9, "other", b""), Event.MEET: (9, b""), Event.INHERIT: (9, b""),
} | dict.fromkeys([Event.BEGIN, Event.REST, Event.SPEAK, Event.ANNOUNCE, Event.GREET, Event.LEAVE], (9,))  # fmt: skip


def test_an_agent_without_budget_goes_on_deciding_and_is_silent():
    agent, said = made(p=Params(price=1.0), missing=0.0, budget=Budget(0.5)), []
    for t in range(1, 4):
        agent.begin(t)
        asked(agent)
        agent.finish()
        said.append(agent.speak(t))
    assert said == [None] * 3 and agent.exhausted and agent.ledger.entries.sum() == 0
    assert agent.secret.count.sum() == 9


# --- any events in any order --------------------------------------------------------------------------

DATA = st.one_of(st.binary(max_size=40), st.lists(st.integers(-2, 4), max_size=6).map(lambda numbers: words(*numbers)))
REWARDS = st.one_of(st.floats(0, 1), st.floats(), st.none())
OFTEN = [*Event, *[Event.ASK, Event.TELL, Event.FINISH] * 4]
CALLS = st.tuples(
    st.sampled_from(OFTEN), st.integers(-1, 2), st.sampled_from(["other", "third"]),
    st.one_of(st.none(), st.integers(-1, 3)), DATA, REWARDS,
)  # fmt: skip


def arguments_of(agent, event, ahead, sender, place, data, reward):
    """Turns are counted from the present one, and tickets from the last."""
    ticket = None if place is None else agent.desk.ticket - place
    given = {Event.KNOW: (sender,), Event.TELL: (ticket, reward), Event.HEAR: (agent.t + ahead, sender, data)}
    given |= dict.fromkeys((Event.MEET, Event.INHERIT), (agent.t + ahead, data))
    given |= dict.fromkeys((Event.ASK, Event.FINISH, Event.RELEASE), ())
    return given.get(event, (agent.t + ahead,))


def taken(role, missing, calls):
    """The events that were taken. Every other one was refused and left no trace."""
    agent = made(role, missing=missing)
    for event, *drawn in calls:
        before, turn, secret = state(agent), agent.protocol.turn, agent.secret.tobytes()
        try:
            getattr(agent, event)(*arguments_of(agent, event, *drawn))
        except CoterieError as refusal:
            assert type(refusal) is ProtocolError
            assert state(agent) == before
            assert "\n" not in str(refusal)
        else:
            assert agent.protocol.turn is TABLES[0][turn][event]
            booked = event in (Event.FINISH, Event.RELEASE) or (role.trusts and event is Event.SPEAK)
            assert booked or (role.trusted and event is Event.HEAR) or agent.secret.tobytes() == secret
            yield event


@settings(max_examples=300, deadline=None)
@given(st.sampled_from([SMALL, ADDITIVE, TRUSTING, TRUSTED]), st.sampled_from([None, 0.5]), st.lists(CALLS, max_size=40))
def test_any_event_is_in_the_table_or_refused_without_a_trace(role, missing, calls):
    list(taken(role, missing, calls))


def test_random_events_reach_all_of_the_table():
    """So that the test above says something: every event is taken at least once, from a fixed seed."""
    random, seen = np.random.default_rng(3), set()
    for _ in range(200):
        calls = [
            (OFTEN[random.integers(len(OFTEN))], int(random.integers(-1, 3)), ["other", "third"][random.integers(2)],
             int(random.integers(-1, 4)), words(*random.integers(0, 3, random.integers(1, 4))), float(random.random()))
            for _ in range(40)
        ]  # fmt: skip
        seen |= set(taken(SMALL, 0.5, calls))
    assert seen == set(Event)
