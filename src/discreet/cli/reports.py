"""What `discreet release`, `describe` and `report` print and write: forecasts, answers, profiles, files."""

import json
import os
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from discreet.errors import BadInput, clean, cleaned
from discreet.plan.bound_plan import Bound, bind
from discreet.plan.plan_file import read_plan
from discreet.plan.profile_card import UNRECORDED
from discreet.plan.run_plan import price_list, run_plan
from discreet.privacy.exact import show
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.mechanism import Randomness
from discreet.privacy.values import label
from discreet.report import Report, from_json, page, sentence, to_csv, to_json, to_pdf
from discreet.report.comparison import Comparison
from discreet.report.overview import ProfileColumn, profile_columns
from discreet.report.sentences import in_brackets, number
from discreet.report.synthetic_rows import rows_csv, rows_file, synthetic_tables, the_table

REFUSED: Final = "refused"
LONGEST: Final = 24  # letters of a column's name in a table
FILES: Final = ("results.json", "results.csv", "report.html")


def load(
    path: Path, as_of: str | None = None, engine: str | None = None, watch: Callable[[str], None] = lambda _: None
) -> Bound:
    """The plan, bound to its table and priced: nothing is charged, no row is read."""
    plan, text = read_plan(path)
    return bind(plan, text, path.absolute().parent, name=path.name, reuse=True, as_of=as_of, engine=engine, watch=watch)


def foreseen(bound: Bound) -> dict[str, Any]:
    """What the plan will cost and how accurate it should be, as plain values."""
    balance = bound.balance()
    told = {"balance": None if balance is None else str(balance), "answered": bound.answered()}
    return price_list(bound) | told


def suggestion(bound: Bound) -> str:
    """Lines for the plan, read off the first rows of the data: nothing of it is published, and nothing is charged."""
    found = {name: kind for name, kind in bound.table.suggested_types().items() if name not in bound.plan.data.types}
    if not found:
        return "Every column has its type: there is nothing to suggest."
    lines = [f'{json.dumps(name)} = "{kind}"' for name, kind in found.items()]
    return "\n".join(
        ["# Read off the first rows, for you alone: check it, and put it into the plan.", "[data.types]", *lines]
    )


def _undeclared(bound: Bound) -> str:
    """Which columns of a text file are read as numbers or as yes and no, and nothing says that they are."""
    wants = [
        want for question in bound.priced.questions for want in question.wanted.wants if question.wanted.references
    ]
    read = [
        want.name for want in wants if want.kind in ("number", "boolean", "event", "answer") and want.equals is None
    ]
    names = [name for name in dict.fromkeys(read) if bound.table.of_texts and bound.table.kinds[name] == "unknown"]
    if not names:
        return ""
    return (
        f"A text file declares no types: cells of {', '.join(map(clean, names))} that are not of the kind needed count "
        "as missing. Declare [data.types], with the help of --suggest-types: then what they rule out costs nothing."
    )


def show_forecast(bound: Bound) -> None:
    """The price and the forecast in the terminal."""
    console = Console(highlight=False)
    seen, people = cleaned(foreseen(bound)), bound.plan.population
    name = clean(people.name)
    console.print(Text(seen["title"], style="bold"))
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("release", overflow="fold")
    table.add_column("question", overflow="fold")
    for heading in ("epsilon", "delta", "expected ±"):
        table.add_column(heading, justify="right", no_wrap=True)
    for release in seen["releases"]:
        table.add_row(
            Text(release["id"]),
            Text(release["question"]),
            "stored" if release.get("stored") else f"{release['epsilon']:.3g}",
            "" if release.get("stored") else f"{release['delta']:.1g}" if release["delta"] else "0",
            "" if release.get("stored") else _ahead(release["forecast"] or {}),
        )
    console.print(table)
    forecasts = {one["id"]: one["forecast"] or {} for one in seen["releases"] if not one.get("stored")}
    for key, ahead in forecasts.items():
        if _ahead(ahead) == REFUSED:
            console.print(Text(f"{key} would be refused. In a made-up run: {ahead['refused']}.", style="bold red"))
        elif ahead.get("power") is not None:
            assumed = "; ".join(ahead["assumptions"])
            says = f"power is the chance to reject at level {ahead['level']:g}, assumed: {assumed}"
            console.print(Text(f"{key}: {says}."))
    if undeclared := _undeclared(bound):
        console.print(Text(undeclared))
    if bound.priced.new:
        console.print(Text(seen["composition"]))
    if bound.kept:
        console.print(f"Stored: {len(bound.kept)} of {len(seen['releases'])} were asked before, and cost nothing now.")
    left = (
        f"The budget of {name}: {seen['balance']}."
        if seen["balance"]
        else (
            f"The budget of {name} is new: epsilon {show(people.epsilon)}, delta {show(people.delta)}."
            if people.epsilon is not None
            else f"{name} has no budget yet: give [population] epsilon."
        )
    )
    console.print(Text(left))
    for line in bound.shared():
        console.print(Text(clean(line)))
    if seen["answered"]:
        console.print("This plan was answered before: the same answers, at no cost.")
    for line in _assumed(forecasts):
        console.print(Text(line))


def _assumed(forecasts: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What the forecasts of a plan take for granted."""
    lines = []
    if any(ahead.get("half_width") is not None for ahead in forecasts.values()):
        lines.append("Expected ±: half of a 95% interval, from the plan's public guesses of rows and scale alone.")
    if any(ahead.get("units") for ahead in forecasts.values()):
        lines.append("sd: in standard deviations of the columns; the plan gives no scale for that release.")
    if normal := [key for key, ahead in forecasts.items() if ahead.get("if_normal") and ahead.get("error") is not None]:
        taken = "taken to be normal; if they are skewed, guesses = { low, typical, high } make better forecasts"
        lines.append(f"Values of {', '.join(normal)}: {taken}.")
    return lines


def _ahead(forecast: Mapping[str, Any]) -> str:
    """What to expect of a release, in a cell: a half-width, the power of a test, a refusal, or nothing."""
    if forecast.get("power") is not None:
        return f"power {forecast['power']:.2f}"
    if forecast.get("error") is None and forecast.get("refused"):
        return REFUSED
    half = forecast.get("half_width")
    return "" if half is None else f"{half:.3g}{' sd' if forecast.get('units') else ''}"


def check_writable(folder: Path, force: bool, names: tuple[str, ...] = FILES) -> None:
    """Before anything is paid for: the answers will have a place."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise BadInput(f"{folder} cannot be written: {error.strerror}; give another folder with --out") from None
    there = [name for name in names if (folder / name).exists()]
    if there and not force:
        raise BadInput(f"{folder} already holds {', '.join(there)}; give another folder with --out, or --force")


def rows_of(bound: Bound) -> list[str]:
    """The files of rows that a plan writes."""
    return [rows_file(one.id) for one in bound.plan.release if one.statistic == "synthetic"]


def release(
    bound: Bound, folder: Path, *, rng: Randomness | None, watch: Callable[[str], None]
) -> tuple[dict[str, Any], list[Path]]:
    """Run the plan and write its files: the dossier, and what was written."""
    dossier = run_plan(bound, rng=rng, watch=watch)
    return dossier, write(dossier, folder)


def write(dossier: dict[str, Any], folder: Path) -> list[Path]:
    """JSON, CSV, a page, a PDF where a browser can print one, and the rows of synthetic tables."""
    replace_file(folder / "results.json", to_json(dossier))
    return [folder / "results.json", *_pages(dossier, folder)]


def stored_report(file: Path) -> Report:
    """The report in a file, or in the folder of a release; BadInput if there is none."""
    try:
        return from_json((file / "results.json" if file.is_dir() else file).read_bytes())
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror}; give the results.json of a release") from None


def show_changes(found: Comparison) -> None:
    """A line for each number: then, now, and the difference with its interval."""
    console = Console(highlight=False)
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("question", overflow="fold")
    for title in ("old", "new", "difference", f"{100 * found.confidence:g}% interval"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for change in found.changes:
        value, low, high = change.told
        asked = Text(clean(change.question + (f": {change.name}" if change.name else "")))
        sides = (number(one) for one in (change.old, change.new))
        table.add_row(asked, *sides, value, f"[{low}, {high}]", "clear of 0" if change.clear else "")
    if found.changes:
        console.print(table)
    for line in (*found.left_out, *found.assumptions):
        console.print(Text(clean(line)))
    if not found.publishable:
        console.print("[bold red]Not for publication: noise was seeded.[/]")


def render(file: Path, folder: Path, force: bool) -> list[Path]:
    """The files of a stored report, made anew from its JSON; the JSON itself is not written over."""
    dossier = stored_report(file)
    check_writable(folder, force, (*FILES[1:], *map(rows_file, synthetic_tables(dossier))))
    return _pages(dossier, folder)


def synthetic(file: Path, out: Path, *, name: str | None, rows: int | None, seed: int, force: bool) -> str:
    """Rows of a stored synthetic table as a file; what they do not say."""
    table = the_table(stored_report(file), name)
    if out.suffix not in (".csv", ".parquet"):
        raise BadInput(f"--out is {out.name}, and rows are written as CSV or Parquet; end it in .csv or .parquet")
    check_writable(out.absolute().parent, force, (out.name,))
    if out.suffix == ".csv":
        replace_file(out.absolute(), rows_csv(table, rows, seed=seed))
    else:
        table.to_frame(rows, seed=seed).to_parquet(out, index=False)
    return table.warning


def _pages(dossier: dict[str, Any] | Report, folder: Path) -> list[Path]:
    html = page(dossier)
    files = {"results.csv": to_csv(dossier), "report.html": html}
    files |= {rows_file(name): rows_csv(table) for name, table in synthetic_tables(dossier).items()}
    for name, text in files.items():
        replace_file(folder / name, text)
    pdf = folder / "report.pdf"
    return [*(folder / name for name in files), *([pdf] if to_pdf(html, pdf) else [])]


def replace_file(path: Path, text: str) -> None:
    """All of the file or none of it."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(name, 0o666 & ~mask)
    os.replace(name, path)


def show_answers(dossier: dict[str, Any], written: list[Path], *, again: bool = False) -> None:
    """A sentence for each answer, and where the files are; `again` if they were stored before."""
    dossier = cleaned(dossier)
    console = Console(highlight=False)
    if again:
        console.print(
            f"This plan was answered before, at {dossier['created']}: these are the answers that were stored then. The "
            "table was not read again and nothing more was charged. For the table as it is now, give its date: "
            "--as-of 2026-12-31, say.\n",
            style="bold",
        )
    for entry in dossier["releases"]:
        console.print(Text.assemble((f"{entry['id']}  ", "bold"), sentence(entry)))
        for group in entry.get("groups") or []:
            if group["release"]["refusal"] is not None:
                console.print(Text(f"  {label(group['key'])} was refused: {group['release']['refusal']}."))
    budget = dossier["budget"]
    left = budget["left"]
    kept = str(budget.get("composition") or "")
    grown = not again and " stored before" in kept  # a plan that had fewer releases then
    spent = "Spent then:" if again else f"{kept}\nIn all" if grown else "Spent"
    console.print(
        f"\n{spent} epsilon {show(budget['this']['epsilon'])}, delta {show(budget['this']['delta'])}"
        + (f"; left: epsilon {show(left['epsilon'])}, delta {show(left['delta'])}." if left else ".")
    )
    console.print(Text("Written: " + ", ".join(map(near, written))))


def near(path: Path) -> str:
    """A path as it is seen from the current folder, if it is inside."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def show_profile(dossier: Mapping[str, Any]) -> None:
    """One line for each column, and the bars of categories."""
    report = Report.of(dossier)
    console = Console(highlight=False)
    console.width = max(console.width, 80)
    for entry in report.releases:
        if not entry.columns:
            ((_, shown),) = entry.shown()
            people = f"{in_brackets(shown.numbers[0])} {report.data.units}"
            console.print(Text(clean(f"{report.title}: {people}"), style="bold"))
    console.print(_columns(profile_columns(report), console.width))
    this = report.budget.this
    console.print(f"\nThe whole profile cost epsilon {show(this.epsilon)}, delta {show(this.delta)}.")
    if (left := report.budget.left) is not None and report.reproducibility.get("receipts"):
        console.print(f"Left of the budget: epsilon {show(left.epsilon)}, delta {show(left.delta)}.")
    whole = report.data.neighbours == Neighbours.ADD_OR_REMOVE.value
    what = "whether any one {} is in the table" if whole else "what the table holds about any one {}"
    console.print(f"Hidden: {what.format(clean(report.data.unit))}.")
    if not all(entry.publishable for entry in report.releases):
        console.print("[bold red]Not for publication: the noise was seeded.[/]")
    if not report.reproducibility.get("receipts"):
        console.print(UNRECORDED)


WIDE: Final = 110  # letters in a line, from which on the small pictures have room
PICTURE: Final = 16
SHORT: Final = defaultdict(
    str, number="num", integer="int", boolean="bool", category="cat", text="text", date="date", id="id"
)


def _columns(columns: Sequence[ProfileColumn], width: int) -> Table:
    """One line a column, of what a terminal of this width has room for."""
    names = [clean(one.name)[:LONGEST] for one in columns]
    head = ["column", "kind", "missing", *(["distribution"] if width >= WIDE else [])]
    cells = [
        [name, one.kind, one.missing, one.blocks(PICTURE)] if width >= WIDE else [name, SHORT[one.kind], one.missing]
        for name, one in zip(names, columns, strict=True)
    ]
    taken = sum(max(map(len, column)) + 1 for column in zip(head, *cells, strict=True))
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 1, 0, 0))
    for place, title in enumerate(head):
        table.add_column(title, no_wrap=True, justify="right" if place == 2 else "left")
    table.add_column("quartiles or categories [95% intervals]", overflow="fold", ratio=1)
    for one, row in zip(columns, cells, strict=True):
        table.add_row(*map(Text, row), Text(clean(one.told(max(20, width - taken)))))
    return table
