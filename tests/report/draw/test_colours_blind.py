"""Hues stay apart for people who do not see red, green or blue, by Machado's model of it, and so do the ends of each hue."""

from itertools import combinations

import numpy as np
import pytest
from colorspacious import cspace_convert, deltaE

from coterie.report.draw.colours import HUES

APART = 12.0  # in CAM02-UCS, where 1 is about what can just be seen
ENDS_APART = 7.0
SIGHTS = (None, "protanomaly", "deuteranomaly", "tritanomaly")  # of severity 100: the colour is not seen at all


def seen(colour, sight):
    parts = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    space = {"name": "sRGB1+CVD", "cvd_type": sight, "severity": 100}
    return np.clip(cspace_convert(parts, space, "sRGB1"), 0, 1) if sight else parts


def distance(one, other, sight):
    return deltaE(seen(one, sight), seen(other, sight), input_space="sRGB1")


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("paper", ["light", "dark"])
def test_no_two_hues_look_alike(paper, sight):
    strong = {name: getattr(hue, paper)[0] for name, hue in HUES.items()}
    near = {pair: distance(strong[pair[0]], strong[pair[1]], sight) for pair in combinations(strong, 2)}
    assert {pair: found for pair, found in near.items() if found < APART} == {}


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("paper", ["light", "dark"])
def test_the_ends_of_a_hue_are_told_apart(paper, sight):
    ends = {name: getattr(hue, paper) for name, hue in HUES.items() if hue.light[0] != hue.light[1]}
    assert {name: found for name, pair in ends.items() if (found := distance(*pair, sight)) < ENDS_APART} == {}


def test_a_pair_that_only_seems_to_differ_is_found():
    assert distance("#a04e00", "#4a5f00", None) > 2 * APART and distance("#a04e00", "#4a5f00", "protanomaly") < 1
