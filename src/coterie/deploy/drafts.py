"""A federation file to fill in: what `coterie plan --federation` writes, and what decides whether a coordinator is needed."""

from typing import Any

from coterie.algorithms import find
from coterie.building import build
from coterie.contract import Setting
from coterie.deploy.deployable import structure_of
from coterie.deploy.federation import federation_text
from coterie.errors import UsageError

MEMBER = '{{ name = "{name}", signs = "...", connects = "..." }}'
DRAFT = """\
# A federation as planned. Replace all that is written as ..., and names by your own; then: coterie federation check {file}
{head}
# A reward counts at the end of its window: nothing shows when it came. "at once": you vouch that no delay depends on it.
[rewards]
low = 0.0
high = 1.0
within = "..."          # such as "28 days", or "at once"

[broker]
address = "tls://...:4222"
ca = "ca.pem"           # of the broker; beside this file
{epochs}"""
EPOCHS = """
# An epoch ends when all have reported, or after `within` once `quorum` of them have.
[epochs]
quorum = {quorum}
within = "1 hour"
"""


def structure(algorithm: dict[str, Any], agents: int, arms: int, horizon: int) -> str:
    """Who talks to whom under the algorithm that this table names: "server", "peers", "synchronise" or "alone"."""
    entry = find(algorithm["name"])
    options = entry.options(**{key: value for key, value in algorithm.items() if key != "name"})
    return structure_of(build(entry, options, Setting(agents, arms, horizon)))


def draft(algorithm: dict[str, Any], agents: int, arms: int, horizon: int, file: str) -> str:
    """The text of a file for so many, with what only they know left open."""
    kind = structure(algorithm, agents, arms, horizon)
    if kind == "alone":
        raise UsageError("--federation must be left out here: the plan is that each stays alone")
    head = federation_text({"arms": [f"arm {k}" for k in range(1, arms + 1)], "horizon": horizon})
    members = [MEMBER.format(name=f"agent-{i}") for i in range(1, agents + 1)]
    head += "".join(
        [
            "\n# One line from each, as `coterie agent init` prints it.\nagents = [\n",
            *(f"    {one},\n" for one in members),
            "]\n",
        ]
    )
    if kind == "server":
        head += f"coordinator = {MEMBER.format(name='centre')}\n"
    head += "\n" + federation_text({"algorithm": algorithm}).lstrip()
    epochs = EPOCHS.format(quorum=max(2, (2 * agents + 2) // 3)) if kind in ("server", "synchronise") else ""
    return DRAFT.format(file=file, head=head, epochs=epochs)
