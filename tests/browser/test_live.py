"""The live page of a node in a real browser: it keeps itself up to date, survives its agent, and asks nobody else."""

import sys
from pathlib import Path

import msgspec
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "deploy"))
LOOK = (Path(__file__).parent / "look.js").read_text(encoding="utf-8")
OPEN_ALL = "document.querySelectorAll('details').forEach(one => { one.open = true })"
WIDTHS = (360, 420, 700, 900, 1400)

nodes = pytest.importorskip("served_nodes", reason="needs coterie[deploy]")
view_types = pytest.importorskip("coterie.deploy.view")


def says(page, text):
    """As soon as it does."""
    page.wait_for_function("text => document.querySelector('main').innerText.includes(text)", arg=text, timeout=30_000)


def changed(view, **how):
    return msgspec.structs.replace(view, **how)


def test_it_updates_by_itself_and_leaves_what_is_open_as_it_is(opened):
    with nodes.served_node() as place, opened(place.listen.address) as page:
        says(page, "bisoprolol looks best so far")
        says(page, "live")
        page.locator("#wire summary").click()
        arms = (nodes.VIEW.arms[1], view_types.ArmView("aspirin", 2_000, 0.81))
        place.show(changed(nodes.VIEW, arms=arms, turn=8, missing=()))
        says(page, "aspirin looks best so far: about 0.81 per decision.")
        says(page, "Broker")
        place.show(changed(nodes.VIEW, alarms=(view_types.AlarmView("quarantine", "south has said two things"),)))
        says(page, "Quarantine: south has said two things")
        assert page.noise == []


def test_a_part_that_comes_or_goes_is_put_in_its_place(opened):
    with (
        nodes.served_node(nodes.FakeNode(changed(nodes.VIEW, peers=(), missing=()))) as place,
        opened(place.listen.address) as page,
    ):
        says(page, "This agent learns alone")
        place.show(nodes.VIEW)
        says(page, "has not reported in epoch 7")
        assert page.noise == []


def test_it_survives_a_restart_of_its_agent(opened):
    with nodes.served_node() as place, opened(place.listen.address) as page:
        says(page, "live")
        place.stop()
        says(page, "no answer since")
        assert "bisoprolol looks best" in page.inner_text("main")
        with nodes.served_node(nodes.FakeNode(changed(nodes.VIEW, turn=99)), listen=place.listen):
            page.wait_for_function("() => document.querySelector('#figs').innerText.includes('99')", timeout=30_000)
            says(page, "live")
            assert [
                line for line in page.noise if "net::ERR_" not in line
            ] == []  # the browser's own words while nobody is there


MANY = {
    "released": 10**6,
    "releases": tuple(view_types.ReleaseView(10_000 + k, "treatment B", 64_000, 0.25, 1.7e9) for k in range(8)),
}


@pytest.mark.parametrize("width", [360, 420])
def test_on_a_phone_no_column_is_hidden_and_both_bars_are_explained(opened, width):
    with nodes.served_node(nodes.FakeNode(changed(nodes.VIEW, **MANY))) as place, opened(place.listen.address) as page:
        says(page, "live")
        page.set_viewport_size({"width": width, "height": 1000})
        table = page.locator("#releases .scroll")
        assert table.evaluate("one => one.scrollWidth <= one.clientWidth")
        says(page, "Thin bar: how often it was chosen here")
        page.set_viewport_size({"width": 1400, "height": 1000})
        assert "Thin bar" not in page.inner_text("main")


STATES = {
    "as usual": {},
    "long names": {
        "name": "the-university-hospital-of-the-far-north",
        "arms": tuple(view_types.ArmView(f"a treatment with a name too long for phones, {k}", 10**k, k / 9) for k in range(9)),
    },
    "all at once": {
        "alarms": tuple(view_types.AlarmView("quarantine", f"{name} has said two things", 1.7e9) for name in ("east", "south")),
        "silent": "budget", "budget": view_types.BudgetView(1.0, 0.0, 1.0, 0.0, True), "connected": False,
    },
    "at the beginning": {
        "arms": (view_types.ArmView("a", 0, None), view_types.ArmView("b", 0, None)), "releases": (), "released": 0,
        "peers": (view_types.PeerView("east"),), "missing": (), "turn": 0, "decisions": 0, "learned": 0,
    },
    "many releases": MANY,
    "a coordinator": {"role": "coordinator", "arms": ()},
    "below zero and above one": {"arms": (view_types.ArmView("a", 1, -0.4), view_types.ArmView("b", 1, 1.7))},
}  # fmt: skip


@pytest.mark.parametrize("name", STATES)
def test_nothing_is_amiss_in_any_width_light_and_dark(opened, name):
    found = []
    with nodes.served_node(nodes.FakeNode(changed(nodes.VIEW, **STATES[name]))) as place, opened(place.listen.address) as page:
        says(page, "live")
        page.evaluate(OPEN_ALL)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 1000})
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                found += [f"{width} px, {scheme}: {fault}" for fault in page.evaluate(LOOK)]
        found += page.noise
    assert found == []
