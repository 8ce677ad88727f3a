"""The small world a check plays in: four agents in a row, four or five arms, and a dozen plans or a few epochs.

Every form of an algorithm is played in fair weather, and where messages get lost, agents sit out, go away and lie, so that
hooks which are seldom called are called. Four arms fill the room that records reserve for them, so one place too far is seen;
five do not fit into records that were made for four.
"""

from typing import Any, NamedTuple

import numpy as np

from coterie.checking.shape import check_method
from coterie.checking.watch import Watch, placed
from coterie.contract import Entry, Method, Setting, Terms
from coterie.engines.agent import Agent
from coterie.engines.attacks import ATTACKS
from coterie.engines.faults import Weather
from coterie.engines.rehearsal import Make, Rehearsal, keyed_agent, rehearse_mesh, rehearse_star
from coterie.engines.simulate import Links, Run, simulate_mesh, simulate_star
from coterie.errors import AlgorithmError, UsageError
from coterie.guests import reason_of, shown
from coterie.network import distances, path
from coterie.problem import bernoulli, procurement

AGENTS, ARMS, MORE_ARMS, SEED = 4, 4, 5, 7
ROUNDS = 12  # among peers, one plan each; also epochs around a server, where each reward is told by itself
COMMITTED = 240  # rounds of peers that commit: enough for several plans
HORIZON = 3_000  # around a server, where a plan takes many rounds; also what a method is built for
MEANS = np.array([0.9, 0.6, 0.4, 0.1, 0.3])  # of as many arms as there are
AWAY = np.array([[99, 99], [4, 7], [99, 99], [99, 99]])
HOPS = 3
DELAYS = {"synchronise": 2, "hybrid": 2}


class Form(NamedTuple):
    """One of the examples of an algorithm, ready to be played."""

    name: str
    method: Method
    problem: Any
    worlds: np.ndarray

    @property
    def arms(self) -> int:
        return int(self.method.p.arms)

    @property
    def rounds(self) -> int:
        """Among peers."""
        return COMMITTED if self.method.node.commits else ROUNDS

    @property
    def links(self) -> Links | None:
        method = self.method
        if method.structure != "peers":
            return None
        hops = distances(path(AGENTS))
        receiver, sender = np.nonzero((hops > 0) & (hops <= (method.life if isinstance(method.life, int) else HOPS)))
        first = np.searchsorted(receiver, np.arange(AGENTS + 1))
        return Links(first, sender, hops[receiver, sender].astype(np.int64), path(AGENTS).edges, method.meetings)

    def weather(self, rough: bool) -> Weather:
        node = self.method.node
        fair = Weather(active=self.method.active)
        if not rough:
            return fair
        lies = fair._replace(liar=np.array([0, 0, 0, 1]), attack=ATTACKS["random"].number, truth=MEANS[: self.arms])
        if node.trusts or not node.mechanism.single:
            return lies  # such noise needs every report
        lies = lies._replace(loss=0.2, dropout=0.2)
        return lies._replace(away=AWAY) if self.method.structure == "peers" else lies

    def rehearse(self, rough: bool = False, make: Make = keyed_agent, epochs: float = ROUNDS) -> Rehearsal:
        arguments = (self.method, self.problem, self.worlds, AGENTS)
        how: dict[str, Any] = {"seed": SEED, "weather": self.weather(rough), "make": make}
        if self.links is not None:
            return rehearse_mesh(*arguments, self.rounds, self.links, **how)
        delay = DELAYS.get(self.method.structure, 0)
        return rehearse_star(*arguments, HORIZON, delay=delay, epochs=epochs, **how)

    def simulate(self, compiled: bool) -> Run:
        arguments = (self.method, self.problem, self.worlds, AGENTS)
        how: dict[str, Any] = {"seed": SEED, "weather": self.weather(False), "compiled": compiled}
        if self.links is not None:
            return simulate_mesh(*arguments, self.rounds, np.array([self.rounds]), self.links, **how)
        return simulate_star(*arguments, HORIZON, np.array([HORIZON]), delay=DELAYS.get(self.method.structure, 0), **how)

    def watched(self, rough: bool) -> list[Agent]:
        """All nodes after a run in which every hook was watched."""
        method, nodes = self.method, list[Agent]()
        watch = Watch(self.arms, method.structure, self.problem is procurement)
        server = method.server and watch.over(method.server)
        form = self._replace(method=method._replace(node=watch.over(method.node), server=server))

        def make(*arguments: Any) -> Agent:
            nodes.append(keyed_agent(*arguments))
            return nodes[-1]

        try:
            form.rehearse(rough, make)
        except UsageError as error:
            raise placed(watch, error) from error
        except Exception as error:
            raise AlgorithmError(f"{watch.last} leaves what cannot be carried on with: {reason_of(error)}") from error
        return nodes


def make_form(entry: Entry, example: dict[str, Any], file: str, arms: int = ARMS) -> Form:
    """Built and looked at."""
    setting = Setting(AGENTS, arms, HORIZON, gap=0.2, components=(AGENTS,))
    problem: Any = bernoulli
    worlds = bernoulli.world(MEANS[None, :arms])
    if entry.problem == "procurement":
        terms = Terms(np.full((AGENTS, arms), 0.3), np.full((AGENTS, arms), 3), alpha=0.5, rho=1.0)
        problem, setting = procurement, setting._replace(terms=terms)
        worlds = procurement.world(MEANS[:arms], *terms)
    method = entry.build(entry.options(**example), setting)
    check_method(method, file)
    if method.p.arms != arms:
        raise AlgorithmError(f"{shown(file)}: build: parameter 'arms' must be that of the setting, {arms}, got {method.p.arms}")
    words = " ".join(f"{key}={value}" for key, value in example.items())
    return Form(words, method, problem, worlds)
