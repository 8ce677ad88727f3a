"""The public coin of a run: everyone who has the federation file throws the same. It never falls on a reward."""

from typing import Any

from coterie.deploy.federation import Federation
from coterie.engines.memory import keys_of, seeds_of
from coterie.kernel import fold


def coin_of(federation: Federation) -> Any:
    """A rehearsal's is the simulator's."""
    if federation.rehearsal is not None:
        return keys_of(seeds_of(federation.rehearsal.seed), 0).world
    return fold(int.from_bytes(federation.run[:8], "little", signed=True), 0)
