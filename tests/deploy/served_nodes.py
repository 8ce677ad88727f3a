"""A node that only remembers, and a listener around it, over real sockets."""

import asyncio
import contextlib
import http.client
import json
import socket
import ssl
import threading
from typing import NamedTuple

from coterie.deploy.refusals import Closed, Conflict, Unfit, UnknownDecision
from coterie.deploy.view import ArmView, BudgetView, PeerView, ReleaseView, View
from coterie.deploy.web.serve import Listen, serving, taken

TOKEN = "a token for tests"
VIEW = View(
    name="north", role="agent", run="0f" * 8, algorithm="pooled-ucb", clock="epochs", turn=7, horizon=10_000,
    budget=BudgetView(1.0, 0.0, 0.4, 0.6),
    arms=(ArmView("aspirin", 120, 0.31), ArmView("bisoprolol", 820, 0.62), ArmView("clopidogrel & co", 60, None)),
    decisions=1000, learned=950, waiting=12, missing=("south",), quorum=2, released=3,
    releases=(ReleaseView(6, "bisoprolol", 64, 0.2, 1.7e9), ReleaseView(6, "aspirin", 16, 0.2, 1.7e9)),
    peers=(PeerView("east", 7, 1.7e9, 0), PeerView("south", 6, 1.7e9 - 60, 1)), connected=True, rejected={"replayed": 2},
)  # fmt: skip


class Decision(NamedTuple):
    id: str
    arm: int
    name: str
    learned: bool


class Bell:
    """Every `ring` wakes all who wait."""

    def __init__(self):
        self.event = asyncio.Event()

    def ring(self):
        self.event.set()
        self.event = asyncio.Event()

    async def wait(self):
        await self.event.wait()


class FakeNode:
    """One decision a key, and a reward within 0..1 for each that is not closed."""

    def __init__(self, view=VIEW):
        self.shown, self.changed, self.keys, self.rewards, self.closed = view, Bell(), {}, {}, set()

    async def ask(self, key=None, person=None):
        if key is not None and len(key.encode()) > 200:
            raise Unfit("key must be at most 200 bytes")
        number = self.keys.setdefault(key, len(self.keys)) if key is not None else len(self.keys)
        return Decision(str(number), 1, "bisoprolol", True)

    async def tell(self, id, reward):
        self._known(id)
        if id in self.closed:
            raise Closed("the window of this decision is closed")
        if not 0 <= reward <= 1:
            raise Unfit("reward must be in [0, 1]")
        if self.rewards.setdefault(id, reward) != reward:
            raise Conflict("another reward is known for this decision")

    async def cancel(self, id):
        self._known(id)
        if id in self.rewards:
            raise Conflict("the reward of this decision is known")

    async def withhold(self, arm, yes):
        if arm not in [one.name for one in self.shown.arms]:
            raise Unfit(f"arm must be one of {', '.join(one.name for one in self.shown.arms)}")
        self.stopped = arm, yes

    def view(self):
        return self.shown

    def show(self, view):
        self.shown = view
        self.changed.ring()

    def _known(self, id):
        if id not in map(str, self.keys.values()):
            raise UnknownDecision("there is no such decision")


class Answer(NamedTuple):
    status: int
    text: str
    headers: dict

    @property
    def json(self):
        return json.loads(self.text)


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=20)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(str(self.path))


class Place:
    """A node that is being served."""

    def __init__(self, node, listen, loop, over, stopped):
        self.node, self.listen, self.loop, self.over, self.stopped = node, listen, loop, over, stopped

    def connection(self):
        if self.listen.unix:
            return UnixConnection(self.listen.unix)
        if self.listen.certificate:
            context = ssl.create_default_context(cafile=self.listen.certificate)
            return http.client.HTTPSConnection("localhost", self.listen.port, timeout=20, context=context)
        return http.client.HTTPConnection("127.0.0.1", self.listen.port, timeout=20)

    def __call__(self, method, path, body=None, token=TOKEN, **headers):
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        content = body if isinstance(body, bytes | str) or body is None else json.dumps(body)
        with contextlib.closing(self.connection()) as connection:
            connection.request(method, path, content, {name.replace("_", "-"): text for name, text in headers.items()})
            found = connection.getresponse()
            return Answer(found.status, found.read().decode(), dict(found.getheaders()))

    def show(self, view):
        self.loop.call_soon_threadsafe(self.node.show, view)

    def stop(self):
        """As when the process ends: the port is free again."""
        if not self.stopped.is_set():
            self.loop.call_soon_threadsafe(self.over.set)
        assert self.stopped.wait(20)


@contextlib.contextmanager
def served_node(node=None, listen=Listen(port=0), token=TOKEN):
    """On a loop of its own, in a thread."""
    ready, stopped, place = threading.Event(), threading.Event(), []

    async def run():
        one, over = node or FakeNode(), asyncio.Event()
        with taken(listen) as (where, sock):
            async with serving(one, token, where, sock):
                place.append(Place(one, where, asyncio.get_running_loop(), over, stopped))
                ready.set()
                await over.wait()

    def live():
        asyncio.run(run())
        stopped.set()

    thread = threading.Thread(target=live)
    thread.start()
    try:
        assert ready.wait(20)
        yield place[0]
    finally:
        place[0].stop()
        thread.join(20)
