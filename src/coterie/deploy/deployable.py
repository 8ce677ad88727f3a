"""What runs in a deployment, and what is refused: in words that say what to take instead."""

from collections.abc import Iterator
from math import inf
from typing import TYPE_CHECKING, Any

from coterie.building import is_silent
from coterie.contract import Entry, Method
from coterie.deploy.secure.sealing import sealed_size
from coterie.engines.forecast import first_release
from coterie.privacy.accountant import spent
from coterie.studies.messages import Complaint, KeyPath, alternatives, given, spell

if TYPE_CHECKING:
    from coterie.deploy.federation import Federation

CLOCKS = {"peers": ("own", "common"), "alone": ("own", "common"), "server": ("epochs",), "synchronise": ("epochs",)}
ROUNDS_TRIED = 200  # within them every algorithm has released something
PIECES_MOST = 60_000  # bytes: a word of the wire has 64 KiB
EPSILON_USUAL = 10.0  # above it a promise means little, and the file must say that this is meant


FITS = "must have the hook `fits`, and `suits` where agents meet, which judge what others say"


def structure_of(method: Method) -> str:
    """Who talks to whom; an algorithm that never says anything is alone."""
    return "alone" if is_silent(method) else method.structure


def clocks_of(method: Method) -> tuple[str, ...]:
    """What may advance a turn; the first where the file does not say. Who is alone may have a server of its own."""
    if getattr(method.node, "rounds", False):
        return ("common",)
    return ("epochs",) if method.server else CLOCKS[structure_of(method)]


def check_problem(name: str, entry: Entry) -> Iterator[Complaint]:
    if entry.problem != "arms":
        why = "orders of a procurement are simulated and not deployed"
        yield _at("algorithm", "name", text=f"must be one that pulls arms, such as 'pooled-ucb', got {given(name)}: {why}")


def misfits(federation: "Federation") -> Iterator[Complaint]:
    found = list(_algorithm_that_does_not_run(federation))
    yield from found or (*_clock(federation), *_members(federation), *_privacy(federation))


def _at(*path: str | int, text: str, owner: str = "") -> Complaint:
    place: KeyPath = path
    return Complaint(place, f"{spell(place, owner)} {text}")


def _algorithm_that_does_not_run(federation: "Federation") -> Iterator[Complaint]:
    """What is wrong with it first of all: (whether it is, at which key, and what to take instead)."""
    method, (name, _, options, _) = federation.method(), federation.algorithm
    node, chosen, silent = method.node, options.model_dump(), structure_of(method) == "alone"
    judges = [node.fits, *([method.server.fits] if method.server else []), *([node.suits] if method.meetings else [])]
    noise = next((key for key in ("mechanism", "noise") if key in chosen), "name")
    inexact = node.mechanism.exact is None or node.mechanism.adds_up == "never"
    sinks = "must do without sinks, which change what messages cost and not what is learned: take 'cdp-mab' or 'pooled-ucb'"
    rules: tuple[tuple[Any, str, str], ...] = (
        (method.structure not in CLOCKS, "through" if "through" in chosen else "name", sinks),
        (chosen.get("mode") == "paper", "mode", "must be 'private', got 'paper': printed forms are simulated and not deployed"),
        (node.trusts, "noise", "must be 'local', got 'central': raw rewards never leave an organisation"),
        (node.peek or node.overhear, "name", "must be one whose hooks never read raw rewards, such as 'fed-ucb'"),
        (inexact, noise, f"must be noise with an exact sampler (blocks, tree, fresh), got {node.mechanism.name!r}"),
        (chosen.get("gap") == "true", "gap", "must be a number or left out, got 'true': nobody knows it beforehand"),
        (None in judges and not silent, "name", f"{FITS}: else it is simulated and not deployed"),
    )
    yield from [_at("algorithm", key, text=text, owner=name) for is_wrong, key, text in rules if is_wrong][:1]


def _clock(federation: "Federation") -> Iterator[Complaint]:
    method, clock, name = federation.method(), federation.clock, federation.algorithm.name
    allowed = clocks_of(method)
    if clock not in allowed:
        yield _at("clock", text=f"must be {alternatives(map(repr, allowed))} for {name}, or left out, got {given(clock)}")
    if clock == "own" and getattr(federation.algorithm.options, "catch_up", False):
        why = "agents that decide seldom would pull what those who decide often have pulled"
        yield _at("algorithm", "catch_up", text=f"must be false on own clocks, got true: {why}", owner=name)


def _members(federation: "Federation") -> Iterator[Complaint]:
    structure, name = structure_of(federation.method()), federation.algorithm.name
    if structure == "server" and federation.coordinator is None:
        yield _at("coordinator", text=f"must be a table with name, signs and connects for {name}, got nothing")
    if structure != "server" and federation.coordinator is not None:
        yield _at("coordinator", text=f"must be left out for {name}, which has none, got {given(federation.coordinator.name)}")
    if structure != "alone" and len(federation.agents) < 2:
        yield _at("agents", text=f"must be at least 2 for {name}, got {len(federation.agents)}")
    if not federation.method().node.mechanism.single:
        yield from _pieces(federation)
    if structure != "alone" and federation.broker is None:
        yield _at("broker", text='must be a table with an address such as "tls://broker.example:4222", got nothing')


def _pieces(federation: "Federation") -> Iterator[Complaint]:
    """Of a secure sum: everyone has a key to seal them with, and those of one report fit into a word."""
    for i, member in enumerate(federation.agents):
        if member.seals is None:
            wanted = "must be given for noise = 'secagg', as `agent init` prints it, got nothing"
            yield _at("agents", i, "seals", text=wanted)
            return
    agents, arms = len(federation.agents), len(federation.arms)
    if agents * sealed_size(arms) > PIECES_MOST:
        most = PIECES_MOST // sealed_size(arms)
        yield _at("agents", text=f"must be at most {most} with {arms} arms and noise = 'secagg', got {agents}")


def _privacy(federation: "Federation") -> Iterator[Complaint]:
    method, file, name = federation.method(), federation.file, federation.algorithm.name
    promised = method.claim.epsilon
    key = "epsilon" if "epsilon" in type(federation.algorithm.options).model_fields else "name"
    if promised == inf and file.privacy != "none":
        wanted = 'must be one with a finite epsilon unless privacy = "none" is written, got none'
        yield _at("algorithm", key, text=wanted, owner=name)
    elif file.privacy == "none":
        if promised < inf:
            yield _at("privacy", text=f"must be left out where {name} promises epsilon {promised:g}, got 'none'")
        if file.budget is not None:
            yield _at("budget", text="must be left out where privacy is 'none'")
    else:
        yield from _allowance(federation)


def _allowance(federation: "Federation") -> Iterator[Complaint]:
    method, file = federation.method(), federation.file
    epsilon, delta = federation.allowance
    place = ("budget", "epsilon") if file.budget else ("algorithm", "epsilon")
    if epsilon > EPSILON_USUAL and file.privacy != "weak":
        yield _at(*place, text=f'must be at most {EPSILON_USUAL:g} unless privacy = "weak" is written, got {epsilon:g}')
    least = spent(first_release(method, min(federation.horizon, ROUNDS_TRIED)), delta)
    if epsilon < least:
        yield _at(*place, text=f"must be at least {least:g}, what one release costs, got {epsilon:g}")
