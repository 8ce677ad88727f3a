"""The page of a study: one HTML file that answers the study's question, opens offline and fetches nothing.

`render` is a pure function of the run's summary and manifest, apart from reading templates, style sheet and scripts.
"""

import json
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from coterie import files
from coterie.report import bought, evidence
from coterie.report.attacks import attacks, said_of, shares
from coterie.report.attacks import table as attack_table
from coterie.report.charts import charts
from coterie.report.course import course
from coterie.report.data import notes, truth_of, truth_table
from coterie.report.draw.colours import style
from coterie.report.glossary import GLOSSARY
from coterie.report.hero import bars
from coterie.report.setting import methods, modes_text, sentences
from coterie.report.strip import meaning, strip
from coterie.report.swept import sweep
from coterie.report.template import filled
from coterie.report.trade import trade
from coterie.report.view import View, warnings_of
from coterie.studies.numbers import number, plural
from coterie.studies.rows import Summary

RED_MOST = 80  # letters of a red line that has no colon


def write(path: str | Path, summary: Summary, manifest: Mapping[str, Any]) -> None:
    """Render the page into the file `path`."""
    files.write(Path(path), render(summary, manifest))


def render(summary: Summary, manifest: Mapping[str, Any]) -> str:
    """The complete HTML text of the page of one run."""
    view = View(summary)
    kind = view.answer["kind"]
    swept = sweep(view) if kind in ("sweep", "hops") else None
    lied_to = attacks(view) if kind == "liars" else None
    theory = evidence.theory(view)
    page = filled(
        "study.html.j2",
        view.words,
        style(colour for _, colour in sorted(zip(view.answer["order"], view.colours(), strict=True))),
        view=view,
        answer=view.answer,
        sentence=opened(view.answer["sentence"], view.answer["verdict"]),
        red=view.answer["red"] and red_line(view.answer["red"]),
        title=view.study["title"],
        kicker=" · ".join([view.study["name"], f"{plural(view.runs, 'run')} of {plural(view.horizon, 'round')}"]),
        swept=swept,
        lied_to=lied_to,
        bars=None if swept or lied_to else bars(view),
        trade=trade(view),
        strip=strip(view),
        strip_meaning=meaning(view),
        course=course(view),
        tables=[
            table
            for table in (
                evidence.numbers(view),
                evidence.differences(view),
                evidence.agents(view),
                evidence.further(view),
                evidence.releases(view),
            )
            if table
        ],
        attack_table=attack_table(view),
        liar_shares=[said_of(view, share) for share in shares(view)],
        bought=bought.tables(view) if view.buys else [],
        charts=charts(view),
        theory=theory,
        theory_note=theory and evidence.theory_note(theory),
        notes=notes(view.problem),
        sentences=sentences(view),
        methods=methods(view),
        modes=modes_text(view),
        truth=truth_of(view.problem),
        truth_table=truth_table(view),
        warnings=warnings_of([one.row for one in view.rows]),
        facts=_facts(view, manifest),
        study_text=json.dumps(view.study, indent=1, ensure_ascii=False),
        glossary=[(word, view.words.in_place_of_ours(text)) for word, text in GLOSSARY.items()],
    )
    return linked(page)


def red_line(text: str) -> Markup:
    """That promises are broken, up to the colon, in red; of a long sentence without one only the mark."""
    start, colon, rest = text.partition(":")
    if not colon and len(text) > RED_MOST:
        return Markup("<b>✕</b> {}").format(text)
    return Markup("<b>✕ {}{}</b>{}").format(start, colon, rest)


def opened(sentence: str, verdict: str | None) -> Markup:
    """The sentence with what it opens with, up to the colon, in bold type, where that is the verdict."""
    start, colon, rest = sentence.partition(":")
    if verdict is None or not colon or len(start) > 20:
        return escape(sentence)
    return Markup("<b>{}:</b>{}").format(start, rest)


def linked(page: str) -> str:
    """The first use of a word of the glossary in a paragraph leads to the glossary."""
    body, mark, foot = page.partition('<section class="glossary"')
    for word in GLOSSARY:
        anchor = f"word-{word.lower().replace(' ', '-')}"
        pattern = re.compile(rf'(<p class="(?:sub|caveat)"[^>]*>[^<]*?)\b({re.escape(word)})\b', re.IGNORECASE)
        body = pattern.sub(rf'\1<a class="word" href="#{anchor}">\2</a>', body, count=1)
    return body + mark + foot


def _facts(view: View, manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    again = f"coterie run {shlex.quote(view.study['name'])}"
    seconds = number(sum(one.row["seconds"] for one in view.rows))
    return [
        ("Coterie", str(manifest["version"])),
        ("Study", f"{view.study['name']}, {manifest['hash']}"),
        ("Seed", str(manifest["seed"])),
        ("Platform", str(manifest["platform"])),
        ("Created", str(manifest["created"])),
        ("Computing time", f"{seconds} s"),
        ("Intervals", _intervals(view)),
        ("Run it again", f"{again} (with the path of the file for a study of your own, and with every --set that was given)"),
    ]


def _intervals(view: View) -> str:
    if not view.enough:
        return f"none: {plural(view.runs, 'run')}, too few for an interval"
    return (
        f"mean ± t(0.975, {view.runs - 1}) standard errors over {plural(view.runs, 'run')}; differences are taken run by run; "
        "“too close to call”: the 95 % interval of the difference holds 0"
    )
