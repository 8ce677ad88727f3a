"""Does learning together help, and what does privacy cost?"""

from collections.abc import Sequence
from typing import NamedTuple

from coterie.studies.answers.promises import NONE_KEPT
from coterie.studies.answers.told import Said, Told, Verdict
from coterie.studies.names import way_name

NONE_SHARING = "No row that shares keeps its promise"


class Cast(NamedTuple):
    """The rows that the answer is about."""

    alone: int | None
    together: int | None  # in the open, by the same method as the headline if that was run
    private: int | None  # the headline
    broken: list[int]  # those that talk, and break their promise


def cast_of(told: Told, rows: Sequence[int] | None = None) -> Cast:
    rows = [row for row in (told.all() if rows is None else rows) if not told.echo(row)]
    talking = [row for row in rows if not told.silent(row)]
    private, opened = told.best_kept(talking), [row for row in talking if told.state(row) == "nothing"]
    same = [row for row in opened if private is not None and told.rows[row]["method"] == told.rows[private]["method"]]
    broken = [row for row in talking if told.broken(row)]
    return Cast(alone_row(told, rows), told.least(same or opened), private, broken)


def alone_row(told: Told, rows: Sequence[int]) -> int | None:
    """Who learns alone: the best of those without noise, else the only one."""
    silent = [row for row in rows if told.silent(row)]
    bare = [row for row in silent if told.state(row) == "nothing"]
    return told.least(bare) if bare else silent[0] if len(silent) == 1 else None


def asks(cast: Cast) -> bool:
    """Is there anything to compare?"""
    if cast.alone is not None:
        return cast.together is not None or cast.private is not None or bool(cast.broken)
    return cast.together is not None and cast.private is not None


def tell(told: Told) -> Said:
    cast = cast_of(told)
    sentence, verdict = sentence_of(told, cast)
    together = cast.together
    if together is None and cast.private is None:
        together = told.least(cast.broken)
    return Said(f"{sentence}.", verdict, cast.private, cast.alone, together, hero_order(told, cast))


def sentence_of(told: Told, cast: Cast) -> tuple[str, Verdict]:
    """Without its full stop."""
    alone, together, private, broken = cast
    if alone is None:
        assert together is not None and private is not None
        return _price(told, together, private)
    if together is not None:
        text, verdict = _gain(told, alone, together)
        if private is not None:
            text += _cost(told, alone, together, private)
        elif broken:
            none = NONE_KEPT if told.none_kept(told.all()) else NONE_SHARING
            text += f", but {none[0].lower()}{none[1:]}"
        return text, verdict
    if private is not None:
        return _gain(told, alone, private, f" with {told.epsilon(private)}")
    found = told.least(broken)
    assert found is not None
    own, theirs = told.losses(alone, found)
    doubt = f": {told.undecided.lower()}" if told.difference(found, alone)["verdict"] == "close" else ""
    none = NONE_KEPT if told.none_kept(told.all()) else NONE_SHARING
    return f"{none}; {told.say('an agent')} loses {theirs} together and {own} alone {told.per}{doubt}", None


def _gain(told: Told, alone: int, other: int, how: str = "") -> tuple[str, Verdict]:
    own, theirs = told.losses(alone, other)
    verdict = told.difference(other, alone)["verdict"]
    if verdict == "close":
        return f"{told.undecided}: {told.say('an agent')} loses {own} alone and {theirs} together{how} {told.per}", "close"
    opening = f"Yes: learning together{how} cuts" if verdict == "less" else f"No: learning together{how} raises"
    return f"{opening} what {told.say('an agent')} loses from {own} to {theirs} {told.within}", (
        "yes" if verdict == "less" else "no"
    )


def _cost(told: Told, alone: int, together: int, private: int) -> str:
    """What is said of privacy after what was said of learning together."""
    epsilon, gain = told.epsilon(private), told.difference(together, alone)["verdict"]
    cost, beside = told.difference(private, together), told.difference(private, alone)["verdict"]
    better = _better(told, together, private)
    against = {"less": ", less than alone", "more": ", more than alone", "close": ""}[beside]
    if gain != "less" or cost["margin"] is None:
        return f"; with {epsilon} it loses {told.losses(alone, private)[1]}{against}{better}"
    if cost["verdict"] == "close":
        return f", and what {epsilon} costs of that is too close to call{better}"
    if cost["verdict"] == "less":
        return f", and {epsilon} cuts it to {told.losses(together, private)[1]}{better}"
    enough = better or (_enough(told, alone) if beside != "less" else "")
    if beside == "more":
        return f", but with {epsilon} it loses {told.losses(alone, private)[1]}, more than alone{enough}"
    if beside == "close":
        return f", but with {epsilon} it loses {told.losses(private)[0]}: no gain beyond chance{enough}"
    return f", and {epsilon} costs {told.amount(cost['mean'] * told.unit['decisions'])} of that back{better}"


def _better(told: Told, together: int, private: int) -> str:
    """Another method, where it keeps a promise and still loses less than this one does in the open."""
    own = told.rows[private]["method"]
    others = [row for row in told.all() if told.rows[row]["method"] != own and not told.silent(row) and not told.echo(row)]
    found = told.least(row for row in others if told.kept(row) and told.mean(row) < told.mean(private))
    if found is None or told.few or told.difference(found, together)["verdict"] != "less":
        return ""
    return f"; {way_name(told.rows[found])} with {told.epsilon(found)}: {told.losses(found)[0]}"


def _enough(told: Told, alone: int) -> str:
    """The lowest epsilon at which something is gained all the same."""
    gains = [row for row in told.all() if told.kept(row) and not told.silent(row) and not told.echo(row)]
    gains = [row for row in gains if told.difference(row, alone)["verdict"] == "less"]
    found = told.best_kept(gains)
    return "" if found is None else f"; {told.epsilon(found)} still gains ({told.losses(found)[0]})"


def _price(told: Told, together: int, private: int) -> tuple[str, Verdict]:
    without, loses = told.losses(together, private)
    verdict, epsilon = told.difference(private, together)["verdict"], told.epsilon(private)
    if verdict == "close":
        text = f"{told.undecided}: {told.say('an agent')} loses {without} without privacy and {loses} with {epsilon}"
        return f"{text} {told.per}", "close"
    way = "rises" if verdict == "more" else "falls"
    return f"With {epsilon} what {told.say('an agent')} loses {way} from {without} to {loses} {told.within}", None


def hero_order(told: Told, cast: Cast) -> list[int]:
    """Alone, together, private; then the same method at other epsilons, other kept promises, open rows, broken promises."""
    first = [row for row in cast[:3] if row is not None]
    method = told.rows[cast.private]["method"] if cast.private is not None else ""

    def rank(row: int) -> tuple[bool, bool, bool, float, float]:
        promise = told.rows[row]["promise"]
        same = told.rows[row]["method"] == method and promise["promised"] is not None
        return told.broken(row), not same, not told.kept(row), (promise["promised"] or 0.0) if same else 0.0, told.mean(row)

    return [*first, *sorted((row for row in told.all() if row not in first), key=rank)]
