"""The page of an audit: what is promised, what holds and what is proven, and a picture of the two sides of the game.

A pass never says "private": it says what was not found.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup

from coterie import files
from coterie.privacy.statement import best_guess, epsilon_text, promise
from coterie.report.draw.bars import Bar, axis_picture, bar_picture, bar_scale
from coterie.report.draw.colours import HUES, shade, style
from coterie.report.draw.gauge import gauge
from coterie.report.draw.lines import bars_outline
from coterie.report.draw.scale import Scale, linear
from coterie.report.draw.scatter import Axis
from coterie.report.draw.svg import add, percent, picture, source, stretched
from coterie.report.glossary import AUDITING, GLOSSARY
from coterie.report.strip import HEADINGS, ICONS, ORDER, StripLine, as_sentences, guess_text
from coterie.report.template import csv_text, filled
from coterie.studies.names import setting_text
from coterie.studies.numbers import GLUE, compact, number
from coterie.studies.words import Words

HUE_OF = {"promised": "alone", "holds": "ink", "proven": "blue", "zero": "open", "one": "magenta"}  # r1, r2, ...
WORDS = ("ε", "Promised", "Holds", "Kept", "Best guess")  # of the glossary
TALL = 84  # pixels of a histogram
SCORES = {
    "equality": "a word that takes a telling value",
    "acts": "arms, counts, lengths and times taken together",
    "low bits": "the last bits of a word",
    "threshold": "the size of one word",
    "likelihood": "several words, each weighed by its noise",
    "logistic": "many words, weighed together",
}


def write(folder: Path, facts: Mapping[str, Any]) -> None:
    """audit.json and audit.html."""
    page = render(facts)
    files.write(folder / "audit.json", json.dumps(facts, indent=1, allow_nan=False))
    files.write(folder / "audit.html", page)


def render(facts: Mapping[str, Any]) -> str:
    games, rows = facts.get("games", []), facts.get("rows", [])
    told = witness(facts)
    return filled(
        "audit.html.j2",
        Words(),
        style(shade(HUES[hue], 0.0) for hue in HUE_OF.values()),
        facts=facts,
        title=title(facts),
        subject=subject(facts),
        answer=answer(facts),
        why=why(facts),
        line=None if "rows" in facts else epsilon_line(facts),
        strip=sorted((strip_line(row) for row in rows), key=lambda line: ORDER.index(line.state)),
        sides=sides(told) if told else None,
        told=in_words(told) if told else "",
        games=[(game["canary"]["text"], number(game["epsilon"]), said(game)) for game in games],
        lines=[(row["label"], replayed(row["replay"])) for row in rows]
        or [(name, text) for name, text in lines(facts) if name not in ("again", "witness", "")],
        glossary=[(word, (GLOSSARY | AUDITING)[word]) for word in (*WORDS, *AUDITING)],
    )  # fmt: skip


# --- what it says


def title(facts: Mapping[str, Any]) -> str:
    if "rows" in facts:
        return str(facts["study"])
    values = {name: f"{value:g}" if isinstance(value, float) else value for name, value in facts["parameters"].items()}
    return " ".join([facts["algorithm"], *(f"{name}={value}" for name, value in values.items())])


def subject(facts: Mapping[str, Any]) -> str:
    """The same as people say it."""
    if "rows" in facts:
        return str(facts["study"])
    return ", ".join([facts["algorithm"], *(setting_text(*setting) for setting in facts["parameters"].items())])


def promises(facts: Mapping[str, Any]) -> bool:
    """Whether there is a promise at all that could be kept."""
    return bool(facts["rows"] if "rows" in facts else facts["privacy"]["claimed"])


def verdict_words(facts: Mapping[str, Any]) -> str:
    return f"{title(facts)}: {facts['verdict']}"


def answer(facts: Mapping[str, Any]) -> tuple[str, str]:
    """The verdict in one sentence, of which the first words are the verdict itself."""
    if "rows" in facts:
        return ("Broken:" if facts["failed"] else "", facts["verdict"][:1].upper() + facts["verdict"][1:] + ".")
    privacy, proven = facts["privacy"], facts["proven"]["epsilon"]
    leaks = f"at least {epsilon(f'{proven:.2g}' if proven else '0')} leaks"
    if privacy["claimed"] is None:
        return "Nothing is promised;", f"{leaks}."
    limit = f"{facts['limit']:g} was promised"
    if not facts["failed"]:
        return "No leak found;", "that is no proof."
    if facts["violation"] and not facts["covered_by_claim"]:
        return "Not covered:", f"for someone the promise leaves out, {leaks}, {limit}."
    if facts["violation"]:
        return "Broken:", f"{leaks}, {limit}."
    if promise(privacy).kept:
        return "Broken:", "a changed reward shows where nothing was booked for it."
    return "Broken:", f"{holds(privacy)} holds, {privacy['claimed']['epsilon']:g} was promised."


def why(facts: Mapping[str, Any]) -> str:
    """What the answer rests on, in a line below it."""
    if "rows" in facts:
        lived = "Every row that promises privacy was lived twice, at its own size. A pass says what was not found."
        return lived if facts["rows"] else ""
    if not facts["failed"] and facts["privacy"]["claimed"]:
        proven = f"at least {epsilon(format(facts['proven']['epsilon'], '.3g'))} leaks"
        return (
            f"{promised(facts['privacy'])} is promised, and {proven} by these trials. They can refute a promise, not prove it."
        )
    return as_sentences(facts["privacy"]["note"])


def epsilon(text: str) -> str:
    return f"ε{GLUE}={GLUE}{text}"


def lines(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What there is to say, line by line: (what it is about, the sentence)."""
    if "rows" in facts:
        yield from lines_of_study(facts)
        return
    privacy, proven = facts["privacy"], facts["proven"]
    unit = f", {privacy['unit']}" if privacy["claimed"] else ""
    yield "promised", promised(privacy) + unit
    yield "holds", holds(privacy)
    yield "proven", f"at least ε = {proven['epsilon']:.3f} leaks: a {100 * proven['confidence']:g} % lower bound"
    beyond = "" if facts["covered_by_claim"] else f" (sees more than the promise covers: {privacy['adversary']})"
    yield "view", facts["view"] + beyond
    yield "lived twice", replayed(facts["replay"])
    told = witness(facts)
    if told and told["epsilon"] > 0:
        yield "witness", told["canary"]["text"]
        yield "", said(told)
    else:
        yield "witness", "none: nothing told the two sides apart"
    yield "again", facts["command"]


def lines_of_study(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for row in facts["rows"]:
        size = f"{row['agents']:,} agents, {row['arms']} arms, {row['horizon']:,} rounds"
        yield "row", f"{row['label']}: {row['verdict']}"
        yield "", f"promised {promised(row['privacy'])}, holds {holds(row['privacy'])}; {size}"
        yield "", replayed(row["replay"])
    yield "again", facts["command"]


def promised(privacy: Mapping[str, Any]) -> str:
    claimed = privacy["claimed"]
    return "nothing promised" if claimed is None else f"ε = {claimed['epsilon']:g}"


def holds(privacy: Mapping[str, Any]) -> str:
    accounted = privacy["accounted"]["epsilon"]
    return "no limit" if accounted is None else f"ε = {accounted:.4g}"


def replayed(replay: Mapping[str, Any]) -> str:
    """Which rewards were changed, and what that showed."""
    count = f"{replay['rewards']:,} of {replay['rewards_in_all']:,} rewards changed"
    sampled = " (a random sample)" if replay["rewards"] < replay["rewards_in_all"] else ""
    together = f" with up to {replay['together']:,} changed rewards each" if replay["together"] > 1 else ""
    told = f"{count}{sampled}, {replay['pairs']:,} pairs of lives{together}, {', '.join(replay['faults'])}"
    told += f"; {replay['left_out']:,} pairs were too long to compare" if replay["left_out"] else ""
    price = "without any noise" if replay["price"] is None else f"at a price of {replay['price']:.4g} or less"
    found = "; ".join(replay["findings"]) or f"they show only where that was booked, {price}"
    if replay["excused"]:
        found += f"; {', '.join(replay['excused'])}, as its caveat says, so choices were held fixed"
    return f"{told}: {found}"


def witness(facts: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The game that shows most, if any word ever differed; games come in this order."""
    return next((game for game in facts.get("games", []) if game["event"]), None)


def said(game: Mapping[str, Any]) -> str:
    event = game["event"]
    if event is None:
        return "no word ever differed"
    own, other = event["side"], 1 - event["side"]
    relation = f">= {event['threshold']:.6g}" if own else f"< {event['threshold']:.6g}"
    counts = f"{game['hits']} of {game['trials']} times where the reward is {own}, {game['misses']} times where it is {other}"
    return f"{event['statistic']} {relation} ({event['about']}): {counts}"


def in_words(game: Mapping[str, Any]) -> str:
    """The same for someone who never saw an audit."""
    event, trials = game["event"], f"{game['trials']:,}"
    values = values_of(game)
    own, other = values[event["side"]], values[1 - event["side"]]
    beyond = f"{'at least' if event['side'] else 'below'} {compact(event['threshold'])}"
    return (
        f"One reward ({game['canary']['text']}) is 0 on one side and {values[1]} on the other; all else is the same, but for "
        f"the noise. Someone looks at “{event['about']}” ({SCORES[event['statistic']]}) and says that it was {own} "
        f"when the score is {beyond}. Where it was {own}, that is said in {game['hits']:,} of {trials} trials; where it was "
        f"{other}, in {game['misses']:,} of {trials}."
    )


def values_of(game: Mapping[str, Any]) -> tuple[str, str]:
    """What the reward is on either side."""
    return "0", "a middle value" if game["canary"].get("to") == "middle" else "1"


# --- pictures


class Bars(NamedTuple):
    lines: Sequence[tuple[str, str, Markup]]  # class, name, bar
    axis: Markup
    numbers: str


def epsilon_line(facts: Mapping[str, Any]) -> Bars | None:
    """Promised, holds and proven from one zero; nothing where no number is above it."""
    privacy, proven = facts["privacy"], facts["proven"]["epsilon"]
    claimed, accounted = privacy["claimed"], privacy["accounted"]["epsilon"]
    bars = {}
    if claimed:
        bars["promised"] = _epsilon_bar("promised", claimed["epsilon"], epsilon_text(claimed))
    bars["holds"] = _epsilon_bar("holds", math.inf if accounted is None else accounted, epsilon_text(privacy["accounted"]))
    bars["proven"] = _epsilon_bar("proven to leak, at least", proven, number(proven))
    if not any(0 < bar.value < math.inf for bar in bars.values()):
        return None
    scale, limit = bar_scale(list(bars.values()))
    names = {"promised": "promised", "holds": "holds, by what was booked", "proven": "proven by trials, at least"}
    classes = {name: f"r{place}" for place, name in enumerate(HUE_OF, 1)}
    return Bars(
        [(classes[name], names[name], bar_picture(bar, scale, limit, thick=True)) for name, bar in bars.items()],
        axis_picture(scale),
        csv_text(["what", "epsilon"], [(name, bar.value) for name, bar in bars.items()]),
    )


def _epsilon_bar(name: str, value: float, text: str) -> Bar:
    return Bar(value, None, text, f"{name}: {'no limit' if value == math.inf else epsilon(text)}")


def sides(game: Mapping[str, Any]) -> Bars:
    """The scores of both sides, one above the other on the same scales, and the threshold through both."""
    edges, trials, event = game["scores"]["edges"], game["trials"], game["event"]
    counts = [game["scores"][side] for side in ("zero", "one")]
    across = Axis(Scale(edges[0], edges[-1]), ())
    up = Axis(linear([max(map(max, counts)) / trials], TALL, 14.0, room=1.0), ())
    said = [game["hits"], game["misses"]] if event["side"] == 0 else [game["misses"], game["hits"]]
    verb = "at or above" if event["side"] else "below"
    found = []
    for side, hits, name, value in zip(counts, said, ("zero", "one"), values_of(game), strict=True):
        svg = picture(TALL + 1, f"{hits:,} of {trials:,} scores are {verb} the threshold of {compact(event['threshold'])}")
        add(svg, "line", x1=0, x2="100%", y1=TALL, y2=TALL, class_="gl")
        kind = f"r{list(HUE_OF).index(name) + 1}"
        bars_outline(stretched(svg, TALL), edges, [count / trials for count in side], across, up, kind)
        at = across.scale.at(event["threshold"])
        add(svg, "line", x1=percent(at), x2=percent(at), y1=0, y2="100%", class_="ref")
        if name == "zero":
            add(svg, "text", f"threshold{GLUE}{compact(event['threshold'])}", x=percent(at), y=11, class_="d",
                dx=-6 if at > 50 else 6, text_anchor="end" if at > 50 else "start")  # fmt: skip
        found.append((kind, f"it was {value}: {hits:,} of {trials:,} are {verb} the threshold", source(svg)))
    return Bars(
        found,
        axis_picture(across.scale),
        csv_text(["from", "to", "trials where it is 0", "trials where it is 1"], zip(edges, edges[1:], *counts, strict=False)),
    )


def strip_line(row: Mapping[str, Any]) -> StripLine:
    """What an audit says of a row of a study."""
    privacy = row["privacy"]
    guess, state = best_guess(privacy["accounted"]), "broken" if row["failed"] else promise(privacy).name.lower()
    size = f"{row['agents']:,} agents, {row['arms']} arms, {row['horizon']:,} rounds"
    changed = f"{row['replay']['rewards']:,} of {row['replay']['rewards_in_all']:,} rewards changed"
    text = f"{row['verdict'][:1].upper()}{row['verdict'][1:]}. {changed}; {size}."
    heading = HEADINGS[state] if row["failed"] else "No leak found"
    return StripLine(state, ICONS[state], heading, [], row["label"], text, gauge(guess), guess_text(guess))
