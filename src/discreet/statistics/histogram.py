"""A private histogram on public bins.

Releases
    A noisy count for every public bin, and one for everything outside them.
Promise
    [histogram.1] Laplace noise: pure epsilon. One person moves the counts by at most 2 in L1 under REPLACE, 1 under
         ADD_OR_REMOVE.
    [histogram.2] Gaussian noise: loss Gaussian(mu, slack), sensitivity sqrt 2 under REPLACE, 1 under ADD_OR_REMOVE, in
         L2; calibrated to (epsilon, delta), or to a given mu.
    [histogram.3] The band holds for all bins at once with at least its stated probability.
Why
    [histogram.1] Each entry is in exactly one bin ([bins.1]): replacing it lowers one count and raises
    another; adding it raises one. Then [additive.1].
    [histogram.2] The same move in L2. Counts are scaled to a grid of at least 2^30 steps in sigma, then [additive.2];
    rounding back to whole numbers is post-processing.
    [histogram.3] The noises are independent and identical: P(all |Z| <= t) = P(|Z| <= t)^K, K the number of bins with
    `other`; exact for Laplace. For Gaussian noise half a unit is added for the rounding and the slack taken off the
    confidence.
Needs
    Public bins. Under ADD_OR_REMOVE the data may be empty.
Accuracy
    All K counts within (2/epsilon) ln(K / b) with probability 1 - b under REPLACE, half that under ADD_OR_REMOVE.
Source
    Dwork, McSherry, Nissim and Smith 2006. The lecture's scale 1/epsilon holds under ADD_OR_REMOVE only.
"""

from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from discreet.accounting.calibrate import gaussian
from discreet.errors import BadInput
from discreet.noise.distributions import GaussianLaw, LaplaceLaw, laplace_scale
from discreet.noise.lattice import Grid, slack
from discreet.privacy.exact import Number, exact, float_above, root_above
from discreet.privacy.guarantee import Guarantee, check_budget
from discreet.privacy.intervals import Interval
from discreet.privacy.loss import Approximate, Gaussian, Laplace
from discreet.privacy.mechanism import Randomness
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.provenance import Provenance
from discreet.privacy.release import Release
from discreet.privacy.values import Counts
from discreet.statistics.bins import Bins, counts
from discreet.tables.entries import long_column, public_size

MOST_PEOPLE: Final = 2**31  # a public ceiling that keeps Gaussian counts exact
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts on public bins."""

    bins: Bins
    epsilon: Number
    delta: Number = 0.0
    _: KW_ONLY
    noise: Literal["laplace", "gaussian"] = "laplace"
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"

    def __post_init__(self) -> None:
        check_budget(self.epsilon, self.delta, 1)
        if self.noise not in ("laplace", "gaussian"):
            raise BadInput(f"noise is {self.noise!r}; give 'laplace' (pure) or 'gaussian' (needs delta > 0)")
        if self.noise == "gaussian" and not self.delta:
            raise BadInput("noise is 'gaussian' and delta is 0; give delta > 0 (about 1e-6), or noise='laplace'")

    @property
    def guarantee(self) -> Guarantee:
        """Pure epsilon with Laplace noise, whatever delta was allowed; (epsilon, delta) with Gaussian noise."""
        delta = self.delta if self.noise == "gaussian" else 0.0
        return Guarantee(self.epsilon, delta, self.neighbours, self.unit)

    @property
    def loss(self) -> Approximate | Gaussian:
        """One draw for all bins together: with Laplace noise pure epsilon ([additive.1])."""
        if self.noise == "laplace":
            return Approximate(self.epsilon, 0)
        roughly = gaussian(float(self.epsilon), float(self.delta))
        steps = int(self.sensitivity / exact(roughly) / self._grid(roughly).step)
        off = slack(len(self.bins) + 1, steps)  # the final mu is smaller, so there are more steps and less slack
        return Gaussian(gaussian(float(self.epsilon), float(self.delta), slack=float_above(off)), off)  # [histogram.2]

    def _grid(self, mu: Number) -> Grid:
        """Whole people are whole steps."""
        return Grid(min(0, Grid.for_sigma(self.sensitivity / exact(mu), MOST_PEOPLE).exponent))

    @property
    def sensitivity(self) -> Fraction:
        """How far one person moves the counts: L1 for Laplace, L2 for Gaussian noise."""
        moved = 2 if self.neighbours is Neighbours.REPLACE else 1  # [histogram.1]
        return Fraction(moved) if self.noise == "laplace" else root_above(moved)  # [histogram.2]

    def release(self, rows: Any, rng: Randomness) -> Release[Counts]:
        """The noisy counts."""
        values = long_column(rows)
        size = public_size(values, self.neighbours)
        check_budget(self.epsilon, self.delta, size)
        loss, exact_counts = self.loss, counts(self.bins, values)
        if isinstance(loss, Approximate):
            noisy = rng.blur(exact_counts, sensitivity=self.sensitivity, cost=Laplace(self.epsilon))  # [histogram.1]
            spread = Band(noisy, size, LaplaceLaw(laplace_scale(self.sensitivity, self.epsilon)))
        else:
            grid = self._grid(loss.mu)
            steps = np.minimum(exact_counts, MOST_PEOPLE) * grid.steps(1)
            blurred = rng.blur(steps, sensitivity=self.sensitivity * grid.steps(1), cost=loss)  # [histogram.2]
            sigma = float(self.sensitivity / exact(loss.mu))
            spread = Band(np.rint(grid.value(blurred)).astype(np.int64), size, GaussianLaw(sigma))
        shown = spread.clip(spread.noisy)
        parameters = {"bins": self.bins.names, "noise": self.noise, "neighbours": self.neighbours, "rows": size}
        return Release(
            self.guarantee,
            Provenance("Histogram", parameters, rng.secure),
            Counts(self.bins.names, shown[:-1], other=int(shown[-1])),
            spread=spread,
            name="histogram",
        )


@dataclass(frozen=True, slots=True)
class Band:
    """Noisy counts, `other` last, the law of their noise, and the public size if there is one."""

    noisy: Numbers
    size: int | None
    law: LaplaceLaw | GaussianLaw
    sampling: None = None

    @property
    def privacy(self) -> float:
        """Standard deviation of each count's noise."""
        return self.law.sd

    def clip(self, values: Numbers) -> Numbers:
        """Within what counts can be."""
        return np.clip(values, 0, self.size)

    def interval(self, confidence: float) -> Interval:
        """A band for the counts of all bins at once. [histogram.3]"""
        radius = self.law.radius(confidence, len(self.noisy))
        low, high = self.clip(self.noisy - radius)[:-1], self.clip(self.noisy + radius)[:-1]
        return Interval(
            low, high, confidence=confidence, about="the counts in this table, all at once", population=False
        )
