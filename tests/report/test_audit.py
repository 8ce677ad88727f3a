"""The page of an audit says what is promised, what holds and what is proven, and shows the two sides of the game."""

import json
import re
from xml.etree import ElementTree

import pytest

from coterie.errors import StorageError
from coterie.report.audit import lines, render, replayed, said, score_picture, write

EVENT = {"statistic": "threshold", "about": "total in the message of agent 0, turn 2", "threshold": 2.0, "side": 0}
GAME = {
    "canary": {"agent": 0, "arm": 0, "number": 1, "rest": 0, "why": "first", "text": "number 1 of arm 0, all others 0"},
    "epsilon": 1.25, "trials": 100, "hits": 50, "misses": 3, "event": EVENT,
    "scores": {"edges": [0.0, 1.0, 2.0, 3.0, 4.0], "zero": [40, 10, 30, 20], "one": [1, 2, 40, 57]},
}  # fmt: skip
REPLAY = {
    "rewards": 1200, "rewards_in_all": 1200, "pairs": 2400, "left_out": 0, "faults": ["no faults", "loss"], "booked": None,
    "price": None, "findings": [], "excused": [],
}  # fmt: skip
FACTS = {
    "algorithm": "<mine>", "parameters": {"epsilon": 1.0}, "view": "public", "covered_by_claim": True,
    "privacy": {"claimed": {"epsilon": 1.0, "delta": 0.0}, "accounted": {"epsilon": None, "delta": 0.0},
                "unit": "one reward of one agent", "adversary": "anyone", "note": "a note", "private": False},
    "limit": 1.0, "proven": {"epsilon": 1.25, "confidence": 0.99}, "violation": True, "failed": True,
    "verdict": "broken: promised 1, no limit holds; at least ε = 1.250 leaks", "replay": REPLAY,
    "games": [GAME], "trials": 300, "seed": 0,
    "command": "coterie audit mine.py --trials 300",
}  # fmt: skip


def test_the_lines_say_what_was_promised_what_holds_what_is_proven_and_how_to_run_it_again():
    told = dict(lines(FACTS))
    assert told["promised"] == "ε = 1, one reward of one agent" and told["holds"] == "no limit"
    assert told["proven"] == "at least ε = 1.250 leaks: a 99 % lower bound" and told["again"] == FACTS["command"]
    shown = "they show only where that was booked, without any noise"
    assert told["replay"] == f"1,200 of 1,200 rewards changed, 2,400 pairs of lives, no faults, loss: {shown}"


def test_the_replay_says_what_was_left_out_found_and_excused():
    partly = REPLAY | {"rewards": 5, "left_out": 3, "findings": ["a card shows the reward"]}
    assert "5 of 1,200 rewards changed (a random sample)" in replayed(partly)
    assert "3 pairs were too long to compare: a card shows the reward" in replayed(partly)
    excused = replayed(REPLAY | {"price": 0.5, "excused": ["choices show the reward"]})
    assert "at a price of 0.5 or less; choices show the reward, as its caveat says, so choices were held fixed" in excused


def test_the_page_of_a_study_has_a_row_for_each_promise():
    row = {"label": "<a>", "agents": 20, "arms": 10, "horizon": 800, "privacy": FACTS["privacy"], "replay": REPLAY,
           "failed": True, "verdict": "broken: promised 1, no limit holds"}  # fmt: skip
    facts = {"study": "mine", "rows": [row], "failed": True, "verdict": "1 of 1", "seed": 0, "command": "coterie audit mine"}
    page, told = render(facts), list(lines(facts))
    assert "&lt;a&gt;" in page and "ε that holds" in page and "<figure>" not in page and "Trials" not in page
    assert told[1] == ("", "promised ε = 1, holds no limit; 20 agents, 10 arms, 800 rounds")


def test_an_event_is_told_from_its_own_side():
    assert said(GAME).endswith("50 of 100 times where the reward is 0, 3 times where it is 1")
    assert "< 2" in said(GAME) and ">= 2" in said(GAME | {"event": EVENT | {"side": 1}})


def test_both_sides_are_drawn_to_the_same_scale():
    svg = ElementTree.fromstring(score_picture(GAME))
    outlines = [path.get("d") for path in svg.iter("path")]
    heights = [min(float(y) for y in re.findall(r",([\d.]+)", outline)) for outline in outlines]
    base = max(float(y) for y in re.findall(r",([\d.]+)", outlines[0]))
    assert (base - heights[1]) / (base - heights[0]) == pytest.approx(57 / 40, rel=1e-2)


def test_the_page_escapes_names_and_a_game_without_an_event_has_no_picture():
    page = render(FACTS)
    assert "&lt;mine&gt;" in page and "<mine>" not in page and page.count("<figure>") == 1
    nothing = FACTS | {"games": [GAME | {"event": None, "epsilon": 0.0}]}
    assert "<figure>" not in render(nothing) and dict(lines(nothing))["witness"].startswith("none")


def test_the_folder_holds_the_page_and_the_facts(tmp_path):
    write(tmp_path / "new", FACTS)
    assert json.loads((tmp_path / "new/audit.json").read_text()) == FACTS
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="cannot be written"):
        write(tmp_path / "file", FACTS)
