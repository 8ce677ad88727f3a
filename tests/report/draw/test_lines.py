"""Panels of lines and bands."""

import json
from xml.etree.ElementTree import fromstring

import pytest

from coterie.report.draw.lines import Line, panel
from coterie.report.draw.scale import Scale
from coterie.report.draw.scatter import Axis

ACROSS = Axis(Scale(1, 100, log=True), [(1.0, "1"), (100.0, "100")])
UP = Axis(Scale(1, 100, 100.0, 0.0, True), [(1.0, "1"), (10.0, "10")])
LINE = Line("r1", [(1.0, 100.0), (10.0, 10.0), (100.0, 1.0)], [0.0, 5.0, 0.0])


def test_lines_bands_and_others_are_at_their_places() -> None:
    svg = fromstring(panel([LINE], [Line("r2", [(1.0, 10.0), (100.0, 10.0)])], ACROSS, UP, "said", height=100.0))
    (curves,) = [part for part in svg if part.get("class") == "curves"]
    assert curves.get("preserveAspectRatio") == "none"
    found = {shape.get("class"): shape.get("points") for shape in curves.iter() if shape.get("points")}
    assert found["ln"] == "0,0 500,50 1000,100"
    assert found["ctx"] == "0,50 1000,50"
    band = [tuple(map(float, pair.split(","))) for pair in (found["bd"] or "").split()]
    assert band[1][1] == pytest.approx(100 - 50 * 1.1761, abs=0.1) and band[4][1] == pytest.approx(100 - 50 * 0.699, abs=0.1)
    assert svg.get("aria-label") == "said" and svg.get("data-readout") is None


def test_there_is_no_band_without_margins_and_zero_is_left_out_of_a_log_scale() -> None:
    line = Line("r1", [(1.0, 0.0), (10.0, 10.0), (100.0, 1.0)], [None, 5.0, 0.0])
    svg = panel([line], [], ACROSS, UP, "", height=100.0)
    assert "bd" not in svg and 'points="500,50 1000,100"' in svg


def test_what_is_read_off_is_told_for_each_moment() -> None:
    svg = fromstring(panel([LINE], [], ACROSS, UP, "", [["Round 1", "<b>"], ["Round 10"], ["Round 100"]], height=100.0))
    assert json.loads(svg.get("data-steps", "")) == [[0.0, "Round 1", "<b>"], [50.0, "Round 10"], [100.0, "Round 100"]]
    assert (svg.get("tabindex"), svg.get("data-plot"), svg.get("data-readout")) == ("0", "100", "")
