"""What liars say. An attack is a function that fills in the tale of a round, under `@attack` with its name and a sentence.

A tale is a value for every arm, the arm to talk about now (-1: any), and among how many arms the liar claims to have shared its
pulls. Liars know the true means and agree on what they say. `t` is the turn, `now` the round. A function returns whether it has
a tale: False is the truth. Study files, messages and the page take names and sentences from `ATTACKS`.
"""

from collections.abc import Callable
from math import log, sqrt
from typing import Any, NamedTuple

from coterie.kernel import node, pick, uniform

HONEST = 0


class Attack(NamedTuple):
    number: int  # by which compiled code knows it
    sentence: str


ATTACKS: dict[str, Attack] = {}


@node
def invent(tale, p, t, now, horizon, attack, truth, die):
    """The tale of the attack with this number."""
    return False


def attack(name: str, sentence: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter a function into the table."""

    def enter(tell: Callable[..., Any]) -> Callable[..., Any]:
        global invent
        compilable = node(tell)
        ATTACKS[name] = Attack(len(ATTACKS) + 1, sentence)
        invent = either(ATTACKS[name].number, compilable, invent)
        return compilable

    return enter


def either(number: int, tell: Callable[..., Any], others: Callable[..., Any]) -> Callable[..., Any]:
    """A chain of questions: compiled code cannot look a function up in a table."""

    @node
    def invent(tale, p, t, now, horizon, attack, truth, die):
        if attack == number:
            return tell(tale, p, t, now, horizon, truth, die)
        return others(tale, p, t, now, horizon, attack, truth, die)

    return invent


@attack("random", "every arm has a random value")
def random_values(tale, p, t, now, horizon, truth, die):
    tale.arm, tale.shares = pick(die, 1, p.arms), p.arms
    for k in range(p.arms):
        tale.value[k] = uniform(die, 2 + k)
    return True


@attack("promote-worst", "the worst arm is worth 1, the others (of those named: the best one) 0")
def promote_worst(tale, p, t, now, horizon, truth, die):
    best, _, worst = ranked(truth, p.arms)
    return promote(tale, p, t, worst, best)


@attack("promote-second", "the second-best arm is worth 1, the others (of those named: the best one) 0")
def promote_second(tale, p, t, now, horizon, truth, die):
    best, second, _ = ranked(truth, p.arms)
    return promote(tale, p, t, second, best)


@attack("sign-flip", "an arm of mean m is worth 1 - m")
def flip_signs(tale, p, t, now, horizon, truth, die):
    tale.arm, tale.shares = pick(die, 1, p.arms), p.arms
    for k in range(p.arms):
        tale.value[k] = 1.0 - truth[k]
    return True


@attack("inside-window", "the second-best arm is raised and the best lowered, just inside what an honest agent could have seen")
def stay_inside(tale, p, t, now, horizon, truth, die):
    """By the radius of an arm that has had its share of the rounds (after "a little is enough", Baruch et al. 2019)."""
    best, second, _ = ranked(truth, p.arms)
    reach = sqrt(0.5 * log(now + 1.0) * p.arms / max(1.0, now))
    promote(tale, p, t, second, best)
    for k in range(p.arms):
        tale.value[k] = truth[k]
    tale.value[second], tale.value[best] = min(1.0, truth[second] + reach), max(0.0, truth[best] - reach)
    return True


@attack("sleeper", "honest for a quarter of the horizon, until its words are trusted; then promote-second")
def sleep(tale, p, t, now, horizon, truth, die):
    best, second, _ = ranked(truth, p.arms)
    return 4 * now >= horizon and promote(tale, p, t, second, best)


@node
def promote(tale, p, t, hero, best):
    """One arm is worth 1, all others nothing; liars talk about it and about the best one in turn."""
    tale.arm, tale.shares = hero if t % 2 == 0 else best, 2
    for k in range(p.arms):
        tale.value[k] = 1.0 if k == hero else 0.0
    return True


@node
def ranked(truth, arms):
    """The best, the second-best and the worst arm; ties go to the lower index."""
    best = worst = 0
    for k in range(arms):
        best = k if truth[k] > truth[best] else best
        worst = k if truth[k] < truth[worst] else worst
    second = 0 if best != 0 else 1
    for k in range(arms):
        second = k if k != best and truth[k] > truth[second] else second
    return best, second, worst
