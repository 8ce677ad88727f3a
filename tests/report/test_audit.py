"""The page of an audit says what was claimed, accounted and proven, and shows the two sides of the game."""

import json
import re
from xml.etree import ElementTree

import pytest

from coterie.errors import StorageError
from coterie.report.audit import lines, render, said, score_picture, write

EVENT = {"statistic": "threshold", "about": "total in the message of agent 0, turn 2", "threshold": 2.0, "side": 0}
GAME = {
    "canary": {"arm": 0, "number": 1, "rest": 0, "why": "first", "text": "first reward: number 1 of arm 0, all others 0"},
    "epsilon": 1.25, "trials": 100, "hits": 50, "misses": 3, "event": EVENT,
    "scores": {"edges": [0.0, 1.0, 2.0, 3.0, 4.0], "zero": [40, 10, 30, 20], "one": [1, 2, 40, 57]},
}  # fmt: skip
FACTS = {
    "algorithm": "<mine>", "parameters": {"epsilon": 1.0}, "view": "public", "covered_by_claim": True,
    "privacy": {"claimed": {"epsilon": 1.0, "delta": 0.0}, "accounted": {"epsilon": None, "delta": 0.0},
                "unit": "one reward of one agent", "adversary": "anyone", "note": "a note", "private": False},
    "limit": 1.0, "proven": {"epsilon": 1.25, "confidence": 0.99}, "violation": True, "failed": True,
    "verdict": "violation proven: epsilon is at least 1.250, not 1",
    "replay": {"rewards": 6, "price": None, "findings": []}, "games": [GAME], "trials": 300, "seed": 0,
    "command": "coterie audit mine.py --trials 300",
}  # fmt: skip


def test_the_lines_say_what_was_claimed_accounted_and_proven_and_how_to_run_it_again():
    told = dict(lines(FACTS))
    assert told["claimed"] == "epsilon 1, one reward of one agent" and told["accounted"] == "no finite epsilon"
    assert told["proven"] == "epsilon at least 1.250, with 99 % confidence" and told["again"] == FACTS["command"]
    assert told["replay"] == "6 changed rewards show only where that was booked, without any noise"


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
