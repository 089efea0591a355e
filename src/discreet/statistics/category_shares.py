"""The population's shares of categories: a density on a finite or an unknown alphabet.

Releases
    What a histogram releases (statistics/histogram.py, statistics/open_histogram.py); shares are computed from it.
Promise
    [category_shares.1] The guarantee of the histogram: shares and their intervals are post-processing.
    [category_shares.2] Expected total variation over K listed categories, `other` among them, n being public: at most
          half of sqrt(K / n) + (K E|Z| + sqrt(K) s) / n, Z one count's noise and s its standard deviation.
Why
    [category_shares.1] Nothing but the release is read.
    [category_shares.2] E|c_j / n - p_j| <= sqrt(p_j / n), whose sum is at most sqrt(K / n) (Cauchy and Schwarz); the
    noise adds E|Z| / n each. The nearest point of the simplex is max(c / n - t, 0) for some t: of two sets of shares
    the distance is twice the sum of where one is above the other, and for t >= 0 none is further above p than c / n is
    (mirrored for t < 0). So the distance grows by at most that of the sum of c / n from 1, which is the sum of K noises
    over n.
Needs
    Independent records, for the intervals; where n is private it is taken from the noisy counts, `other` among them.
    Where the categories are found and n is private nobody counts the others: shares are those among the people shown.
Accuracy
    A share's standard deviation is sqrt(p (1 - p) / n) from sampling and that of a count's noise over n from privacy.
Source
    Diakonikolas, Hardt and Schmidt 2015 (private distribution learning); Agresti and Coull 1998.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from discreet.noise.distributions import GaussianLaw, LaplaceLaw
from discreet.privacy.exact import show
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.intervals import Interval, check_confidence
from discreet.privacy.loss import Loss
from discreet.privacy.mechanism import Randomness
from discreet.privacy.provenance import Provenance
from discreet.privacy.release import Release
from discreet.privacy.values import Shares
from discreet.statistics.density_curve import on_simplex
from discreet.statistics.histogram import Histogram
from discreet.statistics.open_histogram import MANY, OpenHistogram
from discreet.worlds.assumptions import About, World

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CategoryShares:
    """Shares of categories, from a histogram on listed ones or on those that enough people share."""

    histogram: Histogram | OpenHistogram

    @property
    def guarantee(self) -> Guarantee:
        """The histogram's."""
        return self.histogram.guarantee  # [category_shares.1]

    @property
    def loss(self) -> Loss:
        """The histogram's."""
        return self.histogram.loss  # [category_shares.1]

    def release(self, rows: Any, rng: Randomness) -> Release[Shares]:
        """The shares."""
        inner = self.histogram.release(rows, rng)  # [category_shares.1]
        tally, law = inner.value, inner.spread.law  # type: ignore[union-attr]
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
            # [category_shares.2]: E|Z| <= sd
            away = min(1.0, (root / math.sqrt(people) + (root + 1) * root * law.sd / people) / 2)
            notes.append(f"expected distance in total variation: at most {show(away)}")
        elif size is None:
            notes.append("the number of people is private: shares are those among the people shown")
        provenance = Provenance("CategoryShares", dict(inner.provenance.parameters), rng.secure, notes=tuple(notes))
        spread = ShareSpread(
            value=value,
            noisy=noisy[: len(tally.bins)],
            people=people,
            law=law,
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
    law: LaplaceLaw | GaussianLaw
    among: int  # so many categories might have been shown
    about: str = "the population's shares, all at once"

    @property
    def sampling(self) -> Floats:
        """Standard deviation from sampling."""
        return np.sqrt(self.value.heights * (1 - self.value.heights) / self.people)

    @property
    def privacy(self) -> float:
        """Standard deviation from the noise."""
        return self.law.sd / self.people

    def interval(self, confidence: float) -> Interval:
        """All at once: each has 1 - confidence over their number to miss with, over n if chosen for their counts."""
        miss = (1 - check_confidence(confidence)) / self.among
        z = -float(ndtri(miss / 2))
        drawn = np.clip((self.noisy + z * z / 2) / (self.people + z * z), 0.0, 1.0)
        wide = np.hypot(z * np.sqrt(drawn * (1 - drawn) * self.people), self.law.radius(1 - miss))
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
