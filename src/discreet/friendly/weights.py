"""Any private algorithm, run on rows that are friends with each other; and the lectures' filter, which weighs each row
by its friends, corrected.

Releases
    What the algorithm releases, from the rows that survive MatchCore.
    Nothing by itself: `friendly_weights` is a statistic of the table. `weighted_centre` releases a mean weighted by
    them.
    What an algorithm releases from the rows that were kept.
Promise
    [weights.8] If the algorithm has a loss for adding or removing a row of a table in which every two rows are
          friends, the same loss holds for any table under ADD_OR_REMOVE, and that of a group of two under REPLACE: for
          (epsilon, delta) that is (2 epsilon, (1 + e^epsilon) delta).
    [weights.1] Complete: if all rows are friends, all weights are 1.
    [weights.2] Sound: two rows of positive weight have a common friend, or are friends; also if one row was replaced
    between.
    [weights.3] Stable: replacing a row moves the weights by at most 3 in all, even if the row and its replacement are
          counted as two, and their sum by at most 3.
    [weights.4] The weighted mean, friends within r: with W the larger of the two sums of weights and W' > 0 the other,
          k = (n - W')/(n - 1), replacing a row moves it by at most 2r min(3, 5/4 + 3k + 3/n) / W.
    [weights.5] REPLACE: `weighted_centre` has the losses `test` and `mean`, and an event of probability `miss`.
    [weights.6] If the algorithm is (epsilon, delta) for adding or removing a row of a table in which every two rows
          have a common friend, this is (g, c delta e^g), g = c (e^epsilon - 1): c = 3 under REPLACE, c = 2 under
          ADD_OR_REMOVE.
    [weights.7] ADD_OR_REMOVE: adding a row moves all weights together by at most 2, its own counted.
Why
    [weights.8] Under ADD_OR_REMOVE survivors change by exactly one row ([core.5]), and every two are friends
    ([core.4]). Under REPLACE go from S to the rows in both, to S': by [core.6] each way one row in all, or two in one
    way and none in the other; all these are subsets of S or of S', so friends. Given the shuffle or the key rows are in
    the same order, but for the one: [core.1], [sample.1]. Survivors that are not finite are left out, each by itself,
    which moves nobody else.
    N = n - 1, o_i friends among the others, w_i = 2 o_i / N - 1, cut to [0, 1].
    [weights.2] w_i > 0 needs o_i > N/2. i and its friends are at least N/2 + 3/2 rows; two such sets of indices, each
    in its own table, share n + 2 - n = 2 at least, so one that is not the replaced row: a common friend, or one of the
    two.
    [weights.3] Let a N rows be friends of the old row only, b N of the new one only. Another row's o moves by at most
    1, its weight by 2/N; and w_1 <= (1 - 2b)+, w'_1 <= (1 - 2a)+. So w_1 + w'_1 + sum |w_i - w'_i| <= (1 - 2b)+ + (1 -
    2a)+ + 2a + 2b, which is 2 if a, b <= 1/2 and at most 3 else, a + b being at most 1.
    [weights.4] Couple the two weightings: |m - m'| <= 2r TV by [weights.2], atoms x_1, x'_1, x_2, ... With W >= W', D =
    W - W': W TV = w_1 + sum (w_i - w'_i W / W')+ <= w_1 + sum (w_i - w'_i)+ <= 3. Finer: only rows of A, friends of the
    old row only, have positive terms, say a N of them; with d = sum_A (w_i - w'_i) <= 2a and sum_A w'_i >= aN - (n -
    W') and >= 0, W TV <= w_1 + d - (D/n)(aN - (n - W')) <= w_1 + d - a D + 3k + 3/n. As D >= w_1 - w'_1 + d - 2b, the
    first three terms are at most w_1 (1 - a) + w'_1 a + 2a (1 - a) + 2ab: for a, b <= 1/2 that is 1 + 2a - 4a^2 - 2b (1
    - 2a) <= 5/4, else at most 25/24.
    [weights.5] `test` blurs the sum of weights, of sensitivity 3. Less a margin it is V <= max(W, W') but for the event
    ([average.6]), and then the other sum is at least V - 3 > 0 if V >= 5: the noise is that of `mean` for
    [weights.4] with V and V - 3. The rest is the argument of [find_centre.1].
    [weights.6] Go from one table's weights to the other's one row at a time; a replaced row goes to weight 0, its
    replacement comes from it. In each step w becomes w', and P_w = w P_1 + (1 - w) P_0, with the row and without. For
    every event P_w - P_w' = (w - w')(P_1 - P_0) <= |w - w'| ((e^eps - 1) P_w' + delta): if the factor w - w' is
    positive bound by P_0, which is at most P_w' where P_1 >= P_0, else by P_1. So each step costs the factor exp(|w -
    w'| (e^eps - 1)) and the term |w - w'| delta. All moves together are at most 3 ([weights.3]) or 2 ([weights.7]).
    Rows of positive weight in either table have common friends: [weights.2], and under ADD_OR_REMOVE two sets of more
    than n/2 and (n + 1)/2 of n + 1 rows meet. The coins must stay secret: the promise is for their average, not for
    each way they can fall.
    [weights.7] w_i = 2 c_i / n - 1 cut to [0, 1], c_i friends and the row itself, n >= 2; no weight where n < 2. A new
    row of F friends: each of them goes from 2c/n to 2(c + 1)/(n + 1), up by 2(n - c)/(n(n + 1)), which while w > 0 (c
    >= n/2) is at most 1/(n + 1), or by less to get above 0; each other falls by 2c/(n(n + 1)) <= 2/(n + 1). The new one
    weighs (2F + 1 - n)+/(n + 1). Times n + 1 that is F + 2(n - F) + (2F + 1 - n)+ at most: 2n - F, or n + 1 + F <= 2n +
    1. From one row to two it is 2 at most, the weight of two friends.
Needs
    An algorithm that promises for ADD_OR_REMOVE, and reads no number of rows.
    n >= 3; REPLACE, for n is read.
    A symmetric predicate. An algorithm that promises for ADD_OR_REMOVE.
Accuracy
    The algorithm's own; on rows that all are friends nothing is lost.
    Noise about (5/4) 2r / (W mu), and a test three times as costly as MatchCore's: the lecture's algorithm, and a
    check on the other.
    g is 3 epsilon and more, where `friendly` costs 2 epsilon, or epsilon: this variant is here because it was lectured.
Source
    Tsfadia, Cohen, Kaplan, Mansour and Stemmer 2022 (FriendlyCore paradigm), where a random filter costs a factor more.
    Tsfadia, Cohen, Kaplan, Mansour and Stemmer 2022 (BasicFilter), as lectured; there with the ramp (c - n/2)/n, which
    is not stable, and counts that include the row itself, which for odd n is not sound between neighbours.
    Tsfadia, Cohen, Kaplan, Mansour and Stemmer 2022; the constant is worked out above.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from discreet.accounting.currency import pure
from discreet.errors import BadInput
from discreet.friendly.average import Centre, Lattice, check_costs, margin, noisy_count
from discreet.friendly.core import UNITS, Apart, Points, Predicate, Strangers, friend_counts, match_core, shuffled
from discreet.friendly.find_centre import MOST, check_table
from discreet.friendly.sample import Places
from discreet.privacy.exact import exact, float_above
from discreet.privacy.guarantee import Guarantee, Neighbours
from discreet.privacy.loss import Approximate, Gaussian, Loss, Sampled, atoms, for_group
from discreet.privacy.mechanism import Mechanism, Randomness
from discreet.privacy.release import Release
from discreet.tables.matrix import Floats, Rows, in_one, matrix, take

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Friendly(Generic[T]):
    """An algorithm on the core of a table: see `friendly`."""

    algorithm: Mechanism[T]
    predicate: Predicate
    neighbours: Neighbours = Neighbours.REPLACE
    columns: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "neighbours", Neighbours(self.neighbours))
        check_algorithm(self.algorithm)

    @property
    def guarantee(self) -> Guarantee:
        """The algorithm's; for a group of two where rows are replaced. [weights.8]"""
        inner = self.algorithm.guarantee
        promised = inner.for_group(2) if self.neighbours is Neighbours.REPLACE else inner  # [weights.8]
        return replace(promised, neighbours=self.neighbours)

    @property
    def loss(self) -> Loss:
        """The algorithm's; for a group of two where rows are replaced. [weights.8]"""
        inner = self.algorithm.loss
        return for_group(inner, 2) if self.neighbours is Neighbours.REPLACE else inner  # [weights.8]

    def release(self, rows: Any, rng: Randomness) -> Release[T]:
        """What the algorithm releases from the core."""
        table = matrix(rows, self.columns)
        public = self.neighbours.size_is_public
        ordered = take(table, rng.permutation(table.size)) if public else Places(table, rng).below(1)  # [weights.8]
        core = match_core(self.predicate.strangers(ordered))
        kept = ordered[core.survivors]
        kept = kept[np.isfinite(kept).all(axis=1)]  # [weights.8]
        inner = self.algorithm.release(kept[:, 0] if kept.shape[1] == 1 else kept, rng)  # one column as a column
        history = replace(inner.provenance, mechanism=f"friendly {inner.provenance.mechanism}")
        return replace(inner, guarantee=self.guarantee, provenance=history)


def friendly(
    algorithm: Mechanism[T],
    predicate: Predicate,
    *,
    neighbours: Neighbours = Neighbours.REPLACE,
    columns: int | None = None,
) -> Friendly[T]:
    """Run an algorithm on the rows that are friends with each other.

    It need keep its promise only for tables of friends, under ADD_OR_REMOVE; the result keeps it for all tables.
    """
    return Friendly(algorithm, predicate, neighbours, columns)


def check_algorithm(algorithm: Mechanism[Any]) -> None:
    """One that hides whether a row is there; a sample's loss is for fresh samples of people, not of cores."""
    if algorithm.guarantee.neighbours is not Neighbours.ADD_OR_REMOVE:
        raise BadInput("the algorithm promises for replaced rows; give one that promises for ADD_OR_REMOVE")
    if any(isinstance(part, Sampled) for part in atoms(algorithm.loss)):
        raise BadInput("the algorithm samples people by itself; give one that reads all its rows")


STABILITY: Final = 3  # [weights.3]
LEAST: Final = 5  # [weights.5]
Wholes = npt.NDArray[np.int64]


def friendly_weights(rows: Any, predicate: Predicate, *, columns: int | None = None) -> Floats:
    """The weight of each row, from 0 to 1: 1 if all others are friends, 0 if no more than half are.

    The weights tell about the rows: they must not leave without noise.

    >>> from discreet.friendly.core import Within
    >>> friendly_weights([0.0, 0.5, 1.0, 9.0], Within(1.0), columns=1).round(3).tolist()
    [0.333, 0.333, 0.333, 0.0]
    """
    table = in_one(matrix(rows, columns))
    return weight_units(predicate.strangers(table)) / max(1, len(table) - 1)


def weight_units(strangers: Strangers) -> Wholes:
    """The weights times n - 1: whole numbers. [weights.1]"""
    others = strangers.size - 1
    return np.clip(2 * friend_counts(strangers) - others, 0, max(0, others))  # [weights.2], [weights.3]


def moves_at_most(weight: Fraction, size: int) -> Fraction:
    """How far a replaced row moves the weighted mean, in radii, if the larger sum of weights is so much. [weights.4]"""
    missing = (size - weight + STABILITY) / (size - 1)
    return 2 * min(Fraction(3), Fraction(5, 4) + 3 * missing + Fraction(3, size)) / weight  # [weights.4]


def weighted_centre(
    rows: Floats | Rows,
    radius: float,
    *,
    test: Gaussian,
    mean: Gaussian,
    miss: float,
    rng: Randomness,
    most: int = MOST,
) -> Centre | None:
    """The noisy mean of at most `most` rows, weighted by friends; None if too few agree. REPLACE only. [weights.5]"""
    table = check_table(rows, radius)
    check_costs(test, mean, miss)
    if not radius:
        raise BadInput("the radius is 0; weights need a positive one; use method='match'")
    looked = take(table, shuffled(table.size, most, rng))
    size = len(looked)
    lattice = Lattice.for_mean(table.width, Fraction(2 * UNITS, max(1, size)), mean.mu)
    points = Points.of(looked, radius, lattice.reach)
    units = weight_units(Apart(points))
    others = max(1, size - 1)
    noisy = noisy_count(int(units.sum()), test, rng, sensitivity=STABILITY * others)
    weight = min(Fraction(size), (noisy - margin(test.mu, miss, STABILITY * others)) / others)  # [weights.5]
    if size < 3 or weight < LEAST:
        return None
    kept = units > 0
    average = lattice.mean(points.steps[kept], units[kept])
    found = lattice.blurred(average, UNITS * moves_at_most(weight, size), radius=radius, cost=mean, rng=rng)
    return Centre(found.point, found.deviation, int(weight))


UP = 1 + 1e-12  # above the rounding of the floats


@dataclass(frozen=True, slots=True)
class Retained(Generic[T]):
    """An algorithm on rows that were kept with probability equal to their weight."""

    algorithm: Mechanism[T]
    predicate: Predicate
    neighbours: Neighbours = Neighbours.REPLACE
    columns: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "neighbours", Neighbours(self.neighbours))
        check_algorithm(self.algorithm)
        if not math.isfinite(float(self.loss.epsilon)) or float(self.loss.delta) >= 1:
            raise BadInput("the algorithm's epsilon is too large for this variant to promise anything; use friendly()")

    @property
    def loss(self) -> Approximate:
        """(g, c delta e^g) of the algorithm's own promise. [weights.6]"""
        moved = STABILITY if self.neighbours is Neighbours.REPLACE else 2  # [weights.7]
        inner = pure(self.algorithm.loss)
        promised = self.algorithm.guarantee
        eps, delta = inner if inner is not None else (exact(promised.epsilon), exact(promised.delta))
        if eps > 5:  # e^5 is 148
            return Approximate(1e300, 1)
        size = moved * math.expm1(float(eps)) * UP
        return Approximate(size, min(1.0, moved * float_above(delta) * math.exp(min(size, 700.0)) * UP))  # [weights.6]

    @property
    def guarantee(self) -> Guarantee:
        """What the loss says."""
        return Guarantee(self.loss.epsilon, self.loss.delta, self.neighbours, self.algorithm.guarantee.unit)

    def release(self, rows: Any, rng: Randomness) -> Release[T]:
        """What the algorithm releases from the rows that were kept."""
        table = in_one(matrix(rows, self.columns))
        units, whole = self.chances(table)
        kept = [place for place, unit in enumerate(units.tolist()) if rng.below(whole) < unit]  # [weights.6]
        inner = self.algorithm.release(table[kept, 0] if table.shape[1] == 1 else table[kept], rng)
        history = replace(inner.provenance, mechanism=f"retained {inner.provenance.mechanism}")
        return replace(inner, guarantee=self.guarantee, provenance=history)

    def chances(self, table: Any) -> tuple[Wholes, int]:
        """The chance of each row as a number of parts of a whole."""
        strangers = self.predicate.strangers(table)
        if self.neighbours is Neighbours.REPLACE:
            return weight_units(strangers), max(1, len(table) - 1)
        size = len(table)
        if size < 2:
            return np.zeros(size, dtype=np.int64), 1  # [weights.7]
        return np.clip(2 * (friend_counts(strangers) + 1) - size, 0, size), size  # [weights.7]
