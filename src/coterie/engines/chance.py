"""Where a deployed node gets its chance from: dice for its choices, and the noise of its door.

`System` is for the real thing: the operating system's entropy and exact integer noise. `Keyed` is for rehearsals that must
end in a simulation's bytes; an agent takes it only where it is told that this is a rehearsal.
"""

from typing import Any, Protocol

from coterie.contract import Algorithm
from coterie.errors import UsageError
from coterie.kernel import CHOICE, IDLE, NOISE, stream
from coterie.privacy.door import BOOKS, NOISES
from coterie.privacy.exact import DOORS


class Chance(Protocol):
    rehearsed: bool

    def die(self, t: int) -> Any: ...

    def idle_die(self, t: int) -> Any: ...

    def door(self, algorithm: Algorithm, p: Any, t: int, out: Any, ledger: Any) -> None: ...


class Keyed:
    """The simulator's randomness at the coordinates of one node."""

    rehearsed = True

    def __init__(self, key: int, node: int):
        self.key, self.node = key, node

    def die(self, t: int) -> Any:
        return stream(self.key, self.node, CHOICE, t)

    def idle_die(self, t: int) -> Any:
        return stream(self.key, self.node, IDLE, t)

    def door(self, algorithm: Algorithm, p: Any, t: int, out: Any, ledger: Any) -> None:
        BOOKS[algorithm.mechanism](out, ledger)
        lasting = stream(self.key, self.node, NOISE, -1)
        NOISES[algorithm.mechanism](out, p, stream(self.key, self.node, NOISE, t), lasting)


class System:
    """Operating-system entropy. A die is still a key, because hooks draw from dice; it is fresh and used once."""

    rehearsed = False

    def die(self, t: int) -> Any:
        import secrets

        return secrets.randbits(63)

    idle_die = die

    def door(self, algorithm: Algorithm, p: Any, t: int, out: Any, ledger: Any) -> None:
        if algorithm.mechanism not in DOORS:
            known = ", ".join(sorted(DOORS))
            raise UsageError(f"mechanism of a deployed {algorithm.name} must be one of {known}, got {algorithm.mechanism!r}")
        DOORS[algorithm.mechanism](out, ledger)
