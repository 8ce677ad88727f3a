"""One page to sign: what a row of a study protects, from whom, how well, whom one has to trust, and what is not covered.

It is about agents that play for real, with this method and these settings, and is made before anything runs. There is a line
for a signature only where a promise is made and kept.
"""

import itertools
import json
import math
import shlex
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from coterie import files
from coterie.checking.verdicts import audited
from coterie.errors import UsageError, hint
from coterie.privacy.statement import (
    WEAK_ABOVE,
    Promise,
    best_guess,
    epsilon_text,
    odds_text,
    promise,
    promise_words,
    rounded_up_text,
    unit_of,
)
from coterie.report.strip import ICONS
from coterie.report.template import filled
from coterie.studies.budget import Price, Runs, added_up
from coterie.studies.case import problem_of
from coterie.studies.numbers import GLUE, listed
from coterie.studies.spec import Row, Specification, finite_or_null, rewritten
from coterie.studies.words import Words
from coterie.version import VERSION


class Verdict(NamedTuple):
    """Of an audit."""

    words: str
    failed: bool


class Beside(NamedTuple):
    """Another study on the same data."""

    study: Specification
    prices: Sequence[Price]

    def runs(self, rewards: int, again: bool) -> list[Runs]:
        """All its rows, once each or as often as it runs them; of a person as many rewards as its table says, if it does."""
        most = self.study.problem.rewards_of_person
        return [Runs(price, self.study.replications if again else 1, most if most > 1 else rewards) for price in self.prices]


def headline(prices: Sequence[Price]) -> int:
    """The row to sign where none is named: the smallest epsilon that is promised and kept, else the first."""
    kept = [n for n, price in enumerate(prices) if promise(price.statement()).kept]
    return min(kept, key=lambda n: prices[n].epsilon, default=0)


def row_of(study: Specification, wanted: str) -> int:
    """By its label, or by its number from 1 on."""
    labels = [row.label for row in study.rows]
    if wanted in labels:
        return labels.index(wanted)
    if wanted.isdecimal() and 1 <= int(wanted) <= len(labels):
        return int(wanted) - 1
    named = ", ".join(repr(label) for label in labels[:10]) + (", ..." if len(labels) > 10 else "")
    raise UsageError(f"--row must be a number in 1..{len(labels)} or one of {named}, got {wanted!r}{hint(wanted, labels)}")


def facts(
    study: Specification,
    prices: Sequence[Price],
    index: int,
    rewards: int = 10,
    others: Sequence["Beside"] = (),
    audit: Verdict | None = None,
) -> dict[str, Any]:
    """All that the page says, as JSON takes it: an infinite epsilon is null."""
    row, price = study.rows[index], prices[index]
    said = price.statement()
    found = {
        "study": {"name": study.name, "title": study.title, "digest": study.digest, "rows": len(prices)},
        "version": VERSION,
        "row": {"number": index + 1, "label": row.label},
        "algorithm": row.name,
        "mode": row.parameters().get("mode"),
        "parameters": row.parameters(),
        "agents": study.problem.agents,
        "arms": study.problem.arms,
        "horizon": study.horizon,
        "words": study.words.model_dump(),
        "privacy": said,
        "promise": promise(said).value,
        "trust": price.doors.trust,
        "answer": answer(price, said),
        "losses": [loss(price, count) for count in dict.fromkeys((1, rewards))],
        "parties": [one.document() for one in price.guarantees()],
        "not_covered": list(not_covered(price, study, bool(row.content))),
        "added_up": list(sums(study, prices, index, rewards, others)),
        "audit": {"verdict": audit and audit.words, "failed": audit and audit.failed, "command": audit_command(study, row)},
        "to_sign": promise(said).kept and not (audit and audit.failed) and not unproved(study, row, audit),
    }
    return rewritten(found, finite_or_null)


def answer(price: Price, said: Mapping[str, Any]) -> str:
    """The statement in one or two sentences."""
    kind, holds = promise(said), epsilon_text(said["accounted"])
    limit = f"no finite ε holds: {price.why}" if price.why else f"ε{GLUE}={GLUE}{holds} holds"
    if kind is Promise.NOTHING:
        return f"Nothing is promised, and {limit}."
    if kind is Promise.BROKEN:
        return f"The promise is broken: ε{GLUE}={GLUE}{epsilon_text(said['claimed'])} is promised, but {limit}."
    weak = " That is weak." if kind is Promise.WEAK else ""
    trust = "" if price.doors.trust == "nobody" else " This asks for trust, see below."
    return (
        f"What others get to see shifts the odds of any guess about {price.doors.unit} by a factor of at most "
        f"{odds_text(price.epsilon)} (ε{GLUE}={GLUE}{holds}).{weak}{trust}"
    )


def loss(price: Price, rewards: int) -> dict[str, Any]:
    """Of a person with so many rewards: epsilon, by what factor odds may shift, how often a guess between two is right."""
    epsilon, delta = price.epsilon_of(rewards), price.method.claim.delta
    right = 1.0 if epsilon == math.inf else best_guess({"epsilon": epsilon, "delta": delta}) or 1.0
    return {
        "rewards": rewards,
        "unit": unit_of(rewards, price.doors.unit),
        "epsilon": epsilon,
        "delta": delta,
        "odds": "any" if epsilon == math.inf else odds_text(epsilon),
        "guess": "nearly always" if right > 0.999 else f"at most {math.ceil(right * 1000 - 1e-6) / 10:g}{GLUE}%",
        "weak": epsilon > WEAK_ABOVE,
    }


def not_covered(price: Price, study: Specification, own: bool) -> Iterator[str]:
    """What a reader might take to be protected, and is not."""
    doors, every = price.doors, price.outlook.rewards
    if doors.caveat:
        yield f"What an agent chooses: {doors.caveat}. That it takes part is public."
    else:
        yield "That an agent takes part, which arms it plays, how often and when: all this is public."
    if doors.trusted:
        yield "Anything, from the server: it is handed raw sums."
    if not doors.single:
        yield "A single report, should anyone see one: it carries only a share of the noise."
    if public := problem_of(study).public:
        yield public
    if own:
        yield "What the file of one's own might do on a path that was not played: its cost is that of one run, and no proof."
    whole = held(price.epsilon_of(every), price.method.claim.delta)
    yield f"The whole history of an agent: of all its {every:,} rewards together {whole}."
    yield "Another run, row or study on the same data: what is lost adds up."
    yield "A simulation, whose noise follows from its seed: this is about agents that draw their noise by themselves."


def held(epsilon: float, delta: float) -> str:
    """The words for an epsilon that holds."""
    at = f" at δ{GLUE}={GLUE}{delta:g}" if delta else ""
    return "no finite ε holds" if epsilon == math.inf else f"ε{GLUE}={GLUE}{rounded_up_text(epsilon)} holds{at}"


def sums(
    study: Specification, prices: Sequence[Price], index: int, rewards: int, others: Sequence[Beside]
) -> Iterator[dict[str, Any]]:
    """What a reward, and a person with so many of them, loses by more than one run on the same data."""
    own, often = prices[index], study.replications
    once = [Runs(price, 1, rewards) for price in prices]
    if often > 1 and not own.why:
        yield total(f"this row {often:,} times, as often as the study runs it", [Runs(own, often, rewards)])
    kept = [runs for runs in once if promise(runs.price.statement()).kept]
    if 1 < len(kept) < len(prices):
        yield total(f"the {len(kept)} rows that keep their promise, once each", kept)
    if len(prices) > 1:
        yield total(f"all {len(prices)} rows of this study, once each", once)
    if others:
        what = f"this row, and all rows of {listed([other.study.name for other in others])}"
        for again in (False, True):
            runs = [Runs(own, often if again else 1, rewards)]
            runs += itertools.chain(*(other.runs(rewards, again) for other in others))
            if not again or any(each.times > 1 for each in runs):
                yield total(f"{what}, {'as often as their studies do' if again else 'once each'}", runs)


def total(what: str, runs: Sequence[Runs]) -> dict[str, Any]:
    prices = [each.price for each in runs]
    units = {price.doors.unit for price in prices}
    if len(units) > 1:
        raise UsageError(f"--times must name studies that protect the same, got {' and '.join(sorted(units))}")
    (one, delta), (person, _) = added_up(each._replace(rewards=1) for each in runs), added_up(runs)
    bare = list(dict.fromkeys(price.label for price in prices if price.why))
    few = [f"“{label}”" for label in bare[:2]] + ([f"{len(bare) - 2} more"] if len(bare) > 2 else [])
    against = {price.doors.adversary for price in prices}
    differing = "against those from whom every row protects" if len(against) > 1 else ""
    note = f"because of {listed(few)}" if bare else differing
    return {"what": what, "epsilon": one, "person": person, "delta": delta, "note": note}


def audit_command(study: Specification, row: Row) -> str:
    """What audits this row's algorithm with its options; a file of one's own is audited at the study's agents and arms."""
    if row.content:
        return shlex.join(["coterie", "audit", study.place])
    words, options = ["coterie", "audit", row.reference], row.options
    told = {"mode", "epsilon"} & set(type(options).model_fields)  # whatever their defaults are or will be
    for name, value in (options.model_dump(include=told) | options.model_dump(exclude_defaults=True)).items():
        text = f"{value:.15g}" if isinstance(value, float) else value if isinstance(value, str) else json.dumps(value)
        words += [f"--{name}", text] if name in ("mode", "epsilon") else ["--set", f"{name}={text}"]
    return shlex.join(words)


# --- the two forms: a page and a text


def write(path: Path, content: Mapping[str, Any]) -> None:
    files.write(path, render(content))


def render(content: Mapping[str, Any]) -> str:
    told = dict(content)
    words = Words(**told.pop("words"))
    state = Promise(content["promise"]).name.lower()
    return filled(
        "statement.html.j2",
        words,
        **told,
        state=state,
        icon=ICONS[state],
        promised=promise_words(content["privacy"]),
        lines=[(name.capitalize(), sentence) for name, sentence in lines(content) if name != "promise"],
        losses_told=[loss_cells(loss, words) for loss in content["losses"]],
        sums_told=[sum_cells(total) for total in content["added_up"]],
        audited=audit_line(content),
        unsigned=unsigned(content),
    )


def loss_cells(loss: Mapping[str, Any], words: Words) -> tuple[str, ...]:
    finite = loss["epsilon"] is not None
    weak, times = (" (weak)" if loss["weak"] and finite else ""), (f"{GLUE}times" if finite else "")
    unit, epsilon = words.in_place_of_ours(loss["unit"]), epsilon_cell(loss["epsilon"])
    return unit, epsilon + weak, f"{loss['delta']:g}", loss["odds"] + times, loss["guess"]


def sum_cells(total: Mapping[str, Any]) -> tuple[str, ...]:
    note = f" ({total['note']})" if total["note"] else ""
    return total["what"] + note, epsilon_cell(total["epsilon"]), epsilon_cell(total["person"]), f"{total['delta']:g}"


def epsilon_cell(epsilon: float | None) -> str:
    return epsilon_text({"epsilon": epsilon, "delta": 0.0})


def lines(content: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(what it is about, the sentence), in the study's own words."""
    said, worded = content["privacy"], Words(**content["words"]).in_place_of_ours
    if said["accounted"]["epsilon"] is None:
        yield "protected", "nothing"
        yield "promise", promise_words(said)
        return
    yield "protected", worded(said["unit"])
    yield "from", worded(said["adversary"])
    yield "trusting", worded(content["trust"])
    yield "promise", promise_words(said)
    if said["note"]:
        yield "because", worded(said["note"].partition(". ")[0])


def audit_line(content: Mapping[str, Any]) -> str:
    verdict = content["audit"]["verdict"]
    return f"not audited: {content['audit']['command']}" if verdict is None else f"audited: {verdict}"


def text(content: Mapping[str, Any], width: int = 80) -> Iterator[str]:
    """The same for a terminal of that width."""
    worded, row = Words(**content["words"]).in_place_of_ours, content["row"]
    yield from wrapped("", content["study"]["title"], width)
    yield from wrapped("", f"row {row['number']} of {content['study']['rows']}: {row['label']}", width)
    yield ""
    yield from wrapped("", worded(content["answer"]), width)
    yield ""
    sizes = f"{content['agents']:,} agents, {content['arms']:,} arms, {content['horizon']:,} rounds"
    mode = f", mode {content['mode']}" if content["mode"] else ""
    subject = f"{content['algorithm']}{mode}; {worded(sizes)}; coterie {content['version']}, study {content['study']['digest']}"
    for name, sentences in (
        *((name, [sentence]) for name, sentence in lines(content)),
        ("loses", [worded(loss_words(one)) for one in content["losses"]]),
        ("not covered", [worded(sentence) for sentence in content["not_covered"]]),
        ("adds up", [sum_words(one, content["losses"][-1]["rewards"]) for one in content["added_up"]]),
        ("audit", [audit_line(content)]),
        ("about", [subject]),
    ):
        for place, sentence in enumerate(sentences):
            yield from wrapped(f"{'' if place else name:<13}", sentence, width)
    yield ""
    yield "to be dated and signed on the page" if content["to_sign"] else unsigned(content)


def wrapped(name: str, sentence: str, width: int) -> list[str]:
    return textwrap.wrap(
        sentence,
        max(40, width),
        initial_indent=name,
        subsequent_indent=" " * len(name),
        break_long_words=False,
        break_on_hyphens=False,
    )


def unproved(study: Specification, row: Row, audit: Verdict | None) -> bool:
    """What a file of one's own costs on its dearest path is not proved: it is signed for only after an audit."""
    sizes = study.problem.agents, study.problem.arms
    return bool(row.content) and audit is None and not audited(row.reference, row.options, *sizes)


def unsigned(content: Mapping[str, Any]) -> str:
    if content["audit"]["failed"]:
        return "nothing to sign: the audit has failed"
    kept = content["promise"] in (Promise.KEPT.value, Promise.WEAK.value)
    return f"nothing to sign: {'an own file is audited first' if kept else 'no promise is made that is kept'}"


def loss_words(loss: Mapping[str, Any]) -> str:
    if loss["epsilon"] is None:
        return f"{loss['unit']}: no limit"
    chance = f", but for a chance of {loss['delta']:g}" if loss["delta"] else ""
    weak = ", weak" if loss["weak"] else ""
    return f"{loss['unit']}: ε{GLUE}={GLUE}{epsilon_cell(loss['epsilon'])}, odds shift up to {loss['odds']} times{chance}{weak}"


def sum_words(total: Mapping[str, Any], rewards: int) -> str:
    delta = f", delta {total['delta']:g}" if total["delta"] else ""
    note = f" ({total['note']})" if total["note"] else ""
    if total["epsilon"] is None:
        return f"{total['what']}: no limit{note}"
    epsilons = f"ε{GLUE}={GLUE}{epsilon_cell(total['epsilon'])}, of {rewards:,} rewards {epsilon_cell(total['person'])}"
    return f"{total['what']}: {epsilons}{delta}{note}"
