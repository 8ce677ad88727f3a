"""Studies of procurement: the suppliers and the world of each instance."""

from functools import lru_cache

import numpy as np

from coterie.contract import Setting, Terms
from coterie.errors import UsageError
from coterie.problem import procurement, suppliers
from coterie.problem.suppliers import Suppliers
from coterie.studies.arms import PROBLEM
from coterie.studies.problems import Procurement
from coterie.studies.spec import Specification


def is_drawn(about: Procurement) -> bool:
    """Whether there is more than one instance."""
    return about.distribution is not None and about.instances != 1


def instance_of(about: Procurement, replication: int) -> int:
    """Replications go round the instances."""
    return replication % about.instances if about.instances else replication


def check(study: Specification, about: Procurement) -> None:
    """Every agent must be able to buy something in every instance."""
    for instance in range(min(study.replications, about.instances or study.replications) if is_drawn(about) else 1):
        if unmet := about.unmet_quality(suppliers_of(about, study.seed, instance)):
            raise UsageError(f"{study.place}: problem.alpha {unmet} (instance {instance} of seed {study.seed})")


def suppliers_of(about: Procurement, seed: int, instance: int) -> Suppliers:
    if about.distribution is None:
        return about.fixed_suppliers()
    return drawn(about, seed, instance)[0]


@lru_cache(maxsize=64)
def drawn(about: Procurement, seed: int, instance: int) -> tuple[Suppliers]:
    assert about.distribution is not None
    rng, agents = np.random.default_rng([seed, instance, PROBLEM]), about.agents_drawn or about.agents
    shape = {"centre": about.alpha, "sd": about.sd}
    found = suppliers.draw(about.distribution, agents, about.producers, rng, homogeneous=about.homogeneous, **shape)
    return (found.first(about.agents),)


@lru_cache(maxsize=64)  # all rows meet the same instances, and integer programs take time
def drawn_world(about: Procurement, seed: int, instance: int) -> np.ndarray:
    return world_of(about, suppliers_of(about, seed, instance))


def world_of(about: Procurement, found: Suppliers) -> np.ndarray:
    return procurement.world(found.quality, found.cost, found.capacity, about.alpha, about.rho)


def make_procurement(study: Specification, about: Procurement, replication: int) -> tuple[np.ndarray, Suppliers, Setting]:
    """The world, what is true of it, and what an algorithm may know."""
    instance = instance_of(about, replication)
    found = suppliers_of(about, study.seed, instance)
    world = drawn_world(about, study.seed, instance) if about.distribution else world_of(about, found)
    terms = Terms(found.cost, found.capacity, about.alpha, about.rho)
    components = study.network.components or (about.agents,)
    setting = Setting(
        about.agents, about.producers, study.horizon, homogeneous=len(world) == 1, components=components, terms=terms
    )
    return world, found, setting
