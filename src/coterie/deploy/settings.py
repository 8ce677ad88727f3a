"""settings.toml: what a member decides for itself and nobody else has to know. It may be left out.

    [budget]
    person = 3.0                   what all rewards of one person may lose together, over all runs of this agent
    persons = "../persons.db"      where that is added up; the same file for all runs of the agent
"""

from pathlib import Path
from typing import Annotated

from pydantic import AllowInfNan, Field

from coterie import files
from coterie.deploy.federation import Federation
from coterie.deploy.stores import Store, persons
from coterie.deploy.stores.chain import digest
from coterie.errors import StorageError, UsageError
from coterie.limits import EPSILON_LEAST
from coterie.studies.messages import check, first_of, unfit_values
from coterie.studies.reading import parse
from coterie.studies.spec import Table

SETTINGS = "settings.toml"


class PersonsTable(Table):
    person: Annotated[float, Field(ge=EPSILON_LEAST), AllowInfNan(False)]
    persons: Annotated[str, Field(min_length=1, description="path of a file")] = "../persons.db"


class Settings(Table):
    budget: PersonsTable | None = None


def load_settings(folder: Path) -> Settings:
    path = folder / SETTINGS
    if not path.exists():
        return Settings()
    try:
        tree = parse(path.read_text(encoding="utf-8"), str(path))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError:
        raise UsageError(f"{path}: is not text in UTF-8, as TOML is") from None
    found, complaints = check(Settings, tree)
    complaints = [*unfit_values(tree), *complaints]
    if found is None or complaints:
        raise UsageError(f"{path}: {first_of(complaints, tree)[0].text}")
    if found.budget and "\0" in found.budget.persons:
        raise UsageError(f"{path}: budget.persons must be the path of a file, got one with a character that no path has")
    return found


def persons_path(folder: Path, settings: Settings) -> Path | None:
    return None if settings.budget is None else folder / settings.budget.persons


def check_persons(folder: Path, federation: Federation, name: str) -> None:
    """A budget of persons can be kept in this run. What they lose adds up only where no delta is spent."""
    settings, place = load_settings(folder), f"{folder / SETTINGS}: budget.person must be"
    if settings.budget is None:
        return
    epsilon, delta = federation.allowance
    if federation.position(name) < 0:
        raise UsageError(f"{place} left out by a coordinator, which has no rewards")
    if federation.privacy == "none" or delta > 0:
        why = "protects nothing" if federation.privacy == "none" else f"spends a delta, {delta:g}, which does not add up"
        raise UsageError(f"{place} left out in a run that {why}")
    if settings.budget.person < epsilon:
        raise UsageError(f"{place} at least {epsilon:g}, what one reward of this run may lose, got {settings.budget.person:g}")


def check_place(path: Path) -> None:
    """The file of persons is there, or can be made: its folder is somebody else's to make."""
    if not path.parent.is_dir():
        raise StorageError(f"{path}: cannot be opened: its folder is not there")
    files.check_writable(path)


def open_persons(folder: Path, federation: Federation, name: str) -> persons.Persons | None:
    """The budget of persons for an agent in its run; None: there is none."""
    check_persons(folder, federation, name)
    settings = load_settings(folder)
    path = persons_path(folder, settings)
    if settings.budget is None or path is None:
        return None
    check_place(path)
    store = Store(path, persons.SCHEMA)
    return persons.Persons(store, settings.budget.person, digest(federation.run, name), federation.allowance[0])
