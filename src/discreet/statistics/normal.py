"""Normal data with no bounds and an unknown spread: clip hard, invert, and a closed-form interval.

Releases
    A median c and a scale s by the exponential mechanism over float64; the noisy mean of clip((x - c) / s, +-r), r
    public; from it the a at which E clip(a + Z, +-r) is that mean. The estimate is c + s a. Under ADD_OR_REMOVE also a
    noisy number of records, which stands wherever n is written here.
Promise
    [normal.1] Pure epsilon under both relations: the stages' epsilons are exact fractions that sum to epsilon.
    [normal.2] With delta > 0 and REPLACE, if the predicted error is smaller: (epsilon, delta), by stages that add up in
         zCDP. Where the size is declared, the guarantee says which is promised; else it is (epsilon, delta).
    [normal.3] Refusals and the choice of r and of the stages read public numbers and earlier answers only.
    [normal.4] For independent normal records the interval holds the mean with its confidence, to first order.
    [normal.5] A centre that is not among the data is refused, but for a chance of about 1 in 100: however far normal
         data are from 0 in units of their spread, the interval holds or there is none.
Why
    [normal.1] Adaptive composition of a count [additive.1], the choices [locate.1], the sum [clip.1].
    [normal.2] The same with Gaussian noise in the last stage: [allocation.2].
    [normal.3] Under REPLACE n is public and a refusal comes before any draw; under ADD_OR_REMOVE the noisy n decides. A
    scale at the edge of the floats is refused after it was released.
    [normal.4] The mean of clipped records has variance V(a) / n, the noise is known, and dividing by the slope h'(a)
    carries both to a. The median's own error enters only through a, the scale's through Student's factor: with the
    relative variance tau^2 of s, 1 / (2 tau^2) degrees of freedom. The noisy n moves the mean of clipped records S by S
    dn / n.
    [normal.5] A centre k standard deviations beside normal data sees a median distance that tends to k of them: the
    mean of clipped deviations, in units of the scale, tends to 0.67 or, if that is less, r; from k = 1.5 on it is 0.78
    of that or more. Beyond 0.74 of it, less three scales of the noise, the answer is refused. At k = 0 it is the
    noise. With sigma known it is r from k = r on. It reads a released number.
Needs
    n epsilon of about 150 (105 if sigma is known); for places up to a million standard deviations from 0 about 300.
    Missing values count as 0 (or the middle of the bounds) for the median and as the median afterwards.
Accuracy
    Variance sigma^2 (V / (n p^2) + 8 r^2 / (n e3 p)^2), p = P(|Z| < r): at n epsilon = 1000, 1.06 times the sample
    mean's, intervals 1.05 times as wide as Student's.
Source
    Huber 1964 for the clipped score, here inverted under the normal model, with V and the slope taken at a.
"""

import math
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from typing import Any, Final

from discreet.accounting.allocation import Allocation, Share
from discreet.errors import Refused
from discreet.privacy.exact import Number, show
from discreet.privacy.guarantee import Guarantee, Neighbours, check_budget
from discreet.privacy.loss import Choice, Laplace
from discreet.privacy.mechanism import Randomness, refusal_of, what_to_do
from discreet.privacy.release import Provenance, Release
from discreet.stages.clip import concentrated, enough, listed, noisy_size, unit_variance
from discreet.stages.declared import LARGEST, SMALLEST, Bounds, agree, check_bounds, check_sigma, check_size
from discreet.stages.locate import moves
from discreet.stages.normal_laplace import ConvolvedSpread
from discreet.stages.normal_stages import Located, find_place, freedom, located_mean, mean_radius
from discreet.tables.entries import long_numbers, public_size

LOCATE: Final = 42.0  # n epsilon that it takes to locate a centre without bounds: 4 (3.5 + ln 1000)
SCALE: Final = 52.0  # and a scale
FAR: Final = 100  # what a centre a million standard deviations from 0 takes: 4 (20 + 5)
MOST_CENTRE, MOST_SCALE = Fraction(2, 5), Fraction(7, 20)  # the largest shares of epsilon, where n is public
COUNT, CENTRE, WIDTH = Fraction(1, 20), Fraction(1, 5), Fraction(1, 5)  # the shares where it is not
NOWHERE: Final = (
    "the middle that was found lies beside the data: they are far from 0 in units of their spread, or far from normal. "
    "Subtract a public number near them, give public bounds, ask for a larger epsilon, or use model=None"
)
NOTE: Final = "the interval rests on a normal model; for data of any shape use model=None"


@dataclass(frozen=True, slots=True)
class GaussianMean:
    """The mean of normal data.

    `sigma` is a known standard deviation, `bounds` a known range of the mean, `size` the public number of rows under
    REPLACE: with it the loss lists every draw, without it only their sum.

    >>> from discreet.noise.randomness import Seeded
    >>> release = GaussianMean(epsilon=1.0).release([float(k % 100) for k in range(1000)], Seeded(1))
    >>> 40 < release.value < 60
    True
    """

    epsilon: Number
    delta: Number = 0.0
    _: KW_ONLY
    sigma: float | None = None
    bounds: Bounds | None = None
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"
    size: int | None = None

    def __post_init__(self) -> None:
        check_budget(self.epsilon, self.delta, self.size or 1)
        check_sigma(self.sigma)
        check_bounds(self.bounds)
        check_size(self.size, self.neighbours)

    @property
    def guarantee(self) -> Guarantee:
        """Pure epsilon, unless Gaussian noise is the better and delta allows it."""
        waits = self.size is None and self.neighbours.size_is_public
        pure = not self.delta or (not waits and isinstance(self.stages(self.size)["mean"], Laplace))
        return Guarantee(self.epsilon, 0.0 if pure else self.delta, self.neighbours, self.unit)

    loss = listed  # [normal.1]

    def stages(self, size: int | None) -> Allocation:
        """The costs for a public number of records, or for a private one. [normal.3]"""
        known = self.sigma is not None
        if size is None:  # no size may choose the shares; Gaussian noise is no better at any delta allowed here
            return pure_stages(self.epsilon, None, known_sigma=known, mean=Share())
        pure = pure_stages(self.epsilon, size, known_sigma=known, mean=Share())
        scale = Fraction(0) if known else Fraction(13, 100)
        other = concentrated(self.epsilon, self.delta, centre=Fraction(12, 100), scale=scale, mean=Fraction(3, 4))
        if other is None or not self.feasible(other, size):
            return pure
        if not self.feasible(pure, size):
            return other
        return min(pure, other, key=lambda stages: predicted(stages, size, self.neighbours))  # [normal.2]

    def feasible(self, stages: Allocation, size: int) -> bool:
        """Whether so many records will be found. Public."""
        steady = size / float(moves(self.neighbours))
        least = {"centre": self._locate} | ({"scale": SCALE} if "scale" in stages else {})
        return all(steady * float(stages.part(name, Choice).epsilon) >= nats for name, nats in least.items())

    @property
    def _locate(self) -> float:
        """The n epsilon that the centre takes."""
        if self.sigma is None or self.bounds is None:
            return LOCATE
        room = (self.bounds[1] - self.bounds[0]) / (2 * self.sigma)
        return min(4 * (math.log(max(math.e, room)) + math.log(1000)), LOCATE)

    @property
    def needed(self) -> float:
        """The n epsilon from which on there is an answer, at delta = 0."""
        centre, scale = (MOST_CENTRE, MOST_SCALE) if self.neighbours.size_is_public else (CENTRE, WIDTH)
        least = [self._locate / centre] if self.sigma is not None else [self._locate / centre, SCALE / scale]
        return float(max(least) * moves(self.neighbours))

    def check(self, size: int | None) -> None:
        """Refuse too few rows to find where they are. [normal.3]"""
        if size and self.neighbours.size_is_public:
            check_budget(self.epsilon, self.delta, size)
        if size is not None and not self.feasible(self.stages(size if self.neighbours.size_is_public else None), size):
            raise Refused(too_few(size, self.epsilon, self.needed, self.neighbours))

    def release(self, rows: Any, rng: Randomness) -> Release[float]:
        """The estimate and its interval, or a refusal."""
        values = long_numbers(rows)
        size = agree(public_size(values, self.neighbours), self.size)
        check_budget(self.epsilon, self.delta, size)
        stages = self.stages(size)
        seen = noisy_size(values, stages.part("size", Laplace), rng) if size is None else size  # [normal.1]
        shown: dict[str, Any] = {"neighbours": self.neighbours, "rows": size, "costs": stages.shown}
        shown |= {"counted": seen} if size is None else {}
        provenance = Provenance("GaussianMean", shown, rng.secure, notes=(NOTE,))
        blank: Release[float] = Release(self.guarantee, provenance, name="mean")
        if refusal := refusal_of(self, seen):  # [normal.3]
            return replace(blank, refusal=refusal)
        at = find_place(
            values, stages, size=seen, neighbours=self.neighbours, rng=rng, sigma=self.sigma, bounds=self.bounds
        )  # [normal.1]
        if not SMALLEST < at.scale < LARGEST:  # [normal.3]
            return replace(blank, refusal=odd_scale(at.scale))
        found = located_mean(values, stages, at, rng)  # [normal.1]
        if found is None:  # [normal.5]
            return replace(blank, refusal=NOWHERE)
        spread = mean_spread(found, self.bounds, freedom(seen, stages, self.neighbours))
        return replace(blank, answer=spread.estimate, spread=spread)


def mean_spread(found: Located, bounds: Bounds | None, degrees: float) -> ConvolvedSpread:
    """The error bar of a located mean, within public bounds. [normal.4]"""
    low, high = bounds or (-math.inf, math.inf)
    estimate = min(max(found.estimate, low), high)
    # [normal.4]
    return ConvolvedSpread(
        estimate,
        sampling=found.sampling,
        laplace=found.laplace,
        normal_noise=found.normal_noise,
        freedom=degrees,
        low=low,
        high=high,
    )


def pure_stages(epsilon: Number, size: int | None, *, known_sigma: bool, **last: Share) -> Allocation:
    """Enough for centre and scale, or fixed shares where the size is private, and these stages last. [normal.1]"""
    centre, scale = CENTRE, WIDTH
    if size is not None:
        centre = enough(FAR, size, epsilon, Fraction(1, 10), MOST_CENTRE)
        scale = enough(100, size, epsilon, Fraction(1, 10), MOST_SCALE)
    return Allocation.of(epsilon).split(
        size=Share(COUNT) if size is None else None,
        centre=Share(centre, Choice),
        scale=None if known_sigma else Share(scale, Choice),
        **last,
    )  # [normal.1]


def predicted(stages: Allocation, size: int, neighbours: Neighbours) -> float:
    """The variance of the mean that stages will reach, in units of sigma^2. Public. [normal.3]"""
    return mean_radius(size, unit_variance(stages.noise("mean"), size, neighbours))[1]


def too_few(
    size: int, epsilon: Number, needed: float, neighbours: Neighbours, *, bounds: bool = False, declared: str = ""
) -> str:
    """What was seen, what is needed, what to do; `bounds` says that public ones would do too, and `declared` what."""
    noisy = "" if neighbours.size_is_public else " (a noisy number)"
    others = ["give public bounds=(low, high)"] * bounds + [declared] * bool(declared)
    to_do = what_to_do(size, epsilon, needed / float(epsilon), *others, noisy=bool(noisy))
    return (
        f"n * epsilon is {show(size * float(epsilon))}: {size} rows{noisy} times epsilon {show(epsilon)}; locating the "
        f"data without bounds needs at least {math.ceil(needed)}. Please {to_do}"
    )


def odd_scale(scale: float) -> str:
    """A refusal after the scale was released."""
    if scale <= SMALLEST:
        return "half of the values seem to be one and the same: a normal model does not fit; use model=None"
    return "the spread found is beyond 1e150; rescale the data, or use model=None"
