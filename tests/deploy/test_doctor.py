"""Each thing that can be wrong with a member is made so, and the doctor has a line and a code for it, and for nothing else."""

import asyncio
import contextlib
import datetime
import json
import random
import shutil
import socket
import sqlite3
import ssl
import subprocess
import threading
import time

import nats
import pytest
from commands import run, run_here
from cryptography import x509

from coterie import files
from coterie.deploy import doctor as module
from coterie.deploy.doctor import GRAVEST_FIRST, code_of, examine
from coterie.deploy.federation import load_federation
from coterie.deploy.keys import make_keys, read_private
from coterie.deploy.opening import FILE, open_agent, opened
from coterie.deploy.stores import ledger
from coterie.deploy.stores.chain import digest
from coterie.deploy.stores.store import reading
from coterie.deploy.up import BROKER, prepare
from coterie.deploy.wire import probe
from coterie.deploy.wire.broker import (
    ACK_WAIT,
    AUTHORITY,
    CERTIFICATE,
    CONFIGURATION,
    OWNER,
    account_of,
    lay_out,
    make_certificates,
)  # fmt: skip
from coterie.deploy.wire.embedded import LOG, EmbeddedBroker, _listens, server_path
from coterie.deploy.wire.lanes import stream_of

OWN = """
arms = ["a", "b"]
horizon = 10_000
tick = "0.05 seconds"
agents = [{ name = "north" }, { name = "east" }]
algorithm = { name = "fed-ucb", epsilon = 1.0 }
rewards = { within = "at once" }
"""


class Federation:
    """Two hospitals who have both run for a while over a broker that still does; copies of the first are there to be broken."""

    def __init__(self, folder):
        (folder / "own.toml").write_text(OWN)
        self.folder, self.facts = folder, prepare(folder, folder / "own.toml")
        self.names = [member.name for member in self.facts.members]
        self.broker = EmbeddedBroker(self.facts, folder / BROKER)
        self.copies = 0

    def start(self):
        self.broker.start()
        assert asyncio.run(lay_out(self.facts, self.folder / BROKER))

    async def live(self):
        async with contextlib.AsyncExitStack() as all_of_them:
            nodes = [(await all_of_them.enter_async_context(opened(self.folder / name))).node for name in self.names]
            released = [node.view().released for node in nodes]
            async with asyncio.timeout(60):
                homes = [self.folder / name for name in self.names]
                while not all(map(has_spoken, nodes, released, homes)):
                    for node in nodes:
                        await node.tell((await node.ask()).id, 1.0)
                    await asyncio.sleep(0.02)

    def copy(self):
        self.copies += 1
        return shutil.copytree(self.folder / self.names[0], self.folder / f"copy {self.copies}")


def has_spoken(node, released, home):
    """It has released more than before, said so, and heard all others, one twice. What its last connection got comes again."""
    view = node.view()
    if view.released <= released + 1 or not all(peer.turn for peer in view.peers) or view.unsent:
        return False
    with reading(home / "ledger.db", ledger.SCHEMA) as c:
        words = c.execute("SELECT count(*), max(seq) FROM inbox GROUP BY lane").fetchall()
    return all(count == last for count, last in words) and any(count > 1 for count, _ in words)


@pytest.fixture(scope="module")
def federation(tmp_path_factory):
    found = Federation(tmp_path_factory.mktemp("doctor"))
    found.start()
    try:
        asyncio.run(found.live())
        yield found
    finally:
        found.broker.stop()


@pytest.fixture
def home(federation):
    return federation.copy()


def wrong(folder):
    """(code, what is bad, in its own words)."""
    findings = examine(folder)
    assert all(finding.text and "\n" not in finding.text for finding in findings)
    return code_of(findings), {finding.about: finding.text for finding in findings if finding.state == "bad"}


def rewritten(home, old, new):
    text = (home / FILE).read_text()
    assert old in text
    (home / FILE).write_text(text.replace(old, new, 1))


def changed(path, statement):
    with contextlib.closing(sqlite3.connect(path)) as c:
        c.execute(statement)
        c.commit()


def test_all_is_well_and_stays_as_it_is(home):
    before = {path.name: path.read_bytes() for path in home.iterdir()}
    findings = examine(home)
    assert [finding for finding in findings if finding.state != "good"] == [] and code_of(findings) == 0
    about = {finding.about: finding.text for finding in findings}
    assert about["process"] == "nobody runs in this folder"
    assert {path.name: path.read_bytes() for path in home.iterdir() if path.name in before} == before
    beside = {f"{store}.db-{part}" for store in ("ledger", "rewards") for part in ("wal", "shm")}
    assert {path.name for path in home.iterdir()} - before.keys() <= beside


def test_beside_a_member_at_work_it_looks_and_disturbs_nobody(federation):
    home = federation.folder / federation.names[0]
    with open_agent(home) as agent:
        for _ in range(200):
            if agent.view().connected:
                break
            time.sleep(0.05)
        stop, told = threading.Event(), []

        def work():
            while not stop.is_set():
                told.append(agent.tell(agent.ask().id, 1.0))

        worker = threading.Thread(target=work)
        worker.start()
        try:
            seen = [json.loads(each("doctor", home, "--json", cwd=federation.folder).stdout) for each in (run, run_here)]
        finally:
            stop.set()
            worker.join()
        for each in seen:
            assert (each["code"], [check for check in each["checks"] if check["state"] != "good"]) == (0, [])
            assert {"about": "process", "state": "good", "text": "a member runs in this folder", "code": 0} in each["checks"]
        assert told and agent.ask().learned and agent.view().alarms == ()


def no_file(home):
    (home / FILE).unlink()


def other_horizon(home):
    rewritten(home, "horizon = ", "horizon = 1")


def no_key(home):
    (home / "sign.key").unlink()


def half_a_key(home):
    (home / "connect.key").write_text("SUAB\n")


def readable_key(home):
    (home / "sign.key").chmod(0o644)


def readable_token(home):
    (home / "token").write_text("x")
    (home / "token").chmod(0o640)


def readable_store(home):
    (home / "ledger.db").chmod(0o604)


def readable_folder(home):
    home.chmod(0o755)


def other_keys(home):
    make_keys(home, anew=True)


def damaged_note(home):
    (home / "run.json").write_text("{")


def flipped_bit(home):
    changed(home / "ledger.db", "UPDATE release SET price = price / 2 WHERE number = 2")


def rubbish(home):
    (home / "ledger.db").write_bytes(random.Random(1).randbytes(50_000))


def newer_schema(home):
    changed(home / "rewards.db", "PRAGMA user_version = 9")


def no_ledger(home):
    (home / "ledger.db").unlink()


def nothing_on_disk(home):
    for path in home.glob("*.db*"):
        path.unlink()


def refused_release(home):
    """As the state would be after one; the rest of the row is as committed."""
    with contextlib.closing(sqlite3.connect(home / "ledger.db")) as c:
        s, turn, parts = c.execute("SELECT s, turn, parts FROM state").fetchone()
        c.execute("UPDATE state SET refused = 1, hash = ?", (digest(ledger.head(c), s, turn, 1, parts),))
        c.commit()


def clock_behind(home):
    changed(home / "rewards.db", f"UPDATE decision SET at = {time.time() + 4000}")


def silent_peer(home):
    changed(home / "ledger.db", "DELETE FROM inbox")


def lost_word(home):
    """One that a later one of its lane tells of."""
    early = "SELECT min(number) FROM inbox WHERE number NOT IN (SELECT max(number) FROM inbox GROUP BY lane)"
    changed(home / "ledger.db", f"DELETE FROM inbox WHERE number = ({early})")


def another_authority(home):
    make_certificates(home, "127.0.0.1")


def no_authority(home):
    (home / AUTHORITY).write_text("no certificate")


def nobody_there(home):
    address = next(line for line in (home / FILE).read_text().splitlines() if line.startswith("address"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        rewritten(home, address, f'address = "tls://127.0.0.1:{free.getsockname()[1]}"')


def note_of_a_number(home):
    (home / "run.json").write_text('{"name": "x", "file": "", "source": "", "parameters": "", "run": 5}')


def folder_for_a_key(home):
    no_key(home)
    (home / "sign.key").mkdir(mode=0o755)


def no_first_row(home):
    changed(home / "ledger.db", "DELETE FROM run")


def rewards_of_another(home):
    for path in home.glob("rewards.db*"):
        path.unlink()
    names = [path for path in home.parent.iterdir() if (path / "rewards.db").exists() and "copy" not in path.name]
    other = next(path for path in names if (path / "sign.key").read_bytes() != (home / "sign.key").read_bytes())
    shutil.copy(other / "rewards.db", home)
    with contextlib.closing(sqlite3.connect(home / "ledger.db")) as c:  # at about the same state
        (s,) = c.execute("SELECT s FROM state").fetchone()
    changed(home / "rewards.db", "DELETE FROM secret WHERE s < (SELECT max(s) FROM secret)")
    changed(home / "rewards.db", f"UPDATE secret SET s = {s}")


def changed_secret(home):
    changed(home / "rewards.db", "UPDATE secret SET record = x'00'")


def unknown_arm(home):
    changed(home / "rewards.db", "UPDATE decision SET arm = 99 WHERE n = 1")


def no_secret(home):
    changed(home / "rewards.db", "DELETE FROM secret")


def typo_in_settings(home):
    (home / "settings.toml").write_text("[budget]\npersn = 3")


def null_in_a_path(home):
    (home / "settings.toml").write_text('[budget]\nperson = 3\npersons = "a\\u0000b"')


def settings_set_late(home):
    (home / "settings.toml").write_text(f'[budget]\nperson = 3\npersons = "../{home.name}.db"')


def persons_nowhere(home):
    (home / "settings.toml").write_text("[budget]\nperson = 3\npersons = '/nonexist/x.db'")


@pytest.mark.parametrize(
    "breaks, about, code, says",
    [
        (no_file, "file", 2, "cannot be read"),
        (other_horizon, "run", 2, "with another version of the federation file"),
        (no_key, "keys", 5, "got no file"),
        (half_a_key, "keys", 5, "got damaged ones"),
        (readable_key, "keys", 5, "(chmod 600), got mode 644"),
        (readable_token, "modes", 5, "(chmod 600), got mode 640"),
        (readable_store, "modes", 5, "ledger.db: must be for its owner alone"),
        (readable_folder, "modes", 5, "(chmod 700), got mode 755"),
        (other_keys, "member", 5, "must have a member with signs"),
        (damaged_note, "run", 4, "run.json: is damaged"),
        (flipped_bit, "chain", 4, "release 2 is not what was committed"),
        (rubbish, "schema", 4, "is damaged, or no file of ours"),
        (newer_schema, "schema", 4, "take a newer Coterie"),
        (no_ledger, "schema", 4, "got only rewards.db"),
        (nothing_on_disk, "lanes", 4, "is older than what the broker has from it"),
        (refused_release, "budget", 3, "a release was refused"),
        (clock_behind, "windows", 2, "the clock must not be behind"),
        (silent_peer, "peers", 2, "was never heard"),
        (lost_word, "peers", 2, "are missing"),
        (another_authority, "tls", 5, "its certificate does not do"),
        (no_authority, "tls", 2, "broker.ca must be the path of a certificate"),
        (nobody_there, "broker", 7, "does not answer"),
        (note_of_a_number, "run", 4, "run.json: is damaged"),
        (folder_for_a_key, "keys", 5, "got a folder"),
        (no_first_row, "chain", 4, "whose it is"),
        (rewards_of_another, "rewards", 4, "must be of this member and this run, got that of another"),
        (changed_secret, "rewards", 4, "a secret in it is not what was committed"),
        (unknown_arm, "rewards", 4, "decision 1 is not what was committed"),
        (no_secret, "rewards", 4, "must have the secret of the ledger's last state"),
        (typo_in_settings, "settings", 2, "did you mean 'person'"),
        (null_in_a_path, "settings", 2, "budget.persons must be the path of a file"),
        (settings_set_late, "persons", 4, "must have a charge for each of"),
        (persons_nowhere, "persons", 7, "its folder is not there"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_is_broken_has_its_line_its_code_and_what_to_do(home, breaks, about, code, says):
    breaks(home)
    found, bad = wrong(home)
    assert found == code and says in bad[about], bad
    assert bad[about].endswith(module.CHECKS[about].advice) and module.CHECKS[about].advice
    assert not (home.parent / f"{home.name}.db").exists()
    beside = {"tls": {"broker"}}
    beside |= {no_first_row: {"chain": {"lanes"}}, readable_key: {"keys": {"modes"}}}.get(breaks, {})
    assert bad.keys() - {about} == beside.get(about, set())


def test_a_ledger_is_printed_whatever_is_wrong_with_settings(home):
    typo_in_settings(home)
    done = run_here("ledger", home, cwd=home)
    assert done.returncode == 0 and "is left" in done.stdout and "did you mean 'person'" in " ".join(done.stdout.split())


def test_the_gravest_decides(home):
    readable_token(home)
    flipped_bit(home)
    clock_behind(home)
    code, bad = wrong(home)
    assert code == 4 and bad.keys() == {"modes", "chain", "windows"}
    done = run_here("doctor", home, cwd=home)
    assert done.returncode == 4 and done.stderr == "" and len(done.stdout.splitlines()) == len(module.CHECKS)


def test_a_disk_that_refuses_or_is_full_is_told(home, monkeypatch):
    def refuse(handle):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("coterie.files.os.fsync", refuse)
    code, bad = wrong(home)
    assert code == 7 and "Input/output error" in bad["disk"]
    monkeypatch.undo()
    monkeypatch.setattr(module, "BYTES_FREE", 1 << 60)
    code, bad = wrong(home)
    assert code == 7 and "MB free" in bad["disk"]


def test_a_certificate_that_ends_soon_is_told(home, monkeypatch):
    monkeypatch.setattr(module, "DAYS_LEFT", 826)
    code, bad = wrong(home)
    end = datetime.date.today() + datetime.timedelta(days=825)
    assert code == 5 and f"the broker's ends on {end:%Y-%m}" in bad["tls"]


def test_windows_that_nobody_closes_are_told_while_a_member_runs(home, monkeypatch):
    changed(home / "rewards.db", "UPDATE decision SET state = 0, at = 1000 WHERE n = 1")
    monkeypatch.setattr("coterie.files.in_use", lambda folder: True)
    rewritten(home, 'within = "at once"', 'within = "1 hour"')
    (found,) = [finding for finding in examine(home) if finding.about == "windows"]
    assert found.code == 7 and "1 windows are over" in found.text
    monkeypatch.undo()
    (found,) = [finding for finding in examine(home) if finding.about == "windows"]
    assert found.state == "good" and "1 windows are over, and are closed at the next start" in found.text


@pytest.mark.parametrize("comes", [True, False])
def test_beside_a_member_at_work_a_word_may_come_again_before_it_is_called_missing(home, monkeypatch, comes):
    whole = (home / "ledger.db").read_bytes()
    lost_word(home)
    waited = []

    def wait(seconds):
        waited.append(seconds)
        if comes:
            (home / "ledger.db").write_bytes(whole)

    monkeypatch.setattr(module.files, "in_use", lambda folder: True)
    monkeypatch.setattr(module.time, "sleep", wait)
    found = {finding.about: finding for finding in examine(home)}["peers"]
    assert (found.state == "good", "are missing" in found.text, waited) == (comes, not comes, [2 * ACK_WAIT])


def test_a_folder_that_is_copied_and_has_spoken_elsewhere_is_fenced_or_behind(tmp_path):
    """Each start says hello, so that the copy's is unknown to the other; once it has released, the other is behind it."""
    federation = Federation(tmp_path)
    federation.start()
    try:
        asyncio.run(federation.live())
        home = federation.folder / federation.names[0]
        copy = federation.copy()
        with open_agent(home) as agent:
            for _ in range(400):
                if agent._node.seen.connected and not agent.view().unsent:
                    break
                time.sleep(0.05)
        code, bad = wrong(copy)
        assert code == 6 and "another process speaks" in bad["lanes"]
        asyncio.run(federation.live())
        code, bad = wrong(copy)
        assert code == 4 and "is older than what the broker has" in bad["lanes"]
        assert wrong(home) == (0, {})
    finally:
        federation.broker.stop()


def test_permissions_that_are_too_wide_or_too_narrow_are_told_and_nothing_comes_of_the_attempt(tmp_path):
    federation = Federation(tmp_path)
    federation.start()
    try:
        asyncio.run(federation.live())
        home, configuration = federation.folder / federation.names[0], federation.folder / BROKER / CONFIGURATION
        before = asyncio.run(inside(federation))

        def permit(permissions):
            federation.broker.stop()
            written = json.loads(configuration.read_text())
            written["accounts"][account_of(federation.names[0])]["users"][0]["permissions"] = permissions
            configuration.write_text(json.dumps(written))
            start_as_it_is(federation.broker)

        permit({"publish": ">", "subscribe": ">"})
        code, bad = wrong(home)
        assert code == 5 and "grants what it must deny" in bad["permissions"] and bad.keys() == {"permissions"}
        publish, subscribe = probe.forbidden(federation.facts, federation.names[0])
        assert f" and {len(publish) + len(subscribe) - 1} more" in bad["permissions"]
        assert asyncio.run(inside(federation)) == before
        allowed = probe.Lanes(federation.facts, federation.names[0])
        shown = [f"$JS.API.DIRECT.GET.{allowed.stream}.>", f"$JS.API.CONSUMER.MSG.NEXT.{allowed.stream}.{federation.names[0]}"]
        permit({"publish": shown, "subscribe": f"_INBOX_{federation.names[0]}.>"})
        code, bad = wrong(home)
        assert code == 5 and "grants" in bad["permissions"] and "DIRECT.GET" in bad["permissions"]
        assert asyncio.run(inside(federation)) == before
    finally:
        federation.broker.stop()


def start_as_it_is(broker):
    """With the configuration that lies there, which `start` would write anew."""
    command = [server_path(), "-c", str(broker.folder / CONFIGURATION), "-l", str(broker.folder / LOG)]
    broker.process = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.monotonic() + 20
    while not _listens((str(broker.address.hostname), int(broker.address.port))):
        assert time.monotonic() < end
        time.sleep(0.02)


async def inside(federation):
    """What the broker holds: words of each lane, and what each consumer has taken and waits for."""
    place = federation.folder / BROKER
    trust = ssl.create_default_context(cafile=place / AUTHORITY)
    client = await nats.connect(federation.facts.broker.address, nkeys_seed_str=read_private(place / OWNER), tls=trust)
    try:
        stream, admin = stream_of(federation.facts), client.jetstream()
        words = (await admin.stream_info(stream)).state.messages
        consumers = [await admin.consumer_info(stream, name) for name in federation.names]
        return words, [(one.name, one.delivered.stream_seq, one.num_ack_pending) for one in consumers]
    finally:
        await client.close()


@pytest.mark.parametrize("seed", range(12))
def test_a_folder_full_of_rubbish_is_told_without_a_traceback(home, seed):
    """Files are cut, filled or taken away; nothing but lines and a code of the list comes of it."""
    chance = random.Random(seed)
    for path in sorted(path for path in home.iterdir() if path.is_file()):
        match chance.randrange(4):
            case 0:
                path.unlink()
            case 1:
                path.write_bytes(path.read_bytes()[: chance.randrange(1 + path.stat().st_size)])
            case 2:
                path.write_bytes(chance.randbytes(chance.randrange(5000)))
    findings = examine(home)
    assert {finding.about for finding in findings} == set(module.CHECKS) and code_of(findings) in (0, *GRAVEST_FIRST)


def test_what_is_no_folder_is_bad_input(tmp_path):
    done = run_here("doctor", tmp_path / "nowhere", cwd=tmp_path)
    assert done.returncode == 2 and "must be the folder of an agent or a coordinator, got none" in done.stderr
    assert done.stderr.count("\n") == 1 and not any(tmp_path.iterdir())


def test_an_empty_folder_is_a_list_of_what_is_lacking(tmp_path):
    (tmp_path / "north").mkdir(mode=0o700)
    findings = {finding.about: finding.state for finding in examine(tmp_path / "north")}
    assert findings["file"] == findings["keys"] == "bad" and findings["member"] == findings["broker"] == "unknown"
    assert code_of(examine(tmp_path / "north")) == 5 and not files.in_use(tmp_path / "north")


def test_certificates_are_those_of_the_broker(federation, home):
    ends = probe.ends_of_certificates(load_federation(home / FILE))
    shown = {"the broker's": CERTIFICATE, "that of its authority": AUTHORITY}
    there = {whose: (federation.folder / BROKER / name).read_bytes() for whose, name in shown.items()}
    assert ends == {whose: x509.load_pem_x509_certificate(pem).not_valid_after_utc for whose, pem in there.items()}
