"""What is expected of an outcome, rows seen at a fit, and exact sums of second moments.

What an outcome is expected to be, given the linear part, is read off a public table: a fixed function.

Claims
    [score.1] `moments` is an exact sum of whole numbers, each a fixed function of one row, given coefficients that were
          released: blocks, threads and the linear algebra library change no bit.
    [score.2] `AtFit.turned` is a fixed function of each row, given a frame, a limit, R and a unit of weights that were
          released: the row in the frame times its residual, or the root of its slope, times the weight of [features.4]
          and its own in units, or their root; 0 where its weighted score is beyond the limit. No value raises, and for
          outcomes up to 10^6 none is infinite.
    [score.3] One row moves the moments by k U U', k |U|^2 at most 2^10 (128 R + sqrt(size))^2.
    [score.4] `mean` and `slope` are fixed functions of one number, built of single correctly rounded operations.
Why
    [score.1] A linear part is a sum of products of features, below 2^15, and coefficients as whole numbers up to 2^37 /
    size: every partial sum is exact in float64. Then [score.4] and `floor`. An entry of k U U' is at most 2^34; sums
    of blocks are added by [additive.4] and do not wrap around, however many rows there are.
    [score.2] Rows in a frame are exact integers: [gram.4]. The linear part is one of them times a number; then
    [score.4], a difference and a product, each correctly rounded, lengths, summed in one order, and weights in units,
    of one entry each and at most 2^20 ([weighted.1]). Means are below 10^14, entries below 2^52: products stay below
    10^37, their squares below 10^74.
    [score.3] v v' leaves as k U U', U = rint(V / 8), k = floor(2^10 w s / steepest) >= 0. |U| <= |V| / 8 + sqrt(size) /
    2, and k |U|^2 <= 2^10 (128 R + sqrt(size))^2: where w < 1, |V| >= 1024 R (1 - 2^-40).
    [score.4] Values are interpolated between 64 * 256 + 1 points: a product, a floor, a difference and a blend.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from discreet.accounting.allocation import Allocation
from discreet.models.features import STEPS, Prepared, far_weights
from discreet.models.weighted import in_units, weighted_rate
from discreet.noise.additive import summed
from discreet.privacy.loss import Choice, Gaussian
from discreet.stages.clip import Floats
from discreet.stages.declared import LARGEST
from discreet.stages.gram import Frame, Rows, lengths_of, noisy_sum
from discreet.stages.locate import middle
from discreet.stages.octaves import SEEN, column_unit, counts_noise, noisy_counts, tail_of
from discreet.tables.streams import Numbers, added, column_of, each, fold

EARLY: Final = 0.004  # of the scores are cut in these
RARE: Final = 3.0  # deviations of noise: outcomes of either kind
ALIKE: Final = (
    "nearly everybody has the same outcome, as far as the noise shows; about {:.0f} people must differ at this "
    "epsilon, half as many at twice the epsilon"
)
BLOCK: Final = 1 << 13  # rows at a time
WEIGHT: Final = 1 << 10  # steps of the largest slope
COARSE: Final = 8  # steps of a feature in one of a second moment
SUMMED: Final = 1 << 49  # an entry of what either sums at once is no larger [score.1]
REACH: Final = 32.0  # linear parts are cut here
FINE: Final = 256.0  # points of the table in a unit
Integers = npt.NDArray[Any]  # int64, or Python's integers where those could wrap around
Name = Literal["logistic", "poisson"]


@dataclass(frozen=True, slots=True, eq=False)
class OutcomeMean:
    """Tables of the mean and of its slope over the linear part."""

    name: Name
    means: Floats
    slopes: Floats

    def __reduce__(self) -> tuple[Any, tuple[()]]:
        """Workers make the tables themselves."""
        return (logistic if self.name == "logistic" else poisson), ()

    @property
    def steepest(self) -> float:
        """No slope is larger."""
        return float(self.slopes.max())

    def mean(self, linear: Floats) -> Floats:
        """The expected outcome. [score.4]"""
        return looked_up(self.means, linear)

    def linear(self, mean: float, farthest: float) -> float:
        """The linear part of an expected outcome, of at most this size."""
        odds = mean / (1 - mean if self.name == "logistic" else 1.0)
        return min(max(math.log(odds), -farthest), farthest)

    def slope(self, linear: Floats) -> Floats:
        """How fast it rises with the linear part. [score.4]"""
        return looked_up(self.slopes, linear)


def looked_up(table: Floats, linear: Floats) -> Floats:
    """Linear interpolation in a table over [-REACH, REACH]. [score.4]"""
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
    return OutcomeMean("logistic", mean, mean * (1 - mean))


@lru_cache(maxsize=1)
def poisson() -> OutcomeMean:
    """Counts: the mean is its own slope."""
    rate = np.exp(_places())
    return OutcomeMean("poisson", rate, rate)


Of = Literal["scores", "roots", "limits"]


@dataclass(frozen=True, slots=True, eq=False)
class AtFit:
    """Rows seen at a fit: u times the residual, times the root of the slope, or times the largest likely residual."""

    inner: Frame  # u and, last, the linear part
    per: float  # of the linear part to one of the last
    family: OutcomeMean
    of: Of = "scores"
    least: float = 0.0  # residual, of "limits"
    limit: float = math.inf  # of "roots": a longer score is cut, and no slope moves it
    reach: float | None = None  # rows that are longer weigh less
    unit: float | None = None  # of the weights, if rows end in one

    @property
    def size(self) -> int:
        """Coefficients."""
        return self.inner.size - 1

    @property
    def step(self) -> float:
        """What one stands for."""
        return self.inner.step

    def turned(self, rows: Floats) -> tuple[Floats, npt.NDArray[np.bool_] | None]:
        """One column for each row, which ends in its outcome, then its weight if there is one. [score.2]"""
        rows, own = (rows, None) if self.unit is None else (rows[:, :-1], in_units(rows[:, -1], self.unit))
        seen, lost = self.inner.turned(rows[:, :-1])
        linear = seen[-1] * self.per
        factor = rows[:, -1] - self.family.mean(linear)  # [score.2]
        weight = self._weight(seen) if own is None else self._weight(seen) * own
        if self.of == "roots":
            kept = self._long(seen) * np.abs(factor) * weight <= self.limit  # as the score is cut, weighted
            factor = np.where(kept, np.sqrt(self.family.slope(linear) * weight), 0.0)
        elif self.of == "limits":
            factor = np.maximum(np.abs(factor), self.least) * weight
        else:
            factor *= weight
        if lost is not None:
            factor[lost] = 0.0
        return seen[:-1] * factor, lost

    def _long(self, seen: Floats) -> Any:
        """The length of each row, where there is a limit."""
        return 0.0 if self.limit == math.inf else lengths_of(seen[:-1]) * self.step  # [score.2]

    def _weight(self, seen: Floats) -> Any:
        """Of each row, by its length. [score.2]"""
        return 1.0 if self.reach is None else far_weights(lengths_of(seen[:-1]) * self.step, self.reach)


def whole_coefficients(w: Floats) -> tuple[Floats, float]:
    """Coefficients as whole numbers, and the linear part's value of a product of one step of each. [score.1]"""
    largest = float(2**37 // len(w))  # whole, as what is cut there must be
    size = max(float(np.abs(w).max(initial=0.0)), 2.0**-20)
    exponent = math.floor(math.log2(largest / size))
    return np.clip(np.rint(np.ldexp(w, exponent)), -largest, largest), 2.0**-exponent / STEPS


def slices(size: int, step: int) -> Iterator[slice]:
    """All rows, so many at a time."""
    return (slice(start, start + step) for start in range(0, size, step))


def moments(rows: Prepared, family: OutcomeMean | None, w: Floats) -> Integers:
    """The sum of k U U' over all rows; of all slopes 1 without a family. [score.1]"""
    whole, per = whole_coefficients(w)

    def products(part: slice) -> Floats:
        steps = rows.steps[part].astype(np.float64)
        share = rows.weight[part]
        if family is not None:
            share = share * family.slope((steps @ whole) * per) / family.steepest
        k = np.floor(WEIGHT * np.clip(share, 0.0, 1.0))  # [score.3]
        coarse = np.rint(steps / COARSE)
        return np.asarray((coarse * k[:, None]).T @ coarse)  # [score.1]: below 2^47

    return summed(map(products, slices(len(rows), BLOCK)), (len(w), len(w)), SUMMED)  # [score.1]


def predictors_of(rows: Floats, *, many: int, weighted: bool) -> Floats:
    """Rows without their outcome, with their weight."""
    return np.column_stack([rows[:, :many], rows[:, -1]]) if weighted else rows[:, :many]


def with_outcome(rows: Floats, *, yes: bool) -> Floats:
    """Rows whose outcome is yes, or is not; others are missing."""
    return np.where(((rows[:, -2] == 1) == yes)[:, None], rows, np.nan)


def noisy_rate(
    rows: Rows,
    size: float,
    costs: Allocation,
    family: OutcomeMean,
    *,
    drawn: dict[str, Any],
    weight: float | None,
) -> float | str:
    """The mean outcome; or why there is none. `weight` is the unit of the weights, which end the rows if there are any.
    [glm_stages.1]"""
    outcome, cost = column_of(rows, -1 if weight is None else -2), costs.part("mean", Gaussian)
    reach = 1.0
    if family.name == "poisson":
        if (found := tail_of(outcome, size, cost=costs.part("outcomes", Gaussian), **drawn)) is None:
            return ALIKE.format(SEEN * counts_noise(costs.part("outcomes", Gaussian), drawn["neighbours"]))
        reach = float(found.at(EARLY * size))
    if weight is not None:
        rate, yes, no, noise = weighted_rate(rows, weight, reach, cost, drawn)  # [glm_stages.1]
        few = min(yes, no) if family.name == "logistic" else yes
    elif family.name == "logistic":  # a row has one outcome or the other
        counts = fold(_both_outcomes, added, outcome)
        (no, yes), noise = noisy_counts(counts, cost=cost, **drawn)  # [glm_stages.1]
        few, rate = min(no, yes), yes / max(no + yes, 1.0)
    else:
        frame = Frame.of(np.array([reach]), np.eye(1))
        (few,), noise = noisy_sum(each(_upright, outcome), frame, 1.0, "clip", cost=cost, **drawn)  # [glm_stages.1]
        rate = few * reach / size
    return ALIKE.format(2 * RARE * noise) if few < RARE * noise else float(rate)  # [glm_stages.2]


def _both_outcomes(given: Iterator[Floats]) -> tuple[int, int]:
    """A kernel: how many rows have no, and how many yes."""
    no = yes = 0
    for piece in given:
        no, yes = no + int((piece == 0).sum()), yes + int((piece == 1).sum())
    return no, yes


def _upright(values: Floats) -> Floats:
    return values[:, None]


def offset_place(offsets: Numbers, costs: Allocation, drawn: dict[str, Any]) -> tuple[float, float]:
    """The centre of the offsets, 0 without an intercept, and about how far they are apart, 0 if that does not show: in
    units of 1, as linear parts are. [glm_stages.1]"""
    centre = middle(offsets, cost=costs.part("centre", Choice), **drawn) if "centre" in costs else 0.0
    found = column_unit(offsets, centre, cost=costs.part("unit", Gaussian), **drawn)
    return min(max(centre, -LARGEST), LARGEST), 0.0 if found is None else found[1]
