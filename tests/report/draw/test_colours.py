"""Colours: hue by method, never twice; all marks stand out from the paper."""

import re

import pytest

from coterie.report.draw.colours import HUES, PAPER, PLAIN, contrast, hues_of, shade, style


@pytest.mark.parametrize("name", [*HUES, "plain"])
def test_every_shade_stands_out_from_its_paper(name: str) -> None:
    hue = HUES.get(name, PLAIN)
    for step in range(21):
        colour = shade(hue, step / 20)
        assert contrast(colour.light, PAPER["light"]) >= 3 and contrast(colour.dark, PAPER["dark"]) >= 3


def test_texts_of_the_style_sheet_can_be_read() -> None:
    from coterie.report.template import HERE

    text = (HERE / "draw/page.css").read_text()
    light, dark = (dict(re.findall(r"--([\w]+): (#\w{6})", part)) for part in text.split("@media screen", 2)[:2])
    for paper, names in ((light, light), (dark, dark)):
        assert paper["paper"] in PAPER.values()
        for name in ("ink", "muted", "link", "good", "bad", "caution"):
            assert contrast(names[name], paper["paper"]) >= 4.5, name
            assert contrast(names[name], paper["panel"]) >= 4.5, name


def test_no_hue_is_given_twice_and_grey_and_orange_are_kept() -> None:
    methods = [f"method {number}" for number in range(9)]
    hues = hues_of(methods, "method 3", "method 5")
    assert hues["method 3"] == HUES["alone"] and hues["method 5"] == HUES["open"]
    others = [hues[method] for method in methods if method not in ("method 3", "method 5")]
    named = [hue for hue in others if hue is not PLAIN]
    assert len(set(named)) == len(named) == len(HUES) - 2
    assert HUES["alone"] not in named and HUES["open"] not in named


def test_a_page_has_a_rule_for_each_row_on_either_paper_and_prints_on_light() -> None:
    rules = style([shade(HUES["blue"], 0), shade(HUES["blue"], 1)])
    assert rules == (
        ".r1{--row:#0b3c7d}.r2{--row:#548fce}"
        "@media screen and (prefers-color-scheme:dark){.r1{--row:#c8ddff}.r2{--row:#5b93d8}}"
    )


def test_contrast_is_that_of_the_guidelines() -> None:
    assert contrast("#ffffff", "#777777") == pytest.approx(4.48, abs=0.01)
    assert contrast("#123456", "#123456") == 1
