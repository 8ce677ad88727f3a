"""The page of an audit: what is claimed, accounted and proven, and a picture of the two sides of the game.

A pass never says "private": it says what was not found.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from coterie.errors import StorageError
from coterie.report.axes import Scale, draw_axes, linear_scale
from coterie.report.numbers import GLUE, number
from coterie.report.svg import BOTTOM, HEIGHT, LEFT, TOP, WIDTH, add, path, picture, source

HERE = Path(__file__).parent
SIDES = (("zero", "the reward is 0", "c0", ""), ("one", "the reward is 1", "c1", "9 4"))
RIGHT = 24


def write(folder: Path, facts: Mapping[str, Any]) -> None:
    """audit.json and audit.html."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "audit.json").write_text(json.dumps(facts, indent=1, allow_nan=False), encoding="utf-8")
        (folder / "audit.html").write_text(render(facts), encoding="utf-8")
    except OSError as error:
        raise StorageError(f"{folder}: cannot be written: {error.strerror}") from error


def render(facts: Mapping[str, Any]) -> str:
    environment = Environment(
        loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    told = [game for game in facts["games"] if game["event"]]
    return environment.get_template("audit.html.j2").render(
        style=Markup((HERE / "page.css").read_text(encoding="utf-8")),
        facts=facts,
        title=f"Audit of {title(facts)}",
        verdict=verdict_words(facts),
        lines=list(lines(facts)),
        pictures=[(game["canary"]["text"], Markup(score_picture(game)), meaning(game)) for game in told[:1]],
        games=[(game["canary"]["text"], said(game), number(game["epsilon"])) for game in facts["games"]],
        sides=SIDES,
    )


def title(facts: Mapping[str, Any]) -> str:
    values = {name: f"{value:g}" if isinstance(value, float) else value for name, value in facts["parameters"].items()}
    return " ".join([facts["algorithm"], *(f"{name}={value}" for name, value in values.items())])


def verdict_words(facts: Mapping[str, Any]) -> str:
    return f"{title(facts)}: {facts['verdict']}"


def lines(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What there is to say, line by line: (what it is about, the sentence)."""
    privacy, proven = facts["privacy"], facts["proven"]
    claimed, accounted = privacy["claimed"], privacy["accounted"]["epsilon"]
    yield "claimed", "nothing" if claimed is None else f"epsilon {claimed['epsilon']:g}, {privacy['unit']}"
    yield "accounted", "no finite epsilon" if accounted is None else f"epsilon {accounted:g}"
    yield "proven", f"epsilon at least {proven['epsilon']:.3f}, with {100 * proven['confidence']:g} % confidence"
    beyond = "" if facts["covered_by_claim"] else f" (sees more than the claim covers: {privacy['adversary']})"
    yield "view", facts["view"] + beyond
    yield "replay", replayed(facts["replay"])
    told = [game for game in facts["games"] if game["event"] and game["epsilon"] > 0]
    if told:
        yield "witness", told[0]["canary"]["text"]
        yield "", said(told[0])
    else:
        yield "witness", "none: nothing told the two sides apart"
    yield "again", facts["command"]


def replayed(replay: Mapping[str, Any] | None) -> str:
    if replay is None:
        return "not played: the claim leaves choices out, which rest on raw rewards"
    if replay["findings"]:
        return "; ".join(replay["findings"])
    price = "without any noise" if replay["price"] is None else f"at a price of {replay['price']:g} or less"
    return f"{replay['rewards']} changed rewards show only where that was booked, {price}"


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
    svg = picture("scores", f"Two distributions of the score; proven: epsilon at least {game['epsilon']:.3f}.")
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
