"""The page of an audit: what is promised, what holds and what is proven, and a picture of the two sides of the game.

A pass never says "private": it says what was not found.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from coterie import files
from coterie.report.axes import Scale, draw_axes, linear_scale
from coterie.report.svg import BOTTOM, HEIGHT, LEFT, TOP, WIDTH, add, path, picture, source
from coterie.studies.numbers import GLUE, number

HERE = Path(__file__).parent
SIDES = (("zero", "the reward is 0", "c0", ""), ("one", "the reward is 1", "c1", "9 4"))
RIGHT = 24


def write(folder: Path, facts: Mapping[str, Any]) -> None:
    """audit.json and audit.html."""
    page = render(facts)
    files.write(folder / "audit.json", json.dumps(facts, indent=1, allow_nan=False))
    files.write(folder / "audit.html", page)


def render(facts: Mapping[str, Any]) -> str:
    environment = Environment(
        loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    games = facts.get("games", [])
    told = [game for game in games if game["event"]]
    return environment.get_template("audit.html.j2").render(
        style=Markup((HERE / "page.css").read_text(encoding="utf-8")),
        facts=facts,
        standing="unsupported" if facts["failed"] else "within" if promises(facts) else "unclaimed",
        title=f"Audit of {title(facts)}",
        lines=list(lines(facts)),
        pictures=[(game["canary"]["text"], Markup(score_picture(game)), meaning(game)) for game in told[:1]],
        games=[(game["canary"]["text"], said(game), number(game["epsilon"])) for game in games],
        rows=[(row["label"], promised(row["privacy"]), holds(row["privacy"]), replayed(row["replay"]), row["verdict"])
              for row in facts.get("rows", [])],
        sides=SIDES,
    )  # fmt: skip


def title(facts: Mapping[str, Any]) -> str:
    if "rows" in facts:
        return str(facts["study"])
    values = {name: f"{value:g}" if isinstance(value, float) else value for name, value in facts["parameters"].items()}
    return " ".join([facts["algorithm"], *(f"{name}={value}" for name, value in values.items())])


def promises(facts: Mapping[str, Any]) -> bool:
    """Whether there is a promise at all that could be kept."""
    return bool(facts["rows"] if "rows" in facts else facts["privacy"]["claimed"])


def verdict_words(facts: Mapping[str, Any]) -> str:
    return f"{title(facts)}: {facts['verdict']}"


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
    yield "replay", replayed(facts["replay"])
    told = [game for game in facts["games"] if game["event"] and game["epsilon"] > 0]
    if told:
        yield "witness", told[0]["canary"]["text"]
        yield "", said(told[0])
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
    told = f"{count}{sampled}, {replay['pairs']:,} pairs of lives, {', '.join(replay['faults'])}"
    told += f"; {replay['left_out']:,} pairs were too long to compare" if replay["left_out"] else ""
    price = "without any noise" if replay["price"] is None else f"at a price of {replay['price']:.4g} or less"
    found = "; ".join(replay["findings"]) or f"they show only where that was booked, {price}"
    if replay["excused"]:
        found += f"; {', '.join(replay['excused'])}, as its caveat says, so choices were held fixed"
    return f"{told}: {found}"


def said(game: Mapping[str, Any]) -> str:
    event = game["event"]
    if event is None:
        return "no word ever differed"
    own, other = event["side"], 1 - event["side"]
    relation = f">= {event['threshold']:.6g}" if own else f"< {event['threshold']:.6g}"
    counts = f"{game['hits']} of {game['trials']} times where the reward is {own}, {game['misses']} times where it is {other}"
    return f"{event['statistic']} {relation} ({event['about']}): {counts}"


def meaning(game: Mapping[str, Any]) -> str:
    return (
        f"Scores of {number(game['trials'])} trials of each side that were kept back for the proof. "
        f"The event is that the score is {'at or above' if game['event']['side'] else 'below'} the line."
    )


def score_picture(game: Mapping[str, Any]) -> str:
    """Two outlines of bars, one for each side, and the threshold."""
    edges, trials = game["scores"]["edges"], game["trials"]
    shares = {side: [count / trials for count in game["scores"][side]] for side, *_ in SIDES}
    svg = picture("scores", f"Two distributions of the score; at least ε = {game['epsilon']:.3f} leaks.")
    across = Scale(edges[0], edges[-1], LEFT, WIDTH - RIGHT)
    up = linear_scale([value for values in shares.values() for value in values], HEIGHT - BOTTOM, TOP)
    draw_axes(svg, across, up, f"score ({game['event']['statistic']})", "share of trials")
    for side, name, colour, dash in SIDES:
        corners = [(edges[0], 0.0)]
        for left, right, share in zip(edges, edges[1:], shares[side], strict=False):
            corners += [(left, share), (right, share)]
        points = [(across.at(x), up.at(y)) for x, y in [*corners, (edges[-1], 0.0)]]
        group = add(svg, "g", class_=colour)
        add(group, "path", d=path(points), fill="var(--row)", fill_opacity=0.18, stroke="var(--row)", stroke_width=2,
            stroke_dasharray=dash)
        place = SIDES.index((side, name, colour, dash))
        add(svg, "line", x1=WIDTH - 190, x2=WIDTH - 160, y1=TOP + 8 + 20 * place, y2=TOP + 8 + 20 * place, class_=colour,
            stroke="var(--row)", stroke_width=2, stroke_dasharray=dash)
        add(svg, "text", name, x=WIDTH - 152, y=TOP + 12 + 20 * place)
    at = across.at(game["event"]["threshold"])
    add(svg, "line", x1=at, x2=at, y1=up.start, y2=TOP, stroke="var(--ink)", stroke_width=1.5, stroke_dasharray="2 3")
    add(svg, "text", f"threshold{GLUE}{game['event']['threshold']:.4g}", x=at + 6, y=TOP - 6)
    return source(svg)
