"""What a setting does: rows in the order of one number."""

from collections.abc import Sequence

from coterie.studies.answers.promises import NONE_KEPT, promised, promises_by_method
from coterie.studies.answers.told import Said, Told, Verdict
from coterie.studies.groups import Line, Sweep, is_number
from coterie.studies.names import COUNTED, setting_text, settings_of
from coterie.studies.numbers import GLUE, change, listed
from coterie.studies.rows import Group, Swept

LINES_NAMED = 4  # of more the sentence names the best row only
COST_RATIO = 1.25  # below it nothing is said of what talking costs
LOG_RATIO = 10.0
LETTERS_MOST = 170  # of a sentence that is read at a glance


def tell(told: Told, sweep: Sweep) -> Said:
    sentence, verdict, over = sentence_of(told, sweep)
    lines = [[*line.rows, *line.rest] for line in sweep.lines]
    order = [row for line in lines for row in line] + sweep.others
    groups = [Group(name=line.name, rows=rows) for line, rows in zip(sweep.lines, lines, strict=True)]
    groups += [Group(name=told.names[row], rows=[row]) for row in sweep.others]
    rest = references(sweep)
    silent, open_ = ([row for row in rest if told.silent(row) is wanted] for wanted in (True, False))
    return Said(
        f"{sentence}.", verdict, told.best(told.all()), told.least(silent), told.least(open_), order, groups,
        swept_of(told, sweep.key, order), over,
    )  # fmt: skip


def references(sweep: Sweep) -> list[int]:
    """Rows without a number: no noise, no limit, or another method."""
    return [*(row for line in sweep.lines for row in line.rest), *sweep.others]


def swept_of(told: Told, key: str, order: Sequence[int]) -> Swept:
    found = [settings_of(told.rows[row]).get(key) for row in order]
    values = [value if is_number(value) else None for value in found]
    known = [value for value in values if value is not None]
    return {"key": key, "values": values, "log": min(known) > 0 and max(known) / min(known) >= LOG_RATIO}


def sentence_of(told: Told, sweep: Sweep) -> tuple[str, Verdict, list[str]]:
    """Without its full stop; what would make it long is left over."""
    rows = [row for line in sweep.lines for row in line.rows]
    if len(sweep.lines) > 1 and sweep.key == "epsilon" and told.none_kept(told.all()):
        return f"Where {promised(told, rows)} is promised, {promises_by_method(told, rows)}", None, []
    end = f". {NONE_KEPT}" if told.none_kept(told.all()) else ""
    text, verdict, more = _one(told, sweep) if len(sweep.lines) == 1 else (*_several(told, sweep), [])
    over = []
    for clause in more:
        if len(f"{text}; {clause}{end}") <= LETTERS_MOST:
            text += f"; {clause}"
        else:
            over.append(f"{clause[0].upper()}{clause[1:]}.")
    return text + end, verdict, over


def span(key: str, low: float, high: float) -> str:
    """From ε = 0.1 to 1; from 0 to 3 hops."""
    if key in COUNTED:
        return f"From {low:g} to {setting_text(key, high)}"
    return f"From {setting_text(key, low)} to {high:g}"


def _between(ends: str) -> str:
    """Between ε = 0.1 and 1."""
    return ends.replace("From", "Between", 1).replace(" to ", " and ", 1)


def _ends(told: Told, sweep: Sweep, line: Line) -> tuple[int, int, str]:
    first, last = line.rows[0], line.rows[-1]
    return first, last, span(sweep.key, *(settings_of(told.rows[row])[sweep.key] for row in (first, last)))


def _one(told: Told, sweep: Sweep) -> tuple[str, Verdict, list[str]]:
    """The sentence, and clauses that may follow it."""
    line, agent = sweep.lines[0], told.say("an agent")
    first, last, ends = _ends(told, sweep, line)
    best = min(line.rows, key=told.mean)
    found = told.difference(last, first)["verdict"]
    more = [*_reference(told, sweep), *_talk(told, sweep, first, last)]
    if best not in (first, last) and all(told.difference(best, end)["verdict"] == "less" for end in (first, last)):
        here, low, high = told.losses(best, first, last)
        where, left, right = (setting_text(sweep.key, settings_of(told.rows[row])[sweep.key]) for row in (best, first, last))
        text = f"What {agent} loses is least at {where}: {here} {told.within}, against {low} at {left} and {high} at {right}"
        return text, None, more
    low, high = told.losses(first, last)
    if found == "close":
        what = told.undecided.lower() if told.few else "there is no difference beyond chance"
        return f"{_between(ends)} {what}: {agent} loses {low} and {high} {told.within}", "close", more
    text = f"{ends} what {agent} loses {'falls' if found == 'less' else 'rises'} {_far(told, line)}, to {high} {told.within}"
    return text, None, [*_enough(told, sweep, line, best, found), *more]


def _far(told: Told, line: Line) -> str:
    """falls 45 %; rises 2.3-fold."""
    found = change(told.mean(line.rows[-1]) / told.mean(line.rows[0])) if told.mean(line.rows[0]) > 0 else "from 0"
    return found.removesuffix(" less").removesuffix(" more").replace(f"{GLUE}times as much", "-fold")


def _enough(told: Told, sweep: Sweep, line: Line, best: int, found: str) -> list[str]:
    """Where the gain ends: the first value that is not beyond chance worse than the best."""
    for row in line.rows[:-1]:
        if found == "less" and (row == best or told.difference(row, best)["verdict"] != "more"):
            value = setting_text(sweep.key, settings_of(told.rows[row])[sweep.key])
            return [f"after {value} it falls no further beyond chance"]
    return []


def _talk(told: Told, sweep: Sweep, first: int, last: int) -> list[str]:
    """What talking costs, where the setting is about it."""
    here, there = (told.rows[row]["communication"]["cost"] for row in (first, last))
    if sweep.key == "epsilon" or not here or not there or 1 / COST_RATIO < there / here < COST_RATIO:
        return []
    return [f"communication costs {change(there / here)}"]


def _reference(told: Told, sweep: Sweep) -> list[str]:
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
    return [listed(parts)] if parts else []


def _several(told: Told, sweep: Sweep) -> tuple[str, Verdict]:
    ways: dict[str, list[Line]] = {"less": [], "more": [], "close": []}
    for line in sweep.lines:
        first, last, ends = _ends(told, sweep, line)
        ways[told.difference(last, first)["verdict"]].append(line)
    parts = [_way(told, word, ways[way], len(sweep.lines)) for way, word in (("less", "falls"), ("more", "rises")) if ways[way]]
    if not parts:
        what = told.undecided.lower() if told.few else "there is no difference beyond chance"
        return f"{_between(ends)} {what} with any of {len(sweep.lines)} methods", "close"
    if ways["close"]:
        names = listed([line.name for line in ways["close"]])
        some = names if len(sweep.lines) <= LINES_NAMED else f"{len(ways['close'])}"
        parts.append(f"is too close to call with {some}")
    text = f"{ends} what {told.say('an agent')} loses {listed(parts)}"
    best = told.least(row for line in sweep.lines for row in line.rows)
    if len(sweep.lines) > LINES_NAMED and best is not None:
        text += f"; it is least with {told.names[best]}: {told.losses(best)[0]} {told.within}"
    return text, None


def _way(told: Told, word: str, lines: Sequence[Line], count: int) -> str:
    if count <= LINES_NAMED:
        return f"{word} {listed([f'{_far(told, line)} with {line.name}' for line in lines])}"
    return f"{word} in {f'all {count}' if len(lines) == count else f'{len(lines)} of {count}'} cases"
