"""Is what is bought good enough, and then: what does sharing gain, and what does privacy cost?"""

from collections.abc import Sequence

from coterie.studies.answers import sweeps, together
from coterie.studies.answers.told import Said, Told, Verdict
from coterie.studies.groups import Sweep, sweep_of
from coterie.studies.names import settings_of
from coterie.studies.numbers import listed, percent

ROWS_NAMED = 2
RULES = {("oracle", "safe"): "the cautious rule"}


def tell(told: Told) -> Said:
    never = [row for row in buyers(told) if below(told, row) == 0.0]
    cast = together.cast_of(told, never)
    if not together.asks(cast):  # who never buys badly may all be alike: then all are compared
        cast = together.cast_of(told)
    elif cast.private is None:
        cast = cast._replace(private=told.best_kept(row for row in told.all() if not told.silent(row)))
    quality, found = quality_text(told, never), sweep_of(told.rows)
    rest, verdict, over = _rest(told, cast, found)
    echo = echo_text(told, cast.private)
    beside = [] if echo else [f"{told.names[row]}: {text}." for row in told.all() if (text := echo_text(told, row))]
    limit = f"{told.rows[0]['procurement']['alpha']:g}"
    beside += [f"{told.names[row]} buys below {limit} at times." for row in told.all() if told.echo(row) and below(told, row)]
    sentence = "; ".join(filter(None, [quality, _inside(rest), echo]))
    order = together.hero_order(told, cast)
    return Said(
        f"{sentence}.", verdict, cast.private, cast.alone, cast.together, order, caveats=[*over, *beside],
    )  # fmt: skip


def _rest(told: Told, cast: together.Cast, found: Sweep | None) -> tuple[str, Verdict, list[str]]:
    """What is said beside quality, and what is left over."""
    if found and found.key == "epsilon":
        return _sweep(told, found)
    return (*together.sentence_of(told, cast), []) if together.asks(cast) else ("", None, [])


def buyers(told: Told) -> list[int]:
    """Echo controls are a yardstick, and no way to buy."""
    return [row for row in told.all() if not told.echo(row)]


def below(told: Told, row: int) -> float:
    """The largest number of bad rounds in any run."""
    return told.rows[row]["procurement"]["violations"]["max"]


def quality_text(told: Told, never: Sequence[int]) -> str:
    limit = f"{told.rows[0]['procurement']['alpha']:g}"
    if len(never) == len(buyers(told)):
        return f"No row ever buys below {limit}" if len(never) > 1 else f"{told.names[never[0]]} never buys below {limit}"
    if never:
        return f"Only {who(told, never)} never {'buys' if len(never) == 1 or rule_of(told, never) else 'buy'} below {limit}"
    shares = {row: told.rows[row]["procurement"]["below"]["mean"] for row in buyers(told)}
    low, high = min(shares, key=shares.__getitem__), max(shares, key=shares.__getitem__)
    if len(shares) == 1:
        return f"{told.names[low]} buys below {limit} in {percent(shares[low])} of rounds"
    return f"Every row buys below {limit} at times, in {percent(shares[low])} to {percent(shares[high])} of rounds"


def who(told: Told, rows: Sequence[int]) -> str:
    if len(rows) <= ROWS_NAMED and not rule_of(told, rows):
        return listed([told.names[row] for row in rows])
    return rule_of(told, rows) or f"{len(rows)} of {len(buyers(told))} rows"


def rule_of(told: Told, rows: Sequence[int]) -> str:
    """What these rows share, and no others."""
    for (key, value), text in RULES.items():
        if [row for row in buyers(told) if settings_of(told.rows[row]).get(key) == value] == list(rows):
            return text
    return ""


def _sweep(told: Told, found: Sweep) -> tuple[str, Verdict, list[str]]:
    """Of the lines whose promises are kept, else of all."""
    kept = [line for line in found.lines if any(map(told.kept, line.rows))]
    return sweeps.sentence_of(told, found._replace(lines=kept or found.lines))


def _inside(text: str) -> str:
    """As a clause: what was an answer goes on the sentence."""
    text = text.removeprefix("Yes: ").removeprefix("No: ")
    return text if text.startswith(("With ε", "No row")) else text[:1].lower() + text[1:]


def echo_text(told: Told, row: int | None) -> str:
    """Did others teach it anything? The yardstick takes its own data for news, and is otherwise the same."""
    if row is None or told.echo(row):
        return ""
    own = told.rows[row]
    alike = [
        other for other in told.all()
        if told.echo(other) and told.rows[other]["algorithm"] == own["algorithm"]
        and told.rows[other]["parameters"] == own["parameters"] | {"learning": "echo"}
    ]  # fmt: skip
    if not alike:
        return ""
    beside = told.difference(row, alike[0])["verdict"]
    if beside == "less":
        return "it beats its echo control, so others did teach something"
    if beside == "more":
        return "it does worse than its echo control, so listening did harm"
    return "it is too close to its echo control to say that others taught anything"
