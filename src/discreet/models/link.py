"""What an outcome is expected to be, given the linear part: read off a public table, so that it is a fixed function.

Claims
    [link.1] `mean` and `slope` are fixed functions of one number, built of single correctly rounded operations; what
          they give is in [0, top] and [0, steepest]; outcomes are cut to [0, top]. So a residual is at most `top` in
          size.
    [link.2] A Poisson outcome is cut at `top`, and its mean is that of a cut Poisson variable: residuals have
          expectation 0 under the model, whatever the cut. The variance of a cut variable is at most the slope of its
          mean.
Why
    [link.1] Values are interpolated between 64 * 256 + 1 points: a product, a floor, a difference and a blend.
    [link.2] E min(Y, K) = rate P(Y <= K - 1) + K P(Y > K), its derivative in the log of the rate is rate P(Y <= K - 1),
    and by the Poincare inequality of the Poisson law Var f(Y) <= rate E (f(Y + 1) - f(Y))^2, here rate P(Y <= K - 1).
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

import numpy as np

from discreet.stages.clip import Floats

REACH: Final = 32.0  # linear parts are cut here
FINE: Final = 256.0  # points of the table in a unit
Name = Literal["logistic", "poisson"]


@dataclass(frozen=True, slots=True, eq=False)
class OutcomeMean:
    """Tables of the mean and of its slope over the linear part, and the largest outcome."""

    name: Name
    means: Floats
    slopes: Floats
    top: float

    @property
    def steepest(self) -> float:
        """No slope is larger."""
        return float(self.slopes.max())

    def mean(self, linear: Floats) -> Floats:
        """The expected outcome. [link.1]"""
        return looked_up(self.means, linear)

    def slope(self, linear: Floats) -> Floats:
        """How fast it rises with the linear part. [link.1]"""
        return looked_up(self.slopes, linear)

    def outcome(self, values: Floats) -> Floats:
        """Outcomes as the family counts them: above 0 or not, or cut to [0, top]. [link.1]"""
        if self.name == "logistic":
            return (values > 0).astype(np.float64)
        return np.clip(values, 0.0, self.top)  # [link.2]


def looked_up(table: Floats, linear: Floats) -> Floats:
    """Linear interpolation in a table over [-REACH, REACH]. [link.1]"""
    place = (np.clip(linear, -REACH, REACH) + REACH) * FINE
    below = np.minimum(np.floor(place), len(table) - 2.0)
    share = place - below
    index = below.astype(np.int64)
    left = table[index]
    return left + share * (table[index + 1] - left)


def _places() -> Floats:
    return np.arange(int(2 * REACH * FINE) + 1) / FINE - REACH


@lru_cache(maxsize=1)
def logistic() -> OutcomeMean:
    """Yes or no."""
    from scipy.special import expit

    mean = expit(_places())
    return OutcomeMean("logistic", mean, mean * (1 - mean), 1.0)


@lru_cache(maxsize=16)
def poisson(top: int) -> OutcomeMean:
    """Counts, cut at `top`. [link.2]"""
    from scipy.special import gammaincc

    rate = np.exp(_places())
    slope = rate * gammaincc(float(top), rate)  # P(Y <= K - 1)
    with np.errstate(all="ignore"):
        mean = slope + top * (1 - gammaincc(top + 1.0, rate))  # [link.2]
    return OutcomeMean("poisson", np.clip(mean, 0.0, float(top)), np.clip(slope, 0.0, None), float(top))
