"""Tests that need public numbers of people, where who is there is what is hidden.

Releases
    A noisy number of people, in each group if there are several, and what a test of tables of a public size releases
    of so many of them.
Promise
    [private_sizes.1] ADD_OR_REMOVE, pure: the epsilon of the noisy numbers and that of the test, which hides one
          replaced row of a table of the public size, sum to epsilon. Who is in which group is hidden too.
    [private_sizes.2] Stand-ins that follow the null hypothesis leave a test's p-value super-uniform, whatever the noisy
          number is. PrivateGroups has none: its p-value is super-uniform if the test's is, in the limit of many people
          if that is what the test says.
Why
    [private_sizes.1] One person moves one number by 1: [additive.1]. Let m be the public number that follows from the
    noisy one. Every row has a secret word, a keyed hash of its content and of how many equal rows came before, so that
    one added row leaves the words of all others alone. Seated are the m rows with the lowest words, in the order of
    their words; where there are fewer, numbered stand-ins take the seats that are left. One added row takes the seat of
    the row with the highest word, or of the first stand-in, or none: one row is replaced in the table of m. Words are
    drawn without regard to what rows hold, so rows and their order are a uniform choice: given the row that is
    replaced, all orders of the others are equally likely on both sides, and a test that depends on the order of its
    rows (its coins, its places) hides the change as well, as in [partition.2]. Adaptive composition of two fixed
    losses.
    [private_sizes.2] A uniform choice of people is a sample of their population. With stand-ins from the null
    distribution all m rows follow it, however many they are: the p-value for m is right for every m. In PrivateGroups m
    is lower than the noisy number by the radius of its noise, so that with a chance of at least 1 - MISS every group
    has m people or more and no seat is empty; MISS is added to the p-value: [null_distributions.3].
Needs
    Enough people that the test does not refuse so many: the noisy number decides, and the refusal says it.
Accuracy
    A tenth of epsilon buys the number: noise of standard deviation 14 / epsilon people. PrivateGroups spends a fifth,
    and leaves out about 43 / epsilon people of each group, so that none of its seats is empty.
Source
    Ours; a random sample of a fixed size as a way from one relation to the other is folklore.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput, Refused
from discreet.hypotheses.null_distributions import MISS, Floats, Integers
from discreet.noise.distributions import laplace_scale
from discreet.privacy.exact import Number, exact, least_whole, show
from discreet.privacy.guarantee import Guarantee, Neighbours
from discreet.privacy.loss import Approximate, Laplace
from discreet.privacy.mechanism import MISCOUNTED, Mechanism, Randomness, check, refusal_of, what_to_do
from discreet.privacy.release import Provenance, Release
from discreet.privacy.values import TestResult
from discreet.tables.entries import by_name, numbers_of

COUNTING: Final = Fraction(1, 10)  # of epsilon, for the number of people
GROUPS: Final = Fraction(1, 5)  # the same where seats must not be empty
HIDDEN_GROUPS: Final = (
    "hidden are who is there, in which group, and the numbers of people, which are released with noise"
)
MOST: Final = 2**40  # people: nobody has more
Words = npt.NDArray[np.uint64]


def too_few_people(size: int, epsilon: Number, checked: Callable[[int], object]) -> str:
    """A refusal by a noisy number of people."""
    needed = people_needed(checked)
    to_do = what_to_do(size, epsilon, needed, noisy=True, rows="people")
    return (
        f"about {size} people, by a noisy count, are too few at epsilon {show(epsilon)}: {needed} are needed; {to_do}"
    )


def noisy_sizes(counts: Any, cost: Laplace, rng: Randomness) -> list[int]:
    """How many people there are in each group, with noise; 1 or more. [private_sizes.1]"""
    noisy = rng.blur(np.asarray(counts, dtype=np.int64), sensitivity=1, cost=cost)  # [private_sizes.1]
    return [max(1, int(one)) for one in noisy]


def split_budget(epsilon: Number, share: Fraction) -> tuple[Laplace, Fraction]:
    """What the numbers cost, and what is left of epsilon."""
    return Laplace(exact(epsilon) * share), exact(epsilon) * (1 - share)


def people_needed(checked: Callable[[int], object]) -> int:
    """The least number of people that a check, which raises for too few, lets pass."""

    def enough(people: int) -> bool:
        try:
            checked(people)
        except (BadInput, Refused):
            return False
        return True

    high = 1
    while high < MOST and not enough(high):
        high *= 2
    return least_whole(enough, high // 2, high)


def secret_key(rng: Randomness) -> bytes:
    """Fresh for every release, and never released."""
    return rng.below(2**256).to_bytes(32, "little")


def secret_words(values: npt.NDArray[Any], key: bytes) -> Words:
    """Two secret words for each number or row of numbers; equal ones are told apart by counting. [private_sizes.1]"""
    whole = np.ascontiguousarray(np.where(np.isnan(values), np.nan, values + 0.0), dtype=np.float64)  # one NaN, one 0
    seen: Counter[bytes] = Counter()
    words = []
    for row in whole:
        content = row.tobytes()
        seen[content] += 1
        words.append(_words(content + seen[content].to_bytes(8, "little"), key))
    return _table(words)


def seated(words: Words, size: int) -> Integers:
    """The rows with the lowest words, at most `size` of them, in that order. [private_sizes.1]"""
    found: Integers = np.lexsort((words[:, 1], words[:, 0]))[:size].astype(np.int64)
    return found


def stand_ins(taken: int, size: int, key: bytes) -> Words:
    """Two secret words for each seat that is left, by its number. [private_sizes.1]"""
    return _table([_words(b"stand-in" + seat.to_bytes(8, "little"), key) for seat in range(taken, size)])


def uniform(words: Words) -> Floats:
    """A number in [0, 1) for each row or stand-in: its second word, which its seat does not depend on.
    [private_sizes.2]"""
    return np.asarray((words[:, 1] >> np.uint64(11)).astype(np.float64) / 2**53)


def _words(content: bytes, key: bytes) -> bytes:
    return hashlib.blake2b(content, key=key, digest_size=16).digest()


def _table(words: list[bytes]) -> Words:
    return np.frombuffer(b"".join(words), dtype=np.uint64).reshape(-1, 2)


class SizedTest(Protocol):
    """A test of groups with public sizes, whose rows come group after group."""

    @property
    def epsilon(self) -> Number:
        """What all of it may cost."""

    @property
    def unit(self) -> str:
        """What a row is."""

    @property
    def by_ranks(self) -> bool:
        """Whether values count by their order alone."""

    def for_groups(self, sizes: tuple[int, ...], epsilon: Number) -> Mechanism[TestResult]:
        """The same test for groups of these sizes."""


@dataclass(frozen=True, slots=True)
class PrivateGroups:
    """A test of `groups` groups of private sizes: rows are pairs, the number of a person's group and the value.

    A row whose group is none of 0, 1, ... counts nowhere.

    >>> from discreet.hypotheses.rank_tests import RankSumTest
    >>> from discreet.noise.randomness import Seeded
    >>> rows = [(k % 2, float(k % 50 + 15 * (k % 2))) for k in range(1000)]
    >>> PrivateGroups(RankSumTest(1, 1.0), 2).release(rows, Seeded(1)).value.decide(0.001)
    True
    """

    test: SizedTest
    groups: int

    def __post_init__(self) -> None:
        if not isinstance(self.groups, int) or isinstance(self.groups, bool) or self.groups < 2:
            raise BadInput(f"groups is {self.groups!r}; give the public number of groups, 2 or more")
        if not hasattr(self.test, "for_groups"):
            raise BadInput(f"the test is {type(self.test).__name__}; give one of groups, RankSumTest(1, 1.0) say")

    @property
    def guarantee(self) -> Guarantee:
        """Pure epsilon, for who is there."""
        return Guarantee(self.test.epsilon, 0.0, Neighbours.ADD_OR_REMOVE, self.test.unit)

    @property
    def loss(self) -> Approximate:
        """The numbers and the test. [private_sizes.1]"""
        return Approximate(self.test.epsilon, 0)

    def release(self, rows: Any, rng: Randomness) -> Release[TestResult]:
        """The test on as many people of each group as there surely are, or a refusal."""
        which, values = grouped_rows(rows, self.groups)
        counting, rest = split_budget(self.test.epsilon, GROUPS)
        noisy = noisy_sizes(np.bincount(which[which >= 0], minlength=self.groups), counting, rng)
        margin = lost_people(self.groups, counting)
        sizes = tuple(one - margin for one in noisy)  # [private_sizes.2]
        shown = {"people, noisy": tuple(noisy), "people taken": sizes}
        inner = self.test.for_groups(tuple(max(1, size) for size in sizes), rest)
        if min(sizes) <= 0 or refusal_of(inner, sum(sizes)) is not None:
            history = Provenance(type(self.test).__name__, shown, rng.secure)
            return Release(self.guarantee, history, refusal=self._too_few(noisy, rest, margin), name="test of groups")
        found = inner.release(self._seats(which, values, sizes, secret_key(rng)), rng)  # [private_sizes.1]
        notes = (*(note for note in found.provenance.notes if not note.startswith("which group")), HIDDEN_GROUPS)
        history = replace(found.provenance, parameters=dict(found.provenance.parameters) | shown, notes=notes)
        signed = replace(found, guarantee=self.guarantee, provenance=history)
        if found.refusal is not None:
            return signed
        answer = replace(found.value, p_value=min(1.0, found.value.p_value + MISS))  # [private_sizes.2]
        return replace(signed, answer=answer)

    def _too_few(self, noisy: list[int], epsilon: Number, margin: int) -> str:
        """What the smallest group has, and what each needs: `margin` people of it are left out."""

        def needs(test: SizedTest) -> int:
            groups = self.groups
            return margin + people_needed(lambda n: check(test.for_groups((n,) * groups, epsilon), n * groups))

        needed, bounds, off = needs(self.test), [], MISCOUNTED / float(self.test.epsilon)
        if getattr(self.test, "bounds", 0) is None and min(noisy) - off > needs(replace(self.test, bounds=(0.0, 1.0))):  # type: ignore[type-var]
            bounds = ["give public bounds=(low, high)"]
        to_do = what_to_do(min(noisy), self.test.epsilon, needed, *bounds, noisy=True, rows="people in each group")
        return (
            f"the groups have about {' and '.join(map(str, noisy))} people (noisy numbers); at epsilon "
            f"{show(self.test.epsilon)} each needs about {needed}; {to_do}"
        )

    def _seats(self, which: Integers, values: Floats, sizes: tuple[int, ...], key: bytes) -> Floats:
        """The chosen people of each group, group after group; ranks, with ties by secret words, where they will do.
        [private_sizes.1]"""
        words = secret_words(np.stack([which.astype(np.float64), values], axis=1), key)
        chosen = []
        for group, size in enumerate(sizes):
            own = np.flatnonzero(which == group)
            seats = own[seated(words[own], size)]
            chosen.append(np.append(seats, np.full(size - len(seats), -1)))  # [private_sizes.2]: hardly ever any
        rows = np.concatenate(chosen)
        kept, order = np.where(rows < 0, np.nan, np.append(values, np.nan)[rows]), np.append(words, [[0, 0]], axis=0)
        if not self.test.by_ranks:
            return np.asarray(kept)
        ties = order[rows].astype(np.uint64)
        return ranks_of(kept, ties)


def ranks_of(values: Floats, words: Words) -> Floats:
    """1, ..., n; missing values lowest, ties by secret words. [private_sizes.1]"""
    order = np.lexsort((words[:, 1], words[:, 0], np.where(np.isnan(values), -np.inf, values)))
    found = np.empty(len(values))
    found[order] = np.arange(1.0, len(values) + 1)
    return found


def lost_people(groups: int, counting: Laplace) -> int:
    """The radius that the noise of no group's number exceeds, with a chance of at most MISS for all together.
    [private_sizes.2]"""
    rate = float(1 / laplace_scale(1, counting.epsilon))
    return math.ceil(
        math.log(groups / (MISS * (1 + math.exp(-rate)))) / rate
    )  # P(N >= t) = e^(-rate t) / (1 + e^-rate)


def grouped_rows(rows: Any, groups: int) -> tuple[Integers, Floats]:
    """The group of each row, -1 for none, and its value."""
    one, other = (numbers_of(part) for part in by_name(rows, "group", "value").values())
    known = (one >= 0) & (one < groups) & (one == np.floor(one))
    return np.where(known, np.where(known, one, 0), -1).astype(np.int64), other
