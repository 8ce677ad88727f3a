"""What Prometheus reads is what the view says."""

import msgspec
from prometheus_client.parser import text_string_to_metric_families

from coterie.deploy.view import BudgetView
from coterie.deploy.web.metrics import metrics_of


def samples(view):
    return {
        (one.name, *one.labels.values()): one.value
        for family in text_string_to_metric_families(metrics_of(view).decode())
        for one in family.samples
    }


def test_every_number_is_there_with_its_label(view, alarm):
    found = samples(msgspec.structs.replace(view, alarms=(alarm,)))
    assert found["coterie_decisions_total",] == 1000 and found["coterie_decisions_learned_total",] == 950
    assert found["coterie_budget_spent",] == 0.4 and found["coterie_turn",] == 7 and found["coterie_alarms",] == 1
    assert found["coterie_choices_total", "bisoprolol"] == 820 and found["coterie_worth", "bisoprolol"] == 0.62
    assert ("coterie_worth", "clopidogrel & co") not in found
    assert found["coterie_peer_lag_turns", "south"] == 1 and found["coterie_messages_rejected_total", "replayed"] == 2
    assert found["coterie_missing_reports",] == 1 and found["coterie_silent",] == 0 and found["coterie_connected",] == 1


def test_no_promise_is_no_number(view):
    found = samples(msgspec.structs.replace(view, budget=BudgetView(None, 0.0, 0.0, None)))
    assert found["coterie_budget_epsilon",] != found["coterie_budget_epsilon",]


def test_it_is_served(place):
    answer = place("GET", "/metrics", token=None)
    assert "coterie_decisions_total 1000.0" in answer.text and answer.headers["content-type"].startswith("text/plain")
