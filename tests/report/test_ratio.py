"""The picture of regret relative to learning alone."""

from collections.abc import Callable
from typing import Any
from xml.etree.ElementTree import fromstring

from coterie.report.ratio import ratio_curves, ratios

MakeRow = Callable[..., dict[str, Any]]


def test_the_ratio_is_that_of_the_means_so_far(buying_row: MakeRow) -> None:
    alone, together = buying_row("nf-cb", 20.0), buying_row("fcb", 5.0)
    alone["curve"] = {"round": [1, 10, 100], "mean": [0.0, 40.0, 80.0]}
    together["curve"] = {"round": [1, 10, 100], "mean": [0.0, 30.0, 20.0]}
    assert ratios(together, alone) == [(10, 0.75), (100, 0.25)]
    svg = fromstring(ratio_curves([alone, together], ["nf-cb", "fcb"]))
    assert svg.get("aria-label", "").endswith("At the end: fcb: 0.25.")
    assert len([path for path in svg.iter("path") if path.get("class") == "mean"]) == 1


def test_there_is_no_ratio_without_somebody_who_learns_alone(buying_row: MakeRow) -> None:
    assert ratio_curves([buying_row("fcb"), buying_row("p-fcb")], ["fcb", "p-fcb"]) == ""
    assert ratio_curves([buying_row("nf-cb")], ["nf-cb"]) == ""
