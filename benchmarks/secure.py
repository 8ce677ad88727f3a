"""What a secure sum costs an agent in an epoch, beside masks that cancel (Bonawitz et al. 2017) by counting what those send."""

import time
from fractions import Fraction
from secrets import randbelow

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from benchmarks.page import Section
from coterie.deploy.secure.sealing import Box
from coterie.deploy.secure.sums import Member, Party, Tally, rolls
from coterie.deploy.secure.words import encode
from coterie.kernel import UNIT
from coterie.privacy.exact import laplace_share
from coterie.privacy.quorum import Quorum

SIZES = ((10, 10), (50, 10), (200, 10), (50, 100))  # agents, arms
PASSES = 5
RUN, KEY, TAG, WORD = bytes(32), 32, 28, 8  # bytes: a run, a public key or a share of a secret key, what sealing adds, a number


def secure():
    """A secure sum of 10, 50 and 200 agents: milliseconds and bytes of an agent and epoch."""
    for agents, arms in SIZES:
        title = f"Secure sum, {agents} agents, {arms} arms"
        times, sent = epoch(agents, arms)
        yield Section(title, "CPU milliseconds", {name: 1e3 * seconds for name, seconds in times.items()}, ratios=False)
        yield Section(title, "bytes of an agent", sent | masks(agents, arms), ratios=False)


def epoch(agents: int, arms: int) -> tuple[dict[str, float], dict[str, float]]:
    """One agent shares and answers, and the server opens; least CPU seconds of several passes, and what is sent."""
    names = tuple(f"agent-{i}" for i in range(agents))
    about = Quorum(agents, agents - agents // 10, 0)
    keys = {name: X25519PrivateKey.generate() for name in names}
    public = {name: key.public_key().public_bytes_raw() for name, key in keys.items()}
    members = {name: Member(Party(RUN, names, about), Box(name, key, public)) for name, key in keys.items()}
    rows = [(arm, 100, randbelow(100 * UNIT)) for arm in range(arms)]
    shares = {name: member.share(1, WORD * b"\0", rows) for name, member in members.items()}
    handed, party = rolls(shares, names, members[names[0]].party), members[names[0]].party
    answers = {name: members[name].answer(1, handed[name]) for name in names}

    def answer():
        members[names[0]].answered = 0
        return members[names[0]].answer(1, handed[names[0]])

    def open_sum():
        tally = Tally(handed[names[0]], party)
        for name in names:
            tally.take(name, answers[name])
        assert tally.open() == tuple(agents * total for _, _, total in rows)

    times = {
        "agent: shares of the noise": least(lambda: [laplace_share(Fraction(UNIT), about.holders) for _ in rows]),
        "agent: split and seal": least(lambda: members[names[0]].share(1, WORD * b"\0", rows)),
        "agent: open and add": least(answer),
        "server: open, and check all answers": least(open_sum),
    }
    words = {"up: share": shares[names[0]], "down: roll": handed[names[0]], "up: sum": answers[names[0]]}
    return times, {name: float(len(encode(word))) for name, word in words.items()}


def masks(agents: int, arms: int) -> dict[str, float]:
    """Four rounds: two public keys; a sealed share of two secrets for each; the masked numbers; a share of one for each."""
    sealed = 2 * KEY + TAG
    return {
        "masks, up in four messages": float(2 * KEY + agents * sealed + WORD * arms + agents * KEY),
        "masks, down in four messages": float(agents * 2 * KEY + agents * sealed + 2 * agents * WORD),
    }


def least(work) -> float:
    work()
    times = []
    for _ in range(PASSES):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)
