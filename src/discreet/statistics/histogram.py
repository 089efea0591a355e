"""A private histogram on public bins: how an entry finds its bin, and the noisy counts.

Releases
    A noisy count for every public bin, and one for everything outside them.
Promise
    [histogram.1] Laplace noise: pure epsilon. One person moves the counts by at most 2 in L1 under REPLACE, 1 under
         ADD_OR_REMOVE.
    [histogram.2] Gaussian noise: loss Gaussian(mu, slack), sensitivity sqrt 2 under REPLACE, 1 under ADD_OR_REMOVE, in
         L2; calibrated to (epsilon, delta), or to a given mu.
    [histogram.3] The band holds for all bins at once with at least its stated probability.
    [histogram.4] The index of an entry is a fixed function of that entry and of the public bins; it never raises. What
         fits in no bin, missing entries among them, has the last index of all, `other`: each is in exactly one bin.
Why
    [histogram.1] Each entry is in exactly one bin ([histogram.4]): replacing it lowers one count and raises
    another; adding it raises one. Then [additive.1].
    [histogram.2] The same move in L2. Counts are scaled to a grid of at least 2^30 steps in sigma, then [additive.2];
    rounding back to whole numbers is post-processing.
    [histogram.3] The noises are independent and identical: P(all |Z| <= t) = P(|Z| <= t)^K, K the number of bins with
    `other`; exact for Laplace. For Gaussian noise half a unit is added for the rounding and the slack taken off the
    confidence.
    [histogram.4] `indices` looks at one entry at a time.
Needs
    Public bins. Under ADD_OR_REMOVE the data may be empty.
Accuracy
    All K counts, `other` among them, are within a whole t with probability (1 - 2 a^{t+1} / (1 + a))^K, a = e^{-eps/2}
    under REPLACE and e^{-eps} under ADD_OR_REMOVE: at least 1 - b for t >= (2/eps) ln(2 K / ((1 + a) b)) - 1, or half.
    The lecture's Theorem 1.1, t or more beyond t = (2/eps) ln(K / b) with probability b, is for continuous noise:
    of whole numbers that have this noise, t or more beyond has up to 2 / (1 + a) times b, more than t at most b.
Source
    Dwork, McSherry, Nissim and Smith 2006. The lecture's scale 1/epsilon holds under ADD_OR_REMOVE only.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from discreet._compiled.warmth import warm
from discreet.accounting.calibrate import gaussian
from discreet.errors import BadInput
from discreet.noise.additive import Grid, slack
from discreet.noise.distributions import GaussianDistribution, LaplaceDistribution, laplace_scale
from discreet.privacy.exact import Number, exact, float_above, is_number, root_above
from discreet.privacy.guarantee import Guarantee, Neighbours, check_budget
from discreet.privacy.intervals import Interval
from discreet.privacy.loss import Approximate, Gaussian, Laplace
from discreet.privacy.mechanism import Randomness
from discreet.privacy.release import Provenance, Release
from discreet.privacy.values import Counts
from discreet.tables.entries import column, key, long_column, numbers, numbers_of, public_size
from discreet.tables.streams import added, fold

MOST_PEOPLE: Final = 2**31  # a public ceiling that keeps Gaussian counts exact
LARGE: Final = 200_000  # entries from which the compiled pass is worth its import
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Categories:
    """Listed categories, by canonical key, and as they were given."""

    keys: tuple[Hashable, ...]
    names: tuple[Any, ...] = field(compare=False)

    @classmethod
    def of(cls, listed: Any) -> "Categories":
        """From any list of categories, each named once."""
        names = tuple(_listed(listed, "categories"))
        if not names:
            raise BadInput("categories is empty; list the public categories, or leave it out and give delta > 0")
        keys = tuple(key(entry) for entry in names)
        times = Counter(keys)
        twice = [str(entry) for entry, one in zip(names, keys, strict=True) if times[one] > 1]
        if twice:
            raise BadInput(f"categories lists {', '.join(twice[:5])} more than once; name each category once")
        return cls(keys, names)

    def __len__(self) -> int:
        return len(self.keys)

    def indices(self, rows: Any) -> Numbers:
        """The place of each entry in the list; len(self) for any other. [histogram.4]"""
        places = {one: index for index, one in enumerate(self.keys)}
        values, other = column(rows), len(self.keys)
        if values.dtype.kind in "biufUS":  # few distinct values: look each up once
            distinct, where = np.unique(values, return_inverse=True)
            table = np.array([places.get(key(entry), other) for entry in distinct], dtype=np.int64)
            return table[where] if len(distinct) else np.empty(0, dtype=np.int64)
        held = list(values)  # every entry stays: no other has its id
        seen: dict[int, int] = {}  # a table's column is few objects many times: each is looked up once

        def place(entry: Any) -> int:
            found = seen.get(id(entry))
            if found is None:
                found = seen[id(entry)] = places.get(key(entry), other)
            return found

        return np.fromiter(map(place, held), dtype=np.int64, count=len(values))


@dataclass(frozen=True, slots=True)
class Edges:
    """Intervals [e0, e1), [e1, e2), ..., the last one closed."""

    edges: tuple[float, ...]

    @classmethod
    def of(cls, listed: Any) -> "Edges":
        """From at least two finite, increasing numbers."""
        given = _listed(listed, "edges")
        if len(given) < 2 or not all(is_number(edge) for edge in given):
            raise BadInput(f"edges has {len(given)} entries; give at least two finite numbers in increasing order")
        edges = tuple(float(edge) for edge in given)
        if any(not low < high for low, high in pairwise(edges)):
            raise BadInput("edges are not increasing (as floats); give each edge once, in increasing order")
        return cls(edges)

    def __len__(self) -> int:
        return len(self.edges) - 1

    @property
    def names(self) -> tuple[Any, ...]:
        """(low, high) of each bin."""
        return tuple(pairwise(self.edges))

    def indices(self, rows: Any) -> Numbers:
        """The bin of each number; len(self) for what is outside or no number. [histogram.4]"""
        values, edges = numbers(rows), np.array(self.edges)
        found = np.searchsorted(edges, values, side="right") - 1
        found[values == edges[-1]] = len(self) - 1
        return np.where((found < 0) | (found >= len(self)) | np.isnan(values), len(self), found).astype(np.int64)


Bins = Categories | Edges


def _listed(given: Any, what: str) -> list[Any]:
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise BadInput(f"{what} is {given!r}; give a list")
    return list(given.tolist() if isinstance(given, np.ndarray) else given)


def counts(bins: Bins, rows: Any) -> Numbers:
    """How many entries each bin holds, `other` last."""
    values = long_column(rows)
    return fold(
        partial(_counts, bins=bins, fast=len(values) >= LARGE and warm(len(values), "column_kernels")), added, values
    )


def _counts(given: Iterator[npt.NDArray[Any]], *, bins: Bins, fast: bool) -> Numbers:
    found = np.zeros(len(bins) + 1, dtype=np.int64)
    count = _compiled(bins) if isinstance(bins, Edges) and fast else None
    for piece in given:
        found += count(numbers_of(piece)) if count else np.bincount(bins.indices(piece), minlength=len(found))
    return found


def _compiled(bins: Edges) -> Callable[[npt.NDArray[np.float64]], Numbers] | None:
    """The compiled pass, if it loads: the size alone must not raise."""
    try:
        from discreet._compiled.column_kernels import counts_between
    except Exception:  # noqa: BLE001  no numba, or one that does not load
        return None
    edges = np.array(bins.edges)
    return lambda values: counts_between(values, edges)


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts on public bins."""

    bins: Bins
    epsilon: Number
    delta: Number = 0.0
    _: KW_ONLY
    noise: Literal["laplace", "gaussian"] = "laplace"
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"

    def __post_init__(self) -> None:
        check_budget(self.epsilon, self.delta, 1)
        if self.noise not in ("laplace", "gaussian"):
            raise BadInput(f"noise is {self.noise!r}; give 'laplace' (pure) or 'gaussian' (needs delta > 0)")
        if self.noise == "gaussian" and not self.delta:
            raise BadInput("noise is 'gaussian' and delta is 0; give delta > 0 (about 1e-6), or noise='laplace'")

    @property
    def guarantee(self) -> Guarantee:
        """Pure epsilon with Laplace noise, whatever delta was allowed; (epsilon, delta) with Gaussian noise."""
        delta = self.delta if self.noise == "gaussian" else 0.0
        return Guarantee(self.epsilon, delta, self.neighbours, self.unit)

    @property
    def loss(self) -> Approximate | Gaussian:
        """One draw for all bins together: with Laplace noise pure epsilon ([additive.1])."""
        if self.noise == "laplace":
            return Approximate(self.epsilon, 0)
        roughly = gaussian(float(self.epsilon), float(self.delta))
        steps = int(self.sensitivity / exact(roughly) / self._grid(roughly).step)
        off = slack(len(self.bins) + 1, steps)  # the final mu is smaller, so there are more steps and less slack
        return Gaussian(gaussian(float(self.epsilon), float(self.delta), slack=float_above(off)), off)  # [histogram.2]

    def _grid(self, mu: Number) -> Grid:
        """Whole people are whole steps."""
        return Grid(min(0, Grid.for_sigma(self.sensitivity / exact(mu), MOST_PEOPLE).exponent))

    @property
    def sensitivity(self) -> Fraction:
        """How far one person moves the counts: L1 for Laplace, L2 for Gaussian noise."""
        moved = 2 if self.neighbours is Neighbours.REPLACE else 1  # [histogram.1]
        return Fraction(moved) if self.noise == "laplace" else root_above(moved)  # [histogram.2]

    def release(self, rows: Any, rng: Randomness) -> Release[Counts]:
        """The noisy counts."""
        values = long_column(rows)
        size = public_size(values, self.neighbours)
        check_budget(self.epsilon, self.delta, size)
        loss, exact_counts = self.loss, counts(self.bins, values)
        if isinstance(loss, Approximate):
            noisy = rng.blur(exact_counts, sensitivity=self.sensitivity, cost=Laplace(self.epsilon))  # [histogram.1]
            spread = Band(noisy, size, LaplaceDistribution(laplace_scale(self.sensitivity, self.epsilon)))
        else:
            grid = self._grid(loss.mu)
            steps = np.minimum(exact_counts, MOST_PEOPLE) * grid.steps(1)
            blurred = rng.blur(steps, sensitivity=self.sensitivity * grid.steps(1), cost=loss)  # [histogram.2]
            sigma = float(self.sensitivity / exact(loss.mu))
            spread = Band(np.rint(grid.value(blurred)).astype(np.int64), size, GaussianDistribution(sigma))
        shown = spread.clip(spread.noisy)
        parameters = {"bins": self.bins.names, "noise": self.noise, "neighbours": self.neighbours, "rows": size}
        return Release(
            self.guarantee,
            Provenance("Histogram", parameters, rng.secure),
            Counts(self.bins.names, shown[:-1], other=int(shown[-1])),
            spread=spread,
            name="histogram",
        )


@dataclass(frozen=True, slots=True)
class Band:
    """Noisy counts, `other` last, the distribution of their noise, and the public size if there is one."""

    noisy: Numbers
    size: int | None
    distribution: LaplaceDistribution | GaussianDistribution
    sampling: None = None

    @property
    def privacy(self) -> float:
        """Standard deviation of each count's noise."""
        return self.distribution.sd

    def clip(self, values: Numbers) -> Numbers:
        """Within what counts can be."""
        return np.clip(values, 0, self.size)

    def interval(self, confidence: float) -> Interval:
        """A band for the counts of all bins at once. [histogram.3]"""
        radius = self.distribution.radius(confidence, len(self.noisy))
        low, high = self.clip(self.noisy - radius)[:-1], self.clip(self.noisy + radius)[:-1]
        return Interval(
            low, high, confidence=confidence, about="the counts in this table, all at once", population=False
        )
