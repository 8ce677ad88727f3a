"""Where no question is plain from the rows: the lowest and the highest regret, and their ratio."""

from coterie.studies.answers.promises import NONE_KEPT
from coterie.studies.answers.told import Said, Told, Verdict
from coterie.studies.numbers import change


def tell(told: Told) -> Said:
    order = sorted(told.all(), key=lambda row: (told.broken(row), told.mean(row)))
    sentence, verdict = _single(told) if len(told.rows) == 1 else _several(told)
    broken = f" {NONE_KEPT}." if told.none_kept(told.all()) else ""
    return Said(f"{sentence}.{broken}", verdict, told.best(told.all()), order=order)


def _single(told: Told) -> tuple[str, Verdict]:
    text = f"With {told.names[0]} {told.say('an agent')} loses {told.losses(0)[0]} {told.within}"
    interval = told.interval(0)
    return f"{text} ({interval})" if interval else text, None


def _several(told: Told) -> tuple[str, Verdict]:
    best, worst = told.least(told.all()), told.most(told.all())
    assert best is not None and worst is not None
    low, high = told.losses(best, worst)
    if told.difference(worst, best)["verdict"] == "close":
        between = f"{told.say('an agent')} loses between {low} ({told.names[best]}) and {high} ({told.names[worst]})"
        return f"{told.undecided}: {between} {told.per}", "close"
    ratio = change(told.mean(worst) / told.mean(best)) if told.mean(best) > 0 else "more"
    if len(told.rows) == 2:
        than = "as" if ratio.endswith("much") else "than"
        text = f"{told.say('An agent')} loses {ratio} with {told.names[worst]} {than} with {told.names[best]}"
        return f"{text}: {high} against {low} {told.within}{_talk(told, worst, best)}", None
    text = f"{told.say('An agent')} loses least with {told.names[best]} ({low})"
    kept = told.best(told.all())
    if told.broken(best) and kept is not None:
        text += f", whose promise is broken, less with {told.names[kept]} ({told.losses(kept)[0]})"
    return f"{text} and most with {told.names[worst]} ({high}), {ratio}, {told.per}", None


def _talk(told: Told, row: int, other: int) -> str:
    here, there = (told.rows[place]["communication"]["cost"] for place in (row, other))
    if not here or not there:
        return ""
    return f"; communication costs {'the same' if here == there else change(here / there)}"
