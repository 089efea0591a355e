"""A private histogram on bins that nobody listed: unknown categories, or too many to list.

Releases
    Open: the categories found in the data whose noisy count reaches a threshold, with those counts; or the intervals of
    one public width, of the whole line, likewise.
    Sparse: the same over the whole numbers of a public range, however long.
Promise
    [open_histogram.1] Open: (epsilon, delta), with the least whole threshold for which that is true; one delta under
    both relations.
    [open_histogram.2] Sparse: pure epsilon, for exactly the distribution of noise on every bin and a threshold.
    [open_histogram.3] With at least the stated probability, whatever bins are shown, all their counts are within the
         band. With at least that probability, no bin that is not shown holds more than threshold - 1 + t entries.
Why
    [open_histogram.1] [threshold.3]: one person holds one bin, so a bin empty on one of two neighbours holds at most
    one person on the other; counts move by 2 in L1 under REPLACE and by 1 under ADD_OR_REMOVE. With a width the bin
    is floor(x / width), a fixed function of the entry.
    [open_histogram.2] [threshold.2]; everything outside the range is one more bin.
    [open_histogram.3] Noises are independent: given the set of the S shown, that of a shown bin of m entries is one
    that lifts m to the threshold T, Z given Z >= T - m, and independent of the others. With noisy count c, m is in the
    band if both P(Z >= c - m) and P(T - m <= Z <= c - m) are above (g / 2) P(Z >= T - m), 1 - g = confidence^(1/S).
    Both ratios are monotone in m. For m < T the first is a^(c - T), the same for all: where that is above g / 2 nothing
    but m >= 1 (sparse: 0) is known from below. Else, with k = c - m, y = a^k, h = g (1 + a) / 4 and
    d = a^(c - T + 1), it is y^2 - 2 h y + d g / 2 > 0, so y > h + sqrt(h^2 - d g / 2). The second is
    a^(m - c) (1 - d + d g / 2) > 2 h for m >= c.
    Bins not shown: at most n are non-empty; if all their noises are within t, those not shown hold what is said. Where
    n is private, 10^9 stands for it; in the sparse distribution t is that of all the bins of the range.
Needs
    Open: delta > 0, at most 1 - e^{-epsilon/2}; under REPLACE n of at least the threshold, or nothing could be shown.
Accuracy
    Threshold 1 + (2/epsilon) ln(1 / (delta (1 + e^{-epsilon/2}))) under REPLACE, with half the noise 1/epsilon
    under ADD_OR_REMOVE. The band is about that of S listed bins, for counts (2/epsilon) ln(2 S / (1 - confidence)) or
    more above the threshold; below that, the lower end is 1.
    Sparse: about `spurious` empty bins are shown, one by default.
Source
    Korolova et al. 2009; Bun, Nissim and Stemmer 2016; Cormode et al. 2012. Constants exact for discrete noise.
"""

import math
from collections.abc import Hashable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput, Refused
from discreet.noise.distributions import LaplaceDistribution, laplace_scale
from discreet.noise.threshold import threshold_for
from discreet.privacy.declaration import Columns, Public, Reads, category, number, statistic
from discreet.privacy.exact import Number, is_number
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.intervals import Interval
from discreet.privacy.loss import Approximate, Laplace, Loss
from discreet.privacy.mechanism import Mechanism, Randomness, promised, refusal_of
from discreet.privacy.release import Provenance, Release
from discreet.privacy.values import Counts
from discreet.statistics.histogram import Categories, Edges, Histogram
from discreet.statistics.tallies import tally
from discreet.tables.entries import MISSING, long_column, name, numbers, public_size
from discreet.tables.streams import Stream
from discreet.worlds.assumptions import About, Expected, World
from discreet.worlds.floors import BOUND, bins_floor

MANY: Final = 10**9  # stands for the number of people where that is private
EXACT: Final = 2**53  # whole numbers below it are exact as floats


def _sensitivity(neighbours: Neighbours) -> int:
    return 2 if neighbours is Neighbours.REPLACE else 1  # [open_histogram.1]


@dataclass(frozen=True, slots=True)
class OpenHistogram:
    """Counts of the categories, or intervals of a width, that enough people share; nobody has to list them."""

    epsilon: Number
    delta: Number
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"
    width: float | None = None

    def __post_init__(self) -> None:
        check_budget(self.epsilon, self.delta, 1)
        if self.width is not None and not (is_number(self.width) and 1e-150 < self.width < 1e150):
            raise BadInput(f"width is {self.width!r}; give the width of all bins, a number above 0")
        ceiling = -math.expm1(-float(self.epsilon) / 2)
        if not 0 < self.delta <= ceiling:
            raise BadInput(
                f"delta is {self.delta!r}; unknown categories need delta above 0 and at most {ceiling:.3g} "
                "(1 - exp(-epsilon/2)); give delta=1e-6, or list the public categories, or edges"
            )

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """(epsilon, delta)."""
        return Approximate(self.epsilon, self.delta)  # [open_histogram.1]

    @property
    def threshold(self) -> int:
        """The least noisy count that is shown."""
        return threshold_for(_sensitivity(self.neighbours), self.epsilon, self.delta)  # [open_histogram.1]

    def check(self, size: int | None) -> None:
        """Refused, by public numbers, if so few people reach no threshold."""
        if size is not None and size < self.threshold:
            raise Refused(
                f"{size} rows are fewer than the threshold {self.threshold}: no bin could be shown; give more "
                "rows, a larger epsilon or delta, or list the public categories, or edges"
            )

    def sifted(self, values: npt.NDArray[Any] | Stream, rng: Randomness) -> dict[Hashable, int]:
        """The canonical keys of the shared categories, and their noisy counts, the largest first. [open_histogram.1]"""
        size, threshold = public_size(values, self.neighbours), self.threshold
        check_budget(self.epsilon, self.delta, size)
        return rng.sift(
            tally(values),
            sensitivity=_sensitivity(self.neighbours),
            cost=Laplace(self.epsilon),
            above=threshold,
            delta=self.delta,
        )  # [open_histogram.1]

    def release(self, rows: Any, rng: Randomness) -> Release[Counts]:
        """The shared categories and their noisy counts, the largest first."""
        values = long_column(rows) if self.width is None else self._places(numbers(rows), float(self.width))
        size = public_size(values, self.neighbours)
        threshold = self.threshold
        if (refusal := refusal_of(self, size)) is not None:
            history = Provenance("OpenHistogram", {"threshold": threshold, "rows": size}, rng.secure)
            return Release(self.guarantee, history, refusal=refusal, name="histogram")
        shown = self.sifted(values, rng)
        distribution = LaplaceDistribution(laplace_scale(_sensitivity(self.neighbours), self.epsilon))
        counts = np.array(list(shown.values()), dtype=np.int64)
        parameters = {"threshold": threshold, "neighbours": self.neighbours, "rows": size}
        return Release(
            self.guarantee,
            Provenance("OpenHistogram", parameters, rng.secure, notes=(_below(threshold),)),
            Counts(tuple(self._name(one) for one in shown), _within(counts, size), threshold=threshold),
            spread=OpenBand(
                noisy=counts, distribution=distribution, size=size, bins=size or MANY, threshold=threshold, least=1
            ),
            name="histogram",
        )

    @staticmethod
    def _places(values: npt.NDArray[np.float64], width: float) -> npt.NDArray[np.float64]:
        """The interval of each number, cut to what floats can count; NaN for what is missing. [open_histogram.1]"""
        with np.errstate(all="ignore"):
            return np.clip(np.floor(values / width), -EXACT, EXACT)

    def _name(self, one: Hashable) -> Any:
        """What a bin is called: the category, or (low, high) of an interval."""
        if self.width is None or one is MISSING:
            return name(one)
        place, wide = int(one), float(self.width)  # type: ignore[call-overload]
        return -math.inf if place == -EXACT else place * wide, math.inf if place == EXACT else (place + 1) * wide


@dataclass(frozen=True, slots=True)
class SparseHistogram:
    """Counts over a public range of whole numbers, too long to list: pure."""

    keys: range
    epsilon: Number
    _: KW_ONLY
    spurious: Number = 1
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        if not isinstance(self.keys, range) or not self.keys:
            raise BadInput(f"{self.keys!r} is empty or no range; give a range with at least one whole number")
        if max(abs(self.keys[0]), abs(self.keys[-1])) >= EXACT:
            raise BadInput(
                f"{self.keys} has whole numbers beyond 2^53, which are not exact as floats; take smaller ones"
            )
        if not (is_number(self.spurious) and 1e-6 <= self.spurious <= 1000):
            raise BadInput(f"spurious is {self.spurious!r}; the expected number of empty bins shown is 1e-6 to 1000")

    guarantee = promised

    @property
    def loss(self) -> Approximate:
        """Pure epsilon: noise on whole people has no better curve ([additive.1])."""
        return Approximate(self.epsilon, 0)

    @property
    def distribution(self) -> LaplaceDistribution:
        """The noise of each bin."""
        return LaplaceDistribution(laplace_scale(_sensitivity(self.neighbours), self.epsilon))

    @property
    def threshold(self) -> int:
        """ceil(b ln(K / ((1 + a) spurious))), at least 1: then `spurious` empty bins are expected to be shown."""
        rate = float(1 / self.distribution.scale)
        bins = len(self.keys) + 1
        return max(1, math.ceil(math.log(bins / ((1 + math.exp(-rate)) * float(self.spurious))) / rate))

    def release(self, rows: Any, rng: Randomness) -> Release[Counts]:
        """The noisy counts that reach the threshold, the largest first."""
        values = numbers(rows)
        size = public_size(values, self.neighbours)
        outside = len(self.keys)
        places = tally(self._places(values))
        shown = rng.sift(
            places,
            sensitivity=_sensitivity(self.neighbours),
            cost=Laplace(self.epsilon),
            above=self.threshold,
            bins=outside + 1,
        )  # [open_histogram.2]
        other = shown.get(outside)
        members = {place: count for place, count in shown.items() if place != outside}
        counts = np.array(list(members.values()), dtype=np.int64)
        keys = tuple(self.keys[int(place)] for place in members)  # type: ignore[call-overload]
        parameters = {"keys": self.keys, "threshold": self.threshold, "neighbours": self.neighbours, "rows": size}
        note = f"about {float(self.spurious):g} of the shown bins are empty ones that noise lifted over the threshold"
        return Release(
            self.guarantee,
            Provenance("SparseHistogram", parameters, rng.secure, notes=(_below(self.threshold), note)),
            Counts(keys, _within(counts, size), other=other, threshold=self.threshold),
            spread=OpenBand(
                noisy=counts,
                distribution=self.distribution,
                size=size,
                bins=outside + 1,
                threshold=self.threshold,
                least=0,
            ),
            name="histogram",
        )

    def _places(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        """The place of each number in the range; len(range) for all that is no member."""
        with np.errstate(all="ignore"):  # numpy would warn of a signalling NaN
            inside = np.isfinite(values) & (values == np.rint(values)) & (np.abs(values) < EXACT)
        whole = np.where(inside, values, 0).astype(np.int64) - self.keys.start
        place, remainder = np.divmod(whole, self.keys.step)
        member = inside & (remainder == 0) & (place >= 0) & (place < len(self.keys))
        return np.where(member, place, len(self.keys))


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenBand:
    """The error of shown counts, and what a bin that is not shown may hold."""

    noisy: npt.NDArray[np.int64]
    distribution: LaplaceDistribution
    size: int | None
    bins: int
    threshold: int
    least: int  # what a bin that is shown holds at least
    sampling: None = None

    @property
    def privacy(self) -> float:
        """Standard deviation of each count's noise."""
        return self.distribution.sd

    def interval(self, confidence: float) -> Interval:
        """A band for all bins shown at once, given that they are; the others are below a bound. [open_histogram.3]"""
        g = -math.expm1(math.log(confidence) / max(1, len(self.noisy)))
        rate = float(1 / self.distribution.scale)
        h, above = g * (1 + math.exp(-rate)) / 4, self.noisy - self.threshold
        d = np.exp(-rate * (above + 1))
        root = np.sqrt(np.maximum(h * h - d * g / 2, 0.0))
        down = np.floor(-np.log(h + root) / rate + 1e-9).astype(np.int64)
        open_below = (np.exp(-rate * above) > g / 2) | (h * h < d * g / 2)
        low = np.where(open_below, self.least, np.maximum(self.noisy - down, self.least))
        up = np.floor(np.log((1 - d + d * g / 2) / (2 * h)) / rate + 1e-9).astype(np.int64)
        high = np.maximum(self.noisy + up, self.noisy)
        radius = self.distribution.radius(confidence, self.bins)
        about = (
            "the counts in this table, all that are shown at once "
            f"(a bin not shown holds fewer than the threshold + {radius})"
        )
        low, high = _within(low, self.size), _within(high, self.size)
        return Interval(low, high, confidence=confidence, about=about, population=False)


def _within(counts: npt.NDArray[np.int64], size: int | None) -> npt.NDArray[np.int64]:
    return np.clip(counts, 0, size)


def _below(threshold: int) -> str:
    return f"bins whose noisy count is below {threshold} are not shown"


__all__ = ["MISSING", "OpenHistogram", "SparseHistogram"]
LISTED: Final = 1_000_000  # a range of categories longer than this is not listed


def _reads(options: Mapping[str, Any]) -> Reads:
    if options.get("edges") is not None:
        return number(streams=True, dates=True)
    return number() if options.get("width") is not None else category(streams=True)


def _finds(options: Mapping[str, Any], _: Mapping[str, Columns | None]) -> bool:
    return options.get("categories") is None and options.get("edges") is None


def _world(about: About) -> World:
    listed, edges = about.given.get("categories"), about.given.get("edges")
    found = listed is None and edges is None
    wide = about.given["width"] if is_number(about.given.get("width")) else 1
    bins = about.whole("bins", 10, 1, 10**9) if found else _number_of_bins(listed, edges)
    if found:
        about.say(f"{bins} categories share the rows alike")
    shown = "category shown" if found else "bin"

    def expected(release: Any, rows: int, confidence: float | None) -> Expected:
        spread, threshold = release.spread, release.value.threshold
        many = bins + 1 if threshold is None else bins if found else max(1, min(bins, rows // threshold))
        seen = Expected.noise(spread.distribution, confidence, bins=bins, shown=many)
        if found:
            note = f"achieved: categories of {threshold} rows are shown; no bound with a sharp constant is known"
            if rows / bins >= threshold:
                return replace(seen, floor_note=note)
            refused = (
                f"a category of {rows / bins:.6g} rows is below the threshold of {threshold} more often than not; "
                f"{bins} categories need about {bins * threshold} rows"
            )
            return replace(seen, error=None, refused=refused, floor_note=note)
        if threshold is not None:
            about.say(f"bins shown hold {threshold} or more")
        if release.guarantee.delta:
            return replace(seen, floor_note="no floor is known with this noise")
        return replace(seen, floor=bins_floor(rows, float(release.guarantee.epsilon), bins), floor_note=BOUND)

    return World(
        make=lambda _, n: {"x": np.zeros(n) if edges is not None else np.arange(n) % min(bins, n) * wide},
        measure=f"median of the largest error of any {shown}, against the counts in the table",
        closed=expected,
    )


def _number_of_bins(listed: Any, edges: Any) -> int:
    if listed is not None and edges is not None:
        raise BadInput("both categories and edges are given; give one of them")
    if isinstance(listed, str | bytes) or not hasattr(edges if listed is None else listed, "__len__"):
        raise BadInput(f"categories are {listed!r} and edges {edges!r}; give a list of one of them")
    return len(listed) if listed is not None else len(edges) - 1


@statistic({"x": _reads}, groups=True, wants_delta=_finds, world=_world)
def histogram(
    people: Public,
    x: Columns,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    categories: Any = None,
    edges: Any = None,
    width: float | None = None,
    noise: Literal["laplace", "gaussian"] = "laplace",
) -> Mechanism[Counts]:
    """How many entries each bin holds.

    With `categories` (a list) or `edges` (of numeric bins), both public, all bins are shown, with a band that holds for
    all of them at once; entries that fit in none are counted in `other`. Pure; (epsilon, delta) with noise="gaussian".
    With `categories=range(...)` of more than a million whole numbers, bins above a threshold are shown. Pure.
    With neither, the categories are found in the data, those that enough people share: needs delta > 0. So are, with
    `width`, the bins [0, width), [width, 2 width), ... of the whole line, in both directions.

    >>> import discreet
    >>> r = discreet.histogram(["a", "b", "a"], epsilon=1.0, categories=["a", "b"], rng=discreet.Seeded(1))
    >>> r.value.bins
    ('a', 'b')
    """
    terms: dict[str, Any] = {"neighbours": people.neighbours, "unit": people.unit}
    if sum(one is not None for one in (categories, edges, width)) > 1:
        raise BadInput("two of categories, edges and width are given; give one of them")
    if isinstance(categories, str | bytes):
        raise BadInput(f"categories is the text {categories!r}; give a list of categories")
    long_range = isinstance(categories, range) and len(categories[: LISTED + 1]) > LISTED
    if noise != "laplace" and (long_range or (categories is None and edges is None)):
        raise BadInput(f"noise is {noise!r}; bins that are not listed are drawn with 'laplace' noise")
    if long_range:
        return SparseHistogram(categories, epsilon, **terms)
    if categories is not None:
        return Histogram(Categories.of(categories), epsilon, delta, noise=noise, **terms)
    if edges is not None:
        return Histogram(Edges.of(edges), epsilon, delta, noise=noise, **terms)
    return OpenHistogram(epsilon, delta, **terms, width=width)
