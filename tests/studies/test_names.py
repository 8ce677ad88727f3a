"""Settings and rows as people say them."""

import pytest

from coterie.studies.names import names_of, row_name, setting_text

PRINTED = {"mode": "paper", "epsilon": 0.5, "rate": 2, "own_clip": True}


def row(label, parameters=None, **faults):
    return {"label": label, "parameters": parameters or {}, "faults": faults}


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("epsilon", 1.0, "ε = 1"),
        ("epsilon", None, "no noise"),
        ("rounds", None, "no rounds"),
        ("life", 1, "1 hop"),
        ("life", "diameter", "life diameter"),
        ("own_clip", True, "own clip"),
        ("own_clip", False, "no own clip"),
        ("liars", 0, "no liars"),
        ("mode", "paper", "as printed"),
    ],
)
def test_a_setting(key, value, text):
    assert setting_text(key, value).replace("\xa0", " ") == text


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("fed-ucb mode=paper epsilon=0.5", "fed-ucb as printed ε = 0.5"),
        ("fed-ucb epsilon=0.5 rate=2 own_clip=true", "fed-ucb (ε = 0.5, rate = 2, own clip)"),
        ("together, private epsilon=0.5", "together, private ε = 0.5"),
        ("as printed, epsilon=0.5", "as printed, ε = 0.5"),
        ("epsilon=0.5", "ε = 0.5"),
        ("an epsilon=0.50 of the user's own", "an epsilon=0.50 of the user's own"),
        (r"\0 [a] (b|c)* rate=2", r"\0 [a] (b|c)* (rate = 2)"),
    ],
)
def test_a_row_is_called_by_its_label_with_its_settings_said(label, name):
    assert row_name(row(label, PRINTED)).replace("\xa0", " ") == name


def test_what_all_rows_share_is_not_said_of_each():
    rows = [row(f"m epsilon=1 rate={rate}", {"epsilon": 1.0, "rate": rate}) for rate in (1, 2)]
    assert [name.replace("\xa0", " ") for name in names_of(rows)] == ["m (rate = 1)", "m (rate = 2)"]
    assert names_of(rows[:1])[0].replace("\xa0", " ") == "m (ε = 1, rate = 1)"
    same = [row("m epsilon=1", {"epsilon": 1}), row("m", {"epsilon": 1})]
    assert len(set(names_of(same))) == 2
