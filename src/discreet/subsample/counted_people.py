"""Noisy numbers of people first, then the mechanism that is made for about so many.

Releases
    Where the number of people is private, a noisy one; with `rare` a noisy number of those who tell the rarest level or
    column apart; and what the mechanism made for these releases; or a refusal that tells them.
Promise
    [counted_people.1] epsilon and delta in all, known before a row is read. A twentieth of epsilon buys the number of
          people, under ADD_OR_REMOVE, and a fortieth that of the rarest; whatever they are, the mechanism made for them
          has the rest of epsilon, and delta.
    [counted_people.2] The number of blocks, the aggregator, the bias correction and what is refused follow from the
          noisy number and from what is public.
    [counted_people.3] `rarest`: the fewest people who would have to leave for a column to be constant, or for a
          declared category to be empty, so many columns passed over. One person moves it by at most 1, under both
          relations.
Why
    [counted_people.1] One person, with however many rows, moves the number of people by 1: [additive.1]; people are
    told apart as in [partition.3]. Given the noisy number, the mechanism is fixed, and what it promises is compared
    with what is left before it is run. Adaptive composition with fixed losses: the sum.
    [counted_people.2] `made` is given a whole number and an epsilon; it knows the schema, but no row. What it raises is
    a function of these, and becomes a refusal. What no number of people would mend is raised before anything is drawn.
    [counted_people.3] For a column, or a sum of neighbouring ones, and a value v: the people with an entry other than
    v. For a declared category: those with an entry in it. Whether a person counts is told by that person's rows, each
    read by itself, so that one person more, fewer or other moves each of these numbers by at most 1, and so the
    smallest of them, or the second smallest. Which numbers there are is told by the number of columns.
Needs
    A function from about how many people there are, and what may be spent, to a mechanism under ADD_OR_REMOVE.
Accuracy
    The noise has a standard deviation of 28 / epsilon people. Plans are made for 3 scales fewer (60 / epsilon), which
    is more than there are once in 40 runs; then blocks are a little smaller than they should be. The number of the
    rarest has twice that noise.
Source
    Ours; adaptive composition: Dwork, Rothblum and Vadhan 2010.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from itertools import accumulate
from typing import Any, Final

import numpy as np

from discreet.errors import BadInput, Refused
from discreet.hypotheses.private_sizes import people_needed
from discreet.privacy.exact import Number, exact, show
from discreet.privacy.guarantee import Guarantee, Neighbours, check_budget
from discreet.privacy.loss import Approximate, Laplace
from discreet.privacy.mechanism import Mechanism, Randomness, check, what_to_do
from discreet.privacy.release import Provenance, Release
from discreet.subsample.block_exchange import FarTable, tables_of
from discreet.subsample.block_table import BlockTable, arrays, is_frame, owners
from discreet.subsample.partition import codes, people_in
from discreet.tables.entries import numbers_of

COUNTING: Final = Fraction(1, 20)  # of epsilon, for the number of people
WIDEST: Final = 16  # columns whose sums are looked at
RAREST: Final = Fraction(1, 40)  # of epsilon, for the number of the rarest
CAUTION: Final = 3  # scales of the noise that are taken off
TRIED: Final = tuple(10**power for power in (6, 5, 4, 7, 8, 9))  # people: with some of these all can be done that can
Made = Callable[..., Mechanism[Any]]  # of about how many people there are, an epsilon, and with `rare` the rarest


@dataclass(frozen=True, slots=True)
class CountedPeople:
    """What `made` makes for about so many people and an epsilon; `size` is their number where it is public.

    >>> from discreet.noise.randomness import Seeded
    >>> from discreet.subsample.aggregate import SubsampleAggregate
    >>> from discreet.subsample.coordinatewise import BlockMean
    >>> from discreet.subsample.estimators import FunctionFit
    >>> from discreet.subsample.returned import Shape
    >>> number, hidden = Shape("number", ("value",)), Neighbours.ADD_OR_REMOVE
    >>> def made(people, epsilon):
    ...     blocks = BlockMean(people // 50, 1, epsilon)
    ...     return SubsampleAggregate(FunctionFit(max), number, blocks, neighbours=hidden)
    >>> fit = CountedPeople(made, 2.0)
    >>> 90 < fit.release([float(k % 100) for k in range(20000)], Seeded(1)).value < 105
    True
    """

    made: Made
    epsilon: Number
    delta: Number = 0.0
    unit: str = "row"
    _: KW_ONLY
    size: int | None = None
    rare: int | None = None  # how many columns may be constant, where the rarest are counted
    advice: str = ""  # what else would need fewer people

    def __post_init__(self) -> None:
        check_budget(self.epsilon, self.delta, None)
        self._possible()  # [counted_people.2]

    @property
    def guarantee(self) -> Guarantee:
        """The number and the mechanism. [counted_people.1]"""
        return Guarantee(self.epsilon, self.delta, self.neighbours, self.unit)

    @property
    def neighbours(self) -> Neighbours:
        """Which change is hidden: that of a person's rows where the number of people is public."""
        return Neighbours.ADD_OR_REMOVE if self.size is None else Neighbours.REPLACE

    @property
    def loss(self) -> Approximate:
        """The number and the mechanism. [counted_people.1]"""
        return Approximate(self.epsilon, self.delta)

    @property
    def counting(self) -> Laplace:
        """What the number of people costs."""
        return Laplace(exact(self.epsilon) * COUNTING)

    @property
    def caution(self) -> int:
        """How many people are taken off the noisy number."""
        return round(CAUTION / float(self.counting.epsilon))

    @property
    def rarity(self) -> Laplace:
        """What the number of the rarest costs."""
        return Laplace(exact(self.epsilon) * RAREST)

    @property
    def rest(self) -> Fraction:
        """What is left of epsilon."""
        spent = (COUNTING if self.size is None else 0) + (0 if self.rare is None else RAREST)
        return exact(self.epsilon) * (1 - spent)  # [counted_people.1]

    def plan(self, rows: Any) -> str:  # noqa: ARG002  as other mechanisms have it
        """What will be done, in words."""
        steps = []
        if self.size is None:
            price = show(self.counting.epsilon)
            steps.append(
                f"the number of people is private: a noisy one, for epsilon {price}, decides on the number of blocks"
            )
        if self.rare is not None:
            price = show(self.rarity.epsilon)
            steps.append(f"a noisy number of people with the rarest level, for epsilon {price}, decides on their size")
        return "; ".join([*steps, f"the estimates have epsilon {show(self.rest)}"])

    def check(self, size: int | None, fewest: int | None = None) -> None:
        """Refused, if it is said how many people there are, where about so many would be."""
        if size is not None:
            try:
                found = self.checked(size, fewest)
            except BadInput as reason:
                raise Refused(str(reason)) from None
            if self.size is not None:
                check(found, size)

    def _answers(self, size: int, fewest: int) -> None:
        """Refused where so many would be, also by what answers for them, which may count them again."""
        check(self.checked(size, fewest), size)

    def check_machine(self) -> None:
        """NoSandbox where this machine cannot make the sandbox asked for."""
        inner = self._possible()
        if hasattr(inner, "check_machine"):
            inner.check_machine()

    def release(self, rows: Any, rng: Randomness) -> Release[Any]:
        """The mechanism's answer, or a refusal."""
        table: BlockTable | FarTable = rows if isinstance(rows, FarTable) else BlockTable.of(rows)
        told = []
        shown: dict[str, Any] = {}
        people = fewest = noisy = self.size or 0
        likely = 0
        if self.size is None:
            noisy = int(
                rng.blur(sum(map(people_in, tables_of(table))), sensitivity=1, cost=self.counting)
            )  # [counted_people.1]
            people = fewest = max(1, noisy - self.caution)
            shown |= {"people, noisy": noisy, "epsilon of that number": float(self.counting.epsilon)}
            told.append(f"about {max(noisy, 0)} people (a noisy number)")
        if self.rare is not None:
            seen = int(
                rng.blur(rarest(tables_of(table), self.rare), sensitivity=1, cost=self.rarity)
            )  # [counted_people.3]
            lost = round(CAUTION / float(self.rarity.epsilon))
            fewest, likely = max(1, min(people, seen - lost)), min(people, max(seen, lost) // 3)
            shown |= {"people of the rarest level, noisy": seen}
            if 2 * fewest < people:
                told.append(f"about {max(seen, 0)} people tell the rarest level or column apart (a noisy number)")
        try:
            self.check(people, fewest)
        except Refused:  # [counted_people.2]
            share = Fraction(max(fewest, likely), people)  # with the noise taken off there may be next to none
            needed = people_needed(lambda size: self._answers(size, max(1, math.floor(size * share)))) + self.caution
            to_do = what_to_do(noisy, self.epsilon, needed, noisy=True, rows="people")
            more = "; merge rare levels, or leave rare columns out" if 2 * fewest < people else ""
            words = f"{', '.join(told or [f'{people} people'])}, about {needed} are needed: {to_do}{more}{self.advice}"
            return Release(self.guarantee, Provenance("CountedPeople", shown, rng.secure), refusal=words)
        found = self.checked(people, fewest).release(table, rng)  # [counted_people.1]
        history = replace(found.provenance, parameters=dict(found.provenance.parameters) | shown)
        return replace(found, guarantee=self.guarantee, provenance=history)

    def _possible(self) -> Mechanism[Any]:
        """The mechanism for some number of people; what is wrong with all of them is wrong with what was asked for."""
        wrong = []
        for people in TRIED:
            try:
                return self.checked(people)
            except BadInput as reason:
                wrong.append(reason)
        raise wrong[0]

    def checked(self, people: int, fewest: int | None = None) -> Mechanism[Any]:
        """The mechanism, if it promises what is left or better. [counted_people.1]"""
        made = self.made(people, self.rest) if self.rare is None else self.made(people, self.rest, fewest or people)
        promised = made.guarantee
        if exact(promised.epsilon) > self.rest or exact(promised.delta) > exact(self.delta):
            raise BadInput(f"the mechanism promises '{promised}', but epsilon {show(self.rest)} is left for it")
        if (promised.neighbours, promised.unit) != (self.neighbours, self.unit):
            raise BadInput(f"the mechanism promises '{promised}'; it must hide the same change of one {self.unit}")
        return made


def rarest(tables: Iterable[BlockTable], spare: int = 0) -> int:
    """The fewest people who would have to leave for a column to be constant, or a declared category empty, the `spare`
    smallest such numbers passed over; private. Each table has all rows of its people. [counted_people.3]"""
    people, levels, constants = 0, [], []
    for table in (table for table in tables if table.rows):
        whose = np.arange(table.rows) if table.people is None else codes(table.people)
        here = int(whose.max()) + 1
        columns = arrays(table.x) if is_frame(table.x) else list(table.x.reshape(table.rows, -1).T)
        declared = [one for one in columns if hasattr(one, "categories")]
        levels.append([len(np.unique(whose[one.codes == k])) for one in declared for k in range(len(one.categories))])
        plain = [one for one in columns if not hasattr(one, "categories")]
        if len(columns) <= WIDEST:  # sums of neighbouring columns tell of a level that has no column
            read = [numbers_of(one) for one in plain]
            with np.errstate(all="ignore"):
                plain += [one for first in range(len(read)) for one in list(accumulate(read[first:]))[1:]]
        plain += [] if table.y is None else [table.y.reshape(table.rows, -1)[:, 0]]
        constants.append([_constant(values, whose, here) for values in plain])
        people += here
    found = [people, *map(sum, zip(*levels, strict=True))]
    found += [people - _commonest(list(values)) for values in zip(*constants, strict=True)]
    return sorted(found)[min(spare, len(found) - 1)]


def _constant(values: Any, whose: Any, people: int) -> Any:
    """The entries of those people all of whose entries are alike, one a person."""
    kinds = np.unique(values, return_inverse=True)[1] if values.dtype.kind in "biufmM" else owners(values)
    low, high, at = np.full(people, len(kinds)), np.full(people, -1), np.zeros(people, dtype=np.int64)
    np.minimum.at(low, whose, kinds)
    np.maximum.at(high, whose, kinds)
    at[whose] = np.arange(len(whose))
    return values[at[low == high]]


def _commonest(parts: list[Any]) -> int:
    """How often the most frequent entry comes."""
    values = np.concatenate(parts)
    kinds = values if values.dtype.kind in "biufmM" else owners(values)
    return int(np.unique(kinds, return_counts=True)[1].max(initial=0))
