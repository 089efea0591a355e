"""The mean of data with public bounds, and how near to the least error that leaves it.

Releases
    The noisy sums of u and of u^2 over all records, u = clip((x - c) / R, +-1), c the middle of public bounds and R
    half their length; under ADD_OR_REMOVE they tell the number of records too.
Promise
    [bounded_mean.1] Pure epsilon under both relations.
    [bounded_mean.2] The interval is for the population's mean of values cut to the bounds, by the normal approximation.
Why
    [bounded_mean.1] [clip.4]: the sums for the price of one. Cutting the estimate to the bounds is post-processing.
    [bounded_mean.2] [mean.4], without a tail.
Needs
    Nothing.
Accuracy
    Noise of scale (high - low) / (n epsilon) under REPLACE; under ADD_OR_REMOVE of sqrt(1/2 + 3/4 m^2) of that, m how
    far the mean is from the middle to a bound. A record moves the mean by up to (1 + |m|) (high - low) / 2n: Laplace
    noise of that size would do if n and m were known, at the middle 2^(-1/2) of ours. But n and m cost epsilon too, and
    a sum about a point p is off by (m - p) dn / n: by m / (e n) where p is the middle, by a product of two errors where
    it was released. Errors over the plain mean's at n = 1,000, epsilon = 0.1, bounds 6 sd off the middle (each row but
    the last is computed by a test):

        sd from the mean to the middle               0    1    2    3
        n and m known                               2.9  3.3  3.7  4.1
        ours                                        3.9  4.0  4.2  4.6
        n for 1/10 of epsilon, sum about the middle 3.3  6.6  12   16
        n for 1/4, sum about the middle             3.7  4.1  5.3  6.7
        n and p for 3/10, sum about p               4.2  4.5  5.0  5.5
        hexagonal noise, and no squares             3.6  3.7  4.1  4.7

    So 2.9 is for those who know n, or that the mean is at the middle. Two steps gain where n epsilon is 1,000 and noise
    as large beside sampling, as at n = 100,000 and epsilon = 0.01: 3.4, 3.8, 4.3, 4.8 there with 1/10 for the first.
Source
    The clipped mean of the lectures; the sums in Bernstein's basis are ours ([clip.4]).
"""

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

from discreet.accounting.allocation import Allocation, Share
from discreet.privacy.exact import Number, show
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.loss import Loss
from discreet.privacy.mechanism import Randomness, promised
from discreet.privacy.release import Provenance, Release
from discreet.stages.clip import charged
from discreet.stages.declared import check_bounds
from discreet.statistics.mean import clipped_mean_of
from discreet.tables.entries import long_numbers, public_size


@dataclass(frozen=True, slots=True)
class BoundedMean:
    """The mean of data with public bounds; values outside count as the nearer bound, missing ones as the middle.

    >>> from discreet.noise.randomness import Seeded
    >>> release = BoundedMean(0, 100, epsilon=1.0).release([float(k % 100) for k in range(2000)], Seeded(1))
    >>> 45 < release.value < 54
    True
    """

    low: float
    high: float
    epsilon: Number
    _: KW_ONLY
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        check_bounds((self.low, self.high))

    guarantee = promised

    @property
    def stages(self) -> Allocation:
        """The mean, the square for the interval and, where that is private, the number of records. [bounded_mean.1]"""
        return Allocation.of(self.epsilon).split(mean=Share())  # [bounded_mean.1]

    @property
    def loss(self) -> Loss:
        """Every draw."""
        return charged(self.stages.loss)  # [bounded_mean.1]

    def release(self, rows: Any, rng: Randomness) -> Release[float]:
        """The estimate and its interval."""
        values, stages = long_numbers(rows), self.stages
        size = public_size(values, self.neighbours)
        low, high = float(self.low), float(self.high)
        where: dict[str, Any] = {"centre": low / 2 + high / 2, "radius": high / 2 - low / 2}
        spread = clipped_mean_of(
            values, stages, size=size, neighbours=self.neighbours, rng=rng, **where
        )  # [bounded_mean.1]
        spread = replace(spread, estimate=min(max(spread.estimate, low), high), low=low, high=high)  # [bounded_mean.2]
        shown = {"bounds": (low, high), "neighbours": self.neighbours, "rows": size, "costs": stages.shown}
        shown |= {"counted": round(spread.freedom + 1)} if size is None else {}
        note = f"a missing entry, if kept, counts as {show(low / 2 + high / 2)}, the middle of the bounds"
        provenance = Provenance("BoundedMean", shown, rng.secure, notes=(note,))
        return Release(self.guarantee, provenance, spread.estimate, spread=spread, name="mean")
