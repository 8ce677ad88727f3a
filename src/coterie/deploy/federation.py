"""The federation file: public, the same for all, and all there is to agree on.

It names who takes part and their public keys, the arms, the algorithm and its options, the clock, the budget, and when a reward
counts. `load_federation` refuses what does not run, in one line, before anything is made or sent.

The run is a digest of what the file says, the algorithm's source and its parameters. Keys, the broker's address and the title
are no part of it: they may change while a run goes on. A change of members, arms or anything else is a new run.
"""

import hashlib
import inspect
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from math import inf
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from pydantic import Field

from coterie.building import build
from coterie.contract import HOOKS, SWITCHES, Entry, Method, Options, Setting
from coterie.deploy.deployable import check_problem, clocks_of, misfits, structure_of
from coterie.deploy.tables import BrokerTable, BudgetTable, Epochs, Member, Peers, RehearsalTable, Rewards, Span
from coterie.errors import CoterieError, UsageError, hint
from coterie.network import from_edges, parts
from coterie.privacy.budget import Budget
from coterie.studies.case import Lines, wires_of_lines
from coterie.studies.messages import Complaint, KeyPath, check, first_of, given, spell, unfit_values, unknown_key
from coterie.studies.reading import find, identify, parse
from coterie.studies.spec import AlgorithmTable, Network, Rounds, Table, in_one_way, rewritten

KEYS: Any = {"signs", "connects", "seals"}
NOT_OF_THE_RUN: Any = {"title": True, "broker": True, "agents": {"__all__": KEYS}, "coordinator": KEYS}


class FederationFile(Table):
    """The top level of the file. The algorithm's table depends on the algorithm."""

    title: str = "a federation"
    arms: Annotated[tuple[str, ...], Field(min_length=2)]
    horizon: Rounds
    clock: Literal["own", "common", "epochs"] | None = None
    tick: Span = 1.0
    privacy: Annotated[Literal["none", "weak"], Field(description="only where this is meant")] | None = None
    same_means: bool = False
    algorithm: dict[str, Any]
    budget: BudgetTable | None = None
    rewards: Rewards
    epochs: Epochs = Epochs()
    network: Peers = Peers()
    broker: BrokerTable | None = None
    rehearsal: RehearsalTable | None = None
    agents: Annotated[tuple[Member, ...], Field(min_length=1, description="written [[agents]]")]
    coordinator: Member | None = None


class Algorithm(NamedTuple):
    """Which one, with its options; `content` is the digest of a file of one's own."""

    name: str
    entry: Entry
    options: Options
    content: str | None = None


class Closing(NamedTuple):
    """When an epoch ends without all reports: with so many, after so many seconds."""

    quorum: int
    within: float


class Federation:
    """A federation file that was read and can be run."""

    def __init__(self, file: FederationFile, algorithm: Algorithm, folder: Path, place: str):
        self.file, self.algorithm, self.folder, self.place = file, algorithm, folder, place
        self.title, self.arms, self.horizon, self.tick = file.title, file.arms, file.horizon, file.tick
        self.privacy, self.rewards, self.network, self.rehearsal = file.privacy, file.rewards, file.network, file.rehearsal
        self.agents, self.coordinator, self.broker = file.agents, file.coordinator, file.broker
        reporters = min(self.method().reporters or len(file.agents), len(file.agents))
        least = self.method().quorum  # of a secure sum
        self.epochs = Closing(max(least, min(file.epochs.quorum or least or reporters, reporters)), file.epochs.within)
        self.clock = file.clock or clocks_of(self.method())[0]

    @property
    def members(self) -> tuple[Member, ...]:
        """The agents in order, then the coordinator."""
        return (*self.agents, *([self.coordinator] if self.coordinator else []))

    def member(self, name: str) -> Member:
        for member in self.members:
            if member.name == name:
                return member
        names = [member.name for member in self.members]
        known = f"members: {', '.join(names)}"
        raise UsageError(f"{self.place}: must have a member {given(name)}, got none{hint(name, names, known)}")

    def position(self, name: str) -> int:
        """The number by which hooks, keyed chance and parameters know a member; the coordinator's is -1."""
        member = self.member(name)
        return -1 if member is self.coordinator else self.agents.index(member)

    def method(self) -> Method:
        return self._method

    def setting(self) -> Setting:
        """What may be known beforehand. Nobody knows the gap between the arms, or how many lie."""
        agents, low, high = len(self.agents), self.rewards.low, self.rewards.high
        return Setting(
            agents, len(self.arms), self.horizon, homogeneous=self.file.same_means, low=low, high=high, proxy=(high - low) / 2,
            components=(agents,), heard=self._lines.heard,
        )  # fmt: skip

    def budget(self) -> Budget | None:
        """A fresh one, of one node: what the file says, else what the algorithm promises. None: nothing is protected."""
        if self.privacy == "none":
            return None
        epsilon, delta = self.allowance
        return Budget(epsilon, delta)

    @property
    def allowance(self) -> tuple[float, float]:
        """(epsilon, delta) that every reward may lose."""
        claim = self.method().claim
        return (self.file.budget.epsilon, self.file.budget.delta) if self.file.budget else (claim.epsilon, claim.delta)

    def hears(self, name: str) -> list[tuple[str, int]]:
        """Whose words a member hears, in the order of hooks, and after how many rounds of a common clock."""
        others = [member.name for member in self.agents if member.name != name]
        match structure_of(self.method()):
            case "alone":
                return []
            case "server":
                at_the_server = self.coordinator is not None and name == self.coordinator.name
                return [(other, 0) for other in others] if at_the_server else [(self._coordinator.name, 0)]
            case "peers":
                links, i = self.links, self.position(name)
                mine = range(links.first[0][i], links.first[0][i + 1])
                return [(self.agents[int(links.sender[link])].name, int(links.delay[link])) for link in mine]
            case _:
                return [(other, 0) for other in others]

    def heard_by(self, name: str) -> list[str]:
        """Who hears a member's words."""
        return [other.name for other in self.members if any(sender == name for sender, _ in self.hears(other.name))]

    def neighbours(self, name: str) -> list[str]:
        """Who is next to an agent: with whom it may meet."""
        i = self.position(name)
        ends = [int(sum(edge)) - i for edge in self._lines.graph().edges if i in edge]
        return [self.agents[j].name for j in sorted(ends)]

    @property
    def links(self) -> Any:
        """Who hears whom among peers, as the engines have it."""
        return wires_of_lines(self._lines, self.method().life, self.method().meetings).links

    @cached_property
    def fingerprint(self) -> str:
        """Of all public keys, which the run's digest leaves out: keys may change while a run goes on."""
        told = [f"{member.name} {member.signs} {member.connects} {member.seals}" for member in self.members]
        return hashlib.sha256("\n".join(told).encode()).hexdigest()[:16]

    @cached_property
    def run(self) -> bytes:
        """The digest that names the run: 32 bytes."""
        return hashlib.sha256("\n".join(f"{part} {digest}" for part, digest in self.digests.items()).encode()).digest()

    @cached_property
    def digests(self) -> dict[str, str]:
        """What the run is made of, one by one, so that a difference can be told: file, source, parameters."""
        told = rewritten(self.file.model_dump(exclude=NOT_OF_THE_RUN), in_one_way)
        told["algorithm"] = {"name": self.algorithm.name} | rewritten(self.algorithm.options.model_dump(), in_one_way)
        text = json.dumps(told | {"clock": self.clock}, sort_keys=True, allow_nan=False)
        parameters = b"".join(name.encode() + np.asarray(value).tobytes() for name, value in self.method().p._asdict().items())
        return {
            "file": hashlib.sha256(text.encode()).hexdigest(),
            "source": self.algorithm.content or _source_of(self.method()),
            "parameters": hashlib.sha256(parameters).hexdigest(),
        }

    @cached_property
    def _method(self) -> Method:
        return build(self.algorithm.entry, self.algorithm.options, self.setting())

    @cached_property
    def _lines(self) -> Lines:
        about, places = self.network, {member.name: i for i, member in enumerate(self.agents)}
        edges = None if about.edges is None else tuple((places[a], places[b]) for a, b in about.edges)
        graph = None if edges else about.graph or "complete"
        return Lines(Network(graph=graph, edges=edges, life=about.life), len(self.agents))

    @property
    def _coordinator(self) -> Member:
        assert self.coordinator is not None
        return self.coordinator


def load_federation(path: str | Path) -> Federation:
    """Read and check a federation file. All complaints are collected; the first in the order of the file is told."""
    return check_federation(read_tables(Path(path)), Path(path).parent, str(path))


def read_tables(path: Path) -> dict[str, Any]:
    """What a federation file holds, whatever it is."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError:
        raise UsageError(f"{path}: is not text in UTF-8, as TOML is") from None
    return parse(text, str(path))


def check_federation(tree: dict[str, Any], folder: Path, place: str, spare: Member | None = None) -> Federation:
    """What was read, as a federation that can be run. `spare` is the coordinator if the algorithm needs one."""
    file, found = check(FederationFile, tree)
    complaints = [*unfit_values(tree), *found]
    algorithm, found = _read_algorithm(tree.get("algorithm", {}), folder)
    complaints += [*found, *(check_problem(algorithm.name, algorithm.entry) if algorithm else ())]
    federation = None
    if file is not None:
        complaints += _between_tables(file)
    if file is not None and algorithm is not None and not complaints:
        algorithm = _as_deployed(file, algorithm)
        try:
            federation = Federation(file, algorithm, folder, place)
            if spare and structure_of(federation.method()) == "server":
                file = file.model_copy(update={"coordinator": spare})
                federation, complaints = Federation(file, algorithm, folder, place), [*_between_tables(file)]
            complaints += misfits(federation)
        except CoterieError as error:
            raise UsageError(f"{place}: algorithm: {error}") from None
    if federation is None or complaints:
        first, others = first_of(complaints, tree)
        raise UsageError(f"{place}: {first.text}{f' (and {others} more)' if others else ''}")
    return federation


def _read_algorithm(table: Any, folder: Path) -> tuple[Algorithm | None, list[Complaint]]:
    path: KeyPath = ("algorithm",)
    checked, complaints = check(AlgorithmTable, table, path)
    if checked is None:
        return None, complaints
    found = identify(checked.name, (*path, "name"), folder)
    if isinstance(found, Complaint):
        return None, [found]
    fields = found.options.model_fields
    strange = [key for key in table if key not in fields and key != "name"]
    complaints = [unknown_key((*path, key), [*fields, "name"], found.name) for key in strange]
    known = {key: value for key, value in checked.parameters.items() if key in fields}
    options, more = check(found.options, known, path, found.name)
    if options is None or complaints:
        return None, [*complaints, *more]
    return Algorithm(found.name, find(found.reference), options, found.content), []  # type: ignore[arg-type]


def _as_deployed(file: FederationFile, algorithm: Algorithm) -> Algorithm:
    """Where an option is not written and only one of its values does on this clock, it has that one."""
    options = algorithm.options
    if file.clock in (None, "own") and "catch_up" in type(options).model_fields and "catch_up" not in file.algorithm:
        options = options.model_copy(update={"catch_up": False})
    return algorithm._replace(options=options)


def _between_tables(file: FederationFile) -> Iterator[Complaint]:
    """What concerns two entries: names and keys that come twice, and who is named but does not take part."""
    places: list[tuple[KeyPath, Member]] = [(("agents", i), member) for i, member in enumerate(file.agents)]
    places += [(("coordinator",), file.coordinator)] if file.coordinator else []
    for key in ("name", "signs", "connects", "seals"):
        seen: dict[str, KeyPath] = {}
        for place, member in places:
            value, path = getattr(member, key), (*place, key)
            if value is None:
                continue
            first = seen.setdefault(value, path)
            if first != path:
                yield Complaint(path, f"{spell(path)} must not repeat {spell(first)}, got {given(value)}")
    for i, arm in enumerate(file.arms):
        if arm in file.arms[:i] or not arm.strip():
            why = "must not repeat another arm" if arm.strip() else "must be a name"
            yield Complaint(("arms", i), f"{spell(('arms', i))} {why}, got {given(arm)}")
    names = [member.name for member in file.agents]
    yield from _edges_that_join_nothing(file.network.edges or (), names)
    if file.epochs.quorum is not None and file.epochs.quorum > len(names):
        path = ("epochs", "quorum")
        yield Complaint(path, f"{spell(path)} must be in 1..{len(names)}, the number of agents, got {file.epochs.quorum}")


def _edges_that_join_nothing(edges: Sequence[tuple[str, str]], names: list[str]) -> Iterator[Complaint]:
    for index, edge in enumerate(edges):
        path: KeyPath = ("network", "edges", index)
        if strangers := [name for name in edge if name not in names]:
            near = hint(strangers[0], names, f"agents: {', '.join(names)}")
            yield Complaint(path, f"{spell(path)} must join two agents, got {given(strangers[0])}{near}")
            return
    if edges and len(set(names)) == len(names):
        pieces = parts(from_edges(len(names), np.array([[names.index(a), names.index(b)] for a, b in edges])))
        if len(pieces) > 1:
            listed = ", ".join(given(tuple(names[i] for i in piece)) for piece in pieces)
            yield Complaint(("network", "edges"), f"network.edges must connect all agents, got the components {listed}")


def _source_of(method: Method) -> str:
    """Of every built-in file that a hook of the method stands in."""
    roles = [role for role in (method.node, method.server) if role]
    hooks = [hook for role in roles for name in (*HOOKS, *SWITCHES) if (hook := getattr(role, name))]
    files = {inspect.getsourcefile(hook) for hook in hooks if hook.__module__.startswith("coterie.algorithms.")}
    return hashlib.sha256(b"".join(Path(str(file)).read_bytes() for file in sorted(map(str, files)))).hexdigest()


def federation_text(tables: Mapping[str, Any]) -> str:
    """A federation file of these tables, in TOML: plain keys first, then tables, then lists of tables."""
    plain = {key: value for key, value in tables.items() if not _is_table(value)}
    lines = [f"{key} = {_toml(value)}" for key, value in plain.items()]
    for key, value in tables.items():
        if isinstance(value, Mapping):
            lines += ["", f"[{key}]", *(f"{inner} = {_toml(entry)}" for inner, entry in value.items())]
        elif _is_table(value):
            for row in value:
                lines += ["", f"[[{key}]]", *(f"{inner} = {_toml(entry)}" for inner, entry in row.items())]
    return "\n".join(lines) + "\n"


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, list | tuple) and any(isinstance(row, Mapping) for row in value))


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return "inf" if value == inf else repr(value)
