"""Does learning together help, and what does privacy cost?"""

from collections.abc import Sequence
from typing import NamedTuple

from coterie.studies.answers.promises import NONE_KEPT
from coterie.studies.answers.told import Said, Told, Verdict
from coterie.studies.groups import groups_by


class Cast(NamedTuple):
    """The rows that the answer is about."""

    alone: int | None
    together: int | None  # in the open
    private: int | None  # the headline
    broken: list[int]  # those that talk, and break their promise


def cast_of(told: Told, rows: Sequence[int] | None = None) -> Cast:
    rows = [row for row in (told.all() if rows is None else rows) if not told.echo(row)]
    talking = [row for row in rows if not told.silent(row)]
    return Cast(
        alone_row(told, rows),
        told.least(row for row in talking if told.state(row) == "nothing"),
        told.best_kept(talking),
        [row for row in talking if told.broken(row)],
    )


def alone_row(told: Told, rows: Sequence[int]) -> int | None:
    """Who learns alone: without noise the best of them, else the only one. Faults between agents do not touch it."""
    silent = [row for row in rows if told.silent(row)]
    calm = [group["rows"] for group in groups_by([told.rows[row] for row in silent], FAULTS)]
    silent = [silent[min(group, key=lambda place: len(told.rows[silent[place]]["faults"]))] for group in calm]
    bare = [row for row in silent if told.state(row) == "nothing"]
    return told.least(bare) if bare else silent[0] if len(silent) == 1 else None


FAULTS = ("liars", "attack", "contamination", "contaminant", "loss", "dropout", "churn")


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
            text += f", but {NONE_KEPT[0].lower()}{NONE_KEPT[1:]}"
        return text, verdict
    if private is not None:
        return _gain(told, alone, private, f" with {told.epsilon(private)}")
    found = told.least(broken)
    assert found is not None
    own, theirs = told.losses(alone, found)
    how = {"less": "less than alone", "more": "more than alone", "close": told.undecided.lower()}
    beside = how[told.difference(found, alone)["verdict"]]
    text = f"{NONE_KEPT}; {told.say('an agent')} loses {own} alone and {theirs} together {told.per}: {beside}"
    return text, None


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
    _, _, loses = told.losses(alone, together, private)
    against = {"less": ", less than alone", "more": ", more than alone", "close": ""}[beside]
    if gain != "less" or cost["margin"] is None:
        return f"; with {epsilon} it loses {loses}{against}"
    if cost["verdict"] == "close":
        return f", and {epsilon} costs nothing beyond chance"
    if cost["verdict"] == "less":
        return f", and {epsilon} cuts it to {loses}"
    if beside == "more":
        return f", but with {epsilon} it loses {loses}, more than alone"
    back = difference_text(told, private, together)
    left = "" if beside == "less" else ", which leaves no gain beyond chance"
    return f", and {epsilon} costs {back} of that back{left}"


def difference_text(told: Told, row: int, against: int) -> str:
    """What one row loses more than another, with the decimals in which both are told."""
    here, _ = told.losses(row, against)
    decimals = len(here.partition(".")[2])
    return f"{abs(round(told.difference(row, against)['mean'] * told.unit['decisions'], decimals)):,.{decimals}f}"


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
