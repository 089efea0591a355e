"""What is being worked on, on a terminal's error stream; nothing where nobody watches.

`discreet explain`: the meaning of epsilon in the terminal.

The commands.
"""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli.ledger_commands import app as ledger
from discreet.errors import BadInput
from discreet.privacy.meaning import Meaning
from discreet.privacy.safe_text import clean
from discreet.version import __version__


@contextmanager
def watching(total: int | None, *, quiet: bool) -> Iterator[Callable[[str], None]]:
    """A function to tell what begins. The bar leaves nothing behind; its steps are the plan's, not the data's."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda _: None
        return
    count = [MofNCompleteColumn()] if total is not None else []
    bar = Progress(
        SpinnerColumn(), BarColumn(), *count, TextColumn("{task.description}"), console=console, transient=True
    )
    with bar:
        task = bar.add_task("", total=total)
        begun = 0

        def watch(title: str) -> None:
            nonlocal begun
            bar.update(task, description=clean(title).replace("[", "\\["), completed=begun)
            begun += 1

        yield watch


def show(meaning: Meaning) -> None:
    """Sentences, one a line."""
    from rich.console import Console

    console = Console(highlight=False)
    for sentence in meaning.sentences:
        console.print(f"• {sentence}", soft_wrap=False)


app = typer.Typer(
    name="discreet",
    help="Private answers about people, with error bars.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
Seed = Annotated[
    int | None,
    typer.Option(help="Repeatable noise, for documents and tests; such answers are not for publication."),
]
app.add_typer(ledger)
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines instead of text for people.")]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"discreet {__version__}")
        raise typer.Exit


@app.callback()
def start(
    _: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")] = False,
) -> None:
    """Private answers about people, with error bars."""


@app.command()
def demo(
    out: Annotated[Path | None, typer.Option(help="A new folder for the files; else discreet-demo.")] = None,
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """The whole story about 8,366 real people: profile, plan, release, report, ledger, and a refusal."""
    from discreet.cli.demo import run

    story = run(out, seed, quiet=as_json)
    if as_json:
        _print(story.record())


@app.command()
def explain(
    epsilon: Annotated[float, typer.Option(help="The privacy loss to explain.")],
    delta: Annotated[float, typer.Option(help="What is added to the chance of any set of answers; 0 is pure.")] = 0.0,
    group: Annotated[int, typer.Option(help="How many people change together, a family say.")] = 1,
    prior: Annotated[float, typer.Option(help="How likely a guess about a person was beforehand.")] = 0.01,
    as_json: Json = False,
) -> None:
    """What an epsilon means, in plain words."""
    from discreet.privacy.guarantee import Guarantee, check_budget
    from discreet.privacy.meaning import explain as meaning_of
    from discreet.privacy.values import plain

    check_budget(epsilon, delta, 1)
    meaning = meaning_of(Guarantee(epsilon, delta, unit="person"), prior=prior, group=group)
    if as_json:
        _print(plain(meaning) | {"sentences": list(meaning.sentences)})
    else:
        show(meaning)


@app.command()
def release(
    plan: Annotated[Path, typer.Argument(help="The plan, a TOML file.", show_default=False)],
    out: Annotated[Path | None, typer.Option(help="The folder for the answers; else one beside the plan.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the price and the forecast, and stop.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before spending.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite answers that are there.")] = False,
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """Publish what a plan says: price and forecast first, then one charge, then the answers and a report.

    The same plan again gives the stored answers and costs nothing.

    Example: discreet release plan.toml --dry-run
    """
    from discreet.cli import release_command as work
    from discreet.noise.randomness import Seeded

    bound = work.load(plan)
    folder = out or plan.absolute().parent / f"{plan.stem}-release"
    if dry_run:
        if as_json:
            _print(work.foreseen(bound))
        else:
            work.show_forecast(bound)
        return
    work.check_writable(folder, force)
    if not as_json:
        work.show_forecast(bound)
    again = bound.answered()
    if not yes and not again:
        if not sys.stdin.isatty():
            raise BadInput("nobody is there to say yes; give --yes, or --dry-run to see the price alone")
        typer.confirm("Spend this?", abort=True)
    with watching(len(bound.priced.questions), quiet=as_json) as watch:
        rng = None if seed is None else Seeded(seed)
        dossier, written = work.release(bound, folder, rng=rng, watch=watch)
    if as_json:
        _print(dossier)
    else:
        work.show_answers(dossier, written, again=again)


@app.command()
def describe(
    file: Annotated[str, typer.Argument(help="A file, glob, folder or database.", show_default=False)],
    epsilon: Annotated[float, typer.Option(help="What the whole profile may cost.")],
    delta: Annotated[float, typer.Option(help="Needed to find categories in texts.")] = 1e-6,
    person: Annotated[str | None, typer.Option(help="The column that says whose row it is.")] = None,
    table: Annotated[str | None, typer.Option(help="The table of a database.")] = None,
    types: Annotated[
        list[str] | None, typer.Option("--type", help="A column's type, as NAME=number, whole, truth, text or date.")
    ] = None,
    ledger: Annotated[str | None, typer.Option(help="The ledger that records it.")] = None,
    population: Annotated[str | None, typer.Option(help="Whose budget is charged; else the file's name.")] = None,
    budget: Annotated[float | None, typer.Option(help="The epsilon of a new population, in all.")] = None,
    budget_delta: Annotated[float, typer.Option(help="The delta of a new population, in all.")] = 0.0,
    unit: Annotated[str | None, typer.Option(help="What a row, or a person, is called.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write the profile as a page, too.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the page if it is there.")] = False,
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """A private profile of a whole table: people, missing entries, quantiles, categories, with intervals.

    Example: discreet describe patients.parquet --epsilon 1 --person id --html profile.html
    """
    from discreet.accounting.filter import Budget
    from discreet.cli.describe_command import profile, show_profile
    from discreet.noise.randomness import Seeded

    if html is not None:
        check_file(html, force)
    declared = dict(_pair(entry) for entry in types or [])
    with watching(None, quiet=as_json) as watch:
        dossier = profile(
            file,
            epsilon=epsilon,
            delta=delta,
            person=person,
            unit=unit,
            table=table,
            types=declared,
            ledger=ledger,
            population=population,
            budget=None if budget is None else Budget(budget, budget_delta),
            rng=None if seed is None else Seeded(seed),
            watch=watch,
        )
    if as_json:
        _print(dossier)
    else:
        show_profile(dossier)
    if html is not None:  # afterwards: what was paid for is shown, whatever becomes of the page
        from discreet.report import page

        html.write_text(page(dossier), encoding="utf-8")


@app.command()
def plan(
    statistic: Annotated[str, typer.Argument(help="mean, median, proportion, histogram, ...", show_default=False)],
    rows: Annotated[int | None, typer.Option(help="About how many people there are.")] = None,
    epsilon: Annotated[float | None, typer.Option(help="What it may cost.")] = None,
    delta: Annotated[float, typer.Option(help="0 is pure.")] = 0.0,
    error: Annotated[float | None, typer.Option(help="The error that is wanted: solves for the other one.")] = None,
    scale: Annotated[float | None, typer.Option(help="A public guess of the standard deviation.")] = None,
    as_json: Json = False,
) -> None:
    """The error to expect before anything is spent; or, with --error, the rows or the epsilon that it takes.

    Example: discreet plan mean --rows 10000 --epsilon 0.5

    Example: discreet plan mean --error 0.05 --epsilon 0.5
    """
    from discreet.forecast.forecast import forecast
    from discreet.forecast.required import need

    about = {} if scale is None else {"scale": scale}
    if error is not None:
        found: Any = need(statistic, error=error, rows=rows, epsilon=epsilon, delta=delta, **about)
    elif rows is None or epsilon is None:
        raise BadInput("a forecast needs --rows and --epsilon; or give --error and one of them")
    else:
        found = forecast(statistic, rows=rows, epsilon=epsilon, delta=delta, **about)
    if as_json:
        _print(found.to_dict())
    else:
        typer.echo(str(found))


def check_file(file: Path, force: bool) -> None:
    """Before anything is paid for: the page will have a place."""
    if file.exists() and not force:
        raise BadInput(f"{file} is there already; give another name, or --force")
    if not file.absolute().parent.is_dir():
        raise BadInput(f"{file.parent} is not a folder; make it first, or give another name")


def _pair(entry: str) -> tuple[str, str]:
    name, sign, kind = entry.rpartition("=")
    if not sign or not name:
        raise BadInput(f"--type is {entry!r}; write NAME=number, for example age=number")
    return name, kind


def _print(record: Any) -> None:
    typer.echo(json.dumps(record, indent=2, allow_nan=False))  # in ASCII: whatever the terminal, nothing is lost
