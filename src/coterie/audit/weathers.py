"""Under which faults lives are compared: each kind by itself, and all at once.

Whether an engine looks at a kind of fault is decided when it is compiled. One engine serves all of them: a fault that is not
to happen has a chance that no draw is below, and an agent that is not to leave does so after the end.
"""

import numpy as np

from coterie.engines.attacks import ATTACKS
from coterie.engines.faults import Weather
from coterie.studies.case import Case

NEVER = 2.0**-60  # above 0, and below all draws but 0
OFTEN = 0.2


def weathers(case: Case) -> dict[str, Weather]:
    """By name; the first is a calm one."""
    method, agents, horizon = case.method, case.agents, case.horizon
    truth = case.weather.truth if len(case.weather.truth) else np.linspace(0.9, 0.1, method.p.arms)
    if method.structure == "alone":
        return {"no faults": Weather(active=method.active, truth=truth)}
    calm = {"contamination": NEVER, "truth": truth, "active": method.active}
    kinds: dict[str, dict] = {}
    if not method.node.trusts and (method.node.mechanism.single or method.quorum < agents):  # else the noise needs every report
        calm |= {"loss": NEVER, "dropout": NEVER}
        kinds |= {"loss": {"loss": OFTEN}, "dropout": {"dropout": OFTEN}}
    if case.links is not None:
        calm |= {"away": np.full((agents, 2), horizon + 1)}
        kinds |= {"churn": {"away": comings_and_goings(agents, horizon)}}
    liar = (np.arange(agents) % 3 == 2).astype(np.int64)
    kinds |= {"liars": {"liar": liar, "attack": ATTACKS["random"].number}, "contamination": {"contamination": OFTEN}}
    everything: dict = {name: value for kind in kinds.values() for name, value in kind.items()}
    return {name: Weather(**(calm | kind)) for name, kind in ({"no faults": {}} | kinds | {"all faults": everything}).items()}


def comings_and_goings(agents: int, horizon: int) -> np.ndarray:
    """Every other agent goes away once, for a quarter of the time, one after the other."""
    quarter = max(1, horizon // 4)
    start = 2 + np.arange(agents) * max(1, horizon - quarter - 2) // max(1, agents)
    return np.where((np.arange(agents) % 2 == 1)[:, None], np.stack([start, start + quarter], axis=1), horizon + 1)
