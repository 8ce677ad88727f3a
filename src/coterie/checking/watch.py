"""Hooks under watch: an interpreted call in which nothing passes that compiled code would take for good.

Compiled code looks at no bounds, divides by zero and lets numbers overflow. Here records are handed to a hook through views
that refuse a place that does not exist (also a negative one) and what a hook may not write, and numpy raises. Answers and plans
are looked at after each call. What is found is one line: the file, the line, the hook.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from coterie import contract
from coterie.checking.source import function_of
from coterie.contract import HOOKS, SWITCHES, Algorithm
from coterie.engines.agent import possible
from coterie.errors import AlgorithmError, UsageError
from coterie.guests import place_of, reason_of
from coterie.kernel.records import Narrow
from coterie.privacy.door import MESSAGE, PLAN, ROOM, why_refused

NOT_WRITTEN = {
    "release": ("plan",), "publish": ("plan", "out"), "peek": ("secret", "open"), "overhear": ("secret", "open", "message"),
    "hear": ("message",), "meet": ("mine", "theirs"), "inherit": ("card",), "lie": ("tale",), "pose": ("tale",),
}  # fmt: skip


class StrayError(Exception):
    """A hook did what it may not. The text is the end of a sentence about it."""


class OutsideError(StrayError, IndexError):
    """A place that does not exist. Also an IndexError, by which Python ends a loop over an array."""


class Places(np.ndarray):
    """An array that refuses places which do not exist, and writing where it is not allowed."""

    label = ""
    guarded = False

    def __array_finalize__(self, whole: Any) -> None:
        self.label, self.guarded = getattr(whole, "label", ""), getattr(whole, "guarded", False)

    def __getitem__(self, place: Any) -> Any:
        self._look_at(place)
        return super().__getitem__(place)

    def __setitem__(self, place: Any, value: Any) -> None:
        self._look_at(place)
        if self.guarded:
            raise StrayError(f"must not write {self.label.partition('.')[0]!r}")
        super().__setitem__(place, value)

    def _look_at(self, place: Any) -> None:
        for axis, one in enumerate(place if isinstance(place, tuple) else (place,)):
            if isinstance(one, float | np.floating):
                raise StrayError(f"asks for place {one} of {self.label}: a place is a whole number")
            if isinstance(one, int | np.integer) and not 0 <= one < self.shape[axis]:
                raise OutsideError(f"asks for place {one} of {self.label}, which has places 0..{self.shape[axis] - 1}")


def places(array: np.ndarray, label: str, guarded: bool) -> Places:
    view = array.view(Places)
    view.label, view.guarded = label, guarded
    if guarded:
        view.flags.writeable = False
    return view


class Fields:
    """A record, or (peers) many of them."""

    __slots__ = ("_guarded", "_label", "_names", "_record")

    def __init__(self, record: Any, label: str, guarded: bool, names: tuple[str, ...] = ()):
        own = names or record.dtype.names
        for name, value in (("_record", record), ("_label", label), ("_guarded", guarded), ("_names", own)):
            object.__setattr__(self, name, value)

    def __getattr__(self, field: str) -> Any:
        if field == "shape":
            return self._record.shape
        if field not in self._names:
            raise StrayError(f"reads {self._label}.{field}, and {self._label} has no such field")
        value = self._record[field]
        return places(value, f"{self._label}.{field}", self._guarded) if isinstance(value, np.ndarray) else value

    def __setattr__(self, field: str, value: Any) -> None:
        if self._guarded:
            raise StrayError(f"must not write {self._label!r}")
        if field not in self._names:
            raise StrayError(f"writes {self._label}.{field}, and {self._label} has no such field")
        self._record[field] = value

    def __len__(self) -> int:
        return len(self._record)

    def __getitem__(self, place: Any) -> "Fields":
        if not 0 <= place < len(self._record):
            raise OutsideError(f"asks for place {place} of {self._label}, which has places 0..{len(self._record) - 1}")
        return Fields(self._record[place], self._label, self._guarded)


class Watch:
    """Of one run: who was called last, and how long the plans of a turn are."""

    def __init__(self, arms: int, structure: str, orders_nothing: bool):
        self.arms, self.orders_nothing = arms, orders_nothing
        self.even, self.alone = structure != "peers", structure == "alone"
        self.last, self.rounds = "", dict[int, int]()

    def over(self, role: Algorithm) -> Algorithm:
        """The role with all its own hooks watched."""
        hooks = {name: getattr(role, name) for name in HOOKS + SWITCHES}
        own = {name: hook for name, hook in hooks.items() if hook is not None and hook is not getattr(contract, name)}
        watched: dict[str, Any] = {name: self.hook(role, name, hook) for name, hook in own.items()}
        return role._replace(**watched)

    def hook(self, role: Algorithm, name: str, made: Any) -> Callable:
        default, file = getattr(contract, name), made.__code__.co_filename
        parameters = default.__code__.co_varnames[: default.__code__.co_argcount]
        home, not_written = function_of(made, role.name, name).at().rpartition(" ")[0] + f" {name}", NOT_WRITTEN.get(name, ())

        def watched(*given: Any) -> Any:
            self.last = home
            handed = dict(zip(parameters, given, strict=True))
            views = [seen(label, value, label in not_written) for label, value in handed.items()]
            try:
                with np.errstate(divide="raise", over="raise", invalid="raise"):
                    answer = made(*views)
                    self.look_at(role, name, handed, answer)
            except StrayError as error:
                raise AlgorithmError(f"{place_in(error, file, home, name)} {error}") from None
            except (Exception, SystemExit) as error:
                raise AlgorithmError(f"{place_in(error, file, home, name)} {reason_of(error)}") from error
            return answer

        return watched

    def look_at(self, role: Algorithm, name: str, handed: dict[str, Any], answer: Any) -> None:
        if name in ("choose", "peek"):
            self.look_at_plan(handed["plan"], handed["t"])
        elif name == "release":
            out = handed["out"]
            if out.entries > len(out.arm) or out.moves > len(out.move_arm):
                raise StrayError(f"offers {out.entries} sums and copies {out.moves} marks: {why_refused(ROOM)}")
        elif name == "idle":
            whole(answer, -1, self.arms - 1, "the arm to play")
        elif name in ("speak", "greet", "lie", "pose"):
            record = handed["card"] if "card" in handed else handed["message"]
            whole(answer, 0 if name in ("speak", "greet") else -1, record.nbytes // 8, "the number of words said")
            if role.additive and answer > 0 and not 0 <= record[0] < self.arms:
                raise StrayError(f"says {why_refused(MESSAGE)}: {record[0]}")

    def look_at_plan(self, plan: Any, t: int) -> None:
        if plan.wrong or not possible(plan):
            raise StrayError(f"makes {why_refused(PLAN)} in turn {t}")
        arms, pulls = plan.arm[: plan.entries].tolist(), plan.pulls[: plan.entries].tolist()
        if sum(pulls) < 1 and not self.orders_nothing:
            raise StrayError(f"must order at least one pull, got none in turn {t}")
        if len(set(arms)) < len(arms):
            raise StrayError(f"must order an arm at most once, got arms {arms} in turn {t}")
        if self.even and (len(set(pulls)) != 1 or pulls[0] < 1):
            raise StrayError(f"must order equally many pulls of all its arms around a server, got {pulls} in turn {t}")
        if self.even and not self.alone and self.rounds.setdefault(t, sum(pulls)) != sum(pulls):
            lengths = f"{self.rounds[t]} and {sum(pulls)} in turn {t}"
            raise StrayError(f"must order equally many pulls for all clients, got {lengths}")


def seen(label: str, value: Any, guarded: bool) -> Any:
    """As the hook gets it."""
    if isinstance(value, Narrow):
        return Fields(value.whole, label, guarded, value.names)
    if isinstance(value, np.void) or (isinstance(value, np.ndarray) and value.dtype.names):
        return Fields(value, label, guarded)
    return value


def whole(answer: Any, low: int, high: int, what: str) -> None:
    if not isinstance(answer, int | np.integer) or not low <= answer <= high:
        raise StrayError(f"must return {what}, a whole number in {low}..{high}, got {answer!r:.40}")


def place_in(error: BaseException, file: str, home: str, name: str) -> str:
    """The line that went wrong and the hook it belongs to, whatever helper the line is in."""
    place = place_of(error, file)
    return f"{place.rpartition(': ')[0] or home.rpartition(': ')[0]}: {name}"


def placed(watch: Watch, error: UsageError) -> AlgorithmError:
    """What the engine refused, by the hook that was called last."""
    text = str(error)
    return error if isinstance(error, AlgorithmError) and ".py:" in text else AlgorithmError(f"{watch.last}: {text}")
