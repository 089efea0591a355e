"""Mechanisms with one planted fault each. The audit must find every one of them."""

import logging
import math
import warnings
from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.noise.choose_float import Prior, Staircase
from discreet.noise.distributions import LaplaceDistribution, laplace_scale
from discreet.noise.threshold import threshold_for
from discreet.privacy.guarantee import Guarantee, Neighbours
from discreet.privacy.intervals import Interval
from discreet.privacy.loss import Approximate, Choice, Composed, Gaussian, Laplace, Loss
from discreet.privacy.mechanism import Randomness
from discreet.privacy.release import Provenance, Release
from discreet.statistics.count import CountSpread
from discreet.tables.entries import numbers, truths

REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
Run = Callable[[Any, Randomness], Any]
ONE = Approximate(1, 0)


@dataclass(frozen=True)
class Mutant:
    """A mechanism from a function; `run` returns an answer, or a whole release."""

    name: str
    run: Run
    relation: Neighbours = REPLACE
    loss: Loss = ONE
    epsilon: float = 1.0
    delta: float = 0.0

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, self.delta, self.relation)

    def release(self, rows: Any, rng: Randomness) -> Release[Any]:
        answer = self.run(rows, rng)
        if isinstance(answer, Release):
            return answer
        return Release(self.guarantee, Provenance(self.name, {}, rng.secure), answer)


def yes(rows: Any) -> int:
    return int(np.count_nonzero(truths(rows)))


def bins(rows: Any) -> np.ndarray[Any, Any]:
    values = numbers(rows)
    return np.array([int((values == 0).sum()), int((values == 1).sum()), int((values == 2).sum())])


def counted(rows: Any, rng: Randomness, sensitivity: float = 1, epsilon: float = 1) -> Any:
    return rng.blur(yes(rows), sensitivity=sensitivity, cost=Laplace(epsilon))


def _first_seen(rows: Any, rng: Randomness) -> list[str]:
    counts = rng.blur(bins(rows), sensitivity=2, cost=Laplace(1))
    order = list(dict.fromkeys(repr(row) for row in rows))
    return [*order, *map(str, counts.tolist())]


def _clamped_late(rows: Any, rng: Randomness) -> Any:
    total = float(np.nansum(numbers(rows)))
    return rng.blur(int(min(max(total, -3), 3)) if math.isfinite(total) else 0, sensitivity=2, cost=Laplace(1))


def _unclamped(rows: Any, rng: Randomness) -> Any:
    values = numbers(rows)
    return rng.blur(int(values[np.isfinite(values)].sum()), sensitivity=2, cost=Laplace(1))


def _poisoned(rows: Any, rng: Randomness) -> Any:
    values = numbers(rows)
    inside = np.abs(values) <= 2
    with np.errstate(all="ignore"):
        total = (inside * values).sum()  # 0 * inf is nan
    return rng.blur(int(total), sensitivity=4, cost=Laplace(1))


def _skips_empty(rows: Any, rng: Randomness) -> Any:
    return 0 if yes(rows) == 0 else counted(rows, rng)


def _own_bounds(rows: Any, rng: Randomness) -> Any:
    values = numbers(rows)
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max()) + 1) if len(finite) else (0.0, 1.0)
    return rng.choose_float(Staircase(rows, 1, low=low, high=high), sensitivity=1, cost=Choice(1))


def _own_prior(rows: Any, rng: Randomness) -> Any:
    weights = [1] * 2047
    weights[int(np.clip(np.nan_to_num(numbers(rows), posinf=9, neginf=9).max(initial=0), 0, 9))] = 7
    return rng.choose_float(Staircase(rows, 1, prior=Prior(tuple(weights))), sensitivity=1, cost=Choice(1))


def _own_message(rows: Any, rng: Randomness) -> Any:
    answer = counted(rows, rng)
    if yes(rows) >= 2:
        raise ValueError("too many")
    return answer


def _own_words(rows: Any, rng: Randomness) -> Any:
    raise ValueError(f"cannot use {list(rows)[:1]}")


def _tells_in_the_history(rows: Any, rng: Randomness) -> Release[Any]:
    noisy = counted(rows, rng)
    return Release(
        Guarantee(1.0, neighbours=REPLACE),
        Provenance("m", {"largest": repr(max(map(repr, rows)))}, rng.secure),
        noisy,
    )


def _tells_in_the_error_bar(rows: Any, rng: Randomness) -> Release[Any]:
    noisy = counted(rows, rng)
    spread = CountSpread(yes(rows), LaplaceDistribution(laplace_scale(1, 1)), len(rows))
    return Release(Guarantee(1.0, neighbours=REPLACE), Provenance("m", {}, rng.secure), noisy, spread=spread)


def _refuses_by_looking(rows: Any, rng: Randomness) -> Release[Any]:
    noisy = counted(rows, rng)
    refusal = "too few" if yes(rows) < 2 else None
    return Release(
        Guarantee(1.0, neighbours=REPLACE),
        Provenance("m", {}, rng.secure),
        None if refusal else noisy,
        refusal=refusal,
    )


def _open(rows: Any, rng: Randomness, sensitivity: int, merge: int = 1) -> Any:
    counts = Counter(repr(row) for row in rows)
    scaled: dict[Hashable, int] = {key: count * merge for key, count in counts.items()}
    threshold = threshold_for(sensitivity, 1, 1e-3)
    return rng.sift(scaled, sensitivity=sensitivity, cost=Laplace(1), above=threshold, delta=1e-3)


def _own_sample(rows: Any, rng: Randomness) -> Any:
    keep = [row for row in rows if rng.below(2) == 0 or row == 1]
    return counted(keep, rng), len(keep)


def _says(rows: Any, rng: Randomness, say: Callable[[str], Any]) -> Any:
    say(f"{yes(rows)} of them")
    return counted(rows, rng)


def _says_in_a_chain(rows: Any, rng: Randomness) -> Any:
    noisy = counted(rows, rng)
    if len(rows) == 3:
        try:
            raise ValueError(f"cannot use {list(rows)}")
        except ValueError:
            raise RuntimeError("three rows are too many")  # noqa: B904
    return noisy


def _draws_and_hides_it(rows: Any, rng: Randomness) -> Any:
    noisy = counted(rows, rng, epsilon=0.5)
    try:
        _ = counted(rows, rng, epsilon=0.5) if yes(rows) >= 2 else None
    except BaseException:  # noqa: BLE001
        return noisy
    return noisy


def _reuses_its_array(rows: Any, rng: Randomness) -> Any:
    counts = np.array([yes(rows) * 2])
    noisy = rng.blur(counts, sensitivity=1, cost=Laplace(1))
    counts[:] = 1
    return noisy


def _empties_its_rows(rows: Any, rng: Randomness) -> Any:
    noisy = counted(rows, rng, sensitivity=0.5)
    del rows[1:]
    return noisy


class _Opaque:
    """A spread that is no dataclass."""

    __slots__ = ("__kept", "privacy", "sampling")

    def __init__(self, kept: Any) -> None:
        self.__kept, self.privacy, self.sampling = kept, 1.0, None

    def interval(self, confidence: float) -> Interval:
        return Interval(0, 1, confidence=confidence, about="nothing", population=False)


def _keeps_the_rows(rows: Any, rng: Randomness) -> Release[Any]:
    return Release(
        Guarantee(1.0, neighbours=REPLACE),
        Provenance("m", {}, rng.secure),
        counted(rows, rng),
        spread=_Opaque(list(rows)),
    )


def _with(guarantee: Guarantee, secure: bool) -> Run:
    return lambda rows, rng: Release(guarantee, Provenance("m", {}, secure), counted(rows, rng))


MUTANTS = [
    Mutant("warns of the data", lambda x, rng: _says(x, rng, warnings.warn)),
    Mutant("logs the data", lambda x, rng: _says(x, rng, logging.getLogger("mutant").warning)),
    Mutant("prints the data", lambda x, rng: _says(x, rng, print)),
    Mutant("shows data in a chained error", _says_in_a_chain),
    Mutant("tells beyond the digits of a float", lambda x, rng: counted(x, rng) + Fraction(yes(x), 10**40)),
    Mutant("tells by the type", lambda x, rng: (int, float)[yes(x) % 2](counted(x, rng))),
    Mutant("tells by the type of an array", lambda x, rng: np.full(2, counted(x, rng), ("i4", "i8")[yes(x) % 2])),
    Mutant("tells by an infinity far behind", lambda x, rng: np.array([counted(x, rng)] * 9 + [math.inf * yes(x)])),
    Mutant("tells by the sign of zero", lambda x, rng: [counted(x, rng), math.copysign(0.0, yes(x) - 1)]),
    Mutant("draws and hides it", _draws_and_hides_it),
    Mutant("draws more on two rows", lambda x, rng: counted(x, rng) + (counted(x, rng) if len(x) == 2 else 0)),
    Mutant("reuses its array", _reuses_its_array),
    Mutant("empties its rows", _empties_its_rows),
    Mutant("keeps the rows in its error bar", _keeps_the_rows),
    Mutant("keeps the rows in a function", lambda x, rng: (counted(x, rng), lambda: x)),
    Mutant("promises more than the mechanism", _with(Guarantee(0.1, neighbours=REPLACE), secure=False)),
    Mutant("calls seeded noise secret", _with(Guarantee(1.0, neighbours=REPLACE), secure=True)),
    Mutant("sensitivity halved", lambda rows, rng: counted(rows, rng, sensitivity=0.5)),
    Mutant("histogram with the lecture's scale", lambda x, rng: rng.blur(bins(x), sensitivity=1, cost=Laplace(1))),
    Mutant(
        "histogram, L2 claimed for add/remove",
        lambda x, rng: rng.blur(bins(x) * 2**21, sensitivity=2**21, cost=Gaussian(1, 1e-9)),
        loss=Gaussian(1, 1e-9),
        epsilon=10.0,
        delta=1e-4,
    ),
    Mutant("tells the private size", lambda rows, rng: (counted(rows, rng), len(rows)), ADD),
    Mutant("divides by the private size", lambda rows, rng: counted(rows, rng) / max(1, len(rows)), ADD),
    Mutant("refuses by looking", _refuses_by_looking),
    Mutant("raises on the data", _own_message),
    Mutant("shows data in an error", _own_words),
    Mutant("skips noise on an empty count", _skips_empty),
    Mutant("draws twice, pays once", lambda rows, rng: (counted(rows, rng), counted(rows, rng))),
    Mutant("promises less than it costs", counted, epsilon=0.5),
    Mutant("composes by the largest", lambda rows, rng: (counted(rows, rng), counted(rows, rng)),
           loss=Composed((Approximate(1, 0), Approximate(1, 0)))),
    Mutant("sums without a clamp", _unclamped),
    Mutant("clamps the sum, not the rows", _clamped_late),
    Mutant("multiplies infinity by zero", _poisoned),
    Mutant("noise scale from the data", lambda rows, rng: counted(rows, rng, sensitivity=1 + yes(rows))),
    Mutant("cost from the data", lambda rows, rng: counted(rows, rng, epsilon=1 / (1 + yes(rows)))),
    Mutant("order of first appearance", _first_seen),
    Mutant("bounds from the data", _own_bounds, loss=Choice(1)),
    Mutant("prior from the data", _own_prior, loss=Choice(1)),
    Mutant("tells in the history", _tells_in_the_history),
    Mutant("tells in the error bar", _tells_in_the_error_bar),
    Mutant("score that moves twice as far",
           lambda x, rng: rng.choose([2 * yes(x), 1], sensitivity=1, cost=Choice(1)), loss=Choice(1)),
    Mutant("noisy max that moves twice as far",
           lambda x, rng: rng.noisy_max([2 * yes(x), 1], sensitivity=1, cost=Approximate(1, 0)),
           loss=Approximate(1, 0)),
    Mutant("above threshold that moves twice as far",
           lambda x, rng: rng.first_above([2 * yes(x), 1], 1, sensitivity=1, cost=Approximate(1, 0)),
           loss=Approximate(1, 0)),
    Mutant("threshold from the data",
           lambda x, rng: rng.first_above([0, 1], yes(x), sensitivity=1, cost=Approximate(1, 0)),
           loss=Approximate(1, 0)),
    Mutant("rank that follows a private size",
           lambda x, rng: rng.choose_float(Staircase(x, len(x)), sensitivity=0.5, cost=Choice(1)), ADD, loss=Choice(1)),
    Mutant("candidates from the data",
           lambda x, rng: rng.choose([1] * (1 + yes(x)), sensitivity=1, cost=Choice(1)), loss=Choice(1)),
    Mutant("stability histogram with the add/remove scale", lambda x, rng: _open(x, rng, 1), loss=Approximate(1, 1e-3),
           delta=1e-3),
    Mutant("people who hold two places in a bin", lambda x, rng: _open(x, rng, 2, merge=2), ADD,
           loss=Approximate(1, 1e-3), delta=1e-3),
    Mutant("shuffles a private size", lambda x, rng: (rng.permutation(len(x)).sum(), counted(x, rng)), ADD),
    Mutant("a sample that looks at the rows", _own_sample),
    Mutant("noise of its own", lambda x, rng: yes(x) + 3),
]  # fmt: skip
