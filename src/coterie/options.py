"""The options of an algorithm. Each is declared once: its name, type, default, range and a sentence.

From that come the check of a study's table, the errors, what may be set, and the numbers that hooks read (`contract.params`).
A family declares the options of all its algorithms in one class; what one of them does not offer is fixed.
"""

from typing import Annotated, Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, create_model

NUMBERS = (int, float, bool)


class Options(BaseModel):
    """The base of an algorithm's options: no coercion, no unknown keys, no change after checking."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    @classmethod
    def without(cls, *names: str, **fixed: Any) -> type[Self]:
        """The same options, of which a study may not set these: they have their defaults, or the values given."""
        values = {name: cls.model_fields[name].default for name in names} | fixed
        hidden = {"__module__": cls.__module__, "__annotations__": dict.fromkeys(values, ClassVar[Any])}
        return type(cls.__name__, (cls,), hidden | values)

    @classmethod
    def by_default(cls, **values: Any) -> type[Self]:
        """The same options with other defaults."""
        declared = {name: cls.model_fields[name] for name in values}
        fields: dict[str, Any] = {name: (Annotated[field.annotation, field], values[name]) for name, field in declared.items()}
        return create_model(cls.__name__, __base__=cls, __module__=cls.__module__, **fields)


def numbers_of(options: Options) -> dict[str, Any]:
    """The options that are declared as a number, or as true or false: also those that are fixed."""
    kinds = [kind for kind in reversed(type(options).__mro__) if issubclass(kind, Options)]
    declared = {name: field.annotation for kind in kinds for name, field in kind.model_fields.items()}
    return {name: getattr(options, name) for name, annotation in declared.items() if annotation in NUMBERS}
