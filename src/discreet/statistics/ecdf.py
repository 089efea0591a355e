"""The distribution function of a column, with a band that holds everywhere at once. No bounds needed. Pure.

Releases
    The noisy counts of statistics/density.py; what is told are the shares of people below the ends of some cells.
Promise
    [ecdf.1] That of the density: pure epsilon under both relations ([density.1]).
    [ecdf.2] The band holds the population's share of people below each place shown, all at once, with at least its
         confidence, for independent records of any distribution ([density.3]).
Why
    [ecdf.1] Post-processing of the same counts. Which cells are shown follows from their number, which was released.
    [ecdf.2] The places are some of those for which the density's band holds at once.
Needs
    What the density needs: n epsilon of 612 where n is private, 816 where it is public, and nothing with public ends.
Accuracy
    sqrt(ln(4 / miss) / 2n) from sampling, and about sqrt(2 m ln(1 / miss)) sd / n from the noise of m cells.
Source
    Dvoretzky, Kiefer and Wolfowitz 1956; Massart 1990.
"""

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from discreet.privacy.declaration import Columns, Public, number, statistic
from discreet.privacy.exact import Number
from discreet.privacy.intervals import Interval
from discreet.privacy.mechanism import Mechanism, Wrapped
from discreet.privacy.release import Release
from discreet.privacy.values import Density, StepCurve
from discreet.statistics.density import BinnedDensity
from discreet.statistics.density_curve import CurveSpread, Floats, Integers
from discreet.worlds.assumptions import About, World
from discreet.worlds.shapes import AssumedColumn

PLACES: Final = 128  # shown at most


@dataclass(frozen=True, slots=True, eq=False)
class BandSpread:
    """The error of a distribution function at some of the places of a density. [ecdf.2]"""

    inner: CurveSpread
    places: Integers

    @property
    def _shares(self) -> Floats:
        found: Floats = np.clip(np.asarray(self.inner.curve.reached)[self.places], 0.0, 1.0)
        return found

    @property
    def sampling(self) -> Floats:
        """Standard deviations from sampling people."""
        return np.asarray(np.sqrt(self._shares * (1 - self._shares) / self.inner.people))

    @property
    def privacy(self) -> Floats:
        """Standard deviations from the noise of the cells up to each place."""
        found: Floats = np.sqrt(self.places + 1.0) * self.inner.distribution.sd / self.inner.people
        return found

    def interval(self, confidence: float) -> Interval:
        """The band, at the places shown. [ecdf.2]"""
        band = self.inner.band(confidence)
        low, high = (np.asarray(end)[self.places] for end in band)
        about = "the population's share of people below each place, all at once"
        return Interval(low, high, confidence=confidence, about=about, population=True)


def reached(release: Release[Density]) -> Release[StepCurve]:
    """The distribution function of a density. [ecdf.1]"""
    blank: Release[Any] = replace(release, answer=None, spread=None, name="distribution function")
    if not isinstance(release.spread, CurveSpread):
        return blank
    curve, many = release.value, len(release.value.fine)
    places = np.unique(np.linspace(0, many - 1, min(PLACES, many)).round().astype(np.int64))
    shares = np.maximum.accumulate(np.clip(np.asarray(curve.reached)[places], 0.0, 1.0))
    notes = tuple(note for note in release.provenance.notes if "total variation" not in note)
    history = replace(release.provenance, notes=notes)
    answer = StepCurve(np.asarray(curve.fine)[places], shares)
    return replace(blank, answer=answer, spread=BandSpread(release.spread, places), provenance=history)


def _world(about: About) -> World:
    entries = AssumedColumn.of(about)
    shares = np.arange(1, 20) / 20
    places = np.array([entries.quantile(q) for q in shares.tolist()])
    return World(
        units="",
        make=lambda g, n: {"x": entries.draw(g, n)},
        truth=shares,
        plain=lambda x: np.searchsorted(np.sort(x), places, side="right") / len(x),
        read=lambda curve: np.interp(places, curve.at, curve.heights) if isinstance(curve, StepCurve) else curve,
        width=lambda spread, confidence: float(np.max(np.subtract(*tuple(spread.interval(confidence))[::-1]))) / 2,
        gap=lambda errors, _truth: np.abs(errors).max(axis=1),
        measure="median of the largest error, over shares of 5%, 10%, ..., 95%",
        sums=False,
        runs=24,
        most=100_000,
    )


@statistic({"x": number(streams=True)}, groups=True, world=_world)
def ecdf(
    people: Public, x: Columns, *, epsilon: Number, support: Any = None, granularity: float | None = None
) -> Mechanism[StepCurve]:
    """The share of people below each of many places, with a band that holds at all of them at once. Pure.

    No bounds needed; `support` are public ends. The value has `.at` and `.heights`, is called with a place, and says
    where it reaches a share: `.reaches(0.5)`. The band assumes no shape. `granularity` as in `density`.

    >>> import discreet
    >>> rows = [(0.618 * index) % 50 for index in range(20_000)]
    >>> curve = discreet.ecdf(rows, epsilon=1.0, support=(0, 50), rng=discreet.Seeded(1)).value
    >>> 0.45 < curve(25.0) < 0.55
    True
    """
    given = 1 if granularity is None and x.integers else granularity
    inner = BinnedDensity(epsilon, support, people.neighbours, people.unit, given)
    return Wrapped(inner, after=reached)
