"""What is known before anything has run, and which rows there are to choose from then."""

import json
from dataclasses import dataclass
from math import inf, sqrt
from typing import Any, NamedTuple

from coterie.errors import UsageError
from coterie.limits import AGENTS_MOST, ARMS_MOST, HORIZON_MOST, check_epsilon

UNLIKE = 0.5  # heterogeneity of agents that differ
GAP_LEAST = 1e-6  # a smaller one is not found within any horizon
TRUSTED = "nobody", "aggregation", "server"


@dataclass(frozen=True)
class Guess:
    """So many agents and arms, for so long; how good the best arm is, and how far below it the second lies."""

    agents: int
    arms: int
    horizon: int
    epsilon: float
    gap: float
    best: float = 0.6
    message_cost: float = 0.0  # in rewards
    server: bool = True
    unlike: bool = False  # agents' means differ, and the average counts
    liars: float = 0.0
    trust: str = "nobody"

    def __post_init__(self) -> None:
        for name, least, most in (("agents", 2, AGENTS_MOST), ("arms", 2, ARMS_MOST), ("horizon", 1, HORIZON_MOST)):
            self._require(name, least <= getattr(self, name) <= most, f"a whole number in [{least}, {most}]")
        try:
            check_epsilon(self.epsilon)
        except ValueError as error:
            raise UsageError(f"epsilon {error}") from None
        self._require("best", 0 < self.best < 1, "a number > 0 and < 1")
        self._require("gap", GAP_LEAST <= self.gap < self.best, f"a number >= {GAP_LEAST:g} and < best ({self.best:g})")
        self._require("message-cost", 0 <= self.message_cost < inf, "a finite number >= 0")
        self._require("liars", 0 <= self.liars < 0.5, "a number >= 0 and < 0.5")
        self._require("trust", self.trust in TRUSTED, " or ".join(TRUSTED))
        if self.trust != "nobody" and not self.server:
            raise UsageError(f"trust must be nobody without a server, got {self.trust}")
        if self.trust != "nobody" and self.liars:
            raise UsageError(f"trust must be nobody with liars, as single reports are to be looked at, got {self.trust}")
        if self.liars and self.unlike:
            raise UsageError("unlike must be left out with liars: a lie and an agent that differs cannot be told apart")

    def _require(self, name: str, holds: bool, wanted: str) -> None:
        if not holds:
            raise UsageError(f"{name} must be {wanted}, got {getattr(self, name.replace('-', '_'))}")

    @property
    def honest(self) -> int:
        return self.agents - round(self.liars * self.agents)

    @property
    def tables(self) -> dict[str, Any]:
        """What a study has of it beside its rows."""
        problem = {"instance": "guess", "agents": self.agents, "arms": self.arms, "best": self.best, "gap": self.gap}
        return {
            "horizon": self.horizon,
            "problem": problem | ({"heterogeneity": UNLIKE} if self.unlike else {}),
            **({} if self.server else {"network": {"graph": "complete"}}),
            **({"faults": {"liars": self.liars}} if self.liars else {}),
        }


class Choice(NamedTuple):
    """A row as a study has it, but for its epsilon."""

    name: str
    option: tuple[str, Any] | None = None

    def table(self, epsilon: float) -> dict[str, Any]:
        return {"name": self.name, "epsilon": epsilon} | (dict([self.option]) if self.option else {})


ALONE = Choice("solo-ucb")


def choices(guess: Guess) -> list[Choice]:
    """The first line of the table that fits: what to run as a rule, and what may cost less in regret and messages together."""
    spread = 2.0 * sqrt(guess.liars * (1.0 - guess.liars) / guess.agents)  # by chance liars are more than their share of votes
    assumed = round(min(guess.liars + spread, 0.49), 2)
    through_peers, eliminating = Choice("pooled-ucb", ("through", "peers")), Choice("ddp-mab")
    table = (
        (guess.liars > 0, Choice("pr-ucb", ("liars_assumed", assumed))),
        (not guess.server and guess.unlike, through_peers, eliminating),
        (not guess.server, Choice("peer-ucb"), through_peers, eliminating),
        (guess.trust == "server", Choice("pooled-ucb", ("noise", "central")), Choice("cdp-mab", ("noise", "central"))),
        (guess.trust == "aggregation", Choice("pooled-ucb", ("noise", "secagg")), Choice("cdp-mab", ("noise", "secagg"))),
        (True, Choice("pooled-ucb"), Choice("cdp-mab")),
    )
    return next(rows for fits, *rows in table if fits)


def study_text(tables: dict[str, Any], rows: list[dict[str, Any]]) -> str:
    """A study as TOML: keys, then tables, then its rows.

    >>> print(study_text({"horizon": 10, "problem": {"means": [0.1, 0.2]}}, [{"name": "ucb1", "factor": inf}]))
    horizon = 10
    <BLANKLINE>
    [problem]
    means = [0.1, 0.2]
    <BLANKLINE>
    [[algorithm]]
    name = "ucb1"
    factor = inf
    """
    keys = {key: value for key, value in tables.items() if not isinstance(value, dict)}
    blocks = [(f"[{key}]", table) for key, table in tables.items() if isinstance(table, dict)]
    blocks += [("[[algorithm]]", row) for row in rows]
    return "\n\n".join([_lines(keys), *(f"{head}\n{_lines(table)}" for head, table in blocks)])


def _lines(table: dict[str, Any]) -> str:
    return "\n".join(f"{key} = {'inf' if value == inf else json.dumps(value)}" for key, value in table.items())
