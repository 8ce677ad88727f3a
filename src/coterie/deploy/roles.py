"""Who a member is in its federation: an agent, a server, or both in one process, made ready from the file.

An agent around a server knows it as "server"; all others know each other by their names, in the order in which hooks see them.
"""

from coterie.contract import Algorithm
from coterie.deploy.federation import Federation
from coterie.deploy.journal import Note, NotedAgent, NotedChance, Notes
from coterie.engines.chance import Chance, Keyed, System
from coterie.engines.memory import keys_of, seeds_of
from coterie.errors import UsageError

SERVER = "server"


def chance_of(federation: Federation, place: int) -> Chance:
    """The operating system's, or, in a rehearsal, that of the simulator at this place."""
    return System() if federation.rehearsal is None else Keyed(keys_of(seeds_of(federation.rehearsal.seed), 0), place)


def check_chance(federation: Federation, chance: Chance) -> None:
    if chance.rehearsed and federation.rehearsal is None:
        raise UsageError("chance of a deployed node must be the operating system's, got a keyed one: only a rehearsal has it")
    if federation.rehearsal is not None and not chance.rehearsed:
        raise UsageError("chance of a rehearsal must be keyed by its seed, got the operating system's")


def make_roles(
    federation: Federation, name: str, chances: dict[str, Chance] | None, written: list[Note]
) -> dict[str, NotedAgent]:
    """ "agent", "server" or both, as they are before their first turn."""
    method, place = federation.method(), federation.position(name)
    alone = method.structure == "alone"
    roles: dict[str, NotedAgent] = {}
    if place >= 0:
        agent = roles["agent"] = _make(federation, method.node, "agent", place, chances, written)
        for field, values in method.known.items():
            agent.open[field] = values[place]
        if method.server is not None:
            agent.know(SERVER)
        else:
            for sender in dict.fromkeys(sender for sender, _ in federation.hears(name)):
                agent.know(sender, origin=federation.position(sender))
    if method.server is not None and (place < 0 or federation.coordinator is None):
        server = roles[SERVER] = _make(federation, method.server, SERVER, -1 - place if alone else -1, chances, written)
        for i, member in enumerate(federation.agents):
            if not alone or i == place:
                server.know(member.name, voices=1, **({"weight": method.weights[i]} if method.weights else {}))
    return roles


def _make(
    federation: Federation, rule: Algorithm, role: str, place: int, chances: dict[str, Chance] | None, written: list[Note]
) -> NotedAgent:
    method, rewards, notes = federation.method(), federation.rewards, Notes(role, written)
    chance = chance_of(federation, place) if chances is None else chances[role]
    check_chance(federation, chance)
    agent = NotedAgent(
        rule, method.p, NotedChance(chance, notes), rehearsal=federation.rehearsal is not None,
        budget=federation.budget() if role == "agent" else None, low=rewards.low, high=rewards.high, clip=rewards.clip,
        holders=method.holders if role == "agent" else 1,
    )  # fmt: skip
    agent.notes = notes
    return agent
