"""The lectures' filter: each row weighs the more, the more friends it has. Corrected.

Releases
    Nothing by itself: `friendly_weights` is a statistic of the table. `weighted_centre` releases a mean weighted by
    them.
Promise
    [FW1] Complete: if all rows are friends, all weights are 1.
    [FW2] Sound: two rows of positive weight have a common friend, or are friends; also if one row was replaced between.
    [FW3] Stable: replacing a row moves the weights by at most 3 in all, even if the row and its replacement are counted
          as two, and their sum by at most 3.
    [FW4] The weighted mean, friends within r: with W the larger of the two sums of weights and W' > 0 the other, k =
          (n - W')/(n - 1), replacing a row moves it by at most 2r min(3, 5/4 + 3k + 3/n) / W.
    [FW5] REPLACE: `weighted_centre` has the losses `test` and `mean`, and an event of probability `miss`.
Why
    N = n - 1, o_i friends among the others, w_i = 2 o_i / N - 1, cut to [0, 1].
    [FW2] w_i > 0 needs o_i > N/2. i and its friends are at least N/2 + 3/2 rows; two such sets of indices, each in its
    own table, share n + 2 - n = 2 at least, so one that is not the replaced row: a common friend, or one of the two.
    [FW3] Let a N rows be friends of the old row only, b N of the new one only. Another row's o moves by at most 1, its
    weight by 2/N; and w_1 <= (1 - 2b)+, w'_1 <= (1 - 2a)+. So w_1 + w'_1 + sum |w_i - w'_i| <= (1 - 2b)+ + (1 - 2a)+ +
    2a + 2b, which is 2 if a, b <= 1/2 and at most 3 else, a + b being at most 1.
    [FW4] Couple the two weighted laws: |m - m'| <= 2r TV by [FW2], atoms x_1, x'_1, x_2, ... With W >= W', D = W - W':
    W TV = w_1 + sum (w_i - w'_i W / W')+ <= w_1 + sum (w_i - w'_i)+ <= 3. Finer: only rows of A, friends of the old
    row only, have positive terms, say a N of them; with d = sum_A (w_i - w'_i) <= 2a and sum_A w'_i >= aN - (n - W')
    and >= 0, W TV <= w_1 + d - (D/n)(aN - (n - W')) <= w_1 + d - a D + 3k + 3/n. As D >= w_1 - w'_1 + d - 2b, the
    first three terms are at most w_1 (1 - a) + w'_1 a + 2a (1 - a) + 2ab: for a, b <= 1/2 that is 1 + 2a - 4a^2 - 2b
    (1 - 2a) <= 5/4, else at most 25/24.
    [FW5] `test` blurs the sum of weights, of sensitivity 3. Less a margin it is V <= max(W, W') but for the event
    ([FN2]), and then the other sum is at least V - 3 > 0 if V >= 5: the noise is that of `mean` for [FW4] with V and V
    - 3. The rest is the argument of [FM1] of centre.py.
Needs
    n >= 3; REPLACE, for n is read.
Accuracy
    Noise about (5/4) 2r / (W mu), and a test three times as costly as MatchCore's: the lecture's algorithm, and a
    check on the other.
Source
    Tsfadia, Cohen, Kaplan, Mansour and Stemmer 2022 (BasicFilter), as lectured; there with the ramp (c - n/2)/n, which
    is not stable, and counts that include the row itself, which for odd n is not sound between neighbours.
"""

from fractions import Fraction
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.friendly.average import Centre, Lattice
from discreet.friendly.centre import MOST, check_table
from discreet.friendly.core import Strangers, friend_counts
from discreet.friendly.grid import UNITS, Apart, Points
from discreet.friendly.matrix import Floats, Rows, in_one, matrix, take
from discreet.friendly.order import shuffled
from discreet.friendly.predicate import Predicate
from discreet.friendly.tally import check_costs, margin, noisy_count
from discreet.promise.loss import Gaussian
from discreet.promise.mechanism import Randomness

STABILITY: Final = 3  # [FW3]
LEAST: Final = 5  # [FW5]
Wholes = npt.NDArray[np.int64]


def friendly_weights(rows: Any, predicate: Predicate, *, columns: int | None = None) -> Floats:
    """The weight of each row, from 0 to 1: 1 if all others are friends, 0 if no more than half are.

    The weights tell about the rows: they must not leave without noise.

    >>> from discreet.friendly.predicate import Within
    >>> friendly_weights([0.0, 0.5, 1.0, 9.0], Within(1.0), columns=1).round(3).tolist()
    [0.333, 0.333, 0.333, 0.0]
    """
    table = in_one(matrix(rows, columns))
    return weight_units(predicate.strangers(table)) / max(1, len(table) - 1)


def weight_units(strangers: Strangers) -> Wholes:
    """The weights times n - 1: whole numbers. [FW1]"""
    others = strangers.size - 1
    return np.clip(2 * friend_counts(strangers) - others, 0, max(0, others))  # [FW2], [FW3]


def moves_at_most(weight: Fraction, size: int) -> Fraction:
    """How far a replaced row moves the weighted mean, in radii, if the larger sum of weights is so much. [FW4]"""
    missing = (size - weight + STABILITY) / (size - 1)
    return 2 * min(Fraction(3), Fraction(5, 4) + 3 * missing + Fraction(3, size)) / weight  # [FW4]


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
    """The noisy mean of at most `most` rows, weighted by friends; None if too few agree. REPLACE only. [FW5]"""
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
    weight = min(Fraction(size), (noisy - margin(test.mu, miss, STABILITY * others)) / others)  # [FW5]
    if size < 3 or weight < LEAST:
        return None
    kept = units > 0
    average = lattice.mean(points.steps[kept], units[kept])
    found = lattice.blurred(average, UNITS * moves_at_most(weight, size), radius=radius, cost=mean, rng=rng)
    return Centre(found.point, found.deviation, int(weight))
