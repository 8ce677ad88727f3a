"""The table [problem] of a study file: what is being learned, and by how many.

A law of rewards makes `ArmProblem` a model of its own.
"""

import hashlib
from math import inf
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeVar, Union

import numpy as np
from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    PrivateAttr,
    SerializerFunctionWrapHandler,
    Tag,
    create_model,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticCustomError

from coterie.choices import Factor, Finite, Probability, choice
from coterie.errors import UsageError
from coterie.problem import decisions, diabetes, suppliers
from coterie.problem.instances import INSTANCES
from coterie.problem.laws import LAWS
from coterie.problem.linear import Law
from coterie.problem.oracles import best_quality
from coterie.studies.messages import given, misfit
from coterie.studies.tables import Agents, Arms, Runs, Table, refuse_strangers

Number = TypeVar("Number")


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

DATASET_KEYS = ("dataset", "split", "rule")
SOURCES = ("means", "instance", "dataset", "file")
NAMED_MOST = 10_000  # means of a table: of more, names and means are not written down
DIABETES_SIZES = {"agents": len(diabetes.HOSPITALS), "arms": len(diabetes.ARMS)}


OF_MEANS = "mean rewards: one row for all agents, or a row for each"


class WithMeans(Table):
    means: Means[Finite] | None = Field(None, title=OF_MEANS)


class ArmProblem(choice("instance", INSTANCES, WithMeans)):  # type: ignore[misc]
    """Agents that pull arms: the means are written out (agents x arms, or one row for all), drawn as an instance, those of
    a data set, which is built in or made of a file, or those of a table of one's own (`problem.decisions`).

    `agents` and `arms` may be left out where the means, the data set or the table tell them.
    """

    dataset: Literal["diabetes"] | None = Field(None, title="in place of means: those of a data set")
    split: diabetes.Split | None = Field(None, title="how its patients are shared out among the hospitals")
    rule: diabetes.Rule | None = Field(None, title="which treatment a patient counts for")
    file: str | None = Field(None, title="in place of means: a table of one's own, CSV or Parquet; or the file of the data set")
    outside: Literal["refuse", "clip"] | None = Field(
        None, title="what becomes of rewards in a table of one's own that lie outside the range; by default they are refused"
    )
    agents: Agents = Field(title="how many; may be left out where means or data tell")
    arms: Arms = Field(title="how many; may be left out where means or data tell")
    heterogeneity: Probability = Field(0.0, title="how far the means of agents differ from each other")
    weights: tuple[Probability, ...] | None = Field(None, title="of the agents in the mean that counts")
    kind: str = Field(title="the law of the rewards")
    _table: decisions.Decisions | None = PrivateAttr(None)  # goes where the study goes: the file stays behind

    @model_validator(mode="before")
    @classmethod
    def fill_in_what_the_source_tells(cls, table: Any) -> Any:
        if not isinstance(table, dict):
            return table
        sources = [key for key in SOURCES if table.get(key) is not None]
        sources = [key for key in sources if key != "file" or "dataset" not in sources]
        # With none of them and an unknown key, that key is a misspelling and the better thing to complain about.
        if len(sources) > 1 or (not sources and table.keys() <= cls.model_fields.keys()):
            got = " and ".join(sources) or "none"
            raise misfit(text=f"must have exactly one of means, instance, dataset and file, got {got}")
        if sources == ["dataset"]:
            told = DIABETES_SIZES | {"split": "order", "rule": "exclusive"}
            return told | {key: value for key, value in table.items() if value is not None}
        if sources == ["file"] and isinstance(table["file"], str):
            return named_sizes(table["file"]) | table
        means = table.get("means")
        sizes = sizes_of(means) if isinstance(means, tuple) else {}
        if sizes.get("arms", 2) < 2:
            raise misfit("means", text=f"must have at least 2 arms, got {sizes['arms']}")
        return sizes | table

    @model_validator(mode="after")
    def means_fit_the_sizes(self) -> Self:
        if self.instance is not None:
            return self
        if self.means is not None:
            source, sizes = "means", sizes_of(self.means)
        else:
            source, sizes = ("dataset", DIABETES_SIZES) if self.dataset else ("file", named_sizes(self.file or ""))
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
        if self.outside is not None and (self.dataset or self.file is None):
            raise misfit("outside", text=f"must be left out without a table of one's own in a file, got {given(self.outside)}")
        try:
            if self.file is not None and self.dataset is None:
                low, high = self.given
                if not low < high:
                    raise misfit("high", text=f"must be above low, got {high:g} and {low:g}")
                self._table = decisions.read(self.file, low, high, self.outside == "clip")
                if self._table.counted and high - low == inf:
                    raise UsageError("problem.file must have one row for each choice where rewards have no range, got counts")
                if self.in_order:
                    self.keep(decisions.read_rows(self.file, low, high))
            self.content()
        except UsageError as error:
            raise misfit("file", text=str(error).removeprefix("problem.file ")) from None
        return self

    @model_serializer(mode="wrap")
    def as_written(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Without the folder of a file, with what it tells, and without the keys of a source that is not there."""
        table = write(self) | ({"file": PurePath(self.file).name} if self.file else {}) | self.told_by_table()
        instances = [key for kind in INSTANCES.values() for key in kind.options.model_fields]
        optional = (*DATASET_KEYS, "file", "outside", "weights", *instances)
        return {key: value for key, value in table.items() if value is not None or key not in optional}

    def content(self) -> dict[str, Any]:
        """What the digest covers in place of the path of a file: the successes and counts it gives, or its means."""
        if self._table is not None:
            return {"file": hashlib.sha256(self.table_means().tobytes()).hexdigest()}
        if self.dataset is None:
            return {}
        return {"file": [counts.tolist() for counts in diabetes.table(self.rule, self.split, self.file)]}

    def table_means(self) -> np.ndarray:
        """Of a table of one's own: [agents, arms], or [1, arms] where it tells no agents apart."""
        assert self._table is not None
        return self._table.means(*self.given)

    @property
    def rewards_of_person(self) -> int:
        """The most that one person has in a table of one's own; 1 where none are named."""
        return max(1, self._table.person_most) if self._table is not None else 1

    def told_by_table(self) -> dict[str, Any]:
        """Names, means, how sure these are, and how many rewards a person has."""
        found = self._table
        if found is None:
            return {}
        (low, high), deviation = self.given, self.proxy
        told: dict[str, Any] = {"data": found.facts(low, high, deviation)}
        if found.counts.size <= NAMED_MOST:
            names = {"agent_names": found.agents} if found.agents else {}
            told |= names | {"arm_names": found.arms, "table_means": self.table_means().tolist()}
        return told | ({"person": {"rewards": found.person_most, "persons": found.persons}} if found.persons else {})


def named_sizes(file: str) -> dict[str, int]:
    """The numbers of agents and arms that a table names."""
    try:
        agents, arms = decisions.names_in(file)
    except UsageError as error:
        raise misfit("file", text=str(error).removeprefix("problem.file ")) from None
    return {"arms": len(arms)} | ({"agents": len(agents)} if agents else {})


def with_law(kind: str, law: type[Law]) -> type[ArmProblem]:
    """Agents that pull arms whose rewards follow this law."""
    means = Means[law.mean] | None  # type: ignore[name-defined]
    fields: dict[str, Any] = {"kind": (Literal[kind], kind), "means": (means, Field(None, title=OF_MEANS))}
    return create_model(law.__name__, __base__=(law, ArmProblem), __module__=__name__, **fields)  # type: ignore[arg-type]


class Procurement(choice("distribution", suppliers.DISTRIBUTIONS)):  # type: ignore[misc]
    """Agents that order units of producers: suppliers are drawn, written out, or those of a table in a file.

    `agents` and `producers` may be left out where the suppliers tell them.
    """

    kind: Literal["procurement"]
    sd: Factor = Field(0.1, title="of a normal distribution of qualities, around alpha")
    homogeneous: bool = Field(False, title="whether all agents have the same costs and capacities")
    instances: Runs | None = Field(None, title="drawn, over which replications go round; by default one for each")
    agents_drawn: Agents | None = Field(None, title="for how many agents suppliers are drawn; the first of them play")
    quality: tuple[Probability, ...] | None = Field(None, title="share of good units of each producer")
    cost: Means[Probability] | None = Field(None, title="of a unit: agents x producers, or one row for all")
    capacity: Means[Annotated[int, Field(ge=0)]] | None = Field(None, title="units a round: agents x producers")
    file: str | None = Field(None, title="a table of suppliers")
    agents: Agents = Field(title="how many; may be left out where suppliers are given")
    producers: Arms = Field(title="how many; may be left out where suppliers are given")
    alpha: Probability = Field(0.4, title="least average quality of an order")
    rho: Factor = Field(1.0, title="a unit of quality q earns rho q")

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

    @property
    def in_order(self) -> bool:
        return False

    @property
    def rewards_of_person(self) -> int:
        return 1

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
    """Rewards of 0 or 1, or of a range where one is given."""
    if not isinstance(table, dict):
        return table
    return {"kind": "bounded" if table.keys() & {"low", "high"} else "bernoulli", **table}


if TYPE_CHECKING:
    Problem = ArmProblem | Procurement
else:
    BY_LAW = {law.__name__: with_law(kind, law) for kind, law in LAWS.items()}
    globals().update(BY_LAW)  # a study that goes to another process is looked up by these names
    Kinds = Union[(*BY_LAW.values(), Procurement)]
    Problem = Annotated[Kinds, Field(discriminator="kind"), BeforeValidator(with_default_kind)]
