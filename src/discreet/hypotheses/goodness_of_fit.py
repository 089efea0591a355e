"""Counts in public categories: do they fit given probabilities?

Releases
    A noisy count for every public cell (and one for what fits in none), and the p-value computed from them. Where the
    number of people is private, a noisy number of them too.
Promise
    [goodness_of_fit.1] Pure epsilon, under REPLACE and under ADD_OR_REMOVE.
    [goodness_of_fit.2] The p-value is super-uniform if the entries are independent with the given probabilities.
Why
    [goodness_of_fit.1] Each row is in one cell ([histogram.4]): replacing it lowers one count by 1 and raises one by 1,
    so that the counts move by at most 2 in L1; adding it moves them by 1. Then [additive.1]. Under ADD_OR_REMOVE a
    twentieth of epsilon goes to the number of people before, which moves by 1 too.
    [goodness_of_fit.2] The statistic is a function of the noisy counts, whose distribution under the null hypothesis is
    known and simulated: [null_distributions.2]. It is sum (d - mean d)^2 / (n p (1 - p) + V) over the cells, d = c - n
    p and V the variance of the noise: cells where noise is all there is count little, and the sum of all d, which is
    noise alone, counts nothing. Where the probabilities sum to 1 nothing is expected in the cell of what fits in no
    other: it adds only what is above one standard deviation of the noise. Under ADD_OR_REMOVE the noisy total stands
    for n in the numerators, and the noisy number of before, with noise of its own, in the denominators, which are
    therefore constants for the counts; the p-value is the largest of all n in a band around the noisy total:
    [null_distributions.3].
Needs
    Public categories or bins; n epsilon of 10 where n is public. (Where it is private and there are hardly any people,
    the p-value is about uniform.)
Accuracy
    Each count has noise of standard deviation 2.8 / epsilon, or 1.5 / epsilon under ADD_OR_REMOVE; a cell tells little
    that expects fewer people than that. There four equal cells cost some power beside a Monte Carlo test that knows n:
    0.895 for 0.914 (n = 1,000, epsilon 0.1, two cells off by 0.06), 0.589 for 0.605 (1,000, 1, 0.03), 0.823 for 0.866
    (400, 0.3, 0.07). At the level of the noisy total alone they are 0.913, 0.598, 0.859; the rest is what the number of
    before costs. The worst n of the band makes the test exact: its level is 0.034 to 0.048 here, of 60,000 tables each.
Source
    Gaboardi, Lim, Rogers and Vadhan 2016; Kifer and Rogers 2017 for a statistic that leaves out the sum of the noise.
    The one with V in each denominator is ours, and so is the form without a public n.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np

from discreet.errors import BadInput, DiscreetError, Refused
from discreet.hypotheses.null_distributions import (
    CELLS,
    DRAWS,
    LEAST,
    Floats,
    Integers,
    check_draws,
    simulated_p_value,
    size_band,
    worst_p_value,
)
from discreet.hypotheses.private_sizes import noisy_sizes, split_budget
from discreet.hypotheses.result import NULL, pure
from discreet.noise import distributions as simulated
from discreet.noise.distributions import LaplaceDistribution, laplace_scale
from discreet.privacy.declaration import Columns, Public, Reads, category, number, statistic
from discreet.privacy.exact import Number, is_number
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.loss import Laplace
from discreet.privacy.mechanism import Mechanism, Randomness, promised, refusal_of
from discreet.privacy.release import Provenance, Release
from discreet.privacy.values import TestResult
from discreet.statistics.histogram import Bins, Categories, Edges, counts
from discreet.tables.entries import long_column, public_size
from discreet.worlds.assumptions import About, Effect
from discreet.worlds.shapes import tilt, tilted

MOVED: Final = 2  # [goodness_of_fit.1]
FITS: Final = f"{NULL}entries have the distribution that was given"
COUNTING: Final = Fraction(1, 20)  # of epsilon, for the number of people where it is private
MAXIMUM: Final = 1.7976931348623157e308


@dataclass(frozen=True, slots=True)
class FitTest:
    """Do the entries fall into public bins with these probabilities? What fits in no bin has the rest of 1.

    >>> from discreet.noise.randomness import Seeded
    >>> from discreet.statistics.histogram import Categories
    >>> test = FitTest(Categories.of(list("abc")), (0.5, 0.25, 0.25), 1.0)
    >>> test.release(list("abc") * 200, Seeded(1)).value.decide(0.001)
    True
    """

    bins: Bins
    probabilities: tuple[float, ...]
    epsilon: Number
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"
    draws: int = DRAWS

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        check_draws(self.draws)
        given = self.probabilities
        if (
            not isinstance(given, tuple)
            or len(given) != len(self.bins)
            or not all(is_number(p) and p >= 0 for p in given)
            or sum(given) > 1 + 1e-9
        ):
            raise BadInput(
                f"the probabilities are {given!r}; give {len(self.bins)} numbers, 0 or more, that sum to at most 1"
            )

    guarantee, loss = promised, pure  # [goodness_of_fit.1]

    def release(self, rows: Any, rng: Randomness) -> Release[TestResult]:
        """The noisy chi-square statistic and its p-value."""
        values = long_column(rows)
        size = public_size(values, self.neighbours)
        shown = {"bins": self.bins.names, "rows": size}
        provenance = Provenance("FitTest", shown, rng.secure, notes=(FITS,))
        if (refusal := refusal_of(self, size)) is not None:
            return Release(self.guarantee, provenance, refusal=refusal, name="test of fit")
        exact_counts = counts(self.bins, values)
        answer = self._unsized(exact_counts, rng) if size is None else self._sized(exact_counts, size, rng)
        return Release(self.guarantee, provenance, answer, name="test of fit")

    def check(self, size: int | None) -> None:
        """Refused, by public numbers, if so many people cannot be told from noise."""
        if size is not None:
            checked_size(size, self.epsilon, Refused)

    def _sized(self, exact_counts: Integers, size: int, rng: Randomness) -> TestResult:
        """Of a public number of people."""
        noisy = rng.blur(exact_counts, sensitivity=MOVED, cost=Laplace(self.epsilon))  # [goodness_of_fit.1]
        chances, scale = whole_of(self.probabilities), laplace_scale(MOVED, self.epsilon)

        def draw(generator: Any, draws: int) -> Floats:
            return null_fits(generator, size, chances, scale, draws)

        observed = float(misfit(noisy[None, :], size, chances, scale)[0])
        p_value = simulated_p_value(observed, draw, rng, fewer(self.draws, len(chances)))  # [goodness_of_fit.2]
        return TestResult(observed, p_value)

    def _unsized(self, exact_counts: Integers, rng: Randomness) -> TestResult:
        """Of a private number of people. [goodness_of_fit.2]"""
        counting, rest = split_budget(self.epsilon, COUNTING)
        (about,) = noisy_sizes([int(exact_counts.sum())], counting, rng)  # [goodness_of_fit.1]
        noisy = rng.blur(exact_counts, sensitivity=1, cost=Laplace(rest))  # [goodness_of_fit.1]
        chances, scale = whole_of(self.probabilities), laplace_scale(1, rest)
        spreads = about * chances * (1 - chances) + LaplaceDistribution(scale).sd ** 2
        observed = float(uncounted_misfit(noisy[None, :], chances, spreads, scale)[0])
        cells = expected(chances)
        band = size_band(int(noisy[:cells].sum()), cells, scale)
        draws = fewer(self.draws, len(chances) + 4 * len(band))
        generator = simulated.stream(rng.below(2**63))
        drawn = null_fits_in(generator, band, chances, spreads=spreads, scale=scale, draws=draws)
        return TestResult(observed, worst_p_value(observed, drawn, draws))  # [goodness_of_fit.2]


def misfit(table: Integers, size: int, chances: Floats, scale: Any) -> Floats:
    """sum (d - mean d)^2 / (n p (1 - p) + V), d = c - n p, of each row of counts. [goodness_of_fit.2]"""
    cells = expected(chances)
    apart, within = table[:, :cells] - size * chances[:cells], chances[:cells]
    spreads = size * within * (1 - within) + LaplaceDistribution(scale).sd ** 2
    found: Floats = ((apart - apart.mean(axis=1, keepdims=True)) ** 2 / spreads).sum(axis=1)
    return found + outside(table[:, cells:], scale)


def uncounted_misfit(table: Integers, chances: Floats, spreads: Floats, scale: Any) -> Floats:
    """sum (c - total p)^2 / spread of each row of counts. [goodness_of_fit.2]"""
    cells = expected(chances)
    apart = table[:, :cells] - table[:, :cells].sum(axis=1, keepdims=True) * chances[:cells]
    found: Floats = (apart**2 / spreads[:cells]).sum(axis=1)
    return found + outside(table[:, cells:], scale)


def expected(chances: Floats) -> int:
    """The number of cells, without the last one, of what fits in no other, if nothing is expected there."""
    return len(chances) - int(chances[-1] == 0)


def outside(table: Any, scale: Any) -> Floats:
    """What counts that should be 0 add: the squares of their standard deviations above the first.
    [goodness_of_fit.2]"""
    found: Floats = (np.maximum(table / LaplaceDistribution(scale).sd - 1, 0.0) ** 2).sum(axis=1)
    return found


def null_fits(generator: Any, size: int, chances: Floats, scale: Any, draws: int) -> Floats:
    """The statistic on simulated counts with noise, under the null hypothesis. [goodness_of_fit.2]"""
    drawn = generator.multinomial(size, chances, draws)
    return misfit(drawn + simulated.laplace(generator, drawn.shape, scale), size, chances, scale)


def null_fits_in(
    generator: Any, band: range, chances: Floats, *, spreads: Floats, scale: Any, draws: int
) -> Iterator[Floats]:
    """sum (c - total p)^2 / spread on simulated counts with noise, for each number of people in the band.
    [goodness_of_fit.2]

    The tables for n + 1 people are those for n with one person more. Three sums over the cells are kept up to date.
    """
    first, listed = band[0], expected(chances)
    table = generator.multinomial(first, chances, draws) - first * chances
    table = table + simulated.laplace(generator, table.shape, scale)
    beside = outside(table[:, listed:], scale)
    table, chances, spreads = table[:, :listed], chances[:listed], spreads[:listed]
    totals = table.sum(axis=1)  # less `first`, as all counts are less what they are expected to be
    squares, products = (table**2 / spreads).sum(axis=1), (table * chances / spreads).sum(axis=1)
    constant, every, edges = float((chances**2 / spreads).sum()), np.arange(draws), np.cumsum(chances)[:-1]
    for size in band:
        if size > first:
            cells = np.searchsorted(edges, generator.random(draws), side="right")
            squares += (2 * table[every, cells] + 1) / spreads[cells]
            products += (chances / spreads)[cells]
            table[every, cells] += 1
            totals += 1
        yield squares - 2 * totals * products + totals**2 * constant + beside


def whole_of(probabilities: tuple[float, ...]) -> Floats:
    """With the rest for what fits in no bin."""
    given = np.array([float(p) for p in probabilities])
    rest = 1 - math.fsum(given)
    full = np.append(given, rest if rest > 1e-9 else 0.0)
    return np.asarray(full / full.sum())


def fewer(draws: int, cells: int) -> int:
    """How often to simulate tables of so many cells."""
    return min(draws, max(999, 10 * CELLS // cells))


def checked_size(size: int, epsilon: Number, error: type[DiscreetError] = BadInput) -> int:
    """Refuse where nothing could be told from noise."""
    if size * float(epsilon) < LEAST:
        raise error(
            f"{size} people at epsilon {float(epsilon):g} cannot be told from noise; "
            f"{math.ceil(LEAST / float(epsilon))} are needed"
        )
    return size


def distribution_on_bins(distribution: Any, bins: Edges | None, cells: int) -> tuple[Edges, tuple[float, ...]]:
    """Bins and their probabilities under a distribution with `ppf` and `cdf`, as in scipy.stats; by default equal."""
    if bins is None:
        inner = np.asarray(distribution.ppf(np.arange(1, cells) / cells), dtype=np.float64)
        ends = np.unique(np.concatenate([[-MAXIMUM], inner[np.isfinite(inner)], [MAXIMUM]]))
        bins = Edges.of(ends)
    edges = np.array(bins.edges)
    with np.errstate(over="ignore"):  # the largest float's neighbour is infinite
        before = np.nextafter(edges, -np.inf)
    below = np.asarray(distribution.cdf(before), dtype=np.float64)  # P(X < edge): bins are [low, high)
    below[-1] = float(distribution.cdf(edges[-1]))
    return bins, tuple(float(p) for p in np.maximum(np.diff(below), 0))


def public_bins(categories: Any, edges: Any) -> Bins:
    """Public categories, or intervals between public edges."""
    if (categories is None) == (edges is None):
        raise BadInput("give public categories=[...] or public edges=[...], one of them")
    return Categories.of(categories) if edges is None else Edges.of(edges)


def _reads(options: Mapping[str, Any]) -> Reads:
    listed = options.get("categories") is not None or isinstance(options.get("null"), Mapping)
    return category(streams=True) if listed else number(streams=True)


def _world(about: About) -> Effect:
    null, bins = about.given.get("null"), about.given.get("bins", 10)
    if isinstance(null, Mapping):
        names, chances = list(null), np.array(list(null.values()), dtype=float)
    elif isinstance(null, list | tuple | np.ndarray):
        names, chances = list(about.given.get("categories") or range(len(null))), np.array(null, dtype=float)
    elif null is None or hasattr(null, "ppf"):
        names, chances = list(range(bins)), np.full(bins, 1 / bins)
        about.given["null"] = dict(zip(names, chances, strict=True))
        about.take("bins", None)
    else:
        raise BadInput(f"null is {null!r}; give probabilities, or a distribution of scipy.stats")
    truth = about.take("truth", None)
    moved = (tilted(chances, tilt(about)) if truth is None else _other(about, names, truth)) - chances

    def make(g: Any, n: int) -> dict[str, Any]:
        other = np.maximum(chances + moved * about.stretch(n), 0)
        return {"x": g.choice(np.array(names, dtype=object), n, p=other / other.sum())}

    return Effect(make=make)


def _other(about: About, names: list[Any], truth: Any) -> Floats:
    listed: list[Any] = [truth.get(name) for name in names] if isinstance(truth, Mapping) else list(truth)
    if len(listed) != len(names) or not all(is_number(p) and p >= 0 for p in listed) or abs(sum(listed) - 1) > 1e-9:
        raise BadInput(f"truth is {truth!r}; give {len(names)} probabilities, 0 or more, that sum to 1")
    about.say("the true probabilities are as given")
    return np.array(listed, dtype=float)


@statistic({"x": _reads}, world=_world)
def goodness_of_fit_test(
    people: Public,
    x: Columns,
    null: Any,
    *,
    epsilon: Number,
    categories: Any = None,
    edges: Any = None,
    bins: int = 10,
) -> Mechanism[TestResult]:
    """Null: entries have these probabilities, or this distribution. Exact.

    `null` is a dictionary of probabilities, a list of them (with `categories` or `edges`), or a distribution of
    scipy.stats, compared on `edges` or on `bins` intervals of equal probability.

    >>> import discreet
    >>> die, rolls = {face: 1 / 6 for face in range(1, 7)}, [1, 2, 3, 4, 5, 6, 6, 6] * 50
    >>> discreet.goodness_of_fit_test(rolls, die, epsilon=1.0, rng=discreet.Seeded(1)).value.decide(0.01)
    True
    """
    if isinstance(null, Mapping):
        given: Bins = Categories.of(list(null))
        chances = tuple(null.values())
    elif hasattr(null, "cdf") and hasattr(null, "ppf"):
        if not isinstance(bins, int) or isinstance(bins, bool) or not 2 <= bins <= 10_000:
            raise BadInput(f"bins is {bins!r}; give a whole number, 2 to 10000")
        given, chances = distribution_on_bins(null, None if edges is None else Edges.of(edges), bins)
    elif isinstance(null, list | tuple | np.ndarray):
        given, chances = public_bins(categories, edges), tuple(null)
    else:
        raise BadInput(f"null is of type {type(null).__name__}; give probabilities, or a distribution of scipy.stats")
    return FitTest(given, chances, epsilon, neighbours=people.neighbours, unit=people.unit)
