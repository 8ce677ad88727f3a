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
    best, *_, worst = sorted(told.all(), key=told.mean)
    low, high = told.losses(best, worst)
    close = told.difference(worst, best)["verdict"] == "close"
    if len(told.rows) == 2:
        return _two(told, best, worst), "close" if close and told.mean(best) != told.mean(worst) else None
    if close:
        between = f"{told.say('an agent')} loses between {low} ({told.names[best]}) and {high} ({told.names[worst]})"
        return f"{told.undecided}: {between} {told.per}", "close"
    ratio = change(told.mean(worst) / told.mean(best)) if told.mean(best) > 0 else "more"
    text = f"{told.say('An agent')} loses least with {told.names[best]}, {low}, and most with {told.names[worst]}, {high}"
    kept = told.best(told.all())
    if told.broken(best) and kept is not None:
        ratio += f"; of promises that are kept, least with {told.names[kept]}, {told.losses(kept)[0]}"
    return f"{text} {told.within}, {ratio}", None


def _two(told: Told, best: int, worst: int) -> str:
    """Also by what talking costs."""
    low, high = told.losses(best, worst)
    one, other, agent = told.names[worst], told.names[best], told.say("an agent")
    here, there = (told.rows[row]["communication"]["cost"] for row in (worst, best))
    talk = ""
    if here and there:
        talk = f"; communication then costs {'the same' if here == there else change(here / there)}"
    if told.mean(best) == told.mean(worst):
        return f"With {one} {agent} loses as much as with {other}, {low} {told.within}{talk}"
    if told.difference(worst, best)["verdict"] == "close":
        return f"{told.undecided}: with {one} {agent} loses {high}, with {other} {low} {told.within}{talk}"
    figures = low if low == high else f"{high} against {low}"
    if told.mean(best) <= 0:
        return f"With {one} {agent} loses more than with {other}: {figures} {told.within}{talk}"
    ratio = change(told.mean(worst) / told.mean(best))
    than = "as" if ratio.endswith("much") else "than"
    return f"With {one} {agent} loses {ratio} {than} with {other}: {figures} {told.within}{talk}"
