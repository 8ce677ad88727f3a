"""The live page says what the view says, in words, and nothing else."""

import base64
import hashlib
import re

import msgspec
import pytest

from coterie.deploy.view import ArmView, BudgetView, PeerView
from coterie.deploy.web.page import HEADERS, page_of


def words(html):
    body = re.sub(r"<(style|script)>.*?</\1>", "", html, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", body).split())


def said(view, **changes):
    return words(page_of(msgspec.structs.replace(view, **changes)))


def test_the_first_sentence_names_the_best_arm(view):
    text = said(view)
    assert "bisoprolol looks best so far: about 0.62 per decision. It was chosen in 82 % of 1,000 decisions." in text
    assert "ε = 1" in text and "rewards told so far have at least 0.6 of it left, new ones all" in text
    assert "still missing: south" in text
    assert "clopidogrel &amp; co" in text and "no estimate yet" in text


def test_a_bar_goes_from_0_to_its_estimate_and_the_number_stands_right_of_both(view):
    """From -1 to 1 on 84 % of the width, 0 is at 42 %."""
    worths = {"a": -1.0, "b": 1.0, "c": -0.5, "d": None}
    page = page_of(msgspec.structs.replace(view, arms=tuple(ArmView(name, 1, worth) for name, worth in worths.items())))
    bars = [tuple(map(float, found)) for found in re.findall(r'<rect x="([\d.]+)%" y="6" width="([\d.]+)%"', page)]
    assert bars == [(0, 42), (42, 42), (21, 21)]
    texts = re.findall(r'<text x="([\d.]+)%" dx="7"[^>]*>([^<]+)<', page)
    assert [(float(x), text) for x, text in texts] == [(42, "-1"), (84, "1"), (42, "-0.5"), (42, "no estimate yet")]


def test_a_stopped_arm_is_never_the_best(view):
    arms = (msgspec.structs.replace(view.arms[1], withheld=True), view.arms[0])
    text = said(view, arms=arms, silent="withheld")
    assert "aspirin looks best" in text and "bisoprolol stopped" in text and "reports nothing more in this run" in text


def test_before_anything_is_known_it_says_so(view):
    arms = (ArmView("a", 0, None), ArmView("b", 0, None))
    text = said(view, arms=arms, decisions=0, learned=0, released=0, releases=(), turn=0)
    assert "Too early to say." in text and "Nothing has left this machine yet." in text


def test_alarms_come_before_calm(view, alarm):
    assert "All is well" in said(view)
    text = said(view, alarms=(alarm,))
    assert "Quarantine: south has said two things under one number" in text and "All is well" not in text


def test_a_spent_budget_is_said(view):
    text = said(view, budget=BudgetView(1.0, 0.0, 1.0, 0.0, True), silent="budget")
    assert "it is spent, and nothing more is released" in text and "The privacy budget is spent: decisions go on" in text


def test_without_privacy_nothing_is_promised(view):
    assert "is promised: this run has no privacy" in said(view, budget=BudgetView(None, 0.0, 0.0, None))


def test_who_is_missing_comes_first(view):
    peers = (*view.peers, PeerView("west"))
    text = said(view, peers=peers)
    assert text.index("has not reported in epoch 7") < text.index("No word has come") < text.index("last word in epoch 7")
    assert "Not heard yet: west" in text


def test_a_broker_that_is_away_is_said(view):
    assert "Decisions go on; what is to be said is kept" in said(view, connected=False)


def test_a_coordinator_says_who_is_missing(view):
    text = said(view, role="coordinator", arms=())
    assert "Epoch 7: 1 of 2 have reported, and south not yet." in text and "2 are needed" in text


def test_one_who_is_alone_needs_nobody(view):
    assert "This agent learns alone" in said(view, peers=(), clock="own", missing=())


def test_names_are_texts_and_never_markup(view):
    arms = (ArmView("<b>", 1, 0.5), ArmView("</svg>", 1, 0.5))
    html = page_of(msgspec.structs.replace(view, name="<script>x</script>", arms=arms))
    assert "<script>x" not in html and "<b>:" not in html and "</svg>:" not in html


@pytest.mark.parametrize("clock", ["own", "common", "epochs"])
def test_every_clock_has_its_words(view, clock):
    assert ("epoch" if clock == "epochs" else "turn") in said(view, clock=clock)


def test_no_other_script_may_run_and_nothing_is_fetched_elsewhere(view):
    scripts = re.findall(r"<script>(.*?)</script>", page_of(view), flags=re.DOTALL)
    allowed = re.search(r"script-src 'sha256-([^']+)'", HEADERS["Content-Security-Policy"])
    assert len(scripts) == 1
    assert base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode() == allowed[1]
    assert not re.search(r'(?:src|href)="(?:https?:)?//', page_of(view))
