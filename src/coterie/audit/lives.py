"""Many lives in one compiled run: each replication has a world of its own, and so a canary of its own.

An engine's `run` hands one world to all replications. The audit's own `run` is that text with the world of the replication in
its place; a server is told beforehand what its world says. Everything else is the engine as it is.
"""

import hashlib
import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from coterie.audit import tape, world
from coterie.contract import Algorithm
from coterie.engines.bind import bind, import_text, machine_code
from coterie.engines.faults import Weather
from coterie.engines.simulate import Run, simulate_mesh, simulate_star
from coterie.studies.case import Case


def simulate_lives(case: Case, worlds: np.ndarray, weather: Weather, seed: int, first: int, compiled: bool = True) -> Run:
    """`worlds` is [replication, agent]."""
    arguments = (case.method, world, worlds, case.agents, case.horizon, np.zeros(0, np.int64))
    named: dict[str, Any] = {"seed": seed, "first": first, "replications": len(worlds), "weather": weather}
    named |= {"compiled": compiled, "binding": bind_lives}
    if case.links is not None:
        return simulate_mesh(*arguments, case.links, **named)
    return simulate_star(*arguments, delay=case.delay, **named)


def bind_lives(engine: ModuleType, node: Algorithm, problem: ModuleType, *, compiled: bool, **others: Any) -> Callable:
    """As `bind`, but `run` takes worlds [replication, agent]."""
    plain, server = bind(engine, node, problem, compiled=False, **others), others.get("server")
    text = "\n".join([
        f'"""Generated from {engine.__name__}: a world for each replication. {_digest()}"""',
        f"from {plain.__module__} import *",
        "from coterie.audit.tape import brief",
        "\n", own_worlds(inspect.getsource(engine.run), bool(server and (server.trusted or server.sums))),
    ])  # fmt: skip
    module = import_text(f"coterie_lives_{node.name}_{hashlib.sha256(text.encode()).hexdigest()[:16]}", text)
    return machine_code(module.run) if compiled else module.run


def own_worlds(text: str, trusted: bool) -> str:
    """The text of an engine's `run`, changed."""
    head, *body = text.splitlines()
    changed = []
    for line in body:
        if " live(" in line:
            if trusted:
                indent = line[: len(line) - len(line.lstrip())]
                changed.append(f"{indent}brief(hall.opens[r, number], worlds[r, number * team.size])")
            line = line.replace(" worlds,", " worlds[r],")
        changed.append(line)
    return "\n".join([head, *changed]) + "\n"


def _digest() -> str:
    sources = [inspect.getsource(module) for module in (tape, world)]
    return hashlib.sha256("\0".join(sources).encode()).hexdigest()[:16]
