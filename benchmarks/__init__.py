"""Speed, as ratios measured in one run: `python -m benchmarks`."""

from typing import Any

from coterie.studies import load_study
from coterie.studies.case import Case, make_case


def only_case(study: dict[str, Any]) -> Case:
    """Of a study with one row, its first instance."""
    specification = load_study(study).specification
    return make_case(specification, specification.rows[0], 0)
