"""The embedded broker: started and stopped by us, on a port of this machine, and what it acknowledges is on disk."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from parties import broker_of, make_parties

from coterie.deploy.wire import embedded
from coterie.deploy.wire.broker import CONFIGURATION
from coterie.deploy.wire.embedded import EmbeddedBroker, server_path
from coterie.errors import StorageError, UsageError


def test_it_listens_while_it_runs_and_syncs_always(tmp_path):
    federation = make_parties(tmp_path)
    with broker_of(federation, tmp_path) as broker:
        socket.create_connection(("127.0.0.1", broker.address.port)).close()
        assert json.loads((tmp_path / "broker" / CONFIGURATION).read_text())["jetstream"]["sync_interval"] == "always"
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", broker.address.port)).close()


def test_a_port_in_use_is_told(tmp_path):
    federation = make_parties(tmp_path)
    with broker_of(federation, tmp_path), pytest.raises(UsageError, match="must be a free port, got one that is in use"):
        EmbeddedBroker(federation, tmp_path / "second").start()


def test_no_server_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(embedded, "SERVER", "nats-server-that-nobody-has")
    with pytest.raises(UsageError, match="the embedded broker must have"):
        server_path()


@pytest.mark.parametrize("text", ["{]", "{"], ids=["it ends", "it listens elsewhere"])
def test_one_that_does_not_start_is_told(tmp_path, monkeypatch, text):
    federation = make_parties(tmp_path)
    monkeypatch.setattr(embedded, "PATIENCE", 1.0)
    monkeypatch.setattr(embedded, "write_broker", lambda *args, **kwargs: (tmp_path / CONFIGURATION).write_text(text))
    with pytest.raises(StorageError, match="did not start"):
        EmbeddedBroker(federation, tmp_path).start()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing ties a child to its parent")
def test_it_does_not_outlive_whoever_started_it(tmp_path):
    make_parties(tmp_path)
    script = (
        "from pathlib import Path; from coterie.deploy.federation import load_federation as load;"
        "from coterie.deploy.wire.embedded import EmbeddedBroker;"
        f"b = EmbeddedBroker(load({str(tmp_path / 'federation.toml')!r}), Path({str(tmp_path / 'broker')!r}));"
        "b.start(); print(b.process.pid, flush=True); input()"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    child = int(parent.stdout.readline())
    parent.send_signal(signal.SIGKILL)
    parent.communicate()
    for _ in range(500):
        status = Path(f"/proc/{child}/stat")
        if not status.exists() or status.read_text().split()[2] == "Z":
            return
        signal.sigtimedwait([], 0.01)
    os.kill(child, signal.SIGKILL)
    raise AssertionError("the broker outlived its parent")
