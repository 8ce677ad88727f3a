"""The Python interface refuses what the command refuses, in the same words and at once."""

import pytest

import coterie
from coterie.errors import UsageError

SMALL = {"horizon": 10, "problem": {"means": [0.9, 0.1], "agents": 2}, "algorithm": [{"name": "ucb1"}]}


@pytest.mark.parametrize("workers", [0, -1, 1.5, True, "2"])
def test_workers_are_a_whole_number(workers):
    with pytest.raises(UsageError, match="workers must be a whole number >= 1, got "):
        coterie.load_study(SMALL).run(workers=workers)


@pytest.mark.parametrize("source", [None, 5, [], b"x"])
def test_a_study_is_a_path_a_name_or_a_dict(source):
    with pytest.raises(UsageError, match="a study must be the path of a TOML file, the name of a built-in study or a dict"):
        coterie.load_study(source)


@pytest.mark.parametrize("sets", ["horizon=5", 5, None, [5], [None]])
def test_settings_are_a_list_of_texts(sets):
    with pytest.raises(UsageError, match="sets must be a list of texts such as 'horizon=1000', got "):
        coterie.load_study(SMALL, sets)


def test_nothing_is_ignored():
    with pytest.raises(UsageError, match="fresh must be left out without a folder"):
        coterie.load_study(SMALL).run(fresh=True)
    with pytest.raises(UsageError, match="progress must be a function"):
        coterie.load_study(SMALL).run(progress=5)
