"""Epochs: a server's decision opens one, and it closes when all who report have done so, or in time with a quorum.

    a coordinator  announces, waits for reports, counts those that came in time, and announces again
    its agents     carry out the newest decision there is; a plan that a newer one overtakes is dropped without a trace
    no coordinator every agent counts all reports itself, in the order of the broker's stream; where not all come in time, the
                   first `close` that has a quorum before it ends the epoch for everyone
    alone          an agent with a server of its own
    sealed         around a coordinator that is to open the sum of all reports and read none (see sealed)

Who reports answers every epoch, with b"" where it has nothing to say. A report of the horizon's number says that no more will
come. A report for an epoch that is closed is void.
"""

from coterie.deploy.clocks.reports import Hall, Reporters
from coterie.deploy.clocks.sealed import Sealed, SealedHall, is_sealed
from coterie.deploy.federation import Federation
from coterie.deploy.message import Message
from coterie.deploy.node import Node
from coterie.deploy.roles import SERVER
from coterie.deploy.secure.sums import Tally
from coterie.engines.rehearsal import rounds_of


async def live(node: Node, federation: Federation) -> None:
    if federation.method().structure == "alone":
        await _by_itself(node, federation)
    elif node.agent is None:
        await (_lead_sealed if is_sealed(federation) else _lead)(node, federation)
    elif node.server is None:
        await _follow(node, federation)
    else:
        await _together(node, federation)


# --- around a coordinator -----------------------------------------------------------------------------


async def _lead(node: Node, federation: Federation) -> None:
    hall = Hall(node, federation)
    if node.t == 0:
        await node.commit(lambda: _announce(node))
    while await hall.closed():

        def turn() -> None:
            hall.count()
            _announce(node)

        await node.commit(turn)
    node.over = True


async def _lead_sealed(node: Node, federation: Federation) -> None:
    hall = SealedHall(node, federation)
    if node.t == 0:
        await node.commit(lambda: _announce(node))
    while await hall.closed():
        chosen = await hall.roll()
        tally = await hall.answered(chosen) if chosen else None

        def turn(chosen: list[str] = chosen, tally: Tally | None = tally) -> None:
            hall.count_sum(chosen, tally)
            _announce(node)

        await node.commit(turn)
    node.over = True


def _announce(node: Node) -> None:
    t = node.t + 1
    node.say("decision", node.announce(t), turn=t)


async def _follow(node: Node, federation: Federation) -> None:
    assert federation.coordinator is not None
    reporters, server = Reporters(federation), federation.coordinator.name
    sealed = Sealed(node, federation, server) if is_sealed(federation) else None
    while not _is_last(node, federation):
        if sealed:
            await sealed.answer()
        if (decision := _newest(node)) is None:
            await node.arrival()
            continue
        t = decision.turn
        if node.stopped:
            node.skip(decision)
            node.say("report", b"", to=server, turn=t)
            await node.commit()
        elif node.hear(decision):
            node.begin(t)
            if _is_last(node, federation):
                break
            if await _played(node, sealed):
                await node.end(t, lambda: _report(node, reporters, server, sealed))
            else:
                node.drop()
    node.over = True
    node.say("report", b"", to=server, turn=federation.horizon)
    await node.commit()
    while sealed:  # others may still need its pieces
        await sealed.answer()
        await node.arrival()


async def _played(node: Node, sealed: Sealed | None) -> bool:
    """All rewards of the plan are there, and no newer decision. Rolls are answered meanwhile."""
    while not await node.played(unless=lambda: _newest(node) is not None or bool(sealed and sealed.rolls())):
        if not sealed or not sealed.rolls():
            return False
        await sealed.answer()
    return True


def _newest(node: Node) -> Message | None:
    """The newest decision; older ones are void."""
    decisions = sorted((word for word in node.arrived if word.kind == "decision"), key=lambda word: word.turn)
    for word in decisions:
        if word is not decisions[-1] or word.turn <= node.t:
            node.skip(word)
    return decisions[-1] if decisions and decisions[-1].turn > node.t else None


def _is_last(node: Node, federation: Federation) -> bool:
    """A plan that the horizon cuts is not observed, and nothing leaves."""
    pulls = rounds_of(node.agent.plan)
    return node.playing and int(node.agent.secret.count.sum()) + pulls > federation.horizon


def _report(node: Node, reporters: Reporters, to: str | None, sealed: Sealed | None = None) -> None:
    if node.name in reporters.of(node.t):
        said = node.agent.speak(node.t)
        if sealed and said:
            node.say("share", sealed.share(node.t, said), to=to)
        else:
            node.say("report", said, to=to)


# --- without a coordinator ----------------------------------------------------------------------------


async def _together(node: Node, federation: Federation) -> None:
    assert node.server is not None
    hall, reporters, answered = Hall(node, federation), Reporters(federation), 0
    if node.server.t == 0:
        await node.commit(lambda: _decide(node))

    def turn() -> None:
        hall.count()
        _decide(node)

    while not node.over:
        t = node.server.t
        if node.stopped and answered < t:
            answered = t
            await node.commit(lambda: _answer_nothing(node))
        elif node.agent.t < t and not node.stopped:
            node.begin(t)
            if _is_last(node, federation):
                node.over = True
                await node.commit(lambda: node.say("report", b"", turn=federation.horizon))
            elif await node.played(unless=hall.ended):
                await node.end(t, lambda: _report(node, reporters, None))
            else:
                node.drop()
                if hall.ended():
                    await node.commit(turn)
        elif await hall.closed():
            await node.commit(turn)
        else:
            node.over = True


def _answer_nothing(node: Node) -> None:
    assert node.server is not None
    node.say("report", b"", turn=node.server.t)


def _decide(node: Node) -> None:
    """What the server announces is heard here and nowhere else."""
    assert node.server is not None
    t = node.server.t + 1
    node.agent.hear(t, SERVER, node.announce(t) or b"")


# --- alone --------------------------------------------------------------------------------------------


async def _by_itself(node: Node, federation: Federation) -> None:
    assert node.server is not None
    if node.server.t == 0:
        await node.commit(lambda: _decide(node))

    def turn() -> None:
        assert node.server is not None
        report = node.agent.speak(node.t)
        if report:
            node.server.hear(node.t, node.name, report)
        node.close()
        _decide(node)

    while not (node.stopped or _is_last(node, federation)):
        if not node.playing:
            node.begin(node.server.t)
        if _is_last(node, federation):
            break
        if await node.played():
            await node.end(node.t, turn)
        else:
            node.drop()
    node.over = not node.stopped
