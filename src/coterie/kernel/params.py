"""The parameters of hooks: numbers with names, and records of tables, the same for all nodes.

Their type is a function of the names alone. Compiled code on disk finds a type by module and name, so each is found here under
a name that spells its fields, whoever asks for it first.
"""

from collections import namedtuple
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

_OPENING, _CLOSING = "Params(", ")"


def params_of(numbers: Mapping[str, Any]) -> Any:
    """A named tuple of these. What is true or false is 1 or 0, and numbers of numpy are Python's: of whole and of real numbers
    hooks have one type each.

    >>> params_of({"arms": 4, "epsilon": 0.5, "clips": True})
    Params(arms=4, epsilon=0.5, clips=1)
    """
    plain = (value.item() if isinstance(value, np.number | np.bool_) else value for value in numbers.values())
    return _type_of(tuple(numbers))(*(int(value) if isinstance(value, bool) else value for value in plain))


@cache
def _type_of(names: tuple[str, ...]) -> Any:
    made: Any = namedtuple("Params", names, module=__name__)  # type: ignore[misc]
    made.__qualname__ = f"{_OPENING}{','.join(names)}{_CLOSING}"
    return made


def __getattr__(name: str) -> Any:
    if not name.startswith(_OPENING):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _type_of(tuple(name.removeprefix(_OPENING).removesuffix(_CLOSING).split(",")))
