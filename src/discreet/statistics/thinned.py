"""Weights by thinning: each person counts with a chance of weight / largest weight, and those who count, count alike.

Releases
    What the inner mechanism releases, on the records that were kept.
Promise
    [thinned.1] Pure epsilon under both relations, if the inner mechanism is pure under ADD_OR_REMOVE: at epsilon, under
          REPLACE at half of it; however the coins fall.
    [thinned.2] If records were drawn independently, with chances in inverse proportion to their weights, those kept are
          independent draws from the population, given how many they are: the interval of the inner mechanism is for
          the population that the weights stand for.
Why
    [thinned.1] The coin of a record is a function of a number that is drawn once and reads no data, of the record's own
    entries, and of how many equal records come before it. Of equal records the same coins are used up from the first
    on, whatever else is there: one record more or fewer keeps one more or fewer at most. One that is replaced is one
    removed and one added, so that what is kept differs by two: a group of two costs twice the epsilon.
    [thinned.2] Rejection sampling: a record x of weight w is drawn in proportion to p(x) / w and kept with w / W, so in
    proportion to p(x). Weights above W count as W.
Needs
    A public largest weight W, and that the inner mechanism has enough records: about n times the mean weight over W.
Accuracy
    That of the inner mechanism on so many records: weights that vary much cost much.
Source
    Von Neumann 1951 for rejection sampling; the coins that stay with their records are ours.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.privacy.declaration import Columns, Public
from discreet.privacy.exact import Number, exact, is_number, show
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Approximate, Loss
from discreet.privacy.mechanism import Mechanism, Randomness, promised
from discreet.privacy.release import Release
from discreet.statistics.survey_design import floats, listed

PEOPLE: Final = " of the population that the weights stand for, people drawn one by one"
MIX: Final = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB), np.uint64(0x9E3779B97F4A7C15))
Words = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Thinned:
    """A mechanism for one column of numbers, on people who count by their weights. Rows are values and weights."""

    epsilon: Number
    inner: Mechanism[Any]  # under ADD_OR_REMOVE [thinned.1]
    largest: float
    neighbours: Neighbours = Neighbours.ADD_OR_REMOVE
    unit: str = "row"

    def __post_init__(self) -> None:
        inner = self.inner.guarantee
        cost = (2 if self.neighbours.size_is_public else 1) * exact(inner.epsilon)  # [thinned.1]
        if inner.neighbours.size_is_public or inner.delta or cost > exact(self.epsilon):
            raise BadInput(
                f"the inner mechanism promises {inner}; give a pure one under ADD_OR_REMOVE, at no more than epsilon "
                f"{show(self.epsilon)}, half of it under REPLACE: how many people are kept is private"
            )

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """That of the inner mechanism, of a group of two under REPLACE. [thinned.1]"""
        return Approximate(self.epsilon, 0)

    def release(self, rows: Any, rng: Randomness) -> Release[Any]:
        """The inner release on the records that are kept."""
        table = listed(rows)
        values, weights = floats(table[:, 0]), floats(table[:, 1])
        kept = thinned(values, weights, self.largest, rng.below(2**63))  # [thinned.1]
        found = self.inner.release(values[kept], rng)  # [thinned.1]
        note = f"each person counts with a chance of their weight over {show(self.largest)}, and those who count, alike"
        spread: Any = found.spread
        if spread is not None and hasattr(spread, "about"):
            spread = replace(spread, about=spread.about.replace("the population's ", "the ") + PEOPLE)  # [thinned.2]
        history = replace(found.provenance, notes=(note, *found.provenance.notes))
        return replace(found, guarantee=self.guarantee, spread=spread, provenance=history)


def thinned(values: npt.NDArray[np.float64], weights: npt.NDArray[np.float64], largest: float, key: int) -> Any:
    """Which records are kept; equal ones have coins of their own, from the first on. [thinned.1]"""
    with np.errstate(all="ignore"):
        chance = np.where((weights > 0) & np.isfinite(weights), np.minimum(weights / largest, 1.0), 0.0)
    coin = coins((values, chance), key)
    return (coin >> np.uint64(11)).astype(np.float64) * 2.0**-53 < chance


def coins(columns: Sequence[npt.NDArray[np.float64]], key: int) -> Words:
    """A word for each record, of its entries, the key, and how many equal records come before it. [thinned.1]"""
    parts = [np.where(np.isnan(part), np.nan, part + 0.0).view(np.uint64) for part in columns]
    order = np.lexsort(parts[::-1])
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = np.any([part[order][1:] != part[order][:-1] for part in parts], axis=0)
    turn = np.empty(len(order), dtype=np.uint64)
    starts = np.flatnonzero(new)
    turn[order] = np.arange(len(order)) - np.repeat(starts, np.diff([*starts, len(order)]))
    coin = _mixed(np.uint64(key) + np.zeros_like(turn))
    for part in parts:
        coin = _mixed(coin ^ part)
    return _mixed(coin ^ _mixed(turn + MIX[2]))


def _mixed(words: Words) -> Words:
    """Every bit of a word depends on all of its bits: the finisher of SplitMix64."""
    words = words + MIX[2]
    words = (words ^ (words >> np.uint64(30))) * MIX[0]
    words = (words ^ (words >> np.uint64(27))) * MIX[1]
    found: Words = words ^ (words >> np.uint64(31))
    return found


def weighed(
    people: Public,
    make: Callable[[Public, Number], Mechanism[Any]],
    epsilon: Number,
    weights: Columns | None,
    largest_weight: float | None,
) -> Mechanism[Any]:
    """The mechanism that `make` gives for public facts and an epsilon; with weights, on those who count. [thinned.1]"""
    if weights is None:
        if largest_weight is not None:
            raise BadInput("largest_weight is of weights=, and there are none; give the column, or leave it out")
        return make(people, epsilon)
    if not is_number(largest_weight) or not 0 < float(largest_weight) < 1e300:  # type: ignore[arg-type]
        raise BadInput(
            f"largest_weight is {largest_weight!r}; give a positive number that is public and that hardly any weight "
            "exceeds: weights above count as it"
        )
    share = exact(epsilon) / 2 if people.neighbours.size_is_public else exact(epsilon)  # [thinned.1]
    inner = make(replace(people, neighbours=Neighbours.ADD_OR_REMOVE, size=None), share)
    largest = float(largest_weight)  # type: ignore[arg-type]
    return Thinned(epsilon, inner, largest, neighbours=people.neighbours, unit=people.unit)
