"""The federation file: what it becomes, which run it names, and what is wrong with a bad one, in one line."""

import copy
import json
import random
import re
from math import inf, nan
from pathlib import Path

import pytest
from nodes import member

from coterie.deploy.federation import federation_text, load_federation
from coterie.deploy.tables import nkey_bytes
from coterie.deploy.up import plan
from coterie.engines.forecast import first_release, forecast
from coterie.errors import UsageError

NORTH, SOUTH, WEST, CENTRE = (member(name) for name in ("north", "south", "west", "centre"))
OWN = Path(__file__).parents[2] / "examples/own_algorithm.py"
PEERS = {
    "arms": ["aspirin", "ibuprofen", "placebo"],
    "horizon": 1000,
    "algorithm": {"name": "fed-ucb"},
    "rewards": {"within": "28 days"},
    "broker": {"address": "tls://broker.example:4222"},
    "agents": [NORTH, SOUTH, WEST],
}
STAR = PEERS | {"algorithm": {"name": "pooled-ucb"}, "coordinator": CENTRE}


def load(folder, tables):
    (folder / "f.toml").write_text(federation_text(tables))
    return load_federation(folder / "f.toml")


def changed(tables, changes):
    """A copy with other values at dotted places; None: without what is there."""
    tables = copy.deepcopy(tables)
    for place, value in changes.items():
        *parents, key = (int(step) if step.isdecimal() else step for step in place.split("."))
        table = tables
        for parent in parents:
            table = table[parent] if isinstance(parent, int) else table.setdefault(parent, {})
        if value is None:
            del table[key]
        else:
            table[key] = value
    return tables


def test_what_a_file_says(tmp_path):
    found = load(tmp_path, PEERS)
    assert [member.name for member in found.members] == ["north", "south", "west"]
    assert (found.clock, found.rewards.within, found.rewards.missing, found.tick) == ("own", 28 * 86400, 0.0, 1.0)
    assert found.hears("north") == [("south", 1), ("west", 1)] and found.heard_by("north") == ["south", "west"]
    assert found.position("west") == 2 and found.neighbours("west") == ["north", "south"]
    assert found.allowance == (1.0, 0.0) and found.budget().epsilon == 1.0
    assert found.method().p.arms == 3 and not found.algorithm.options.catch_up


def test_around_a_coordinator(tmp_path):
    found = load(tmp_path, STAR)
    assert (found.clock, found.epochs.quorum) == ("epochs", 3)
    assert found.hears("centre") == [("north", 0), ("south", 0), ("west", 0)] and found.hears("south") == [("centre", 0)]
    assert found.position("centre") == -1 and found.heard_by("centre") == ["north", "south", "west"]


def test_edges_by_name_and_words_that_live_for_hops(tmp_path):
    network = {"edges": [["north", "south"], ["south", "west"]], "life": 2}
    found = load(tmp_path, PEERS | {"network": network, "algorithm": {"name": "private-ucb"}})
    assert found.hears("north") == [("south", 1), ("west", 2)] and found.neighbours("north") == ["south"]


def test_alone_nobody_needs_a_broker(tmp_path):
    found = load(tmp_path, changed(PEERS, {"algorithm.name": "dp-ucb-int", "broker": None}))
    assert found.hears("north") == [] and found.heard_by("north") == []


@pytest.mark.parametrize(
    ("place", "value"),
    [("horizon", 1001), ("arms.0", "paracetamol"), ("agents.0.name", "east"), ("algorithm.epsilon", 0.5), ("tick", 2.0),
     ("algorithm.name", "pr-ucb"), ("rewards.within", "27 days"), ("network.graph", "ring"), ("same_means", True)],
)  # fmt: skip
def test_every_change_of_the_file_is_another_run(tmp_path, place, value):
    assert load(tmp_path, PEERS).run != load(tmp_path, changed(PEERS, {place: value})).run


@pytest.mark.parametrize(
    ("place", "value"),
    [("agents.0.signs", CENTRE["signs"]), ("agents.0.connects", CENTRE["connects"]), ("title", "ours"),
     ("broker.address", "tls://other.example:4222"), ("rewards.within", 28 * 86400), ("rewards.low", 0)],
)  # fmt: skip
def test_keys_the_broker_and_ways_to_write_a_number_are_no_part_of_the_run(tmp_path, place, value):
    assert load(tmp_path, PEERS).run == load(tmp_path, changed(PEERS, {place: value})).run


@pytest.mark.parametrize("tables", [PEERS, STAR], ids=["peers", "star"])
def test_what_one_release_costs_is_what_a_forecast_begins_with(tmp_path, tables):
    method = load(tmp_path, tables).method()
    first = first_release(method, 200)
    assert first and first == forecast(method, 200).agent.events[:1]


def test_what_differs_between_two_runs_can_be_told(tmp_path):
    one, other = load(tmp_path, PEERS), load(tmp_path, changed(PEERS, {"tick": 2.0}))
    assert [part for part in one.digests if one.digests[part] != other.digests[part]] == ["file"]


EPSILON = "algorithm.epsilon of fed-ucb must be a number in [1e-06, 1e+06] or inf (inf: no privacy)"
BAD = [
    # what the issue and the design list
    ({"rewards.within": None}, "rewards.within must be a finite number in (0, 316224000] or 'at once' (or a time such as"),
    ({"rewards.within": "4 moons"}, "rewards.within must be"),
    ({"rewards.within": 0}, "rewards.within must be"),
    ({"rewards.within": float("inf")}, "rewards.within must be"),
    ({"epochs.quorum": 4}, "epochs.quorum must be in 1..3, the number of agents, got 4"),
    ({"epochs.quorum": 0}, "epochs.quorum must be a whole number >= 1, got 0"),
    ({"algorithm.catch_up": True}, "algorithm.catch_up of fed-ucb must be false on own clocks, got true"),
    ({"algorithm.epsilon": float("inf")}, 'must be one with a finite epsilon unless privacy = "none" is written'),
    ({"algorithm.epsilon": float("nan")}, f"{EPSILON}, got NaN"),
    ({"algorithm.epsilon": 0.0}, f"{EPSILON}, got 0.0"),
    ({"algorithm.epsilon": "1"}, f"{EPSILON}, got '1' (text)"),
    ({"algorithm.epsilon": 11.0}, 'algorithm.epsilon must be at most 10 unless privacy = "weak" is written, got 11'),
    ({"budget.epsilon": 0.5}, "budget.epsilon must be at least 1, what one release costs, got 0.5"),
    ({"budget.epsilon": 1.0, "budget.delta": 1.0}, "budget.delta must be a number in [0, 1), got 1.0"),
    ({"privacy": "none"}, "privacy must be left out where fed-ucb promises epsilon 1, got 'none'"),
    ({"agents.1.name": "so.uth"}, "agents[1].name must be 1 to 40 letters, digits, - or _"),
    ({"agents.1.name": "north"}, "agents[1].name must not repeat agents[0].name, got 'north'"),
    ({"agents.1.signs": NORTH["signs"]}, "agents[1].signs must not repeat agents[0].signs"),
    ({"agents.1.connects": NORTH["connects"]}, "agents[1].connects must not repeat agents[0].connects"),
    ({"agents.1.signs": nkey_bytes(SOUTH["connects"]).hex()}, "one key never serves both purposes"),
    ({"agents.1.signs": "ab"}, "agents[1].signs must be 64 hexadecimal digits in lower case, got 'ab'"),
    ({"agents.1.connects": "U" * 56}, "agents[1].connects must be an nkey of a user"),
    ({"agents": [NORTH]}, "agents must be at least 2 for fed-ucb, got 1"),
    # robustness.md
    ({"arms": ["aspirin"]}, "arms must be a list of at least 2 entries"),
    ({"arms": ["aspirin", "aspirin"]}, "arms[1] must not repeat another arm, got 'aspirin'"),
    ({"arms": ["aspirin", " "]}, "arms[1] must be a name, got ' '"),
    ({"horizon": 0}, "horizon must be a whole number in [1, 1000000000000], got 0"),
    ({"horizon": True}, "horizon must be a whole number in [1, 1000000000000], got true"),
    ({"horizn": 1000, "horizon": None}, "unknown key 'horizn'; did you mean 'horizon'?"),
    ({"seed": 7}, "unknown key 'seed'"),
    ({"rewards.window": "1 day"}, "unknown key 'window' in rewards"),
    ({"rewards.low": 1.0}, "rewards.high must be above rewards.low, 1, got 1"),
    ({"rewards.missing": 2.0}, "rewards.missing must lie in [0, 1], got 2.0"),
    ({"rewards.within": "at once", "rewards.missing": 0.0}, 'rewards.missing must be left out where within is "at once"'),
    ({"network.edges": [["north", "south"]]}, "network.edges must connect all agents, got the components"),
    ({"network.edges": [["north", "north"]]}, "network.edges[0] must join two different agents, got ['north', 'north']"),
    ({"network.edges": [["north", "soth"]]}, "network.edges[0] must join two agents, got 'soth'; did you mean 'south'?"),
    ({"network.graph": "erdos-renyi"}, "network.graph must be 'complete', 'star', 'ring' or 'path', got 'erdos-renyi'"),
    ({"broker.address": "nats://broker.example:4222"}, "broker.address must begin with tls:// beyond this machine"),
    ({"broker.address": "broker.example"}, 'broker.address must be such as "tls://broker.example:4222"'),
    ({"broker": None}, "broker must be a table with an address"),
    ({"tick": -1.0}, "tick must be a finite number in (0, 316224000]"),
    ({"clock": "sundial"}, "clock must be 'own', 'common' or 'epochs', got 'sundial'"),
    ({"clock": "epochs"}, "clock must be 'own' or 'common' for fed-ucb, or left out, got 'epochs'"),
    ({"coordinator": CENTRE}, "coordinator must be left out for fed-ucb, which has none, got 'centre'"),
    # what does not run, and what to take instead
    ({"algorithm.name": "fed-ubc"}, "must be a known algorithm or the path of a .py file, got 'fed-ubc'; did you"),
    ({"algorithm.name": "no.py"}, "algorithm.name must be the path of a file that can be read"),
    ({"algorithm.mode": "paper"}, "algorithm.mode of fed-ucb must be 'private', got 'paper'"),
    ({"algorithm.mechanism": "root"}, "algorithm.mechanism of fed-ucb must be noise with an exact sampler"),
    ({"algorithm.mechanism": "digits"}, "algorithm.mechanism of fed-ucb must be noise with an exact sampler"),
    ({"algorithm.name": "hdp-mab"}, "take 'cdp-mab' or 'pooled-ucb'"),
    ({"algorithm.name": "p-fcb"}, "algorithm.name must be one that pulls arms, such as 'pooled-ucb', got 'p-fcb'"),
    ({"algorithm.name": "gossip-ucb"}, 'unless privacy = "none" is written'),
    ({"algorithm.name": "ucb1"}, 'unless privacy = "none" is written'),
    ({"algorithm": {"name": "private-ucb", "noise": "kept", "mode": "corrected"}}, "algorithm.noise of private-ucb"),
    ({"algorithm.name": "cdp-mab"}, "coordinator must be a table with name, signs and connects for cdp-mab, got nothing"),
    ({"algorithm.name": "peer-ucb", "clock": "own"}, "clock must be 'common' for peer-ucb, or left out, got 'own'"),
    ({"algorithm.label": "ours"}, "unknown key 'label' in algorithm (fed-ucb)"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "text"), BAD, ids=lambda value: re.sub(r"\W+", "-", str(value))[:60])
def test_what_is_wrong_is_one_line_with_file_field_and_range(tmp_path, changes, text):
    with pytest.raises(UsageError) as caught:
        load(tmp_path, changed(PEERS, changes))
    line = str(caught.value)
    assert line.startswith(f"{tmp_path / 'f.toml'}: ") and text in line and "\n" not in line
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"algorithm.noise": "central"}, "algorithm.noise of pooled-ucb must be 'local', got 'central'"),
        ({"algorithm.noise": "secagg"}, "agents[0].seals must be given for noise = 'secagg', as `agent init` prints it"),
        ({"algorithm.quorum": 2}, "quorum is used only together with noise = 'secagg', got quorum = 2"),
        ({"algorithm.noise": "secagg", "algorithm.quorum": 1}, "algorithm.quorum of pooled-ucb must be a whole number >= 2"),
        ({"algorithm.noise": "secagg", "algorithm.colluders": 2}, "colluders must be a whole number in 0..1 (any two sums"),
        ({"algorithm.noise": "secagg", "agents": [NORTH, SOUTH]}, "agents must be a whole number >= 3 with noise = 'secagg'"),
        ({"agents.0.seals": "12"}, "agents[0].seals must be 64 hexadecimal digits in lower case, got '12'"),
        ({"algorithm.through": "components"}, "algorithm.through of pooled-ucb must do without sinks"),
        ({"clock": "own"}, "clock must be 'epochs' for pooled-ucb, or left out, got 'own'"),
        ({"coordinator.name": "north"}, "coordinator.name must not repeat agents[0].name"),
    ],
)
def test_what_is_wrong_around_a_coordinator(tmp_path, changes, text):
    with pytest.raises(UsageError, match=re.escape(text)):
        load(tmp_path, changed(STAR, changes))


def sealing(agents, arms, **options):
    members = [member(f"a{i}") | {"seals": f"{i:064x}"} for i in range(agents)]
    algorithm = {"name": "pooled-ucb", "noise": "secagg", **options}
    return STAR | {"agents": members, "algorithm": algorithm, "arms": [f"arm {k}" for k in range(arms)]}


def test_a_secure_sum_is_closed_with_its_own_quorum_whatever_epochs_say(tmp_path):
    assert load(tmp_path, sealing(7, 3)).epochs.quorum == 7
    assert load(tmp_path, sealing(7, 3, quorum=5)).epochs.quorum == 5
    assert load(tmp_path, sealing(7, 3, quorum=5) | {"epochs": {"quorum": 2}}).epochs.quorum == 5
    assert load(tmp_path, sealing(7, 3, quorum=5) | {"epochs": {"quorum": 6}}).epochs.quorum == 6


def test_the_pieces_of_a_report_must_fit_into_a_word(tmp_path):
    assert load(tmp_path, sealing(70, 100)).epochs.quorum == 70
    with pytest.raises(UsageError, match="agents must be at most 72 with 100 arms and noise = 'secagg', got 80"):
        load(tmp_path, sealing(80, 100))


def test_the_first_complaint_in_the_order_of_the_file_is_told_and_the_rest_counted(tmp_path):
    with pytest.raises(UsageError, match=r"horizon must be .* \(and 1 more\)"):
        load(tmp_path, changed(PEERS, {"horizon": 0, "rewards.low": "a"}))


def test_what_is_said_to_be_meant_is_taken(tmp_path):
    weak = load(tmp_path, changed(PEERS, {"algorithm.epsilon": 11.0, "privacy": "weak"}))
    assert weak.allowance == (11.0, 0.0)
    bare = load(tmp_path, changed(PEERS, {"algorithm.epsilon": float("inf"), "privacy": "none"}))
    assert bare.budget() is None
    assert load(tmp_path, changed(PEERS, {"algorithm.catch_up": True, "clock": "common"})).algorithm.options.catch_up


def test_an_own_file_without_fits_is_simulated_and_not_deployed(tmp_path):
    own = changed(PEERS, {"algorithm": {"name": str(OWN)}})
    with pytest.raises(UsageError, match="must have the hook `fits`"):
        load(tmp_path, own)


@pytest.mark.parametrize(
    ("text", "wrong"), [("arms = [", "line 1 is not valid TOML"), ("\xff", "UTF-8"), (None, "cannot be read")]
)
def test_files_that_are_none(tmp_path, text, wrong):
    if text is not None:
        (tmp_path / "f.toml").write_bytes(text.encode("latin-1"))
    with pytest.raises(UsageError, match=wrong):
        load_federation(tmp_path / "f.toml")


def test_text_survives_being_written(tmp_path):
    tables = changed(
        PEERS, {"title": 'a "b" \\ é\n', "algorithm.epsilon": 0.1, "network.edges": [["north", "south"], ["south", "west"]]}
    )
    found = load(tmp_path, tables)
    assert found.title == tables["title"] and found.algorithm.options.epsilon == 0.1
    assert found.network.edges == (("north", "south"), ("south", "west"))


STRANGE = [
    0, -1, 2, 2**62, 2**63, 10**400, 0.5, 5e-324, -1e308, inf, -inf, nan, True, "", "x", "cdp-mab", "hdp-mab", "../../x",
    "mine.py", "\0.py", "a" * 5000, "9" * 400 + " days", "at once", "tls://[:1", "tls://x:" + "0" * 5000 + "1", [], {}, ["x"],
    [["x", "y"]], [[]], [{}], {"a": 1}, {"name": "x"}, ["north", "north"],
]  # fmt: skip


def places(tables, above=()):
    for key, value in tables.items() if isinstance(tables, dict) else enumerate(tables):
        yield (*above, key)
        if isinstance(value, dict | list):
            yield from places(value, (*above, key))


def mutated(chance, tables):
    """A copy in which one to three entries are gone, of another type, or deeper than they should be."""
    tables = copy.deepcopy(tables)
    for _ in range(chance.choice((1, 1, 2, 3))):
        *parents, key = chance.choice(list(places(tables)) or [("arms",)])
        table = tables
        for parent in parents:
            table = table[parent]
        if chance.random() < 0.25 and (isinstance(table, list) or key in table):
            del table[key]
        else:
            before = table[key] if isinstance(table, list) else table.get(key)
            table[key] = copy.deepcopy(chance.choice([chance.choice(STRANGE), {"x": before}, [before], str(before)]))
    return tables


def inline(value):
    """TOML of anything, nested as it is."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{json.dumps(key)} = {inline(entry)}' for key, entry in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(inline, value))}]"
    return json.dumps(value) if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else repr(value)


def test_whatever_a_file_says_it_runs_or_is_refused_in_one_line(tmp_path):
    """Read here, and as `coterie up` reads it: never anything else, and nothing is made."""
    chance, file, refused = random.Random(1), tmp_path / "f.toml", 0
    for _ in range(100):
        tables = mutated(chance, chance.choice((PEERS, STAR)))
        file.write_text("".join(f"{json.dumps(key)} = {inline(value)}\n" for key, value in tables.items()))
        for read in (load_federation, plan):
            try:
                read(file)
            except UsageError as error:
                refused += 1
                assert str(error).startswith(f"{file}: ") and "\n" not in str(error)
    assert refused > 100 and list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("depth", [100, 500, *range(900, 1001, 10), 5000])
def test_a_file_of_any_depth_is_refused(tmp_path, depth):
    keys = ".".join("a" * depth)
    for text in (f"{keys} = 1", f"algorithm.{keys} = 1", f"arms = {'[' * depth}{']' * depth}"):
        (tmp_path / "f.toml").write_text(text)
        for read in (load_federation, plan):
            with pytest.raises(UsageError):
                read(tmp_path / "f.toml")
