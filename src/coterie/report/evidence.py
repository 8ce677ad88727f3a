"""The tables behind the pictures: all numbers, differences, single agents, releases, theory. All cells are text."""

from collections.abc import Sequence

from coterie.privacy.statement import epsilon_text, promise_words
from coterie.report import bought
from coterie.report.data import truth_of
from coterie.report.hero import difference_text
from coterie.report.view import AGENTS_MAX, Shown, Table, View
from coterie.studies.numbers import GLUE, measured, number, percent, sent_text

THEORY = ("lambda_2", "bound_per_agent", "trivial_bound_per_agent")
RELEASES = ("loss_basic", "loss_advanced", "loss_closed_bound", "pivotal_share", "pivotal_rounds")


def numbers(view: View) -> Table:
    """One line for each row."""
    worded = view.words.in_place_of_ours
    judged = "rounds below the limit" if view.buys else worded("agents on the best arm")
    columns = [
        "Row",
        view.lost,
        f"95{GLUE}% interval",
        "lowest to highest run",
        worded("regret, all agents"),
        worded("regret per agent"),
        judged,
        "promised",
        "holds",
        "promise",
        "rounds of communication",
        "messages",
        "data sent",
        "cost",
    ]
    whose = "Regret in sum and per agent: mean and half of its 95 % interval. " if view.enough else ""
    note = f"{whose}Communication is counted over the whole run, over all senders, and averaged over runs."
    return Table("All numbers", columns, [_numbers(view, one) for one in view.rows], worded(note))


def _numbers(view: View, one: Shown) -> list[str]:
    row, said = one.row, one.row["communication"]
    lowest, highest = (view.amount(end * view.decisions) for end in (row["per_decision"]["min"], row["per_decision"]["max"]))
    return [
        one.titled,
        one.text,
        one.interval or "-",
        f"{lowest} to {highest}",
        measured(row["regret"]) if view.enough else number(row["regret"]["mean"]),
        measured(row["regret_per_agent"]) if view.enough else number(row["regret_per_agent"]["mean"]),
        _judged(view, one),
        epsilon_text(row["privacy"]["claimed"]),
        epsilon_text(row["privacy"]["accounted"]),
        promise_words(row["privacy"]),
        number(said["rounds"]),
        number(said["messages"]),
        sent_text(said["bytes"]),
        number(said["cost"]),
    ]


def _judged(view: View, one: Shown) -> str:
    if view.buys:
        return number(one.row["procurement"]["violations"]["mean"])
    found = one.row["found_by"]
    return "-" if found is None else f"{found['count']:,} of {found['of']:,}"


def differences(view: View) -> Table | None:
    """What the answer rests on."""
    lines = []
    for found in view.answer["differences"]:
        one, other = view.at(found["row"]), view.at(found["against"])
        if one and other:
            lines.append([one.titled, other.titled, difference_text(view, found), f"{found['runs']:,}"])
    note = "Run by run: both rows meet the same instances and seeds. A difference only if its 95 % interval leaves out 0."
    columns = ["Row", "against", f"difference, {view.lost}", "runs"]
    return Table("Differences", columns, lines, note) if lines else None


def agents(view: View) -> Table | None:
    """How each agent fared; nothing where none is told apart, or some lie: who does changes with the run."""
    worded, rows = view.words.in_place_of_ours, view.rows
    if view.buys or not 2 <= view.agents <= AGENTS_MAX or any(one.row["faults"].get("liars") for one in rows):
        return None
    if all(len(set(one.row["by_agent"]["regret"])) < 2 for one in rows):
        return None
    lines = [[one.titled, *_fates(view, one)] for one in rows]
    truth = truth_of(view.problem)
    note = f"{view.lost.capitalize()}, and in how many of the runs the agent settled on the best arm."
    if truth:
        lines.append(["best by its own numbers", *(worded(arm) for arm in truth.own_best)])
        note += (
            f" “Best” means best on average over all agents, here {truth.best}. An agent whose own numbers favour another "
            "arm is misled by that measure; that says nothing about which arm is better for its own cases."
        )
    names = [worded(name) for name in view.agent_names]
    return Table(worded("Each agent by itself"), ["Row", *names], lines, worded(note))


def _fates(view: View, one: Shown) -> list[str]:
    told = one.row["by_agent"]
    cells = []
    for place, regret in enumerate(told["regret"]):
        if regret is None:
            cells.append("-")
            continue
        factor, margin = view.decisions / view.horizon, told["margin"][place]
        half = f" ± {view.amount(margin * factor)}" if margin is not None and view.enough else ""
        runs = f"; {told['count'][place]} of {told['of'][place]}" if one.row["found"] is not None else ""
        cells.append(f"{view.amount(regret * factor)}{half}{runs}".replace(" ", GLUE))
    return cells * view.agents if len(cells) == 1 else cells


def further(view: View) -> Table | None:
    """The families' own measurements: delays, active sets."""
    shown = {*THEORY, *RELEASES}
    found = dict.fromkeys(key for one in view.rows for key in one.row["extra"])
    keys = [key for key in found if key not in shown and not (view.buys and bought.is_shown(key))]
    lines = [
        [one.titled, *(_cell(one.row["extra"].get(key)) for key in keys)]
        for one in view.rows
        if any(key in one.row["extra"] for key in keys)
    ]
    columns = ["Row", *(view.words.in_place_of_ours(key.replace("_", " ")) for key in keys)]
    return Table("Further measurements", columns, lines) if keys else None


def _cell(value: float | None) -> str:
    return "-" if value is None else number(value)


def releases(view: View) -> Table | None:
    """What releases that cover the same rewards again and again add up to, beside the epsilon they are called by."""
    lines = []
    for one in _calm(view):
        extra, given = one.row["extra"], one.row["parameters"]
        if "loss_basic" in extra:
            pivotal = ["-", "-"]
            if "pivotal_share" in extra:
                pivotal = [percent(extra["pivotal_share"]), number(extra["pivotal_rounds"])]
            sums = [number(extra[key]) for key in RELEASES[:3]]
            lines.append([one.titled, f"{given['epsilon']:g}", f"{given['rate']:g}", *sums, *pivotal])
    columns = ["Row", "epsilon in its name", "rate v", "true loss, basic", "advanced", "closed bound", "pivotal agents",
               "pivotal rounds each"]  # fmt: skip
    note = (
        "The epsilon in the name only spaces the releases. The first reward of an arm that is pulled throughout lies in every "
        "one of them: basic is the sum of their prices, which holds with certainty, advanced a smaller one that holds up to "
        "delta = 0.00001, and the closed bound what the paper's lemma gives at that delta. A round is pivotal if another value "
        "of one own reward would have changed what the agent did for all to see: where that happens, no finite epsilon holds, "
        "whatever the sums say."
    )
    worded = view.words.in_place_of_ours
    found = Table("What the releases add up to", [worded(column) for column in columns], lines, worded(note))
    return found if lines else None


def _calm(view: View) -> Sequence[Shown]:
    """Of rows that differ in their liars only, one."""
    if view.answer["kind"] != "liars":
        return view.rows
    firsts = [min(group["rows"], key=lambda place: len(_at(view, place).row["faults"])) for group in view.answer["groups"]]
    return [one for one in view.rows if one.place in firsts]


def _at(view: View, place: int) -> Shown:
    found = view.at(place)
    assert found is not None
    return found


def theory(view: View) -> Table | None:
    """What a theorem allows, beside what is true of any algorithm and what was measured."""
    lines = []
    for one in view.rows:
        extra = one.row["extra"]
        if "bound_per_agent" in extra:
            lambda_2, bound, trivial = (extra[name] for name in THEORY)
            mean = one.row["regret_per_agent"]["mean"]
            empty = bound is None or bound >= trivial
            reading = "says nothing here" if empty else "holds" if mean <= bound else "is broken"
            stated = "none" if bound is None else number(bound)
            told = measured(one.row["regret_per_agent"]) if view.enough else number(mean)
            lines.append([one.titled, number(lambda_2), stated, number(trivial), told, reading])
    columns = ["Row", "lambda 2", "the theorem's bound", "trivial bound", "measured", "the theorem"]
    note = (
        "Regret per agent at the end. The trivial bound is what choosing the worst arm in every round would lose; a bound "
        "above it says nothing. Lambda 2 describes the network: after one exchange at most this share of the agents' squared "
        "disagreement is left, on average."
    )
    return Table("Theory beside measurement", columns, lines, view.words.in_place_of_ours(note)) if lines else None


def theory_note(table: Table) -> str:
    readings = {line[-1] for line in table.lines}
    if readings == {"says nothing here"}:
        return "the theorem says nothing at this horizon"
    return "the theorem is broken in some row" if "is broken" in readings else "the theorem holds where it says anything"
