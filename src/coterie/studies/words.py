"""What the page calls an agent and an arm: the study's own words.

All texts of the program speak of agents and arms, and so do the notes of algorithms. The page translates them, in one
place, so that no sentence can be forgotten. Names of rows are the user's and stay as they are (see `rows.emphasised`).
"""

import re
from typing import NamedTuple


class Words(NamedTuple):
    agent: str = "agent"
    arm: str = "arm"

    def in_place_of_ours(self, text: str) -> str:
        """The text with the study's words.

        >>> Words("hospital", "therapy").in_place_of_ours("Agents choose an arm; an agent may drop arms.")
        'Hospitals choose a therapy; a hospital may drop therapies.'
        """
        return re.sub(r"\b(an )?(agent|arm)(s?)\b", self._translated, text, flags=re.IGNORECASE)

    def _translated(self, found: re.Match[str]) -> str:
        article, ours, plural = found.groups(default="")
        word = self.agent if ours.lower() == "agent" else self.arm
        word = plural_of(word) if plural else word
        word = word[:1].upper() + word[1:] if ours[0].isupper() else word
        return _article(article, word) + word


def plural_of(noun: str) -> str:
    """hospitals, therapies, branches.

    >>> [plural_of(noun) for noun in ("agent", "pharmacy", "day", "branch", "box")]
    ['agents', 'pharmacies', 'days', 'branches', 'boxes']
    """
    if re.search(r"[^aeiou]y$", noun):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if re.search(r"(s|x|z|ch|sh)$", noun) else f"{noun}s"


def _article(ours: str, word: str) -> str:
    """`an` before a vowel; before u it is more often `a` (a user, a unit)."""
    if not ours:
        return ""
    return ours if word[:1].lower() in "aeio" else f"{ours[0]} "
