"""Only what rises above a threshold is shown: the first of many questions, at the price of one; bins that nobody lists.

Promise
    [threshold.1] FirstAbove: the first index i with s_i + Z_i >= threshold + Y, Y and Z_i discrete Laplace noise of
         scales 2 D / epsilon and 4 D / epsilon, when one person's change moves every score by at most D. Pure epsilon.
    [threshold.2] Known bins (`bins` of them, keys 0, ..., bins - 1): the result has exactly the distribution of adding
         discrete Laplace noise to every bin, empty ones too, and keeping the counts of at least `above`. Pure epsilon,
         as [additive.1].
    [threshold.3] Unknown bins (`bins` is None): noise on the non-empty bins alone. If one person's change moves counts
         by at most `sensitivity`, 1 or 2, in L1, and of two neighbouring tables neither has more than one bin that is
         empty on the other, holding one person, the release is (epsilon, delta), delta = P(1 + Z >= above). Under
         REPLACE as under ADD_OR_REMOVE only one such delta is paid.

Why
    [threshold.1] Fix Z_1, ..., Z_{i-1} and compare a table with a neighbour. Before i no score reached the threshold:
    shifting Y up by D keeps that so on the neighbour, at a price of e^{epsilon/2}. At i the score reached it: shifting
    Z_i up by 2D keeps that so, against a threshold D higher and a score D lower, at another e^{epsilon/2}. "None" costs
    the first part alone. Shifts are integers, as scores, threshold and noise are; D is rounded up to one.
    [threshold.2] The noise of the empty bins is independent and identical. The number of them that reach the threshold
    is Binomial(empty, p), p = P(Z >= above) = a^above / (1 + a), a = e^{-1/b}; which ones is uniform; and given that it
    is reached, the excess is geometric. All three are drawn exactly: the binomial as a sum of binomials of mean at most
    about 64, each through its weights C(N, k) o^k, o = p / (1 - p), by `lazy.pick` [choose.2].
    [threshold.3] Let x, x' be neighbours. Bins non-empty on both: noise of scale sensitivity / epsilon, [additive.1].
    ADD_OR_REMOVE: at most one bin is non-empty on one side only, with one person, and is shown with probability at most
    delta = P(1 + Z >= above); when it is not shown the outputs compare as in [additive.1]. REPLACE: one person moves
    from bin u to bin v. Let A be the output on x, A' on x', and let u be unique to x, v unique to x' (the worst case).
    For an event E, P(A in E) <= P(u shown on x) + P(A in E, u not shown). Off that event x shows neither u nor v, and
    P(A in E, u not shown) <= P(rest in E), while P(A' in E) >= P(rest in E) P(v not shown) >= (1 - delta) P(rest in E):
    so P(A in E) <= delta + P(A' in E) / (1 - delta), and 1 / (1 - delta) <= e^{epsilon / 2} whenever delta <= 1 -
    e^{-epsilon / 2}. If only u is unique, v moves by one, at a price of e^{epsilon / 2} (its noise has scale 2 /
    epsilon): P(A in E) <= delta + e^{epsilon / 2} P(A' in E), and the other way round P(A' in E) <= e^{epsilon / 2} P(A
    in E) / (1 - delta) <= e^epsilon P(A in E).

Needs
    Whole scores, all fixed in advance or each depending on the earlier ones only through their being below.
    Whole counts; one below 1 is an empty bin, and over known bins a key that is not one of them is ignored. Keys that
    are equal must look equal (not 1, 1.0 and True): a shown key is shown as it came. above >= 1. [threshold.3]: above
    >= 2, delta <= 1 - e^{-epsilon/2}, and people who hold one bin each: with two each, two deltas would be paid.

Accuracy
    With probability 1 - b, no score more than (8 D / epsilon) ln(2 K / b) below the threshold is returned and none
    more than that above it is passed over.
    As the noise; a bin with fewer people than `above` may be missing.

Source
    Dwork, Naor, Reingold, Rothblum and Vadhan 2009; Lyu, Su and Li 2017 for which variants are broken.
    Cormode, Procopiuc, Srivastava and Tran 2012 for [threshold.2]; Korolova et al. 2009, Bun, Nissim and Stemmer 2016
    for [threshold.3], here with the exact constant of discrete noise.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache, partial
from math import ceil
from typing import Final

import numpy as np

from discreet.errors import BadInput
from discreet.noise.additive import ROOM
from discreet.noise.choose import Bounds, exp_bounds, pick, score_objection, whole_scores
from discreet.noise.distributions import BitSource, claimed, drawn_scale, geometric
from discreet.privacy.exact import Number, exact, is_number
from discreet.privacy.loss import Approximate, Laplace, Loss


@dataclass(frozen=True, slots=True, eq=False)
class FirstAbove:
    """The first noisy score at or above a noisy threshold, or the number of scores."""

    scores: tuple[int, ...]
    threshold: int
    sensitivity: Number
    cost: Approximate

    def __post_init__(self) -> None:
        whole_scores(self.scores)
        if not isinstance(self.threshold, int | np.integer) or isinstance(self.threshold, bool):
            raise BadInput(f"the threshold is {self.threshold!r}; it must be a whole number")
        if self.cost.delta or not self.cost.epsilon:
            raise BadInput(f"above-threshold is pure: its cost is Approximate(epsilon, 0), not {self.cost}")
        self._scales()

    def _scales(self) -> tuple[Fraction, Fraction]:
        unit = ceil(claimed(self.sensitivity)) / exact(self.cost.epsilon)
        return drawn_scale(2 * unit), drawn_scale(4 * unit)  # [threshold.1]

    @property
    def loss(self) -> Loss:
        """The declared cost."""
        return self.cost

    def answer(self, source: BitSource) -> int:
        """All noise is drawn, whatever the answer."""
        for_bar, for_scores = self._scales()
        bar = int(self.threshold) + int(source.laplace(1, for_bar)[0])  # [threshold.1]
        scores = whole_scores(self.scores).tolist()
        noise = source.laplace(len(scores), for_scores).tolist()  # [threshold.1]
        reached = [score + extra >= bar for score, extra in zip(scores, noise, strict=True)]
        return reached.index(True) if any(reached) else len(self.scores)

    def objection(self, neighbour: "FirstAbove") -> str | None:
        """Different parameters or numbers of scores, or a score that moves too far."""
        mine, other = (
            (request.threshold, request.sensitivity, request.cost, len(request.scores)) for request in (self, neighbour)
        )
        if mine != other:
            return "the parameters of above-threshold depend on the data"
        return score_objection(self.scores, neighbour.scores, self.sensitivity)


DIGITS: Final = 1280  # binary ones, of a tail: far more than the 997 that a delta of 1e-300 needs
LEAST_DELTA: Final = 1e-300
BLOCK: Final = 64  # the expected number of empty bins lifted in one binomial draw


def tail_bounds(scale: Fraction, above: int, bits: int) -> tuple[int, int]:
    """Bounds on 2^bits P(Z >= above) = 2^bits a^above / (1 + a), a = e^{-1/scale}, above >= 1."""
    one = 1 << bits
    low, high = exp_bounds(Fraction(above) / scale, bits)
    a_low, a_high = exp_bounds(1 / scale, bits)
    return low * one // (one + a_high), -(-high * one // (one + a_low))


@lru_cache(maxsize=1024)
def tail_above(scale: Fraction, above: int) -> Fraction:
    """A rational not below P(Z >= above), off by less than 2^-1270."""
    return Fraction(tail_bounds(scale, above, DIGITS)[1], 2**DIGITS)


@lru_cache(maxsize=256)
def threshold_for(sensitivity: int, epsilon: Number, delta: Number) -> int:
    """The least whole threshold T with P(1 + Z >= T) <= delta: ceil(1 + b ln(1 / (delta (1 + e^{-1/b})))).
    [threshold.3]

    >>> threshold_for(2, 1, 1e-3), threshold_for(2, 0.5, 1e-3), threshold_for(2, 2, 1e-4)
    (14, 27, 10)
    """
    if not (is_number(delta) and LEAST_DELTA <= delta <= 1):
        raise BadInput(f"delta is {delta!r}; a threshold needs a number from {LEAST_DELTA} to 1")
    scale = drawn_scale(claimed(sensitivity) / exact(epsilon))
    candidates = range(2, 4 + ceil(700 * scale))  # e^-700 is below any delta
    # [threshold.3]
    return candidates[bisect_left(candidates, True, key=lambda t: tail_above(scale, t - 1) <= exact(delta))]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Sift:
    """Noisy counts at or above a threshold; an absent bin counts 0."""

    counts: dict[Hashable, int]
    sensitivity: int
    cost: Laplace
    above: int
    delta: Number
    bins: int | None

    def __post_init__(self) -> None:
        if not isinstance(self.above, int) or self.above < 1:
            raise BadInput(f"the threshold is {self.above!r}; it must be a whole number, 1 or more")
        if not all(isinstance(count, int | np.integer) for count in self.counts.values()):
            raise BadInput("counts must be whole numbers, and not all of these are")
        scale = self._scale()
        if self.bins is None:
            if self.sensitivity not in (1, 2):  # [threshold.3]
                raise BadInput(
                    f"the sensitivity is {self.sensitivity!r}; unknown bins need people who hold one bin each, so "
                    "that it is 1 (added or removed) or 2 (replaced)"
                )
            if not (is_number(self.delta) and 0 < self.delta < 1):
                raise BadInput(f"delta is {self.delta!r}; unknown bins need a number between 0 and 1")
            if self.above < 2 or tail_above(scale, self.above - 1) > exact(self.delta):  # [threshold.3]
                raise BadInput(f"a threshold of {self.above} lets a lone person through more often than {self.delta!r}")
            # [threshold.3]
            if exact(self.delta) > 1 - Fraction(exp_bounds(exact(self.cost.epsilon) / 2, 256)[1], 2**256):
                raise BadInput(f"delta is {self.delta!r}; it must be at most 1 - exp(-epsilon / 2)")
        elif self.delta:
            raise BadInput("known bins are pure: delta must be 0")
        elif not isinstance(self.bins, int) or self.bins < 1:
            raise BadInput(f"the number of bins is {self.bins!r}; it must be a whole number, 1 or more")

    def _scale(self) -> Fraction:
        return drawn_scale(claimed(self.sensitivity) / exact(self.cost.epsilon))

    @property
    def loss(self) -> Loss:
        """Pure over known bins, (epsilon, delta) over unknown ones."""
        return Approximate(self.cost.epsilon, self.delta if self.bins is None else 0)  # [threshold.3]

    def answer(self, source: BitSource) -> dict[Hashable, int]:
        """The bins that reach the threshold, in an order that says nothing about the data."""
        occupied = self._occupied()
        noise = source.laplace(len(occupied), self._scale()).tolist()
        noisy = {key: min(count + z, ROOM) for (key, count), z in zip(occupied.items(), noise, strict=True)}
        shown = {key: count for key, count in noisy.items() if count >= self.above}
        if self.bins is not None:
            shown |= self._from_empty(occupied, source)  # [threshold.2]
        return dict(sorted(shown.items(), key=lambda item: (-item[1], repr(item[0]))))

    def _occupied(self) -> dict[Hashable, int]:
        """The bins with somebody in them; a known one as the plain integer that a lifted one would be."""
        found = {key: int(count) for key, count in self.counts.items() if count > 0}
        if self.bins is None:
            return found
        known = {int(key): count for key, count in found.items() if isinstance(key, int | np.integer)}
        return {key: count for key, count in known.items() if 0 <= key < self.bins}

    def _from_empty(self, occupied: dict[Hashable, int], source: BitSource) -> dict[Hashable, int]:
        """The empty bins that noise alone lifts to the threshold. [threshold.2]"""
        assert self.bins is not None
        empty = self.bins - len(occupied)
        many = self._how_many(empty, source)
        ranks: dict[int, None] = {}
        while len(ranks) < many:
            ranks[source.below(empty)] = None
        before = [key - index for index, key in enumerate(sorted(key for key in occupied if isinstance(key, int)))]
        lifted = [rank + bisect_right(before, rank) for rank in ranks]  # the rank-th of the empty bins
        excess = geometric(source, many, self._scale()).tolist()
        return {key: min(self.above + extra, ROOM) for key, extra in zip(lifted, excess, strict=True)}

    def _how_many(self, empty: int, source: BitSource) -> int:
        """Binomial(empty, P(Z >= above)), exactly: a sum over blocks of bins of mean at most BLOCK."""
        block = max(1, int(BLOCK / tail_above(self._scale(), self.above)))
        blocks, rest = divmod(empty, block)
        full = cache(partial(self._weights, block))
        return sum(pick(full, source) for _ in range(blocks)) + pick(partial(self._weights, rest), source)

    def _weights(self, size: int, bits: int) -> Bounds:
        """C(size, k) o^k, k = 0, 1, ...: until the rest, which stands together, is small. [threshold.2]"""
        one = 1 << bits
        low_p, high_p = tail_bounds(self._scale(), self.above, 2 * bits)
        low_o = Fraction(low_p, (1 << 2 * bits) - low_p)
        high_o = Fraction(high_p, (1 << 2 * bits) - high_p)
        low, high = [one], [one]
        for k in range(size):
            ratio = Fraction(size - k, k + 1)
            if ratio * high_o < Fraction(1, 2) and high[-1] <= one >> (bits // 2):
                low.append(0)
                high.append(2 * high[-1] + 1)  # ratios fall: the rest is below a geometric series of ratio 1/2
                break
            down, up = ratio * low_o, ratio * high_o
            low.append(low[-1] * down.numerator // down.denominator)
            high.append(-(-high[-1] * up.numerator // up.denominator))
        return low, high

    def objection(self, neighbour: "Sift") -> str | None:
        """Different parameters, counts too far apart, or bins that the neighbour lacks: two of them, or one of two."""
        mine, other = (
            (request.sensitivity, request.cost, request.above, request.delta, request.bins)
            for request in (self, neighbour)
        )
        if mine != other:
            return "the threshold or the noise depends on the data"
        keys = {*self.counts, *neighbour.counts}
        pairs = [(int(self.counts.get(key, 0)), int(neighbour.counts.get(key, 0))) for key in keys]
        moved = sum(abs(a - b) for a, b in pairs)
        if moved > self.sensitivity:
            return f"counts moved by {moved}, claimed {self.sensitivity}"
        if self.bins is not None:
            return None
        if any(min(pair) == 0 and max(pair) > 1 for pair in pairs):
            return "a bin appears with more than one person at once"
        if max(sum(a > 0 == b for a, b in pairs), sum(b > 0 == a for a, b in pairs)) > 1:
            return "more than one bin appears at once"
        return None
