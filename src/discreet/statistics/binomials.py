"""Bernoulli, binomial and multinomial distributions, with exact intervals where the size is public.

Releases
    BinomialFit: the noisy sum of the records, each a number of successes in a public number m of trials; where the size
    is private also that of the failures. MultinomialFit: a noisy count for each public category, and one for the rest.
Promise
    [binomials.1] BinomialFit is pure epsilon: one record moves the sum by at most m, and the pair (successes, failures)
          by exactly m in L1 when it is added.
    [binomials.2] MultinomialFit is pure epsilon: it is `Histogram`.
    [binomials.3] Under REPLACE each interval has exactly its confidence for independent records of the family, whatever
          n and epsilon. Under ADD_OR_REMOVE it has nearly that, to first order (`discreet.proportion` has at least
          that).
Why
    [binomials.1] A record is rounded to a whole number in [0, m], by itself; missing is 0. Then [additive.1].
    [binomials.2] [histogram.1]; the uniforms that make the noise canonical are post-processing.
    [binomials.3] The sum of n binomials of m trials is one of n m trials, and the noise has the law of canonical noise
    of epsilon / m: [proportion.3]. So has each count of a multinomial, at epsilon / 2. With a private size the share
    errs by ((1 - p) N1 - p N2) / n to first order, N1 the count's own noise, Laplace, and N2 that of the others, taken
    as normal; the interval is where sampling at p and both noises allow the share that was seen.
Needs
    Public trials or categories.
Accuracy
    Noise of standard deviation 1.4 m / (n epsilon) on the mean of the records: for hundreds of trials a larger share of
    the error than elsewhere.
Source
    Awan and Slavkovic 2018 for the exact law; Dwork, McSherry, Nissim and Smith 2006 for the counts.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.errors import BadInput
from discreet.noise.distributions import laplace_scale
from discreet.noise.lattice import total
from discreet.privacy.exact import Number
from discreet.privacy.guarantee import Guarantee, check_budget
from discreet.privacy.intervals import Interval
from discreet.privacy.loss import Approximate, Laplace
from discreet.privacy.mechanism import Randomness, promised
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.provenance import Provenance
from discreet.privacy.release import Release
from discreet.privacy.search import solve
from discreet.privacy.values import Distribution, label
from discreet.stages.normal_laplace import radius
from discreet.statistics.bins import Categories
from discreet.statistics.family import binomial
from discreet.statistics.histogram import Band, Histogram
from discreet.statistics.proportion import KnownSize, centred
from discreet.statistics.sufficient import FamilySpread
from discreet.tables.entries import numbers, public_size, truths

MOST_TRIALS = 10**6


@dataclass(frozen=True, slots=True)
class BinomialFit:
    """The chance of success, from records of successes in `trials` trials each; with 1 trial, from truth values.

    >>> from discreet.noise.randomness import Seeded
    >>> 0.2 < BinomialFit(10, epsilon=1.0).release([2, 3, 4, 3] * 500, Seeded(1)).value.p < 0.4
    True
    """

    trials: int
    epsilon: Number
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        whole = isinstance(self.trials, int | np.integer) and not isinstance(self.trials, bool)
        if not whole or not 1 <= self.trials <= MOST_TRIALS:
            raise BadInput(f"trials is {self.trials!r}; give the public number of trials of each record, 1 or more")

    guarantee = promised

    @property
    def loss(self) -> Approximate:
        """Pure epsilon: noise on whole trials has no better curve."""
        return Approximate(self.epsilon, 0)

    def release(self, rows: Any, rng: Randomness) -> Release[Distribution]:
        """The fitted distribution."""
        many = int(self.trials)
        if many == 1:
            won = truths(rows).astype(np.int64)
        else:
            won = np.rint(np.clip(np.nan_to_num(numbers(rows)), 0, many)).astype(np.int64)  # [binomials.1]
        size, wins = public_size(won, self.neighbours), total(won, many)
        cost, drawn = Laplace(self.epsilon), float(1 / laplace_scale(many, self.epsilon))  # [binomials.3]: as drawn
        part: KnownSize | NoisyShare
        if size is not None:
            noisy = rng.blur(wins, sensitivity=many, cost=cost)  # [binomials.1]
            part = KnownSize(noisy + centred(rng), size * many, drawn)
        else:
            both = rng.blur(
                np.array([wins, many * len(won) - wins], dtype=object), sensitivity=many, cost=cost
            )  # [binomials.1]
            part = noisy_share(int(both[0]), int(both[1]) + int(both[0]), drawn, 2)  # [binomials.3]
        name = "bernoulli" if many == 1 else "binomial"
        fitted = Distribution(name, {"p": part.share}, binomial(many))
        shown = {"trials": many, "neighbours": self.neighbours, "rows": size}
        provenance = Provenance("BinomialFit", shown, rng.secure)
        return Release(
            self.guarantee, provenance, fitted, spread=FamilySpread(fitted, (part,)), name=f"{name} distribution"
        )


@dataclass(frozen=True, slots=True)
class MultinomialFit:
    """The probabilities of public categories among all records; `distribution()` is of one draw among those listed.

    >>> from discreet.noise.randomness import Seeded
    >>> fitted = MultinomialFit(Categories.of(["a", "b"]), epsilon=1.0).release(["a", "b", "b"] * 500, Seeded(1)).value
    >>> 0.6 < fitted.probabilities["b"] < 0.7
    True
    """

    categories: Categories
    epsilon: Number
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"

    def __post_init__(self) -> None:
        self._histogram()
        names = [label(one) for one in self.categories.names]
        if len(set(names)) < len(names):
            raise BadInput(f"categories are shown as {names!r}, some of them alike; give each a name of its own")

    def _histogram(self) -> Histogram:
        return Histogram(
            self.categories, self.epsilon, 0.0, noise="laplace", neighbours=self.neighbours, unit=self.unit
        )

    @property
    def guarantee(self) -> Guarantee:
        """Pure epsilon."""
        return self._histogram().guarantee

    @property
    def loss(self) -> Approximate:
        """Pure epsilon."""
        return Approximate(self.epsilon, 0)  # [binomials.2]

    def release(self, rows: Any, rng: Randomness) -> Release[Distribution]:
        """The fitted distribution."""
        counted = self._histogram()
        inner = counted.release(rows, rng)  # [binomials.2]
        assert isinstance(inner.spread, Band)
        noisy, size = inner.spread.noisy, inner.spread.size
        drawn = float(1 / laplace_scale(counted.sensitivity, self.epsilon))
        parts: list[KnownSize | NoisyShare] = []
        for count in noisy[:-1].tolist():
            if size is not None:
                parts.append(KnownSize(count + centred(rng), size, drawn))  # [binomials.3]
            else:
                parts.append(noisy_share(count, float(noisy.sum()), drawn, len(noisy)))
        shares = [part.share for part in parts]
        names = [label(one) for one in self.categories.names]
        fitted = Distribution("multinomial", dict(zip(names, shares, strict=True)), one_of)
        provenance = Provenance("MultinomialFit", dict(inner.provenance.parameters), rng.secure)
        return Release(
            self.guarantee,
            provenance,
            fitted,
            spread=FamilySpread(fitted, tuple(parts)),
            name="multinomial distribution",
        )


@dataclass(frozen=True, slots=True)
class NoisyShare:
    """A share of a total that is itself noisy: `laplace` is the scale of the count's own noise, `normal` the total's.

    The interval holds every share at which this one would be no surprise, as Wilson's does without noise.
    """

    share: float
    whole: float
    laplace: float
    normal: float

    @property
    def sampling(self) -> float:
        """Standard deviation from sampling."""
        return math.sqrt(self.share * (1 - self.share) / self.whole)

    @property
    def privacy(self) -> float:
        """Standard deviation from the noise."""
        return math.hypot(math.sqrt(2) * self.laplace, self.normal)

    def interval(self, confidence: float) -> Interval:
        """Sampling and privacy together. [binomials.3]"""

        def reach(p: float) -> float:
            return radius(confidence, math.hypot(math.sqrt(p * (1 - p) / self.whole), self.normal), self.laplace)

        low = solve(lambda p: p + reach(p), self.share, 0.0, self.share)
        high = solve(lambda p: p - reach(p), self.share, self.share, 1.0)
        return Interval(low, high, confidence=confidence, about="the population's share", population=True)


def noisy_share(count: float, whole: float, epsilon: float, many: int) -> NoisyShare:
    """One of `many` noisy counts over their sum: the other counts' noise is taken as normal. [binomials.3]"""
    total = max(1.0, whole)
    share, unit = min(max(count / total, 0.0), 1.0), 1 / (epsilon * total)
    return NoisyShare(share, total, (1 - share) * unit, share * math.sqrt(2 * (many - 1)) * unit)


def one_of(*chances: float) -> Any:
    """One draw among the categories."""
    from scipy import stats

    positive = np.maximum(np.array(chances), 0.0)
    whole = positive.sum()
    return stats.multinomial(1, positive / whole if whole > 0 else np.full(len(chances), 1 / len(chances)))
