"""The mechanisms that the lectures begin with, for a function of the caller's and the sensitivity declared for it.

Subsample-and-aggregate and FriendlyAvg stand beside them: each is a line of the core, REPLACE as lectured.

Releases
    f(rows) plus Laplace or Gaussian noise; or the candidate that a score prefers, drawn by the exponential mechanism or
    by report noisy max.
Promise
    [mechanisms.1] laplace_mechanism: pure epsilon if one change moves f by at most `sensitivity` in L1.
    [mechanisms.2] gaussian_mechanism: loss Gaussian(mu, slack), (epsilon, delta), if it moves f by that in L2.
    [mechanisms.3] exponential_mechanism, report_noisy_max: pure epsilon if one change moves each score by at most
          `sensitivity`.
Why
    Numbers are cut to 2^36 sensitivities around 0, which enlarges no distance, and rounded to a grid with at least
    2^21 steps in the sensitivity: each end is moved by half a step at most, so a distance grows by at most one step for
    each number, d in L1 and sqrt(d) <= d in L2. Then [mechanisms.1] [additive.1]; [mechanisms.2] [additive.2] with
    [calibrate.3]; [mechanisms.3] [choose.3] and [choose.4].
Needs
    The declared sensitivity is the caller's word: it is not tried, and the release says so. What raises or is not
    finite counts as 0: the function must do so on no table, or on both of two neighbours.
Accuracy
    Noise of standard deviation sqrt(2) sensitivity / epsilon on each number; the grid adds less than 1e-6 of that.
Source
    Dwork, McSherry, Nissim and Smith 2006; McSherry and Talwar 2007.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from discreet.accounting.calibrate import gaussian
from discreet.api import door, function
from discreet.errors import BadInput
from discreet.friendly.friendly_mean import FriendlyMean
from discreet.noise.additive import Grid, slack
from discreet.noise.distributions import GaussianDistribution, LaplaceDistribution, laplace_scale
from discreet.privacy.exact import Number, exact, float_above, is_number, show
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.intervals import Interval
from discreet.privacy.loss import Approximate, Choice, Gaussian, Laplace, Loss
from discreet.privacy.mechanism import Randomness, promised
from discreet.privacy.release import Provenance, Release
from discreet.stages.declared import contained, rests_on
from discreet.tables.matrix import Floats, matrix

FINE: Final = 22  # binary digits of a sensitivity
WIDE: Final = 2**36  # answers end at so many sensitivities from 0
MOST: Final = 10**5  # numbers or candidates
Function = Callable[[Any], Any]
RADIUS: Final = 10.0  # times sqrt(d): friends are as near as rows of unit variance hardly ever fail to be
VOTES: Final = {"laplace": "vote", "exponential": "exponential", "noisy max": "noisy-max", "vote": "vote"}
NUMBERS: Final = {"mean": "mean", "median": "median", "friendly": "friendly"}


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyFunction:
    """f(rows) plus noise: see `laplace_mechanism` and `gaussian_mechanism`."""

    f: Function
    sensitivity: float
    epsilon: Number
    delta: Number = 0.0
    length: int | None = None  # how many numbers f returns; None for one, as a number
    neighbours: Neighbours = Neighbours.ADD_OR_REMOVE
    unit: str = "row"

    def __post_init__(self) -> None:
        object.__setattr__(self, "neighbours", Neighbours(self.neighbours))
        check_budget(self.epsilon, self.delta, 1 if self.neighbours.size_is_public else None)
        check_function(self.f, self.sensitivity)
        if self.length is not None and not (isinstance(self.length, int) and 1 <= self.length <= MOST):
            raise BadInput(f"length is {self.length!r}; give how many numbers the function returns, or None for one")
        self._cost()

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """One draw of noise."""
        return self._cost()

    def _cost(self) -> Laplace | Gaussian:
        if not self.delta:
            return Laplace(self.epsilon)  # [mechanisms.1]
        steps = math.floor(self._moved() / gaussian(float(self.epsilon), float(self.delta)))
        if steps < 2**20:
            raise BadInput(f"epsilon is {show(self.epsilon)}; give at most 8, or delta=0")
        off = slack(self.length or 1, steps)  # the final mu is smaller, so there are more steps and less slack
        return Gaussian(gaussian(float(self.epsilon), float(self.delta), slack=float_above(off)), off)  # [mechanisms.2]

    def _moved(self) -> int:
        """The sensitivity in steps: both ends of each number are rounded."""
        return grid_of(self.sensitivity).steps(self.sensitivity) + (self.length or 1)  # [mechanisms.1], [mechanisms.2]

    def release(self, rows: Any, rng: Randomness) -> Release[Any]:
        """The noisy number, or numbers."""
        check_budget(self.epsilon, self.delta, len(rows) if self.neighbours.size_is_public else None)
        found = numbers_of(contained(self.f, rows), self.length or 1)
        grid, cost, moved = grid_of(self.sensitivity), self._cost(), self._moved()
        noisy = rng.blur(on_grid(found, self.sensitivity), sensitivity=moved, cost=cost)
        drawn: LaplaceDistribution | GaussianDistribution
        if isinstance(cost, Laplace):
            drawn = LaplaceDistribution(laplace_scale(moved, cost.epsilon))
        else:
            drawn = GaussianDistribution(math.ceil(moved / exact(cost.mu)))
        values = np.asarray(grid.value(noisy))
        value = float(values[0]) if self.length is None else values
        spread = NoisyNumbers(value, drawn, float(grid.step))
        declared = (
            f"one change moves the function by at most {show(self.sensitivity)} in {'L2' if self.delta else 'L1'}"
        )
        public = {"sensitivity": self.sensitivity, "neighbours": self.neighbours}
        history = Provenance("NoisyFunction", public, rng.secure, notes=(rests_on(declared),))
        return Release(self.guarantee, history, value, spread=spread, name="value")


@dataclass(frozen=True, slots=True)
class NoisyNumbers:
    """The error of numbers of this table: noise alone."""

    value: Any
    distribution: LaplaceDistribution | GaussianDistribution
    step: float
    sampling: None = None

    @property
    def privacy(self) -> float:
        """Standard deviation of the noise on each."""
        return self.distribution.sd * self.step

    def interval(self, confidence: float) -> Interval:
        """For what the function is of this table, all numbers at once."""
        wide = self.step * (self.distribution.radius(confidence, np.size(self.value)) + 1)
        about = "what the function is of this table" + (", all numbers at once" if np.ndim(self.value) else "")
        return Interval(self.value - wide, self.value + wide, confidence=confidence, about=about, population=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreferredCandidate:
    """The candidate of high score: see `exponential_mechanism` and `report_noisy_max`."""

    score: Callable[[Any, Any], Any]
    candidates: tuple[Any, ...]
    sensitivity: float
    epsilon: Number
    draw: Literal["exponential", "noisy max"] = "exponential"
    neighbours: Neighbours = Neighbours.ADD_OR_REMOVE
    unit: str = "row"

    def __post_init__(self) -> None:
        object.__setattr__(self, "neighbours", Neighbours(self.neighbours))
        check_budget(self.epsilon, 0, None)
        check_function(self.score, self.sensitivity)
        if not 1 <= len(self.candidates) <= MOST:
            raise BadInput(f"there are {len(self.candidates)} candidates; list 1 to {MOST} public ones")

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """A choice, or a noisy maximum. [mechanisms.3]"""
        return Choice(self.epsilon) if self.draw == "exponential" else Approximate(self.epsilon, 0)

    def release(self, rows: Any, rng: Randomness) -> Release[Any]:
        """The candidate."""
        found = [numbers_of(contained(self.score, rows, one), 1)[0] for one in self.candidates]
        scores = on_grid(np.array(found), self.sensitivity)
        moved = grid_of(self.sensitivity).steps(self.sensitivity) + 1  # [mechanisms.3]; a choice prefers low scores
        if self.draw == "exponential":
            place = rng.choose(-scores, sensitivity=moved, cost=Choice(self.epsilon))
        else:
            place = rng.noisy_max(scores, sensitivity=moved, cost=Approximate(self.epsilon, 0))
        declared = f"one change moves each score by at most {show(self.sensitivity)}"
        public = {"sensitivity": self.sensitivity, "candidates": len(self.candidates), "neighbours": self.neighbours}
        history = Provenance("PreferredCandidate", public, rng.secure, notes=(rests_on(declared),))
        return Release(self.guarantee, history, self.candidates[place], name="candidate")


def laplace_mechanism(
    f: Function,
    sensitivity: float,
    *,
    epsilon: Number,
    length: int | None = None,
    neighbours: Neighbours | str = Neighbours.ADD_OR_REMOVE,
) -> NoisyFunction:
    """f(rows) + Lap(sensitivity / epsilon): pure epsilon if one change moves f by at most `sensitivity` in L1.

    >>> from discreet import Seeded
    >>> votes = laplace_mechanism(sum, 1, epsilon=1.0)
    >>> round(votes.release([1, 0, 1, 1] * 100, Seeded(1)).value)
    300
    """
    return NoisyFunction(
        f=f, sensitivity=sensitivity, epsilon=epsilon, length=length, neighbours=Neighbours(neighbours)
    )


def gaussian_mechanism(
    f: Function,
    sensitivity: float,
    *,
    epsilon: Number,
    delta: Number,
    length: int | None = None,
    neighbours: Neighbours | str = Neighbours.ADD_OR_REMOVE,
) -> NoisyFunction:
    """f(rows) plus normal noise, calibrated exactly: (epsilon, delta) if one change moves f by that much in L2."""
    if not delta:
        raise BadInput("delta is 0; Gaussian noise needs delta > 0, about 1e-6; or use laplace_mechanism")
    relation = Neighbours(neighbours)
    return NoisyFunction(f=f, sensitivity=sensitivity, epsilon=epsilon, delta=delta, length=length, neighbours=relation)


def exponential_mechanism(
    score: Callable[[Any, Any], Any],
    candidates: Sequence[Any],
    sensitivity: float,
    *,
    epsilon: Number,
    neighbours: Neighbours | str = Neighbours.ADD_OR_REMOVE,
) -> PreferredCandidate:
    """A candidate with probability proportional to exp(epsilon score(rows, candidate) / (2 sensitivity)).

    >>> from discreet import Seeded
    >>> vote = exponential_mechanism(lambda rows, who: rows.count(who), ["accept", "reject"], 1, epsilon=1.0)
    >>> vote.release(["reject"] * 30 + ["accept"] * 5, Seeded(1)).value
    'reject'
    """
    return PreferredCandidate(
        score=score, candidates=tuple(candidates), sensitivity=sensitivity, epsilon=epsilon,
        neighbours=Neighbours(neighbours),
    )  # fmt: skip


def report_noisy_max(
    score: Callable[[Any, Any], Any],
    candidates: Sequence[Any],
    sensitivity: float,
    *,
    epsilon: Number,
    neighbours: Neighbours | str = Neighbours.ADD_OR_REMOVE,
) -> PreferredCandidate:
    """The candidate whose score plus one-sided noise is largest: as private, and a little more accurate."""
    return PreferredCandidate(
        score=score, candidates=tuple(candidates), sensitivity=sensitivity, epsilon=epsilon, draw="noisy max",
        neighbours=Neighbours(neighbours),
    )  # fmt: skip


def check_function(f: object, sensitivity: object) -> None:
    """A function, and how far one change may move it."""
    if not callable(f):
        raise BadInput(f"{f!r} is no function; give a function of the rows")
    if not is_number(sensitivity) or not 1e-290 < sensitivity < 1e290:  # type: ignore[operator]
        raise BadInput(f"sensitivity is {sensitivity!r}; give the most that one change moves the function, above 0")


def grid_of(sensitivity: float) -> Grid:
    """A grid with 2^21 to 2^22 steps in the sensitivity."""
    return Grid(math.frexp(sensitivity)[1] - FINE)


def on_grid(values: Floats, sensitivity: float) -> npt.NDArray[np.int64]:
    """Cut, and rounded to the grid."""
    end = exact(sensitivity) * WIDE
    return grid_of(sensitivity).quantise(values, low=-end, high=end, default=0)


def numbers_of(found: Any, length: int) -> Floats:
    """What a function returned as so many numbers; zeros where it returned something else."""
    try:
        values = np.asarray(found, dtype=np.float64).ravel()
    except (TypeError, ValueError, OverflowError):
        return np.zeros(length)
    return values if len(values) == length else np.zeros(length)


def subsample_and_aggregate(
    A: Callable[[Any], Any],  # noqa: N803  as lectured
    x: Any,
    k: int,
    aggregator: str,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    labels: Sequence[Any] | None = None,
    neighbours: Neighbours | str = Neighbours.REPLACE,
    rng: Randomness | None = None,
) -> Release[Any]:
    """Run any algorithm A on k disjoint blocks of the rows, and combine what it returns privately.

    If A returns one of the public `labels`, they vote: aggregator "laplace" (noisy counts), "exponential" or "noisy
    max"; "histogram" needs no list of labels but delta > 0. If it returns a number: "median", or "mean"; several
    numbers: "mean", each by itself, or with delta > 0 "friendly". The interval is that of `discreet.fit`, which this
    calls.

    >>> from discreet import Seeded
    >>> rows = [float(k % 7) for k in range(6000)]
    >>> reject = lambda block: "reject" if block.mean() > 2.5 else "accept"
    >>> votes = {"epsilon": 1.0, "labels": ["accept", "reject"], "rng": Seeded(1)}
    >>> [subsample_and_aggregate(reject, rows, 60, how, **votes).value for how in ("laplace", "exponential")]
    ['reject', 'reject']
    """
    asked: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "blocks": k}
    if not isinstance(aggregator, str) or aggregator not in (*VOTES, "histogram", *NUMBERS):
        known = ", ".join(map(repr, (*VOTES, "histogram", *NUMBERS)))
        raise BadInput(f"aggregator is {aggregator!r}; give one of {known}")
    if aggregator == "histogram":
        if labels is not None:
            raise BadInput("aggregator 'histogram' finds the labels by itself; leave labels out, or give 'laplace'")
        asked |= {"aggregator": "vote"}
    elif aggregator in VOTES:
        if labels is None:
            raise BadInput(f"aggregator {aggregator!r} chooses from public labels; list them, or give 'histogram'")
        asked |= {"aggregator": VOTES[aggregator], "labels": labels}
    else:
        if labels is not None:
            raise BadInput(f"aggregator {aggregator!r} is for numbers; leave labels out")
        asked |= {"aggregator": NUMBERS[aggregator], "estimate_bias": False}
    return function("fit")(A, x, neighbours=Neighbours(neighbours), missing="keep", rng=rng, **asked)


def friendly_avg(
    x: Any,
    epsilon: Number,
    delta: Number,
    *,
    radius: float | None = None,
    columns: int | None = None,
    rng: Randomness | None = None,
) -> Release[Floats]:
    """FriendlyAvg, Algorithm 2 of lecture 3, with constants that hold: the mean of rows weighted by their friends.

    Friends are within `radius`, 10 sqrt(d) if left out, as for rows of variance 1. All rows are compared with all. What
    is corrected: the ramp, friends are counted among the others, the sum of the weights has noise for a sensitivity of
    3, the mean is divided by that sum, its noise is for how far it can move, and both share epsilon. `discreet.mean` of
    a table is far more accurate and needs no radius. `columns` says how many there are, if x is a list of rows.

    >>> import numpy as np
    >>> from discreet import Seeded
    >>> rows = 1000 + np.random.default_rng(0).normal(size=(900, 2))
    >>> bool((abs(friendly_avg(rows, 1.0, 1e-6, rng=Seeded(1)).value - 1000) < 5).all())
    True
    """
    table = matrix(x, columns)
    reach = RADIUS * math.sqrt(max(1, table.width)) if radius is None else radius
    most = min(max(3, table.size), 2**22)
    if table.size > most:
        raise BadInput(f"there are more than {most} rows to compare with each other; use discreet.mean of the table")
    asked = FriendlyMean(reach, epsilon, delta, method="weights", most=most, columns=columns)
    return asked.release(x, door(rng))
