"""What `discreet ledger` prints: records for machines, tables for people."""

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from discreet.accounting.filter import Amount
from discreet.errors import DiscreetError, clean
from discreet.ledger.account import Account, Receipt, loss_to_plain
from discreet.privacy.exact import show as shown
from discreet.privacy.loss import in_words
from discreet.report.glance import answers_in_words

NARROWEST: Final = 80  # columns: a narrower table would cut its numbers, so that it is left to the terminal to wrap it
SHOWN: Final = 60  # answers of one charge
LONGEST: Final = 300  # of a note, a loss or an answer in a table; the whole is in the JSON


def show(*things: Table | Text) -> None:
    """Print tables and lines."""
    console = Console(highlight=False, markup=False)
    console.width = max(console.width, NARROWEST)
    for thing in things:
        console.print(thing)


def account_record(population: str, analyst: str, account: Account) -> dict[str, Any]:
    """A balance; each number as a float, and exactly, as a fraction in text."""
    filter_ = account.filter
    return {
        "population": population,
        "analyst": analyst or None,
        "epsilon": float(filter_.budget.epsilon),
        "delta": float(filter_.budget.delta),
        "accounting": filter_.total.currency.value,
        "budget": _amount(filter_.total),
        "spent": _amount(filter_.spent),
        "left": _amount(filter_.left),
        "charges": account.charges,
        "unit": account.unit,
        "neighbours": account.neighbours.name.lower(),
    }


def charge_record(account: Account, charge: Receipt, answers: bool) -> dict[str, Any]:
    """A charge; its cost is what was paid of the population's budget."""
    told = {
        "entry": charge.number,
        "time": charge.time,
        "analyst": charge.analyst,
        "request": charge.request,
        "question": charge.note,
        "loss": in_words(charge.loss),
        "exact_loss": loss_to_plain(charge.loss),
        "cost": _amount(Amount(account.filter.total.currency, charge.cost, charge.delta)),
        "answered": charge.answer is not None,
        "hash": charge.hash,
    }
    return told | ({"answer": charge.answer} if answers else {})


def accounts_table(accounts: Sequence[tuple[str, str, Account]]) -> Table:
    """Populations, with their analysts below them; a second line for delta, where there is one."""
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("population", overflow="fold", min_width=12)
    table.add_column("accounting", no_wrap=True)
    for name in ("budget", "spent", "left", "charges"):
        table.add_column(name, justify="right", no_wrap=True)
    for population, analyst, account in accounts:
        total, spent, left = account.filter.total, account.filter.spent, account.filter.left
        lines = 2 if total.delta else 1
        table.add_row(
            Text(f"  {clean(analyst)}" if analyst else clean(population)),
            "\n".join((total.currency.value, "delta")[:lines]),
            *("\n".join(map(shown, (part.cost, part.delta)[:lines])) for part in (total, spent, left)),
            str(account.charges),
        )
    return table


def promises(accounts: Sequence[tuple[str, str, Account]]) -> list[Text]:
    """What each population's budget is a promise of."""
    lines = [Text("\nPromised, whatever is asked within the budget:")]
    for population, analyst, account in accounts:
        budget, what = account.filter.budget, f"per {clean(account.unit)}, {account.neighbours.value}"
        if not analyst:
            size = f"epsilon {shown(budget.epsilon)}, delta {shown(budget.delta)}"
            lines.append(Text(f"- {clean(population)}: {size}; {what}"))
    return lines


def charges_table(account: Account, charges: Sequence[Receipt]) -> Table:
    """One row a charge."""
    named = any(charge.analyst for charge in charges)
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("entry", justify="right", no_wrap=True)
    table.add_column("time (UTC)", no_wrap=True)
    if named:
        table.add_column("analyst", overflow="fold", max_width=16)
    table.add_column("question", overflow="fold", ratio=3)
    table.add_column("loss", overflow="fold", ratio=2)
    table.add_column(account.filter.total.currency.value, justify="right", no_wrap=True)
    for charge in charges:
        question = Text(_cut(charge.note.partition("\n")[0]))
        cells: list[Any] = [str(charge.number), charge.time[:16].replace("T", " ")]
        cells += [Text(clean(charge.analyst or ""))] if named else []
        table.add_row(*cells, question, Text(_cut(in_words(charge.loss))), shown(charge.cost))
    return table


def answer_lines(account: Account, charges: Sequence[Receipt]) -> list[Text]:
    """Each charge with its stored answers below it, over the whole width."""
    found = []
    for charge in charges:
        who = f", {clean(charge.analyst)}" if charge.analyst else ""
        asked, cost = (
            _cut(charge.note.partition("\n")[0]),
            f"{account.filter.total.currency.value} {shown(charge.cost)}",
        )
        found.append(
            Text(f"entry {charge.number}, {charge.time[:16].replace('T', ' ')}{who}: {asked} ({cost})", "bold")
        )
        found += [Text(f"  {line}") for line in _answer(charge.answer)]
    return found


def _answer(stored: str | None) -> list[str]:
    """A stored answer in short lines; the whole of it is in the JSON."""
    if stored is None:
        return ["no answer was stored"]
    try:
        lines = answers_in_words(json.loads(stored))
    except (ValueError, KeyError, TypeError, DiscreetError):  # of another version, say
        return [_cut(stored)]
    more = [f"and {len(lines) - SHOWN} more answers"] if len(lines) > SHOWN else []
    return [_cut(line) for line in lines[:SHOWN]] + more


def how_many(charges: int) -> str:
    """How many charges, in words."""
    return "1 charge" if charges == 1 else f"{charges} charges"


def total_line(account: Account, listed: int) -> str:
    """What all charges come to."""
    filter_ = account.filter
    some = "" if listed == account.charges else f", of which {listed} are listed"
    return f"{how_many(account.charges)}{some}: {_words(filter_.spent)} spent; {filter_}"


def _amount(amount: Amount) -> dict[str, Any]:
    exact = {"cost": _text(amount.cost), "delta": _text(amount.delta)}
    return {"cost": float(amount.cost), "delta": float(amount.delta), "exact": exact}


def _text(number: Fraction) -> str:
    return f"{number.numerator}/{number.denominator}"


def _words(amount: Amount) -> str:
    also = f" and delta {shown(amount.delta)}" if amount.delta else ""
    return f"{amount.currency.value} {shown(amount.cost)}{also}"


def _cut(text: str) -> str:
    flat = clean(text)
    return flat if len(flat) <= LONGEST else f"{flat[: LONGEST - 1]}…"
