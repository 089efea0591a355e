"""The short verbs: `discreet.count(x, epsilon=1)`. Sugar over mechanisms, nothing else.

Each verb takes the data and the whole cost, and returns a `Release`. `neighbours` says which change of the data is
hidden, "replace" (the number of rows is public) or "add_or_remove" (it is not); `unit` what a row is called, "patient"
say; `rng` is `Seeded(...)` for tests, secret noise otherwise.
"""

import logging
from collections.abc import Mapping
from typing import Any, Literal

from discreet.blocks.aggregate import Engine, SubsampleAggregate, Trust
from discreet.blocks.ask import planned
from discreet.blocks.sandbox import Sandbox
from discreet.blocks.table import Table
from discreet.engines.local import Local
from discreet.errors import BadInput
from discreet.noise.secure import Secure
from discreet.promise.exact import Number
from discreet.promise.guarantee import check_budget
from discreet.promise.mechanism import Mechanism, Randomness
from discreet.promise.neighbours import Neighbours
from discreet.promise.release import Release
from discreet.statistics.bins import Categories, Edges
from discreet.statistics.count import Count
from discreet.statistics.gaussian import Gaussian1D
from discreet.statistics.histogram import Histogram, Tally
from discreet.statistics.hypothesis import ProportionTest, Tested
from discreet.statistics.lectures import ClippedMean, KarwaVadhan, StabilityMean, TwoStageMean
from discreet.statistics.mean import plan_mean
from discreet.statistics.open_histogram import OpenHistogram, SparseHistogram
from discreet.statistics.proportion import Alternative, Proportion
from discreet.statistics.quantile import Quantile
from discreet.statistics.rows import column, public_size
from discreet.statistics.variance import Variance, standard_deviation

LISTED = 1_000_000  # a range of categories longer than this is not listed


def count(
    x: Any,
    *,
    epsilon: Number,
    neighbours: Neighbours | str = "replace",
    unit: str = "row",
    rng: Randomness | None = None,
) -> Release[int]:
    """How many entries are true (or a number other than 0). Missing entries are not counted. Pure.

    >>> import discreet
    >>> r = discreet.count([True] * 900 + [False] * 100, epsilon=1.0)
    >>> r.interval(0.999).low <= 900 <= r.interval(0.999).high or "once in a thousand"
    True
    """
    return Count(epsilon, _relation(neighbours), _name(unit)).release(x, _door(rng))


def proportion(
    x: Any,
    *,
    epsilon: Number,
    neighbours: Neighbours | str = "replace",
    unit: str = "row",
    rng: Randomness | None = None,
) -> Release[float]:
    """The share of true entries, with an exact confidence interval for the population's share. Pure.

    >>> import discreet
    >>> 0 <= discreet.proportion([1, 0, 1, 1], epsilon=1.0).value <= 1
    True
    """
    return Proportion(epsilon, _relation(neighbours), _name(unit)).release(x, _door(rng))


def test_proportion(
    x: Any,
    null: float,
    *,
    epsilon: Number,
    alternative: Alternative = "two-sided",
    neighbours: Neighbours | str = "replace",
    unit: str = "row",
    rng: Randomness | None = None,
) -> Release[Tested]:
    """Whether the population's share of true entries is `null`. The value has `.p_value` and `.decide(level)`. Pure.

    >>> import discreet
    >>> discreet.test_proportion([1] * 90 + [0] * 10, 0.5, epsilon=2.0).value.decide(0.01)
    True
    """
    return ProportionTest(null, epsilon, alternative, _relation(neighbours), _name(unit)).release(x, _door(rng))


# pytest would take the verb for a test wherever it is imported
test_proportion.__test__ = False  # type: ignore[attr-defined]


def histogram(
    x: Any,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    categories: Any = None,
    edges: Any = None,
    noise: Literal["laplace", "gaussian"] = "laplace",
    neighbours: Neighbours | str = "replace",
    unit: str = "row",
    rng: Randomness | None = None,
) -> Release[Tally]:
    """How many entries each bin holds.

    With `categories` (a list) or `edges` (of numeric bins), both public, all bins are shown, with a band that holds for
    all of them at once; entries that fit in none are counted in `other`. Pure; (epsilon, delta) with noise="gaussian".
    With `categories=range(...)` of more than a million whole numbers, bins above a threshold are shown. Pure.
    With neither, the categories are found in the data, those that enough people share: needs delta > 0.

    >>> import discreet
    >>> r = discreet.histogram(["a", "b", "a"], epsilon=1.0, categories=["a", "b"])
    >>> r.value.keys
    ('a', 'b')
    """
    relation, unit = _relation(neighbours), _name(unit)
    mechanism: Mechanism[Tally]
    if categories is not None and edges is not None:
        raise BadInput("both categories and edges are given; give one of them")
    if isinstance(categories, str | bytes):
        raise BadInput(f"categories is the text {categories!r}; give a list of categories")
    long_range = isinstance(categories, range) and len(categories[: LISTED + 1]) > LISTED
    if noise != "laplace" and (long_range or (categories is None and edges is None)):
        raise BadInput(f"noise is {noise!r}; bins that are not listed are drawn with 'laplace' noise")
    if long_range:
        mechanism = SparseHistogram(categories, epsilon, neighbours=relation, unit=unit)
    elif categories is not None:
        mechanism = Histogram(Categories.of(categories), epsilon, delta, noise, relation, unit)
    elif edges is not None:
        mechanism = Histogram(Edges.of(edges), epsilon, delta, noise, relation, unit)
    else:
        mechanism = OpenHistogram(epsilon, delta, relation, unit)
    return mechanism.release(x, _door(rng))


def mean(
    x: Any,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    model: Literal["gaussian"] | None = None,
    bounds: tuple[float, float] | None = None,
    sigma: Any = None,
    method: Literal["auto", "clipped", "two-stage", "stability", "karwa-vadhan"] = "auto",
    reach: float | None = None,
    neighbours: Neighbours | str = "replace",
    unit: str = "row",
    rng: Randomness | None = None,
) -> Release[float]:
    """The mean, with a confidence interval for the population's. No bounds needed.

    model=None assumes no shape; model="gaussian" is tighter for normal data. Public `bounds`, and a public `sigma`, are
    used when given, never read from the data. The answer is pure epsilon; with delta > 0 a normal mean may be released
    in zCDP if that is predicted to be more accurate. The other methods are the lectures' own, kept for comparison: they
    need a public `reach` (|mean| <= reach) and `sigma` ("karwa-vadhan": a range of sigmas; "stability": no reach).

    >>> import discreet
    >>> r = discreet.mean([float(age % 80) for age in range(4000)], epsilon=1.0)
    >>> 35 < r.value < 44
    True
    """
    values, relation, name = column(x), _relation(neighbours), _name(unit)
    size = public_size(values, relation)
    mechanism: Mechanism[float]
    if method == "auto":
        mechanism = plan_mean(
            size, epsilon, delta, model=model, bounds=bounds, sigma=sigma, neighbours=relation, unit=name
        )
    elif relation is not Neighbours.REPLACE:
        raise BadInput(f"method {method!r} divides by a public number of rows; give neighbours='replace'")
    elif method == "clipped":
        mechanism = ClippedMean(reach, sigma, epsilon, name)  # type: ignore[arg-type]
    elif method == "two-stage":
        mechanism = TwoStageMean(reach, sigma, epsilon, name)  # type: ignore[arg-type]
    elif method == "stability":
        mechanism = StabilityMean(sigma, epsilon, delta, name)
    elif method == "karwa-vadhan":
        mechanism = KarwaVadhan(reach, sigma, epsilon, unit=name)  # type: ignore[arg-type]
    else:
        raise BadInput(f"method is {method!r}; give 'auto', 'clipped', 'two-stage', 'stability' or 'karwa-vadhan'")
    return mechanism.release(values, _door(rng))


def variance(
    x: Any,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    model: Literal["gaussian"] | None = None,
    bounds: tuple[float, float] | None = None,
    neighbours: Neighbours | str = "replace",
    unit: str = "row",
    rng: Randomness | None = None,
) -> Release[float]:
    """The variance, with a confidence interval for the population's. No bounds needed. Pure, whatever delta is allowed.

    >>> import discreet
    >>> 300 < discreet.variance([float(k % 80) for k in range(9000)], epsilon=2.0).value < 800
    True
    """
    values, relation = column(x), _relation(neighbours)
    size = public_size(values, relation)
    check_budget(epsilon, delta, size)
    return Variance(epsilon, model, bounds, relation, _name(unit), size).release(values, _door(rng))


def std(x: Any, **options: Any) -> Release[float]:
    """The standard deviation: the root of `variance`, with its options and its interval.

    >>> import discreet
    >>> 18 < discreet.std([float(k % 80) for k in range(9000)], epsilon=2.0).value < 29
    True
    """
    return standard_deviation(variance(x, **options))


def gaussian(
    x: Any,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    bounds: tuple[float, float] | None = None,
    neighbours: Neighbours | str = "replace",
    unit: str = "row",
    rng: Randomness | None = None,
) -> Release[Any]:
    """A normal distribution fitted to one column: `.mean`, `.variance`, and how far off it may be in total variation.

    Pure, whatever delta is allowed.

    >>> import discreet
    >>> r = discreet.gaussian([float(k % 80) for k in range(4000)], epsilon=1.0)
    >>> 30 < r.value.mean < 50
    True
    """
    values, relation = column(x), _relation(neighbours)
    size = public_size(values, relation)
    check_budget(epsilon, delta, size)
    return Gaussian1D(epsilon, bounds, relation, _name(unit), size).release(values, _door(rng))


def quantile(
    x: Any,
    q: Any,
    *,
    epsilon: Number,
    bounds: tuple[float, float] | None = None,
    confidence: float | None = 0.95,
    granularity: float | None = None,
    guaranteed: bool = False,
    missing: float = 0.0,
    neighbours: Neighbours | str = "replace",
    unit: str = "row",
    rng: Randomness | None = None,
) -> Release[Any]:
    """The q-quantile, or several, with an interval for the population's that assumes no shape. No bounds needed. Pure.

    The ends of the interval are what is drawn, so its `confidence` is declared here; with confidence=None the whole
    epsilon goes to the point. Rounded data: declare `granularity=`. `guaranteed=True` holds for any law, and is wider.
    A missing entry counts as the number `missing`.

    >>> import discreet
    >>> r = discreet.quantile(range(1000), 0.25, epsilon=2.0, confidence=None)
    >>> 200 < r.value < 300
    True
    """
    mechanism = Quantile(
        q, epsilon, bounds, confidence, granularity, guaranteed, missing, _relation(neighbours), _name(unit)
    )
    return mechanism.release(x, _door(rng))


def median(x: Any, **options: Any) -> Release[Any]:
    """The middle value: `quantile` with q = 0.5, and its options.

    >>> import discreet
    >>> 400 < discreet.median(range(1000), epsilon=2.0, confidence=None).value < 600
    True
    """
    return quantile(x, 0.5, **options)


def fit(
    estimator: Any,
    X: Any,  # noqa: N803  as scikit-learn calls it
    y: Any = None,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    blocks: int | Literal["auto"] = "auto",
    aggregator: Any = "auto",
    unit: Any = None,
    engine: Engine | None = None,
    names: Any = None,
    labels: Any = None,
    attributes: Any = None,
    formula: str | None = None,
    options: Mapping[str, Any] | None = None,
    correct: str | None = "auto",
    unbiased: bool | None = None,
    smallest: int | None = None,
    confidence: float = 0.95,
    trust: Trust | None = None,
    sandbox: Sandbox | None = None,
    seconds: float | None = None,
    vectorised: bool = True,
    neighbours: Neighbours | str = "replace",
    rng: Randomness | None = None,
) -> Release[Any]:
    """Any estimator, privately: fitted on disjoint blocks of people, the estimates combined, with an interval.

    `estimator` is a scikit-learn estimator or pipeline (`attributes` to read, by default coef_ and intercept_), a
    statsmodels class (with `formula` if X is a frame), a lifelines fitter, a function of the rows (and of y) that
    returns a number, an array, a dictionary or a label, or "file.py:function", which runs in a sandbox. `options` go to
    its fit. `unit` names the column that says whose row it is, or is that column: all rows of a person are protected.
    What is returned is found on made-up rows of the same columns, or declared: `names`, or `labels` for a vote.
    `aggregator` is "mean", "coordinatewise", "median", "vote", or a mechanism whose rows are estimates; `correct` the
    bias correction within blocks, "half", "jackknife" or None. How it will be done is logged before anything is spent.

    >>> import discreet
    >>> rows = [float(k % 100) for k in range(20000)]
    >>> r = discreet.fit(lambda x: float((x > 75).mean()), rows, epsilon=2.0)
    >>> 0.1 < r.value < 0.4
    True
    """
    table = Table.of(X, y, unit)
    mechanism = planned(
        estimator,
        table,
        epsilon=epsilon,
        delta=delta,
        blocks=blocks,
        aggregator=aggregator,
        engine=Local(limit=None if seconds is None else 1000 * seconds) if engine is None else engine,
        names=names,
        labels=labels,
        attributes=attributes,
        formula=formula,
        options=options,
        correct=correct,
        unbiased=unbiased,
        smallest=smallest,
        confidence=confidence,
        trust=trust,
        sandbox=sandbox,
        seconds=seconds,
        vectorised=vectorised,
        neighbours=_relation(neighbours),
        unit="row" if unit is None else unit if isinstance(unit, str) else "person",
    )
    return run_fit(mechanism, table, _door(rng))


def run_fit(mechanism: SubsampleAggregate, table: Table, rng: Randomness) -> Release[Any]:
    """Say how it will be done, then do it."""
    logging.getLogger("discreet").info("%s", mechanism.plan(table))
    return mechanism.release(table, rng)


def _relation(neighbours: Neighbours | str) -> Neighbours:
    try:
        return Neighbours(neighbours)
    except ValueError:
        raise BadInput(f"neighbours is {neighbours!r}; give 'replace' or 'add_or_remove'") from None


def _door(rng: Randomness | None) -> Randomness:
    if rng is None:
        return Secure()
    if not hasattr(rng, "blur"):
        raise BadInput(f"rng is {rng!r}; leave it out for secret noise, or give Seeded(1) in a test")
    return rng


def _name(unit: object) -> str:
    if not isinstance(unit, str) or not unit.strip():
        raise BadInput(f"unit is {unit!r}; name what a row is, for example 'patient'")
    return unit
