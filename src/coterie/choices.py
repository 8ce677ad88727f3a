"""What a study may choose by name: a graph, an instance, a distribution. Each is one `Kind` in the one table of its sort.

The table is all there is to know of it: study files take the names and keys in it, with their ranges, messages list them, and
the page says the sentence.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from pydantic import AfterValidator, AllowInfNan, BaseModel, Field, create_model

from coterie.contract import Options
from coterie.limits import REWARD_MOST

Finite = Annotated[float, Field(ge=-REWARD_MOST, le=REWARD_MOST), AllowInfNan(False)]
Factor = Annotated[float, Field(ge=1 / REWARD_MOST, le=REWARD_MOST), AllowInfNan(False)]
Probability = Annotated[float, Field(ge=0, le=1)]


def ascending(ends: tuple[float, float]) -> tuple[float, float]:
    if ends[0] >= ends[1]:
        raise ValueError("must be [low, high] with low < high")
    return ends


Interval = Annotated[tuple[Finite, Finite], AfterValidator(ascending)]


class Kind(NamedTuple):
    """One thing a study may name."""

    make: Callable[..., Any]  # of (size, and `rng` where it is drawn), and its options by their names
    sentence: str | Callable[[Mapping[str, Any]], str]  # what the page says of it, given the table of the study it stands in
    options: type[Options] = Options  # the further keys a study may set for it
    drawn: bool = False  # every replication has one of its own

    def made(self, size: int, rng: np.random.Generator, table: Any = None) -> Any:
        """With the options that stand in the study's table."""
        given = {key: value for key in self.options.model_fields if (value := getattr(table, key, None)) is not None}
        return self.make(size, *((rng,) if self.drawn else ()), **self.options(**given).model_dump())

    def said(self, table: Mapping[str, Any]) -> str:
        return self.sentence if isinstance(self.sentence, str) else self.sentence(table)


def choice(key: str, kinds: Mapping[str, Any], base: type[BaseModel] = Options) -> type[BaseModel]:
    """`base` with a key that names one of the kinds, and with the keys of all of them.

    Those of kinds that are not named must be left out (`strangers`); kinds that share a key mean the same by it.
    """
    fields: dict[str, Any] = {key: (Literal[tuple(kinds)] | None, None)}
    for kind in kinds.values():
        for name, field in kind.options.model_fields.items():
            taken = Annotated[field.annotation, Field(description=field.description), *field.metadata]  # type: ignore[name-defined]
            fields[name] = (taken | None, Field(None, title=field.title))
    return create_model(base.__name__, __base__=base, **fields)


def strangers(key: str, kinds: Mapping[str, Any], table: Any) -> dict[str, list[str]]:
    """The keys that are given and that the named kind does not take, with the kinds that do."""
    named = kinds.get(getattr(table, key))
    takers: dict[str, list[str]] = {}
    for name, kind in kinds.items():
        for option in kind.options.model_fields:
            takers.setdefault(option, []).append(name)
    own = named.options.model_fields if named else ()
    return {option: names for option, names in takers.items() if option not in own and getattr(table, option) is not None}
