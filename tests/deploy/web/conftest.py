"""A node that only remembers, served on a port of its own."""

import pytest
from served_nodes import VIEW, FakeNode, served_node

from coterie.deploy.view import AlarmView


@pytest.fixture
def served():
    return served_node


@pytest.fixture
def fake_node():
    return FakeNode


@pytest.fixture
def place():
    with served_node() as found:
        yield found


@pytest.fixture
def view():
    return VIEW


@pytest.fixture
def alarm():
    return AlarmView("quarantine", "south has said two things under one number", 1.7e9)
