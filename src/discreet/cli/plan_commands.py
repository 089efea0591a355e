"""`discreet plan`: write, check, edit and compare release plans. Nothing is spent, and no row is read."""

from pathlib import Path
from typing import Annotated

import typer

from discreet.errors import BadInput, DiscreetError, printable

app = typer.Typer(
    name="plan",
    help="Write, check, edit and compare release plans; nothing is spent.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
PlanFile = Annotated[Path, typer.Argument(help="The plan, a TOML file.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines instead of text for people.")]


@app.command()
def init(
    source: Annotated[str, typer.Argument(help="A file, glob, folder or database.", show_default=False)],
    epsilon: Annotated[float, typer.Option(min=0, help="What this plan may spend.")],
    budget: Annotated[float, typer.Option(min=0, help="All that these people will ever spend.")],
    budget_delta: Annotated[float, typer.Option(min=0, help="The delta of that; 0 allows pure answers only.")],
    delta: Annotated[float, typer.Option(min=0, help="Of it, for this plan: finds the categories of texts.")] = 0.0,
    person: Annotated[str | None, typer.Option(help="The column that says whose row it is.")] = None,
    unit: Annotated[str | None, typer.Option(help="What a row, or a person, is called.")] = None,
    table: Annotated[str | None, typer.Option(help="The table of a database.")] = None,
    population: Annotated[str | None, typer.Option(help="Whose budget is spent; else the file's name.")] = None,
    types: Annotated[
        list[str] | None,
        typer.Option("--type", help="What a column holds, as NAME=number, integer, boolean, category, text or date."),
    ] = None,
    out: Annotated[Path, typer.Option(help="The plan to write.")] = Path("plan.toml"),
    force: Annotated[bool, typer.Option("--force", help="Overwrite a plan that is there.")] = False,
) -> None:
    """Write a plan with comments for a table, from its schema alone: what its columns' kinds allow.

    Example: discreet plan init patients.parquet --epsilon 1 --budget 3 --budget-delta 1e-5 --person id

    Example: discreet plan init visits.csv --epsilon 0.5 --budget 2 --budget-delta 0 --out visits.toml
    """
    from discreet.cli.describe_command import check_file, pair
    from discreet.plan.draft import draft
    from discreet.plan.plan_file import parse_plan

    check_file(out, force)
    inside = out.absolute().parent
    place = (
        source
        if "://" in source or Path(source).is_absolute() or inside == Path.cwd()
        else str(Path(source).absolute())
    )
    text = draft(
        place,
        epsilon=epsilon,
        budget=budget,
        delta=delta,
        budget_delta=budget_delta,
        person=person,
        unit=unit,
        table=table,
        population=population,
        types=dict(pair(entry) for entry in types or []),
    )
    parse_plan(text, out.name)
    out.write_text(text, encoding="utf-8")
    typer.echo(printable(f"Written: {out}. Read it, then: discreet plan check {out}"))


@app.command()
def check(plan: PlanFile, as_json: Json = False) -> None:
    """Check a plan as `discreet release --dry-run` does: names, types, price, forecast, and whether the budget fits.

    Example: discreet plan check plan.toml

    Example: discreet plan check plan.toml --json
    """
    from discreet.cli.app import foresee

    foresee(plan, as_json=as_json)


@app.command()
def edit(plan: PlanFile) -> None:
    """Open a plan in your editor ($VISUAL or $EDITOR), check what you saved, and open it again if it is wrong.

    Example: discreet plan edit plan.toml

    Example: EDITOR=nano discreet plan edit plan.toml
    """
    import click

    from discreet.cli.app import foresee

    if not plan.is_file():
        raise BadInput(f"{plan} is not there; write one with: discreet plan init")
    while True:
        click.edit(filename=str(plan))
        try:
            foresee(plan, as_json=False)
            return
        except DiscreetError as error:
            typer.echo(str(error), err=True)
            typer.confirm("Edit it again?", default=True, abort=True)


@app.command()
def diff(old: PlanFile, new: PlanFile, as_json: Json = False) -> None:
    """What differs between two plans: budgets, releases that were added, removed or changed. Order does not count.

    Example: discreet plan diff plan-2025.toml plan-2026.toml

    Example: discreet plan diff old.toml new.toml --json
    """
    import json

    from discreet.plan.draft import differences
    from discreet.plan.plan_file import read_plan

    found = differences(read_plan(old)[0], read_plan(new)[0])
    if as_json:
        typer.echo(json.dumps({"differences": found}, indent=2))
    else:
        typer.echo(printable("\n".join(found)) if found else "The plans say the same.")
