"""The options of an algorithm. Each is declared once: name, type, default, range, a sentence, the formula it enters.

From that come the check of a study's table, the errors, what may be set, and the numbers that hooks read (`contract.params`).
A family declares the options of all its algorithms in one class; what one of them does not offer is fixed.
"""

from functools import cache
from typing import Annotated, Any, ClassVar, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator

from coterie.limits import EPSILON_RANGE, check_epsilon

NUMBERS = (int, float, bool)


class Takes(NamedTuple):
    """Pinned to a field whose range is more than two ends: what errors and the reference say of it."""

    text: str


def enters(formula: str, default: str = "") -> dict[str, Any]:
    """Of a field: the formula it enters, and what stands in for it where it is None. Only the reference reads it."""
    return {"formula": formula, "default": default}


class Options(BaseModel):
    """The base of an algorithm's options: no coercion, no unknown keys, no change after checking."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")
    epsilon_can_be_had = field_validator("epsilon", check_fields=False)(check_epsilon)  # also in a file of one's own
    derived_from: ClassVar[Any] = None  # a class and what was changed of it, where `without` or `by_default` made this one

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        field = cls.model_fields.get("epsilon")
        if field is not None and Takes(EPSILON_RANGE) not in field.metadata:
            field.metadata = [*field.metadata, Takes(EPSILON_RANGE)]

    @classmethod
    def without(cls, *names: str, **fixed: Any) -> type[Self]:
        """The same options, of which a study may not set these: they have their defaults, or the values given."""
        return _derived(cls, tuple(({name: cls.model_fields[name].default for name in names} | fixed).items()), ())

    @classmethod
    def by_default(cls, **values: Any) -> type[Self]:
        """The same options with other defaults."""
        return _derived(cls, (), tuple(values.items()))

    def __reduce__(self) -> Any:
        """A derived class has no name by which it could be found: it is derived again."""
        return _restored, (_lineage(type(self)), self.__getstate__())


class SumOptions(Options):
    """Those of an algorithm whose server may be shown sums of reports only, and no report."""

    honest: int | None = Field(None, ge=2, description="agents that add their share of noise, for secagg; default nine in ten",
        json_schema_extra=enters(
            "a share is the difference of two Gamma(1 / honest, scale 1 / epsilon)", default="nine in ten"))
    quorum: int | None = Field(None, ge=2, description="reports without which no sum is opened, for secagg",
        json_schema_extra=enters("a sum has the reports of quorum agents or more; honest = quorum - colluders", default="all"))
    colluders: int | None = Field(None, ge=0, description="who may tell what they know, for secagg",
        json_schema_extra=enters("honest = quorum - colluders", default="a tenth; 0 with quorum"))


@cache
def _derived(kind: Any, fixed: tuple[tuple[str, Any], ...], defaults: tuple[tuple[str, Any], ...]) -> Any:
    marks = dict.fromkeys((*dict(fixed), "derived_from"), ClassVar[Any])
    for name in dict(defaults):
        marks[name] = Annotated[kind.model_fields[name].annotation, kind.model_fields[name]]
    made = {"__module__": kind.__module__, "__annotations__": marks, "derived_from": (kind, fixed, defaults)}
    return type(kind.__name__, (kind,), made | dict(fixed) | dict(defaults))


def _lineage(kind: Any) -> Any:
    made = vars(kind).get("derived_from")
    return (_lineage(made[0]), *made[1:]) if made else kind


def _class_of(lineage: Any) -> Any:
    return _derived(_class_of(lineage[0]), *lineage[1:]) if isinstance(lineage, tuple) else lineage


def _restored(lineage: Any, state: Any) -> Options:
    kind = _class_of(lineage)
    options = kind.__new__(kind)
    options.__setstate__(state)
    return options


def numbers_of(options: Options) -> dict[str, Any]:
    """The options that are declared as a number, or as true or false: also those that are fixed."""
    kinds = [kind for kind in reversed(type(options).__mro__) if issubclass(kind, Options)]
    declared = {name: field.annotation for kind in kinds for name, field in kind.model_fields.items()}
    return {name: getattr(options, name) for name, annotation in declared.items() if annotation in NUMBERS}
