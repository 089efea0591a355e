"""The population's shares, of successes or of categories: binomial and multinomial distributions, and category shares.

Releases
    BinomialFit: the noisy sum of the records, each a number of successes in a public number m of trials; where the size
    is private also that of the failures. MultinomialFit and CategoryShares: what a histogram releases
    (statistics/histogram.py, statistics/open_histogram.py); shares are computed from it.
Promise
    [shares.1] BinomialFit is pure epsilon: one record moves the sum by at most m, and the pair (successes, failures)
          by exactly m in L1 when it is added.
    [shares.2] MultinomialFit and CategoryShares have the guarantee of their histogram: shares and their intervals are
          post-processing.
    [shares.3] BinomialFit, MultinomialFit: under REPLACE each interval has exactly its confidence for independent
          records of the family, whatever n and epsilon. Under ADD_OR_REMOVE a binomial's has at least that, a
          multinomial's nearly that, to first order.
    [shares.4] CategoryShares: expected total variation over K listed categories, `other` among them, n being public: at
          most half of sqrt(K / n) + (K E|Z| + sqrt(K) s) / n, Z one count's noise and s its standard deviation.
Why
    [shares.1] A record is rounded to a whole number in [0, m], by itself; missing is 0. Then [additive.1].
    [shares.2] Nothing but the release is read; the uniforms that make noise canonical are drawn without the data.
    [shares.3] The sum of n binomials of m trials is one of n m trials, and the noise has the distribution of canonical
    noise of epsilon / m: [proportion.3], [proportion.4]. So has each count of a multinomial, at epsilon / 2; with a
    private size its share errs by ((1 - p) N1 - p N2) / n to first order, N1 the count's own noise, Laplace, and N2
    that of the others, taken as normal; the interval is where sampling at p and both noises allow the share seen.
    [shares.4] E|c_j / n - p_j| <= sqrt(p_j / n), whose sum is at most sqrt(K / n) (Cauchy and Schwarz); the noise adds
    E|Z| / n each. The nearest point of the simplex is max(c / n - t, 0) for some t: of two sets of shares the distance
    is twice the sum of where one is above the other, and for t >= 0 none is further above p than c / n is (mirrored for
    t < 0). So the distance grows by at most that of the sum of c / n from 1, which is the sum of K noises over n.
Needs
    Public trials; independent records, for the intervals. Where n is private it is taken from the noisy counts, `other`
    among them. Where the categories are found and n is private nobody counts the others: shares are those among the
    people shown.
Accuracy
    A share's standard deviation is sqrt(p (1 - p) / n) from sampling and that of a count's noise over n from privacy.
    Noise of standard deviation 1.4 m / (n epsilon) on the mean of m trials: for hundreds of trials a larger share of
    the error than elsewhere.
Source
    Awan and Slavkovic 2018 for the exact distribution; Dwork, McSherry, Nissim and Smith 2006 for the counts;
    Diakonikolas, Hardt and Schmidt 2015 (private distribution learning); Agresti and Coull 1998.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from discreet.errors import BadInput
from discreet.noise.additive import total
from discreet.noise.distributions import GaussianDistribution, LaplaceDistribution, laplace_scale
from discreet.privacy.exact import Number, show, solve
from discreet.privacy.guarantee import Guarantee, Neighbours, check_budget
from discreet.privacy.intervals import Interval, check_confidence
from discreet.privacy.loss import Approximate, Laplace, Loss
from discreet.privacy.mechanism import Randomness, promised
from discreet.privacy.release import Provenance, Release
from discreet.privacy.values import Distribution, Shares, label
from discreet.stages.normal_laplace import radius
from discreet.statistics.density_curve import on_simplex
from discreet.statistics.family import binomial
from discreet.statistics.histogram import Band, Categories, Histogram
from discreet.statistics.open_histogram import MANY, OpenHistogram
from discreet.statistics.proportion import KnownSize, PrivateSize, centred, rest, too_few
from discreet.statistics.sufficient import FamilySpread
from discreet.tables.entries import long_column, numbers_of, public_size, truths
from discreet.tables.streams import added, fold
from discreet.worlds.assumptions import About, World

MOST_TRIALS = 10**6
Floats = npt.NDArray[np.float64]


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
        values = long_column(rows)
        size, wins = public_size(values, self.neighbours), fold(partial(_wins, many=many), added, values)
        cost, drawn = Laplace(self.epsilon), float(1 / laplace_scale(many, self.epsilon))  # [shares.3]: as drawn
        part: KnownSize | PrivateSize
        if size is not None:
            noisy = rng.blur(wins, sensitivity=many, cost=cost)  # [shares.1]
            part = KnownSize(noisy + centred(rng), size * many, drawn)
        else:
            both = np.array([wins, many * len(values) - wins], dtype=object)
            noisy = rng.blur(both, sensitivity=many, cost=cost)  # [shares.1]
            ayes, noes = (int(count) + rest(rng, drawn) for count in noisy)
            part = PrivateSize(ayes, noes, drawn)  # [shares.3]
        name = "bernoulli" if many == 1 else "binomial"
        fitted = Distribution(name, {"p": part.share}, binomial(many))
        shown, name = {"trials": many, "neighbours": self.neighbours, "rows": size}, f"{name} distribution"
        provenance = Provenance("BinomialFit", shown, rng.secure)
        if not part.enough:
            refusal = too_few(part.size / many, drawn * many)
            return Release(self.guarantee, provenance, refusal=refusal, name=name)
        return Release(self.guarantee, provenance, fitted, spread=FamilySpread(fitted, (part,)), name=name)


def _wins(given: Iterator[npt.NDArray[Any]], *, many: int) -> int:
    """A kernel: all successes, no more than there are trials."""
    wins = 0
    for piece in given:
        if many == 1:
            wins += int(np.count_nonzero(truths(piece)))
        else:
            wins += total(
                np.rint(np.clip(np.nan_to_num(numbers_of(piece)), 0, many)).astype(np.int64), many
            )  # [shares.1]
    return wins


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
        return Approximate(self.epsilon, 0)  # [shares.2]

    def release(self, rows: Any, rng: Randomness) -> Release[Distribution]:
        """The fitted distribution."""
        counted = self._histogram()
        inner = counted.release(rows, rng)  # [shares.2]
        assert isinstance(inner.spread, Band)
        noisy, size = inner.spread.noisy, inner.spread.size
        drawn = float(1 / laplace_scale(counted.sensitivity, self.epsilon))
        parts: list[KnownSize | NoisyShare] = []
        for count in noisy[:-1].tolist():
            if size is not None:
                parts.append(KnownSize(count + centred(rng), size, drawn))  # [shares.3]
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
        """Sampling and privacy together. [shares.3]"""

        def reach(p: float) -> float:
            return radius(confidence, math.hypot(math.sqrt(p * (1 - p) / self.whole), self.normal), self.laplace)

        low = solve(lambda p: p + reach(p), self.share, 0.0, self.share)
        high = solve(lambda p: p - reach(p), self.share, self.share, 1.0)
        return Interval(low, high, confidence=confidence, about="the population's share", population=True)


def noisy_share(count: float, whole: float, epsilon: float, many: int) -> NoisyShare:
    """One of `many` noisy counts over their sum: the other counts' noise is taken as normal. [shares.3]"""
    total = max(1.0, whole)
    share, unit = min(max(count / total, 0.0), 1.0), 1 / (epsilon * total)
    return NoisyShare(share, total, (1 - share) * unit, share * math.sqrt(2 * (many - 1)) * unit)


def one_of(*chances: float) -> Any:
    """One draw among the categories."""
    from scipy import stats

    positive = np.maximum(np.array(chances), 0.0)
    whole = positive.sum()
    return stats.multinomial(1, positive / whole if whole > 0 else np.full(len(chances), 1 / len(chances)))


@dataclass(frozen=True, slots=True)
class CategoryShares:
    """Shares of categories, from a histogram on listed ones or on those that enough people share."""

    histogram: Histogram | OpenHistogram

    @property
    def guarantee(self) -> Guarantee:
        """The histogram's."""
        return self.histogram.guarantee  # [shares.2]

    @property
    def loss(self) -> Loss:
        """The histogram's."""
        return self.histogram.loss  # [shares.2]

    def release(self, rows: Any, rng: Randomness) -> Release[Shares]:
        """The shares."""
        inner = self.histogram.release(rows, rng)  # [shares.2]
        tally, distribution = inner.value, inner.spread.distribution  # type: ignore[union-attr]
        listed = isinstance(self.histogram, Histogram)
        noisy = inner.spread.noisy.astype(float)  # type: ignore[union-attr]
        size = inner.provenance.parameters["rows"]
        people = max(2.0, float(size or noisy.sum()))
        if listed:
            shares = on_simplex(noisy / people)
            value = Shares(tally.bins, shares[:-1], float(shares[-1]))
        else:  # the shown are some of all: only their sum is bounded
            shares = np.clip(noisy / people, 0, 1)
            value = Shares(tally.bins, shares, max(0.0, 1 - float(shares.sum())))
        notes = list(inner.provenance.notes)
        if listed:
            root = math.sqrt(len(noisy))
            # [shares.4]: E|Z| <= sd
            away = min(1.0, (root / math.sqrt(people) + (root + 1) * root * distribution.sd / people) / 2)
            notes.append(f"expected distance in total variation: at most {show(away)}")
        elif size is None:
            notes.append("the number of people is private: shares are those among the people shown")
        provenance = Provenance("CategoryShares", dict(inner.provenance.parameters), rng.secure, notes=tuple(notes))
        spread = ShareSpread(
            value=value,
            noisy=noisy[: len(tally.bins)],
            people=people,
            distribution=distribution,
            among=len(noisy) if listed else size or MANY,
        )
        if not listed and size is None:
            spread = replace(spread, about="shares among the people whose categories are shown, all at once")
        return Release(self.guarantee, provenance, value, spread=spread, name="density")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ShareSpread:
    """The error of shares: sampling, and the noise of the counts."""

    value: Shares
    noisy: Floats
    people: float
    distribution: LaplaceDistribution | GaussianDistribution
    among: int  # so many categories might have been shown
    about: str = "the population's shares, all at once"

    @property
    def sampling(self) -> Floats:
        """Standard deviation from sampling."""
        return np.sqrt(self.value.heights * (1 - self.value.heights) / self.people)

    @property
    def privacy(self) -> float:
        """Standard deviation from the noise."""
        return self.distribution.sd / self.people

    def interval(self, confidence: float) -> Interval:
        """All at once: each has 1 - confidence over their number to miss with, over n if chosen for their counts."""
        miss = (1 - check_confidence(confidence)) / self.among
        z = -float(ndtri(miss / 2))
        drawn = np.clip((self.noisy + z * z / 2) / (self.people + z * z), 0.0, 1.0)
        wide = np.hypot(z * np.sqrt(drawn * (1 - drawn) * self.people), self.distribution.radius(1 - miss))
        low, high = (np.clip((self.noisy + side * wide) / self.people, 0.0, 1.0) for side in (-1, 1))
        first, last = (Shares(self.value.bins, end, self.value.other) for end in (low, high))
        return Interval(first, last, confidence=confidence, about=self.about, population=True)


def shares_world(about: About, listed: Any) -> World:
    """Made-up categories, each as likely: those that are listed, or as many as assumed."""
    found = isinstance(listed, str)
    count = about.whole("bins", 10 if found else len(list(listed)), 1, 1_000_000)
    names = [f"category {place}" for place in range(count)] if found else list(listed)
    about.say(f"each of {count} categories is as likely")
    order = {name: place for place, name in enumerate(names)} if found else {}

    def read(value: Any) -> Floats:
        if not found:
            return np.asarray(value.heights, dtype=np.float64)
        seen = np.zeros(count)
        for name, height in zip(value.bins, value.heights, strict=True):
            seen[order[name]] = height
        return seen

    return World(
        make=lambda g, n: {"x": np.array(names, dtype=object)[g.integers(0, count, n)]},
        truth=np.full(count, 1 / count),
        plain=lambda x: [np.mean(x == name) for name in names],
        measure="median distance in total variation from the population's shares",
        read=read,
        gap=lambda errors, _truth: np.abs(errors).sum(axis=1) / 2,
        runs=24,
    )
