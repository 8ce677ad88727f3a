"""From an algorithm's entry to the method of one setting: what can be checked without running it, and what its ways out are."""

from collections.abc import Iterator
from typing import Any

from coterie import contract
from coterie.contract import Algorithm, Entry, Method, Setting
from coterie.errors import AlgorithmError
from coterie.privacy.mechanisms import MECHANISMS
from coterie.privacy.statement import ONE_ORDER, UNIT_OF_PRIVACY, Doors


def build(entry: Entry, options: Any, setting: Setting) -> Method:
    """The method of an entry for a setting, with what can be checked without running it."""
    method = entry.build(options, setting)
    for fault in (method.claim.fault, *role_faults(method.node), *role_faults(method.server), *server_faults(method, setting)):
        if fault:
            raise AlgorithmError(f"{entry.name}: {fault}")
    if not method.node.mechanism.single and not entry.build.__module__.startswith("coterie.algorithms."):
        uncounted = "nobody counts whose shares are in a sum"
        raise AlgorithmError(f"{entry.name}: noise in shares is for built-in algorithms: {uncounted}")
    return method


def role_faults(role: Algorithm | None) -> Iterator[str]:
    if role and (role.peek or role.overhear) and not role.caveat:
        yield f"caveat of {role.name} must say why a hook may read the secret, got ''"
    if role and MECHANISMS.get(role.mechanism.name) is not role.mechanism:
        yield f"mechanism of {role.name} must be one of {', '.join(MECHANISMS)}, got one of its own: nobody has proved it"


def server_faults(method: Method, setting: Setting) -> Iterator[str]:
    """Whose door counts, and who is handed what, must be told by both sides alike."""
    node, server = method.node, method.server or Algorithm("no_server")
    sealed, whole = not node.mechanism.single, method.reporters in (0, setting.agents)
    if node.trusts != server.trusted:
        yield f"trusts and trusted must be both set or neither, got {node.trusts} and {server.trusted}"
    if sealed != server.sums or (server.mechanism.covers == "nothing") != server.sums or node.mechanism.covers == "nothing":
        yield "noise in shares, and a server that is handed sums with mechanism sums, must go together"
    if (node.trusts and sealed) or node.sums or node.trusted or server.trusts:
        yield "an agent either trusts its server or shares its noise; only a server is handed what others have"
    if sealed and (method.structure != "server" or not whole):
        yield "noise in shares needs a server to which all agents report"
    if sealed and not setting.agents // 2 < method.quorum <= setting.agents:
        yield f"quorum must be more than half of {setting.agents} agents with noise in shares, got {method.quorum}"
    if sealed and not 2 <= method.holders <= method.quorum:
        yield f"holders must be in 2..{method.quorum} with noise in shares, got {method.holders}"
    if node.trusts and node.release is not contract.release:
        yield "an agent that trusts its server must have no release: nobody accounts for it"


def is_silent(method: Method) -> bool:
    """Whether nothing is ever sent, not even by those who lie or leave."""
    role = method.node
    quiet = role.speak is contract.speak and role.leave is contract.leave and role.lie is contract.lie
    return quiet and method.server is None and method.meetings == 0


def doors_of(method: Method, setting: Setting) -> Doors:
    """What a method's ways out are, whatever its file says about them."""
    role, voids = method.node, []
    if role.mechanism.adds_up == "never":
        voids.append("no finite epsilon holds: one draw of noise for all releases of an arm cancels out between them")
    if role.caveat and not is_silent(method):
        voids.append("no finite epsilon holds: what is sent rests on choices, and these rest on raw rewards")
    if setting.unbounded:
        voids.append(setting.unbounded)
    return Doors(
        structure="alone" if is_silent(method) else method.structure,
        single=role.mechanism.single,
        trusted=role.trusts,
        caveat=role.caveat,
        void="; ".join(voids),
        unit=ONE_ORDER if setting.terms else UNIT_OF_PRIVACY,
        honest=0 if role.mechanism.single else method.holders,
        quorum=method.quorum,
        agents=setting.agents,
    )
