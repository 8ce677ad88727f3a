"""The answer of a study in one sentence, true of its numbers, and how to show it.

What a study asks follows from its rows: from what differs between them, never from its name. `Yes` and `No` are said only
where the 95 % interval of the paired difference leaves out 0. A row whose promise is broken is never the one to speak of, and
is always named.
"""

from collections.abc import Sequence
from typing import Any, Literal

import polars as pl

from coterie.privacy.statement import UNIT_OF_PRIVACY
from coterie.studies.answers import liars, other, procurement, sweeps, together
from coterie.studies.answers.figures import figures
from coterie.studies.answers.promises import epsilons, red_line
from coterie.studies.answers.told import Said, Told, with_all_rows
from coterie.studies.differences import runs_of
from coterie.studies.groups import sweep_of
from coterie.studies.rows import Answer, SummaryRow
from coterie.studies.spread import RUNS_LEAST

NOTHING_TO_LEARN = "All arms are equally good on average, so there is nothing to learn."
NO_LOSS = 1e-12  # per decision: means of a table are sums of floats
Kind = Literal["privacy", "sweep", "liars", "hops", "procurement", "other"]


def answer(study: dict[str, Any], rows: Sequence[SummaryRow], frame: pl.DataFrame) -> Answer:
    """Of the rows of a summary, and the table of all their runs."""
    told = Told(study, rows, runs_of(frame, rows))
    find_answer(told)  # once to see which numbers have to be told apart, so that all of them have the same decimals
    kind, said = find_answer(told)
    if nothing_to_learn(told):
        said = said._replace(sentence=told.say(NOTHING_TO_LEARN), verdict=None)
    said = with_all_rows(told, said)
    return {
        "kind": kind,
        "verdict": said.verdict,
        "sentence": said.sentence,
        "red": red_line(told, said.sentence),
        "caveats": caveats(told, said),
        "headline": said.headline,
        "alone": said.alone,
        "together": said.together,
        "names": told.names,
        "order": list(said.order),
        "groups": list(said.groups),
        "unit": told.unit,
        "figures": figures(told, said),
        "swept": said.swept,
        "differences": list(told.asked.values()),
    }


def find_answer(told: Told) -> tuple[Kind, Said]:
    if "procurement" in told.rows[0]:
        return "procurement", procurement.tell(told)
    if (trouble := liars.trouble_of(told)) and not all(map(told.silent, told.all())):
        return "liars", liars.tell(told, trouble)
    sweep, cast = sweep_of(told.rows), together.cast_of(told)
    if sweep and (sweep.key != "epsilon" or cast.alone is None):
        return "hops" if sweep.key == "life" else "sweep", sweeps.tell(told, sweep)
    if together.asks(cast):
        return "privacy", together.tell(told)
    return "other", other.tell(told)


def nothing_to_learn(told: Told) -> bool:
    """Nobody lost anything in any run, though there was time to play every arm: no arm is worse than another."""
    first = told.rows[0]
    played = "procurement" not in first and 1 < first["arms"] <= first["horizon"]
    return played and all(told.mean(row) <= NO_LOSS for row in told.all())


def caveats(told: Told, said: Said) -> list[str]:
    runs = told.rows[0]["replications"]
    found = [f"{text[:1].upper()}{text[1:]}" for text in said.caveats]
    if runs < RUNS_LEAST:
        found.append(f"{'One run' if runs == 1 else f'{runs} runs'}: too few for an interval, so any difference may be chance.")
    if told.study["problem"].get("dataset"):
        found.append("Simulated from old records; not a medical finding.")
    return [*found, *about_table(told), *about_persons(told)]


def about_table(told: Told) -> list[str]:
    """How sure the means of a table of one's own are."""
    problem = told.study["problem"]
    found = [problem["data"]["note"]] if problem.get("data") else []
    if problem.get("kind") == "logged":
        found.append("Runs differ in the order of the log's rewards alone: their intervals say nothing about other logs.")
    return found


def about_persons(told: Told) -> list[str]:
    """Whom epsilon protects: one reward, or one person where a table tells how many rewards a person has."""
    kept = [row["privacy"] for row in told.rows if row["promise"]["state"] in ("kept", "weak")]
    person = told.study["problem"].get("person")
    if not kept:
        return []
    if person and person["rewards"] == 1:
        return [f"Each of the table's {person['persons']:,} persons has one reward: ε protects a person."]
    if person:
        most = f"ε is that of a person with {person['rewards']:,} rewards, the most that one has in the table"
        each = epsilons([privacy["per_reward"]["epsilon"] for privacy in kept])
        return [f"{most}; of one reward it is {each.partition('=')[2].strip()}."]
    if UNIT_OF_PRIVACY in {privacy["unit"] for privacy in kept}:
        return [told.say(f"ε protects {UNIT_OF_PRIVACY}, not one person.")]
    return []
