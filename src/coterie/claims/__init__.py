"""Every claim of the four papers as data, and what our own runs say of it.

`papers/` has a file for each paper: where a claim stands, what it says in our words, which study can tell, how it is judged.
`measures.py` has the ways of judging, `lab.py` the runs, `judging.py` the verdicts. Tests read the same files.
"""

from coterie.claims.claim import Claim, Paper, papers
from coterie.claims.judging import Judged, judge
from coterie.claims.lab import Lab

__all__ = ["Claim", "Judged", "Lab", "Paper", "judge", "papers"]
