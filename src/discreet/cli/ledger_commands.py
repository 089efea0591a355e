"""`discreet ledger`: what was spent on whom, for stewards and auditors."""

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from discreet.ledger import Ledger

CHANGED = 5  # the exit code of a ledger that does not agree with itself
app = typer.Typer(
    name="ledger",
    help="What was spent on whom: look, check, export, and open budgets.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


class Accounting(StrEnum):
    """What a budget is counted in."""

    EPSILON = "epsilon"
    ZCDP = "zcdp"
    GDP = "gdp"


class Change(StrEnum):
    """What neighbours differ by."""

    ADD_OR_REMOVE = "add_or_remove"
    REPLACE = "replace"


class Form(StrEnum):
    """What is exported."""

    CSV = "csv"
    JSON = "json"


Where = Annotated[str, typer.Argument(metavar="LEDGER", help="A file, or postgresql://user@host/name.")]
Population = Annotated[str, typer.Argument(metavar="POPULATION", help="Whose budget it is.")]
Key = Annotated[Path | None, typer.Option(help="The key's file; LEDGER.key, if the ledger is a file.")]
Anchor = Annotated[Path | None, typer.Option(help="The outside copy of heads; LEDGER.anchor, if a file.")]
SigningKey = Annotated[
    Path | None, typer.Option(help="The file of the private key that signs heads for auditors; KEY.ed25519.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines instead of text for people.")]


@app.command("list")
def list_(ledger: Where, key: Key = None, anchor: Anchor = None, as_json: Json = False) -> None:
    """All populations: budget, spent, left, charges, and the analysts' parts.

    Example: discreet ledger list region.ledger

    Example: discreet ledger list region.ledger --json
    """
    from discreet.cli.ledger_prints import account_record, accounts_table, promises, show

    with _opened(ledger, key, anchor) as book:
        accounts = book.accounts()
    if as_json:
        _print([account_record(*account) for account in accounts])
    elif accounts:
        show(accounts_table(accounts), *promises(accounts))
    else:
        typer.echo("There is no population in this ledger yet: discreet ledger budget LEDGER POPULATION --epsilon 1")


@app.command("show")
def show_(
    ledger: Where,
    population: Annotated[
        str | None, typer.Argument(metavar="POPULATION", help="Whose budget it is; the only one, if it is left out.")
    ] = None,
    *,
    last: Annotated[int | None, typer.Option(min=1, help="Only the last so many charges.")] = None,
    answers: Annotated[bool, typer.Option("--answers", help="With the answers that were stored.")] = False,
    key: Key = None,
    anchor: Anchor = None,
    as_json: Json = False,
) -> None:
    """The charges to a population: number, time, analyst, question, loss, cost; and their total.

    Example: discreet ledger show region.ledger patients

    Example: discreet ledger show region.ledger patients --last 20 --answers
    """
    from discreet.cli.ledger_prints import account_record, answer_lines, charge_record, charges_table, show, total_line

    with _opened(ledger, key, anchor) as book:
        population = _only({one[0] for one in book.accounts()}) if population is None else population
        account, charges = book.account(population), book.entries(population, last=last)
    if as_json:
        told = {"entries": [charge_record(account, charge, answers) for charge in charges]}
        _print(account_record(population, "", account) | told)
        return
    if charges:
        show(*(answer_lines(account, charges) if answers else [charges_table(account, charges)]))
    typer.echo(total_line(account, len(charges)))


def _only(populations: set[str]) -> str:
    """The one that there is."""
    from discreet.errors import BadInput, clean

    if len(populations) != 1:
        there = ", ".join(clean(name) for name in sorted(populations)[:20])
        raise BadInput(f"say whose budget: {there}" if there else "there is no population in this ledger yet")
    return next(iter(populations))


@app.command()
def verify(
    ledger: Where,
    *,
    public_key: Annotated[
        list[Path] | None,
        typer.Option(help="The file of a public key, for auditors who have no key; may be given more than once."),
    ] = None,
    key: Key = None,
    anchor: Anchor = None,
    as_json: Json = False,
) -> None:
    """Whether a ledger is what was written, entry by entry: exit code 0 if it is, 5 if it is not.

    With --public-key no key is needed: who checks so could not have written it.

    Example: discreet ledger verify region.ledger

    Example: discreet ledger verify region.ledger --key /secure/region.key --anchor /elsewhere/region.anchor

    Example: discreet ledger verify region.ledger --public-key region.pub --anchor /elsewhere/region.anchor
    """
    from discreet.ledger import examine

    verdict = examine(_known(ledger), key=key, anchor=_readable(anchor), public_key=public_key or ())
    open_questions = [line.replace("the key", "the private key") if public_key else line for line in NOT_PROVED]
    if as_json:
        problems = [{"entry": problem.entry, "what": problem.what} for problem in verdict.problems]
        told = {"ok": verdict.ok, "entries": verdict.entries, "problems": problems, "notes": list(verdict.notes)}
        _print(told | {"not_proved": open_questions})
    else:
        from discreet.errors import clean

        for line in str(verdict).splitlines():
            typer.echo(clean(line))
        typer.echo("\nWhat this cannot prove:")
        for line in open_questions:
            typer.echo(f"- {line}")
    if not verdict.ok:
        raise typer.Exit(CHANGED)


NOT_PROVED = (
    "that nothing was asked outside the ledger: it counts what is charged to it",
    "that this is the newest copy, unless the anchor is kept where those who write the ledger cannot write",
    "that there was no other ledger of these people before, deleted with its anchor: compare what was published",
    "that whoever has the key, and the anchor, did not write all of it anew",
)


@app.command()
def sign(
    ledger: Where,
    *,
    public_key: Annotated[
        Path | None, typer.Option(help="The file for the public key; LEDGER.pub, if the ledger is a file.")
    ] = None,
    signing_key: SigningKey = None,
    replace: Annotated[bool, typer.Option("--replace", help="In the place of another private key.")] = False,
    key: Key = None,
    anchor: Anchor = None,
    as_json: Json = False,
) -> None:
    """Sign the heads of a ledger with a private key (Ed25519), so that auditors check it and cannot write it.

    The private key is made if it is not there, readable by you alone. Every later entry is signed with it, and none is
    written without it. Give the public key to auditors, by a way on which nobody exchanges it: they compare its
    fingerprint with yours. It vouches for all entries, also for those before.

    Example: discreet ledger sign region.ledger --public-key region.pub

    Example: discreet ledger sign region.ledger --public-key region.pub --json
    """
    from discreet.errors import clean
    from discreet.ledger.key_pair import sign_from_now

    told = sign_from_now(
        _known(ledger), key=key, anchor=anchor, private=signing_key, public=public_key, replace=replace
    )
    if as_json:
        _print(told)
    else:
        typer.echo(f"private key: {clean(told['signing_key'])}; keep it as you keep the ledger's key")
        typer.echo(f"public key:  {clean(told['public_key'])}; for auditors, fingerprint {told['fingerprint']}")


@app.command()
def trust(
    ledger: Where,
    *,
    why: Annotated[str, typer.Option(help="What happened to the anchor, for auditors; it is an entry for ever.")],
    key: Key = None,
    anchor: Anchor = None,
    signing_key: SigningKey = None,
    as_json: Json = False,
) -> None:
    """Begin the anchor of a ledger anew: you state that the ledger is whole, which nothing else can show then.

    A ledger with entries whose anchor is gone, or was cut, is refused: an older copy, which has forgotten what was
    spent since, would look the same. If you know that it is whole, say so here. Your word is recorded, and every verify
    repeats it. If you do not know, do not: count the budget as spent. An anchor that has seen more than the ledger has
    is evidence, and is not touched: keep it apart, and give another file.

    Example: discreet ledger trust region.ledger --why "disk of the anchor failed; ledger compared with all releases"

    Example: discreet ledger trust region.ledger --why "moved to another server" --anchor /elsewhere/new.anchor
    """
    from discreet.errors import clean
    from discreet.ledger.verify import trust as begin_anew

    entry = begin_anew(_known(ledger), why, key=key, anchor=anchor, signing_key=signing_key)
    if as_json:
        _print({"entry": entry.number, "hash": entry.hash, **entry.plain})
    else:
        typer.echo(f"entry {entry.number}: the anchor {clean(entry.plain['anchor'])} begins anew, on your word")


@app.command()
def export(
    ledger: Where,
    *,
    form: Annotated[Form, typer.Option(help="A table to read, or JSON with the exact numbers.")] = Form.CSV,
    out: Annotated[Path | None, typer.Option(help="The file to write; the terminal, if not given.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
    key: Key = None,
    anchor: Anchor = None,
    as_json: Json = False,
) -> None:
    """All entries, for a spreadsheet (cells that it would execute are disarmed) or for another program.

    Example: discreet ledger export region.ledger --form csv --out region.csv

    Example: discreet ledger export region.ledger --form json
    """
    wanted = Form.JSON if as_json and out is None else form
    with _opened(ledger, key, anchor) as book:
        if out is None:
            book.export(sys.stdout, wanted.value)
            return
        _save(book, out, wanted, force)
    if as_json:
        _print({"written": str(out), "form": wanted.value, "bytes": out.stat().st_size})
    else:
        typer.echo(f"{out}: written, {out.stat().st_size} bytes")


@app.command()
def budget(
    ledger: Where,
    population: Population,
    *,
    epsilon: Annotated[float | None, typer.Option(help="Open a population, or a part of it, with so much.")] = None,
    delta: Annotated[
        float | None, typer.Option(help="What is added to the chance of any set of answers; 0, if not given.")
    ] = None,
    unit: Annotated[str | None, typer.Option(help="Whom the promise protects; row, if not given.")] = None,
    neighbours: Annotated[
        Change | None, typer.Option(help="What neighbours differ by; add_or_remove, if not given.")
    ] = None,
    accounting: Annotated[
        Accounting | None, typer.Option(help="What the budget is counted in; epsilon, if not given.")
    ] = None,
    analyst: Annotated[str | None, typer.Option(help="One analyst's part of the population's budget.")] = None,
    key: Key = None,
    anchor: Anchor = None,
    as_json: Json = False,
) -> None:
    """Open a population with its budget, or an analyst's part of one; without --epsilon, show the balance.

    A budget is never changed afterwards. A ledger that is not there is made, with its key beside it.

    Example: discreet ledger budget region.ledger patients --epsilon 1 --delta 1e-6 --accounting gdp

    Example: discreet ledger budget region.ledger patients --epsilon 0.2 --analyst ann
    """
    from discreet.cli.ledger_prints import account_record, how_many
    from discreet.errors import BadInput, clean

    terms = {"delta": delta, "unit": unit, "neighbours": neighbours, "accounting": accounting}
    given = [name for name, value in terms.items() if value is not None]
    if epsilon is None and given:
        raise BadInput(f"--{given[0]} opens a budget, which needs --epsilon too; leave it out to see the balance")
    if analyst is not None and any(name != "delta" for name in given):
        raise BadInput(
            "an analyst's part has the unit, the neighbours and the accounting of its population; give --epsilon and "
            "--delta alone"
        )
    if epsilon is None:
        with _opened(ledger, key, anchor) as book:
            account = book.account(population, analyst)
    else:
        account = _open(
            ledger, key=key, anchor=anchor, population=population, analyst=analyst, epsilon=epsilon, terms=terms
        )
    if as_json:
        _print(account_record(population, analyst or "", account))
        return
    whose = population if analyst is None else f"{analyst} in {population}"
    typer.echo(f"{clean(whose)}: {account.filter}")
    typer.echo(f"{how_many(account.charges)}; per {clean(account.unit)}; {account.neighbours.value}")


def _open(
    where: str,
    *,
    key: Path | None,
    anchor: Path | None,
    population: str,
    analyst: str | None,
    epsilon: float,
    terms: dict[str, Any],
) -> Any:
    from discreet.accounting.filter import Budget
    from discreet.ledger import Ledger

    budget = Budget(epsilon, terms["delta"] or 0.0)  # before a ledger is made for it
    given: dict[str, Any] = {name: str(terms[name]) for name in terms if name != "delta" and terms[name] is not None}
    with Ledger(where, key=key, anchor=anchor) as book:
        if analyst is None:
            book.open(population, budget, **given)
        else:
            book.allot(population, analyst, budget)
        return book.account(population, analyst)


@contextlib.contextmanager
def _opened(where: str, key: Path | None, anchor: Path | None) -> Iterator["Ledger"]:
    """A ledger that must be there, to be read."""
    from discreet.ledger import Ledger

    with Ledger(_known(where), key=key, anchor=_readable(anchor), reading=True) as book:
        yield book


def _known(where: str) -> str:
    from discreet.errors import LedgerFault

    if "://" not in where and not Path(where).is_file():
        raise LedgerFault(f"there is no ledger at {where}; make one with `discreet ledger budget ... --epsilon 1`")
    return where


def _readable(anchor: Path | None) -> Path | None:
    """An anchor that was named must be there: without it less would be checked than was asked."""
    from discreet.errors import LedgerFault

    if anchor is not None and not os.access(anchor, os.R_OK):
        raise LedgerFault(f"the anchor {anchor} cannot be read; give the file to which the heads are appended")
    return anchor


def _save(book: "Ledger", out: Path, form: Form, force: bool) -> None:
    """Whole or not at all."""
    from discreet.errors import BadInput

    draft = out.with_name(f"{out.name}.{os.getpid()}.part")
    if out.exists() and not force:
        raise BadInput(f"{out} is there already; give another name, or --force to write over it")
    if out.exists() and not out.is_file():
        raise BadInput(f"{out} is not a file; give the name of a file")
    try:
        with draft.open("x", encoding="utf-8", newline="") as file:
            book.export(file, form.value)
        if force:
            draft.replace(out)
        else:
            os.link(draft, out)  # never over a file that came in between
    except FileExistsError:
        raise BadInput(f"{out} is there already; give another name, or --force to write over it") from None
    except (FileNotFoundError, NotADirectoryError, PermissionError) as error:
        raise BadInput(f"{out} cannot be written ({error.strerror}); give a file in a folder of yours") from None
    finally:
        draft.unlink(missing_ok=True)


def _print(record: Any) -> None:
    typer.echo(json.dumps(record, indent=2, allow_nan=False))
