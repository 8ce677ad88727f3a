"""The checks in their order. Each step says in words what was found in order, and raises AlgorithmError at the first fault."""

from collections.abc import Iterator
from pathlib import Path

from coterie import algorithms
from coterie.checking.lives import check_again, check_replay, check_three_ways
from coterie.checking.shape import check_entry, file_of
from coterie.checking.source import check_edition
from coterie.checking.stage import ARMS, MORE_ARMS, make_form
from coterie.contract import Entry
from coterie.errors import AlgorithmError
from coterie.guests import reason_of, shown


def interpreted(target: str) -> Iterator[str]:
    """Fast: nothing is compiled but dice and samplers."""
    entry, file = _loaded(target)
    yield f"the file: {entry.name} has {_forms(entry)}"
    forms, larger = ([make_form(entry, one, file, arms) for one in entry.examples] for arms in (ARMS, MORE_ARMS))
    yield "parameters, records and hooks have the form of the contract"
    for form, more in zip(forms, larger, strict=True):
        form.watched(rough=False)
        check_again(more, more.watched(rough=True), True, shown(file))
    yield "played, with losses, absences and lies: all places, plans, offers and words exist; one seed, one course"
    replayed = [check_replay(form, shown(file)) for form in forms]
    if any(replayed):
        yield "a changed reward shows nowhere but through the door"
    if not all(replayed):
        yield "a form has a caveat: its choices may show rewards, as it says"


def compiled(target: str) -> Iterator[str]:
    entry, file = _loaded(target)
    for number, example in enumerate(entry.examples, 1):
        form = make_form(entry, example, file)
        check_three_ways(form, shown(file))
        yield f"compiled = interpreted = deployed, to the byte: form {number} of {len(entry.examples)} {form.name}".rstrip()


def _forms(entry: Entry) -> str:
    return f"{len(entry.examples)} form{'s' if len(entry.examples) != 1 else ''}"


def _loaded(target: str) -> tuple[Entry, str]:
    if target.endswith(".py"):
        check_edition(Path(target))
    try:
        entry = algorithms.find(target)
    except KeyboardInterrupt as error:  # nobody is at the keyboard of this process
        raise AlgorithmError(f"{shown(target)}: {reason_of(error)}") from None
    file = target if target.endswith(".py") else file_of(entry)
    check_entry(entry, file)
    return entry, file
