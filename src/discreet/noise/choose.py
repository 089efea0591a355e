"""Exact draws with real weights, in integers: look at as many random bits as the answer needs.

A weight such as exp(-3/10) is no rational number, but any number of its digits can be had. A uniform real U in [0, 1)
picks index i when cum(i-1) <= U * total < cum(i). Here U is a stream of random bits and every weight an integer
interval that shrinks as digits are added; as soon as one index is certain it is the answer, and if none is, more bits
and more digits are taken. The distribution is exact: the answer is a function of the whole real U and of the true
weights. It is ambiguous after the first round with probability below about 2^-60, so that the time does not depend on
the data.

Claims
    [choose.1] `exp_bounds(x, bits)` returns integers low <= 2^bits exp(-x) <= high, high - low <= 4.
    [choose.2] `pick` returns index i with probability w_i / sum w, provided the intervals contain the true weights, the
         order of the indices is the same at every precision, and the interval widths shrink to 0.
    [choose.5] `clear_index` returns the index that the whole real U picks, or None, of up to 2^20 weights that err by
         less than 2^-40 of themselves, and in all by less than `rest` or 2^-640 more. Exact weights that err by less
         than 2^29 2^-bits in all would tell it from the same bits.

Private choice among listed candidates.

Promise
    [choose.3] Choose: index i leaves with probability proportional to exp(-epsilon s_i / (2 D)), s_i the whole score of
         candidate i (low is good), when one person's change moves every score by at most D. Pure epsilon, and
         bounded range epsilon.
    [choose.4] NoisyMax: the index of the largest s_i + G_i, G_i one-sided geometric noise of scale 2 D / epsilon, ties
         to the lower index. Pure epsilon.

Why
    [choose.3] Each weight moves by a factor in [e^-epsilon/2, e^epsilon/2], so does their sum, so each probability by
    one in [e^-epsilon, e^epsilon]; the log ratio of two candidates' probabilities moves by at most epsilon, which is
    bounded range. The weights are real numbers; `lazy.pick` draws from them exactly, with no exp() in floats
    [choose.2].
    [choose.4] Fix the noise of all other candidates. Candidate i wins iff G_i >= t for an integer t that moves by at
    most 2 D between neighbours (its own score by D, the best of the others by D), and P(G >= t + 2D) >= e^-epsilon P(G
    >= t) for geometric noise: P(G >= t) = a^max(t, 0), a^{2D} >= e^-epsilon. This is the discrete form of
    permute-and-flip's exponential noise; ties go by index, which no data decides.
    [choose.5] Sums of so many floats err by less than 2^-32 of themselves, and the rest is at most 2^-40 of the total.
    U is rounded once and 2^-bits wide. So U and the partial sums over the total are within 2^-30 of the truth, and a U
    farther than 2^-28 from both ends of its part is in it. Of a total of at least 2^(60 - bits) exact weights err by
    less than 2^-31: they tell it too. U is nearer with a chance of 2^-27 a part; then, or where the total is smaller,
    they decide. In `Choose` the largest weight is 1, and a factor exp(-x) errs by less than 2^-41 of itself or is less
    than 2^-1000.

Needs
    Whole scores and a whole-number or rational sensitivity in the same units; at least one candidate.

Accuracy
    Choose: with probability 1 - b the score is within (2 D / epsilon) ln(K / b) of the best of K. NoisyMax: never
    worse than that bound either, and on fine scores, where ties are rare, never worse in expectation than Choose.

Source
    McSherry and Talwar 2007; McKenna and Sheldon 2020; Dong, Durfee and Rogers 2020 for bounded range.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.noise.additive import Steps, whole
from discreet.noise.distributions import BitSource, claimed, drawn_scale, geometric
from discreet.privacy.exact import Number, exact
from discreet.privacy.loss import Approximate, Choice, Loss

CLEAR: Final = 2.0**-28  # of all weights: how far from the ends of its part a number must be [choose.5]
HALF: Final = 2**62  # the difference of two whole numbers nearer to zero has 64 bits
MANY: Final = 2**20  # weights beyond which floats are not asked [choose.5]
Floats = npt.NDArray[np.float64]
Bounds = tuple[Sequence[int], Sequence[int]]  # low and high ends of the weights, times a common 2^bits


def exp_bounds(x: Fraction, bits: int) -> tuple[int, int]:
    """Integers around 2^bits exp(-x), x >= 0, at most 4 apart. [choose.1]

    The argument is halved until it is below 1/2, the alternating Taylor series is summed with guard bits and an
    explicit error, and the result is squared back. All operations round down or up, never to nearest.
    """
    if x > bits * 0.7 + 2:  # exp(-x) < 2^-bits: in [0, 1]
        return 0, 1
    halvings = max(0, math.ceil(math.log2(float(x) + 1e-300)) + 1)
    guard = bits + 2 * halvings + 24
    one = 1 << guard
    above, below = x.numerator, x.denominator << halvings  # of the argument
    low = high = term_low = term_high = one
    k = 0
    while term_high > 1:
        k += 1
        term_low = term_low * above // (below * k)
        term_high = -(-term_high * above // (below * k))
        low, high = (low - term_high, high - term_low) if k % 2 else (low + term_low, high + term_high)
    low, high = (
        low - term_high - 1,
        high + term_high + 1,
    )  # the tail of an alternating series is below its last term
    for _ in range(halvings):
        low, high = low * low >> guard, -(-high * high >> guard)
    shift = guard - bits
    return low >> shift, -(-high >> shift)  # [choose.1]


def exp_ladder(base: Fraction, wanted: Sequence[int], bits: int) -> npt.NDArray[Any]:
    """Bounds of 2^bits exp(-base s) for s = wanted, which increase: each by multiplication from the one before. A row
    for each s, of Python's integers.

    A step is a sum of powers of 2, and its factor the product of theirs. The lower ends are rounded down. If one is
    within e of the truth, the next is within e + 5 for each power: its factor is within 4 of its truth [choose.1], both
    are at most 2^bits, and rounding takes off less than 1. A lower end that is 0 stays 0,
    and the truth only falls.
    """
    powers: dict[int, int] = {}
    found, low, off, last = [], 1 << bits, 0, 0
    for s in wanted:
        step, last = s - last, s
        while step and low:
            power = step & -step
            if power not in powers:
                powers[power] = exp_bounds(base * power, bits)[0]
            low, off, step = low * powers[power] >> bits, off + 5, step - power
        found.append((low, low + off))
    return np.array(found, dtype=object).reshape(-1, 2)


def pick(
    weights: Callable[[int], Bounds],
    source: BitSource,
    bits: int = 192,
    sure: Callable[[int, int], int | None] | None = None,
) -> int:
    """Index i with probability w_i / sum w; `weights(bits)` bounds all w_i * 2^bits. [choose.2]

    A last index may stand for everything not listed yet, with low end 0: it is never returned, only refined. Of the
    first random bits `sure(bits, uniform)` may tell the index sooner, where it is certain and `weights` would tell it.
    """
    uniform, drawn = source.below(1 << bits), bits
    if sure is not None:
        with np.errstate(all="ignore"):  # whether a weight is too small for a float depends on the data
            found = sure(bits, uniform)
        if found is not None:
            return found  # [choose.2]
    while True:
        if drawn < bits:
            uniform = (uniform << (bits - drawn)) | source.below(1 << (bits - drawn))
            drawn = bits
        low, high = weights(bits)
        total_low, total_high = sum(low), sum(high)
        at_least, at_most = uniform * total_low >> bits, -(-(uniform + 1) * total_high >> bits)
        before_high = after_low = 0
        for index, (small, large) in enumerate(zip(low, high, strict=True)):
            after_low += small
            if before_high <= at_least and at_most <= after_low:
                return index  # [choose.2]
            before_high += large
            if before_high > at_most:
                break
        bits *= 2


def clear_index(weights: Floats, uniform: int, bits: int, rest: float = 0.0) -> int | None:
    """The index that the first bits of U pick, by weights as floats; None if these cannot tell. [choose.5]

    `rest` is no less than what is not listed, or than 2^-bits."""
    if not 0 < len(weights) < MANY:
        return None
    upto = np.cumsum(weights)
    place, total = uniform / (1 << bits), float(upto[-1])
    if not total >= max(2.0**40 * rest, 2.0 ** (60 - bits), 2.0**-600):  # [choose.5]
        return None
    upto /= total
    found = int(np.searchsorted(upto, place))
    before = float(upto[found - 1]) if found else -1.0
    return found if found < len(upto) and before + CLEAR < place < upto[found] - CLEAR else None  # [choose.5]


def whole_scores(scores: Any) -> Steps:
    """The scores as integers, saturated; refused unless they are a list of at least one whole number."""
    listed = whole(scores)
    if listed.ndim != 1 or listed.size == 0:
        raise BadInput(f"scores have shape {listed.shape}; give a list of at least one whole number")
    return listed


def _farthest(mine: Any, other: Any) -> int:
    """The longest way of a score, exactly; at once where no difference leaves 64 bits."""
    both = [one for one in (mine, other) if isinstance(one, np.ndarray) and one.dtype == np.int64]
    if len(both) == 2 and all(int(one.min()) > -HALF and int(one.max()) < HALF for one in both):
        return int(np.abs(both[0] - both[1]).max())
    return max(abs(int(a) - int(b)) for a, b in zip(mine, other, strict=True))


def score_objection(mine: Any, other: Any, sensitivity: Number) -> str | None:
    """The objection if some score moves by more than the claim."""
    if np.shape(mine) != np.shape(other):
        return f"the number of candidates depends on the data: {np.shape(mine)} and {np.shape(other)}"
    moved = _farthest(mine, other)
    if moved > exact(sensitivity):
        return f"a score moved by {moved}, claimed {float(exact(sensitivity)):.6g}"
    return None


@dataclass(frozen=True, slots=True, eq=False)
class Choose:
    """The exponential mechanism over listed candidates."""

    scores: Any
    sensitivity: Number
    cost: Choice
    listed: Steps = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "listed", whole_scores(self.scores))
        claimed(self.sensitivity)

    @property
    def loss(self) -> Loss:
        """The declared cost."""
        return self.cost

    def answer(self, source: BitSource) -> int:
        """First a level (all candidates of one score), then a candidate of that level, uniformly."""
        scores = self.listed
        levels, members = np.unique(scores, return_counts=True)
        unit = exact(self.cost.epsilon) / (2 * exact(self.sensitivity))  # [choose.3]
        heights = (levels - levels[0]).tolist()  # saturated: differences fit into an int64

        def weights(bits: int) -> Bounds:
            low, high = (members.astype(object)[:, None] * exp_ladder(unit, heights, bits)).T.tolist()
            return low, high

        def sure(bits: int, uniform: int) -> int | None:
            factors = np.exp(np.array(heights, dtype=np.float64) * -float(unit))
            return clear_index(members.astype(np.float64) * factors, uniform, bits)  # [choose.5]

        level = pick(weights, source, sure=sure)  # [choose.3]
        candidates = np.flatnonzero(scores == levels[level])
        return int(candidates[source.below(len(candidates))])

    def objection(self, neighbour: "Choose") -> str | None:
        """Different parameters or numbers of candidates, or a score that moves too far."""
        if (self.sensitivity, self.cost) != (neighbour.sensitivity, neighbour.cost):
            return "the parameters of a choice depend on the data"
        return score_objection(self.scores, neighbour.scores, self.sensitivity)


@dataclass(frozen=True, slots=True, eq=False)
class NoisyMax:
    """Report the index of the largest noisy score."""

    scores: Any
    sensitivity: Number
    cost: Approximate
    listed: Steps = field(init=False, repr=False)
    scale: Fraction = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "listed", whole_scores(self.scores))
        if self.cost.delta or not self.cost.epsilon:
            raise BadInput(f"report noisy max is pure: its cost is Approximate(epsilon, 0), not {self.cost}")
        scale = drawn_scale(2 * claimed(self.sensitivity) / exact(self.cost.epsilon))  # [choose.4]
        object.__setattr__(self, "scale", scale)

    @property
    def loss(self) -> Loss:
        """The declared cost."""
        return self.cost

    def answer(self, source: BitSource) -> int:
        """The largest score plus geometric noise."""
        noise = geometric(source, self.listed.size, self.scale)
        noisy = [int(score) + int(extra) for score, extra in zip(self.listed, noise, strict=True)]
        return noisy.index(max(noisy))  # [choose.4]

    def objection(self, neighbour: "NoisyMax") -> str | None:
        """Different parameters or numbers of candidates, or a score that moves too far."""
        if (self.sensitivity, self.cost) != (neighbour.sensitivity, neighbour.cost):
            return "the parameters of a noisy maximum depend on the data"
        return score_objection(self.scores, neighbour.scores, self.sensitivity)
