"""The live page of a node: what is known, what left, what is left of the budget, and who is there.

It is made here as a whole, from what may be seen. Its script asks for it again when something has changed and puts the parts
that differ in place of the old ones, so there is one template and no second way to show a number.
"""

from base64 import b64encode
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from coterie.deploy.view import ArmView, BudgetView, PeerView, View
from coterie.report import template
from coterie.report.draw.bars import axis_picture, grid
from coterie.report.draw.colours import HUES, shade, style
from coterie.report.draw.scale import Scale
from coterie.report.draw.svg import add, percent, picture, source
from coterie.report.draw.tally import tally

HERE = Path(__file__).parent
BEST, OTHER, STOPPED = "r1", "r2", "r3"
COLOURS = style([shade(HUES["blue"], 0.2), shade(HUES["blue"], 1.0), shade(HUES["alone"], 1.0)])
SHOWN = 8  # releases; `coterie ledger` lists all
SILENT = {
    "budget": "The privacy budget is spent: decisions go on, from what was learned before, and nothing is reported any more.",
    "withheld": "An arm was stopped: decisions go on without it, and this agent reports nothing more in this run.",
    "horizon": "All expected decisions have been made: further ones follow what was learned, and nothing is reported.",
}
WORDS = [
    ("Arm", "One of the choices, such as a treatment."),
    ("Decision", "An answer of this agent to the question which arm to play."),
    ("Estimate", "What one decision for the arm brings on average, as far as is known from released numbers."),
    ("Release", "A sum of rewards that left this machine with noise added, so that no single reward can be read from it."),
    ("ε", "How much one reward loses at most: near 0 nobody can tell what it was, above 3 protection is weak."),
    ("Epoch, turn", "A step of learning. Around a coordinator all take it together; among peers each at its own pace."),
]  # fmt: skip


class Line(NamedTuple):
    """An arm in the picture."""

    style: str
    name: str
    picture: Markup
    share: Markup
    chosen: str
    stopped: bool


class Member(NamedTuple):
    """Another one, as a line of the strip."""

    state: str
    icon: str
    heading: str
    name: str
    says: str
    at: float | None


def page_of(view: View) -> str:
    best = best_of(view)
    arms = view.arms if view.role == "agent" or best else ()  # a coordinator has no answers, and may have no estimates
    return _template().render(
        view=view, step="epoch" if view.clock == "epochs" else "turn", best=best, answer=answer(view, best), calm=calm(view),
        lines=[arm_line(view, arm, arm is best) for arm in arms], axis=axis_picture(_scale(view)), members=members(view),
        budget=budget_words(view.budget), silent=SILENT.get(view.silent or "", view.silent),
        releases=view.releases[:SHOWN], words=WORDS, chosen=sum(arm.choices for arm in view.arms),
        style=Markup(_read(template.HERE / "draw/page.css") + COLOURS), scripts=[Markup(_read(SCRIPT))],
    )  # fmt: skip


SCRIPT = HERE / "live.js"


@cache
def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def _template() -> Any:
    places = FileSystemLoader([HERE, template.HERE])
    environment = Environment(loader=places, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"clock": clock_text, "count": lambda value: f"{value:,}", "short": short}
    return environment.get_template("live.html.j2")


def _script_hash() -> str:
    """Of the very text between the tags: nothing else may run on the page."""
    return b64encode(sha256(f"\n{_read(SCRIPT)}\n".encode()).digest()).decode()


HEADERS = {
    "Content-Security-Policy": f"default-src 'none'; connect-src 'self'; img-src data:; style-src 'unsafe-inline'; "
    f"script-src 'sha256-{_script_hash()}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
}  # fmt: skip


def best_of(view: View) -> ArmView | None:
    """The arm with the highest estimate, of those that may be played."""
    known = [arm for arm in view.arms if arm.worth is not None and not arm.withheld]
    return max(known, key=lambda arm: arm.worth or 0.0, default=None)


def answer(view: View, best: ArmView | None) -> tuple[str, str]:
    """What a reader wants to know first: a name, and the rest of the sentence."""
    if view.role != "agent":
        if view.missing:
            there = len(view.peers) - len(view.missing)
            return f"Epoch {view.turn}:", f"{there} of {len(view.peers)} have reported, and {listed(view.missing)} not yet."
        return f"Epoch {view.turn}", "is under way."
    if best is None:
        return "Too early to say.", "Nothing has been learned yet; all arms are being tried."
    made = sum(arm.choices for arm in view.arms)
    said = f"looks best so far: about {short(best.worth)} per decision."
    return best.name, f"{said} It was chosen in {share_text(best.choices, made)} of {made:,} decisions." if made else said


def calm(view: View) -> str:
    """That all is well, where no alarm says otherwise."""
    heard = [peer.name for peer in view.peers if peer.at is not None]
    if view.connected is False:
        return "The broker does not answer. Decisions go on; what is to be said is kept and will be sent."
    if not view.peers:
        return "All is well. This agent learns alone."
    if len(heard) == len(view.peers):
        return f"All is well: {listed(heard)} {'are' if len(heard) > 1 else 'is'} there."
    silent = [peer.name for peer in view.peers if peer.at is None]
    never = [peer.name for peer in view.peers if peer.turn is None]
    return f"Not heard {'yet' if never else 'since the start'}: {listed(never or silent)}. Decisions go on meanwhile."


def members(view: View) -> list[Member]:
    """Who is missing first."""
    found = [member(peer, view) for peer in view.peers]
    return sorted(found, key=lambda one: ("broken", "weak", "nothing", "kept").index(one.state))


def member(peer: PeerView, view: View) -> Member:
    step = "epoch" if view.clock == "epochs" else "turn"
    if peer.turn is None:
        return Member("nothing", "", "not heard yet", peer.name, "No word has come in this run.", None)
    says = f"last word in {step} {peer.turn:,}"
    if peer.name in view.missing:
        return Member("weak", "…", "awaited", peer.name, f"has not reported in {step} {view.turn:,}; {says}", peer.at)
    if peer.lag is not None and peer.lag > 0:
        return Member("kept", "✓", "heard", peer.name, f"{says}, {counted(peer.lag, step)} behind", peer.at)
    return Member("kept", "✓", "heard", peer.name, says, peer.at)


def arm_line(view: View, arm: ArmView, is_best: bool) -> Line:
    made = sum(other.choices for other in view.arms)
    kind = STOPPED if arm.withheld else BEST if is_best else OTHER
    said = f"{arm.name}: estimate {short(arm.worth)}" if arm.worth is not None else f"{arm.name}: no estimate yet"
    svg, scale = picture(30, said, class_="bar"), _scale(view)
    grid(svg, scale)
    zero = scale.at(0.0)
    start, end = sorted((zero, zero if arm.worth is None else scale.at(arm.worth)))  # below 0 it goes to the left
    if arm.worth is not None:
        add(svg, "rect", x=percent(start), y=6, width=percent(end - start), height=16, class_="fill")
    add(svg, "text", short(arm.worth), x=percent(end), dx=7, y=18.5, class_="val" if arm.worth is not None else "")
    share = arm.choices / made if made else 0.0
    return Line(kind, arm.name, source(svg), tally(share), f"{arm.choices:,} · {share_text(arm.choices, made)}", arm.withheld)


def _scale(view: View) -> Scale:
    """From 0 to 1, or further where rewards go further."""
    known = [arm.worth for arm in view.arms if arm.worth is not None]
    return Scale(min([0.0, *known]), max([1.0, *known]), 0.0, 84.0)


def budget_words(budget: BudgetView) -> tuple[str, str]:
    """A figure and what it is. The budget is that of one reward: where each is told once, those told have none left."""
    if budget.epsilon is None:
        return "none", "is promised: this run has no privacy"
    limit = "is the most privacy that one reward may lose"
    if budget.refused:
        return f"ε = {short(budget.epsilon)}", f"{limit}; it is spent, and nothing more is released"
    left = "none" if not budget.left else f"at least {short(budget.left)}"
    return f"ε = {short(budget.epsilon)}", f"{limit}. It is kept: rewards told so far have {left} of it left, new ones all"


def short(value: float | None) -> str:
    """
    >>> short(0.61803), short(12.0), short(None)
    ('0.62', '12', 'no estimate yet')
    """
    if value is None:
        return "no estimate yet"
    return f"{value:.2f}".rstrip("0").rstrip(".") if abs(value) >= 0.01 or value == 0 else f"{value:.2g}"


def share_text(part: int, whole: int) -> str:
    """
    >>> share_text(1, 3), share_text(0, 0)
    ('33 %', '0 %')
    """
    return f"{100 * part / whole:.0f} %" if whole else "0 %"


def listed(names: tuple[str, ...] | list[str]) -> str:
    """
    >>> listed(["north", "east", "south"])
    'north, east and south'
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]])) if names else "nobody"


def counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def clock_text(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
