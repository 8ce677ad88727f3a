"""What a run prints: its answer, its most telling rows, and what the columns mean."""

from collections.abc import Sequence

from rich.text import Text

from coterie.cli.console import one_line, visible
from coterie.cli.layout import Entry, lines, wrapped
from coterie.privacy.statement import Promise, epsilon_text, promise
from coterie.studies.answers.figures import AGENTS_FEW, found_text
from coterie.studies.names import sends_nothing
from coterie.studies.numbers import GLUE, amount, listed, percent, plural, sent_text
from coterie.studies.rows import Answer, Spread, Summary, SummaryRow, Unit
from coterie.studies.spread import RUNS_LEAST
from coterie.studies.words import Words

COLOURS = {Promise.KEPT: "green", Promise.WEAK: "yellow", Promise.BROKEN: "red", Promise.NOTHING: "default"}
MARKS = {kind: kind.mark for kind in Promise}  # words would leave no room for the rows' names
ROWS_MOST = 25  # a longer table is not read
NAMES_MOST = 6
ELSEWHERE = "all are on the page and in summary.json, and --all prints them"


def summary_lines(document: Summary, width: int, every: bool = False) -> list[Text]:
    """Title, answer, table and key, in lines that fit."""
    rows, answer, words = document["rows"], document["answer"], Words(**document["study"]["words"])
    shown, why = (rows, "") if every else telling(rows, answer)
    data = document["study"]["problem"].get("data")
    below = [*key(rows, shown, answer["unit"]), *([f"data: {data['note']}"] if data else [])]
    below += [f"{len(shown)} of {len(rows)} rows, {why}; {ELSEWHERE}"] if why else []
    told = [Text(visible(words.in_place_of_ours(line))) for line in below]
    title = Text(one_line(document["study"]["title"]))
    table = _table(shown, answer["unit"], words, width)
    return [title, *answer_lines(answer, width), Text(""), *table, Text(""), *told]


def answer_lines(answer: Answer, width: int) -> list[Text]:
    """The sentence, and promises that are broken."""
    red = wrapped(f"{Promise.BROKEN.mark} {one_line(answer['red'])}", width, style="red") if answer["red"] else []
    return [*wrapped(one_line(answer["sentence"]), width, style="bold"), *red]


def _table(rows: Sequence[SummaryRow], unit: Unit, words: Words, width: int) -> list[Text]:
    """Where that spares a second line for each row, messages are left to the page."""
    regret = f"regret per\n{unit['decisions']:,}" if unit["decisions"] > 1 else "regret per\ndecision"
    judged = f"rounds\nbelow {rows[0]['procurement']['alpha']:g}" if "procurement" in rows[0] else "best arm\nfound"
    headings = [regret, judged, "\nmessages", "data\nsent", "promised\nε", "ε that\nholds"]
    headings = [words.in_place_of_ours(heading) for heading in headings]
    entries = [Entry(row["label"], cells(row, unit)) for row in rows]
    whole = lines(headings, entries, width)
    few = [Entry(label, [*own[:2], *own[3:]]) for label, own, _ in entries]
    fewer = lines([*headings[:2], *headings[3:]], few, width)
    return fewer if len(fewer) < len(whole) else whole


def cells(row: SummaryRow, unit: Unit) -> list[Text | str]:
    said, privacy, kind = row["communication"], row["privacy"], promise(row["privacy"])
    holds = sent_text(0.0) if sends_nothing(row) else epsilon_text(privacy["accounted"]).partition(", delta")[0]
    return [
        regret_text(row["per_decision"], unit, row["replications"]),
        percent(row["procurement"]["below"]["mean"]) if "procurement" in row else found_text(row),
        f"{said['messages']:,.0f}",
        sent_text(said["bytes"]),
        epsilon_text(privacy["claimed"]).partition(", delta")[0],
        Text(f"{holds} {MARKS[kind]}", COLOURS[kind]),
    ]


def regret_text(regret: Spread, unit: Unit, runs: int) -> str:
    """With half of its 95 % interval, of which 0 is said only where it is; of few runs none is known."""
    mean = amount(regret["mean"] * unit["decisions"], unit["decimals"])
    if regret["margin"] is None or runs < RUNS_LEAST:
        return mean
    margin = regret["margin"] * unit["decisions"]
    near = amount(margin, unit["decimals"])
    return f"{mean} ± {near if margin == 0 or float(near.replace(',', '')) else f'{margin:.1g}'}"


def key(rows: Sequence[SummaryRow], shown: Sequence[SummaryRow], unit: Unit) -> list[str]:
    """What was run, and what the columns mean."""
    person = "per_reward" in rows[0]["privacy"]
    first, found = rows[0], {promise(row["privacy"]) for row in shown}
    sizes = {"agent": first["agents"], "arm": first["arms"], "round": first["horizon"], "run": first["replications"]}
    told = [", ".join(plural(count, noun) for noun, count in sizes.items())]
    doubt = f"±: 95{GLUE}% interval of the mean over the runs (Student's t)"
    doubt = doubt if first["replications"] >= RUNS_LEAST else f"fewer than {RUNS_LEAST} runs: too few for an interval"
    told += [f"regret: what an agent loses {unit['text']}; {doubt}", judging(first)]
    told += [f"ε: of {first['privacy']['unit']}{'; a row is named after that of one reward' if person else ''}"]
    told += [", ".join(f"{mark} {kind.value}" for kind, mark in MARKS.items() if kind in found)]
    return [line for line in told if line]


def judging(row: SummaryRow) -> str:
    """What a row is judged by beside its regret."""
    if "procurement" in row:
        return f"rounds below {row['procurement']['alpha']:g}: share of an agent's rounds whose order was not good enough"
    if row["agents"] <= AGENTS_FEW:
        return "best arm found: runs in which every agent played it most in the last tenth of the rounds"
    return "best arm found: agents, over all runs, that played it most in the last tenth of the rounds"


def telling(rows: Sequence[SummaryRow], answer: Answer) -> tuple[list[SummaryRow], str]:
    """All rows, or those that tell most, and which they are."""
    if len(rows) <= ROWS_MOST:
        return list(rows), ""

    def regret(place: int) -> float:
        return rows[place]["per_decision"]["mean"]

    groups = [group["rows"] for group in answer["groups"]]
    chosen = sorted({place for group in groups for place in (min(group, key=lambda at: len(rows[at]["faults"])),
                                                             max(group, key=regret))})  # fmt: skip
    several = answer["kind"] == "liars"
    if several and len(chosen) <= ROWS_MOST:
        return [rows[place] for place in chosen], "of each method that with the fewest faults and that with the highest regret"
    everywhere = range(len(rows))
    ends = {min(everywhere, key=regret), max(everywhere, key=regret)}
    of_lines = {place for group in groups for place in (group[0], group[-1])}
    ends |= of_lines if len(of_lines) <= ROWS_MOST // 2 else set()
    steps, among = ROWS_MOST - len(ends) - 1, chosen if several else everywhere
    spaced = {among[round(step * (len(among) - 1) / steps)] for step in range(steps + 1)}
    kept = [rows[place] for place in sorted(spaced | ends)]
    return kept, "the lowest and the highest regret among them, the others evenly spaced"


def warnings_of(rows: Sequence[SummaryRow]) -> list[tuple[str, str]]:
    """Each warning once, after the rows it is about."""
    rows_by_warning: dict[str, list[str]] = {}
    for row in rows:
        for warning in row["warnings"]:
            rows_by_warning.setdefault(warning, []).append(f"“{row['label']}”")
    return [(some_of(labels), warning) for warning, labels in rows_by_warning.items()]


def some_of(labels: Sequence[str]) -> str:
    """All, or of many the first and how many more there are."""
    return listed(labels) if len(labels) <= NAMES_MOST else f"{labels[0]} and {len(labels) - 1} others"
