"""Numbers and lists as people write them: `24.71 ± 0.25`, `12.5 kB`, `3 rounds`, `a, b and c`."""

import math
from collections.abc import Sequence
from itertools import pairwise

from coterie.privacy.statement import SENDS_NOTHING
from coterie.studies.rows import Spread
from coterie.studies.words import plural_of

SHOWN_WITHIN = 0.4  # of a difference: how far the difference of rounded numbers may be from it
GLUE = "\N{NO-BREAK SPACE}"  # keeps a number and its unit on one line


def number(value: float) -> str:
    """Three significant digits, whole from 1,000 on: 0.0123, 4.57, 128, 1,234,567."""
    if value == 0 or not 1e-6 <= abs(value) < 1e15:
        return f"{value:.3g}"
    decimals = max(0, 2 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def decimals_of(margins: Sequence[float | None]) -> int:
    """Decimals that show the smallest margin above zero with two significant digits, at most six."""
    known = [margin for margin in margins if margin]
    return min(6, max(0, 1 - math.floor(math.log10(min(known))))) if known else 1


def measured(statistic: Spread) -> str:
    """Mean and half of its 95 % interval; the mean alone after one replication, when no interval is known."""
    mean, margin = statistic["mean"], statistic["margin"]
    if margin is None:
        return number(mean)
    if margin == 0:
        return f"{number(mean)}{GLUE}±{GLUE}0"
    decimals = decimals_of([margin])
    return f"{mean:,.{decimals}f}{GLUE}±{GLUE}{margin:,.{decimals}f}"


def data_size(count: float) -> str:
    """Bytes in the unit people would say: 980 bytes, 12.5 kB, 3.1 MB."""
    for power, unit in ((4, "TB"), (3, "GB"), (2, "MB"), (1, "kB")):
        if count >= 999.5 * 1000 ** (power - 1):
            return f"{number(count / 1000**power)}{GLUE}{unit}"
    return plural(count, "byte")


def sent_text(count: float) -> str:
    """How much somebody sends in all: 12.5 kB, or that it sends nothing."""
    return data_size(count) if count else SENDS_NOTHING.replace(" ", GLUE)


def compact(value: float) -> str:
    """An axis label: 250, 20k, 1.5M."""
    for size, suffix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.4g}{suffix}"
    return f"{value:.4g}"


def percent(share: float) -> str:
    """A share in percent that says 0 or 100 only if it is."""
    rounded = round(100 * share, 1)
    if rounded in (0, 100) and share not in (0, 1):
        return f"under 0.1{GLUE}%" if share < 0.5 else f"over 99.9{GLUE}%"
    return f"{rounded:g}{GLUE}%"


def at_most(share: float) -> str:
    """A share in percent that is not to look smaller than it is.

    >>> at_most(0.73106)
    '73.2\\xa0%'
    """
    return f"{math.ceil(1000 * share - 1e-6) / 10:g}{GLUE}%"


def times(ratio: float) -> str:
    """How many times as large: 0.05 times, 1.00 times, 2.34 times, 23.1 times."""
    digits = f"{ratio:.2f}" if 0.1 <= ratio < 10 else number(ratio)
    return f"{digits}{GLUE}times"


def plural(count: float, noun: str) -> str:
    return f"{number(count)}{GLUE}{noun if count == 1 else plural_of(noun)}"


def listed(items: Sequence[str]) -> str:
    """a; a and b; a, b and c."""
    return " and ".join(filter(None, [", ".join(items[:-1]), *items[-1:]]))


def either(items: Sequence[str]) -> str:
    """a; a or b; a, b or c."""
    return " or ".join(filter(None, [", ".join(items[:-1]), *items[-1:]]))


def amount(value: float, decimals: int) -> str:
    """A regret in the unit of the answer, as sentences, tables and pictures tell it: 10.5, 1.6, 1,204."""
    return f"{value:,.{decimals}f}".replace("-", "\N{MINUS SIGN}")


def interval_ends(value: float, margin: float) -> tuple[float, float]:
    """Of a regret, which is never below 0: there its interval is cut.

    >>> interval_ends(12.0, 28.0)
    (0.0, 40.0)
    """
    return max(value - margin, 0.0), value + margin


def decimals_apart(values: Sequence[float], least: int = 1, most: int = 3) -> int:
    """Decimals with which differences between neighbouring values look about as large as they are.

    >>> decimals_apart([1.62, 10.5]), decimals_apart([1.62, 1.58]), decimals_apart([5.7505, 5.7494])
    (1, 2, 3)
    """
    for decimals in range(least, most):
        steps = [(there - here, round(there, decimals) - round(here, decimals)) for here, there in pairwise(sorted(values))]
        if all(abs(shown - true) <= SHOWN_WITHIN * true for true, shown in steps):
            return decimals
    return most


def fold(ratio: float) -> str:
    """How many times as much, where it is a few times: 2.3 times, 11 times, 1,200 times.

    >>> fold(6.0), fold(2.34), fold(1234.5)
    ('6\\xa0times', '2.3\\xa0times', '1,200\\xa0times')
    """
    return f"{float(f'{ratio:.2g}'):,g}{GLUE}times"


def change(ratio: float) -> str:
    """By how much a number grew or shrank: 45 % less, 3 % more, 2.3 times as much.

    >>> change(0.55), change(1.002), change(2.34), change(0.001)
    ('45\\xa0% less', '0.2\\xa0% more', '2.3\\xa0times as much', 'over 99\\xa0% less')
    """
    if ratio >= 2:
        return f"{fold(ratio)} as much"
    share = 100 * abs(ratio - 1)
    if ratio < 1 and share > 99:
        return f"over 99{GLUE}% less"
    text = f"{share:.0f}" if share >= 9.5 else f"{share:.1g}"
    return f"{text}{GLUE}% {'less' if ratio < 1 else 'more'}"
