"""The most frequent categories, with a band for all of them at once; and the mode: those that may be the most frequent.

Releases
    The counts of a private histogram, on public categories (statistics/histogram.py) or on those that enough people
    share (statistics/open_histogram.py): of all that it shows, the k largest. For the mode, those whose count may be
    the largest.
Promise
    [top.1] That of the histogram: pure epsilon with public categories, (epsilon, delta) where they are found.
    [top.2] All counts shown are within the band at once with at least its confidence, whichever they are.
    [top.3] With at least the declared confidence the category that most people in the table have, or each of them if
         several are equal, is among those that `mode` shows.
Why
    [top.1] What is left out is chosen by noisy counts: post-processing.
    [top.2] A part of the band of all that the histogram shows ([histogram.3], [open_histogram.3]).
    [top.3] Let the band of all counts that the histogram shows hold, and let no other category hold more than the
    histogram says: both at once with the confidence, each at half the miss. The true count of the most frequent
    category is at least the largest lower end. One whose upper end is below that is not it, nor is one that is not
    shown, if they cannot hold so many. Where they can, the answer is a refusal. Listed categories are all shown.
Needs
    Categories that enough people share, or public ones.
Accuracy
    That of the histogram: under ADD_OR_REMOVE noise of scale 1 / epsilon on each count, however many categories there
    are. Choosing k first by noisy maxima and then counting them would add more noise.
Source
    Korolova et al. 2009 (categories nobody listed); Durfee and Rogers 2019 choose k of them when one person has many.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.noise.distributions import GaussianDistribution, LaplaceDistribution
from discreet.privacy.declaration import Columns, Public, category, statistic
from discreet.privacy.exact import Number
from discreet.privacy.intervals import Interval, check_confidence
from discreet.privacy.mechanism import Mechanism, Wrapped
from discreet.privacy.release import Release
from discreet.privacy.values import Counts, label
from discreet.statistics.histogram import Band, Categories, Histogram
from discreet.statistics.open_histogram import OpenBand, OpenHistogram
from discreet.worlds.assumptions import About, Expected, World
from discreet.worlds.floors import BOUND, bins_floor

MOST: Final = 100_000  # categories that may be asked for
Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class PartBand:
    """The band of some of the counts of a histogram. [top.2]"""

    inner: Band | OpenBand
    places: Places
    of: str
    sampling: None = None

    @property
    def distribution(self) -> LaplaceDistribution | GaussianDistribution:
        """Of the noise on each count."""
        return self.inner.distribution

    @property
    def privacy(self) -> float:
        """Standard deviation of each count's noise."""
        return self.inner.privacy

    def interval(self, confidence: float) -> Interval:
        """The ends of these counts. [top.2]"""
        bar = self.inner.interval(confidence)
        low, high = (np.asarray(end)[self.places] for end in bar)
        about = f"the counts in this table of {self.of}, all at once"
        return Interval(low, high, confidence=confidence, about=about, population=False)


def _kept(release: Release[Counts], places: Places, name: str, of: str, notes: tuple[str, ...]) -> Release[Counts]:
    """The release of some of its counts, the largest first. [top.1]"""
    value, spread = release.value, release.spread
    assert isinstance(spread, Band | OpenBand)
    shown = Counts(tuple(value.bins[at] for at in places), np.asarray(value.counts)[places], None, value.threshold)
    history = replace(release.provenance, notes=(*release.provenance.notes, *notes))
    return replace(release, answer=shown, spread=PartBand(spread, places, of), provenance=history, name=name)


def _largest(value: Counts) -> Places:
    """The places of all counts, the largest first."""
    return np.argsort(-np.asarray(value.counts), kind="stable").astype(np.int64)


def most_frequent(release: Release[Counts], k: int) -> Release[Counts]:
    """The k largest counts. [top.1]"""
    if release.refusal is not None:
        return replace(release, name="top")
    found = _largest(release.value)
    note = f"the {min(k, len(found))} largest of {len(found)} noisy counts: the order of close ones may be another"
    return _kept(release, found[:k], "top", "the categories shown", (note,))


def possible_modes(release: Release[Counts], confidence: float) -> Release[Counts]:
    """The categories that may be the most frequent one. [top.3]"""
    if release.refusal is not None:
        return replace(release, name="mode")
    value, spread = release.value, release.spread
    assert isinstance(spread, Band | OpenBand)
    each = (1 + confidence) / 2  # [top.3]
    bar = spread.interval(each)
    low, high = np.asarray(bar.low), np.asarray(bar.high)
    best = int(low.max(initial=0))
    unseen = 0
    if isinstance(spread, OpenBand):
        unseen = spread.threshold - 1 + spread.distribution.radius(each, spread.bins)  # [top.3]
    if unseen >= best:  # [top.3]
        surely = f"at least {best} people share one of the categories found" if len(low) else "no category is found"
        why = f"{surely}, and one that is not shown may have {unseen}: which is the most frequent cannot be told. List "
        why += "the public categories, bring more rows, or ask for a larger epsilon or delta"
        return replace(release, answer=None, spread=None, refusal=why, name="mode")
    order = _largest(value)
    places = order[high[order] >= best]
    names = ", ".join(label(value.bins[at]) for at in places[:6]) + (", ..." if len(places) > 6 else "")
    note = f"with {100 * confidence:.15g}% confidence the most frequent category in this table is "
    note += names if len(places) == 1 else f"one of {len(places)}: {names}"
    return _kept(release, places, "mode", "the categories that may be the most frequent", (note,))


def _histogram(people: Public, epsilon: Number, delta: Number, categories: Any) -> Mechanism[Counts]:
    terms: dict[str, Any] = {"neighbours": people.neighbours, "unit": people.unit}
    if categories is None:
        return OpenHistogram(epsilon, delta, **terms)
    return Histogram(Categories.of(categories), epsilon, **terms)


def _finds(options: Mapping[str, Any], _: Mapping[str, Columns | None]) -> bool:
    return options.get("categories") is None


def _world(about: About, k: int | None = None) -> World:
    listed = about.given.get("categories")
    bins = about.whole("bins", 20, 1, 10**6) if listed is None else len(Categories.of(listed))
    asked = min(bins, k or about.option("k", 10))
    if k is None:
        weights = np.linspace(2.0, 1.0, bins)
        about.say(f"{bins} categories: the most frequent one has twice the people of the least frequent one")
    else:
        weights = np.append(2.0, np.ones(bins - 1))
        about.say(f"{bins} categories: one has twice the people of each other")
    ends = np.cumsum(weights) / weights.sum()

    def expected(release: Any, rows: int, confidence: float | None) -> Expected:
        if release.refusal is not None:
            return Expected(refused=release.refusal)
        seen = Expected.noise(release.spread.distribution, confidence, bins=asked, shown=bins + (listed is not None))
        if release.guarantee.delta:
            return replace(seen, floor_note="no bound with a sharp constant is known where categories are found")
        return replace(seen, floor=bins_floor(rows, float(release.guarantee.epsilon), asked), floor_note=BOUND)

    names = list(range(bins)) if listed is None else list(listed)
    return World(
        make=lambda _, n: {"x": [names[at] for at in np.searchsorted(ends, (np.arange(n) + 0.5) / n)]},
        measure="median of the largest error, against the counts in the table",
        closed=expected,
    )


@statistic({"x": category(streams=True)}, groups=True, wants_delta=_finds, world=_world)
def top(
    people: Public, x: Columns, k: int = 10, *, epsilon: Number, delta: Number = 0.0, categories: Any = None
) -> Mechanism[Counts]:
    """The k most frequent categories and their counts in this table, with a band for all of them at once.

    Nobody has to list the categories: those that enough people share are found, which needs delta > 0. With public
    `categories` it is pure. Which categories are shown, and in what order, is decided by noisy counts: where the ends
    of two overlap, the order may be the other one.

    >>> import discreet
    >>> town = ["Bergen"] * 900 + ["Oslo"] * 3000 + ["Voss"] * 300
    >>> discreet.top(town, 2, epsilon=1.0, delta=1e-6, rng=discreet.Seeded(1)).value.bins
    ('Oslo', 'Bergen')
    """
    if not isinstance(k, int) or isinstance(k, bool) or not 1 <= k <= MOST:
        raise BadInput(f"k is {k!r}; give how many categories to show, a whole number from 1 on")
    return Wrapped(_histogram(people, epsilon, delta, categories), after=partial(most_frequent, k=k))


@statistic({"x": category(streams=True)}, groups=True, wants_delta=_finds, world=partial(_world, k=1))
def mode(
    people: Public,
    x: Columns,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    categories: Any = None,
    confidence: float = 0.95,
) -> Mechanism[Counts]:
    """The most frequent category in this table: all that may be it, at the declared confidence, the likeliest first.

    Where the noise leaves no doubt one category is shown, with its count. Categories are found, which needs delta > 0,
    or public and listed: then it is pure. Where a category that was not found may be the most frequent one, the answer
    is a refusal.

    >>> import discreet
    >>> town = ["Bergen"] * 900 + ["Oslo"] * 3000 + ["Voss"] * 300
    >>> discreet.mode(town, epsilon=1.0, delta=1e-6, rng=discreet.Seeded(1)).value.bins
    ('Oslo',)
    """
    level = check_confidence(confidence)
    return Wrapped(_histogram(people, epsilon, delta, categories), after=partial(possible_modes, confidence=level))
