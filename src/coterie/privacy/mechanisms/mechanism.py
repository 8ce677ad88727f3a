"""A kind of noise is one value: all that the door, the ledger, the accountant and a statement have to know of it.

What a name means never changes: a new kind of noise is a new file with a value of its own, and a note that proves it.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

from coterie.privacy.door import BOOKS


class Mechanism(NamedTuple):
    name: str
    add: Callable  # (out, secret, die, lasting): keyed noise for all entries, compiled; `lasting` serves the node's whole run
    proof: str  # the note beside this file; empty: there is none, and no price is a loss
    exact: Callable[..., int] | None = None  # one draw of that scale (and of a share: of so many holders); None: not deployed
    adds_up: Literal["prices", "squares", "never"] = "prices"  # of epsilons, of mus, or not at all
    covers: Literal["entry", "pair", "stream", "nothing"] = "entry"  # what a price pays for; a pair is (number, sum)
    norm: Callable[[int], float] = lambda rewards: 1.0  # of a stream that can hold so many rewards
    many: Callable | None = None  # `add` for records that stand for several nodes each (`secret.voices`); None: there is none
    single: bool = True  # False: one report by itself is not protected, only the sum of those of all holders

    @property
    def book(self) -> Callable:
        return BOOKS[self.covers]
