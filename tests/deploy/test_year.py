"""Thousands of hours of a deployed federation with hundreds of accidents, and mutants of it that must be found."""

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from year import faults
from year.story import KINDS, TURNS, Year
from year.witness import Violation

from coterie.deploy.node import Node
from coterie.deploy.stores import Store, ledger
from coterie.deploy.wire.accept import Gate
from coterie.deploy.wire.envelope import decode
from coterie.deploy.wire.post import Post
from coterie.deploy.wire.wire import Unreachable

SEEDS, HOURS = 40, 250
GROUP = len(TURNS)  # seeds, so that every kind of federation has its turn


@pytest.mark.parametrize("first", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(GROUP, SEEDS, GROUP))])
def test_nothing_is_violated_in_two_thousand_hours(tmp_path, first):
    happened, answers = Counter(), 0
    for seed in range(first, first + GROUP):
        year = Year(seed, HOURS, tmp_path).play()
        happened += year.faults
        answers += year.asked
    assert GROUP * HOURS >= 2000
    assert happened.total() >= 200
    assert len(happened) >= len(faults.FAULTS) - 4  # those that are rare
    assert answers > 2000


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_violated_in_years(tmp_path, kind):
    for seed in range(1000, 1100):
        Year(seed, 2 * HOURS, tmp_path, kind).play()


def test_every_kind_of_federation_has_its_turn():
    assert set(TURNS) == set(KINDS) and SEEDS % GROUP == 0


def told(seed, hash_seed):
    """What the command tells of a year, with the digest of all that was said in it."""
    words = [sys.executable, Path(__file__).parent / "year", "--seed", str(seed), "--hours", "200"]
    done = subprocess.run(words, env=os.environ | {"PYTHONHASHSEED": hash_seed}, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_a_seed_is_the_same_year_again_in_any_process(tmp_path):
    here = []
    year = Year(3, 200, tmp_path, tell=here.append).play()
    there = told(3, "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1")
    assert here == there[:-1] and len(there) >= 10
    assert year.trace.hexdigest()[:16] in there[-1]


# --- mutants ------------------------------------------------------------------------------------------


def acknowledged_before_commit(monkeypatch):
    """A group is answered, and committed with the next."""
    real = Store._commit

    def late(self, group):
        if self._connection.in_transaction:
            self._connection.execute("COMMIT")
        plain = self._execute
        self._execute = lambda statement, *values: None if statement == "COMMIT" else plain(statement, *values)
        try:
            return real(self, group)
        finally:
            self._execute = plain

    monkeypatch.setattr(Store, "_commit", late)


def noise_drawn_at_every_sending(monkeypatch):
    """A word that is sent again has other noise."""
    real, sent = ledger.outbox, Counter()

    def outbox(c, lane, after=0):
        for word in real(c, lane, after):
            sent[word.body] += 1
            again = sent[word.body] > 1 and decode(word.body).kind in ("say", "report")
            yield word._replace(body=word.body[:-1] + bytes([word.body[-1] ^ 1])) if again else word

    monkeypatch.setattr(ledger, "outbox", lambda *about: list(outbox(*about)))


def noise_sent_before_it_is_kept(monkeypatch):
    """After a crash in between it is drawn again."""
    real = Node._commit

    async def early(self, released):
        if self.words and released:
            said, words = self.s + 1, tuple(self.words)

            def put(c):
                head, last = ledger.head_after(ledger.head(c), said, self.t, released), ledger.lanes(c)
                for word in words:
                    last[word.lane] = last.get(word.lane, 0) + 1
                    body = self.seal(word.lane, last[word.lane], word, head)
                    ledger.put_outbox(c, [ledger.Said(word.lane, last[word.lane], body)])

            await self.stores.ledger.do(put)
            self.words.clear()
            self.outgoing.tell()
            await self.sleep(1.0)
        await real(self, released)

    monkeypatch.setattr(Node, "_commit", early)


def incarnation_not_checked_by_who_hears(monkeypatch):
    monkeypatch.setattr(Gate, "note", lambda *_: None)


def incarnation_not_checked_by_who_speaks(monkeypatch):
    """Whatever is signed with the own key is taken for the own word."""

    async def own_word(self, lane, envelope, beyond):
        return decode(envelope).seq

    monkeypatch.setattr(Post, "_own_word", own_word)


def junk_not_stepped_over(monkeypatch):
    """It is waited for until it goes away."""
    real = Post._look

    async def look(self, lane):
        last = await self.wire.last(lane.subject)
        if last.number and not self._is_mine(lane, last.data):
            raise Unreachable("junk")
        await real(self, lane)

    monkeypatch.setattr(Post, "_look", look)


def ledger_committed_first(monkeypatch):
    real, held = Node._patiently, {}

    async def swapped(self, store, work):
        if store is self.stores.rewards:
            held[self] = work
            return None
        answer = await real(self, store, work)
        if self in held:
            await real(self, self.stores.rewards, held.pop(self))
        return answer

    monkeypatch.setattr(Node, "_patiently", swapped)


MUTANTS = {  # what is said of it, and the seed that is tried first, since it finds it soon
    acknowledged_before_commit: ("lost|not on its disk|does not follow|is not there|does not have it", 0),
    noise_drawn_at_every_sending: ("two values for word", 0),
    noise_sent_before_it_is_kept: ("rests on a release that is not on its disk", 2),
    incarnation_not_checked_by_who_hears: ("from start", 4),
    incarnation_not_checked_by_who_speaks: ("two histories|never said|committed twice|two values", 8),
    junk_not_stepped_over: ("has not heard word|is at turn", 3),
    ledger_committed_first: ("the secret of state", 0),
}


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_a_mutant_is_found(tmp_path, monkeypatch, mutant):
    mutant(monkeypatch)
    words, first = MUTANTS[mutant]
    for seed in (*range(first, SEEDS), *range(first)):
        try:
            Year(seed, HOURS, tmp_path).play()
        except Violation as violation:
            assert re.search(words, str(violation)), violation
            assert f"python tests/deploy/year --seed {seed} " in str(violation)
            return
    raise AssertionError("it was not found")
