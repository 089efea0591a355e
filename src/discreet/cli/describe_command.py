"""`discreet describe`: a private profile of a table; and what commands share: progress, and where a file may go."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from discreet.errors import BadInput, clean

Seed = Annotated[
    int | None,
    typer.Option(help="Repeatable noise, for documents and tests; such answers are not for publication."),
]
Engine = Annotated[
    str | None,
    typer.Option(help="Where files are worked on: dask://host:8786, spark://host:7077 or sc://host:15002."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines instead of text for people.")]


@contextmanager
def watching(total: int | None, *, quiet: bool) -> Iterator[Callable[[str], None]]:
    """A function to tell what begins, shown on a terminal's error stream; its steps are the plan's, not the data's."""
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


def describe(
    file: Annotated[str, typer.Argument(help="A file, glob, folder or database.", show_default=False)],
    epsilon: Annotated[float, typer.Option(help="What the whole profile may cost.")],
    delta: Annotated[float, typer.Option(help="Needed to find categories in texts.")] = 1e-6,
    person: Annotated[str | None, typer.Option(help="The column that says whose row it is.")] = None,
    one_row: Annotated[
        bool, typer.Option("--one-row-per-person", help="Nobody has two rows: then no column has to say whose it is.")
    ] = False,
    table: Annotated[str | None, typer.Option(help="The table of a database.")] = None,
    types: Annotated[
        list[str] | None,
        typer.Option("--type", help="What a column holds, as NAME=number, integer, boolean, category, text or date."),
    ] = None,
    ids: Annotated[list[str] | None, typer.Option("--id", help="A column of names or ids: it is left out.")] = None,
    ledger: Annotated[str | None, typer.Option(help="The ledger that records it.")] = None,
    no_ledger: Annotated[bool, typer.Option("--no-ledger", help="Record it nowhere, on purpose.")] = False,
    population: Annotated[str | None, typer.Option(help="Whose budget is charged; else the file's name.")] = None,
    budget: Annotated[float | None, typer.Option(help="The epsilon of a new population, in all.")] = None,
    budget_delta: Annotated[float, typer.Option(help="The delta of a new population, in all.")] = 0.0,
    unit: Annotated[str | None, typer.Option(help="What a row, or a person, is called.")] = None,
    unit_plural: Annotated[str | None, typer.Option(help="More than one of them, if English has its own word.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write the profile as a page, too.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the page if it is there.")] = False,
    engine: Engine = None,
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """A private profile of a whole table, a row a column: missing entries, quartiles, categories, with intervals.

    Example: discreet describe visits.parquet --epsilon 1 --person id --ledger visits.ledger --budget 3 --budget-delta
    1e-5

    Example: discreet describe survey.csv --epsilon 1 --one-row-per-person --no-ledger --html profile.html
    """
    from discreet.accounting.filter import Budget
    from discreet.cli.reports import show_profile
    from discreet.noise.randomness import Seeded
    from discreet.plan.profile import describe as profile_of

    if (person is None) == (not one_row):
        both = "--person and --one-row-per-person are both given" if one_row else "nothing says whose row is whose"
        raise BadInput(f"{both}; give --person COLUMN, or --one-row-per-person if nobody has two rows in the table")
    if (ledger is None) == (not no_ledger):
        both = "--ledger and --no-ledger are both given" if no_ledger else "nothing says where the cost is recorded"
        raise BadInput(f"{both}; give --ledger FILE, or --no-ledger if it shall be recorded nowhere")
    if html is not None:
        check_file(html, force)
    declared = dict(pair(entry) for entry in types or [])
    with watching(None, quiet=as_json) as watch:
        dossier = profile_of(
            file,
            epsilon=epsilon,
            delta=delta,
            person=person,
            unit="person" if unit is None and one_row and no_ledger else unit,
            unit_plural=unit_plural,
            table=table,
            types=declared or None,
            ids=ids or (),
            ledger=ledger,
            population=population,
            budget=None if budget is None else Budget(budget, budget_delta),
            rng=None if seed is None else Seeded(seed),
            engine=engine,
            watch=watch,
        ).to_dict()
    if as_json:
        typer.echo(json.dumps(dossier, indent=2, allow_nan=False))
    else:
        show_profile(dossier)
    if html is not None:  # afterwards: what was paid for is shown, whatever becomes of the page
        from discreet.report import page

        html.write_text(page(dossier), encoding="utf-8")


def check_file(file: Path, force: bool) -> None:
    """Before anything is paid for: the page will have a place."""
    if file.exists() and not force:
        raise BadInput(f"{file} is there already; give another name, or --force")
    if not file.absolute().parent.is_dir():
        raise BadInput(f"{file.parent} is not a folder; make it first, or give another name")


def pair(entry: str) -> tuple[str, str]:
    """NAME=KIND."""
    name, sign, kind = entry.rpartition("=")
    if not sign or not name:
        raise BadInput(f"--type is {entry!r}; write NAME=number, for example age=number")
    return name, kind
