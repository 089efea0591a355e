"""Whole questions against neighbouring tables: `python -m benchmarks.sessions --pairs 2000`.

A random table and a neighbour (a person more or fewer, or another in the same place; several rows, odd values, ids that
are missing, lines of a CSV file that do not fit) are asked the same question, with the same answers from the door. All
that leaves must be equal, each draw within the sensitivity that it names, and the draws that moved, composed, within
what one person was charged for: so that groups do cost as much as one.
"""

import argparse
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from unittest.mock import patch

import numpy as np

from discreet.accounting.compose import implies
from discreet.asking import Question
from discreet.audit.replay import Recorder, Replayer, _DivergedError, trace, watch
from discreet.audit.worlds import HOSTILE
from discreet.errors import DiscreetError
from discreet.noise.randomness import Request, Seeded
from discreet.privacy.exact import exact
from discreet.privacy.guarantee import Guarantee, Neighbours
from discreet.privacy.loss import Loss, compose
from discreet.privacy.people import People
from discreet.session import asked
from discreet.tables.opening import read
from discreet.tables.table import Table
from discreet.tables.wanted import Terms

REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
NAMES: Final = ("id", "x", "y", "town", "flag")
TOWNS: Final = ("a", "b", 1, True, 1.0, "1", None, math.nan, "", ("a",))
TEXTS: Final = ("1", "2.5", "1e308", "-3", "", "nan", "inf", "a", "b", '"q,"', "yes", "0", " 7 ", "1e999", "\x00", "é")
ODD_LINES: Final = ("", "a", ",,,,,,", "1,2", "p1,2,3,4,5,6", "\t")
ROUND: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Asking:
    """A question as it is asked of any table."""

    verb: str
    columns: tuple[Any, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    terms: Terms = field(default_factory=Terms)
    person: bool = False

    def of(self, table: Table, relation: Neighbours) -> Question:
        """Prepared for a table."""
        people = People.of("id" if self.person else None, None, relation)
        return asked(table, people, self.verb, self.columns, self.options, terms=self.terms)


class Moved(Replayer):
    """A door that replays, and adds up what the questions cost that are not the same on the neighbour."""

    def __init__(self, recorded: Recorder) -> None:
        super().__init__(recorded)
        self.losses: list[Loss] = []

    def draw(self, request: Request) -> Any:
        """As recorded."""
        earlier = self._log[self._at][0] if self._at < len(self._log) else request
        if trace(_fields(earlier)) != trace(_fields(request)):
            self.losses.append(request.loss)
        return super().draw(request)


def _fields(thing: Any) -> Any:
    """A request by its fields: what it works out when it is answered, and keeps, is no part of the question."""
    if not is_dataclass(thing) or isinstance(thing, type):
        return thing
    return type(thing).__name__, {one.name: _fields(getattr(thing, one.name)) for one in fields(thing)}


MUCH = 60.0  # small tables have too few rows for a mean at epsilon 1: nothing would be drawn, nor compared


def objections(asking: Asking, relation: Neighbours, left: Table, right: Table, seed: int) -> list[str]:
    """What is wrong on one pair of neighbours, of the relation that the mechanism is asked under."""
    question, other = prepared(asking, left, relation), prepared(asking, right, relation)
    if isinstance(question, str) or isinstance(other, str):
        return [f"not asked: {question}"] if question == other else ["whether it can be asked depends on the data"]
    if priced(question) != priced(other):
        return ["the price depends on the data"]
    with one_public_number(step_of(question) is not relation):
        return _compared(question, other, left, right, seed)


@contextmanager
def one_public_number(two_steps: bool) -> Iterator[None]:
    """Where a replacement is two steps, the number of all people is public and no step changes it."""
    with patch.object(Table, "people", lambda *_: 1000) if two_steps else nullcontext():
        yield


def _compared(question: Question, other: Question, left: Table, right: Table, seed: int) -> list[str]:
    recorder = Recorder(Seeded(seed))
    first = watch(lambda: question.answer(left, recorder), but=_DivergedError)
    replayer = Moved(recorder)
    try:
        second = watch(lambda: other.answer(right, replayer), but=_DivergedError)
    except _DivergedError:
        return replayer.objections
    found = list(replayer.objections)
    if first.error != second.error or (first.error and not question.price.relation.size_is_public):
        found.append(f"an exception after the charge: {first.error} and {second.error}")
    elif replayer.unused:
        found.append("the neighbour asks for fewer draws")
    elif (first.release, first.said) != (second.release, second.said):
        found.append("with equal draws the releases, or what was said, differ")
    if replayer.losses and not implies(compose(*replayer.losses), of_one(question)):
        found.append(f"what moved costs more than one person was charged for: {replayer.losses}")
    return found


def priced(question: Question) -> Any:
    """What is known of a question before it is paid for."""
    return trace(question.price.loss), trace(question.price.guarantee), question.title, trace(question.record)


def prepared(asking: Asking, table: Table, relation: Neighbours) -> Question | str:
    """The question, or why it cannot be asked."""
    try:
        question = asking.of(table, relation)
        question.check()
    except DiscreetError as error:
        return str(error)
    return question


def of_one(question: Question) -> Guarantee:
    """What one step may cost: all that was charged, or half where a replacement is two steps."""
    whole = question.price.guarantee
    return whole if step_of(question) is question.people.neighbours else half(whole)


def half(whole: Guarantee) -> Guarantee:
    """What each of two steps may cost."""
    part = exact(whole.epsilon) / 2
    return Guarantee(part, float(whole.delta) / (1 + math.exp(part)) * (1 + ROUND), ADD)


def step_of(question: Question) -> Neighbours:
    """What the mechanism takes for neighbours: of some people only a replacement is two steps, but for a count."""
    counts = question.statistic.name == "count" and question.grouping is None
    return question.people.neighbours if counts else question.price.relation


Row = tuple[Any, ...]


def _row(rng: np.random.Generator, who: Any, calm: bool) -> Row:
    number = rng.normal(0, 3) if calm or rng.integers(3) else HOSTILE[rng.integers(len(HOSTILE))]
    other = rng.normal(1, 1) if calm or rng.integers(3) else HOSTILE[rng.integers(len(HOSTILE))]
    return who, number, other, TOWNS[rng.integers(len(TOWNS))], bool(rng.integers(2))


def _line(rng: np.random.Generator, who: Any, calm: bool) -> str:
    if who is None and rng.integers(2):
        return str(rng.choice(ODD_LINES))
    cells = [f"{rng.normal():.3f}" if calm else str(rng.choice(TEXTS)) for _ in range(2)]
    return ",".join(["" if who is None else f"p{who}", *cells, str(rng.choice(TEXTS[7:9])), str(rng.integers(2))])


def pair(
    asking: Asking, relation: Neighbours, rng: np.random.Generator, folder: Path, size: int
) -> tuple[Table, Table]:
    """Two tables that differ in one person, under the relation that the mechanism is asked under."""
    calm = bool(rng.integers(2))
    make: Callable[..., Any] = _line if rng.integers(4) == 0 else _row
    most = 4 if asking.person else 2
    people = int(rng.integers(0, size))
    common = [
        make(rng, who if rng.integers(12) else None, calm)
        for who in range(people)
        for _ in range(rng.integers(1, most))
    ]
    common = [common[place] for place in rng.permutation(len(common))]
    place = int(rng.integers(len(common) + 1))
    whole = asking.verb == "fit" and asking.person  # blocks are by name: benchmarks/replayed.py pairs two names
    odd = [_rows_of(make, rng, who, most) for who in ((-1, -1) if rng.integers(2) or whole else (-1, -2))]
    if asking.person and relation is ADD and rng.integers(4) == 0 and asking.verb != "fit":
        odd[1] = []
    sides = [_placed(common, rows, place, rng) for rows in (odd if relation is REPLACE else ([], odd[0]))]
    if rng.integers(2):
        sides.reverse()
    left, right = (
        _table(rows, make is _line, folder / side) for rows, side in zip(sides, ("left", "right"), strict=True)
    )
    return left, right


def _rows_of(make: Callable[..., Any], rng: np.random.Generator, who: Any, most: int) -> list[Any]:
    return [make(rng, who, bool(rng.integers(2))) for _ in range(rng.integers(1, most))]


def _placed(common: list[Any], rows: list[Any], place: int, rng: np.random.Generator) -> list[Any]:
    """The first row at its place, the others anywhere after it."""
    found = [*common[:place], *rows[:1], *common[place:]]
    for row in rows[1:]:
        found.insert(int(rng.integers(place + 1, len(found) + 1)), row)
    return found


def _table(rows: list[Any], lines: bool, folder: Path) -> Table:
    if not lines:
        return read({name: [row[at] for row in rows] for at, name in enumerate(NAMES)})
    folder.mkdir(exist_ok=True)
    file = folder / "people.csv"
    file.write_text("\n".join([",".join(NAMES), *rows]) + "\n")
    return read(file)


WHERE: Final = Terms(where="x > 0 or town == 'a'")
BY: Final = Terms(groupby="town", keys=["a", 1, True, "1", None])
FOUND: Final = Terms(groupby="town")
KEPT: Final = Terms(missing="keep")


def _askings() -> dict[str, Asking]:
    some: dict[str, Asking] = {}
    for terms_name, terms in {"all": Terms(), "kept": KEPT, "where": WHERE, "by": BY, "found": FOUND}.items():
        delta = {"delta": 1e-5} if terms is FOUND else {}
        price = {"epsilon": 1.0} | delta
        asked = {
            "count": Asking("count", ("flag",), price, terms),
            "count of all": Asking("count", (), price, terms),
            "proportion": Asking("proportion", ("x > 1",), price, terms),
            "mean": Asking("mean", ("x",), price | {"epsilon": MUCH}, terms),
            "mean, bounds": Asking("mean", ("x",), price | {"bounds": (-2, 2)}, terms),
            "quantile": Asking("quantile", ("x", 0.5), price, terms),
            "variance": Asking("variance", ("x",), price | {"epsilon": MUCH}, terms),
            "histogram": Asking("histogram", ("flag",), price | {"categories": [True, False]}, terms),
            "histogram, edges": Asking("histogram", ("x",), price | {"edges": [-1, 0, 1]}, terms),
            "histogram, open": Asking("histogram", ("y",), price | {"epsilon": 5.0, "delta": 1e-5}, terms),
        }
        if terms.groupby is None:
            asked["linear regression"] = Asking(
                "linear_regression", (["x"], "y"), {"epsilon": 10.0, "delta": 1e-5}, terms
            )
            asked["fit"] = Asking("fit", (np.nanmean, "x"), {"epsilon": 60.0, "blocks": 6}, terms)
        some |= {f"{name}, {terms_name}": asking for name, asking in asked.items()}
    rules = {
        "mean": Terms(),
        "first": Terms(per_person="first"),
        "sum": Terms(per_person="sum", max_rows=2),
        "any": Terms(per_person="any", max_rows=3),
    }
    for name, terms in rules.items():
        some[f"mean, person, {name}"] = Asking("mean", ("x",), {"epsilon": MUCH}, terms, True)
        if terms.per_person not in ("sum", "count"):  # numbers of rows: counts of people do not take them
            some[f"count, person, {name}"] = Asking("count", ("flag",), {"epsilon": 1.0}, terms, True)
    for name, terms in {"all": Terms(), "kept": KEPT, "where": WHERE}.items():
        some[f"fit, person, {name}"] = Asking("fit", (np.nanmean, "x"), {"epsilon": 60.0, "blocks": 6}, terms, True)
        some[f"quantile, person, {name}"] = Asking("quantile", ("x", 0.5), {"epsilon": 1.0}, terms, True)
        some[f"count of all, person, {name}"] = Asking("count", (), {"epsilon": 1.0}, terms, True)
    for name, terms in {"by": BY, "found": FOUND, "by id": Terms(groupby="id", keys=[1, 2, 3])}.items():
        some[f"count, person, {name}"] = Asking(
            "count", ("flag",), {"epsilon": 1.0, "delta": 1e-5} if terms is FOUND else {"epsilon": 1.0}, terms, True
        )
        some[f"mean, person, {name}"] = Asking("mean", ("x",), {"epsilon": MUCH, "delta": 1e-5}, terms, True)
    return some


ASKINGS: Final = _askings()
PUBLIC: Final = ("not asked: ",)  # refused by what is public, with nothing charged


def audited(name: str, relation: Neighbours, pairs: int, *, seed: int = 0, size: int = 30) -> tuple[list[str], int]:
    """The objections to a question on generated neighbours, and how many of them were asked."""
    asking, rng = ASKINGS[name], np.random.default_rng(seed)
    found, asked = [], 0
    with TemporaryDirectory() as folder:
        for index in range(pairs):
            left, right = pair(asking, _steps(asking, relation), rng, Path(folder), size)
            wrong = objections(asking, relation, left, right, index)
            refused = [one for one in wrong if one.startswith(PUBLIC)]
            asked += not refused
            found += [one for one in wrong if one not in refused]
    return found, asked


def _steps(asking: Asking, relation: Neighbours) -> Neighbours:
    """The relation of the pairs that a question is asked about."""
    return step_of(asking.of(read({name: [1.0] * 2000 for name in NAMES} | {"id": range(2000)}), relation))


def main(given: Sequence[str] | None = None) -> None:
    """Print the questions that are wrong; exit code 1 if there is one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--only")
    wanted = parser.parse_args(given)
    bad = 0
    for name in ASKINGS:
        for relation in (REPLACE, ADD):
            if wanted.only in (None, name):
                found, asked = audited(name, relation, wanted.pairs)
                bad += len(found)
                told = "; ".join(sorted(set(found))[:2])[:300]
                print(f"{name:<32}{relation.name:<16}{asked:>6}{len(found):>6}  {told}", flush=True)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
