"""The page that is published: one file, without scripts, that asks nothing of the network.

The page on paper: printed by a browser without a window, if there is one.
"""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from discreet.report.cards import card, publishable, refused
from discreet.report.draw import box, figure, picture, text
from discreet.report.numbers import NONE, finite, number
from discreet.report.parts import label
from discreet.report.record import checked
from discreet.report.sentences import question
from discreet.report.style import SHEET

POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
LISTED: Final = 4  # with more answers the page begins with a list of them


def page(dossier: Mapping[str, Any]) -> str:
    """The whole report as one HTML file: answers with intervals and pictures, the budget, methods, how to repeat it.

    It works on what JSON holds, so `page(from_json(text))` makes the page anew; BadInput if it has another shape.
    """
    found = checked(dossier)
    entries = found["releases"]
    cards = "".join(card(entry, place) for place, entry in enumerate(entries, 1))
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>{text(found['title'])}</title><style>{SHEET}</style></head>\n<body>{_head(found)}\n<main>"
        f'<section aria-labelledby="answers"><h2 id="answers">Answers</h2>{cards}</section>\n'
        f"{_data(found['data'])}\n{_budget(found['budget'])}\n"
        f"{_sentences('What this privacy means', found['meaning'])}\n{_methods(found['methods'])}\n"
        f"{_sentences('What is assumed', found['assumptions'])}\n{_repeat(found['reproducibility'])}</main>\n"
        f"<footer>Made with discreet on {text(found['created'])}. The ends of intervals are rounded outwards.</footer>"
        "</body></html>\n"
    )


def summary(dossier: Mapping[str, Any]) -> str:
    """How many answers, at what cost, for whom."""
    entries, this, data = dossier["releases"], dossier["budget"]["this"], dossier["data"]
    many = len(entries)
    answers = "One answer" if many == 1 else f"{number(many)} answers"
    rows = "" if data["rows"] is None else f" ({number(data['rows'])} rows)"
    cost = f"epsilon {number(this['epsilon'])}" + (f" and delta {number(this['delta'])}" if this["delta"] else "")
    kept = sum(map(refused, entries))
    none = "" if not kept else " One was refused." if kept == 1 else f" {number(kept)} were refused."
    who = data["unit"]
    hidden = f"what is hidden is the data of each {who}"
    return f"{answers} about {data['population']}{rows}, for {cost} in all; {hidden}.{none}"


def _head(dossier: Mapping[str, Any]) -> str:
    entries = dossier["releases"]
    seeded = sum(not publishable(entry) for entry in entries)
    warning = (
        f'<p class="warn">NOT FOR PUBLICATION: the noise of {number(seeded)} of {number(len(entries))} answers was '
        "seeded and can be subtracted.</p>"
        if seeded
        else ""
    )
    told = f'<p class="soft">{text(dossier["description"])}</p>' if dossier["description"] else ""
    links = "".join(
        f'<li><a href="#answer-{place}">{text(question(entry))}</a></li>' for place, entry in enumerate(entries, 1)
    )
    contents = f'<nav aria-label="Answers"><ol class="contents">{links}</ol></nav>' if len(entries) > LISTED else ""
    return (
        f"<header><h1>{text(dossier['title'])}</h1>{told}"
        f'<p class="lead">{text(summary(dossier))}</p>{warning}{contents}</header>'
    )


def _data(data: Mapping[str, Any]) -> str:
    rows = {
        "Source": data["source"],
        "Population": data["population"],
        "One row is": data["unit"],
        "Person": data["person"],
        "Hidden": data["neighbours"],
        "Rows": "private" if data["rows"] is None else number(data["rows"]),
    }
    return _section("Data", _pairs(rows.items()))


def _budget(budget: Mapping[str, Any]) -> str:
    zero = {"epsilon": 0.0, "delta": 0.0}
    spans = [
        ("before", "Spent before", budget["spent_before"] or zero),
        ("now", "This report", budget["this"]),
        ("left", "Left", budget["left"] or zero),
    ]
    sizes = [finite(amount["epsilon"]) or 0.0 for _, _, amount in spans]
    whole = max(finite(budget["epsilon"]) or 0.0, min(sum(sizes), 1e300))
    marks, start = "", 0.0
    for (kind, _, _), size in zip(spans, sizes, strict=True):
        end = min(100.0, start + 100 * (size / whole)) if whole else start
        marks += box(start, end, 3, 26, kind) if size else ""
        start = end
    told = "; ".join(f"{name.lower()} {number(size)}" for (_, name, _), size in zip(spans, sizes, strict=True))
    drawn = picture(32, marks, title="The budget of epsilon", told=told)
    rows = "".join(
        f'<tr><th scope="row"><span class="key {kind}"></span>{name}</th><td class="n">{number(amount["epsilon"])}</td>'
        f'<td class="n">{number(amount["delta"])}</td></tr>'
        for kind, name, amount in spans
        if not (amount is zero and kind != "now")
    )
    whole_row = (
        f'<tr><th scope="row">The whole budget</th><td class="n">{number(budget["epsilon"])}</td>'
        f'<td class="n">{number(budget["delta"])}</td></tr>'
    )
    head = '<tr><td></td><th scope="col" class="n">epsilon</th><th scope="col" class="n">delta</th></tr>'
    body = f"<table><thead>{head}</thead><tbody>{rows}{whole_row}</tbody></table>"
    said = f'<p class="soft">{text(budget["composition"])}</p>' if budget["composition"] else ""
    return _section("Privacy budget", figure(drawn, "", "The budget of epsilon") + body + said)


def _sentences(title: str, sentences: list[str]) -> str:
    return (
        _section(title, "<ul>" + "".join(f"<li>{text(said)}</li>" for said in sentences) + "</ul>") if sentences else ""
    )


def _methods(methods: list[Mapping[str, Any]]) -> str:
    told = "".join(f"<h3>{text(method['name'])}</h3><p>{text(method['text'])}</p>" for method in methods)
    return _section("Methods", told) if methods else ""


def _repeat(kept: Mapping[str, Any]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{text(name)}</th><td>{text(said)}</td></tr>' for name, said in _plain("", kept)
    )
    return _section(
        "How to repeat this",
        '<div class="wide" tabindex="0" role="region" aria-label="How to repeat this">'
        f'<table class="mono"><tbody>{rows}</tbody></table></div>',
    )


def _plain(name: str, thing: Any, depth: int = 0) -> list[tuple[str, str]]:
    """Nested records as lines of a table; deep ones as they are."""
    if isinstance(thing, Mapping) and depth < 3:
        return [line for key, item in thing.items() for line in _plain(f"{name} {key}".strip(), item, depth + 1)]
    if isinstance(thing, list) and depth < 3:
        return [line for place, item in enumerate(thing, 1) for line in _plain(f"{name} {place}", item, depth + 1)]
    if thing is None:
        return [(name, NONE)]
    return [(name, str(thing) if isinstance(thing, bool) or finite(thing) is not None else label(thing))]


def _section(title: str, inside: str) -> str:
    return f'<section><h2>{text(title)}</h2><div class="card">{inside}</div></section>'


def _pairs(rows: Iterable[tuple[str, Any]]) -> str:
    return "<dl>" + "".join(f"<dt>{text(name)}</dt><dd>{text(said)}</dd>" for name, said in rows if said) + "</dl>"


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
