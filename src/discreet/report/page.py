"""The page that is published: one file, without scripts, that asks nothing of the network.

For paper it is printed by a browser without a window, if there is one.
"""

import os
import shutil
import signal
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from discreet.privacy.intervals import Shown
from discreet.privacy.picture import LEVEL, PointMarks, group_rows
from discreet.privacy.stored import Amounts
from discreet.privacy.values import TestResult, label
from discreet.report.glance import glance
from discreet.report.layers import TITLE, layers
from discreet.report.overview import overview, profile_columns
from discreet.report.questions import in_words
from discreet.report.record import Report, ReportBudget, ReportData, ReportEntry
from discreet.report.sentences import (
    NONE,
    Axis,
    answer,
    chance,
    half_widths,
    leaves,
    number,
    of_groups,
    sentence,
    spanned,
)
from discreet.report.svg import MOST, box, common, drawn, figure, figured, number_table, picture, text

SHEET: Final = files("discreet.report").joinpath("style.css").read_text("utf-8")
POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def page(dossier: Mapping[str, Any] | Report) -> str:
    """The whole report as one HTML file: answers with intervals and pictures, the budget, methods, how to repeat it.

    It works on what JSON holds, so `page(from_json(text))` makes the page anew; BadInput if it has another shape.
    """
    found = Report.of(dossier)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>{text(found.title)}</title><style>{SHEET}</style></head>\n<body>{_head(found)}\n"
        f"<main>{sections(found)}</main>\n"
        f"<footer>Made with discreet on {text(found.created)}. The ends of intervals are rounded outwards.</footer>"
        "</body></html>\n"
    )


def sections(report: Report) -> str:
    """All of a report below its title: answers, data, budget, meaning, methods; for a page that has a head already."""
    methods = "".join(f"<h3>{text(method.name)}</h3><p>{text(method.text)}</p>" for method in report.methods)
    return (
        f'<section aria-labelledby="answers"><h2 id="answers">Answers</h2>{_answers(report)}</section>\n'
        f"{_data(report.data)}\n{_budget(report.budget)}\n"
        f"{_sentences('What this privacy means', report.meaning)}\n{_section('Methods', methods)}\n"
        f"{_sentences('What is assumed', report.assumptions)}\n{_repeat(report.reproducibility)}\n"
        f"{_layered(report)}"
    )


def _answers(report: Report) -> str:
    """A card for each answer; of a profile a row for each column, which opens to its cards."""
    columns, together = profile_columns(report), _together(report)
    if not columns:
        return "".join(card(entry, place, together) for place, entry in enumerate(report.releases, 1))
    cards: dict[str, str] = defaultdict(str)
    for place, entry in enumerate(report.releases, 1):
        cards[entry.columns[0] if entry.columns else ""] += card(entry, place, together)
    rest = "".join(f"<p>{text(sentence(entry))}</p>" for entry in report.releases if not entry.columns)
    return rest + overview(columns, cards)


def summary(report: Report) -> str:
    """How many answers, at what cost, for whom."""
    this, data, many = report.budget.this, report.data, len(report.releases)
    answers = "One answer" if many == 1 else f"{number(many)} answers"
    rows = "" if data.rows is None else f" ({number(data.rows)} rows)"
    cost = f"epsilon {number(this.epsilon)}" + (f" and delta {number(this.delta)}" if this.delta else "")
    kept = sum(entry.refused for entry in report.releases)
    none = "" if not kept else " One was refused." if kept == 1 else f" {number(kept)} were refused."
    present = data.neighbours.endswith("added or removed")
    hidden = f"whether any one {data.unit} is in the data" if present else f"the data of each {data.unit}"
    return f"{answers} about {data.population}{rows}, for {cost} in all; what is hidden is {hidden}.{none}"


def _together(report: Report) -> frozenset[str]:
    """What all answers share and the page says once: the warning of seeded noise, and the receipt."""
    seeded = bool(report.releases) and not any(entry.publishable for entry in report.releases)
    receipts = {one.provenance.receipt for entry in report.releases for _, one in entry.keyed}
    kept = report.reproducibility.get("receipts") or []
    return frozenset(name for name, once in (("warning", seeded), ("receipt", receipts <= {*kept})) if once)


def card(entry: ReportEntry, place: int, together: frozenset[str] = frozenset()) -> str:
    """One question, the `place`-th of the page: the answer in words, its picture, its promise, what was forecast.

    `together` names what the page says once for all its cards: "warning", "receipt".
    """
    shown = entry.shown()
    kind = "card refused" if entry.refused else "card"
    seeded = not entry.publishable and "warning" not in together
    warning = '<p class="warn">NOT FOR PUBLICATION: seeded noise</p>' if seeded else ""
    body = _single(entry, shown[0][1]) if entry.groups is None else _groups(entry, shown)
    promises = dict.fromkeys(str(release.guarantee) for _, release in entry.keyed)
    notes = dict.fromkeys(note for _, release in entry.keyed for note in release.provenance.notes)
    listed = "".join(f"<li>{text(note)}</li>" for note in list(notes)[:MOST])
    facts, more = _facts(entry, [one for _, one in shown], together)
    return (
        f'<article class="{kind}" id="answer-{place}" aria-labelledby="asked-{place}">'
        f'<h3 id="asked-{place}">{text(in_words(entry.asked))}</h3>{warning}{body}{_pairs(facts)}'
        "<details><summary>Privacy and method</summary>"
        + "".join(f'<p class="guarantee"><strong>Privacy:</strong> {text(said)}</p>' for said in list(promises)[:MOST])
        + _pairs(more)
        + (f'<ul class="notes">{listed}</ul>' if listed else "")
        + "</details></article>\n"
    )


def _single(entry: ReportEntry, shown: Shown, scale: Axis | None = None) -> str:
    if shown.refusal is not None:
        reason = f'<p class="refusal">{text(shown.refusal)}</p>'
        return f'<p class="answer"><strong>No answer was given.</strong></p>{reason}'
    return f'<p class="answer">{text(answer(entry.asked, shown))}</p>{drawn(shown, entry.asked, scale)}'


def _groups(entry: ReportEntry, groups: Sequence[tuple[Any, Shown]]) -> str:
    rows = group_rows(groups)
    if rows is None:
        scale = common([shown for _, shown in groups[:MOST]])
        each = "".join(f"<h4>{text(label(key))}</h4>{_single(entry, shown, scale)}" for key, shown in groups[:MOST])
        more = f'<p class="soft">{number(len(groups) - MOST)} more are in the CSV.</p>' if len(groups) > MOST else ""
        return each + more
    bar = next((shown.interval for _, shown in groups if shown.interval is not None), None)
    whole = Shown(entry.asked, None, rows, bar)
    picture = figured(PointMarks(rows), whole, entry.asked) if bar is not None else ""
    both = [(row, shown) for row, (_, shown) in zip(rows, groups, strict=True)]
    listed = [(row, _remark(shown)) for row, shown in both]
    reasons = "".join(
        f'<p class="refusal"><strong>{text(row.name)}:</strong> {text(shown.refusal)}</p>'
        for row, shown in both[:MOST]
        if shown.refusal is not None
    )
    told = f'<p class="answer">{text(of_groups(entry.asked, groups))}</p>'
    return f"{told}{picture}{number_table(entry.by or 'group', listed, entry.asked)}{reasons}"


def _remark(shown: Shown) -> str:
    match shown.value:
        case None:
            return "refused"
        case TestResult(p_value=p):
            return f"p {chance(p)}, {'rejected' if p <= LEVEL else 'not rejected'} at 5%"
    return ""


Facts = list[tuple[str, str]]


def _facts(entry: ReportEntry, shown: Sequence[Shown], together: frozenset[str]) -> tuple[Facts, Facts]:
    """What was forecast beside what was achieved; and who answered."""
    forecast, history = entry.forecast or {}, [release.provenance for _, release in entry.keyed]
    planned, achieved = spanned(leaves(forecast.get("half_width"))), half_widths(shown)
    units = str(forecast.get("units") or "")
    ahead = f"forecast ±{planned} {units}".rstrip()
    width = f"{ahead}; achieved {f'±{achieved}' if achieved else 'none'}" if planned else ""
    receipts = [] if "receipt" in together else [one.receipt for one in history if one.receipt]
    return [
        ("Only where", entry.where or ""),
        ("For each", entry.by or ""),
        ("Half-width", width),
    ], [
        ("Expected error", f"{spanned(leaves(forecast.get('error')))} {units}".strip() if forecast else ""),
        ("Mechanism", ", ".join(dict.fromkeys(one.mechanism for one in history if one.mechanism))),
        ("Receipt", ", ".join(dict.fromkeys(receipts))),
    ]


def _head(report: Report) -> str:
    entries = report.releases
    seeded = sum(not entry.publishable for entry in entries)
    warning = (
        f'<p class="warn">NOT FOR PUBLICATION: the noise of {number(seeded)} of {number(len(entries))} answers was '
        "seeded and can be subtracted.</p>"
        if seeded
        else ""
    )
    told = f'<p class="soft">{text(report.description)}</p>' if report.description else ""
    table = "" if profile_columns(report) else glance(report)
    return (
        f"<header><h1>{text(report.title)}</h1>{told}"
        f'<p class="lead">{text(summary(report))}</p>{warning}{table}</header>'
    )


def _data(data: ReportData) -> str:
    rows = {
        "Source": data.source,
        "Population": data.population,
        "One row is": data.unit,
        "Person": data.person,
        "Hidden": data.neighbours,
        "As of": data.as_of,
        "Rows": "private" if data.rows is None else number(data.rows),
    }
    return _section("Data", _pairs(rows.items()))


def _budget(budget: ReportBudget) -> str:
    spans = [("before", "Spent before", budget.spent_before), ("now", "This report", budget.this)]
    spans.append(("left", "Left", budget.left))
    known = [(kind, name, amount) for kind, name, amount in spans if amount is not None]
    whole = max(budget.epsilon, min(sum(amount.epsilon for _, _, amount in known), 1e300))
    marks, start = "", 0.0
    for kind, _, amount in known:
        end = min(100.0, start + 100 * (amount.epsilon / whole)) if whole else start
        marks += box(start, end, 3, 26, kind) if amount.epsilon else ""
        start = end
    told = "; ".join(f"{name.lower()} {number(amount.epsilon)}" for _, name, amount in known)
    picture_of = picture(32, marks, title="The budget of epsilon", told=told)
    lines = [(f'<span class="key {kind}"></span>{name}', amount) for kind, name, amount in known]
    rows = "".join(
        f'<tr><th scope="row">{name}</th><td class="n">{number(amount.epsilon)}</td>'
        f'<td class="n">{number(amount.delta)}</td></tr>'
        for name, amount in [*lines, *_whole(budget)]
    )
    head = '<tr><td></td><th scope="col" class="n">epsilon</th><th scope="col" class="n">delta</th></tr>'
    body = f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"
    said = f'<p class="soft">{text(budget.composition)}</p>' if budget.composition else ""
    return _section("Privacy budget", figure(picture_of, "", "The budget of epsilon") + body + said)


def _whole(budget: ReportBudget) -> list[tuple[str, Amounts]]:
    """The whole budget; of an analyst's part that, and the population's."""
    if budget.whole is None:
        return [("The whole budget", budget)]
    people = text(budget.whole.population)
    found: list[tuple[str, Amounts]] = [(f"The part of {text(budget.analyst)}", budget)]
    found.append((f"The budget of {people}, for all analysts", budget.whole))
    return found + ([] if budget.whole.left is None else [(f"Left of it, for {people}", budget.whole.left)])


def _sentences(title: str, sentences: Sequence[str]) -> str:
    listed = "".join(f"<li>{text(said)}</li>" for said in sentences)
    return _section(title, f"<ul>{listed}</ul>" if listed else "")


def _repeat(kept: Mapping[str, Any]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{text(name)}</th><td>{text(said)}</td></tr>' for name, said in _plain("", kept)
    )
    return _section(
        "How to repeat this",
        '<div class="wide" tabindex="0" role="region" aria-label="How to repeat this">'
        f'<table class="mono"><tbody>{rows}</tbody></table></div>',
    )


def _layered(report: Report) -> str:
    """What guidelines for evaluation ask for, layer by layer."""
    lines = layers(report)
    names = dict.fromkeys(line.layer for line in lines)
    parts = [(name, _pairs((line.asked, line.said) for line in lines if line.layer == name)) for name in names]
    return _section(TITLE, "".join(f"<h3>{text(name)}</h3>{pairs}" for name, pairs in parts))


def _plain(name: str, thing: Any, depth: int = 0) -> list[tuple[str, str]]:
    """Nested records as lines of a table; deep ones as they are."""
    if isinstance(thing, Mapping) and depth < 3:
        return [line for key, item in thing.items() for line in _plain(f"{name} {key}".strip(), item, depth + 1)]
    if isinstance(thing, list) and depth < 3:
        return [line for place, item in enumerate(thing, 1) for line in _plain(f"{name} {place}", item, depth + 1)]
    return [(name, NONE if thing is None else str(thing))]


def _section(title: str, inside: str) -> str:
    return f'<section><h2>{text(title)}</h2><div class="card">{inside}</div></section>' if inside else ""


def _pairs(rows: Iterable[tuple[str, Any]]) -> str:
    told = "".join(f"<dt>{text(name)}</dt><dd>{text(said)}</dd>" for name, said in rows if said)
    return f"<dl>{told}</dl>" if told else ""


BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
LIMIT: Final = 60.0  # seconds


def to_pdf(html: str, path: str | os.PathLike[str], *, seconds: float = LIMIT) -> bool:
    """Print the page to a file; False if no browser is found, or it does not succeed in time.

    The browser has a profile of its own, which is removed, no network, and reads the page from a private file.
    """
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        return False
    with tempfile.TemporaryDirectory(prefix="discreet-", ignore_cleanup_errors=True) as folder:
        page, made = Path(folder, "report.html"), Path(folder, "report.pdf")
        page.write_text(html, encoding="utf-8", errors="replace")
        command = [
            browser,
            "--headless=new",
            f"--user-data-dir={folder}/profile",
            "--disable-gpu",
            "--disable-extensions",
            "--disable-background-networking",
            "--disable-sync",
            "--no-first-run",
            "--no-default-browser-check",
            "--host-resolver-rules=MAP * ~NOTFOUND",  # whatever it looks for, it finds no address
            "--proxy-server=127.0.0.1:9",
            "--no-pdf-header-footer",
            f"--print-to-pdf={made}",
            page.as_uri(),
        ]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.insert(1, "--no-sandbox")  # a browser of root has no other way
        if not _ran(command, seconds):
            return False
        if not made.is_file() or not made.read_bytes().startswith(b"%PDF"):
            return False
        shutil.copyfile(made, path)
    return True


def _ran(command: list[str], seconds: float) -> bool:
    """Whether it ended well and in time; what it has started ends with it."""
    quiet = subprocess.DEVNULL
    try:
        running = subprocess.Popen(  # noqa: S603
            command, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
        )
    except OSError:
        return False
    try:
        return running.wait(seconds) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        with suppress(OSError):
            os.killpg(running.pid, signal.SIGKILL) if hasattr(os, "killpg") else running.kill()
        running.wait()
