"""A node goes on where its stores stand, or begins: what a start reads, and what it refuses to rest on."""

from typing import TYPE_CHECKING

from coterie.deploy.mailbox import Mailbox
from coterie.deploy.stores import ledger, rewards, secrets
from coterie.errors import StateError

if TYPE_CHECKING:
    from coterie.deploy.node import Node, Unseal


async def recover(node: "Node", unseal: "Unseal") -> None:
    stores = node.stores
    if await stores.ledger.do(ledger.whose) is None and await stores.rewards.do(secrets.is_there):
        raise StateError("the ledger that these rewards had is gone; without it nobody knows what was released and spent")
    facts = facts_of(node)
    await stores.ledger.do(lambda c: ledger.introduce(c, facts))
    await stores.ledger.do(ledger.verify_chain)
    latest = await stores.rewards.do(rewards.latest)
    node.check_clock(latest or 0.0)
    state = await stores.ledger.do(ledger.last_state)
    node.s = state.s if state else 0
    await recover_secret(node, state)
    await stores.rewards.do(lambda c: rewards.drop_after(c, node.s))
    if node.persons is not None:
        await node.persons.introduce(await stores.rewards.do(rewards.learning))
    for reward in await stores.rewards.do(rewards.queue):
        node.desk.add(reward)
    if node.agent and node.agent.budget:
        node.agent.budget.spend(await stores.ledger.do(ledger.spent))
        node.seen.paid = len(node.agent.budget.events)
    node.withheld, node.stopped = await stores.ledger.do(lambda c: (ledger.withheld(c), ledger.stopped(c)))
    await recover_words(node, unseal)
    await recall_for_pages(node)


def facts_of(node: "Node") -> ledger.Facts:
    """Whose ledger it must be."""
    federation, (epsilon, delta) = node.federation, node.federation.allowance
    promised = epsilon if federation.privacy != "none" else None
    return ledger.Facts(federation.run, node.name, federation.arms, federation.algorithm.name, promised, delta)


async def recover_secret(node: "Node", state: ledger.State | None) -> None:
    """That of the last state; the first one says whose rewards these are."""
    found = await node.stores.rewards.do(lambda c: secrets.check(c, node.whose, len(node.federation.arms)))
    if found and max(found) > node.s + 1:
        raise StateError("the ledger is older than the rewards beside it; a ledger that was restored cannot go on")
    if state is None and node.s not in found:
        await node.stores.rewards.do(lambda c: secrets.introduce(c, node.secret))
        return
    if node.s not in found:
        raise StateError(f"the secret of state {node.s} must be there, and rewards.db does not have it")
    node.origin, node.secret = found[node.s].origin, secrets.pack(found[node.s])
    if state is not None:
        node.kept = state.parts
        node.go_back()


async def recover_words(node: "Node", unseal: "Unseal") -> None:
    """Those that came and were not heard, and the last of each member for the page."""
    store = node.stores.ledger
    node.mail = Mailbox(await store.do(ledger.taken))
    node.seen.recall(unseal(row.lane, row.body) for row in await store.do(ledger.last_words))
    for row in await store.do(ledger.inbox):
        node.seen.recall(node.mail.arrive(unseal(row.lane, row.body)))


async def recall_for_pages(node: "Node") -> None:
    counts = await node.stores.rewards.do(rewards.counts)
    node.seen.choices.update({arm: answers for arm, (answers, _) in counts.items()})
    node.seen.learned = sum(learn for _, learn in counts.values())
    node.seen.waiting = len(await node.stores.rewards.do(rewards.under_way))
    for _, t, release in await node.stores.ledger.do(ledger.releases):
        node.seen.release(t, (release,))
