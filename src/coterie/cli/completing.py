"""What a shell may complete: names of studies and algorithms, and keys before the = of `--set`."""

from collections.abc import Iterable


def study_names(incomplete: str) -> list[str]:
    from coterie.studies.reading import builtin_names

    return _beginning(incomplete, builtin_names())


def algorithm_names(incomplete: str) -> list[str]:
    from coterie.algorithms import names

    return _beginning(incomplete, names())


def settings(incomplete: str) -> list[str]:
    from coterie.studies.reference import settable

    return _beginning(incomplete, (f"{key}=" for key in settable()))


def _beginning(incomplete: str, words: Iterable[str]) -> list[str]:
    return sorted(word for word in words if word.startswith(incomplete))
