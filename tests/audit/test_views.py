"""What each view sees, and what no view may see."""

from types import SimpleNamespace

import numpy as np
import pytest

from coterie.audit.stage import AGENTS, small_case, with_transcript
from coterie.audit.views import SERVER, check_view, covered, default_view, read, visible
from coterie.errors import UsageError


def unplayed(name, options):
    """A stage that nobody has to compile."""
    return with_transcript(small_case(name, options, 24))


def channels(stage, view):
    return {(place.who, place.channel) for part in visible(stage, view) for place in part.places()}


def test_the_public_sees_everything_that_peers_say_and_do():
    stage = unplayed("fed-ucb", {})
    assert channels(stage, "public") == {(i, c) for i in range(AGENTS) for c in ("choice", "idle", "message", "card")}
    assert channels(stage, "messages") == {(i, c) for i in range(AGENTS) for c in ("message", "card")}
    assert channels(stage, "neighbour") == {(i, c) for i in (0, 2, 3) for c in ("message", "card")}


def test_around_a_server_reports_go_up_and_decisions_come_down():
    stage = unplayed("cdp-mab", {})
    assert channels(stage, "server") == {(i, "message") for i in range(AGENTS)}
    assert channels(stage, "neighbour") == {(SERVER, "message")}
    assert (0, "choice") in channels(stage, "public")


def test_a_trusted_server_is_handed_raw_rewards_and_has_no_view():
    stage = unplayed("cdp-mab", {"noise": "central"})
    assert not any(channel == "message" and who != SERVER for who, channel in channels(stage, "public"))
    with pytest.raises(UsageError, match="--view must be one of public, messages, neighbour here, got 'server'"):
        check_view("server", stage)


def test_of_reports_with_shares_of_noise_only_the_sum_is_seen():
    stage = unplayed("cdp-mab", {"noise": "secagg", "radius": "subexp"})
    assert channels(stage, "server") == {(AGENTS, "message")}
    seen = np.arange(2 * AGENTS * stage.agent.turns * len(stage.agent.columns)).reshape(2, AGENTS, -1)
    run = SimpleNamespace(totals=np.zeros(2), opens={"audit_seen": seen})
    parts, plain = visible(stage, "server"), next(i for i, c in enumerate(stage.agent.columns) if c.word == "total[0]")
    places = [place for part in parts for place in part.places()]
    j = next(j for j, place in enumerate(places) if place.word == "total[0]" and not place.change)
    assert read(parts, run)[:, j].tolist() == seen[:, :, plain].sum(axis=1).tolist()


def test_a_change_is_the_difference_between_two_turns():
    stage = unplayed("cdp-mab", {})
    parts = visible(stage, "server")
    seen = np.random.default_rng(3).integers(0, 100, (2, AGENTS, stage.agent.turns * len(stage.agent.columns)))
    run = SimpleNamespace(totals=np.zeros(2), opens={"audit_seen": seen})
    places, words = [place for part in parts for place in part.places()], read(parts, run)
    at = {place: j for j, place in enumerate(places)}
    moved = next(place for place in places if place.change and place.word == "total[0]")
    later = moved._replace(change=False)
    assert (words[:, at[moved]] == words[:, at[later]] - words[:, at[later._replace(turn=later.turn - 1)]]).all()


@pytest.mark.parametrize(("name", "view"), [("fed-ucb", "server"), ("single-mab", "neighbour"), ("cdp-mab", "moon")])
def test_a_view_of_what_does_not_exist_is_refused(name, view):
    with pytest.raises(UsageError, match=r"--view must be one of public, .* got"):
        check_view(view, unplayed(name, {}))


def test_a_caveat_takes_choices_out_of_the_promise():
    stage = unplayed("fed-ucb", {})
    method = stage.case.method
    assert default_view(method) == "public"
    peeking = method._replace(node=method.node._replace(caveat="choices rest on raw rewards"))
    assert default_view(peeking) == "messages" and covered(peeking, "messages") and not covered(peeking, "public")
    assert with_transcript(stage.case._replace(method=peeking)).agent.columns == stage.agent.columns
