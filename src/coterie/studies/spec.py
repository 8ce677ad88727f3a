"""What a study is, once it is read: frozen tables with every default filled in and every rule checked.

The tables have the names and shapes of the study file. Types are strict: text and true are not numbers, and an unknown
key is an error; a whole number may stand where a number is wanted. Lists are tuples, so that a specification cannot
change. Rules that concern one table are checked there, rules between tables in `Settings`.

The digest names what a study computes. It covers everything that has an influence on the results and nothing else: not
the title, not the labels, not the folder of a user's own algorithm (its content counts instead), not the path of a data
file (the table made of it counts instead).
"""

import hashlib
import json
import math
from collections.abc import Callable
from pathlib import PurePath
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializeAsAny,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from coterie.choices import Finite, Interval, Probability, choice
from coterie.engines.attacks import ATTACKS
from coterie.limits import REWARDS_SUMMED_MOST
from coterie.network import GRAPHS, from_edges, parts
from coterie.studies.messages import given, misfit
from coterie.studies.problems import Problem
from coterie.studies.tables import Agent, Agents, Hops, Price, Rounds, Runs, Table, Wording, left_out, refuse_strangers

EDITION = 4  # of the numbers a study gives: a new one wherever their meaning changes, so that runs lie in folders of their own


class LinkCost(Table):
    """The price of a message between an agent and the server, and between two agents."""

    server: Price = Field(default=1.0, title="of a message between an agent and the server")
    peer: Price = Field(default=1.0, title="of a message between two agents")


class Network(choice("graph", GRAPHS)):  # type: ignore[misc]
    """Who talks to whom: a named graph, or the listed edges (then `graph` is None)."""

    edges: tuple[tuple[Agent, Agent], ...] | None = Field(default=None, title="in place of a graph: pairs of agents, from 0 on")
    components: Annotated[tuple[Agents, ...], Field(min_length=1)] | None = Field(
        default=None, title="sizes of the parts of a hybrid network; the graph is then that of each part"
    )
    life: Hops | Literal["half-diameter", "half-diameter-down", "diameter"] = Field(
        default="half-diameter", title="hops a message lives"
    )
    switch_every: Annotated[Rounds, Field(description="rounds after which a random graph is drawn anew")] | None = None
    link_cost: LinkCost = Field(default=LinkCost(), title="what a message costs")

    @model_validator(mode="before")
    @classmethod
    def complete_by_default(cls, table: Any) -> Any:
        return {"graph": "complete", **table} if isinstance(table, dict) and table.get("edges") is None else table

    @model_validator(mode="after")
    def one_graph_is_given(self) -> Self:
        for key, value in (("graph", self.graph), ("components", self.components)):
            if self.edges is not None and value is not None:
                raise misfit(key, text=f"must be left out where edges are listed, got {given(value)}")
        refuse_strangers("graph", GRAPHS, self)
        drawn = [name for name, kind in GRAPHS.items() if kind.drawn]
        if self.switch_every is not None and self.graph not in drawn:
            raise misfit("switch_every", text=left_out("graph", drawn, self.switch_every))
        return self

    @model_validator(mode="after")
    def edges_join_two_agents_once(self) -> Self:
        seen: dict[frozenset[int], int] = {}
        for index, edge in enumerate(self.edges or ()):
            if edge[0] == edge[1]:
                raise misfit("edges", index, text=f"must join two different agents, got {given(edge)}")
            first = seen.setdefault(frozenset(edge), index)
            if first != index:
                raise misfit("edges", index, text=f"must not repeat network.edges[{first}], got {given(edge)}")
        return self

    @model_serializer(mode="wrap")
    def as_written(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Without the keys of other graphs. A probability is written in any case: digests have always covered it."""
        unused = {key for kind in GRAPHS.values() for key in kind.options.model_fields} - {"probability"}
        return {key: value for key, value in write(self).items() if value is not None or key not in unused}


class Faults(Table):
    """What goes wrong, as engines.faults has it."""

    liars: Annotated[float, Field(ge=0, lt=0.5)] = Field(default=0.0, title="share of agents that lie")
    attack: Literal[*ATTACKS] | None = Field(default=None, title="what liars say")  # type: ignore[valid-type]
    contamination: Probability = Field(default=0.0, title="share of messages whose value is replaced")
    contaminant: Finite | None = Field(default=None, title="by this one; by default the highest a message may hold")
    range: Interval | None = Field(default=None, title="what a message may hold; by default the range of rewards")
    loss: Annotated[float, Field(ge=0, lt=1)] = Field(default=0.0, title="probability that a message is lost")
    one_way: bool = Field(default=False, title="whether a meeting may lose one of its two directions")
    dropout: Annotated[float, Field(ge=0, lt=1)] = Field(default=0.0, title="probability that an agent sits out a round")
    churn: Probability = Field(default=0.0, title="share of agents that go away once, for a quarter of the horizon")

    @model_validator(mode="after")
    def liars_have_an_attack(self) -> Self:
        """Nobody attacks where nobody lies: rows that differ in nothing else are the same row."""
        object.__setattr__(self, "attack", (self.attack or "promote-worst") if self.liars > 0 else None)
        if self.contamination == 0:
            object.__setattr__(self, "contaminant", None)
        return self

    @model_serializer(mode="wrap")
    def as_written(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Without what is not given."""
        return {key: value for key, value in write(self).items() if value is not None and value != {}}


class FaultTable(Faults):
    """Faults as a study has them: swept ones give every algorithm a row for each value."""

    sweep: dict[str, Annotated[tuple[Any, ...], Field(min_length=1)]] = Field(
        default_factory=dict, title="a list of values for a key of this table: rows for each"
    )


class Words(Table):
    """What the page calls an agent and an arm."""

    agent: Wording = Field(default="agent", title="what the page calls an agent")
    arm: Wording = Field(default="arm", title="what it calls an arm")


class Settings(Table):
    """All of a study but its algorithms."""

    horizon: Rounds = Field(title="rounds: every agent decides once in each")
    replications: Runs = Field(default=20, title="runs of each row; row by row they meet the same instances and seeds")
    seed: Annotated[int, Field(ge=0, le=2**63 - 1)] = Field(default=0, title="of all random numbers")
    checkpoints: Annotated[int, Field(ge=2, le=10_000)] = Field(default=100, title="rounds at which regret is kept")
    problem: Problem = Field(title="what is being learned")
    network: Network = Field(default=Network(), title="who talks to whom")
    faults: FaultTable = Field(default=FaultTable(), title="what goes wrong")
    words: Words = Field(default=Words(), title="names for the page")

    @model_validator(mode="after")
    def sums_of_rewards_fit(self) -> Self:
        largest = self.problem.largest_reward
        if self.horizon * largest > REWARDS_SUMMED_MOST:
            most = int(REWARDS_SUMMED_MOST / largest)
            raise misfit("horizon", text=f"must be <= {most} where rewards may be as large as {largest:g}, got {self.horizon}")
        return self

    @model_validator(mode="after")
    def the_network_fits_the_agents(self) -> Self:
        agents, sizes, edges = self.problem.agents, self.network.components, self.network.edges
        if sizes and sum(sizes) != agents:
            text = f"must sum to the number of agents, {agents}, got {given(sizes)} with sum {sum(sizes)}"
            raise misfit("network", "components", text=text)
        for index, edge in enumerate(edges or ()):
            if max(edge) >= agents:
                raise misfit("network", "edges", index, text=f"must join agents in 0..{agents - 1}, got {given(edge)}")
        if edges is not None and len(found := parts(from_edges(agents, edges))) > 1:
            listed = ", ".join(given(tuple(part)) for part in found[:10])
            more = f" and {len(found) - 10} more" if len(found) > 10 else ""
            raise misfit("network", "edges", text=f"must connect all agents, got the components {listed}{more}")
        return self


class StudyFile(Settings):
    """The top level of a study file. The tables of algorithms depend on the algorithm and are checked one by one."""

    title: Wording | None = Field(default=None, title="what the study asks; {problem.agents} stands for a key")
    algorithm: tuple[dict[str, Any], ...] = Field(min_length=1, description="written [[algorithm]]")


class AlgorithmTable(BaseModel):
    """The keys all algorithms share; the others are parameters of the algorithm."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True)

    name: str = Field(title="an algorithm, or the path of a file of one's own")
    label: Wording | None = Field(default=None, title="what the row is called; {epsilon} stands for an option")
    sweep: dict[str, Annotated[tuple[Any, ...], Field(min_length=1)]] = Field(
        default_factory=dict, title="a list of values for an option: a row for each; of several, for each combination"
    )

    @property
    def parameters(self) -> dict[str, Any]:
        return self.model_extra or {}


class Row(Table):
    """One algorithm with one choice of parameters.

    `reference` is what the registry finds it by: its name, or the absolute path of a user's own file. `content` is the
    SHA-256 of that file.
    """

    name: str
    reference: str
    label: str
    options: SerializeAsAny[BaseModel]
    content: str | None = None
    faults: Faults = Faults()

    def parameters(self) -> dict[str, Any]:
        """The options as JSON takes them."""
        return rewritten(self.options.model_dump(), finite_or_null)

    def troubles(self) -> dict[str, Any]:
        """The faults that are switched on, as JSON takes them."""
        return self.faults.model_dump(exclude_defaults=True)

    def honest(self, agents: int) -> int:
        """How many of the agents tell the truth."""
        return agents - round(self.faults.liars * agents)


class Specification(Settings):
    """A study that can be run: one row for each algorithm and each value of its sweeps."""

    name: str
    title: str
    place: str = "study"  # what messages call it: the path of its file
    rows: tuple[Row, ...]

    def resolved(self) -> dict[str, Any]:
        """The study with all defaults and sweeps written out, as JSON takes it: an infinite number is null."""
        algorithms = []
        for row in self.rows:
            name = PurePath(row.reference).name
            content = {"sha256": row.content} if row.content else {}
            faults = {"faults": row.troubles()} if self.faults.sweep else {}
            algorithms.append({"name": name, "label": row.label} | content | row.parameters() | faults)
        return {"name": self.name, "title": self.title} | self._settings(finite_or_null) | {"algorithm": algorithms}

    @property
    def digest(self) -> str:
        """Twelve hexadecimal digits that name what the study computes."""
        rows = [
            {"name": row.content or row.name, "options": rewritten(row.options.model_dump(), in_one_way)}
            | ({"faults": rewritten(row.troubles(), in_one_way)} if self.faults.sweep else {})
            for row in self.rows
        ]
        settings = self._settings(in_one_way)
        settings["problem"] |= self.problem.content()
        del settings["words"]
        text = json.dumps(settings | {"algorithm": rows, "edition": EDITION}, sort_keys=True, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def _settings(self, write: Callable[[float], Any]) -> dict[str, Any]:
        return rewritten(self.model_dump(include=set(Settings.model_fields)), write)


def rewritten(value: Any, write: Callable[[float], Any]) -> Any:
    """A copy in the types of JSON; `write` is applied to floating-point numbers."""
    if isinstance(value, dict):
        return {key: rewritten(entry, write) for key, entry in value.items()}
    if isinstance(value, tuple | list):
        return [rewritten(entry, write) for entry in value]
    return write(value) if isinstance(value, float) else value


def finite_or_null(number: float) -> float | None:
    """JSON has no infinity."""
    return number if math.isfinite(number) else None


def in_one_way(number: float) -> float | int | str:
    """1 and 1.0 are the same number (a default may be written either way); infinity and nothing are different."""
    return int(number) if number.is_integer() else number if math.isfinite(number) else str(number)
