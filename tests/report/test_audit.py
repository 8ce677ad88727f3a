"""The page of an audit says what is promised, what holds and what is proven, and shows the two sides of the game."""

import csv
import json
import re
from xml.etree import ElementTree

import pytest

from coterie.errors import StorageError
from coterie.report.audit import SCORES, answer, epsilon_line, in_words, lines, render, replayed, said, sides, write

EVENT = {"statistic": "threshold", "about": "total in the message of agent 0, turn 2", "threshold": 2.0, "side": 0}
GAME = {
    "canary": {"agent": 0, "arm": 0, "number": 1, "rest": 0, "why": "first", "text": "number 1 of arm 0, all others 0"},
    "epsilon": 1.25, "trials": 100, "hits": 50, "misses": 3, "event": EVENT,
    "scores": {"edges": [0.0, 1.0, 2.0, 3.0, 4.0], "zero": [40, 10, 30, 20], "one": [1, 2, 40, 57]},
}  # fmt: skip
REPLAY = {
    "rewards": 1200, "rewards_in_all": 1200, "pairs": 2400, "left_out": 0, "faults": ["no faults", "loss"], "booked": None,
    "price": None, "findings": [], "excused": [], "together": 1,
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
    assert told["lived twice"] == f"1,200 of 1,200 rewards changed, 2,400 pairs of lives, no faults, loss: {shown}"


def test_the_replay_says_how_many_rewards_were_changed_in_one_life():
    told = dict(lines(FACTS | {"replay": REPLAY | {"together": 50}}))["lived twice"]
    assert "2,400 pairs of lives with up to 50 changed rewards each, no faults" in told


def test_the_replay_says_what_was_left_out_found_and_excused():
    partly = REPLAY | {"rewards": 5, "left_out": 3, "findings": ["a card shows the reward"]}
    assert "5 of 1,200 rewards changed (a random sample)" in replayed(partly)
    assert "3 pairs were too long to compare: a card shows the reward" in replayed(partly)
    excused = replayed(REPLAY | {"price": 0.5, "excused": ["choices show the reward"]})
    assert "at a price of 0.5 or less; choices show the reward, as its caveat says, so choices were held fixed" in excused


ROW = {"label": "<a>", "agents": 20, "arms": 10, "horizon": 800, "privacy": FACTS["privacy"], "replay": REPLAY,
       "failed": True, "verdict": "broken: promised 1, no limit holds"}  # fmt: skip
STUDY = {"study": "mine", "rows": [ROW], "failed": True, "verdict": "1 of 1 rows that promise privacy break it", "seed": 0,
         "command": "coterie audit mine"}  # fmt: skip


def test_the_page_of_a_study_has_a_row_for_each_promise():
    page, told = render(STUDY), list(lines(STUDY))
    assert "&lt;a&gt;" in page and "Promised and broken" in page and "<figure" not in page and "Trials</dt>" not in page
    assert answer(STUDY) == ("Broken:", "1 of 1 rows that promise privacy break it.")
    assert told[1] == ("", "promised ε = 1, holds no limit; 20 agents, 10 arms, 800 rounds")
    kept = FACTS["privacy"] | {"accounted": {"epsilon": 1.0, "delta": 0.0}, "private": True}
    well = ROW | {"failed": False, "privacy": kept, "verdict": "No leak found; that is no proof"}
    both = render(STUDY | {"rows": [well, ROW]})
    assert both.index("Promised and broken") < both.index("No leak found;")


def facts_of(claimed, accounted, proven, **more):
    """An audit with these epsilons."""
    limit, kept = min(claimed or 99, accounted or 99), bool(claimed and accounted and accounted <= claimed)
    told = {"claimed": claimed and {"epsilon": claimed, "delta": 0.0}, "accounted": {"epsilon": accounted, "delta": 0.0}}
    found = {"violation": proven > limit, "failed": bool(claimed) and (proven > limit or not kept)}
    about = {"limit": limit, "proven": {"epsilon": proven, "confidence": 0.99}}
    return FACTS | about | found | {"privacy": FACTS["privacy"] | told | {"private": kept}} | more


BEYOND = "Not covered: for someone the promise leaves out, at least ε = 2 leaks, 1 was promised."


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        (facts_of(1.0, None, 5.8), "Broken: at least ε = 5.8 leaks, 1 was promised."),
        (facts_of(1.0, 1.0, 1.24), "Broken: at least ε = 1.2 leaks, 1 was promised."),
        (facts_of(1.0, 4.0, 0.5), "Broken: ε = 4 holds, 1 was promised."),
        (facts_of(1.0, None, 0.5), "Broken: no limit holds, 1 was promised."),
        (facts_of(1.0, 1.0, 0.8), "No leak found; that is no proof."),
        (facts_of(1.0, 1.0, 0.0, failed=True), "Broken: a changed reward shows where nothing was booked for it."),
        (facts_of(None, None, 2.0), "Nothing is promised; at least ε = 2 leaks."),
        (facts_of(1.0, 1.0, 2.0, covered_by_claim=False), BEYOND),
    ],
)  # fmt: skip
def test_the_answer_is_true_of_the_numbers(facts, sentence):
    assert " ".join(answer(facts)).replace("\N{NO-BREAK SPACE}", " ") == sentence
    page = " ".join(render(facts).replace("\N{NO-BREAK SPACE}", " ").split())
    assert answer(facts)[0] in page and ("A pass is no proof" in page)


def widths(bars):
    return [ElementTree.fromstring(picture).find("rect").get("width") for _, _, picture in bars.lines]


def test_promised_holds_and_proven_stand_on_one_scale_from_zero():
    share = [float(width.rstrip("%")) for width in widths(epsilon_line(facts_of(1.0, 2.0, 0.5)))]
    assert share[1] == pytest.approx(2 * share[0], rel=1e-2) and share[2] == pytest.approx(share[0] / 2, rel=1e-2)
    torn = [bool('class="tear"' in picture) for _, _, picture in epsilon_line(facts_of(1.0, None, 0.5)).lines]
    assert torn == [False, True, False]
    assert epsilon_line(facts_of(None, None, 0.0)) is None


def test_an_event_is_told_from_its_own_side():
    assert said(GAME).endswith("50 of 100 times where the reward is 0, 3 times where it is 1")
    assert "< 2" in said(GAME) and ">= 2" in said(GAME | {"event": EVENT | {"side": 1}})


def test_the_witness_is_told_in_words():
    told = in_words(GAME)
    assert "says that it was 0 when the score is below 2" in told
    assert "Where it was 0, that is said in 50 of 100 trials; where it was 1, in 3 of 100." in told
    assert "a middle value on the other" in in_words(GAME | {"canary": GAME["canary"] | {"to": "middle"}})
    assert {"equality", "acts", "low bits", "threshold", "likelihood", "logistic"} == set(SCORES)


def test_both_sides_are_drawn_to_the_same_scale():
    outlines = [ElementTree.fromstring(picture).find(".//polyline").get("points") for _, _, picture in sides(GAME).lines]
    heights = [[float(y) for y in re.findall(r",([\d.]+)", outline)] for outline in outlines]
    rise = [max(column) - min(column) for column in heights]
    assert rise[1] / rise[0] == pytest.approx(57 / 40, rel=1e-2)
    assert [name for _, name, _ in sides(GAME).lines] == [
        "it was 0: 50 of 100 are below the threshold",
        "it was 1: 3 of 100 are below the threshold",
    ]
    rows = list(csv.reader(str(sides(GAME).numbers).splitlines()))
    assert [sum(map(int, column)) for column in zip(*[row[2:] for row in rows[1:]], strict=True)] == [100, 100]


def test_the_page_escapes_names_and_a_game_without_an_event_has_no_picture():
    page = render(FACTS)
    assert "&lt;mine&gt;" in page and "<mine>" not in page and page.count("<figure") == 2
    nothing = FACTS | {"games": [GAME | {"event": None, "epsilon": 0.0}]}
    assert render(nothing).count("<figure") == 1 and dict(lines(nothing))["witness"].startswith("none")


def test_the_folder_holds_the_page_and_the_facts(tmp_path):
    write(tmp_path / "new", FACTS)
    assert json.loads((tmp_path / "new/audit.json").read_text()) == FACTS
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="cannot be written"):
        write(tmp_path / "file", FACTS)
