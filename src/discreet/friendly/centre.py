"""A point near most of the rows, wherever they are: no bounds, no guess of the centre.

Releases
    A point, the standard deviation of the noise on each of its coordinates, and a lower bound on the number of rows it
    is the mean of; or nothing but that there are too few.
Promise
    [FM1] REPLACE: the losses `test` and `mean`, and an event of probability `miss`: Composed((test, mean,
          Approximate(0, miss))).
    [FM2] ADD_OR_REMOVE: the same.
    [FM3] What is blurred are whole numbers, within the sensitivity claimed, unless the event happens. Whatever happens,
          nothing is raised.
Why
    Let S survive MatchCore, M pairs dropped, b = min(M, M') on two neighbouring tables. By [FC2] survivors are within a
    radius r of each other.
    [FM1] The mean of the survivors moves by at most 2r / (n - 2b) if n - 2b >= 3. By [FC4] either S = I + {p} and
    S' = I + {q} with as many rows; some t of I is a friend of both, so |p - q| <= 2r, over n - 2b rows. Or, say,
    S = S' + {p, q}; p and q are friends of all of S', so within r of its mean m', and the mean of S, of n - 2b rows, is
    ((p - m') + (q - m')) / (n - 2b) from m'. `test` blurs M, of sensitivity 1 by [FC4]; a margin is added that the noise
    falls short of with probability `miss` at most, and the result rounded down to a whole number B. So B >= M >= b
    but for that event; and B is a function of what was released. Where it is too large for `least`, all ends. For each
    B >= b the mean's noise is that of `mean` at 2r / (n - 2B), no less than its sensitivity. So for any set E of
    outcomes (B, point), and G those with B >= b: P(E) <= miss + P(E and G), and E and G is a set of outcomes of a
    composition of `test` and `mean`: at most e^eps P'(E and G) + delta(eps) by their losses.
    [FM2] By [FC3] |S| moves by 1, and S = S' + {z} has a mean within r / |S| of that of S' if |S| >= 2. `test` pays for
    the noisy number of rows, which sets how many are looked at ([FO2]), and for |S|: mu^2/16 and at most 15 mu^2/16. From
    |S| a margin is taken away and the result rounded up to B: B <= |S| but for the event, and the mean's noise is that
    of r / B.
    [FM3] Points are whole numbers of units ([FG1]), friends exactly ([FG2]). The sum of survivors about the first is an
    exact int64; their mean is rounded to 2^-k units, k public: half a step in each coordinate on both sides, hence
    sqrt(d) steps more. If |S| >= 3 (ADD_OR_REMOVE: 2) all of it are valid, and so is S' ([FM1], [FM2]). Outside of the
    event |S| is at least 1; in it an empty S stands for 0. For radius 0 friends are equal rows, the mean is one of them,
    and it does not move at all: it leaves without noise.
    The margin: a discrete Gaussian Z has P(Z >= m) <= P(N >= m - 1) (Canonne, Kamath and Steinke, Proposition 25).
Needs
    n a few times 2 z / mu, z the normal quantile of `miss` and mu that of `test`; rows that are no further from 0 than
    about 2^28 radii. A radius that hardly any pair of well-behaved rows exceeds.
Accuracy
    The noise on each coordinate has a standard deviation of 2r / (survivors mu), under ADD_OR_REMOVE half of that; up to a
    third of the rows may lie anywhere.
Source
    Tsfadia, Cohen, Kaplan, Mansour and Stemmer 2022 for the plan: filter, count, average. The filter is core.py's.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.friendly.core import Core, match_core
from discreet.friendly.grid import UNITS, Apart, Points, Unlike
from discreet.friendly.order import prioritised, shuffled
from discreet.noise.lattice import Grid, slack
from discreet.promise.exact import Number, exact, is_number, root_above
from discreet.promise.loss import Gaussian
from discreet.promise.mechanism import Randomness
from discreet.promise.neighbours import Neighbours

MOST: Final = 4096  # rows that are compared with each other
SHARE: Final = Fraction(1, 10)  # of the rows that must survive by default
FEW: Final = 10  # that must survive where their number is private
FINE: Final = 22  # the noise on the mean is at least 2^22 sqrt(d) steps
SLACK: Final = slack(1, 2**FINE)  # which both `test` and `mean` must allow for
STRONGEST: Final = 64  # the largest mu
WEAKEST: Final = Fraction(1, 10**6)
PEOPLE: Final = 2**31
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Centre:
    """A noisy mean of rows that agree with each other; all of it may be shown."""

    point: Floats
    deviation: float  # of the noise on each coordinate
    survivors: int  # at least so many rows, but for the event


def find_centre(
    rows: Floats,
    radius: float,
    *,
    test: Gaussian,
    mean: Gaussian,
    miss: float,
    neighbours: Neighbours,
    rng: Randomness,
    least: int | None = None,
) -> Centre | None:
    """The noisy mean of rows within `radius` of each other, from at most 4,096 of them; None if too few agree.

    The cost is `compose(test, mean, Approximate(0, miss))`. Both noises need a slack of SLACK at least.
    """
    check_centre(rows, radius, test, mean, miss, least, neighbours)
    chosen, size = _chosen(rows, test, neighbours, rng)
    looked = rows[chosen]
    lattice = Lattice.for_mean(rows.shape[1], MOST if size is None else size, mean.mu, neighbours)
    points = Points.of(looked, radius, lattice.reach) if radius else None
    core = match_core(Apart(points) if points is not None else Unlike(looked))
    count = _least_survivors(core, test, miss, size, rng)
    if least is None:
        least = FEW if size is None else max(3, math.ceil(size * SHARE))
    if count < least:  # [FM1], [FM2]
        return None
    if points is None:
        return Centre(_common(looked, core), 0.0, count)  # [FM3]
    total = lattice.mean(points, core)
    moved = Fraction((2 if size is not None else 1) * UNITS << lattice.bits, min(count, lattice.most))  # [FM1], [FM2]
    sensitivity = moved + root_above(rows.shape[1])  # [FM3]
    blurred = rng.blur(total, sensitivity=sensitivity, cost=mean)
    step = exact(radius) / (UNITS << lattice.bits)
    deviation = float(math.ceil(sensitivity / exact(mean.mu)) * step)
    return Centre(np.asarray(blurred, dtype=np.float64) * float(step), deviation, count)


def check_centre(
    rows: Floats,
    radius: object,
    test: Gaussian,
    mean: Gaussian,
    miss: object,
    least: int | None,
    neighbours: Neighbours,
) -> None:
    """Refuse what cannot be promised, by public numbers alone."""
    if rows.ndim != 2 or not 1 <= rows.shape[1] <= 2**20:
        raise BadInput(f"the rows have {rows.ndim} dimensions; give a table with one column or more")
    if not is_number(radius) or not (radius == 0 or 1e-290 < radius < 1e290):  # type: ignore[operator]
        raise BadInput(f"the radius is {radius!r}; give 0 or a positive number, no less than 1e-290")
    if not is_number(miss) or not 1e-300 < miss < 0.5:  # type: ignore[operator]
        raise BadInput(f"miss is {miss!r}; give a probability above 0 and below 1/2")
    for name, cost in (("test", test), ("mean", mean)):
        if not WEAKEST <= cost.mu <= STRONGEST:
            raise BadInput(f"{name} has mu {float(cost.mu):.3g}; it must lie between 1e-6 and {STRONGEST}")
        if exact(cost.slack) < SLACK:
            raise BadInput(f"{name} has a slack of {float(cost.slack):.3g}; allow for {float(SLACK):.3g} (SLACK)")
    fewest = 3 if neighbours.size_is_public else 2
    if least is not None and least < fewest:  # [FM1], [FM2]
        raise BadInput(f"least is {least!r}; the mean of fewer than {fewest} rows can move without limit")


def _chosen(
    rows: Floats, test: Gaussian, neighbours: Neighbours, rng: Randomness
) -> tuple[npt.NDArray[np.int64], int | None]:
    """Which rows are looked at, in order, and how many they are where that is public."""
    if neighbours.size_is_public:
        chosen = shuffled(len(rows), MOST, rng)
        return chosen, len(chosen)
    cost = Gaussian(exact(test.mu) / 4, exact(test.slack) / 2)  # [FM2]
    noisy = _noisy_count(len(rows), cost, rng)
    rate = min(Fraction(1), MOST / max(noisy, Fraction(1)))
    return prioritised(rows, rate, rng), None


def _least_survivors(core: Core, test: Gaussian, miss: float, size: int | None, rng: Randomness) -> int:
    """A lower bound on the survivors (of the better of two neighbours) that fails with probability `miss`."""
    if size is not None:
        dropped = math.floor(_noisy_count(core.pairs, test, rng) + margin(test.mu, miss))  # [FM1]
        return size - 2 * max(0, dropped)
    rest = Gaussian(root_below(exact(test.mu) ** 2 * Fraction(15, 16)), exact(test.slack) / 2)  # [FM2]
    return math.ceil(_noisy_count(len(core.survivors), rest, rng) - margin(rest.mu, miss))  # [FM2]


def _noisy_count(count: int, cost: Gaussian, rng: Randomness) -> Fraction:
    """A number of sensitivity 1 plus noise, in 2^30 steps or so a standard deviation."""
    grid = _count_grid(cost.mu)
    one = grid.steps(1)
    blurred: int = rng.blur(min(count, PEOPLE) * one, sensitivity=one, cost=cost)
    return blurred * grid.step


def _count_grid(mu: Number) -> Grid:
    return Grid(min(0, Grid.for_sigma(1 / exact(mu), PEOPLE).exponent))


def margin(mu: Number, miss: float) -> Fraction:
    """What noise of standard deviation 1 / mu exceeds with probability at most `miss`. [FM3]"""
    grid = _count_grid(mu)
    quantile = -NormalDist().inv_cdf(miss) * (1 + 1e-9)
    return (exact(quantile) * math.ceil(grid.steps(1) / exact(mu)) + 1) * grid.step


def root_below(number: Fraction) -> Fraction:
    """A rational just below the square root."""
    return Fraction(math.isqrt(math.floor(number * 4**60)), 2**60)


def _common(rows: Floats, core: Core) -> Floats:
    """The row that all survivors equal. [FM3]"""
    finite = core.survivors[np.isfinite(rows[core.survivors]).all(axis=1)]
    return rows[finite[0]] + 0.0 if len(finite) else np.zeros(rows.shape[1])


@dataclass(frozen=True, slots=True)
class Lattice:
    """The steps in which a mean leaves: 2^bits a unit, for rows at most 2^reach units from 0; all public."""

    bits: int
    reach: int
    most: int

    @classmethod
    def for_mean(cls, columns: int, most: int, mu: Number, neighbours: Neighbours, spread: int = 1) -> "Lattice":
        """So fine that noise for `most` rows is 2^22 sqrt(columns) steps or more."""
        units = (2 if neighbours.size_is_public else 1) * spread * UNITS
        needed = 2**FINE * root_above(columns) * max(1, most) * exact(mu) / units
        bits = max(0, math.ceil(math.log2(needed)))
        return cls(bits, min(52, 60 - bits), max(1, most))

    def mean(self, points: Points, core: Core) -> Any:
        """The exact mean of the survivors, rounded to the nearest step. [FM3]"""
        kept = core.survivors[points.valid[core.survivors]]
        if not len(kept):
            return np.zeros(points.steps.shape[1], dtype=np.int64)
        first = points.steps[kept[0]]
        total, size = (points.steps[kept] - first).sum(axis=0), len(kept)
        scaled = [((part << self.bits) * 2 + size) // (2 * size) for part in total.tolist()]
        return (first << self.bits) + np.array(scaled, dtype=np.int64)
