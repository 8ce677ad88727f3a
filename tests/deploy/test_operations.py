"""What operators are handed: a unit that systemd takes, and a dashboard that shows what is exported."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from commands import START, run_here
from msgspec import structs
from prometheus_client.parser import text_string_to_metric_families
from served_nodes import VIEW

import coterie.deploy
from coterie.deploy.view import AlarmView
from coterie.deploy.web.metrics import metrics_of
from coterie.errors import exit_codes

HANDED = Path(coterie.deploy.__file__).parent / "operations"
UNIT, BOARD = HANDED / "coterie-agent@.service", HANDED / "grafana.json"
AWAY = "systemd-analyze is not there (on Debian: apt-get install systemd)"


def exported():
    """Every sample of a member that has something to say of everything, with the names of its labels."""
    view = structs.replace(VIEW, alarms=(AlarmView("broker", "away", 1.0),), silent="budget")
    families = text_string_to_metric_families(metrics_of(view).decode())
    return {sample.name: set(sample.labels) for family in families for sample in family.samples}


def targets():
    return [(panel["title"], target) for panel in json.loads(BOARD.read_text())["panels"] for target in panel["targets"]]


def test_the_dashboard_asks_for_what_is_exported_and_leaves_nothing_out():
    asked = {name for _, target in targets() for name in re.findall(r"coterie_\w+", target["expr"])}
    shown = {name for name in exported() if not name.endswith("_created")}
    assert asked == shown


def test_the_dashboard_names_labels_that_are_there():
    labels = exported()
    for title, target in targets():
        names = re.findall(r"coterie_\w+", target["expr"])
        there = {"instance"}.union(*(labels[name] for name in names))
        assert set(re.findall(r"{{(\w+)}}", target["legendFormat"])) <= there, title
        assert all(set(re.findall(r"(\w+)=~", target["expr"])) <= there for _ in names), title


def test_rates_are_of_counters_and_counters_are_shown_as_rates():
    counters = {name for name in exported() if name.endswith("_total")}
    for title, target in targets():
        inside = set(re.findall(r"(?:rate|increase)\((coterie_\w+)", target["expr"]))
        assert inside == {name for name in re.findall(r"coterie_\w+", target["expr"]) if name in counters}, title


def test_the_dashboard_has_one_place_for_each_panel():
    panels = json.loads(BOARD.read_text())["panels"]
    cells = [
        (x, y)
        for at in (panel["gridPos"] for panel in panels)
        for x in range(at["x"], at["x"] + at["w"])
        for y in range(at["y"], at["y"] + at["h"])
    ]
    assert len(cells) == len(set(cells)) and max(x for x, _ in cells) < 24
    assert len({panel["id"] for panel in panels}) == len(panels)


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason=AWAY)
def test_systemd_takes_the_unit(tmp_path):
    """With a program that is there in place of the one that is to be installed; nothing else is changed."""
    text = UNIT.read_text()
    assert text.count("ExecStart=/usr/local/bin/coterie agent") == 1
    place = tmp_path / UNIT.name.replace("@", "@north")
    place.write_text(text.replace("ExecStart=/usr/local/bin/coterie", f"ExecStart={shutil.which('true')}"))
    command = ["systemd-analyze", "verify", "--recursive-errors=no", str(place)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    place.write_text(place.read_text().replace("Restart=always", "Restart=sometimes"))
    assert "sometimes" in subprocess.run(command, capture_output=True, text=True).stderr, "it does look"


def test_the_command_of_the_unit_is_one(tmp_path):
    """Its options are those of the command, and the codes after which it stays down are codes that do not mend themselves."""
    text = UNIT.read_text()
    words = re.search(r"^ExecStart=\S+ (.*)$", text, flags=re.MULTILINE)[1].replace("%i", "nowhere").split()
    done = run_here(*words, cwd=tmp_path)
    assert done.returncode == 2 and "federation.toml" in done.stderr
    stays = {int(code) for code in re.search(r"RestartPreventExitStatus=(.*)", text)[1].split()}
    assert stays == {2, 4, 5, 6} and stays <= set(exit_codes()) and START[0] == sys.executable
