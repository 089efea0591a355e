"""The commands."""

import json
from typing import Annotated, Any

import typer

from discreet.cli.ledger import app as ledger
from discreet.version import __version__

app = typer.Typer(
    name="discreet",
    help="Private answers about people, with error bars.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
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
    seed: Annotated[
        int | None,
        typer.Option(help="Repeatable noise, for documents and tests; such answers are not for publication."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Private answers about 8,366 real people: counts, shares and histograms, with error bars and a running budget."""
    from discreet.cli.demo import run, show

    steps = run(seed)
    if as_json:
        _print([step.record() for step in steps])
    else:
        show(steps, seed)


@app.command()
def explain(
    epsilon: Annotated[float, typer.Option(help="The privacy loss to explain.")],
    delta: Annotated[float, typer.Option(help="The chance that the promise fails; 0 is pure.")] = 0.0,
    group: Annotated[int, typer.Option(help="How many people change together, a family say.")] = 1,
    prior: Annotated[float, typer.Option(help="How likely a guess about a person was beforehand.")] = 0.01,
    as_json: Json = False,
) -> None:
    """What an epsilon means, in plain words."""
    from discreet.cli.explain import show
    from discreet.promise.guarantee import Guarantee, check_budget
    from discreet.promise.meaning import explain as meaning_of
    from discreet.promise.release import plain

    check_budget(epsilon, delta, 1)
    meaning = meaning_of(Guarantee(epsilon, delta, unit="person"), prior=prior, group=group)
    if as_json:
        _print(plain(meaning) | {"sentences": list(meaning.sentences)})
    else:
        show(meaning)


def _print(record: Any) -> None:
    typer.echo(json.dumps(record, indent=2, allow_nan=False))  # in ASCII: whatever the terminal, nothing is lost
