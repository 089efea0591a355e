"""Bernoulli, binomial and multinomial distributions, with exact intervals where the size is public.

Releases
    BinomialFit: the noisy sum of the records, each a number of successes in a public number m of trials; where the size
    is private also that of the failures. MultinomialFit: a noisy count for each public category, and one for the rest.
Promise
    [BN1] BinomialFit is pure epsilon: one record moves the sum by at most m, and the pair (successes, failures) by
          exactly m in L1 when it is added.
    [BN2] MultinomialFit is pure epsilon: it is `Histogram`.
    [BN3] Under REPLACE each interval has exactly its confidence for independent records of the family, whatever n and
          epsilon. Under ADD_OR_REMOVE a binomial interval has at least that, a multinomial one nearly.
Why
    [BN1] A record is rounded to a whole number in [0, m], by itself; missing is 0. Then [N1] of noise/blur.py.
    [BN2] [D1] of statistics/histogram.py; the uniforms that make the noise canonical are post-processing.
    [BN3] The sum of n binomials of m trials is one of n m trials, and the noise has the law of canonical noise of
    epsilon / m: [O3] of statistics/proportion.py. So has each count of a multinomial, at epsilon / 2. With a private
    size the count's own noise is Laplace and that of the total is taken as normal.
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
from discreet.noise.laws import laplace_scale
from discreet.promise.exact import Number
from discreet.promise.guarantee import Guarantee, check_budget
from discreet.promise.loss import Approximate, Laplace
from discreet.promise.mechanism import Randomness
from discreet.promise.neighbours import Neighbours
from discreet.promise.provenance import Provenance
from discreet.promise.release import Release
from discreet.statistics.bins import Categories
from discreet.statistics.convolved import ConvolvedSpread
from discreet.statistics.family import Fitted, binomial
from discreet.statistics.histogram import Band, Histogram, label
from discreet.statistics.proportion import KnownSize, PrivateSize, centred
from discreet.statistics.rows import numbers, public_size, truths
from discreet.statistics.sufficient import FamilySpread

MOST_TRIALS = 10**6


@dataclass(frozen=True, slots=True)
class BinomialFit:
    """The chance of success, from records of successes in `trials` trials each; with 1 trial, from truth values.

    >>> from discreet.noise.seeded import Seeded
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

    @property
    def guarantee(self) -> Guarantee:
        """Pure epsilon."""
        return Guarantee(self.epsilon, 0.0, self.neighbours, self.unit)

    @property
    def loss(self) -> Approximate:
        """Pure epsilon: noise on whole trials has no better curve."""
        return Approximate(self.epsilon, 0)

    def release(self, rows: Any, rng: Randomness) -> Release[Fitted]:
        """The fitted distribution."""
        many = int(self.trials)
        if many == 1:
            won = truths(rows).astype(np.int64)
        else:
            won = np.rint(np.clip(np.nan_to_num(numbers(rows)), 0, many)).astype(np.int64)  # [BN1]
        size, total = public_size(won, self.neighbours), int(won.sum())
        cost, drawn = Laplace(self.epsilon), float(1 / laplace_scale(many, self.epsilon))  # [BN3]: as drawn
        part: KnownSize | PrivateSize
        if size is not None:
            noisy = rng.blur(total, sensitivity=many, cost=cost)  # [BN1]
            part = KnownSize(noisy + centred(rng), size * many, drawn)
        else:
            both = rng.blur(np.array([total, many * len(won) - total]), sensitivity=many, cost=cost)  # [BN1]
            part = PrivateSize(int(both[0]) + centred(rng), int(both[1]) + centred(rng), drawn)
        name = "bernoulli" if many == 1 else "binomial"
        fitted = Fitted(name, {"p": part.share}, binomial(many))
        shown = {"trials": many, "neighbours": self.neighbours, "rows": size}
        provenance = Provenance("BinomialFit", shown, rng.secure)
        return Release(
            self.guarantee, provenance, fitted, spread=FamilySpread(fitted, (part,)), name=f"{name} distribution"
        )


@dataclass(frozen=True, slots=True)
class MultinomialFit:
    """The probabilities of public categories among all records; `distribution()` is of one draw among those listed.

    >>> from discreet.noise.seeded import Seeded
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

    def _histogram(self) -> Histogram:
        return Histogram(self.categories, self.epsilon, 0.0, "laplace", self.neighbours, self.unit)

    @property
    def guarantee(self) -> Guarantee:
        """Pure epsilon."""
        return self._histogram().guarantee

    @property
    def loss(self) -> Approximate:
        """Pure epsilon."""
        return Approximate(self.epsilon, 0)  # [BN2]

    def release(self, rows: Any, rng: Randomness) -> Release[Fitted]:
        """The fitted distribution."""
        counted = self._histogram()
        inner = counted.release(rows, rng)  # [BN2]
        assert isinstance(inner.spread, Band)
        noisy, size = inner.spread.noisy, inner.spread.size
        drawn = float(1 / laplace_scale(counted.sensitivity, self.epsilon))
        parts: list[KnownSize | ConvolvedSpread] = []
        for count in noisy[:-1].tolist():
            if size is not None:
                parts.append(KnownSize(count + centred(rng), size, drawn))  # [BN3]
            else:
                parts.append(_share(count, max(1.0, float(noisy.sum())), drawn, len(noisy)))
        shares = [part.share if isinstance(part, KnownSize) else part.estimate for part in parts]
        names = [label(one) for one in self.categories.names]
        fitted = Fitted("multinomial", dict(zip(names, shares, strict=True)), one_of)
        provenance = Provenance("MultinomialFit", dict(inner.provenance.parameters), rng.secure)
        return Release(
            self.guarantee,
            provenance,
            fitted,
            spread=FamilySpread(fitted, tuple(parts)),
            name="multinomial distribution",
        )


def _share(count: float, whole: float, epsilon: float, many: int) -> ConvolvedSpread:
    """A count over a noisy total: the total's own noise counts as normal. [BN3]"""
    share = min(max(count / whole, 0.0), 1.0)
    unit = 1 / (epsilon * whole)
    return ConvolvedSpread(
        share,
        sampling=math.sqrt(max(share * (1 - share), 1 / whole) / whole),
        laplace=(1 - share) * unit,
        normal_noise=share * math.sqrt(2 * (many - 1)) * unit,
        low=0.0,
        high=1.0,
    )


def one_of(*chances: float) -> Any:
    """One draw among the categories."""
    from scipy import stats

    positive = np.maximum(np.array(chances), 0.0)
    whole = positive.sum()
    return stats.multinomial(1, positive / whole if whole > 0 else np.full(len(chances), 1 / len(chances)))
