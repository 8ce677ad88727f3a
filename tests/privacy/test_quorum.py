"""How many agents a sum of shares needs."""

from itertools import product

import pytest

from coterie.errors import UsageError
from coterie.privacy.quorum import Quorum, check_unused, quorum_of

NUMBERS = [Quorum(n, q, c) for n in range(3, 15) for q in range(n // 2 + 1, n + 1) for c in range(q - 1)]
ALL = [about for about in NUMBERS if about.quorum >= about.threshold]


@pytest.mark.parametrize("agents", range(3, 30))
def test_if_nothing_is_said_all_report_and_nine_in_ten_are_honest(agents):
    found = quorum_of(agents)
    assert (found.quorum, found.holders) == (agents, max(2, agents - -(-agents // 10)))
    assert quorum_of(agents, honest=2) == Quorum(agents, agents, agents - 2)


@pytest.mark.parametrize("about", ALL, ids=str)
def test_the_honest_part_of_any_sum_is_a_whole_draw_and_of_two_sums_of_an_epoch_one_can_open(about):
    """By counting: colluders are in any sum and answer for both; each honest agent answers for one of them."""
    assert quorum_of(about.agents, None, about.quorum, about.colluders) == about
    for reports in range(about.quorum, about.agents + 1):
        assert reports - about.colluders >= about.holders >= 2
    honest = about.agents - about.colluders
    both = [a for a in range(honest + 1) if min(a, honest - a) + about.colluders >= about.threshold]
    assert both == []
    assert about.colluders < about.threshold <= about.agents
    assert 2 * about.holders > honest, "two groups of honest reporters would each be a sum"


@pytest.mark.parametrize(
    ("agents", "options", "said"),
    [
        (2, {}, "agents must be a whole number >= 3 with noise = 'secagg', got 2"),
        (10, {"quorum": 5}, r"quorum must be a whole number in 6\.\.10 \(more than half of the agents\), got 5"),
        (10, {"quorum": 11}, r"quorum must be a whole number in 6\.\.10 .*, got 11"),
        (10, {"quorum": 6, "colluders": 5}, r"colluders must be a whole number in 0\.\.1 \(any two sums of 6 of 10 reports"),
        (21, {"quorum": 16, "colluders": 12}, r"colluders must be a whole number in 0\.\.10 "),
        (400, {"quorum": 395, "colluders": 391}, r"colluders must be a whole number in 0\.\.389 "),
        (10, {"colluders": 9}, r"colluders must be a whole number in 0\.\.8 "),
        (10, {"honest": 11}, r"honest must be a whole number in 2\.\.10 \(the agents\), got 11"),
        (10, {"honest": 8, "quorum": 9}, r"honest must be left out beside quorum or colluders .*, got 8"),
        (10, {"honest": 8, "colluders": 0}, "honest must be left out beside quorum or colluders"),
    ],
)  # fmt: skip
def test_numbers_that_do_not_protect_are_refused(agents, options, said):
    with pytest.raises(UsageError, match=said):
        quorum_of(agents, **options)


def test_who_shares_no_noise_says_nothing_about_its_holders():
    check_unused("secagg", honest=3, quorum=4)
    check_unused("local", honest=None, quorum=None)
    for name, number in product(("honest", "quorum", "colluders"), (0, 3)):
        with pytest.raises(UsageError, match=f"{name} is used only together with noise = 'secagg', got {name} = {number}"):
            check_unused("local", **{name: number})
