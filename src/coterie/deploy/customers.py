"""Simulated customers for `coterie up`: they ask an agent over HTTP what to do, and tell later what came of it.

Their truth is made up: means evenly spread over the middle of the range, in an order that follows from the run. They know the
agent only by its address and token, as any application does, and wait while it is away.
"""

import hashlib
import http.client
import json
import random
import threading
import time
from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Any

AWAY = 0.5  # seconds until an agent that does not answer is asked again
LOWEST, HIGHEST = 0.3, 0.7


def made_up_means(run: bytes, arms: int) -> list[float]:
    """
    >>> sorted(made_up_means(b"run", 5))
    [0.3, 0.4, 0.5, 0.6, 0.7]
    """
    means = [round(LOWEST + (HIGHEST - LOWEST) * k / (arms - 1), 3) for k in range(arms)]
    random.Random(hashlib.sha256(b"means" + run).digest()).shuffle(means)
    return means


class Customers:
    """Of one agent: `rate` questions a second on average, each answered by a reward some seconds later."""

    def __init__(
        self,
        port: int,
        token: str,
        means: Sequence[float],
        rewards: tuple[float, float],
        rate: float,
        delay: float,
        seed: Any = None,
    ):
        self.port, self.token, self.means, self.rewards, self.rate, self.delay = port, token, means, rewards, rate, delay
        self.chance, self.over = random.Random(seed), threading.Event()
        self.first, self.asked, self.told = time.time_ns(), 0, 0
        self.due: list[tuple[float, str, float]] = []
        self.line: http.client.HTTPConnection | None = None
        self.thread = threading.Thread(target=self.live, daemon=True)

    def live(self) -> None:
        """Until `over`: whatever is due next, a question or a reward."""
        question = time.monotonic()
        while not self.over.is_set():
            at, what = min(
                (question, self.ask), (self.due[0][0], self.tell) if self.due else (question, self.ask), key=lambda one: one[0]
            )
            if self.over.wait(max(0.0, at - time.monotonic())):
                return
            try:
                what()
            except (OSError, http.client.HTTPException):
                self.close()
                self.over.wait(AWAY)
            if what == self.ask:
                question = max(question, time.monotonic() - 1.0) + self.chance.expovariate(self.rate)

    def ask(self) -> None:
        answer = self.call("POST", "/v1/decisions", {"key": f"patient {self.first + self.asked}"})
        if answer is None:
            return
        self.asked += 1
        reward = self.rewards[self.chance.random() < self.means[answer["arm"]]]
        heappush(self.due, (time.monotonic() + self.chance.uniform(0, self.delay), answer["id"], reward))

    def tell(self) -> None:
        _, decision, reward = self.due[0]
        self.call("PUT", f"/v1/decisions/{decision}/reward", {"reward": reward})
        heappop(self.due)
        self.told += 1

    def call(self, method: str, path: str, body: Any) -> Any:
        """What was answered; None where it was refused."""
        if self.line is None:
            self.line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        self.line.request(method, path, json.dumps(body), headers)
        answer = self.line.getresponse()
        content = answer.read()
        if answer.status >= 500:
            raise http.client.HTTPException(f"status {answer.status}")
        return json.loads(content) if answer.status == 200 else None

    def close(self) -> None:
        if self.line is not None:
            self.line.close()
            self.line = None

    def __enter__(self) -> "Customers":
        self.thread.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self.over.set()
