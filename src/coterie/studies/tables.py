"""What all tables of a study file share: strict and frozen, with numbers that have a range.

The `title` of a field is what the reference says of it; a `description` is also said where a value does not fit.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, AllowInfNan, BaseModel, ConfigDict, Field

from coterie.choices import Kind, strangers
from coterie.limits import AGENTS_MOST, ARMS_MOST, HORIZON_MOST, REPLICATIONS_MOST, REWARD_MOST
from coterie.options import Takes
from coterie.studies.messages import alternatives, given, misfit

Rounds = Annotated[int, Field(ge=1, le=HORIZON_MOST)]
Runs = Annotated[int, Field(ge=1, le=REPLICATIONS_MOST)]
Agents = Annotated[int, Field(ge=1, le=AGENTS_MOST)]
Arms = Annotated[int, Field(ge=2, le=ARMS_MOST)]
Agent = Annotated[int, Field(ge=0)]
Hops = Annotated[int, Field(ge=0, le=AGENTS_MOST)]
Price = Annotated[float, Field(ge=0, le=REWARD_MOST), AllowInfNan(False)]
NOT_BLANK = "text that is not blank"


def not_blank(text: str) -> str:
    """A page cannot show a name that nobody can see."""
    if not text.strip():
        raise ValueError(f"must be {NOT_BLANK}")
    return text


Wording = Annotated[str, AfterValidator(not_blank), Takes(NOT_BLANK)]


class Table(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


def refuse_strangers(key: str, kinds: Mapping[str, Kind], table: BaseModel) -> None:
    """Of keys that belong to one of several kinds only the named one's may be given."""
    for option, takers in strangers(key, kinds, table).items():
        raise misfit(option, text=left_out(key, takers, getattr(table, option)))


def left_out(key: str, names: Iterable[str], value: Any) -> str:
    return f"must be left out unless {key} is {alternatives(map(repr, names))}, got {given(value)}"
