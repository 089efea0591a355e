"""The commands, each with its options and its output; what takes more than a few lines is in a module of its own."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from discreet.cli.ledger_commands import app as ledger
from discreet.cli.plan_commands import app as plans
from discreet.errors import BadInput, clean, printable
from discreet.privacy.meaning import Meaning
from discreet.version import __version__

FOUND: Final = 7  # the exit code of an audit that found something


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
app.add_typer(plans)
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines instead of text for people.")]


Engine = Annotated[
    str | None,
    typer.Option(help="Where files are worked on: dask://host:8786, spark://host:7077 or sc://host:15002."),
]


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
    people: Annotated[int | None, typer.Option(help="How many people there are, for what delta comes to.")] = None,
    as_json: Json = False,
) -> None:
    """What an epsilon means, in plain words."""
    from discreet.privacy.guarantee import check_budget
    from discreet.privacy.meaning import explain as meaning_of
    from discreet.privacy.values import plain

    check_budget(epsilon, delta, 1)
    meaning = meaning_of(epsilon=epsilon, delta=delta, n=people, prior=prior, group=group)
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
    suggest_types: Annotated[
        bool, typer.Option("--suggest-types", help="Suggest types by the first rows of a text file, for you alone.")
    ] = False,
    engine: Engine = None,
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """Publish what a plan says: price and forecast first, then one charge, then the answers and a report.

    The same plan again gives the stored answers and costs nothing.

    Example: discreet release plan.toml --dry-run
    """
    from discreet.cli import reports as work
    from discreet.noise.randomness import Seeded

    bound = work.load(plan, engine)
    folder = out or plan.absolute().parent / f"{plan.stem}-release"
    if suggest_types:
        typer.echo(printable(work.suggestion(bound)))
        return
    if dry_run:
        foresee(plan, as_json=as_json, bound=bound)
        return
    work.check_writable(folder, force)
    if not as_json:
        work.show_forecast(bound)
    again = bound.answered()
    if not yes and not again:
        if not sys.stdin.isatty():
            raise BadInput(
                "spending needs a yes, and there is no terminal to ask at; give --yes, or --dry-run to see the price"
            )
        typer.confirm("Spend this?", abort=True)
    with watching(len(bound.priced.questions), quiet=as_json) as watch:
        rng = None if seed is None else Seeded(seed)
        dossier, written = work.release(bound, folder, rng=rng, watch=watch)
    if as_json:
        _print(dossier)
    else:
        work.show_answers(dossier, written, again=again)


def foresee(plan: Path, *, as_json: bool, bound: Any = None) -> None:
    """Show the price and the forecast of a plan; then whatever its ledger would refuse is raised."""
    from discreet.cli import reports as work

    bound = bound or work.load(plan)
    if as_json:
        _print(work.foreseen(bound))
    else:
        work.show_forecast(bound)
    bound.check()


@app.command()
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
    html: Annotated[Path | None, typer.Option(help="Write the profile as a page, too.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the page if it is there.")] = False,
    engine: Engine = None,
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """A private profile of a whole table, a row a column: missing entries, quartiles, categories, with intervals.

    Example: discreet describe visits.parquet --epsilon 1 --person id --ledger visits.ledger --budget 3

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
        _print(dossier)
    else:
        show_profile(dossier)
    if html is not None:  # afterwards: what was paid for is shown, whatever becomes of the page
        from discreet.report import page

        html.write_text(page(dossier), encoding="utf-8")


@app.command()
def forecast(
    statistic: Annotated[str, typer.Argument(help="mean, median, proportion, histogram, ...", show_default=False)],
    rows: Annotated[int | None, typer.Option(help="About how many people there are.")] = None,
    epsilon: Annotated[float | None, typer.Option(help="What it may cost.")] = None,
    delta: Annotated[float, typer.Option(help="0 is pure.")] = 0.0,
    error: Annotated[float | None, typer.Option(help="The error that is wanted: solves for the other one.")] = None,
    half_width: Annotated[float | None, typer.Option(help="The half-width of the interval that is wanted.")] = None,
    power: Annotated[float | None, typer.Option(help="The power of a test that is wanted.")] = None,
    scale: Annotated[float | None, typer.Option(help="A public guess of the standard deviation.")] = None,
    about: Annotated[
        list[str] | None,
        typer.Option("--with", help="An option of the statistic or an assumption, as NAME=VALUE in TOML: effect=0.3."),
    ] = None,
    as_json: Json = False,
) -> None:
    """The error to expect before anything is spent, or the power of a test.

    With --error, --half-width or --power: the rows or the epsilon that it needs, whichever is not given.

    Example: discreet forecast mean --rows 10000 --epsilon 0.5 --scale 12

    Example: discreet forecast two_samples_test --power 0.8 --epsilon 1 --with effect=0.3
    """
    from discreet.forecasts.forecast import forecast as expected
    from discreet.forecasts.required import required

    given = dict(map(_toml, about or ())) | ({} if scale is None else {"scale": scale})
    targets = {"error": error, "half_width": half_width, "power": power}
    if any(target is not None for target in targets.values()):
        found: Any = required(statistic, **targets, rows=rows, epsilon=epsilon, delta=delta, **given)
    elif rows is None or epsilon is None:
        raise BadInput(
            "a forecast needs --rows and --epsilon; or give --error, --half-width or --power and one of them"
        )
    else:
        found = expected(statistic, rows=rows, epsilon=epsilon, delta=delta, **given)
    if as_json:
        _print(found.to_dict())
    else:
        typer.echo(str(found))


@app.command()
def report(
    file: Annotated[Path, typer.Argument(help="The results.json of a release.", show_default=False)],
    out: Annotated[Path | None, typer.Option(help="The folder for the files; else that of the JSON.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that are there.")] = False,
    as_json: Json = False,
) -> None:
    """The page, the table and the PDF of a stored report, made anew from its JSON: nothing is asked or charged.

    Example: discreet report plan-release/results.json --out again
    """
    from discreet.cli import reports as work

    written = work.render(file, out or file.absolute().parent, force)
    if as_json:
        _print({"written": [str(path) for path in written]})
    else:
        typer.echo("Written: " + ", ".join(printable(str(path)) for path in written))


@app.command()
def audit(
    mechanism: Annotated[str, typer.Argument(help="module:factory, a function without arguments.", show_default=False)],
    world: Annotated[
        str, typer.Option(help="What its rows are: numbers, truths or labels; or module:pairs.")
    ] = "numbers",
    runs: Annotated[int, typer.Option(min=0, help="Tell neighbours apart by so many outputs each, too.")] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Of the audit's own draws.")] = 0,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be audited, and stop.")] = False,
    as_json: Json = False,
) -> None:
    """Audit a mechanism on neighbouring tables: exit code 0 if nothing is found, 7 if something is.

    An audit can refute a promise; it cannot prove one.

    Example: discreet audit my_package.mechanisms:make --world numbers --runs 2000
    """
    from discreet.cli.audit_command import Audit

    planned = Audit.of(mechanism, world, runs=runs, seed=seed)
    if dry_run:
        _print(planned.record()) if as_json else typer.echo(str(planned))
        return
    verdict = planned.run()
    if as_json:
        _print(planned.record() | {"passed": verdict.passed, "findings": list(verdict.findings)})
    else:
        typer.echo(printable(str(verdict)))
    if not verdict.passed:
        raise typer.Exit(FOUND)


@app.command()
def serve(
    config: Annotated[Path | None, typer.Option(help="The service.toml that names tables, ledger and people.")] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="A ready example on real data; gone when it is stopped.")
    ] = False,
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="Another port than that of the settings.")] = None,
) -> None:
    """A web service for analysts, stewards and auditors, which holds the data, the ledger and its key.

    Example: discreet serve --demo

    Example: discreet serve --config service.toml
    """
    try:
        from discreet.service.start import run
    except ModuleNotFoundError:
        raise BadInput("the service needs more packages: pip install 'discreet[web]'") from None

    run(config, demo=demo, port=port, say=lambda line: typer.echo(printable(line)))


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


def _toml(entry: str) -> tuple[str, Any]:
    """NAME=VALUE, the value as TOML has it; a word without quotes is a text."""
    import tomllib

    name, sign, value = entry.partition("=")
    if not sign or not name.strip():
        raise BadInput(f"--with is {entry!r}; write NAME=VALUE, for example effect=0.3 or bounds=[0, 120]")
    try:
        return name.strip(), tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return name.strip(), value.strip()


def _print(record: Any) -> None:
    typer.echo(json.dumps(record, indent=2, allow_nan=False))  # in ASCII: whatever the terminal, nothing is lost
