"""Simulated customers: they ask, tell later, wait while nobody is there, and go on."""

import random
import threading

import pytest
from served_nodes import TOKEN, FakeNode, served_node

from coterie.deploy.customers import Customers, made_up_means


class Enough(FakeNode):
    """Counts, and says when so many rewards have come."""

    def __init__(self, wanted):
        super().__init__()
        self.wanted, self.enough = wanted, threading.Event()

    async def tell(self, id, reward):
        await super().tell(id, reward)
        if len(self.rewards) >= self.wanted:
            self.enough.set()


def customers(port, **how):
    about = {"token": TOKEN, "means": [0.0, 1.0, 0.0], "rewards": (0.25, 0.75), "rate": 500.0, "delay": 0.01, "seed": 1} | how
    return Customers(port, **about)


def test_they_ask_and_tell_what_the_arm_brings():
    node = Enough(20)
    with served_node(node) as place, customers(place.listen.port) as patients:
        assert node.enough.wait(30)
        assert patients.told >= 19
    assert set(node.rewards.values()) == {0.75}
    assert len(node.keys) >= 20 and all(key.startswith("patient ") for key in node.keys)


def test_they_wait_for_an_agent_that_is_away(monkeypatch):
    monkeypatch.setattr("coterie.deploy.customers.AWAY", 0.02)
    node = Enough(10)
    with served_node(node) as place:
        listen = place.listen
        with customers(listen.port) as patients:
            assert node.enough.wait(30)
            place.stop()
            back = Enough(10)
            back.keys = node.keys  # what was decided is known after a restart
            with served_node(back, listen=listen):
                assert back.enough.wait(30)
            assert patients.thread.is_alive()


def test_who_comes_later_is_somebody_else():
    first, second = customers(1), customers(1)
    assert first.first != second.first


@pytest.mark.parametrize("arms", [2, 3, 10])
def test_means_are_spread_and_their_order_follows_from_the_run(arms):
    means = made_up_means(b"a run", arms)
    assert sorted(means)[0] == 0.3 and sorted(means)[-1] == 0.7 and len(set(means)) == arms
    assert means == made_up_means(b"a run", arms)
    random.seed(0)
    orders = {tuple(made_up_means(bytes([k]), arms)) for k in range(30)}
    assert len(orders) > 1
