"""Random plans on random tables: only errors of ours come out, and nothing of the one person whom nothing may show.

    python -m benchmarks.fuzz [--plans 20000] [--tables 2000] [--runs 600] [--seed 1] [--limit 3600]

Each table has one person with a mark in every column that nobody else has (benchmarks/fuzz_inputs.py). Each plan is
read from its file; one that can be read is bound and priced; and as many as `--runs` are run, twice. What is looked at:

- whatever is raised is a DiscreetError; nothing warns;
- no mark is in an error, a warning, a log, on the terminal, in the results, or in the ledger;
- nothing is charged, and no row is read, by a plan that is wrong or does not fit;
- what is charged is what the dossier says, and no more than the plan may spend;
- the same plan again charges nothing, reads no row, and has the same answers;
- JSON, CSV and the page are made, and no tag of a hostile text gets into the page.
"""

import argparse
import csv
import io
import json
import logging
import random
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from benchmarks.fuzz_inputs import HOSTILE, MARKS, World, make_plan, make_table, spoil, spoiled_bytes, written
from benchmarks.record import Row, record
from discreet.accounting import compose
from discreet.cli.reports import foreseen, show_answers, show_forecast
from discreet.errors import BadInput, DiscreetError, OverBudget
from discreet.ledger import Ledger
from discreet.noise.randomness import Seeded
from discreet.plan.bound_plan import Bound, bind
from discreet.plan.plan_file import read_plan
from discreet.plan.run_plan import run_plan
from discreet.privacy.exact import exact
from discreet.report import page, to_csv, to_json
from discreet.tables.table import Table

LEDGER: Final = "study.ledger"
SHOWN: Final = 20  # faults
LOOKED: Final = 0.03  # of the forecasts are shown
A_TABLE: Final = 0.5  # of the plans of a table are run, until there are enough runs


class Fault(Exception):
    """Something that must not be."""


@dataclass
class Tally:
    """What was tried, how it ended, and what is wrong."""

    kinds: Counter[str] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)
    tables: Counter[str] = field(default_factory=Counter)
    statistics: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    @property
    def plans(self) -> int:
        """How many were tried."""
        return sum(self.kinds.values())


class Reads:
    """How often rows are read."""

    def __init__(self) -> None:
        self.count = 0

    @contextmanager
    def watched(self) -> Iterator["Reads"]:
        """Count every reading of columns; forecasts make up tables of their own, in memory."""
        real = Table.columns

        def counted(table: Table, *given: Any, **more: Any) -> Any:
            self.count += "in memory" not in table.description
            return real(table, *given, **more)

        Table.columns = counted  # type: ignore[assignment, method-assign]
        try:
            yield self
        finally:
            Table.columns = real  # type: ignore[method-assign]


def need(held: bool, what: str) -> None:
    """A fault, if it does not hold."""
    if not held:
        raise Fault(what)


def unmarked(text: str, where: str) -> None:
    """Nothing of the marked person is in a text."""
    low = text.lower()
    for mark in MARKS:
        need(mark not in low, f"{mark} is in {where}")


class Ears(logging.Handler):
    """All that is logged."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.heard: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it."""
        self.heard.append(record.getMessage())


@dataclass
class Fuzz:
    """A folder with a ledger, and one table after the other."""

    folder: Path
    rng: random.Random
    tally: Tally
    reads: Reads
    ears: Ears

    def charged(self) -> str:
        """All balances, as the ledger has them."""
        if not (self.folder / LEDGER).exists():
            return ""
        with Ledger(self.folder / LEDGER, reading=True) as book:
            return "; ".join(
                f"{name} {account.filter.spent}"
                for name, _, account in sorted(book.accounts(), key=lambda one: one[0])
                if account.filter.spent.cost
            )

    def plan(self, world: World, number: int) -> tuple[str, bytes]:
        """A plan's file, and what kind it is of."""
        asked = make_plan(self.rng, world, number)
        kind = self.rng.choice(("right", "spoilt", "spoilt", "bytes"))
        if kind == "spoilt":
            spoil(self.rng, asked)
        text = written(asked).encode()
        return kind, spoiled_bytes(self.rng, text) if kind == "bytes" else text

    def one(self, world: World, number: int, *, run: bool) -> None:
        """Try a plan."""
        kind, text = self.plan(world, number)
        self.tally.kinds[kind] += 1
        file = self.folder / "plan.toml"
        file.write_bytes(text)
        before = self.reads.count
        self.ears.heard.clear()
        try:
            with warnings.catch_warnings(record=True) as warned, io.StringIO() as out:
                warnings.simplefilter("always")
                with redirect_stdout(out), redirect_stderr(out):
                    end = self._tried(file, run=run)
                unmarked(out.getvalue(), "the terminal")
            need(not warned, f"warned: {[str(one.message)[:200] for one in warned]}")
            unmarked(" ".join(self.ears.heard), "the log")
            need(run or self.reads.count == before, "rows were read for a plan that was not run")
        except Exception as error:  # noqa: BLE001  that is what is looked for
            end = "FAULT"
            said = str(error) if isinstance(error, Fault) else traceback.format_exc(limit=-4)
            self.tally.faults.append(f"{said}\n--- {world}\n{text[:3000].decode(errors='replace')}")
            if len(self.tally.faults) <= SHOWN:
                print("\nFAULT", self.tally.faults[-1], flush=True)
        self.tally.ends[end] += 1

    def _tried(self, file: Path, *, run: bool) -> str:
        try:
            plan, text = read_plan(file)
        except DiscreetError as error:
            need(isinstance(error, BadInput), f"{type(error).__name__} for a plan that cannot be read")
            unmarked(str(error), "an error")
            return "cannot be read"
        if plan.population.ledger != LEDGER or plan.population.key or plan.population.anchor:
            return "read; of another ledger"
        try:
            bound = bind(plan, text, self.folder, name=file.name)
        except DiscreetError as error:
            unmarked(str(error), "an error")
            return "over its own budget" if isinstance(error, OverBudget) else "cannot be asked"
        together = exact(bound.priced.together.epsilon)
        need(together <= exact(plan.spend.epsilon), "a plan costs more than it may")
        if run:
            return self._run(bound)
        if self.rng.random() < LOOKED:
            unmarked(json.dumps(foreseen(bound), allow_nan=False), "a forecast")
        return "priced"

    def _run(self, bound: Bound) -> str:
        show_forecast(bound)
        before, reads = self.charged(), self.reads.count
        try:
            found = run_plan(bound, rng=Seeded(self.rng.randrange(2**32)))
        except DiscreetError as error:
            unmarked(str(error), "an error")
            need(self.reads.count == reads, f"rows were read, then {type(error).__name__}: {error}")
            need(self.charged() == before, "charged, then refused")
            return f"refused: {type(error).__name__}"
        need(self.reads.count > reads, "no row was read")
        self._paid(bound, found)
        self.tally.statistics.update(asked.statistic for asked in bound.plan.release)
        self._rendered(found)
        after, reads = self.charged(), self.reads.count
        need(run_plan(bound, rng=Seeded(0)) == found, "the same plan has other answers")
        need(self.charged() == after, "the same plan was charged again")
        need(self.reads.count == reads, "rows were read for the same plan")
        return "run"

    def _paid(self, bound: Bound, found: dict[str, Any]) -> None:
        """One charge, of what the dossier says and what the losses come to."""
        spend, this = bound.plan.spend, found["budget"]["this"]
        with Ledger(self.folder / LEDGER, reading=True) as book:
            receipt = book.entries(bound.plan.population.name, last=1)[-1]
        need(receipt.request == bound.request, "the last charge is not this plan's")
        if bound.plan.population.accounting == "epsilon":
            need(float(receipt.cost) == this["epsilon"], "charged another epsilon than the dossier says")
            need(float(receipt.delta) == this["delta"], "charged another delta than the dossier says")
        need(compose.epsilon(bound.priced.loss, spend.delta) <= this["epsilon"], "the losses come to more")
        need(this["epsilon"] <= spend.epsilon and this["delta"] <= spend.delta, "spent more than the plan may")

    def _rendered(self, found: dict[str, Any]) -> None:
        texts = {"results.json": to_json(found), "results.csv": to_csv(found), "report.html": page(found)}
        show_answers(found, [])
        for name, text in texts.items():
            unmarked(text, name)
        need(json.loads(texts["results.json"]) == found, "the JSON is not the dossier")
        sheet = list(csv.reader(io.StringIO(texts["results.csv"], newline="")))
        need(len({len(line) for line in sheet}) == 1, "lines of the CSV differ in length")
        need(HOSTILE[0] not in texts["report.html"], "a script got into the page")
        cells = [cell for line in sheet for cell in line if cell[:1] in ("=", "@")]
        need(not cells, "a cell of the CSV is a formula")


def fuzz(plans: int, tables: int, runs: int, seed: int, *, limit: float = 1e9) -> Tally:
    """So many plans on so many tables; `runs` of them are paid for and answered. It stops after `limit` seconds."""
    rng, tally, reads, ears = random.Random(seed), Tally(), Reads(), Ears()
    logging.getLogger().addHandler(ears)
    start = time.monotonic()
    with TemporaryDirectory() as name, reads.watched():
        folder = Path(name)
        for number in range(tables):
            if time.monotonic() - start > limit:
                break
            world = make_table(rng, folder, number)
            tally.tables[world.shape] += 1
            every = Fuzz(folder, rng, tally, reads, ears)
            for place in range(number * plans // tables, (number + 1) * plans // tables):
                wanted = runs * (number + 1) / tables
                ran = sum(count for end, count in tally.ends.items() if end.startswith(("run", "refused")))
                every.one(world, place, run=ran < wanted and rng.random() < A_TABLE)
            for path in folder.glob(f"t{number}.*"):
                path.unlink()
        _left_behind(folder, tally)
    logging.getLogger().removeHandler(ears)
    return tally


def _left_behind(folder: Path, tally: Tally) -> None:
    """The ledger is sound, and it and all other files have no mark."""
    if (folder / LEDGER).exists():
        with Ledger(folder / LEDGER) as book:
            if not book.verify().ok:
                tally.faults.append("the ledger does not agree with itself")
    for path in folder.rglob("*"):
        held = path.read_bytes().lower() if path.is_file() and path.name != "plan.toml" else b""
        tally.faults += [f"{mark} is in {path.name}" for mark in MARKS if mark.encode() in held]


def main() -> None:
    """Try, print, write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--plans", type=int, default=20_000)
    parser.add_argument("--tables", type=int, default=2_000)
    parser.add_argument("--runs", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=1e9, help="seconds")
    asked = parser.parse_args()
    tally = fuzz(asked.plans, asked.tables, asked.runs, asked.seed, limit=asked.limit)
    counted = {
        f"random plans on {sum(tally.tables.values()):,} random tables": tally.plans,
        **{f"... {kind}": count for kind, count in tally.kinds.most_common()},
        **{f"... that ended: {end}": count for end, count in tally.ends.most_common()},
        **{f"... that asked for {name} and ran": count for name, count in tally.statistics.most_common()},
    }
    wrong = len(tally.faults)
    rows: list[Row] = [(what, "plans tried", str(count), "", True) for what, count in counted.items()]
    rows.append(
        (
            "wrong errors, values of people in messages or files, charges without an answer",
            "faults",
            str(wrong),
            "0",
            not wrong,
        )
    )
    record("fuzz", rows)
    sys.exit("\n".join(tally.faults[:20]) if wrong else 0)


if __name__ == "__main__":
    main()
