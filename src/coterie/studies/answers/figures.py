"""Four key figures of the row that a study is about."""

from collections.abc import Sequence

from coterie.privacy.statement import epsilon_text
from coterie.studies.answers.promises import holds, promised
from coterie.studies.answers.told import NOUNS, Said, Told
from coterie.studies.names import sends_nothing
from coterie.studies.numbers import GLUE, at_most, data_size, percent, sent_text
from coterie.studies.rows import Figure, SummaryRow

STATES = {"kept": "promised and kept", "weak": "kept, but weak"}
AGENTS_FEW = 20  # with more, agents are counted, and not runs in which all of them settled on the best arm


def figures(told: Told, said: Said) -> list[Figure]:
    place = next(row for row in (said.headline, told.best(told.all()), told.least(told.all())) if row is not None)
    row = told.rows[place]
    judged = bought(told, row) if "procurement" in row else settled(told, row)
    instead = [other for other in told.all() if told.broken(other)] if told.none_kept(told.all()) else [place]
    promise = broken(told, instead) if told.broken(instead[0]) else privacy(row)
    return [lost(told, place), judged, promise, sent(told, row)]


def lost(told: Told, place: int) -> Figure:
    noun = NOUNS.get(told.study["problem"]["kind"])
    what = f"{noun.removeprefix('of ')} lost" if noun else "regret"
    interval = told.interval(place)
    label = f"{what} {told.unit['text']}: {told.names[place]}"
    return {"value": told.losses(place)[0], "label": f"{label} ({interval})" if interval else label}


def settled(told: Told, row: SummaryRow) -> Figure:
    whom = "runs in which every agent" if row["agents"] <= AGENTS_FEW else "agents, over all runs, that"
    return {"value": found_text(row), "label": told.say(f"{whom} found the best arm")}


def found_text(row: SummaryRow) -> str:
    """How many runs, or of many agents how many of them, ended on the best arm: 19 of 20."""
    found = row["found"] if row["agents"] <= AGENTS_FEW else row["found_by"]
    return f"{found['count']:,} of {found['of']:,}" if found else "-"


def bought(told: Told, row: SummaryRow) -> Figure:
    found = row["procurement"]
    value = percent(found["below"]["mean"]) if found["violations"]["max"] else "none"
    return {"value": value, "label": told.say(f"of an agent's rounds below {found['alpha']:g}")}


def privacy(row: SummaryRow) -> Figure:
    promise, limit = row["promise"], epsilon_text(row["privacy"]["accounted"])
    if promise["state"] == "nothing":
        return {"value": "nothing promised", "label": "sends nothing" if sends_nothing(row) else f"{limit} holds"}
    rewards = row["privacy"].get("rewards", 1)
    what = f"a guess about one with {rewards:,} rewards" if rewards > 1 else "a guess of one reward"
    label = f"{STATES[promise['state']]}: {what} is right in at most {at_most(promise['guess'] or 0.0)}"
    return {"value": f"ε{GLUE}={GLUE}{limit}{' per person' if rewards > 1 else ''}", "label": label}


def broken(told: Told, rows: Sequence[int]) -> Figure:
    """What holds in the place of these promises."""
    return {"value": holds(told, rows).replace(" holds", ""), "label": f"holds where {promised(told, rows)} is promised"}


def sent(told: Told, row: SummaryRow) -> Figure:
    size = row["communication"]["bytes"] / row["agents"]
    each = f", {data_size(size / row['horizon'])} per decision" if size else ""
    return {"value": sent_text(size), "label": told.say(f"sent by each agent{each}" if size else "each agent learns alone")}
