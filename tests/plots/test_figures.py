"""Pictures show the numbers of the summary, and the table beside each has the same."""

import csv
import io

import pytest
from matplotlib import colors

from coterie.errors import UsageError
from coterie.plots import FIGURES, FORMATS, draw, save
from coterie.plots.figures import STROKES, numbers_of, steps, strokes
from coterie.report.view import View


def table(document, figure):
    return list(csv.DictReader(io.StringIO(numbers_of(FIGURES[figure], View(document)))))


def test_regret_over_time_is_that_of_the_summary(run):
    _, document = run
    axes = draw(document, "regret").axes[0]
    rows = {row["label"]: row for row in document["rows"]}
    shown = {line.get_label(): line for line in axes.lines}
    named = dict(zip(document["answer"]["names"], rows.values(), strict=True))
    assert set(shown) == set(named)
    for name, row in named.items():
        assert list(shown[name].get_xdata()) == row["curve"]["round"]
        per_agent = [value / row["agents"] for value in row["curve"]["mean"]]
        assert shown[name].get_ydata() == pytest.approx(per_agent)
        assert shown[name].get_ydata()[-1] == pytest.approx(row["regret_per_agent"]["mean"])
    assert len(axes.collections) == len(rows)  # a band for each
    assert "95 %" in axes.get_ylabel() and axes.get_xlabel() == "round"


def test_a_band_is_the_interval_of_the_summary(run):
    _, document = run
    axes, row = draw(document, "regret").axes[0], document["rows"][0]
    names = [line.get_label() for line in axes.lines]
    band = axes.collections[names.index(document["answer"]["names"][0])].get_paths()[0].vertices
    last = band[band[:, 0] == row["curve"]["round"][-1]][:, 1]
    mean, margin = row["regret_per_agent"]["mean"], row["regret_per_agent"]["margin"]
    assert (last.min(), last.max()) == pytest.approx((mean - margin, mean + margin))


@pytest.mark.parametrize("figure", FIGURES)
def test_every_number_of_a_picture_is_in_its_table(run, figure):
    _, document = run
    lines = table(document, figure)
    assert lines and all(None not in line.values() for line in lines)
    unit = document["answer"]["unit"]["decisions"]
    if figure == "bars":
        told = {line["row"]: float(line[list(line)[1]]) for line in lines}
        for name, row in zip(document["answer"]["names"], document["rows"], strict=True):
            assert told[name] == pytest.approx(row["per_decision"]["mean"] * unit, rel=1e-5)


def test_a_sweep_has_its_values_across(run):
    _, document = run
    axes = draw(document, "sweep").axes[0]
    across = [list(line.get_xdata()) for line in axes.lines if len(line.get_xdata()) == 3]
    assert [1.0, 2.0, 5.0] in across
    assert [float(line["epsilon"]) for line in table(document, "sweep")] == [1, 2, 5]


def test_a_tradeoff_tells_who_has_no_epsilon(run):
    _, document = run
    told = {line["row"]: line["epsilon that holds"] for line in table(document, "tradeoff")}
    assert "no limit" in told.values() and sum(value in ("1", "2", "5") for value in told.values()) >= 3


def test_rows_differ_in_colour_or_stroke(run):
    _, document = run
    axes = draw(document, "regret").axes[0]
    looks = [(colors.to_hex(line.get_color()), line.get_linestyle()) for line in axes.lines]
    assert len(set(looks)) == len(looks)


def test_few_runs_have_no_interval(run):
    _, document = run
    few = document | {"rows": [row | {"replications": 3} for row in document["rows"]]}
    axes = draw(few, "regret").axes[0]
    assert not axes.collections and "95 %" not in axes.get_ylabel()
    assert all(line["95 % interval, half"] == "" for line in table(few, "bars"))


@pytest.mark.parametrize("kind", FORMATS)
def test_a_picture_is_saved_with_its_numbers_and_the_same_again(run, tmp_path, kind):
    _, document = run
    path = tmp_path / f"a.{kind}"
    numbers = save(document, path)
    first = path.read_bytes()
    assert first[:5] in (b"%PDF-", b"<?xml", b"\x89PNG\r") and numbers.read_text().startswith("row,round,")
    save(document, path)
    assert path.read_bytes() == first


def test_what_there_is_no_picture_of_is_said(run):
    _, document = run
    with pytest.raises(UsageError, match="figure must be one of regret, tradeoff, sweep, bars, got 'regrets'; did you mean"):
        draw(document, "regrets")
    alone = document | {"rows": [row | {"parameters": {}} for row in document["rows"]]}
    with pytest.raises(UsageError, match="figure sweep needs rows that differ in one number"):
        draw(alone, "sweep")


@pytest.mark.parametrize(("low", "high"), [(0.3, 0.7), (1.0, 1.0), (0.004, 900.0)])
def test_marks_of_an_axis_enclose_what_is_shown(low, high):
    found = steps(low, high)
    assert found[0] <= low and found[-1] >= high and len(found) >= 2


def changed(document, place, **changes):
    rows = [row | changes if at == place else row for at, row in enumerate(document["rows"])]
    return document | {"rows": rows}


def test_a_line_of_a_sweep_is_named_without_what_is_swept(run):
    _, document = run
    assert {line["line"] for line in table(document, "sweep")} == {"cdp-mab"}
    labels = draw(document, "sweep").axes[0].get_legend_handles_labels()[1]
    assert "cdp-mab" in labels and not any(label.endswith("=") for label in labels)


def test_curves_far_apart_have_a_logarithmic_axis_that_says_so(run):
    _, document = run
    assert "log" not in draw(document, "regret").axes[0].get_ylabel()
    row = document["rows"][0]
    curve = row["curve"] | {"per_decision": [100 * value for value in row["curve"]["per_decision"]]}
    axes = draw(changed(document, 0, curve=curve), "regret").axes[0]
    assert axes.get_yscale() == "log" and "log scale" in axes.get_ylabel()
    curve = curve | {"per_decision": [0.0 for _ in curve["per_decision"]]}
    large = document["rows"][1]["curve"]
    large = large | {"per_decision": [100 * value for value in large["per_decision"]]}
    axes = draw(changed(changed(document, 0, curve=curve), 1, curve=large), "regret").axes[0]
    assert axes.get_yscale() == "symlog" and axes.get_ylim()[0] == 0


def test_the_key_of_curves_has_the_order_of_their_ends(run):
    _, document = run
    ends = [line.get_ydata()[-1] for line in draw(document, "regret").axes[0].lines]
    assert ends == sorted(ends, reverse=True)


def test_rows_that_are_both_grey_differ_in_their_strokes(run, monkeypatch):
    _, document = run
    monkeypatch.setattr("coterie.plots.figures.colours", lambda view: dict.fromkeys(range(4), "#64708a"))
    assert sorted(strokes(View(document)).values()) == sorted(STROKES)


@pytest.mark.parametrize("figure", FIGURES)
def test_a_broken_promise_is_marked_as_broken(run, figure):
    _, document = run
    promise = document["rows"][0]["promise"] | {"state": "broken", "holds": 7.0}
    axes = draw(changed(document, 0, promise=promise), figure).axes[0]
    texts = [*axes.get_legend_handles_labels()[1], *(tick.get_text() for tick in axes.get_yticklabels())]
    assert sum("promise broken" in text for text in texts) == 1


@pytest.mark.parametrize("figure", ["regret", "tradeoff", "sweep"])
def test_no_line_of_a_label_is_longer_than_its_axis(run, figure):
    _, document = run
    picture = draw(document, figure)
    axes = picture.axes[0]
    picture.draw_without_rendering()
    assert axes.yaxis.label.get_window_extent().height <= axes.get_window_extent().height


def test_intervals_have_a_light_rim_on_dark_bars(run):
    _, document = run
    (intervals,) = draw(document, "bars").axes[0].collections
    assert intervals.get_path_effects()
