"""What must always hold. It is looked at whenever something is committed, sent, answered or started, and at the end.

Nothing here asks a node what it thinks of itself: it reads what is on disk, what the broker has, and what applications got.
"""

import numpy as np
from msgspec import msgpack

from coterie.deploy.journal import ToldChance, replay, unpack
from coterie.deploy.roles import make_roles
from coterie.deploy.stores import ledger, rewards
from coterie.deploy.stores.chain import digest
from coterie.deploy.wire.envelope import SIGNATURE, decode
from coterie.errors import StateError
from coterie.privacy.accountant import spent

RELEASES = f"SELECT number, {ledger.COLUMNS}, hash FROM release WHERE number > ? ORDER BY number"
OUTBOX = "SELECT number, lane, seq, body FROM outbox WHERE number > ? ORDER BY number"
INBOX = "SELECT number, lane, seq, body FROM inbox WHERE number > ? ORDER BY number"
FURTHEST = "SELECT seq, body FROM inbox WHERE lane = ? AND number < ? ORDER BY seq DESC LIMIT 1"
USED = "SELECT arm, count(*), sum(value) FROM decision WHERE used <= ? GROUP BY arm"


class Violation(AssertionError):
    """Something that must always hold does not."""


class Witness:
    def __init__(self, year):
        self.year, self.federation = year, year.federation
        self.parents = {}  # of each head of a chain, by member: the head before it
        self.tips = {}  # the furthest head that anybody could see, by member
        self.servers = {}  # what all have counted until an epoch, where there is no coordinator
        self.said = {}  # (member, lane, seq): all that was ever committed as that word, by any copy

    def check(self, holds, text):
        if not holds:
            self.year.fail(Violation(f"{text} (hour {self.year.now() / 3600:.2f})"))

    # --- commits --------------------------------------------------------------------------------------

    def committed(self, process, store):
        c, seen = store._connection, process.folder.seen
        if store.name == "ledger.db":
            self._look_at_releases(process, c, seen)
            self._look_at_words(process, c, seen)
            self._look_at_inbox(process, c, seen)
            self._look_at_state(process, c, seen)

    def _look_at_releases(self, process, c, seen):
        """The chain grows at its end; what is paid never falls, and never exceeds what is allowed."""
        rows = c.execute(RELEASES, (seen.releases,)).fetchall()
        for number, *row, link in rows:
            before = seen.head or ledger.beginning(c)
            self.check(number == seen.releases + 1, f"{process.name}: release {number} follows {seen.releases}")
            self.check(link == digest(before, *row), f"{process.name}: release {number} does not follow from the one before")
            self.parents.setdefault(process.name, {})[link] = before
            seen.releases, seen.head = number, link
        if rows:
            self._look_at_budget(process, c, seen)

    def _look_at_budget(self, process, c, seen):
        epsilon, delta = self.federation.allowance
        now = spent(ledger.spent(c), delta)
        self.check(now >= seen.spent, f"{process.name}: what was spent has fallen")
        self.check(now <= epsilon or self.federation.privacy == "none", f"{process.name}: spent {now}, allowed {epsilon}")
        seen.spent = now

    def _look_at_words(self, process, c, seen):
        """A word of a lane is one word for ever."""
        for number, lane, seq, body in c.execute(OUTBOX, (seen.words,)).fetchall():
            self.check((lane, seq) not in seen.said, f"{process.name}: word {seq} of {lane} was committed twice")
            seen.said[lane, seq] = body
            seen.words = number
            self.said.setdefault((process.name, lane, seq), set()).add(body)

    def _look_at_inbox(self, process, c, seen):
        """What is heard was said; and no word of an earlier start comes after one of a later."""
        for number, lane, seq, body in c.execute(INBOX, (seen.heard,)).fetchall():
            way, _, sender = lane.partition(".")
            seen.heard = number
            if sender not in self.year.liars:
                said = self.said.get((sender, way if way == "say" else f"to.{process.name}", seq), ())
                self.check(body in said, f"{process.name} has heard as word {seq} of {lane} what {sender} never said")
            last, furthest = c.execute(FURTHEST, (lane, number)).fetchone() or (0, b"")
            if furthest:
                now, then = decode(body).incarnation, decode(furthest).incarnation
                self.check(
                    now >= then if seq > last else now <= then,
                    f"{process.name} has heard word {seq} of {lane} from start {now}, beside word {last} from start {then}",
                )

    def _look_at_state(self, process, c, seen):
        """Every reward that a state has used is in its sums, once."""
        state = ledger.last_state(c)
        if state is None or state.s == seen.s:
            return
        self.check(state.s == seen.s + 1, f"{process.name}: state {state.s} follows {seen.s}")
        seen.s = state.s
        self._look_at_sums(process, seen)
        self._look_at_server(process, state)

    def _look_at_server(self, process, state):
        """Where all count for themselves they count the same, as long as there is one stream and one of each."""
        node, one = process.node, not any(member.twinned for member in self.year.members.values())
        if node and node.agent and node.server and one and not self.year.broker.losses:
            mine = state.parts["server/open"]
            known = self.servers.setdefault(node.server.t, mine)
            self.check(mine == known, f"{process.name} counts differently from others in epoch {node.server.t}")

    def _look_at_sums(self, process, seen):
        c = process.folder.files["rewards.db"]
        kept = rewards.secret(c, seen.s)
        if kept is None:
            self.check(not seen.s, f"{process.name}: the secret of state {seen.s} is not there")
            return
        sums = {arm: (count, total) for arm, count, total in c.execute(USED, (seen.s,))}
        found = msgpack.decode(kept).get("agent")
        if found is not None:
            record = np.frombuffer(found, self.year.secret_type)[0]
            for arm in range(len(self.federation.arms)):
                mine = int(record["count"][arm]), int(record["total"][arm])
                self.check(mine == sums.get(arm, (0, 0)), f"{process.name}: arm {arm} has {mine}, and was told {sums.get(arm)}")

    # --- what others see ------------------------------------------------------------------------------

    def sends(self, process, subject, data):
        """Only what is on disk leaves, as it is there, with all that it rests on."""
        envelope = decode(data[SIGNATURE:])
        place = process.subjects[subject], envelope.seq
        c = process.folder.files["ledger.db"]
        row = c.execute("SELECT body FROM outbox WHERE lane = ? AND seq = ?", place).fetchone()
        self.check(row is not None, f"{process.name} sends word {place[1]} of {place[0]}, which is not on its disk")
        same = row is None or row[0] == data[SIGNATURE:]
        self.check(same, f"{process.name} sends two values for word {place[1]} of {place[0]}")
        known = envelope.head == ledger.beginning(c) or envelope.head in self.parents.get(process.name, {})
        self.check(known, f"{process.name} sends what rests on a release that is not on its disk")

    def sent(self, process, subject, data):
        """It is in the stream. All that can be seen of a member is of one history, whoever speaks with its keys."""
        self.year.trace.update(data)
        name, head = process.name, decode(data[SIGNATURE:]).head
        tip = self.tips.setdefault(name, head)
        if self._follows(name, head, tip):
            self.tips[name] = head
        elif process.folder.seen.losses == self.year.broker.losses or not process.member.twinned:
            self.check(self._follows(name, tip, head), f"two histories of {name} can be seen")

    def _follows(self, name, head, before):
        parents = self.parents.get(name, {})
        while head != before and head in parents:
            head = parents[head]
        return head == before

    def answered(self, process, key, decision):
        c = process.folder.files["rewards.db"]
        written = c.execute("SELECT 1 FROM decision WHERE id = ?", (decision.id,)).fetchone()
        if decision.learned or written:  # without a disk an answer is no decision that anybody counts on
            process.folder.seen.decided[decision.id] = key, decision.arm

    def rewarded(self, process, id, steps, wrong):
        told = process.folder.seen.told
        self.check(not (wrong and id in told), f"{process.name}: another reward was taken for a decision that had one")
        told[id] = steps

    # --- the whole of a folder ------------------------------------------------------------------------

    def started(self, process):
        """After whatever has happened to it: all that was answered is there."""
        self.look_at_all(process)

    def look_at_all(self, process):
        (c, book), seen = process.folder.files.values(), process.folder.seen
        rows = {row[0]: row for row in c.execute("SELECT id, key, arm, value, told FROM decision")}
        for id, (key, arm) in seen.decided.items():
            self.check(rows.get(id, (0, 0, 0))[1:3] == (key, arm), f"{process.name}: a decision was lost or changed: {key}")
        for id, steps in seen.told.items():
            kept = id in rows and rows[id][3:5] == (steps, 1)
            self.check(kept, f"{process.name}: an acknowledged reward was lost or changed")
        self.check(len({row[1] for row in rows.values()}) == len(rows), f"{process.name}: a key has two decisions")
        try:
            head = ledger.verify_chain(book)
        except StateError as error:
            self.check(False, f"{process.name}: {error}")
        else:
            self.check(head == (seen.head or ledger.beginning(book)), f"{process.name}: the chain has lost its end")
        self._look_at_sums(process, seen)

    def tell_again(self, process):
        """The journal, told to agents in memory, ends in the bytes on disk."""
        c, book = process.folder.files.values()
        state, notes = ledger.last_state(book), unpack(ledger.journal(book))
        if state is None:
            return
        chances = {role: ToldChance([note for note in notes if note[0] == role]) for role in ("agent", "server")}
        used = {place: (arm, value) for place, arm, value in c.execute("SELECT place, arm, value FROM decision WHERE used > 0")}
        roles = make_roles(self.federation, process.name, chances, [])
        replay(notes, roles, used)
        for role, who in roles.items():
            same = {f"{role}/{part}": data for part, data in who.give().items()}.items() <= state.parts.items()
            self.check(same, f"{process.name}: the journal of its {role} does not end where its ledger does")
            self.check(who.secret.tobytes() in rewards.secret(c, state.s), f"{process.name}: the journal has other sums")
