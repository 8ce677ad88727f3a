"""Studies: a file says which algorithms meet which problem on which network; a run leaves results one can trust and repeat."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from coterie.errors import UsageError
from coterie.studies.ahead import Ahead, Progress
from coterie.studies.estimate import Estimate, estimate_study
from coterie.studies.reading import BUILTIN, builtin_names, load, title_of
from coterie.studies.results import Result, make_result, manifest, read_result
from coterie.studies.running import check_rows, run_batches
from coterie.studies.spec import Specification
from coterie.studies.store import PARTS, open_folder

__all__ = ["BUILTIN", "ENGINES", "Result", "Study", "builtin_names", "builtin_studies", "load_study"]
ENGINES = ("local", "ray")


class Study:
    """A study that was read and checked. `specification` holds every value, defaults filled in."""

    def __init__(self, specification: Specification):
        self.specification = specification

    @property
    def folder(self) -> Path:
        """Where the command puts a run by default."""
        return Path("runs") / f"{self.specification.name}-{self.specification.digest}"

    def forecast(self, workers: int | None = None) -> Estimate:
        """What a run will take, found without running or allocating anything."""
        return estimate_study(self.specification, workers)

    def run(
        self,
        workers: int | None = None,
        out: Path | str | None = None,
        progress: Progress | None = None,
        fresh: bool = False,
        engine: str = "local",
        address: str | None = None,
        ahead: Ahead | None = None,
    ) -> Result:
        """Run it, on all cores by default. With `out`, keep everything there and go on with what was begun there.

        `fresh`: what a run left there is removed first; other files stay. What needs more memory or disk than the machine has
        is refused before anything else. `engine="ray"`: on the Ray cluster at `address`, or on one of its own on this machine.
        `ahead`: what compiles for several studies at once.
        """
        if engine not in ENGINES:
            raise UsageError(f"engine must be {' or '.join(ENGINES)}, got {engine!r}")
        if address is not None and engine != "ray":
            raise UsageError(f"address must be left out but for engine ray, got {address!r}")
        if workers is not None and (type(workers) is not int or workers < 1):
            raise UsageError(f"workers must be a whole number >= 1, got {workers!r}")
        if fresh and out is None:
            raise UsageError("fresh must be left out without a folder (out), got True")
        if progress is not None and not callable(progress):
            raise UsageError(f"progress must be a function of (done, total, label), got {progress!r}")
        self.forecast(1 if address else workers).refuse(Path(out) if out is not None else None)  # nodes are asked later
        check_rows(self.specification)
        play = partial(run_batches, self.specification, workers, progress=progress, engine=engine, address=address, ahead=ahead)
        if out is None:
            return make_result(self.specification, play(parts=None))
        folder = Path(out)
        with open_folder(folder, manifest(self.specification), fresh) as complete:
            if complete:
                return read_result(self.specification, folder)
            result = make_result(self.specification, play(parts=folder / PARTS))
            result.write(folder)
            return result


def load_study(source: str | Path | Mapping[str, Any], sets: Sequence[str] = ()) -> Study:
    """A study by the path of its file, by the name of a built-in one, or from a dict.

    >>> load_study("li-song-4").specification.horizon
    100000
    """
    if not isinstance(source, str | Path | Mapping):
        raise UsageError(f"a study must be the path of a TOML file, the name of a built-in study or a dict, got {source!r:.60}")
    if isinstance(sets, str) or not (isinstance(sets, Sequence) and all(isinstance(one, str) for one in sets)):
        raise UsageError(f"sets must be a list of texts such as 'horizon=1000', got {sets!r:.60}")
    return Study(load(source, sets))


def builtin_studies() -> dict[str, str]:
    """Names and titles."""
    return {name: title_of(name) for name in builtin_names()}
