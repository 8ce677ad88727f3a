"""The page to sign: what it says of rows that keep their promise, break it, or make none, and how losses add up."""

import re
import shutil
import subprocess
from math import inf

import pytest

import coterie
from coterie.errors import UsageError
from coterie.privacy.statement import ONE_ORDER, Claim
from coterie.report import statement as page
from coterie.studies.budget import Runs, added_up, price_study

SIGNATURE = "<div>Signature</div>"
SEVERAL = [
    {"name": "cdp-mab", "sweep": {"epsilon": [3, 0.3, 1, 5]}, "label": "private"},
    {"name": "cdp-mab", "epsilon": inf, "label": "bare"},
    {"name": "cdp-mab", "mode": "paper", "epsilon": 0.3, "label": "printed"},
]
KEPT, WEAK, BARE, PRINTED = 2, 3, 4, 5


def study_of(*algorithms, agents=4, **settings):
    problem = {"means": [0.9, 0.5], "agents": agents}
    tree = {"horizon": 400, "replications": 20, "problem": problem, "algorithm": list(algorithms)} | settings
    return coterie.load_study(tree).specification


@pytest.fixture(scope="module")
def several():
    study = study_of(*SEVERAL)
    return study, price_study(study)


def told(several, index, **about):
    found = page.facts(*several, index, **about)
    return found, " ".join(page.render(found).split()), "\n".join(page.text(found))


# --- what it says


def test_a_kept_promise_can_be_signed_and_is_told_with_unit_adversary_trust_and_numbers(several):
    found, html, text = told(several, KEPT, rewards=7)
    assert found["to_sign"] and SIGNATURE in html and "Date" in html
    for words in ("by a factor of at most 2.72", "one reward of one agent", "anyone who sees every message", "nobody", "kept"):
        assert words in html and words in " ".join(text.split())
    assert [(loss["rewards"], loss["epsilon"], loss["delta"]) for loss in found["losses"]] == [(1, 1.0, 0.0), (7, 7.0, 0.0)]
    assert coterie.version.VERSION in html and several[0].digest in html and "cdp-mab, mode private" in html


@pytest.mark.parametrize(
    ("index", "answer"),
    [
        (PRINTED, "The promise is broken: ε = 0.3 is promised, but ε = 1.2 holds."),
        (BARE, "Nothing is promised, and no finite ε holds: a number leaves an agent without noise."),
    ],
)
def test_where_no_promise_is_kept_the_truth_is_told_and_there_is_nothing_to_sign(several, index, answer):
    found, html, text = told(several, index)
    assert found["answer"].replace("\N{NO-BREAK SPACE}", " ") == answer
    assert not found["to_sign"] and SIGNATURE not in html
    assert "Nothing to sign" in html and "nothing to sign" in text


def test_a_weak_promise_is_called_weak_and_can_be_signed(several):
    found, html, _ = told(several, WEAK)
    assert found["to_sign"] and found["promise"] == "kept, but weak" and "That is weak." in found["answer"]
    assert SIGNATURE in html and 'class="weak"' in html


def test_the_row_with_the_smallest_kept_epsilon_is_taken_where_none_is_named(several):
    study, prices = several
    assert study.rows[page.headline(prices)].label == "private epsilon=0.3"
    assert page.row_of(study, "bare") == BARE and page.row_of(study, "6") == PRINTED


@pytest.mark.parametrize("wanted", ["0", "7", "-1", "²", "public"])
def test_an_unknown_row_is_told_which_there_are(several, wanted):
    study, _ = several
    with pytest.raises(UsageError, match=r"--row must be a number in 1..6 or one of 'private epsilon=3'"):
        page.row_of(study, wanted)


@pytest.mark.parametrize(
    ("noise", "trust", "uncovered"),
    [
        ("central", "the server to keep raw sums", "Anything, from the server"),
        ("secagg", "secure aggregation", "A single report"),
    ],
)
def test_what_has_to_be_trusted_is_asked_for_in_the_answer_and_not_covered(noise, trust, uncovered):
    radius = {"radius": "subexp"} if noise == "secagg" else {}
    study = study_of({"name": "cdp-mab", "noise": noise, **radius})
    found = page.facts(study, price_study(study), 0)
    assert found["trust"].startswith(trust) and "This asks for trust" in found["answer"]
    assert any(line.startswith(uncovered) for line in found["not_covered"])


def test_choices_that_rest_on_raw_rewards_and_public_facts_of_a_procurement_are_not_covered():
    problem = {"kind": "procurement", "agents": 3, "producers": 4, "alpha": 0.5}
    study = study_of({"name": "nf-cb"}, problem=problem, horizon=30)
    found = page.facts(study, price_study(study), 0)
    assert found["privacy"]["unit"] == ONE_ORDER and not found["to_sign"]
    assert found["not_covered"][0].startswith("What an agent chooses: orders rest on")
    assert any(line.startswith("Costs, capacities") for line in found["not_covered"])


def test_the_study_speaks_its_own_words_and_labels_stay_as_they_are():
    words = {"agent": "hospital", "arm": "therapy"}
    study = study_of({"name": "cdp-mab", "label": "an agent's <b>arm</b>"}, words=words)
    _, html, text = told((study, price_study(study)), 0)
    assert "one reward of one hospital" in html and "which therapies it plays" in text
    assert "an agent&#39;s &lt;b&gt;arm&lt;/b&gt;" in html and "an agent's <b>arm</b>" in text


def test_an_audit_is_told_and_one_that_failed_leaves_nothing_to_sign(several):
    found, html, text = told(several, KEPT)
    assert "not audited: coterie audit cdp-mab --mode private --epsilon 1" in html and found["audit"]["verdict"] is None
    for failed in (False, True):
        found, html, text = told(several, KEPT, audit=page.Verdict("epsilon is at least 0.4", failed))
        assert "audited: epsilon is at least 0.4" in html and "audited: epsilon is at least 0.4" in text
        assert (SIGNATURE in html) is found["to_sign"] is not failed


def test_the_audit_command_names_all_options_that_are_not_usual():
    study = study_of({"name": "fed-ucb", "mechanism": "tree", "catch_up": False, "epsilon": 0.5})
    command = page.audit_command(study, study.rows[0])
    assert command.startswith("coterie audit fed-ucb --mode private --epsilon 0.5 ")
    assert "--set mechanism=tree" in command and "--set catch_up=false" in command


# --- what adds up


def test_rows_reruns_and_other_studies_add_up(several):
    other = study_of({"name": "cdp-mab", "sweep": {"epsilon": [0.25, 0.5]}})
    sums = page.facts(*several, KEPT, rewards=10, others=[page.Beside(other, price_study(other))])["added_up"]
    assert {one["what"]: (one["epsilon"], one["person"]) for one in sums} == {
        "this row 20 times, as often as the study runs it": (20.0, 200.0),
        "the 4 rows that keep their promise, once each": (pytest.approx(9.3), pytest.approx(93.0)),
        "all 6 rows of this study, once each": (None, None),
        f"this row, and all rows of {other.name}, once each": (1.75, 17.5),
        f"this row, and all rows of {other.name}, as often as their studies do": (35.0, 350.0),
    }
    assert sums[2]["note"] == "because of “bare”"


def test_deltas_add_up_and_normal_noise_of_many_rewards_is_not_taken_in_proportion():
    study = study_of({"name": "fed-ucb", "mechanism": "root", "sweep": {"epsilon": [0.5, 1]}}, horizon=30)
    prices = price_study(study)
    epsilon, delta = added_up(map(Runs, prices))
    assert epsilon == pytest.approx(1.5) and delta == pytest.approx(2e-6)
    assert added_up(Runs(price, rewards=10) for price in prices)[0] > 12 * epsilon


def test_deltas_that_add_up_to_one_leave_no_limit(several):
    half = several[1][KEPT]._replace(method=several[1][KEPT].method._replace(claim=Claim(1.0, 0.5)))
    assert added_up([Runs(half)])[0] < 1 and added_up([Runs(half, times=2)]) == (inf, 1.0)


def test_a_sum_never_looks_smaller_than_it_is(several):
    _, prices = several
    assert added_up([Runs(prices[1], times=10)])[0] >= 10 * 0.3  # ten times the number 0.3 is a little less in floating point


def test_a_sum_over_unlike_adversaries_says_so():
    study = study_of({"name": "cdp-mab"}, {"name": "cdp-mab", "noise": "central"}, replications=1)
    [total] = page.facts(study, price_study(study), 0)["added_up"]
    assert total["epsilon"] == 2.0 and total["note"] == "against those from whom every row protects"


def test_a_study_that_is_named_twice_is_added_twice(several):
    other = study_of({"name": "cdp-mab", "epsilon": 0.5})
    once, twice = ([page.Beside(other, price_study(other))] * times for times in (1, 2))
    totals = [page.facts(*several, KEPT, others=named)["added_up"][-2]["epsilon"] for named in (once, twice)]
    assert totals[1] - totals[0] == pytest.approx(0.5)


def test_losses_of_unlike_units_are_not_added_up(several):
    other = study_of({"name": "nf-cb"}, problem={"kind": "procurement", "agents": 3, "producers": 4, "alpha": 0.5}, horizon=30)
    with pytest.raises(UsageError, match="--times must name studies that protect the same"):
        page.facts(*several, KEPT, others=[page.Beside(other, price_study(other))])


def test_each_study_counts_the_rewards_that_a_person_has_in_its_own_table(several, tmp_path):
    rows = [f"{agent},{arm},1,{person}" for agent in "ab" for arm in "xy" for person in ("ida", "ida", "ole")]
    (tmp_path / "log.csv").write_text("\n".join(["agent,arm,reward,person", *rows]))
    problem = {"kind": "logged", "file": str(tmp_path / "log.csv")}
    other = study_of({"name": "cdp-mab"}, problem=problem, horizon=400, replications=3)
    assert other.problem.rewards_of_person == 8
    once, often = page.facts(*several, KEPT, rewards=10, others=[page.Beside(other, price_study(other))])["added_up"][-2:]
    assert (once["epsilon"], once["person"]) == (2.0, 18.0)
    assert (often["epsilon"], often["person"]) == (23.0, 224.0)  # 20 + 3, and 20 x 10 + 3 x 8


# --- how it looks


@pytest.fixture(scope="module")
def crowded():
    """Long names, all kinds of sums, trust to be asked for."""
    title = "Forty-eight regional hospital groups of three countries, sixteen treatments each: does learning together help any?"
    secret = {"name": "cdp-mab", "noise": "secagg", "radius": "subexp", "sweep": {"epsilon": [0.3, 5]}}
    label = "by secure aggregation, private, as the committee has agreed upon in its last session"
    bare = [{"name": "cdp-mab", "epsilon": inf, "label": f"a row without any noise, number {part}"} for part in range(3)]
    words = {"agent": "hospital group", "arm": "treatment"}
    study = study_of(secret | {"label": label}, *bare, title=title, words=words, agents=48)
    prices = price_study(study)
    names = ("another-study", "a-third-study", "a-fourth-study")
    return page.facts(study, prices, 0, 365, [page.Beside(study.model_copy(update={"name": name}), prices) for name in names])


def test_the_text_fits_a_terminal(crowded):
    lines = list(page.text(crowded, 80))
    assert len(lines) <= 51 and max(map(len, lines)) <= 80


@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs a browser that prints")
def test_the_page_prints_on_one_sheet(crowded, tmp_path):
    page.write(tmp_path / "page.html", crowded)
    command = ["chromium", "--headless", "--no-sandbox", f"--print-to-pdf={tmp_path / 'page.pdf'}", tmp_path / "page.html"]
    subprocess.run(command, check=True, capture_output=True)
    assert len(re.findall(rb"/Type\s*/Page\b", (tmp_path / "page.pdf").read_bytes())) == 1
