"""settings.toml: what an agent decides for itself. A budget that cannot be kept is refused before anything is made."""

import asyncio
import time

import pytest
from nodes import make_federation

import coterie
from coterie.deploy.federation import federation_text
from coterie.deploy.keys import make_keys
from coterie.deploy.opening import FILE
from coterie.deploy.refusals import Unfit
from coterie.deploy.settings import SETTINGS, check_persons, load_settings, open_persons
from coterie.deploy.stores import rewards
from coterie.deploy.stores.erasure import forget_before
from coterie.errors import StateError, StorageError, UsageError

TOMORROW = time.time() + 86400


def test_without_the_file_there_is_no_budget_of_persons(tmp_path):
    assert load_settings(tmp_path).budget is None and open_persons(tmp_path, make_federation(tmp_path), "north") is None


@pytest.mark.parametrize(
    "text, words",
    [
        ("[budget]\nperson = 0", "budget.person must be"),
        ("[budget]\nperson = nan", "budget.person must be a finite number"),
        ("[budget]\nperson = inf", "budget.person must be"),
        ('[budget]\nperson = "3"', "budget.person must be"),
        ("[budget]\npersn = 3", "did you mean 'person'"),
        ("[budget]\nperson = 3\npersons = ''", "budget.persons"),
        ("[budget\n", "settings.toml"),
        ("[budget]\nperson = 0.25", "budget.person must be at least 1, what one reward of this run may lose, got 0.25"),
    ],
)
def test_what_does_not_do_is_one_line(tmp_path, text, words):
    (tmp_path / SETTINGS).write_text(text)
    with pytest.raises(UsageError) as caught:
        check_persons(tmp_path, make_federation(tmp_path, {"name": "fed-ucb", "epsilon": 1.0}), "north")
    assert words in str(caught.value) and "\n" not in str(caught.value)
    assert not (tmp_path.parent / "persons.db").exists()


def test_a_file_that_is_no_text_is_told(tmp_path):
    (tmp_path / SETTINGS).write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="is not text in UTF-8"):
        load_settings(tmp_path)


def test_a_run_without_privacy_and_a_coordinator_have_no_such_budget(tmp_path):
    (tmp_path / SETTINGS).write_text("[budget]\nperson = 3")
    open_run = make_federation(tmp_path, "coop-ucb", privacy="none")
    with pytest.raises(UsageError, match="must be left out in a run that protects nothing"):
        check_persons(tmp_path, open_run, "north")
    with pytest.raises(UsageError, match="must be left out by a coordinator"):
        check_persons(tmp_path, make_federation(tmp_path, "pooled-ucb"), "centre")
    with pytest.raises(UsageError, match="spends a delta, 1e-06, which does not add up"):
        check_persons(tmp_path, make_federation(tmp_path, "fed-ucb", budget={"epsilon": 1.0, "delta": 1e-6}), "north")


@pytest.fixture
def runs(tmp_path):
    """Folders of three runs of one agent that learns alone, with its keys and the same settings."""
    made = []
    keys = make_keys(tmp_path / "keys")
    for number in range(1, 4):
        folder = tmp_path / f"run {number}"
        folder.mkdir(mode=0o700)
        for name in ("sign.key", "connect.key"):
            (folder / name).write_bytes((tmp_path / "keys" / name).read_bytes())
            (folder / name).chmod(0o600)
        tables = {
            "arms": ["a", "b"], "horizon": 200 + number, "tick": 0.01, "algorithm": {"name": "dp-ucb-int", "epsilon": 1.0},
            "rewards": {"within": "at once"}, "agents": [{"name": "north", "signs": keys.signs, "connects": keys.connects}],
        }  # fmt: skip
        (folder / FILE).write_text(federation_text(tables))
        (folder / SETTINGS).write_text("[budget]\nperson = 2.0\n")
        made.append(folder)
    return made


def test_an_application_names_persons_over_three_runs_in_folders_of_their_own(runs, tmp_path):
    learned = []
    for folder in runs:
        with coterie.open_agent(folder) as agent:
            made = agent.ask(key="visit", person="Ada")
            agent.tell(made.id, 1.0)
            learned.append((made.learned, agent.ask(key="other", person=f"Ben {folder.name}").learned, agent.ask().learned))
            view = str(agent.view())
            assert "Ada" not in view and "Ben" not in view
    assert learned == [(True, True, False), (True, True, False), (False, True, False)]
    assert (tmp_path / "persons.db").stat().st_mode & 0o777 == 0o600
    (tmp_path / "persons.db").rename(tmp_path / "gone")
    with pytest.raises(StateError, match="must have a charge for each of 2 rewards of this run, got 0"):
        coterie.open_agent(runs[0])


def test_a_person_is_named_only_where_persons_have_a_budget(runs):
    (runs[0] / SETTINGS).unlink()
    with coterie.open_agent(runs[0]) as agent:
        with pytest.raises(Unfit, match=r"person of a decision must be left out where settings.toml has no budget.person"):
            agent.ask(person="Ada")
        assert agent.ask().learned
    (runs[1] / SETTINGS).write_text("[budget]\nperson = 2.0\n")
    with coterie.open_agent(runs[1]) as agent, pytest.raises(Unfit, match="person of a decision must be text of 1 to 200"):
        agent.ask(person="x" * 201)


def test_what_is_not_learned_from_is_not_tried_out_either(runs):
    """Who has no budget left is not used for a plan that waits for rewards: the answer is the algorithm's idle arm."""
    with coterie.open_agent(runs[0]) as agent:
        node = agent._node
        asked = []
        node._read, plain = lambda hook, *more: asked.append(hook.__name__) or plain(hook, *more), node._read
        for _ in range(3):
            assert not agent.ask(key=None).learned
        assert len(asked) == 3 and agent.view().learned == 0
        assert asyncio.run_coroutine_threadsafe(node.stores.rewards.do(rewards.learning), agent._loop).result() == 0


def told(folder, keys, person="Ruth"):
    """Which of these are learned from."""
    with coterie.open_agent(folder) as agent:
        made = [agent.ask(key=key, person=person) for key in keys]
        for each in made:
            agent.tell(each.id, 1.0)
        return [each.learned for each in made]


def test_erasing_rewards_gives_no_budget_back_and_the_same_keys_are_charged_anew(runs):
    visits = ["visit 0", "visit 1"]
    assert told(runs[0], visits) == [True, True]
    assert told(runs[0], visits) == [True, True], "the same decisions"
    assert forget_before(runs[0], TOMORROW) == 2
    assert told(runs[0], visits) == [False, False]
    assert told(runs[0], visits, "Saul") == [False, False], "the same decisions, whoever is named"
    assert told(runs[0], ["visit 2", "visit 3"], "Saul") == [True, True]


def test_a_folder_that_is_made_anew_for_the_same_run_gives_no_budget_back(runs, tmp_path):
    assert told(runs[0], ["visit 0", "visit 1"]) == [True, True]
    for path in runs[0].glob("*.db*"):
        path.unlink()
    assert told(runs[0], ["visit 0", "visit 1"]) == [False, False]


def test_a_lost_file_of_persons_is_found_out_also_when_all_rewards_were_erased(runs, tmp_path):
    told(runs[0], ["visit 0", "visit 1"])
    forget_before(runs[0], TOMORROW)
    (tmp_path / "persons.db").rename(tmp_path / "gone")
    with pytest.raises(StateError, match="must have a charge for each of 2 rewards of this run, got 0: it was lost"):
        coterie.open_agent(runs[0])


def test_a_question_without_a_key_has_a_charge_that_no_key_can_name(runs):
    with coterie.open_agent(runs[0]) as agent:
        made = [agent.ask(person="Ruth") for _ in range(2)]
        assert [each.learned for each in made] == [True, True]
        names = [name for each in made for name in (each.id, f"id {each.id}")]
        assert not any(agent.ask(key=name, person="Ruth").learned for name in names)


def test_a_path_that_nothing_can_have_and_a_folder_that_is_not_there_are_told(runs, tmp_path):
    (runs[0] / SETTINGS).write_text('[budget]\nperson = 2.0\npersons = "a\\u0000b"\n')
    with pytest.raises(UsageError, match=r"budget\.persons must be the path of a file, got one with a character"):
        coterie.open_agent(runs[0])
    (runs[0] / SETTINGS).write_text("[budget]\nperson = 2.0\npersons = '../nowhere/persons.db'\n")
    with pytest.raises(StorageError, match="cannot be opened: its folder is not there"):
        coterie.open_agent(runs[0])
    assert not (tmp_path / "nowhere").exists()
