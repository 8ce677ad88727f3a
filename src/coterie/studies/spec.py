"""What a study is, once it is read: frozen tables with every default filled in and every rule checked.

The tables have the names and shapes of the study file. Types are strict: text and true are not numbers, and an unknown
key is an error; a whole number may stand where a number is wanted. Lists are tuples, so that a specification cannot
change. Rules that concern one table are checked there, rules between tables in `Settings`. A law of
rewards makes `ArmProblem` a model of its own.

The digest names what a study computes. It covers everything that has an influence on the results and nothing else: not
the title, not the labels, not the folder of a user's own algorithm (its content counts instead), not the path of a data
file (the table made of it counts instead).
"""

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeVar, Union

from pydantic import (
    AllowInfNan,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    SerializeAsAny,
    SerializerFunctionWrapHandler,
    Tag,
    create_model,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticCustomError

from coterie.choices import Factor, Finite, Interval, Kind, Probability, choice, strangers
from coterie.engines.attacks import ATTACKS
from coterie.errors import UsageError
from coterie.limits import AGENTS_MOST, ARMS_MOST, HORIZON_MOST, REPLICATIONS_MOST, REWARD_MOST, REWARDS_SUMMED_MOST
from coterie.network import GRAPHS, from_edges, parts
from coterie.problem import diabetes, suppliers
from coterie.problem.instances import INSTANCES
from coterie.problem.laws import LAWS
from coterie.problem.linear import Law
from coterie.problem.oracles import best_quality
from coterie.studies.messages import alternatives, given, misfit

Number = TypeVar("Number")
Rounds = Annotated[int, Field(ge=1, le=HORIZON_MOST)]
Runs = Annotated[int, Field(ge=1, le=REPLICATIONS_MOST)]
Agents = Annotated[int, Field(ge=1, le=AGENTS_MOST)]
Arms = Annotated[int, Field(ge=2, le=ARMS_MOST)]
Agent = Annotated[int, Field(ge=0)]
Hops = Annotated[int, Field(ge=0, le=AGENTS_MOST)]
Price = Annotated[float, Field(ge=0, le=REWARD_MOST), AllowInfNan(False)]


def shape_of(means: Any) -> str:
    return "matrix" if isinstance(means, tuple) and any(isinstance(row, tuple) for row in means) else "flat"


def sizes_of(means: tuple[Any, ...]) -> dict[str, int]:
    """The numbers of agents and arms that the means tell; a flat list, the same for all agents, tells the arms only."""
    if shape_of(means) == "flat":
        return {"arms": len(means)}
    return {"agents": len(means), "arms": len(next(row for row in means if isinstance(row, tuple)))}


Flat = Annotated[tuple[Number, ...], Tag("flat")]
Matrix = Annotated[tuple[tuple[Number, ...], ...], Tag("matrix")]
Means = Annotated[Flat[Number] | Matrix[Number], Discriminator(shape_of)]

DATASET_KEYS = ("dataset", "split", "rule", "file")
DIABETES_SIZES = {"agents": len(diabetes.HOSPITALS), "arms": len(diabetes.ARMS)}

EDITION = 4  # of the numbers a study gives: a new one wherever their meaning changes, so that runs lie in folders of their own


class Table(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


def refuse_strangers(key: str, kinds: Mapping[str, Kind], table: BaseModel) -> None:
    """Of keys that belong to one of several kinds only the named one's may be given."""
    for option, takers in strangers(key, kinds, table).items():
        raise misfit(option, text=left_out(key, takers, getattr(table, option)))


def left_out(key: str, names: Iterable[str], value: Any) -> str:
    return f"must be left out unless {key} is {alternatives(map(repr, names))}, got {given(value)}"


class WithMeans(Table):
    means: Means[Finite] | None = None


class ArmProblem(choice("instance", INSTANCES, WithMeans)):  # type: ignore[misc]
    """Agents that pull arms: the means are written out (agents x arms, or one row for all), drawn as an instance, or
    those of a data set, which is built in or made of a file.

    `agents` and `arms` may be left out where the means or the data set tell them.
    """

    dataset: Literal["diabetes"] | None = None
    split: diabetes.Split | None = None
    rule: diabetes.Rule | None = None
    file: str | None = None
    agents: Agents
    arms: Arms
    heterogeneity: Probability = 0.0
    weights: tuple[Probability, ...] | None = None  # of the agents in the mean that counts
    kind: str  # the law of the rewards

    @model_validator(mode="before")
    @classmethod
    def fill_in_what_the_source_tells(cls, table: Any) -> Any:
        if not isinstance(table, dict):
            return table
        sources = [key for key in ("means", "instance", "dataset") if table.get(key) is not None]
        # With none of them and an unknown key, that key is a misspelling and the better thing to complain about.
        if len(sources) > 1 or (not sources and table.keys() <= cls.model_fields.keys()):
            got = " and ".join(sources) or "none"
            raise misfit(text=f"must have exactly one of means, instance and dataset, got {got}")
        if sources == ["dataset"]:
            told = DIABETES_SIZES | {"split": "order", "rule": "exclusive"}
            return told | {key: value for key, value in table.items() if value is not None}
        means = table.get("means")
        sizes = sizes_of(means) if isinstance(means, tuple) else {}
        if sizes.get("arms", 2) < 2:
            raise misfit("means", text=f"must have at least 2 arms, got {sizes['arms']}")
        return sizes | table

    @model_validator(mode="after")
    def means_fit_the_sizes(self) -> Self:
        if self.means is None and self.dataset is None:
            return self
        source, sizes = ("dataset", DIABETES_SIZES) if self.means is None else ("means", sizes_of(self.means))
        for index, row in enumerate(self.means or ()):
            if isinstance(row, tuple) and len(row) != sizes["arms"]:
                text = f"must have {sizes['arms']} entries like problem.means[0], got {len(row)}"
                raise misfit("means", index, text=text)
        for key, size in sizes.items():
            if getattr(self, key) != size:
                raise misfit(key, text=f"must be {size} as in problem.{source}, or left out, got {getattr(self, key)}")
        if self.heterogeneity and "agents" in sizes:
            text = f"must be left out where {source} has a row for each agent, got {given(self.heterogeneity)}"
            raise misfit("heterogeneity", text=text)
        return self

    @model_validator(mode="after")
    def the_instance_takes_its_keys(self) -> Self:
        refuse_strangers("instance", INSTANCES, self)
        return self

    @model_validator(mode="after")
    def weights_are_shares(self) -> Self:
        if self.weights is not None and len(self.weights) != self.agents:
            raise misfit("weights", text=f"must have {self.agents} entries, one for each agent, got {len(self.weights)}")
        if self.weights is not None and abs(sum(self.weights) - 1) > 1e-9:
            raise misfit("weights", text=f"must sum to 1, got {given(self.weights)} with sum {sum(self.weights):g}")
        return self

    @model_validator(mode="after")
    def the_data_are_at_hand(self) -> Self:
        for key in DATASET_KEYS:
            if self.dataset is None and getattr(self, key) is not None:
                raise misfit(key, text=f"must be left out unless dataset is given, got {given(getattr(self, key))}")
        try:
            self.content()
        except UsageError as error:
            raise misfit("file", text=str(error).removeprefix("problem.file ")) from None
        return self

    @model_serializer(mode="wrap")
    def as_written(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Without the folder of a file, and without the keys of a data set or an instance where there is none."""
        table = write(self) | ({"file": PurePath(self.file).name} if self.file else {})
        optional = (*DATASET_KEYS, "weights", *(key for kind in INSTANCES.values() for key in kind.options.model_fields))
        return {key: value for key, value in table.items() if value is not None or key not in optional}

    def content(self) -> dict[str, Any]:
        """What the digest covers in place of the path of a file: the successes and counts it gives."""
        if self.dataset is None:
            return {}
        return {"file": [counts.tolist() for counts in diabetes.table(self.rule, self.split, self.file)]}


def with_law(kind: str, law: type[Law]) -> type[ArmProblem]:
    """Agents that pull arms whose rewards follow this law."""
    means = Means[law.mean] | None  # type: ignore[name-defined]
    fields: dict[str, Any] = {"kind": (Literal[kind], kind), "means": (means, None)}
    return create_model(law.__name__, __base__=(law, ArmProblem), __module__=__name__, **fields)  # type: ignore[arg-type]


class Procurement(choice("distribution", suppliers.DISTRIBUTIONS)):  # type: ignore[misc]
    """Agents that order units of producers: suppliers are drawn, written out, or those of a table in a file.

    `agents` and `producers` may be left out where the suppliers tell them.
    """

    kind: Literal["procurement"]
    sd: Factor = 0.1  # of a normal distribution, around alpha
    homogeneous: bool = False
    instances: Runs | None = None  # drawn, over which replications go round; None: one for each
    agents_drawn: Agents | None = None  # for how many agents suppliers are drawn; the first `agents` of them play
    quality: tuple[Probability, ...] | None = None
    cost: Means[Probability] | None = None
    capacity: Means[Annotated[int, Field(ge=0)]] | None = None
    file: str | None = None
    agents: Agents
    producers: Arms
    alpha: Probability = 0.4
    rho: Factor = 1.0

    @model_validator(mode="before")
    @classmethod
    def fill_in_what_the_source_tells(cls, table: Any) -> Any:
        if not isinstance(table, dict):
            return table
        sources = [key for key in ("distribution", "quality", "file") if table.get(key) is not None]
        if len(sources) > 1:
            raise misfit(text=f"must have at most one of distribution, quality and file, got {' and '.join(sources)}")
        if sources == ["file"] and isinstance(table["file"], str):
            found = read_suppliers(table["file"])
            return {"agents": len(found.agents), "producers": len(found.producers)} | table
        sizes: dict[str, int] = {}
        for key in ("quality", "cost", "capacity"):
            values = table.get(key)
            told = sizes_of(values) if isinstance(values, tuple) else {}
            sizes |= {"producers": told["arms"]} if "arms" in told else {}
            sizes |= {"agents": told["agents"]} if "agents" in told else {}
        return sizes | ({} if sources else {"distribution": "uniform"}) | table

    @model_validator(mode="after")
    def the_keys_belong_together(self) -> Self:
        given_keys = {key for key in ("quality", "cost", "capacity") if getattr(self, key) is not None}
        if given_keys and len(given_keys) < 3:
            missing = next(key for key in ("quality", "cost", "capacity") if key not in given_keys)
            raise misfit(missing, text=f"must be given beside {' and '.join(sorted(given_keys))}, got nothing")
        for key in ("instances", "agents_drawn"):
            if self.distribution is None and getattr(self, key) is not None:
                raise misfit(key, text=f"must be left out where suppliers are not drawn, got {getattr(self, key)}")
        if self.agents_drawn is not None and self.agents_drawn < self.agents:
            raise misfit("agents_drawn", text=f"must be at least the number of agents, {self.agents}, got {self.agents_drawn}")
        return self

    @model_validator(mode="after")
    def the_suppliers_fit(self) -> Self:
        if self.distribution is not None:
            return self
        found = self.fixed_suppliers()
        for key, size in (("agents", len(found.cost)), ("producers", len(found.quality))):
            if getattr(self, key) != size:
                raise misfit(key, text=f"must be {size} as the suppliers have it, or left out, got {getattr(self, key)}")
        if unmet := self.unmet_quality(found):
            raise misfit("alpha", text=unmet)
        return self

    def fixed_suppliers(self) -> suppliers.Suppliers:
        """Those that are not drawn."""
        if self.file is not None:
            return read_suppliers(self.file)
        assert self.quality is not None and self.cost is not None and self.capacity is not None
        try:
            return suppliers.explicit(self.quality, self.cost, self.capacity, self.agents)
        except UsageError as error:
            raise from_suppliers(error) from None

    def unmet_quality(self, found: suppliers.Suppliers) -> str:
        """What is wrong with alpha if some agent could buy nothing."""
        best = [best_quality(found.quality, capacity) for capacity in found.capacity]
        least = min(best)
        if least >= self.alpha:
            return ""
        return f"must be <= {least:g}, the best average quality that agent {best.index(least)} can buy, got {self.alpha:g}"

    @property
    def range(self) -> tuple[float, float]:
        """Where qualities lie."""
        return 0.0, 1.0

    @property
    def largest_reward(self) -> float:
        """Good units of one order of one producer."""
        return float(suppliers.CAPACITY_DRAWN if self.distribution else self.fixed_suppliers().capacity.max())

    @property
    def arms(self) -> int:
        return self.producers

    @property
    def weights(self) -> None:
        return None

    @model_serializer(mode="wrap")
    def as_written(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Without the folder of a file, with the names it has, and without the keys that are not used."""
        table = {key: value for key, value in ({"kind": None} | write(self)).items() if value is not None}
        if self.file is None:
            return table
        found = read_suppliers(self.file)
        names = {"agent_names": found.agents, "producer_names": found.producers}
        return table | {"file": PurePath(self.file).name} | names

    def content(self) -> dict[str, Any]:
        """What the digest covers in place of the path of a file."""
        if self.file is None:
            return {}
        found = read_suppliers(self.file)
        return {"file": [found.quality.tolist(), found.cost.tolist(), found.capacity.tolist()]}


def read_suppliers(file: str) -> suppliers.Suppliers:
    try:
        return suppliers.read_table(file)
    except UsageError as error:
        raise from_suppliers(error) from None


def from_suppliers(error: UsageError) -> PydanticCustomError:
    """`problem.cost must ...` about the table itself becomes a complaint about its key."""
    place, _, text = str(error).partition(" ")
    return misfit(place.removeprefix("problem."), text=text)


def with_default_kind(table: Any) -> Any:
    return {"kind": "bernoulli", **table} if isinstance(table, dict) else table


if TYPE_CHECKING:
    Problem = ArmProblem | Procurement
else:
    BY_LAW = {law.__name__: with_law(kind, law) for kind, law in LAWS.items()}
    globals().update(BY_LAW)  # a study that goes to another process is looked up by these names
    Kinds = Union[(*BY_LAW.values(), Procurement)]
    Problem = Annotated[Kinds, Field(discriminator="kind"), BeforeValidator(with_default_kind)]


class LinkCost(Table):
    """The price of a message between an agent and the server, and between two agents."""

    server: Price = 1.0
    peer: Price = 1.0


class Network(choice("graph", GRAPHS)):  # type: ignore[misc]
    """Who talks to whom: a named graph, or the listed edges (then `graph` is None)."""

    edges: tuple[tuple[Agent, Agent], ...] | None = None
    components: Annotated[tuple[Agents, ...], Field(min_length=1)] | None = None
    life: Hops | Literal["half-diameter", "half-diameter-down", "diameter"] = "half-diameter"
    switch_every: Annotated[Rounds, Field(description="rounds after which a random graph is drawn anew")] | None = None
    link_cost: LinkCost = LinkCost()

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

    liars: Annotated[float, Field(ge=0, lt=0.5)] = 0.0  # share of agents that lie; half of them would be believed by no rule
    attack: Literal[*ATTACKS] | None = None  # type: ignore[valid-type]
    contamination: Probability = 0.0  # share of messages whose value is replaced
    contaminant: Finite | None = None  # by this one; default: the highest a message may hold
    range: Interval | None = None  # what a message may hold; default: the range of rewards
    loss: Annotated[float, Field(ge=0, lt=1)] = 0.0
    one_way: bool = False  # a meeting may lose one of its two directions: this breaks what gossip rests on
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.0  # probability that an agent sits out a round
    churn: Probability = 0.0  # share of agents that go away once, for a quarter of the horizon

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

    sweep: dict[str, Annotated[tuple[Any, ...], Field(min_length=1)]] = Field(default_factory=dict)


class Words(Table):
    """What the page calls an agent and an arm."""

    agent: str = "agent"
    arm: str = "arm"


class Settings(Table):
    """All of a study but its algorithms."""

    horizon: Rounds
    replications: Runs = 20
    seed: Annotated[int, Field(ge=0)] = 0
    checkpoints: Annotated[int, Field(ge=2, le=10_000)] = 100
    problem: Problem
    network: Network = Network()
    faults: FaultTable = FaultTable()
    words: Words = Words()

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

    title: str | None = None
    algorithm: tuple[dict[str, Any], ...] = Field(min_length=1, description="written [[algorithm]]")


class AlgorithmTable(BaseModel):
    """The keys all algorithms share; the others are parameters of the algorithm."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True)

    name: str
    label: str | None = None
    sweep: dict[str, Annotated[tuple[Any, ...], Field(min_length=1)]] = Field(default_factory=dict)

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
