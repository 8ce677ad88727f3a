"""What a setting does: rows in the order of one number."""

from collections.abc import Sequence

from coterie.studies.answers.promises import NONE_KEPT, holds, promised, promises_by_method
from coterie.studies.answers.told import Said, Told, Verdict
from coterie.studies.groups import Line, Sweep, is_number
from coterie.studies.names import COUNTED, setting_text, settings_of
from coterie.studies.numbers import change, listed
from coterie.studies.rows import Group, Swept

LINES_NAMED = 4  # of more the sentence names the best row only
COST_RATIO = 1.25  # below it nothing is said of what talking costs
LOG_RATIO = 10.0


def tell(told: Told, sweep: Sweep) -> Said:
    sentence, verdict = sentence_of(told, sweep)
    lines = [[*line.rows, *line.rest] for line in sweep.lines]
    order = [row for line in lines for row in line] + sweep.others
    groups = [Group(name=line.name, rows=rows) for line, rows in zip(sweep.lines, lines, strict=True)]
    groups += [Group(name=told.names[row], rows=[row]) for row in sweep.others]
    rest = references(sweep)
    silent, open_ = ([row for row in rest if told.silent(row) is wanted] for wanted in (True, False))
    return Said(
        f"{sentence}.", verdict, told.best(told.all()), told.least(silent), told.least(open_), order, groups,
        swept_of(told, sweep.key, order),
    )  # fmt: skip


def references(sweep: Sweep) -> list[int]:
    """Rows without a number: no noise, no limit, or another method."""
    return [*(row for line in sweep.lines for row in line.rest), *sweep.others]


def swept_of(told: Told, key: str, order: Sequence[int]) -> Swept:
    found = [settings_of(told.rows[row]).get(key) for row in order]
    values = [value if is_number(value) else None for value in found]
    known = [value for value in values if value is not None]
    return {"key": key, "values": values, "log": min(known) > 0 and max(known) / min(known) >= LOG_RATIO}


def sentence_of(told: Told, sweep: Sweep) -> tuple[str, Verdict]:
    rows = [row for line in sweep.lines for row in line.rows]
    if len(sweep.lines) == 1:
        text, verdict = _one(told, sweep)
        return text + _reference(told, sweep) + _promises(told, sweep, rows), verdict
    if sweep.key == "epsilon" and told.none_kept(told.all()):
        return f"{NONE_KEPT}: where {promised(told, rows)} is promised, {promises_by_method(told, rows)}", None
    text, verdict = _several(told, sweep)
    return text + _promises(told, sweep, rows), verdict


def span(key: str, low: float, high: float) -> str:
    """From ε = 0.1 to 1; from 0 to 3 hops."""
    if key in COUNTED:
        return f"From {low:g} to {setting_text(key, high)}"
    return f"From {setting_text(key, low)} to {high:g}"


def _ends(told: Told, sweep: Sweep, line: Line) -> tuple[int, int, str]:
    first, last = line.rows[0], line.rows[-1]
    return first, last, span(sweep.key, *(settings_of(told.rows[row])[sweep.key] for row in (first, last)))


def _one(told: Told, sweep: Sweep) -> tuple[str, Verdict]:
    line = sweep.lines[0]
    first, last, ends = _ends(told, sweep, line)
    best = told.least(line.rows)
    assert best is not None
    if best not in (first, last) and all(told.difference(best, end)["verdict"] == "less" for end in (first, last)):
        here, low, high = told.losses(best, first, last)
        where, *others = (setting_text(sweep.key, settings_of(told.rows[row])[sweep.key]) for row in (best, first, last))
        least = f"What {told.say('an agent')} loses is least at {where}: {here} {told.within}"
        return f"{least}, against {low} at {others[0]} and {high} at {others[1]}{_talk(told, sweep, first, last)}", None
    low, high = told.losses(first, last)
    found = told.difference(last, first)["verdict"]
    if found == "close":
        what = told.undecided.lower() if told.few else "makes no difference beyond chance"
        return f"{ends} {what}: {told.say('an agent')} loses {low} and {high} {told.within}{_talk(told, sweep, first, last)}", (
            "close"
        )
    way = f"{'falls' if found == 'less' else 'rises'} from {low} to {high} {told.within}, {_change(told, line.rows)}"
    more = f"{_enough(told, sweep, line, found)}{_talk(told, sweep, first, last)}"
    return f"{ends} what {told.say('an agent')} loses {way}{more}", None


def _change(told: Told, line: Sequence[int]) -> str:
    """45 % less."""
    first, last = line[0], line[-1]
    return change(told.mean(last) / told.mean(first)) if told.mean(first) > 0 else "more"


def _enough(told: Told, sweep: Sweep, line: Line, found: str) -> str:
    """Where the gain ends: the first value that is not beyond chance worse than the best."""
    best = told.least(line.rows)
    assert best is not None
    if found != "less":
        return ""
    for row in line.rows[:-1]:
        if row == best or told.difference(row, best)["verdict"] != "more":
            return f", and no further beyond chance after {setting_text(sweep.key, settings_of(told.rows[row])[sweep.key])}"
    return ""


def _talk(told: Told, sweep: Sweep, first: int, last: int) -> str:
    """What talking costs, where the setting is about it."""
    here, there = (told.rows[row]["communication"]["cost"] for row in (first, last))
    if sweep.key == "epsilon" or not here or not there or 1 / COST_RATIO < there / here < COST_RATIO:
        return ""
    return f"; communication costs {change(there / here)}"


def _reference(told: Told, sweep: Sweep) -> str:
    """What is lost without noise, alone, or by another method."""
    rows = [row for row in references(sweep) if not told.broken(row)]
    talking = told.least(row for row in rows if not told.silent(row))
    alone = told.least(row for row in rows if told.silent(row))
    parts = []
    if talking is not None:
        bare = sweep.key == "epsilon" and told.state(talking) == "nothing"
        parts.append(f"{'without noise' if bare else f'with {told.names[talking]}'} it is {told.losses(talking)[0]}")
    if alone is not None:
        parts.append(f"alone it is {told.losses(alone)[0]}")
    return f"; {listed(parts)}" if parts else ""


def _promises(told: Told, sweep: Sweep, rows: Sequence[int]) -> str:
    """What holds, where it is not what was promised."""
    broken = [row for row in rows if told.broken(row)]
    if not broken:
        return ""
    what = f": {holds(told, broken)}" if sweep.key == "epsilon" else ""
    return f". {NONE_KEPT}{what}" if told.none_kept(told.all()) else ""


def _several(told: Told, sweep: Sweep) -> tuple[str, Verdict]:
    ways: dict[str, list[Line]] = {"less": [], "more": [], "close": []}
    for line in sweep.lines:
        first, last, ends = _ends(told, sweep, line)
        ways[told.difference(last, first)["verdict"]].append(line)
    parts = [_way(told, word, ways[way], len(sweep.lines)) for way, word in (("less", "falls"), ("more", "rises")) if ways[way]]
    if not parts:
        return f"{ends} makes no difference beyond chance with any of {len(sweep.lines)} methods", "close"
    if ways["close"]:
        names = listed([line.name for line in ways["close"]])
        some = names if len(sweep.lines) <= LINES_NAMED else f"{len(ways['close'])}"
        parts.append(f"is too close to call with {some}")
    text = f"{ends} what {told.say('an agent')} loses {listed(parts)}"
    best = told.least(row for line in sweep.lines for row in line.rows)
    if len(sweep.lines) > LINES_NAMED and best is not None:
        text += f"; it is least with {told.names[best]}: {told.losses(best)[0]} {told.within}"
    return text, None


def _far(told: Told, line: Line) -> str:
    """falls 45 %; rises to 2.3 times."""
    found = _change(told, line.rows)
    return f"to {found.removesuffix(' as much')}" if found.endswith("much") else found.rpartition(" ")[0]


def _way(told: Told, word: str, lines: Sequence[Line], count: int) -> str:
    if count <= LINES_NAMED:
        return f"{word} {listed([f'{_far(told, line)} with {line.name}' for line in lines])}"
    return f"{word} in {f'all {count}' if len(lines) == count else f'{len(lines)} of {count}'} lines"
