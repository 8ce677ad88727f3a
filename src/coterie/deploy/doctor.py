"""What is wrong with a member's folder: one line for each thing that can be, and what to do about it.

Nothing is changed, so it may look beside the member at work; of what that one holds it sees one moment. A thing that cannot be
looked at, because another one is wrong, is said to be unknown.
"""

import asyncio
import datetime
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple

from coterie import files
from coterie.deploy.federation import Federation, load_federation
from coterie.deploy.keys import CONNECT, SIGN, Keys, check_private, load_keys
from coterie.deploy.node import CLOCK_SLACK
from coterie.deploy.opening import FILE, TOKEN, Role, who_is
from coterie.deploy.place import RUN, check_run
from coterie.deploy.settings import SETTINGS, Settings, check_persons, check_place, load_settings, persons_path
from coterie.deploy.stores import ledger, persons, rewards, secrets
from coterie.deploy.stores.chain import digest
from coterie.deploy.stores.store import reading
from coterie.deploy.stores.summary import summary_of
from coterie.deploy.wire.broker import ACK_WAIT
from coterie.deploy.wire.envelope import SIGNATURE, is_signed
from coterie.deploy.wire.lanes import Lanes
from coterie.deploy.wire.post import behind, decoded
from coterie.deploy.wire.probe import Told, ends_of_certificates, look
from coterie.errors import AuthError, BudgetError, CoterieError, FencedError, StateError, StorageError, UsageError

GRAVEST_FIRST = (6, 4, 5, 7, 3, 2)
DAYS_LEFT = 14  # of a certificate, at least
BYTES_FREE = 256 << 20
OVERDUE = 60.0  # seconds that a window may be over before somebody has closed it


class Finding(NamedTuple):
    about: str
    state: Literal["good", "bad", "unknown"]
    text: str
    code: int = 0  # of a command that would fail of it


class Case:
    """What was found so far, for what is looked at next."""

    federation: Federation
    keys: Keys
    name: str
    role: Role
    summary: dict[str, Any] | None
    settings: Settings
    told: Told

    def __init__(self, folder: Path):
        self.folder, self.runs = folder, False

    @property
    def ledger(self) -> Path:
        return self.folder / "ledger.db"

    @property
    def rewards(self) -> Path:
        return self.folder / "rewards.db"


class Unseen(Exception):
    """Why a thing cannot be looked at. What is wrong is told elsewhere."""


class Check(NamedTuple):
    """`look` says what is good, or raises what is wrong; `advice` is what to do then; `needs` must be good before."""

    look: Callable[[Case], str]
    advice: str
    needs: tuple[str, ...] = ()


def examine(folder: Path) -> list[Finding]:
    """Everything, in the order in which one thing rests on another."""
    if not folder.is_dir():
        got = "a file" if folder.exists() else "none"
        raise UsageError(f"{folder}: must be the folder of an agent or a coordinator, got {got}")
    case, found = Case(folder), dict[str, Finding]()
    for about, check in CHECKS.items():
        lacking = [need for need in check.needs if found[need].state != "good"]
        if lacking:
            found[about] = Finding(about, "unknown", f"not looked at before this is well: {', '.join(lacking)}")
        else:
            found[about] = _finding(about, check, case)
    return list(found.values())


def code_of(findings: list[Finding]) -> int:
    """The exit code: the gravest of what is wrong; 0: nothing is.

    >>> code_of([Finding("keys", "bad", "", 5), Finding("chain", "bad", "", 4), Finding("disk", "good", "")])
    4
    """
    codes = {finding.code for finding in findings}
    return next((code for code in GRAVEST_FIRST if code in codes), 0)


def _finding(about: str, check: Check, case: Case) -> Finding:
    try:
        return Finding(about, "good", check.look(case))
    except Unseen as why:
        return Finding(about, "unknown", str(why))
    except CoterieError as error:
        code = error.exit_code if error.exit_code in GRAVEST_FIRST else StateError.exit_code
        return Finding(about, "bad", f"{error}. {check.advice}", code)
    except OSError as error:
        line = f"{error.filename or case.folder}: {error.strerror or 'cannot be read'}"
        return Finding(about, "bad", f"{line}. {check.advice}", StorageError.exit_code)


# --- the folder ---------------------------------------------------------------------------------------


def _file(case: Case) -> str:
    case.federation = load_federation(case.folder / FILE)
    return f"{FILE} is that of run {case.federation.run.hex()[:16]}, {case.federation.algorithm.name}"


def _keys(case: Case) -> str:
    case.keys = load_keys(case.folder)
    return f"{SIGN} and {CONNECT} are whole"


def _member(case: Case) -> str:
    case.name, case.role = who_is(case.federation, case.keys, case.folder)
    return f"the file has these keys as those of {case.name}, {'an agent' if case.role == 'agent' else 'the coordinator'}"


def _modes(case: Case) -> str:
    private = [*(case.folder / name for name in (SIGN, CONNECT, TOKEN)), *sorted(case.folder.glob("*.db*"))]
    for path in [case.folder, *filter(Path.is_file, private)]:
        check_private(path)
    return "the folder, its keys, token and stores are for their owner alone"


def _process(case: Case) -> str:
    case.runs = files.in_use(case.folder)
    return "a member runs in this folder" if case.runs else "nobody runs in this folder"


def _run(case: Case) -> str:
    if not (case.folder / RUN).exists():
        return "the folder has not been used yet"
    check_run(case.folder, case.federation, case.name)
    return f"the folder belongs to {case.name} and to this run"


def _disk(case: Case) -> str:
    files.check_writable(case.folder, case.ledger.name, case.rewards.name)
    seconds, free = files.time_of_sync(case.folder), shutil.disk_usage(case.folder).free
    if free < BYTES_FREE:
        raise StorageError(f"{case.folder}: must have {BYTES_FREE >> 20} MB free, got {free >> 20} MB")
    return f"it takes and syncs what is written, in {1000 * seconds:.0f} ms; {free / 1e9:,.1f} GB are free"


# --- what is on it ------------------------------------------------------------------------------------


def _schema(case: Case) -> str:
    there = [path for path in (case.rewards, case.ledger) if path.exists()]
    if len(there) == 1:
        raise StateError(f"{case.folder}: must have both of rewards.db and ledger.db, got only {there[0].name}")
    for path, schema in ((case.rewards, rewards.SCHEMA), (case.ledger, ledger.SCHEMA)):
        if there:
            with reading(path, schema):
                pass
    return "rewards.db and ledger.db are of a form that this version takes" if there else "there is nothing on disk yet"


def _chain(case: Case) -> str:
    case.summary = None
    if not case.ledger.exists():
        return "there is no ledger yet"
    with reading(case.rewards, rewards.SCHEMA) as c:  # before the ledger, which is committed after it
        if (found := c.execute("PRAGMA integrity_check(1)").fetchone()[0]) != "ok":
            raise StateError(f"{case.rewards}: is damaged ({found})")
        newest = rewards.newest_secret(c)
    case.summary = summary_of(case.folder)
    with reading(case.ledger, ledger.SCHEMA) as c:
        state = ledger.last_state(c)
    if newest is not None and newest > (state.s if state else 0) + 1:
        raise StateError(f"{case.ledger}: is older than the rewards beside it")
    links, head = case.summary["chain"]["links"], case.summary["chain"]["head"][:16]
    return f"all of its {links:,} releases are as they were committed; the last is {head}"


def _budget(case: Case) -> str:
    if case.summary is None or case.summary["budget"]["epsilon"] is None:
        return "nothing was spent yet" if case.summary is None else "no privacy was promised"
    budget = case.summary["budget"]
    if budget["refused"]:
        raise BudgetError(f"a release was refused, as it would cost more than epsilon {budget['epsilon']:g}; none follows")
    return f"the dearest reward has lost epsilon {budget['spent']:.4g} of {budget['epsilon']:.4g}"


def _rewards(case: Case) -> str:
    """What a start looks at. While a member runs its states go on, and the last one here may be gone by now."""
    if not case.rewards.exists():
        return "there are no rewards yet"
    with reading(case.rewards, rewards.SCHEMA) as c:
        found = secrets.check(c, digest(case.federation.run, case.name), len(case.federation.arms))
        decided = rewards.latest(c) is not None
    with reading(case.ledger, ledger.SCHEMA) as c:
        state = ledger.last_state(c)
    if not case.runs and (state or decided) and (state.s if state else 0) not in found:
        raise StateError(f"{case.rewards}: must have the secret of the ledger's last state, and does not")
    return f"they are those of {case.name} in this run"


def _settings(case: Case) -> str:
    check_persons(case.folder, case.federation, case.name)
    case.settings = load_settings(case.folder)
    return f"{SETTINGS} can be kept to" if case.settings.budget else f"no budget of persons is set ({SETTINGS})"


def _persons(case: Case) -> str:
    """Rewards first, as each is charged before it is there."""
    path, budget = persons_path(case.folder, case.settings), case.settings.budget
    if budget is None or path is None:
        return f"no budget of persons is set ({SETTINGS})"
    learning = 0
    if case.rewards.exists():
        with reading(case.rewards, rewards.SCHEMA) as c:
            learning = rewards.learning(c)
    check_place(path)
    if not path.exists():
        persons.check_charges(path, 0, learning)
        return f"{path.name} is made at the first start, and nobody has spent anything"
    check_private(path)
    with reading(path, persons.SCHEMA) as c:
        persons.check_secret(c)
        persons.check_charges(path, persons.charged(c, digest(case.federation.run, case.name)), learning)
        found = persons.summary(c)
    return f"{persons.told(found)}; the dearest has lost epsilon {found['most']:.4g} of {budget.person:.4g}"


def _windows(case: Case) -> str:
    within = case.federation.rewards.within
    if case.role != "agent" or not case.rewards.exists():
        return "no reward is waited for"
    now = time.time()
    with reading(case.rewards, rewards.SCHEMA) as c:
        waiting, latest = len(rewards.under_way(c)), rewards.latest(c) or 0.0
        until = None if within == "at once" else now - within - max(OVERDUE, case.federation.tick)
        overdue = c.execute("SELECT count(*) FROM decision WHERE state = 0 AND at <= ?", (until,)).fetchone()[0]
    if latest - now > CLOCK_SLACK:
        raise UsageError(f"the clock must not be behind the last decision, got one {latest - now:.0f} seconds behind")
    if overdue and case.runs:
        raise StorageError(f"{overdue:,} windows are over, and the member that runs has not closed them")
    more = f"; {overdue:,} windows are over, and are closed at the next start" if overdue else ""
    return f"{waiting:,} decisions wait for their reward{more}"


# --- the broker and the others ------------------------------------------------------------------------


def _speaks(case: Case) -> bool:
    return case.federation.broker is not None and bool(case.federation.hears(case.name))


def _tls(case: Case) -> str:
    if not _speaks(case):
        return "no broker is needed"
    assert case.federation.broker is not None
    if not case.federation.broker.address.startswith("tls:"):
        return "there is none: the broker is on this machine"
    try:
        ends, now = ends_of_certificates(case.federation), datetime.datetime.now(datetime.UTC)
    except StorageError as error:  # the broker's own line says what to do
        raise Unseen(str(error)) from None
    for whose, end in ends.items():
        if end - now < datetime.timedelta(days=DAYS_LEFT):
            raise AuthError(f"certificates must be good for {DAYS_LEFT} more days, and {whose} ends on {end:%Y-%m-%d}")
    return "certificates are good: " + ", ".join(f"{whose} until {end:%Y-%m-%d}" for whose, end in ends.items())


def _broker(case: Case) -> str:
    if not _speaks(case):
        return "no broker is needed"
    case.told = asyncio.run(look(case.federation, case.name, case.keys))
    return "it answers, knows the key, and has the stream of the run and a consumer for this member"


def _permissions(case: Case) -> str:
    if not _speaks(case):
        return "no broker is needed"
    for subjects, wrong in ((case.told.granted, "grants what it must deny"), (case.told.denied, "denies what is needed")):
        if subjects:
            more = f" and {len(subjects) - 1} more" if len(subjects) > 1 else ""
            raise AuthError(f"the broker {wrong}: {subjects[0]}{more}")
    return "what must be denied was tried, and is denied; what is needed is granted"


def _lanes(case: Case) -> str:
    """The broker's word first, then the ledger: a running member commits before it sends."""
    if not _speaks(case):
        return "no broker is needed"
    lanes, key, words = Lanes(case.federation, case.name), case.keys.sign.public_key(), 0
    for lane, last in case.told.ends.items():
        if len(last.data) <= SIGNATURE or not is_signed(key, lanes.subject(lane), last.data):
            continue
        words, envelope = words + 1, last.data[SIGNATURE:]
        if not case.ledger.exists():
            raise StateError(behind(case.name, "the broker"))
        found = decoded(envelope)
        with reading(case.ledger, ledger.SCHEMA) as c:
            mine = found and ledger.outbox(c, lane, found.seq - 1)[:1]
            known = found and ledger.knows(c, found.head)
        if not mine or mine[0].body != envelope:
            if found and not known:
                raise StateError(behind(case.name, "the broker"))
            raise FencedError(f"another process speaks with the keys of {case.name}")
    return "what the broker has last of this member is in its ledger" if words else "this member has not spoken yet"


def _peers(case: Case) -> str:
    if not _speaks(case):
        return "there is nobody to hear"
    if not case.ledger.exists():
        return "nobody was heard yet, as this member has not run"
    heard, gaps = _heard(case)
    if gaps and case.runs:  # a word that the member's last connection was given comes again
        time.sleep(2 * ACK_WAIT)
        heard, gaps = _heard(case)
    never = [name for name, _ in case.federation.hears(case.name) if name not in heard]
    if never or gaps:
        said = [f"{', '.join(never)} was never heard"] * bool(never) + [f"words of {', '.join(gaps)} are missing"] * bool(gaps)
        raise UsageError("; ".join(said))
    return f"all were heard: {', '.join(sorted(heard - {case.name}))}"


def _heard(case: Case) -> tuple[set[str], list[str]]:
    """Who was heard, and of whom words are missing before later ones."""
    with reading(case.ledger, ledger.SCHEMA) as c:
        rows = c.execute("SELECT lane, count(*), max(seq) FROM inbox GROUP BY lane").fetchall()
    names = {lane: lane.rpartition(".")[2] for lane, _, _ in rows}
    return set(names.values()), sorted({names[lane] for lane, count, last in rows if count != last})


EVIDENCE = "Keep the folder as it is, as evidence: it does not start again, and a new run takes a new folder."
ALL_ON_DISK = ("file", "keys", "member", "schema")
CHECKS = {
    "file": Check(_file, "Mend federation.toml, or ask for the others' copy of it."),
    "keys": Check(_keys, "Keys that are for their owner alone are made by `coterie agent init`, and anew with --anew."),
    "modes": Check(_modes, "If others may have read them: `coterie agent init DIR --name NAME --anew`, and a new token."),
    "member": Check(_member, "Put the latest federation.toml into the folder, or hand over the line of `agent init`.",
                    ("file", "keys")),
    "process": Check(_process, ""),
    "run": Check(_run, "Take the file of that run, or a new folder for the new run.", ("file", "keys", "member")),
    "disk": Check(_disk, "Make room, or mend the disk: an agent whose disk stays full ends after a minute."),
    "schema": Check(_schema, EVIDENCE),
    "chain": Check(_chain, EVIDENCE, ("schema",)),
    "budget": Check(_budget, "Decisions go on; to learn more, agree on a new run.", ("schema", "chain")),
    "rewards": Check(_rewards, EVIDENCE, (*ALL_ON_DISK, "run")),
    "settings": Check(_settings, f"Mend {SETTINGS}.", ("file", "keys", "member")),
    "persons": Check(_persons, "A persons.db that is gone or was restored gives back what was spent: it must not be.",
                     (*ALL_ON_DISK, "run", "settings")),
    "windows": Check(_windows, "Set the clock right, or start the agent again.", ALL_ON_DISK),
    "tls": Check(_tls, "The broker's owner renews its certificate, and hands out ca.pem where that has changed.",
                 ("file", "keys", "member")),
    "broker": Check(_broker, "Start it, or let its owner run `coterie federation broker` with this file and reload it.",
                    ("file", "keys", "member", "run")),
    "permissions": Check(_permissions, "Its owner runs `coterie federation broker` with this file, and reloads it.",
                         ("broker",)),
    "lanes": Check(_lanes, "Find out who else has this folder or its keys; a copy, or a restored backup, never starts again.",
                   ("broker", "schema")),
    "peers": Check(_peers, "Do they run, with the same number of the run? `coterie federation check` says it.", ALL_ON_DISK),
}  # fmt: skip
