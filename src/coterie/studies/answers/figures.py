"""Four key figures of the row that a study is about."""

from coterie.privacy.statement import epsilon_text, rounded_up_text
from coterie.studies.answers.told import Said, Told
from coterie.studies.numbers import GLUE, amount, amounts, data_size, percent, sent_text
from coterie.studies.rows import Figure, SummaryRow

STATES = {"kept": "promised and kept", "weak": "kept, but weak", "broken": "broken", "nothing": "nothing promised"}
RUNS_OF_ALL = 0.05  # below this share of runs in which everybody found the best arm, agents are counted


def figures(told: Told, said: Said) -> list[Figure]:
    place = next(row for row in (said.headline, told.best(told.all()), told.least(told.all())) if row is not None)
    row = told.rows[place]
    return [lost(told, place), bought(told, row) if "procurement" in row else settled(told, row), privacy(row), sent(told, row)]


def lost(told: Told, place: int) -> Figure:
    found, size = told.rows[place]["per_decision"], told.unit["decisions"]
    label = f"{told.within.removesuffix(told.per).strip() or 'regret'} {told.unit['text']}, {told.names[place]}"
    if not told.few and found["margin"] is not None:
        ends = amounts([size * (found["mean"] - found["margin"]), size * (found["mean"] + found["margin"])])
        label += f" (95{GLUE}%: {' to '.join(dict.fromkeys(ends))})"
    return {"value": amount(size * found["mean"]), "label": label}


def settled(told: Told, row: SummaryRow) -> Figure:
    runs, agents = row["found"], row["found_by"]
    assert runs is not None and agents is not None
    if agents["of"] == runs["of"] or runs["count"] >= RUNS_OF_ALL * runs["of"]:
        return {"value": f"{runs['count']} of {runs['of']}", "label": told.say("runs in which every agent found the best arm")}
    return {"value": f"{agents['count']:,} of {agents['of']:,}", "label": told.say("agents, over all runs, found the best arm")}


def bought(told: Told, row: SummaryRow) -> Figure:
    found = row["procurement"]
    value = percent(found["below"]["mean"]) if found["violations"]["max"] else "none"
    return {"value": value, "label": told.say(f"of an agent's rounds below {found['alpha']:g}")}


def privacy(row: SummaryRow) -> Figure:
    promise = row["promise"]
    holds = epsilon_text(row["privacy"]["accounted"])
    value = f"ε{GLUE}={GLUE}{holds}" if promise["holds"] is not None else "no limit"
    if promise["state"] == "nothing":
        return {"value": "nothing promised", "label": f"{value}" + (" holds" if promise["holds"] is not None else "")}
    if promise["state"] == "broken":
        return {"value": value, "label": f"holds: broken, promised {rounded_up_text(promise['promised'] or 0.0)}"}
    guess = percent(promise["guess"] or 0.0)
    return {"value": value, "label": f"{STATES[promise['state']]}: a guess of one reward is right in at most {guess}"}


def sent(told: Told, row: SummaryRow) -> Figure:
    size = row["communication"]["bytes"] / row["agents"]
    each = f", {data_size(size / row['horizon'])} per decision" if size else ""
    return {"value": sent_text(size), "label": told.say(f"by each agent{each}") if size else told.say("an agent alone")}
