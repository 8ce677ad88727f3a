"""A secure sum without a wire: right for all who may be missing, silent below the quorum, and nobody spoils it unnoticed."""

from itertools import combinations

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from coterie.deploy.secure.sealing import Box
from coterie.deploy.secure.shamir import PRIME, to_bytes
from coterie.deploy.secure.sums import Member, Party, Tally, in_one_sum, misfit, rolls
from coterie.deploy.secure.words import Roll, Share, Sum
from coterie.errors import ProtocolError
from coterie.privacy.quorum import Quorum, quorum_of

RUN, EPOCH = b"run" * 11, 4
NAMES = ("ada", "bea", "cid", "dan", "eve", "fay")


def party_of(about, names=NAMES):
    return Party(RUN, names, about)


def members_of(party):
    keys = {name: X25519PrivateKey.generate() for name in party.names}
    public = {name: key.public_key().public_bytes_raw() for name, key in keys.items()}
    return {name: Member(party, Box(name, key, public)) for name, key in keys.items()}


def rows_of(i):
    return [(0, 10 + i, (-1) ** i * (2**50 + i)), (3, 2, -7 * i)]


def shared(members, names=NAMES):
    return {name: members[name].share(EPOCH, b"words", rows_of(NAMES.index(name))) for name in names}


def expected(names):
    return tuple(sum(rows_of(NAMES.index(name))[k][2] for name in names) for k in range(2))


ABOUT = [Quorum(6, 4, 0), Quorum(6, 5, 2), Quorum(6, 6, 1), quorum_of(6)]


@pytest.mark.parametrize("about", ABOUT, ids=str)
def test_the_sum_is_right_for_every_set_of_survivors_and_below_the_quorum_nothing_opens(about):
    """Every set of reporters, and to each roll every set of those who answer."""
    party = party_of(about)
    members = members_of(party)
    everyone = shared(members)
    for size in range(len(NAMES) + 1):
        for reporters in combinations(NAMES, size):
            here = in_one_sum({name: everyone[name] for name in reporters}, party)
            assert here == (list(reporters) if size >= about.quorum else [])
            if here:
                check_all_who_answer(party, members, everyone, here)


def check_all_who_answer(party, members, shares, reporters):
    handed = rolls(shares, reporters, party)
    for member in members.values():
        member.answered = 0
    answers = {name: members[name].answer(EPOCH, handed[name]) for name in NAMES}
    for size in range(len(NAMES) + 1):
        for holders in combinations(NAMES, size):
            tally = Tally(handed[NAMES[0]], party)
            for name in holders:
                tally.take(name, answers[name])
            assert tally.open() == (expected(reporters) if size >= party.about.threshold else None)


@pytest.fixture
def scene():
    party = party_of(Quorum(6, 4, 0))
    members = members_of(party)
    shares = shared(members, NAMES[:5])
    return party, members, shares, rolls(shares, NAMES[:5], party)


def test_a_second_roll_of_an_epoch_is_refused_also_the_same_again_and_older_ones(scene):
    party, members, shares, handed = scene
    members["ada"].answer(EPOCH, handed["ada"])
    other = rolls(shares, NAMES[:4], party)
    for epoch, roll in ((EPOCH, other["ada"]), (EPOCH, handed["ada"]), (EPOCH - 1, handed["ada"])):
        with pytest.raises(ProtocolError, match="a roll must be the first of its epoch"):
            members["ada"].answer(epoch, roll)
    again = Member(party, members["ada"].box, answered=EPOCH)  # after a crash
    with pytest.raises(ProtocolError, match="first of its epoch"):
        again.answer(EPOCH, other["ada"])


def test_a_server_that_rolls_twice_gets_one_sum_at_most(scene):
    """Half of the holders are handed another roll. Neither half is enough."""
    party, members, shares, handed = scene
    other = rolls(shares, NAMES[:4], party)
    for roll, holders in ((handed, NAMES[:3]), (other, NAMES[3:])):
        tally = Tally(roll["ada"], party)
        for name in holders:
            tally.take(name, members[name].answer(EPOCH, roll[name]))
        assert tally.open() is None


@pytest.mark.parametrize(
    "change",
    [
        lambda roll: Roll(roll.reporters[:3], roll.arms, roll.pieces[:3]),
        lambda roll: Roll(roll.reporters, roll.arms, roll.pieces[:4]),
        lambda roll: Roll((0, 0, 1, 2, 3), roll.arms, roll.pieces),
        lambda roll: Roll((1, 0, 2, 3, 4), roll.arms, roll.pieces),
        lambda roll: Roll((0, 1, 2, 3, 6), roll.arms, roll.pieces),
    ],
)
def test_a_roll_that_names_too_few_or_strangers_is_refused_and_the_true_one_is_still_answered(scene, change):
    _, members, _, handed = scene
    with pytest.raises(ProtocolError, match="a roll must"):
        members["ada"].answer(EPOCH, change(handed["ada"]))
    assert members["ada"].answer(EPOCH, handed["ada"]).total


def answered(scene, **changed):
    party, members, _, handed = scene
    tally = Tally(handed["ada"], party)
    for name in NAMES:
        tally.take(name, changed.get(name) or members[name].answer(EPOCH, handed[name]))
    return tally


def test_a_piece_that_does_not_open_is_named_and_the_others_open_the_sum(scene):
    """Eve has sealed junk to ada, or a server has put another's piece into its place."""
    _, members, shares, handed = scene
    for piece in (b"junk", shares["dan"].pieces[0], shares["eve"].pieces[1], b""):
        wrong = Roll(handed["ada"].reporters, handed["ada"].arms, (*handed["ada"].pieces[:4], piece))
        for member in members.values():
            member.answered = 0
        answer = members["ada"].answer(EPOCH, wrong)
        assert answer == Sum(handed["ada"].digest, b"", (4,))
        tally = answered(scene, ada=answer)
        assert tally.open() == expected(NAMES[:5])
        assert tally.faults == ["pieces of eve did not open at ada"]


def test_where_too_many_pieces_do_not_open_the_epoch_is_void_and_it_is_said_whose(scene):
    bad = {name: Sum(scene[3]["ada"].digest, b"", (4,)) for name in NAMES[:3]}
    tally = answered(scene, **bad)
    assert tally.open() is None
    assert tally.faults[0] == "pieces of eve did not open at ada"
    assert tally.faults[-1] == "3 answers are fewer than the 4 that open a sum"


def test_a_holder_that_answers_two_rolls_is_named_and_counts_with_neither(scene):
    tally = answered(scene)
    tally.take("bea", tally.answers["bea"])  # the same again is no second answer
    assert tally.faults == [] and len(tally.totals) == 6
    tally.take("bea", Sum(tally.roll.digest, to_bytes((1, 2))))
    assert tally.faults == ["bea has answered two rolls of one epoch"]
    assert tally.open() == expected(NAMES[:5])
    assert 2 not in tally.totals


def test_an_answer_to_another_roll_or_of_another_form_is_named_and_not_counted(scene):
    digest = scene[3]["ada"].digest
    wrong = {
        "ada": (Sum(b"another", to_bytes((1, 2))), "ada has answered another roll than the one that was sent"),
        "bea": (Sum(digest, to_bytes((1,))), "bea has answered with another number of sums"),
        "cid": (Sum(digest, PRIME.to_bytes(8, "little") * 2), "cid has answered with numbers beyond the field"),
    }
    for name, (answer, said) in wrong.items():
        for member in scene[1].values():
            member.answered = 0
        tally = answered(scene, **{name: answer})
        assert tally.faults == [said]
        assert tally.open() == expected(NAMES[:5])


def test_a_sum_that_further_answers_contradict_is_void_and_the_liar_named_where_it_can_be(scene):
    lie = Sum(scene[3]["ada"].digest, to_bytes((1, 2)))
    tally = answered(scene, dan=lie)
    assert tally.open() is None
    assert tally.faults == ["answers contradict each other: that of dan is the false one"]
    few = Tally(tally.roll, tally.party)
    for name in NAMES[:5]:
        few.take(name, tally.answers[name])
    assert few.open() is None
    assert few.faults == ["answers contradict each other: one of them is false"]


def test_shares_of_other_arms_are_not_added_up_with_the_rest(scene):
    party, members, shares, _ = scene
    strange = shares | {"fay": members["fay"].share(EPOCH, b"", [(1, 1, 1)])}
    assert in_one_sum(strange, party) == list(NAMES[:5])


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (Share(b"", (0,), (1,), (b"x",) * 5), "a share must have 6 pieces, got 5"),
        (Share(b"", (1, 0), (1, 1), (b"x",) * 6), "a share must name its arms in order"),
        (Share(b"", (0, 0), (1, 1), (b"x",) * 6), "a share must name its arms in order"),
        (Share(b"", (0, 1), (1,), (b"x",) * 6), "a share must name its arms in order, with the pulls of each"),
        (Share(b"", (0, 1), (1, 101), (b"x",) * 6), "a share must have at most 100 pulls of an arm"),
        (Share(b"", (0, 1), (1, 100), (b"x",) * 6), ""),
    ],
)
def test_a_share_that_nobody_honest_sends_is_told_apart(share, said):
    found = misfit(share, party_of(Quorum(6, 4, 0)), 100)
    assert found.startswith(said) and bool(found) == bool(said)
