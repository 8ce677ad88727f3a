"""The one way out of the secret. `release` names stretches of an arm's rewards and what to pay for each; the door looks up what
was asked for, checks it, books it, and adds noise. Here and nowhere else.

Values and noise are integers on the grid (UNIT per reward of 1.0). The cover of a sum is the numbers of the first and the last
reward in it, counted by the arm's own pulls; how far one of them moves it is a fact of the problem. Both are true whatever an
algorithm says, and the noise follows from them and the price. Its kind is the algorithm's mechanism: see mechanisms/.

If anything is wrong with what was named, nothing of that turn leaves. A deployed agent raises at once; a compiled run notes it
and raises at its end, without results.

The noise of a simulation is keyed. `exact.py` draws that of a deployed agent.
"""

from coterie.kernel import UNIT, node
from coterie.privacy.ledger import book
from coterie.privacy.secret import keep_point, reach_of
from coterie.privacy.stretch import NOW, START, keep_of, since_of, until_of

FAULTS = {
    1: "more entries than there is room for",
    2: "an arm, a mark or a chain that does not exist",
    4: "a price that is not above 0, or so low that its noise cannot be drawn",
    8: "a stretch that ends before it begins",
    16: "a stream that does not begin at the start, outgrows its length or changes its price",
    32: "a plan with more entries than arms, an arm that does not exist, fewer than 0 pulls or more than the arm allows, "
    "or, of a peer that commits, no pull at all",
    64: "a message about an arm that does not exist",
}
ROOM, RANGE, PRICE, ORDER, STREAM, PLAN, MESSAGE = FAULTS
# Least price of a sum of reach 1: its noise then stays within 2^51 steps of the grid. The least epsilon (`limits`) can still be
# shared out among 500 releases.
FINEST = 2.0**-29


def why_refused(refused: int) -> str:
    return "; ".join(text for bit, text in FAULTS.items() if refused & bit)


@node
def look_up(out, secret, ledger, arms, paired, streamed=True):
    """Put into each entry what was asked for, what it covers and how far one reward moves it; then move the marks.

    paired, streamed: what a price pays for may be a pair, or a stream. They are constants of an engine.
    """
    if out.each != 0.0:
        look_up_each(out, secret, arms, paired)
    elif out.entries == 1 and not paired and (len(out.move_arm) == 0 or out.moves == 0):  # the common case among peers
        fault = fill_in(out, secret, ledger, arms, streamed, 0)
        if fault == 0 and keep_of(out.stretch[0]) >= 0:
            keep_point(secret, out.arm[0], keep_of(out.stretch[0]))
        if fault != 0:
            refuse(out, secret, fault)
    elif out.entries != 0 or (len(out.move_arm) > 0 and out.moves > 0):
        look_up_all(out, secret, ledger, arms, paired, streamed)


@node
def refuse(out, secret, fault):
    """A fault lets nothing out, not even what was looked up already."""
    secret.refused |= fault
    wipe(out)


@node
def wipe(out):
    """What was looked up and has no noise yet is gone."""
    for e in range(len(out.value)):
        out.value[e] = 0
    clear(out)


@node
def clear(out):
    """Before `release`, whose view of `out` has no values in it."""
    out.entries, out.moves, out.each = 0, 0, 0.0


@node
def fill_in(out, secret, ledger, arms, streamed, e):
    """Of entry e; returns what is wrong with it."""
    marks, k, price, chain = secret.mark_total.shape[1], out.arm[e], out.price[e], out.chain[e]
    since, until = since_of(out.stretch[e]), until_of(out.stretch[e])
    inside = (START <= since < marks) & (until < marks) & (keep_of(out.stretch[e]) < marks)
    if not (inside & (0 <= k < arms) & (0 <= chain < ledger.loss.shape[1])):
        return RANGE
    reach = reach_of(secret, k)
    if not (price > 0.0 and price >= FINEST * reach * (secret.norm if streamed else 1.0)):
        return PRICE
    last, total = secret.count[k], secret.total[k]
    before, known = 0, 0
    if marks > 0:
        if until >= 0:
            last, total = secret.mark_count[k, until], secret.mark_total[k, until]
        if since >= 0:
            before, known = secret.mark_count[k, since], secret.mark_total[k, since]
    if since == NOW:
        before, known = secret.count[k], secret.total[k]
    if before > last:
        return ORDER
    if streamed and secret.most > 0:
        changed = (ledger.entries[k, 0] > 0) & (ledger.loss[k, 0] != price)
        if changed | (since != START) | (until >= 0) | (chain != 0) | (last > secret.most):
            return STREAM
        if last > 0:  # an entry of a stream says how far it has come, and covers all that the stream can hold
            before, last = last - 1, secret.most
    out.first[e], out.last[e], out.value[e], out.sensitivity[e] = before + 1, last, total - known, reach
    return 0


@node
def look_up_each(out, secret, arms, paired):
    """All entries at one price, each since mark 0, which moves to the present. Loops without branches."""
    price, reach = out.each, secret.reach
    fault = ROOM if out.entries < 0 or (2 if paired else 1) * out.entries > len(out.arm) or out.moves > 0 else 0
    fault |= (STREAM if secret.most > 0 else 0) | (RANGE if secret.mark_total.shape[1] == 0 else 0)
    for e in range(out.entries if fault == 0 else 0):
        fault |= RANGE if (out.arm[e] < 0) | (out.arm[e] >= arms) else 0
    if not (price > 0.0 and price >= FINEST * reach):
        fault |= PRICE
    for e in range((2 if paired else 1) * out.entries if fault == 0 else 0):
        out.chain[e], out.price[e] = 0, price
    for e in range(out.entries if fault == 0 else 0):
        out.sensitivity[e] = secret.spans[out.arm[e]] if len(secret.spans) > 0 else reach
    for e in range(out.entries if fault == 0 else 0):
        k = out.arm[e]
        count, total = secret.count[k], secret.total[k]
        out.first[e], out.last[e], out.value[e] = secret.mark_count[k, 0] + 1, count, total - secret.mark_total[k, 0]
        secret.mark_count[k, 0], secret.mark_total[k, 0] = count, total
    if paired and fault == 0:
        spread_pairs(out, True)
    if fault != 0:
        refuse(out, secret, fault)


@node
def look_up_all(out, secret, ledger, arms, paired, streamed):
    fault = 0
    if out.entries < 0 or (2 if paired else 1) * out.entries > len(out.arm) or out.moves > len(out.move_arm):
        fault = ROOM
    for e in range(out.entries if fault == 0 else 0):
        fault |= fill_in(out, secret, ledger, arms, streamed, e)
        for before in range(e if streamed and secret.most > 0 else 0):  # one draw at two prices would cancel out
            fault |= STREAM if out.arm[before] == out.arm[e] and out.price[before] != out.price[e] else 0
    for e in range(out.moves if fault == 0 else 0):
        fault |= move_point(secret, arms, out.move_arm[e], out.move_from[e], out.move_to[e])
    for e in range(out.entries if fault == 0 else 0):
        if keep_of(out.stretch[e]) >= 0:
            keep_point(secret, out.arm[e], keep_of(out.stretch[e]))
    if paired and fault == 0:
        spread_pairs(out, False)
    if fault != 0:
        refuse(out, secret, fault)


@node
def move_point(secret, arms, k, mark, keep):
    marks = secret.mark_total.shape[1]
    if not ((0 <= k < arms) & (0 <= mark < marks) & (0 <= keep < marks)):
        return RANGE
    secret.mark_count[k, keep], secret.mark_total[k, keep] = secret.mark_count[k, mark], secret.mark_total[k, mark]
    return 0


@node
def spread_pairs(out, alike):
    """Entry e becomes 2e, the number of its rewards, and 2e + 1, their sum. From the back, so that nothing is overwritten.

    alike: all have one price and one chain already.
    """
    for back in range(out.entries):
        e = out.entries - 1 - back
        arm, first, last, reach, total = out.arm[e], out.first[e], out.last[e], out.sensitivity[e], out.value[e]
        for place in (2 * e, 2 * e + 1):
            if not alike:
                out.chain[place], out.price[place] = out.chain[e], out.price[e]
            out.arm[place], out.first[place], out.last[place], out.sensitivity[place] = arm, first, last, reach
        out.value[2 * e], out.value[2 * e + 1] = UNIT * (last - first + 1), total
    out.entries *= 2


# --- booking: before any noise is drawn ---------------------------------------------------------------


@node
def book_entries(out, ledger):
    for e in range(out.entries):
        if out.first[e] <= out.last[e]:
            book(ledger, out.arm[e], out.chain[e], out.first[e], out.last[e], out.price[e])


@node
def book_pairs(out, ledger):
    """The two numbers of a pair are one release."""
    for e in range(0, out.entries, 2):
        if out.first[e] <= out.last[e]:
            book(ledger, out.arm[e], out.chain[e], out.first[e], out.last[e], out.price[e])


@node
def book_streams(out, ledger):
    """A stream costs its price once."""
    for e in range(out.entries):
        if out.first[e] <= out.last[e]:
            k, price = out.arm[e], out.price[e]
            ledger.loss[k, 0] = max(ledger.loss[k, 0], price)
            ledger.squares[k, 0] = max(ledger.squares[k, 0], price * price)
            ledger.last[k, 0] = out.last[e]
            ledger.entries[k, 0] += 1


@node
def book_nothing(out, ledger):
    """Others have paid."""


BOOKS = {"entry": book_entries, "pair": book_pairs, "stream": book_streams, "nothing": book_nothing}
