"""The part of `out` that `release` is handed: what it says, and not what the door puts in. No sum can be found there.

It is the same memory under a narrower type, so the compiler sees through it.
"""

from typing import Any

from numba import types
from numba.extending import intrinsic, overload

from coterie.kernel.records import Narrow

SAID = ("entries", "moves", "each", "arm", "stretch", "chain", "price", "move_arm", "move_from", "move_to")


def offers_of(out: Any) -> Any:
    return Narrow(out, SAID)


@intrinsic
def _narrowed(context, out):  # type: ignore[no-untyped-def]
    fields = [(name, out.fields[name]) for name in SAID]
    kind = types.Record([(name, field._asdict()) for name, field in fields], out.size, out.aligned)

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.bitcast(arguments[0], context.get_value_type(kind))

    return kind(out), generate


@overload(offers_of)
def _offers_of(out):  # type: ignore[no-untyped-def]
    return lambda out: _narrowed(out)  # type: ignore[call-arg]  # the compiler hands in the context
