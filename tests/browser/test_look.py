"""The looking itself: it finds what is planted, and nothing on a page that is well."""

import pytest

WELL = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>t</title><link rel="icon" href="data:,">
<style>.ink { fill: CanvasText }</style></head><body>
<figure id="hero"><svg width="300" height="60" role="img"><rect width="80" height="20" fill="black"/>
<text x="4" y="15" font-size="12" fill="white">bar</text><text x="4" y="50" font-size="12" class="ink">below</text></svg>
</figure><p>words</p><details><summary>more</summary><div style="overflow-x: auto"><table><tr>
<td style="min-width: 2000px">wide, in a box</td><td>beyond</td></tr></table></div></details>{planted}</body></html>"""
SVG = '<svg width="300" height="60">{}</svg>'
SCALED = '<svg width="150" viewBox="0 0 300 60"><text y="20" class="ink">small</text></svg>'
PLANTED = {
    "overlap": (SVG.format('<text y="20" class="ink">one of two</text><text x="9" y="24" class="ink">other</text>'), "overlap"),
    "overlap of html": ('<p style="margin: 0">a line</p><p style="margin: -14px 0 0">another</p>', "overlap"),
    "wide table": ("<table><tr><td style='min-width: 1500px'>wide</td></tr></table>", "scrolls sideways"),
    "wide table when opened": ("<details><summary>s</summary><p style='width: 1500px'>wide</p></details>", "scrolls sideways"),
    "beyond the edge": ('<p style="position: absolute; left: -30px">cut off</p>', "beyond the edge"),
    "small text": (SVG.format('<text y="20" font-size="11" class="ink">small</text>'), "text of 11.0 px"),
    "small by scale": (SCALED, "text of 8.0 px"),
    "low contrast": ('<p style="color: #888; background: #999">pale</p>', "contrast of 1.2"),
    "low contrast by opacity": ('<p style="opacity: .4">pale</p>', "contrast of "),
    "low contrast on a shape": (
        SVG.format('<rect width="99" height="40" fill="#222"/><text y="20">dark</text>'),
        "contrast of 1.3",
    ),
    "request": ('<img src="picture.png" alt="">', "request: file:"),
    "message": ("<script>console.log('here')</script>", "console: here"),
    "error": ("<script>nothing()</script>", "error: nothing is not defined"),
}


@pytest.fixture
def seen(look, tmp_path):
    def faults(planted, **how):
        (tmp_path / "page.html").write_text(WELL.replace("{planted}", planted), encoding="utf-8")
        return look(tmp_path / "page.html", **how)

    return faults


def test_nothing_is_found_on_a_page_that_is_well(seen):
    assert seen("", hero=True) == []


@pytest.mark.parametrize("name", PLANTED)
def test_what_is_planted_is_found(seen, name):
    planted, fault = PLANTED[name]
    assert fault in "\n".join(seen(planted, widths=[700]))


def test_a_picture_far_down_is_found(seen):
    assert len(seen("<style>#hero { margin-top: 990px }</style>", hero=True)) == 5
