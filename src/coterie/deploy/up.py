"""A whole federation on one machine: a broker, a process for each member, and customers who ask and tell over HTTP.

Everything lies in one folder, so that the same command goes on where it stopped: keys, certificates, the broker's stream, and
each member's state. Members are started as on a machine of their own, by `coterie agent DIR`; one that is killed is started
again. All that was started here is stopped by its process id, and on Linux dies with this process whatever ends it.
"""

import asyncio
import contextlib
import http.client
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from coterie import files
from coterie.checking import find
from coterie.deploy.customers import Customers, made_up_means
from coterie.deploy.federation import Federation, check_federation, federation_text, load_federation, read_tables
from coterie.deploy.keys import SIGN, Keys, load_keys, make_keys, new_seed
from coterie.deploy.opening import FILE, TOKEN
from coterie.deploy.tables import Member
from coterie.deploy.web.guard import token_of
from coterie.deploy.wire.broker import AUTHORITY, lay_out, write_broker
from coterie.deploy.wire.embedded import EmbeddedBroker, free_port
from coterie.errors import CoterieError, StateError, UsageError
from coterie.tied import TIED

HOSPITALS = Path(__file__).parent / "hospitals.toml"
COORDINATOR = "coordinator"
BROKER = "broker"
MARK = "made-by-coterie-up"  # a file: no other folder is written into, or removed
PATIENCE = 60.0  # seconds for a member to answer
SWEEP = 0.25  # seconds between two looks at what runs
GRACE = 0.4  # seconds to end in order; all that matters is on disk at any moment
REWARDS_SOON = 2.0  # seconds until a reward is told, at most, where it counts at once


class Ended(CoterieError):
    """A member has ended by itself: its own error and exit code."""

    def __init__(self, line: str, code: int):
        super().__init__(line)
        self.exit_code = code


class Seat(NamedTuple):
    """A member's place: its folder, and where it listens."""

    name: str
    role: str
    folder: Path
    port: int

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/"


class Plan(NamedTuple):
    """A file that was checked and can be run here; the keys in `federation` are stand-ins, and on no disk."""

    tables: dict[str, Any]
    federation: Federation


def folder_of(file: Path | None, algorithm: str | None) -> Path:
    """Where a federation is kept: the same file and algorithm, the same folder."""
    return Path("runs") / "-".join(filter(None, ["up", (file or HOSPITALS).stem, algorithm and Path(algorithm).stem]))


def plan(file: Path | None = None, algorithm: str | None = None) -> Plan:
    """Check all that a file says, as `coterie federation check` does, before anything is made.

    Who takes part is taken from the file, and their keys are made here: nobody's own are needed to try a file. The broker and
    the coordinator are ours, too.
    """
    path = file or HOSPITALS
    tables = _with_algorithm(read_tables(path), path.parent, algorithm)
    if isinstance(tables.get("coordinator"), Mapping):
        del tables["coordinator"]
    if isinstance(tables.get("broker", {}), Mapping):
        tables["broker"] = {"address": "tls://127.0.0.1:1", "ca": AUTHORITY}
    if isinstance(agents := tables.get("agents"), tuple):
        tables["agents"] = tuple({**one, **_stand_in(one)} if isinstance(one, Mapping) else one for one in agents)
    spare = Member(**_stand_in({"name": COORDINATOR}))
    federation = check_federation(tables, path.parent, str(path), spare)
    for i, agent in enumerate(federation.agents):
        if agent.name == BROKER:
            raise UsageError(f"{path}: agents[{i}].name must be another one, got {BROKER!r}: it is the broker's folder here")
    return Plan(tables, federation)


def _with_algorithm(tables: dict[str, Any], folder: Path, algorithm: str | None) -> dict[str, Any]:
    """With this one in place of the file's. A file of one's own is named by its whole path: members read it from elsewhere."""
    table = tables.get("algorithm")
    if algorithm:
        before, known = table if isinstance(table, Mapping) else {}, find(algorithm).options.model_fields
        table, folder = {"name": algorithm} | {key: before[key] for key in before if key in known}, Path.cwd()
        tables = {key: value for key, value in tables.items() if key != "clock"}
    name = table.get("name") if isinstance(table, Mapping) else None
    if isinstance(name, str) and name.endswith(".py") and "\0" not in name:
        table = {**table, "name": str((folder / name).resolve())}  # type: ignore[dict-item]
    return tables if table is None else tables | {"algorithm": table}


def _stand_in(agent: Mapping[str, Any]) -> dict[str, Any]:
    """Public keys that fit, in place of those that are to be made."""
    line = Keys(Ed25519PrivateKey.generate(), new_seed()).line("")
    return {**line, "name": agent["name"]} if "name" in agent else {key: line[key] for key in line if key != "name"}


def prepare(folder: Path, file: Path | None = None, algorithm: str | None = None) -> Federation:
    """Check a file, and make all it needs."""
    return make(folder, plan(file, algorithm))


def check_ours(folder: Path) -> None:
    """Real members may keep their keys in a folder of the same form."""
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARK).exists():
        raise UsageError(f"--out must be an empty folder, or one that an earlier `coterie up` has made, got {folder}")


def make(folder: Path, plan: Plan) -> Federation:
    """Keys, certificates and the federation file of everybody; what is there already stays."""
    tables = plan.tables | {
        "broker": {"address": f"tls://127.0.0.1:{_broker_port(folder / FILE)}", "ca": AUTHORITY},
        "agents": [_member(folder, agent.name) for agent in plan.federation.agents],
    }
    if plan.federation.coordinator:
        tables["coordinator"] = _member(folder, plan.federation.coordinator.name)
    files.write(folder / MARK, "Keys and states of a federation that was tried on one machine. Nobody else's are here.\n")
    files.write(folder / FILE, federation_text(tables))
    federation = load_federation(folder / FILE)
    write_broker(federation, folder / BROKER)
    for member in federation.members:
        for given in (folder / FILE, folder / BROKER / AUTHORITY):
            files.write(folder / member.name / given.name, files.read(given))
    return federation


def _member(folder: Path, name: str) -> dict[str, str]:
    home = folder / name
    if not (home / SIGN).exists():
        files.make_folder(home)
        home.chmod(0o700)
        make_keys(home)
    return load_keys(home).line(name)


def _broker_port(file: Path) -> int:
    """The one it had, if it is free; a file that does not say so is written anew in any case."""
    with contextlib.suppress(CoterieError):
        had = load_federation(file).broker
        if had and (port := urlsplit(had.address).port) and is_free(port):
            return port
    return free_port()


def is_free(port: int) -> bool:
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


def seats(federation: Federation, folder: Path, port: int) -> list[Seat]:
    """A port for each, one after the other; all must be free."""
    found = [
        Seat(member.name, COORDINATOR if member is federation.coordinator else "agent", folder / member.name, port + place)
        for place, member in enumerate(federation.members)
    ]
    for seat in found:
        if seat.port > 65535 or not is_free(seat.port):
            raise UsageError(f"--port {port} must leave {len(found)} free ports from there on, and {seat.port} is in use")
    return found


class Household:
    """The broker and the members as processes of this one."""

    def __init__(self, federation: Federation, folder: Path, say: Callable[[str], None]):
        self.say, self.members, self.broker = (
            say,
            dict[Seat, subprocess.Popen[bytes]](),
            EmbeddedBroker(federation, folder / BROKER),
        )

    def start(self, seat: Seat) -> None:
        call = [sys.executable, "-c", "from coterie.cli import start; start()", seat.role, str(seat.folder)]
        with files.grown(seat.folder / "log") as log:
            self.members[seat] = subprocess.Popen(
                [*call, "--listen", f"127.0.0.1:{seat.port}"], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True, preexec_fn=TIED,
            )  # fmt: skip

    def wait_until_ready(self) -> None:
        end = time.monotonic() + PATIENCE
        for seat in self.members:
            while not answers(seat.port):
                self.look()
                if time.monotonic() > end:
                    raise StateError(
                        f"{seat.name} must answer within {PATIENCE:g} seconds; {seat.folder / 'log'} may say why not"
                    )
                time.sleep(0.05)

    def look(self) -> None:
        """Whoever was killed is started again; whoever has ended by itself ends all."""
        if self.broker.process and self.broker.process.poll() is not None:
            self.say("the broker has ended: it is started again")
            self.broker.start()
        for seat, process in list(self.members.items()):
            code = process.poll()
            if code is not None and code < 0:
                self.say(f"{seat.name} was killed: it is started again")
                self.start(seat)
            elif code is not None:
                raise Ended(f"{seat.name}: {last_line(seat.folder / 'log')}", code)

    def stop(self) -> None:
        """Everybody, in order; who does not end in time is killed, which nothing here is harmed by."""
        running = [*self.members.values(), *([self.broker.process] if self.broker.process else [])]
        for process in running:
            process.terminate()
        end = time.monotonic() + GRACE
        for process in running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, end - time.monotonic()))
        for process in running:
            process.kill()
            process.wait()


@contextlib.contextmanager
def running(federation: Federation, folder: Path, places: list[Seat], say: Callable[[str], None]) -> Iterator[Household]:
    """All of it; stopped at the end, whatever the end is."""
    household = Household(federation, folder, say)
    try:
        household.broker.start()
        asyncio.run(lay_out(federation, folder / BROKER))
        for seat in places:
            household.start(seat)
        household.wait_until_ready()
        yield household
    finally:
        household.stop()


@contextlib.contextmanager
def asking(federation: Federation, places: list[Seat], rate: float) -> Iterator[list[Customers]]:
    """Customers of every agent."""
    rules, means = federation.rewards, made_up_means(federation.run, len(federation.arms))
    delay = REWARDS_SOON if rules.within == "at once" else 0.8 * float(rules.within)
    with contextlib.ExitStack() as all_of_them:
        yield [
            all_of_them.enter_context(
                Customers(seat.port, token_of(seat.folder / TOKEN), means, (rules.low, rules.high), rate, delay)
            )
            for seat in places
            if seat.role == "agent"
        ]


def watch(household: Household, seconds: float | None) -> None:
    """For so long, or until somebody interrupts."""
    end = None if seconds is None else time.monotonic() + seconds
    while end is None or time.monotonic() < end:
        household.look()
        time.sleep(SWEEP)


def answers(port: int) -> bool:
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        line.request("GET", "/health/ready")
        return line.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        line.close()


def last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1].removeprefix("coterie: ") if lines else "has ended and said nothing"


def clear(folder: Path) -> None:
    """What an earlier `up` left here, and nothing else."""
    if not (folder / MARK).exists():
        return
    for home in [folder / BROKER, *(one.parent for one in folder.glob(f"*/{SIGN}"))]:
        files.remove_folder(home)
    for name in (FILE, MARK):
        (folder / name).unlink(missing_ok=True)
