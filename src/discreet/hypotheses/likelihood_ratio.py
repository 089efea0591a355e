"""One known distribution against another: the sum of clamped log-likelihood ratios, with noise.

Releases
    The noisy sum, over people, of log(q / p) clamped to [low, high], and its p-value under p. With method="vote": the
    noisy number of blocks of people that vote for q, each by its own likelihood ratio, as in the lecture.
Promise
    [likelihood_ratio.1] Pure epsilon: replacing one person moves the sum by at most high - low; or changes one vote.
    [likelihood_ratio.2] The p-value is super-uniform if the entries are independent with distribution p.
    [likelihood_ratio.3] Both hold under ADD_OR_REMOVE too, where the number of people is private.
Why
    [likelihood_ratio.1] The ratio is that of a person's cell: public cells, at quantiles of both distributions (or the
    categories), each with a whole number of steps, 0 to 64, that stands for its clamped ratio. An entry finds its cell
    by comparisons alone, so that no rounding of one person's ratio can depend on another's. Then [additive.1]. What is
    in no cell, missing entries too, has the lowest number. Votes: [combined_tests.1].
    [likelihood_ratio.2] The cells' probabilities under p are known, so the distribution of the sum is:
    [null_distributions.1]. A block's vote is by the exact p-value of its own sum, unclamped; votes: [combined_tests.2].
    [likelihood_ratio.3] The sum: a noisy number m first, then the sum over m people, with cells drawn from p standing
    in where there are fewer: [private_sizes.1], [private_sizes.2]. Votes: the number of blocks follows from epsilon. A
    block is a keyed hash of the person, as in [partition.3], and votes by the distribution for as many people as it
    has; one person more or less changes one vote. An empty block does not vote for q.
Needs
    Two distributions with `cdf` and `ppf` (as scipy.stats has them), or two mappings from categories to probabilities.
Accuracy
    The clamp is the one with the greatest power at level 0.05, computed from p and q to normal accuracy. Up to
    constants no private test needs fewer people (Canonne et al. 2019).
Source
    Canonne, Kamath, McMillan, Smith and Ullman 2019; there with the clamp [-epsilon', epsilon].
"""

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, Final, Literal

import numpy as np

from discreet.errors import BadInput, Refused
from discreet.hypotheses.combined_tests import VoteCount
from discreet.hypotheses.null_distributions import Floats, Integers, NoisyDistribution, check_powerful, wave_of_sums
from discreet.hypotheses.private_sizes import (
    COUNTING,
    noisy_sizes,
    seated,
    secret_key,
    secret_words,
    split_budget,
    stand_ins,
    too_few_people,
    uniform,
)
from discreet.hypotheses.result import NULL, pure
from discreet.noise.distributions import laplace_scale
from discreet.privacy.declaration import Columns, Public, Reads, category, number, statistic
from discreet.privacy.exact import Number, is_number
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.loss import Laplace
from discreet.privacy.mechanism import Mechanism, Randomness, promised, refusal_of
from discreet.privacy.release import Provenance, Release
from discreet.privacy.values import TestResult
from discreet.stages.normal_laplace import quantile_of, tail
from discreet.statistics.histogram import Categories
from discreet.tables.entries import numbers, public_size
from discreet.worlds.assumptions import About, Effect
from discreet.worlds.shapes import shift

GIVEN: Final = f"{NULL}entries have the first of the two distributions; alternative: they have the second"
LEVELS: Final = 64  # steps from the lowest clamped ratio to the highest
KNOTS: Final = 2048  # quantiles of each distribution that part the cells
TRIED: Final = 8  # ends of the clamp on each side
VOTES: Final = 20  # blocks times epsilon in the lecture's vote
NO_NOISE: Final = Fraction(1, 2**9)  # no noise at all, but for a chance of e^-512
SURE: Final = 40.0  # a ratio beyond e^40 is taken as e^40


@dataclass(frozen=True, slots=True, eq=False)
class RatioCells:
    """Public cells with their probabilities under both distributions: intervals between `knots`, or categories."""

    knots: Floats | None
    categories: Categories | None
    null: Floats
    other: Floats

    @classmethod
    def of(cls, p: Any, q: Any) -> "RatioCells":
        """From two distributions."""
        if isinstance(p, Mapping) and isinstance(q, Mapping):
            names = Categories.of([*p, *(name for name in q if name not in p)])
            for chance in (*p.values(), *q.values()):
                if not is_number(chance):
                    raise BadInput(f"a probability is {chance!r}; probabilities must be 0 or more and sum to 1")
            null, other = (
                np.array([float(distribution.get(name, 0)) for name in names.names]) for distribution in (p, q)
            )
            for distribution in (null, other):
                if not (distribution >= 0).all() or abs(distribution.sum() - 1) > 1e-9:
                    raise BadInput("probabilities must be 0 or more and sum to 1")
            return cls(None, names, null / null.sum(), other / other.sum())
        for distribution in (p, q):
            if not hasattr(distribution, "cdf") or not hasattr(distribution, "ppf"):
                raise BadInput(
                    f"a distribution is {type(distribution).__name__}; give two that have cdf and ppf, for example "
                    "scipy.stats.norm(0, 1), or two dictionaries of probabilities"
                )
        shares = (np.arange(KNOTS) + 0.5) / KNOTS
        ends = np.concatenate([np.asarray(distribution.ppf(shares), dtype=np.float64) for distribution in (p, q)])
        knots = np.unique(ends[np.isfinite(ends)])
        masses = [np.diff(np.concatenate([[0.0], distribution.cdf(knots), [1.0]])) for distribution in (p, q)]
        return cls(knots, None, *(np.maximum(mass, 0) / np.maximum(mass, 0).sum() for mass in masses))

    @property
    def ratios(self) -> Floats:
        """log(q / p) of each cell, within +-40."""
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.log(self.other) - np.log(self.null)
        return np.clip(np.where(np.isnan(found), 0.0, found), -SURE, SURE)

    def places(self, rows: Any) -> Integers:
        """The cell of each entry, -1 for none. [likelihood_ratio.1]"""
        if self.categories is not None:
            found = self.categories.indices(rows)
            return np.where(found == len(self.categories), -1, found)
        values = numbers(rows)
        assert self.knots is not None
        return np.where(np.isnan(values), -1, np.searchsorted(self.knots, values, side="left"))


@dataclass(frozen=True, slots=True)
class SimpleTest:
    """Is the distribution p, and not q?

    >>> from discreet.noise.randomness import Seeded
    >>> test = SimpleTest({"a": 0.5, "b": 0.5}, {"a": 0.7, "b": 0.3}, 1.0)
    >>> test.release(["a"] * 210 + ["b"] * 90, Seeded(1)).value.decide(0.001)
    True
    """

    p: Any
    q: Any
    epsilon: Number
    _: KW_ONLY
    method: Literal["clamped", "vote"] = "clamped"
    clamp: tuple[float, float] | None = None
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"
    cells: RatioCells = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        if self.method not in ("clamped", "vote"):
            raise BadInput(f"method is {self.method!r}; give 'clamped' or 'vote'")
        if self.clamp is not None and not (
            isinstance(self.clamp, list | tuple)
            and len(self.clamp) == 2
            and all(map(is_number, self.clamp))
            and self.clamp[0] < self.clamp[1]
        ):
            raise BadInput(f"the clamp is {self.clamp!r}; give two numbers, the lower first")
        object.__setattr__(self, "cells", RatioCells.of(self.p, self.q))
        if np.ptp(self.cells.ratios) < 1e-12:
            raise BadInput("both distributions are the same; there is nothing to tell apart")

    guarantee, loss = promised, pure

    def release(self, rows: Any, rng: Randomness) -> Release[TestResult]:
        """The noisy sum and the p-value, or a refusal."""
        places = self.cells.places(rows)
        size = public_size(places, self.neighbours)
        if (refusal := refusal_of(self, size)) is not None:
            return self._refused(refusal, rng)
        if self.method == "vote":
            return self._vote(places, size, rng)
        if size is not None:
            return self._clamped(places, self.epsilon, rng)
        counting, rest = split_budget(self.epsilon, COUNTING)
        (size,) = noisy_sizes([len(places)], counting, rng)  # [likelihood_ratio.3]
        try:
            self._check_sum(size, rest)
        except Refused:
            words = too_few_people(size, self.epsilon, partial(self._check_sum, epsilon=rest))
            return self._refused(words, rng)
        return self._clamped(seats(places, size, self.cells.null, secret_key(rng)), rest, rng)  # [likelihood_ratio.3]

    def check(self, size: int | None) -> None:
        """Refused, by public numbers, if noise would drown so many people."""
        if size is None:
            return
        if self.method == "vote":
            try:
                self._votes(size)
            except BadInput as reason:
                raise Refused(str(reason)) from None
        else:
            self._check_sum(size, self.epsilon)

    def power(self, size: int, level: float) -> float:
        """The chance that the clamped sum rejects p where q is true, to normal accuracy; Refused as the test is."""
        epsilon = self.epsilon if self.neighbours.size_is_public else split_budget(self.epsilon, COUNTING)[1]
        self._check_sum(size, epsilon)
        clamp = self.clamp or best_clamp(self.cells, size, float(epsilon))
        return clamped_power(self.cells, clamp, size, float(epsilon), level)

    def _check_sum(self, size: int, epsilon: Number) -> None:
        words = f"{size} people at epsilon {float(epsilon):g}"
        check_powerful(self._distribution(size, epsilon)[1], 0, LEVELS * size, words, Refused)

    def _refused(self, words: str, rng: Randomness) -> Release[TestResult]:
        provenance = Provenance("SimpleTest", {"method": self.method}, rng.secure, notes=(GIVEN,))
        return Release(self.guarantee, provenance, refusal=words, name="likelihood ratio")

    def _distribution(self, size: int, epsilon: Number) -> tuple[tuple[float, float], NoisyDistribution]:
        """The clamp, and the distribution of the noisy sum under p."""
        low, high = self.clamp or best_clamp(self.cells, size, float(epsilon))
        steps = clamped_steps(self.cells.ratios, low, high)
        return (low, high), ratio_distribution(self.cells, steps, size, laplace_scale(LEVELS, epsilon))

    def _votes(self, size: int | None) -> VoteCount:
        """How many blocks vote; a public number, whether that of people is or not."""
        blocks = math.ceil(VOTES / float(self.epsilon)) | 1
        return VoteCount(blocks if size is None else min(size, blocks), 0.5, self.epsilon)

    def _clamped(self, places: Integers, epsilon: Number, rng: Randomness) -> Release[TestResult]:
        size = len(places)
        (low, high), distribution = self._distribution(size, epsilon)
        steps = clamped_steps(self.cells.ratios, low, high)
        total = int(np.where(places < 0, 0, steps[places]).sum())
        noisy = rng.blur(total, sensitivity=LEVELS, cost=Laplace(epsilon))  # [likelihood_ratio.1]
        shown = {"rows": size, "clamp": (low, high)}
        answer = TestResult(
            size * low + noisy * (high - low) / LEVELS, distribution.upper(noisy)
        )  # [likelihood_ratio.2]
        history = Provenance("SimpleTest", shown, rng.secure, notes=(GIVEN,))
        return Release(self.guarantee, history, answer, name="likelihood ratio")

    def _vote(self, places: Integers, size: int | None, rng: Randomness) -> Release[TestResult]:
        votes, steps = self._votes(size), all_steps(self.cells)
        blocks = votes.blocks
        if size is None:  # the block of each person
            words = secret_words(places.astype(np.float64), secret_key(rng))  # [likelihood_ratio.3]
            slots = (words[:, 0] % np.uint64(blocks)).astype(np.int64)
        else:
            slots = rng.permutation(size) * blocks // size  # the block of each position
        sums = np.bincount(slots, np.where(places < 0, 0, steps[places]), blocks).astype(np.int64)
        members = np.bincount(slots, minlength=blocks)
        found = np.ones(blocks)
        for count in np.unique(members[members > 0]):
            least = least_vote(self.cells, int(count))
            found[members == count] = np.where(sums[members == count] >= least, 0.5, 1.0)  # [likelihood_ratio.2]
        inner = votes.release(found, rng)  # [likelihood_ratio.1]
        shown = {"rows": size, "method": "vote", "blocks": blocks}
        provenance = Provenance("SimpleTest", shown, rng.secure, notes=(GIVEN,))
        return Release(self.guarantee, provenance, inner.value, name="vote of likelihood ratios")


def seats(places: Integers, size: int, null: Floats, key: bytes) -> Integers:
    """The cells of so many people; where there are fewer, cells drawn from p stand in. [likelihood_ratio.3]"""
    chosen = seated(secret_words(places.astype(np.float64), key), size)
    others = uniform(stand_ins(len(chosen), size, key))
    return np.append(places[chosen], np.searchsorted(np.cumsum(null)[:-1], others, side="right"))


def clamped_steps(ratios: Floats, low: float, high: float) -> Integers:
    """Each cell's clamped ratio as a whole number of steps, 0 to 64. [likelihood_ratio.1]"""
    steps: Integers = np.rint((np.clip(ratios, low, high) - low) * (LEVELS / (high - low))).astype(np.int64)
    return np.clip(steps, 0, LEVELS)


def all_steps(cells: RatioCells) -> Integers:
    """Not clamped."""
    return clamped_steps(cells.ratios, float(cells.ratios.min()), float(cells.ratios.max()))


@lru_cache(maxsize=64)
def least_vote(cells: RatioCells, count: int) -> int:
    """The sum at which a block of so many people votes for q: half of all blocks or fewer would under p.
    [likelihood_ratio.2]"""
    return ratio_distribution(cells, all_steps(cells), count, NO_NOISE).critical(0.5)


def ratio_distribution(cells: RatioCells, steps: Integers, size: int, scale: Fraction) -> NoisyDistribution:
    """The sum over `size` people with distribution p, and noise; Hoeffding: 4.5 sqrt(n) LEVELS leave e^-40.
    [likelihood_ratio.2]"""
    chances: Floats = np.bincount(steps, cells.null, LEVELS + 1).astype(np.float64)
    values = np.flatnonzero(chances)
    middle = round(float(values @ chances[values]) * size)
    each, rest = divmod(middle, size)
    inner = wave_of_sums(values - each, chances[values], size)

    def wave(angles: Integers, period: int) -> Any:
        return inner(angles, period) * np.exp(-2j * np.pi * (angles * rest % period) / period)

    return NoisyDistribution(wave, 2 * middle, min(size * LEVELS, math.ceil(4.5 * math.sqrt(size) * LEVELS)) + 1, scale)


@lru_cache(maxsize=64)
def best_clamp(cells: RatioCells, size: int, epsilon: float, level: float = 0.05) -> tuple[float, float]:
    """The clamp with the greatest power, from the two distributions and public numbers. [likelihood_ratio.2]"""
    ratios = cells.ratios
    spread = np.concatenate([-np.geomspace(0.02, 1, TRIED), np.geomspace(0.02, 1, TRIED)])
    ends = np.unique(np.clip(spread * max(abs(ratios.min()), abs(ratios.max())), ratios.min(), ratios.max()))
    lows, highs = [end for end in ends if end <= 0], [end for end in ends if end >= 0]
    pairs = [(float(low), float(high)) for low in lows for high in highs if high - low > 1e-9]
    return max(pairs, key=lambda pair: clamped_power(cells, pair, size, epsilon, level))


def clamped_power(cells: RatioCells, clamp: tuple[float, float], size: int, epsilon: float, level: float) -> float:
    """To normal accuracy, with the noise."""
    values = np.clip(cells.ratios, *clamp)
    (null, spread), (mean, variance) = (
        (float(distribution @ values), float(distribution @ values**2 - (distribution @ values) ** 2))
        for distribution in (cells.null, cells.other)
    )
    noise, normal = (clamp[1] - clamp[0]) / epsilon, math.sqrt(max(spread, 0) * size)
    critical = quantile_of(level, normal, noise)
    return tail(critical - size * (mean - null), math.sqrt(max(variance, 0) * size), noise)


def _reads(options: Mapping[str, Any]) -> Reads:
    return category() if isinstance(options.get("p"), Mapping) else number()


def _world(about: About) -> Effect:
    if "p" not in about.given and "q" not in about.given:
        from scipy import stats

        about.given |= {"p": stats.norm(0, 1), "q": stats.norm(shift(about), 1)}
    q = about.given.get("q")
    about.say("the rows come from q")

    def make(g: Any, n: int) -> dict[str, Any]:
        if isinstance(q, Mapping):
            return {"x": g.choice(np.array(list(q), dtype=object), n, p=np.array(list(q.values())))}
        return {"x": q.rvs(size=n, random_state=g)}  # type: ignore[union-attr]

    if about.given.get("method", "clamped") == "clamped":
        return Effect(make=make, closed=lambda test, n, level: test.power(n, level))
    return Effect(make=make, most=100_000)  # votes: p and q are what they are, however many rows there are


@statistic({"x": _reads}, world=_world)
def likelihood_ratio_test(
    people: Public,
    x: Columns,
    p: Any,
    q: Any,
    *,
    epsilon: Number,
    method: Literal["clamped", "vote"] = "clamped",
    clamp: tuple[float, float] | None = None,
) -> Mechanism[TestResult]:
    """Null: the distribution is p, and not q: two distributions of scipy.stats, or dictionaries of probabilities.

    Exact. method="vote" is the lecture's, kept for comparison: blocks of people vote by their likelihood ratios.

    >>> import discreet
    >>> fair, loaded, rolls = {0: 0.5, 1: 0.5}, {0: 0.4, 1: 0.6}, [1, 1, 1, 0] * 100
    >>> release = discreet.likelihood_ratio_test(rolls, fair, loaded, epsilon=1.0, rng=discreet.Seeded(1))
    >>> release.value.decide(0.01)
    True
    """
    return SimpleTest(p, q, epsilon, method=method, clamp=clamp, neighbours=people.neighbours, unit=people.unit)
