"""The commands, each with its options and its output; what takes more than a few lines is in a module of its own."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from discreet.cli.describe_command import Engine, Json, Seed, describe, watching
from discreet.cli.ledger_commands import app as ledger
from discreet.cli.plan_commands import app as plans
from discreet.errors import BadInput, printable
from discreet.privacy.meaning import Meaning
from discreet.version import __version__

FOUND: Final = 7  # the exit code of an audit that found something


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
app.command()(describe)
app.add_typer(ledger)
app.add_typer(plans)


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
    """The whole story about 8,366 real people: profile, plan, release, report, ledger, and a refusal.

    Example: discreet demo

    Example: discreet demo --out my-demo --seed 1
    """
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
    """What an epsilon means, in plain words.

    Example: discreet explain --epsilon 1 --delta 1e-6

    Example: discreet explain --epsilon 0.5 --group 4 --people 10000
    """
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
    as_of: Annotated[
        str | None, typer.Option(help="The date of the table, 2026-12-31 say: a new date asks, and pays, anew.")
    ] = None,
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

    A question that was answered before gives the stored answer and costs nothing, whatever its title and its place in
    the plan; a plan that has grown pays for what is new.

    Example: discreet release plan.toml --dry-run

    Example: discreet release plan.toml --as-of 2026-12-31 --out release-2026 --yes
    """
    from discreet.cli import reports as work
    from discreet.noise.randomness import Seeded

    with watching(None, quiet=as_json) as watch:
        bound = work.load(plan, _date(as_of), engine, watch)
    folder = out or plan.absolute().parent / f"{plan.stem}-release"
    if suggest_types:
        typer.echo(printable(work.suggestion(bound)))
        return
    if dry_run:
        foresee(plan, as_json=as_json, bound=bound)
        return
    work.check_writable(folder, force, (*work.FILES, *work.rows_of(bound)))
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
    registry: Annotated[
        str | None,
        typer.Option(
            help="A draft for the registry of deployments instead; who publishes: government, industry or nonprofit."
        ),
    ] = None,
    dcat: Annotated[bool, typer.Option("--dcat", help="A description for catalogues instead: DCAT, PROV.")] = False,
    sdmx: Annotated[bool, typer.Option("--sdmx", help="The numbers as SDMX-CSV 2.0 instead.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that are there.")] = False,
    as_json: Json = False,
) -> None:
    """The page, the table and the PDF of a stored report, made anew from its JSON: nothing is asked or charged.

    With --registry, --dcat or --sdmx these forms are written instead. What only you know is marked ASK in them.

    Example: discreet report plan-release/results.json --out again

    Example: discreet report plan-release/results.json --registry government --dcat --sdmx
    """
    from discreet.cli import reports as work

    folder = out or file.absolute().parent
    if registry is not None or dcat or sdmx:
        from discreet.cli.standards import standards

        written = standards(file, folder, curator=registry, catalogue=dcat, exchange=sdmx, force=force)
    else:
        written = work.render(file, folder, force)
    if as_json:
        _print({"written": [str(path) for path in written]})
    else:
        typer.echo("Written: " + ", ".join(printable(str(path)) for path in written))


@app.command()
def synthetic(
    file: Annotated[Path, typer.Argument(help="The results.json of a release.", show_default=False)],
    out: Annotated[Path, typer.Option(help="The file for the rows, .csv or .parquet.", show_default=False)],
    name: Annotated[str | None, typer.Option("--id", help="Of which release, if there are several.")] = None,
    rows: Annotated[int | None, typer.Option(min=0, help="So many rows; else as many as the model counts.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Which rows are drawn; it is public, and hides nobody.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is there.")] = False,
    as_json: Json = False,
) -> None:
    """Rows of a synthetic table that was released, drawn from its stored model: nothing is asked or charged.

    Example: discreet synthetic plan-release/results.json --out rows.parquet

    Example: discreet synthetic plan-release/results.json --id people --rows 1000 --seed 7 --out rows.csv
    """
    from discreet.cli import reports as work

    warning = work.synthetic(file, out, name=name, rows=rows, seed=seed, force=force)
    if as_json:
        _print({"written": [str(out)], "warning": warning})
    else:
        typer.echo(f"Written: {printable(str(out))}. {warning}.")


@app.command()
def compare(
    old: Annotated[Path, typer.Argument(help="The results.json of the earlier release.", show_default=False)],
    new: Annotated[Path, typer.Argument(help="That of the later one.", show_default=False)],
    as_json: Json = False,
) -> None:
    """What changed between two releases of the same questions, each difference with an interval. Nothing is charged.

    Example: discreet compare release-2025/results.json release-2026/results.json

    Example: discreet compare old/results.json new/results.json --json
    """
    from discreet.cli import reports as work
    from discreet.report.comparison import compare as changes

    found = changes(work.stored_report(old), work.stored_report(new))
    if as_json:
        _print(found.to_dict())
    else:
        work.show_changes(found)


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

    Example: discreet audit my_package.mechanisms:make --dry-run
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


def _date(text: str | None) -> str | None:
    """A date as it is written: 2026-12-31."""
    from datetime import date

    try:
        return None if text is None else date.fromisoformat(text).isoformat()
    except ValueError:
        raise BadInput(f"--as-of is {text!r}; write a date as year, month and day: 2026-12-31") from None


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
