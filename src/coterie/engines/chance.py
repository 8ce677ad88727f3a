"""Where a deployed node gets its chance from: dice for its choices, and the noise of its door.

`System` is for the real thing: the operating system's entropy and exact integer noise. `Keyed` is for rehearsals that must
end in a simulation's bytes; an agent takes it only where it is told that this is a rehearsal.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from coterie.engines.memory import Keys
from coterie.errors import UsageError
from coterie.kernel import CHOICE, IDLE, NOISE, stream
from coterie.privacy.exact import add_exact
from coterie.privacy.mechanisms import MECHANISMS, Mechanism


class Chance(Protocol):
    rehearsed: bool

    def die(self, t: int) -> Any: ...

    def idle_die(self, t: int) -> Any: ...

    def noise(self, mechanism: Mechanism, secret: Any, t: int, out: Any) -> None: ...


class Keyed:
    """The simulator's randomness at the coordinates of one node."""

    rehearsed = True

    def __init__(self, keys: Keys, node: int):
        self.keys, self.node = keys, node

    def die(self, t: int) -> Any:
        return stream(self.keys.dice, self.node, CHOICE, t)

    def idle_die(self, t: int) -> Any:
        return stream(self.keys.dice, self.node, IDLE, t)

    def noise(self, mechanism: Mechanism, secret: Any, t: int, out: Any) -> None:
        key = self.keys.noise
        mechanism.add(out, secret, stream(key, self.node, NOISE, t), stream(key, self.node, NOISE, -1))


class System:
    """Operating-system entropy. A die is still a key, because hooks draw from dice; it is fresh and used once."""

    rehearsed = False

    def die(self, t: int) -> Any:
        import secrets

        return secrets.randbits(63)

    idle_die = die

    def noise(self, mechanism: Mechanism, secret: Any, t: int, out: Any) -> None:
        draw = check_exact(mechanism)
        add_exact(out, mechanism.name, draw if mechanism.single else partial(draw, holders=int(secret.holders)))


def check_exact(mechanism: Mechanism) -> Callable[..., int]:
    """How a deployed agent draws this noise. An agent asks before it plays, not when it first has to release."""
    if mechanism.exact is None:
        known = ", ".join(sorted(kind.name for kind in MECHANISMS.values() if kind.exact))
        raise UsageError(f"mechanism of a deployed agent must be one of {known}, got {mechanism.name!r}")
    return mechanism.exact
