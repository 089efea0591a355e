"""The types of the declared statistics, as functions and as methods of a session.

Made by scripts/faces.py from the declarations; do not edit."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, overload

from discreet.hypotheses.ab_test import Of
from discreet.hypotheses.groups_test import Of as OfOfGroupsTest
from discreet.models.kmeans import Clustering
from discreet.models.regressions import Method
from discreet.privacy.exact import Number
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.mechanism import Randomness
from discreet.privacy.release import Groups, Release
from discreet.privacy.value_shapes import Shapes
from discreet.privacy.values import (
    ClassCoefficients,
    ClassCounts,
    Clusters,
    Coefficients,
    Comparison,
    Components,
    Counts,
    CrossCounts,
    Distribution,
    Matrix,
    StepCurve,
    SyntheticTable,
    TestResult,
    Vector,
)
from discreet.sandbox.sandbox import Sandbox
from discreet.statistics.difference import Of as OfOfDifference
from discreet.statistics.extremes import SHARE
from discreet.statistics.family import Family
from discreet.statistics.proportion import Alternative
from discreet.subsample.aggregate import Trust
from discreet.subsample.custom_test import SMALLEST
from discreet.tables.streams import Engine

__all__ = [
    "Asking",
    "ab_test",
    "additive_model",
    "anova",
    "closeness_test",
    "correlation",
    "count",
    "covariance",
    "crosstab",
    "custom_test",
    "density",
    "difference",
    "distinct",
    "ecdf",
    "fit",
    "fit_distribution",
    "fit_normal",
    "goodness_of_fit_test",
    "groups_test",
    "histogram",
    "independence_test",
    "iqr",
    "kmeans",
    "likelihood_ratio_test",
    "linear_regression",
    "log_rank_test",
    "logistic_regression",
    "maximum",
    "maximum_likelihood",
    "mean",
    "mean_test",
    "median",
    "minimum",
    "mode",
    "multinomial_regression",
    "naive_bayes",
    "paired_test",
    "pca",
    "poisson_regression",
    "proportion",
    "proportion_test",
    "quantile",
    "rate",
    "ratio",
    "sgd",
    "std",
    "sum",
    "survival",
    "synthetic",
    "top",
    "two_means_test",
    "two_samples_test",
    "variance",
]

def method_doc(name: str) -> str: ...
def example(name: str) -> str: ...
def ab_test(
    x: Any,
    groups: Any,
    *,
    epsilon: Number,
    treatment: Any,
    control: Any,
    of: Of = "mean",
    planned: float = 0.5,
    alternative: Alternative = "two-sided",
    bounds: tuple[float, float] | None = None,
    confidence: float = 0.95,
    equals: Any = None,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[Comparison]:
    """What a treatment changes: difference and ratio with intervals, a p-value, and a check of the groups' sizes. Pure.

    Null: the public groups `treatment` and `control` have the same mean, or share, in the population; "greater" is for
    a treatment that makes it larger. The p-value is at most 5% if, and only if, the 95% interval of the difference
    leaves out 0. Who is in which group is private. `planned` is the share of both groups' people that were to be in the
    treatment's; the sample-ratio check takes a tenth of epsilon, and its `split_p_value` is small where the groups are
    not of the planned sizes. `difference` compares medians.

    >>> import discreet
    >>> bought, page = [k % 5 > k % 2 for k in range(4000)], ["new", "old"] * 2000
    >>> r = discreet.ab_test(
    ...     bought, page, epsilon=1.0, of="proportion", treatment="new", control="old", rng=discreet.Seeded(1)
    ... )
    >>> r.value.decide(0.01), r.value.as_planned
    (True, True)
    """

def additive_model(
    X: Any,
    y: Any,
    *,
    epsilon: Number,
    delta: Number,
    classes: Sequence[Any],
    bounds: Any = None,
    levels: Mapping[str, Sequence[Any]] | None = None,
    bins: int = 16,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[Shapes]:
    """An additive model of two classes, as boosted trees of one column each: what the bins of each column add to the
    log odds, with an interval for each bin. No bounds needed; delta > 0.

    `classes` are the two public labels in `y`, that of no first; rows with any other do not count. `levels` lists the
    public categories of columns by name; all other columns are numbers, with `bins` bins. Where these are is found, or
    follows from public `bounds`: a pair for all columns of numbers, or a dictionary by name, as {"age": (0, 90)}. An
    entry that is missing has a bin of its own: give missing="keep" to count such rows. The value predicts:
    `.predict(X)` and `.predict_proba(X)`, which have no interval: ask on rows that were kept apart for the
    `proportion` that is right.

    >>> import discreet
    >>> import numpy as np
    >>> x = np.array([[k % 97, k % 11] for k in range(9000)])
    >>> y = (abs(x[:, 0] - 48) + np.arange(9000) % 40 > 45).astype(int)
    >>> r = discreet.additive_model(x, y, epsilon=2.0, delta=1e-6, classes=[0, 1], rng=discreet.Seeded(1))
    >>> r.value.predict([[5, 3], [48, 3], [95, 3]]).tolist()
    [1, 0, 1]
    """

def anova(
    *groups: Any,
    epsilon: Number,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[TestResult]:
    """Null: several independent groups have one distribution, by ranks. Exact, whatever the distribution.

    Under the default relation, "add_or_remove", a person's group and presence are hidden too; under "replace" they are
    public.

    >>> import discreet
    >>> groups = [[k % 50 + shift for k in range(200)] for shift in (0, 10, 20)]
    >>> discreet.anova(*groups, epsilon=1.0, rng=discreet.Seeded(1)).value.decide(0.01)
    True
    """

def closeness_test(
    x: Any,
    y: Any,
    *,
    epsilon: Number,
    categories: Any = None,
    edges: Any = None,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[TestResult]:
    """Null: two samples have the same probabilities of public bins. Holds for many people.

    Under the default relation, "add_or_remove", a person's sample and presence are hidden too; under "replace" they are
    public.

    >>> import discreet
    >>> x, y = ["a"] * 150 + ["b"] * 50, ["a"] * 100 + ["b"] * 100
    >>> discreet.closeness_test(x, y, epsilon=1.0, categories=["a", "b"], rng=discreet.Seeded(1)).value.decide(0.01)
    True
    """

def correlation(
    x: Any,
    *,
    epsilon: Number,
    method: Literal["pearson", "spearman"] = "pearson",
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[Matrix]:
    """The correlation of the columns, a named matrix, with an interval for each entry. No bounds needed. Pure.

    `x` is an array, a data frame or an Arrow table of numbers, a row for each person. Each column's values are limited
    to a range that is found privately and that few rows lie beyond; the interval is for the correlation of the limited
    values and names the ranges. It holds whatever the joint distribution is, and needs no delta.

    method="spearman" is the correlation of ranks, equal values sharing the middle one of theirs. It limits nothing,
    is not moved by a few extreme values, and needs fewer rows.

    >>> import discreet
    >>> import numpy as np
    >>> x = np.array([[k % 7, k % 11 + k % 7] for k in range(20_000)])
    >>> r = discreet.correlation(x, epsilon=2.0, rng=discreet.Seeded(1))
    >>> bool(0.4 < r.value[0, 1] < 0.65)
    True
    """

def count(
    x: Any = None,
    *,
    epsilon: Number,
    equals: Any = None,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[int]:
    """How many entries are true, or 1. Any other number and missing entries are not counted. Pure.

    With `equals`, how many are this text, number or date; a condition counts others, as "visits != 0". In a session,
    without a column, it is the number of people.

    >>> import discreet
    >>> r = discreet.count([True] * 900 + [False] * 100, epsilon=1.0, rng=discreet.Seeded(1))
    >>> r.interval(0.999).low <= 900 <= r.interval(0.999).high or "once in a thousand"
    True
    """

def covariance(
    x: Any,
    *,
    epsilon: Number,
    delta: Number,
    model: Literal["gaussian"] | None = None,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[Any]:
    """The covariance of the columns, a d x d array, with an interval for each entry. No bounds needed.

    `x` is an array, a data frame or an Arrow table of numbers, a row for each person. model="gaussian" is tighter for
    normal rows, and takes rows far from the others for errors. Needs delta > 0.

    >>> import discreet
    >>> import numpy as np
    >>> x = np.array([[k % 7, k % 11 + k % 7] for k in range(5000)])
    >>> discreet.covariance(x, epsilon=2.0, delta=1e-6, rng=discreet.Seeded(1)).value.shape
    (2, 2)
    """

def crosstab(
    x: Any,
    y: Any,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    z: Any = None,
    categories: Any = None,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[CrossCounts]:
    """How many there are of each combination of the categories of two columns, or three, with sums. Pure.

    `categories` has a public list for each column. Where it is left out, or None stands for a list, the categories that
    enough people share are found: needs delta > 0. Sums agree with the cells, and the interval holds for all cells and
    sums at once. Whoever has a category that is not listed is counted in `other`.

    >>> import discreet
    >>> sex, smokes = ["F", "M"] * 300, ["no", "no", "yes", "no", "no"] * 120
    >>> r = discreet.crosstab(sex, smokes, epsilon=1.0, categories=[["F", "M"], ["no", "yes"]], rng=discreet.Seeded(1))
    >>> r.value["F", "no"] + r.value["F", "yes"] == r.value["F", ...]
    True
    """

def custom_test(
    test: Any,
    X: Any,
    y: Any = None,
    *,
    epsilon: Number,
    method: Literal["scores", "binary"] = "scores",
    blocks: int | Literal["auto"] = "auto",
    smallest: int = SMALLEST,
    options: Mapping[str, Any] | None = None,
    engine: Engine | None = None,
    trust: Trust | None = None,
    sandbox: Sandbox | None = None,
    timeout: float | None = None,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[TestResult]:
    """Any test: a function of the rows (and of y) that returns a p-value, run on disjoint blocks of people.

    Valid if the base test is valid on blocks of `smallest` people; give one-sided p-values where there is a direction,
    for two-sided ones lose it in every block. A block in which the test fails is no evidence. method="binary" counts
    the blocks that reject. Under neighbours="add_or_remove", where `blocks` are not declared, a noisy number of people
    chooses them.

    >>> import discreet
    >>> from scipy import stats
    >>> def above(x):
    ...     return stats.ttest_1samp(x, 0.0, alternative="greater").pvalue
    >>> x = [(k * 0.618) % 1 - 0.4 for k in range(2000)]
    >>> discreet.custom_test(above, x, epsilon=1.0, rng=discreet.Seeded(1)).value.decide(0.01)
    True
    """

def density(
    x: Any,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    support: Any = None,
    granularity: float | None = None,
    categories: Any = None,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[Any]:
    """How a column is distributed: a density with bins of widths that are found, no bounds needed. Pure.

    The value is a function, with `.edges` and `.heights`, and `.polygon`, `.cdf` and `.quantile`; the release's spread
    has `.band(confidence)` for the distribution function and `.quantile(q, confidence)`. `support` are public ends.
    `granularity` is what the data are rounded to: 1 if the column is declared to hold integers, else found privately,
    for a small part of epsilon; granularity=0 says that they are not rounded. Bins hold whole multiples of it.
    With `categories` (a list) the value gives the share of each; with `categories="open"` those that enough people
    share are found, which needs delta > 0.

    >>> import discreet
    >>> rows = [(0.618 * index) % 50 for index in range(20_000)]
    >>> curve = discreet.density(rows, epsilon=1.0, support=(0, 50), rng=discreet.Seeded(1)).value
    >>> 0.015 < curve(25.0) < 0.025
    True
    """

def difference(
    x: Any,
    groups: Any,
    *,
    epsilon: Number,
    between: Any,
    of: OfOfDifference = "mean",
    bounds: tuple[float, float] | None = None,
    confidence: float = 0.95,
    equals: Any = None,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[Vector]:
    """The difference and the ratio of two groups' means, medians or shares, with intervals. Pure.

    `between` names the two public groups: the second is taken from the first. Who is in which group is private. The
    value has "difference", "ratio" and both groups by name. The ratio is left out (NaN) where the second group's
    interval reaches 0. Null hypothesis of the difference: both groups are the same in the population; it is rejected
    at 5% if the 95% interval of the difference leaves out 0.

    >>> import discreet
    >>> x, arm = [float(k % 50) for k in range(8000)], ["new", "old"] * 4000
    >>> r = discreet.difference(x, arm, epsilon=1.0, between=["new", "old"], rng=discreet.Seeded(1))
    >>> bool(-3 < r.value["difference"] < 1)
    True
    """

def distinct(
    x: Any,
    *,
    epsilon: Number,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[int]:
    """How many different values a column holds. Missing entries are not counted. Pure.

    It tells names and ids, which differ from person to person, from categories, which people share.

    >>> import discreet
    >>> towns = ["Ulm", "Bonn", "Jena"] * 300
    >>> r = discreet.distinct(towns, epsilon=1.0, rng=discreet.Seeded(1))
    >>> r.interval(0.999).low <= 3 <= r.interval(0.999).high or "once in a thousand"
    True
    """

def ecdf(
    x: Any,
    *,
    epsilon: Number,
    support: Any = None,
    granularity: float | None = None,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[StepCurve]:
    """The share of people below each of many places, with a band that holds at all of them at once. Pure.

    No bounds needed; `support` are public ends. The value has `.at` and `.heights`, is called with a place, and says
    where it reaches a share: `.reaches(0.5)`. The band assumes no shape. `granularity` as in `density`.

    >>> import discreet
    >>> rows = [(0.618 * index) % 50 for index in range(20_000)]
    >>> curve = discreet.ecdf(rows, epsilon=1.0, support=(0, 50), rng=discreet.Seeded(1)).value
    >>> 0.45 < curve(25.0) < 0.55
    True
    """

def fit(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    blocks: int | Literal["auto"] = "auto",
    aggregator: Any = "auto",
    bias_correction: str | None = "auto",
    timeout: float | None = None,
    engine: Engine | None = None,
    names: Any = None,
    labels: Any = None,
    attributes: Any = None,
    formula: str | None = None,
    options: Mapping[str, Any] | None = None,
    categories: Mapping[Any, Any] | None = None,
    unbiased: bool | None = None,
    estimate_bias: bool | Literal["auto"] = "auto",
    smallest: int | None = None,
    scales: Any = None,
    confidence: float = 0.95,
    trust: Trust | None = None,
    sandbox: Sandbox | None = None,
    vectorised: bool = True,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[Any]:
    """Any estimator, privately: fitted on disjoint blocks of people, the estimates combined, with an interval.

    `estimator` is a scikit-learn estimator or pipeline (`attributes` to read, by default `coef_` and `intercept_`), a
    statsmodels class (with `formula` if X is a frame), a lifelines fitter, a function of the rows (and of y) that
    returns a number, an array, a dictionary or a label, or "file.py:function", which runs in a sandbox. `options` go to
    its fit. `unit` names the column that says whose row it is, or is that column: all rows of a person are protected.
    What is returned is found on made-up rows of the same columns, or declared: `names`, or `labels` for a vote. Blocks
    hold numbers as float64 and texts, declared by their type, as objects; a column of objects is one of numbers.
    `categories` declares the public categories of some columns, {"sex": ["F", "M"]}. Where people are few for blocks,
    scikit-learn's LinearRegression, LogisticRegression (y declared boolean) and PoissonRegressor (alpha=0) are answered
    by `linear_regression` and its like, if `delta` is above 0 and nothing is said of blocks.
    `aggregator` is "mean", "coordinatewise", "friendly" (for several numbers at once; `scales=1` declares that they
    vary alike), "median", "vote" (by noisy counts; "exponential" and "noisy-max" draw the winner alone), or a mechanism
    whose rows are estimates; `bias_correction` the one within blocks, "half", "jackknife", "firth" or None.
    `estimate_bias` spends 3/10 of epsilon on what is left of the bias, and widens the interval by it: by default for
    functions, of which nothing is known, and elsewhere where its price is small; `unbiased=True` says that there is
    none. `confidence` is that of the interval that is shown; `interval(0.9)` of the release gives any other, but for
    the median, whose interval is drawn at this one. `timeout` is how many seconds a block may take, in a sandbox how
    long every block takes. Under neighbours="add_or_remove", where `blocks` are not declared, a twentieth of epsilon
    buys a noisy number of people that chooses them. How it will be done is logged before anything is spent.

    >>> import discreet
    >>> rows = [float(k % 100) for k in range(20000)]
    >>> r = discreet.fit(lambda x: float((x > 75).mean()), rows, epsilon=2.0, rng=discreet.Seeded(1))
    >>> 0.1 < r.value < 0.4
    True
    """

def fit_distribution(
    family: str | Family,
    x: Any,
    *,
    epsilon: Number,
    trials: int | None = None,
    categories: Any = None,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[Distribution]:
    """The distribution of a known family that fits best, with an interval for each of its parameters. Pure.

    Its parameters are those that maximum likelihood would find in the whole population, whether or not that has a
    distribution of the family. There are no bounds to give: far values are limited, and the answer says where.

    `family` is "bernoulli" (p), "binomial" (p; `trials` of each record), "multinomial" (probabilities; the public
    `categories`), "poisson" (rate), "exponential" (rate), "gamma" (shape, scale), "beta" (a, b), "gaussian" (mean,
    variance), "lognormal" (mu, sigma: mean and standard deviation of the logarithms; entries that are not above 0 are
    limited to the least), or a `discreet.Family` of your own. `value` has the parameters by name, and
    `value.distribution()` is a scipy.stats distribution.

    >>> import discreet
    >>> r = discreet.fit_distribution("poisson", [k % 5 for k in range(4000)], epsilon=1.0, rng=discreet.Seeded(1))
    >>> 1.8 < r.value.rate < 2.3
    True
    """

def fit_normal(
    x: Any,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    bounds: tuple[float, float] | None = None,
    model: Literal["gaussian"] | None = None,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[Any]:
    """The normal distribution that fits best: `.mean` and `.variance`, with intervals for both. No bounds needed.

    The intervals hold the mean and the variance of a population of any shape, far values limited where the answer says.
    Of one column it is pure, whatever delta is allowed, and `bounds` are a public range of its median. Of the rows of
    an array, a data frame or an Arrow table it has `.covariance` and needs delta > 0; model="gaussian" is tighter for
    normal rows there, and takes rows far from the others for errors.

    >>> import discreet
    >>> r = discreet.fit_normal([float(k % 80) for k in range(4000)], epsilon=1.0, rng=discreet.Seeded(1))
    >>> 30 < r.value.mean < 50
    True
    """

def goodness_of_fit_test(
    x: Any,
    null: Any,
    *,
    epsilon: Number,
    categories: Any = None,
    edges: Any = None,
    bins: int = 10,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[TestResult]:
    """Null: entries have these probabilities, or this distribution. Exact.

    `null` is a dictionary of probabilities, a list of them (with `categories` or `edges`), or a distribution of
    scipy.stats, compared on `edges` or on `bins` intervals of equal probability.

    >>> import discreet
    >>> die, rolls = {face: 1 / 6 for face in range(1, 7)}, [1, 2, 3, 4, 5, 6, 6, 6] * 50
    >>> discreet.goodness_of_fit_test(rolls, die, epsilon=1.0, rng=discreet.Seeded(1)).value.decide(0.01)
    True
    """

def groups_test(
    x: Any,
    groups: Any,
    *,
    epsilon: Number,
    between: Any,
    of: OfOfGroupsTest = "distribution",
    alternative: Alternative = "two-sided",
    bounds: tuple[float, float] | None = None,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[TestResult]:
    """Null: the public groups `between` have one distribution, or one mean. Who is in which group is private. Pure.

    of="distribution" compares ranks: of two groups as `two_samples_test`, of more as `anova`; exact, whatever the
    distribution. of="mean" compares two means, far values limited alike, as `two_means_test`; public `bounds` may be
    given for it. "greater" is for a first group that tends to be larger. For how far apart two groups are, with an
    interval, ask for their `difference`.

    >>> import discreet
    >>> x, arm = [float(k % 50 + 15 * (k % 2)) for k in range(1000)], ["new", "old"] * 500
    >>> r = discreet.groups_test(x, arm, epsilon=1.0, between=["new", "old"], rng=discreet.Seeded(1))
    >>> r.value.decide(0.01)
    True
    """

def histogram(
    x: Any,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    categories: Any = None,
    edges: Any = None,
    width: float | None = None,
    noise: Literal["laplace", "gaussian"] = "laplace",
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[Counts]:
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

def independence_test(
    x: Any,
    y: Any,
    *,
    epsilon: Number,
    categories: Any,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[TestResult]:
    """Null: two columns are independent; `categories` lists those of x, then those of y. Holds for many people.

    >>> import discreet
    >>> x, y = ["a", "b", "a"] * 200, [0, 1, 1] * 200
    >>> release = discreet.independence_test(
    ...     x, y, epsilon=1.0, categories=(["a", "b"], [0, 1]), rng=discreet.Seeded(1))
    >>> release.value.decide(0.01)
    True
    """

def iqr(
    x: Any,
    *,
    epsilon: Number,
    bounds: tuple[Any, Any] | None = None,
    confidence: float = 0.95,
    granularity: float | None = None,
    guaranteed: bool = False,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[float]:
    """The distance between the quartiles, with an interval for the population's that assumes no shape. Pure.

    No bounds needed. The interval is made of those of both quartiles, which hold at once; its `confidence` is declared
    here. The other options are those of `quantile`.

    >>> import discreet
    >>> r = discreet.iqr([float(k % 1000) for k in range(20_000)], epsilon=1.0, rng=discreet.Seeded(1))
    >>> 450 < r.value < 550
    True
    """

def kmeans(
    X: Any,
    k: int,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    method: Clustering = "auto",
    radius: float | None = None,
    centre: Any = None,
    iterations: int | None = None,
    loss: bool = False,
    columns: int | None = None,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[Clusters]:
    """k clusters: `.centres`, noisy `.sizes`, and `.predict` by the released centres.

    `radius` is a public ball around `centre` (0 if left out) that holds the rows; without one a ball is found
    privately. method="auto" or "centred" is the most accurate; "lloyd" is the lectures' own; "friendly" is for clusters
    that are well apart, wherever they are, and refuses others. delta=0.0 is pure. loss=True releases the loss too, for
    a share of the budget. `columns` says how many there are, where X is a list of rows.

    >>> import discreet
    >>> import numpy as np
    >>> x = np.array([[k % 2 * 8 + np.sin(k), np.cos(3 * k)] for k in range(4000)])
    >>> r = discreet.kmeans(x, 2, epsilon=2.0, delta=1e-6, rng=discreet.Seeded(1))
    >>> r.value.predict([[0.0, 0.0], [8.0, 0.0]]).tolist()
    [0, 1]
    """

def likelihood_ratio_test(
    x: Any,
    p: Any,
    q: Any,
    *,
    epsilon: Number,
    method: Literal["clamped", "vote"] = "clamped",
    clamp: tuple[float, float] | None = None,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[TestResult]:
    """Null: the distribution is p, and not q: two distributions of scipy.stats, or dictionaries of probabilities.

    Exact. method="vote" is the lecture's, kept for comparison: blocks of people vote by their likelihood ratios.

    >>> import discreet
    >>> fair, loaded, rolls = {0: 0.5, 1: 0.5}, {0: 0.4, 1: 0.6}, [1, 1, 1, 0] * 100
    >>> release = discreet.likelihood_ratio_test(rolls, fair, loaded, epsilon=1.0, rng=discreet.Seeded(1))
    >>> release.value.decide(0.01)
    True
    """

def linear_regression(
    X: Any,
    y: Any = None,
    *,
    epsilon: Number,
    delta: Number,
    weights: Any = None,
    offset: Any = None,
    clusters: Any = None,
    strata: Any = None,
    method: Literal["auto", "moments", "friendly", "sgd"] = "auto",
    ridge: float | None = None,
    intercept: bool = True,
    names: Sequence[str] | None = None,
    bounds: Any = None,
    levels: Mapping[str, Sequence[Any]] | None = None,
    blocks: int | Literal["auto"] = "auto",
    design: Any = None,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[Coefficients]:
    """Linear regression: coefficients, each with an interval that has the privacy noise in it. No bounds needed.

    `X` is an array or a frame of numbers and `y` the outcome; or X is a formula, "y ~ age + C(sex)", and y the frame
    (pandas, polars, Arrow or a dictionary of columns). `levels` lists the categories of a C(...), the one to compare
    with first; those not listed are found, at a tenth of the budget each. `bounds` are public bounds by name of column,
    (0, 1) for rare truth values say. `weights` is a column of survey or precision weights: any numbers above 0, of any
    scale; rows without one do not count. `offset` is a column that is taken off the outcome. `clusters`, and `strata`
    of them, say how a survey drew people, and `design` lists them: the public clusters, or those of each stratum. The
    intervals are then for people drawn in these clusters. `ridge` is as
    scikit-learn's alpha; None adds only what the noise asks for. `method` "moments" is a noisy sum of squares,
    "friendly" fits on blocks of people, "sgd" is descent on the squares, for columns in units of about 1 and with no
    interval; "auto" is "moments". For people with several rows open a session with person=, or use `fit`.

    >>> import discreet
    >>> import numpy as np
    >>> x = np.array([[k % 7, k % 11] for k in range(5000)])
    >>> y = x @ [2.0, -1.0] + np.arange(5000) % 13
    >>> r = discreet.linear_regression(x, y, epsilon=1.0, delta=1e-6, rng=discreet.Seeded(1))
    >>> bool(abs(r.value.coef - [2, -1]).max() < 0.2), r.value.names
    (True, ('x0', 'x1'))
    """

def log_rank_test(
    time: Any,
    event: Any,
    groups: Any,
    *,
    epsilon: Number,
    between: Any,
    times: Any,
    parts: int = 4,
    alternative: Alternative = "two-sided",
    equals: Any = None,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[TestResult]:
    """Null: among those still watched, both groups have the event at the same rate, at all times up to the last. Pure.

    `between` names the two public groups; who is in which is private. `time` is how long a person was watched, `event`
    whether the event came then: true, the number 1, or what `equals` says, as in `survival`. alternative="greater"
    tests against the first group having it more often. `times` are public, and each interval is cut in `parts`: those
    up to which enough people are left are used, and a note names the last. For how far apart the
    groups are ask for `survival` by group.

    >>> import discreet
    >>> time, arm = [float(k % 9 + 1) / (1 + k % 2) for k in range(2000)], ["new", "old"] * 1000
    >>> r = discreet.log_rank_test(time, [True] * 2000, arm, epsilon=1.0, between=["new", "old"], times=[1, 2, 4],
    ...     rng=discreet.Seeded(1))
    >>> r.value.decide(0.001)
    True
    """

def logistic_regression(
    X: Any,
    y: Any = None,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    weights: Any = None,
    offset: Any = None,
    clusters: Any = None,
    strata: Any = None,
    method: Method = "auto",
    ridge: float | None = None,
    intercept: bool = True,
    bounds: Any = None,
    norm: float | None = None,
    classes: Sequence[Any] | None = None,
    levels: Mapping[str, Sequence[Any]] | None = None,
    names: Sequence[str] | None = None,
    confidence: float | None = 0.95,
    design: Any = None,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[Coefficients]:
    """Logistic regression: the coefficients of log odds, with intervals where there are people enough. No bounds
    needed.

    `X` is an array or a frame of numbers and `y` the outcome: 1 for yes and 0 for no, or the second and the first of
    two public `classes`; rows with any other outcome do not count. Or X is a formula, "ill ~ age + C(sex)", and y the
    frame; C(ill) takes two public levels, that of no first. Rows at levels that are not listed do not count. Public
    `bounds` (a pair for all features, one for each, or a dictionary by name) or a public largest `norm` of a row save
    what finding scales costs. `weights`, `clusters` and `strata` are as in `linear_regression`; `offset` is a column
    that is added to the log odds; all need delta > 0. `method` "objective" is pure (a minimum tilted by chance, with a
    `ridge`), "descent" needs delta > 0, "friendly" fits on blocks of people; "auto" says in a note which it took, and
    why. With a delta "auto" answers with a ridge where people are too few for coefficients without one, and the first
    line says so. confidence=None saves the budget of intervals.

    >>> import discreet
    >>> import numpy as np
    >>> x = np.array([[k % 7, k % 11] for k in range(20000)])
    >>> y = x[:, 0] + np.arange(20000) % 5 > 5
    >>> r = discreet.logistic_regression(x, y, epsilon=1.0, rng=discreet.Seeded(1))
    >>> bool(r.value.coef[0] > 0.5), r.value.names
    (True, ('x0', 'x1'))
    """

def maximum(
    x: Any,
    *,
    epsilon: Number,
    share: float = SHARE,
    bounds: tuple[Any, Any] | None = None,
    confidence: float = 0.95,
    granularity: float | None = None,
    guaranteed: bool = False,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[float]:
    """A high value, the 99% quantile, with an interval for the population's. Pure.

    The greatest value itself belongs to one person, and cannot be told. What is told is the quantile that a `share` of
    the people, 1%, lies above, and its first line says so. The other options are those of `quantile`.

    >>> import discreet
    >>> r = discreet.maximum([float(k % 1000) for k in range(20_000)], epsilon=1.0, bounds=(0, 1000),
    ...     rng=discreet.Seeded(1))
    >>> 985 < r.value < 995
    True
    """

def maximum_likelihood(
    model: Any,
    data: Any,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    fixed: Mapping[str, float] | None = None,
    names: Any = None,
    start: Any = None,
    bounds: Any = None,
    blocks: int | Literal["auto"] = "auto",
    aggregator: Any = "auto",
    bias_correction: str | None = "auto",
    engine: Engine | None = None,
    timeout: float | None = None,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[Distribution]:
    """Maximum likelihood for any parametric distribution, with an interval for each parameter. No bounds on the data.

    `model` is a continuous distribution of scipy.stats or its name ("gamma", "weibull", "lognormal", "t", ...), with
    some of its parameters `fixed`: unless you say otherwise, loc=0 for one on a half-line, and loc=0, scale=1 for one
    on an interval; fixed={} frees them. Or it is `logpdf(x, *parameters)`, with the `names` of the parameters,
    a public `start` and `bounds` such as [(0, None), (None, None)]. It is fitted on disjoint blocks of people and the
    estimates are combined: `blocks`, `aggregator`, `engine` and `timeout` are those of `discreet.fit`;
    `bias_correction` is the one within blocks ("jackknife", "half" or None).

    >>> import discreet, numpy as np
    >>> waits = -np.log((np.arange(20000) * 0.618034 + 0.0001) % 1)
    >>> r = discreet.maximum_likelihood("gamma", waits, epsilon=1.0, delta=1e-6, rng=discreet.Seeded(1))
    >>> 0.9 < r.value.a < 1.1
    True
    """

def mean(
    x: Any,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    model: Literal["gaussian"] | None = None,
    bounds: tuple[Any, Any] | None = None,
    sigma: Any = None,
    near_zero: bool = False,
    method: Literal["auto", "clipped", "two-stage", "stability", "karwa-vadhan", "refine", "blocks"] = "auto",
    reach: float | None = None,
    weights: Any = None,
    clusters: Any = None,
    strata: Any = None,
    largest_weight: float | None = None,
    design: Any = None,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[Any]:
    """The mean, with a confidence interval for the population's. No bounds needed.

    model=None assumes no shape. With n * epsilon^2 of some 2,000 (10,000 under "replace"; more for long tails) its
    interval is for the mean, and allows for values farther out than can be seen; elsewhere it is for the mean of values
    limited to a range that it names, beyond which few records lie. It takes n * epsilon of 180; near_zero=True declares
    that the mean is within a hundred standard deviations of 0, as it is for most measurements, and takes 120.
    model="gaussian" is tighter for normal data. Public `bounds`, and a public `sigma`, are used when given, never read
    from the data. The answer is pure epsilon; with delta > 0 a normal mean may be released in zCDP if that is predicted
    to be more accurate. The other methods are the lectures' own, kept for comparison: they need a public `reach`
    (`abs(mean) <= reach`) and `sigma` ("karwa-vadhan": a range of sigmas; "stability": no reach).

    With the `weights` of a survey it is the mean of the population that they stand for; with its `clusters`, the
    interval is for people who were drawn in them.

    A table (an array of rows and columns, a data frame, an Arrow table) has a mean for each column, with noise in units
    of its own spread; delta > 0 makes it much more accurate. For columns of one scale there are method="refine", which
    averages rows, and "blocks", the means of blocks of rows: both need delta > 0. For columns that vary together, a
    stretched covariance, the mean of `fit_normal` has far less noise across the long direction.

    >>> import discreet
    >>> r = discreet.mean([float(age % 80) for age in range(4000)], epsilon=1.0, rng=discreet.Seeded(1))
    >>> 35 < r.value < 44
    True
    """

def mean_test(
    x: Any,
    null: float,
    *,
    epsilon: Number,
    alternative: Alternative = "two-sided",
    model: Literal["gaussian", "symmetric"] | None = None,
    bounds: tuple[float, float] | None = None,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[TestResult]:
    """Null: the population's mean, far values limited at a distance found privately, is `null`. For many people.

    Values beyond that distance from `null` count as 4/3 of it. Where both tails seem to hold as many people, the
    distance is that of about two standard deviations; elsewhere one that few people are beyond. So the limited mean is
    the mean for symmetric, for slightly skewed and for exponential tails. Where one tail is clearly longer, `null` may
    lie a little to its side of the limited mean; in a far longer tail that few people are in, the test is about the
    mean so limited. The first line of the release says where. If `null` is between 0 and 1 and nearly all values seem
    to be 0 or 1, both are within the limit; proportion_test finds more in them. Give `bounds` for the mean of all
    values, model="gaussian" if a normal model is true: these invert the interval of `mean`. model="symmetric" tests
    another hypothesis, that the distribution is symmetric about `null`; it is exact (signed ranks, or signs), and no
    test of the mean of skewed data.

    >>> import discreet
    >>> x = [float(age % 80) for age in range(4000)]
    >>> discreet.mean_test(x, 30.0, epsilon=1.0, rng=discreet.Seeded(1)).value.decide(0.01)
    True
    """

def median(
    x: Any,
    *,
    epsilon: Number,
    bounds: tuple[Any, Any] | None = None,
    confidence: float | None = 0.95,
    granularity: float | None = None,
    guaranteed: bool = False,
    weights: Any = None,
    largest_weight: float | None = None,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[Any]:
    """The middle value: the quantile with q = 0.5, with its options and its interval. Pure.

    >>> import discreet
    >>> 400 < discreet.median(range(1000), epsilon=2.0, confidence=None, rng=discreet.Seeded(1)).value < 600
    True
    """

def minimum(
    x: Any,
    *,
    epsilon: Number,
    share: float = SHARE,
    bounds: tuple[Any, Any] | None = None,
    confidence: float = 0.95,
    granularity: float | None = None,
    guaranteed: bool = False,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[float]:
    """A low value, the 1% quantile, with an interval for the population's. Pure.

    The least value itself belongs to one person, and cannot be told. What is told is the quantile that a `share` of the
    people, 1%, lies below, and its first line says so. The other options are those of `quantile`.

    >>> import discreet
    >>> r = discreet.minimum([float(k % 1000) for k in range(20_000)], epsilon=1.0, bounds=(0, 1000),
    ...     rng=discreet.Seeded(1))
    >>> 5 < r.value < 15
    True
    """

def mode(
    x: Any,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    categories: Any = None,
    confidence: float = 0.95,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[Counts]:
    """The most frequent category in this table: all that may be it, at the declared confidence, the likeliest first.

    Where the noise leaves no doubt one category is shown, with its count. Categories are found, which needs delta > 0,
    or public and listed: then it is pure. Where a category that was not found may be the most frequent one, the answer
    is a refusal.

    >>> import discreet
    >>> town = ["Bergen"] * 900 + ["Oslo"] * 3000 + ["Voss"] * 300
    >>> discreet.mode(town, epsilon=1.0, delta=1e-6, rng=discreet.Seeded(1)).value.bins
    ('Oslo',)
    """

def multinomial_regression(
    X: Any,
    y: Any,
    *,
    epsilon: Number,
    delta: Number,
    classes: Sequence[Any],
    bounds: Any = None,
    names: Sequence[str] | None = None,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[ClassCoefficients]:
    """Multinomial logistic regression: coefficients of the log odds of each class against the first, with intervals.
    No bounds needed; delta > 0.

    `X` is an array or a frame of numbers, `classes` are the public labels in `y`, two to twenty, the one to compare
    with first; rows with any other do not count. `bounds` are public bounds: a pair for all columns, one for each, or a
    dictionary by name. The value predicts: `.predict(X)` and `.predict_proba(X)`, which have no interval.

    >>> import discreet
    >>> import numpy as np
    >>> x = np.array([[k % 7, k % 11] for k in range(20000)])
    >>> y = (x[:, 0] + np.arange(20000) % 5) // 4
    >>> r = discreet.multinomial_regression(x, y, epsilon=1.0, delta=1e-6, classes=[0, 1, 2], rng=discreet.Seeded(1))
    >>> bool(0 < r.value[1, "x0"] < r.value[2, "x0"]), r.value.predict([[0, 3], [6, 3]]).tolist()
    (True, [0, 2])
    """

def naive_bayes(
    X: Any,
    y: Any,
    *,
    epsilon: Number,
    classes: Sequence[Any],
    delta: Number = 0.0,
    bounds: Any = None,
    levels: Mapping[str, Sequence[Any]] | None = None,
    bins: int = 12,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[ClassCounts]:
    """Naive Bayes: how many people of each class there are in each bin of each column, all with one interval, and a
    classifier made of these counts. No bounds needed.

    `classes` are the public labels in `y`; rows with any other do not count. `levels` lists the public categories of
    columns by name; all other columns are numbers, with `bins` bins. Where these are is found, or follows from public
    `bounds`: a pair for all columns of numbers, or a dictionary by name, as {"age": (0, 90)}. delta > 0 saves much
    where bins of several columns are found. An entry that is missing has a bin of its own: give missing="keep" to count
    such rows. The value predicts: `.predict(X)` and `.predict_proba(X)`. Chances take columns as independent within
    classes; they and predictions have no interval: ask on rows that were kept apart for the `proportion` that is right.

    >>> import discreet
    >>> import numpy as np
    >>> y = np.arange(4000) % 2
    >>> x = np.array([[k % 97 + 30 * (k % 2), k % 11] for k in range(4000)])
    >>> r = discreet.naive_bayes(x, y, epsilon=2.0, delta=1e-6, classes=[0, 1], rng=discreet.Seeded(1))
    >>> r.value.predict([[5.0, 3.0], [120.0, 3.0]]).tolist()
    [0, 1]
    """

def paired_test(
    x: Any,
    y: Any = None,
    *,
    epsilon: Number,
    alternative: Alternative = "two-sided",
    method: Literal["ranks", "signs"] | None = None,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[TestResult]:
    """Null: x - y is symmetric about 0; with "signs", as often positive as negative. Exact.

    Symmetry is tested by signed ranks, or by signs where n * epsilon^2 is below 45 (24 under "replace") and these find
    more; "ranks" always takes ranks. Without y, x holds the differences. Zeros and ties are allowed for.

    >>> import discreet
    >>> before, after = [k % 30 for k in range(300)], [k % 30 - k % 3 for k in range(300)]
    >>> discreet.paired_test(before, after, epsilon=1.0, rng=discreet.Seeded(1)).value.decide(0.01)
    True
    """

def pca(
    x: Any,
    k: int,
    *,
    epsilon: Number,
    delta: Number,
    standardise: bool = True,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[Components]:
    """The first k principal components: directions, and the share of the variance that lies along each. No bounds.

    The interval is for `.shares` of each of the released directions and for `.captured`, that of all k together: what
    they hold of the population's variance, rows limited to a distance that it names. The directions themselves,
    `.directions`, have no interval: where two components are about alike, any turn of the two is as good. `.transform`
    gives rows along them. standardise=True takes columns in units of their standard deviations. Needs delta > 0.

    >>> import discreet
    >>> import numpy as np
    >>> x = np.array([[k % 97, k % 97 + k % 11, k % 13] for k in range(8000)])
    >>> r = discreet.pca(x, k=1, epsilon=2.0, delta=1e-6, rng=discreet.Seeded(1))
    >>> bool(0.6 < r.value.captured < 0.73)
    True
    """

def poisson_regression(
    X: Any,
    y: Any = None,
    *,
    epsilon: Number,
    delta: Number,
    weights: Any = None,
    offset: Any = None,
    clusters: Any = None,
    strata: Any = None,
    method: Literal["auto", "descent", "friendly"] = "auto",
    largest: int | None = None,
    intercept: bool = True,
    bounds: Any = None,
    norm: float | None = None,
    levels: Mapping[str, Sequence[Any]] | None = None,
    names: Sequence[str] | None = None,
    design: Any = None,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[Coefficients]:
    """Poisson regression: the coefficients of the log of a rate, with intervals. No bounds needed; delta > 0.

    As `logistic_regression`; `y` are counts, and `largest` a public number that hardly any exceeds, if there is one.
    For rates give the logarithm of the exposure as `offset`.

    >>> import discreet
    >>> import numpy as np
    >>> x = np.array([[k % 7] for k in range(30000)])
    >>> y = x[:, 0] // 2 + np.arange(30000) % 3
    >>> r = discreet.poisson_regression(x, y, epsilon=1.0, delta=1e-6, rng=discreet.Seeded(1))
    >>> bool(0.1 < r.value.coef[0] < 0.4)
    True
    """

def proportion(
    x: Any,
    *,
    epsilon: Number,
    equals: Any = None,
    weights: Any = None,
    clusters: Any = None,
    strata: Any = None,
    largest_weight: float | None = None,
    design: Any = None,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[float]:
    """The share of true entries, with an exact confidence interval for the population's share. Pure.

    Entries are true, yes, or 1; with `equals` those that are this text, number or date. Any other number is no, also a
    code for a missing entry: leave it out by `where`. Missing entries are left out. With `weights` it is the share of
    the population that they stand for.

    >>> import discreet
    >>> 0.6 < discreet.proportion([1, 0, 1, 1] * 500, epsilon=1.0, rng=discreet.Seeded(1)).value < 0.9
    True
    """

def proportion_test(
    x: Any,
    null: float,
    *,
    epsilon: Number,
    alternative: Alternative = "two-sided",
    equals: Any = None,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[TestResult]:
    """Null: the population's share of true entries is `null`. The value has `.p_value` and `.decide(level)`. Pure.

    With `equals` it is the share of entries that are this text, number or date.

    >>> import discreet
    >>> discreet.proportion_test([1] * 90 + [0] * 10, 0.5, epsilon=2.0, rng=discreet.Seeded(1)).value.decide(0.01)
    True
    """

def quantile(
    x: Any,
    q: Any,
    *,
    epsilon: Number,
    bounds: tuple[Any, Any] | None = None,
    confidence: float | None = 0.95,
    granularity: float | None = None,
    guaranteed: bool = False,
    weights: Any = None,
    largest_weight: float | None = None,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[Any]:
    """The q-quantile, or several, with an interval for the population's that assumes no shape. No bounds needed. Pure.

    The ends of the interval are what is drawn, so its `confidence` is declared here; with confidence=None the whole
    epsilon goes to the point. `granularity` is what the data are rounded to: 1 if the column is declared to hold
    integers, else found privately, for a small part of epsilon; granularity=0 says that they are not rounded.
    `guaranteed=True` holds for any distribution, and is wider. With `weights` each person counts with a chance of their
    weight over the public `largest_weight`: it is the quantile of the population that they stand for.

    >>> import discreet
    >>> r = discreet.quantile(range(1000), 0.25, epsilon=2.0, confidence=None, rng=discreet.Seeded(1))
    >>> 200 < r.value < 300
    True
    """

def rate(
    x: Any,
    y: Any,
    *,
    epsilon: Number,
    bounds: Any = None,
    per: float = 1.0,
    equals: Any = None,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[float]:
    """Events over the time that people were watched, with a confidence interval for the population's rate. Pure.

    x is each person's number of events, 0 or 1 for yes or no, or a condition, "status == 'dead'"; with `equals` an
    event is an entry that is this text, number or date. y is the time; `per=1000` tells events per 1,000 units of time.
    No bounds are needed; public ones, a pair for each column or None, make the answer better. A condition is 0 or 1. A
    total time near 0 is refused.

    >>> import discreet
    >>> falls, years = [k % 10 == 0 for k in range(5000)], [1.0 + k % 3 for k in range(5000)]
    >>> r = discreet.rate(falls, years, epsilon=1.0, bounds=[(0, 1), (0, 3)], per=1000, rng=discreet.Seeded(1))
    >>> 40 < r.value < 60
    True
    """

def ratio(
    x: Any,
    y: Any,
    *,
    epsilon: Number,
    bounds: Any = None,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[float]:
    """The total of x over the total of y, with a confidence interval for the population's. No bounds needed. Pure.

    Both columns are limited to public `bounds`, a pair for each, or to ranges that are found privately and that few
    people lie beyond; the interval names them. y is not below 0: what is, counts as 0. A total of y that is near 0 is
    refused.

    >>> import discreet
    >>> cost, visits = [20.0 * (k % 4) + k % 7 for k in range(5000)], [k % 4 for k in range(5000)]
    >>> r = discreet.ratio(cost, visits, epsilon=1.0, bounds=[(0, 100), (0, 5)], rng=discreet.Seeded(1))
    >>> 21 < r.value < 23
    True
    """

def sgd(
    loss: str | Callable[..., Any],
    X: Any,
    y: Any,
    *,
    epsilon: Number,
    delta: Number,
    steps: int = 40,
    rate: float = 1.0,
    clip: float | None = None,
    learning: float | None = None,
    size: int | None = None,
    parameters: int | None = None,
    intercept: bool = True,
    bounds: Any = None,
    norm: float | None = None,
    names: Sequence[str] | None = None,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[Any]:
    """Stochastic gradient descent on a loss, each person's gradient clipped, with noise at every step.

    `loss` is "squared", "huber", "logistic" or "poisson" (features in units of about 1, or with public `bounds`),
    or a function gradients(w, X, y) of one row that returns its `parameters` derivatives; it sees one row at a time
    and may remember nothing of others, and if it raises, that counts as 0. With rate < 1 each step sees a secret
    sample in which each person is with that chance: give neighbours="add_or_remove", and `size`, a public guess
    of how many there are. There is no interval.

    >>> import discreet
    >>> import numpy as np
    >>> x = np.array([[k % 7 - 3.0] for k in range(4000)])
    >>> r = discreet.sgd(
    ...     "squared", x, 2 * x[:, 0], epsilon=2.0, delta=1e-6, clip=6.0, size=4000, rng=discreet.Seeded(1))
    >>> bool(1.5 < r.value.coef[0] < 2.5)
    True
    """

def std(
    x: Any,
    *,
    epsilon: Number,
    model: Literal["gaussian"] | None = None,
    bounds: tuple[float, float] | None = None,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[float]:
    """The standard deviation: the root of the variance, with its options and its interval. Pure.

    >>> import discreet
    >>> import numpy as np
    >>> 18 < discreet.std(np.arange(9000.0) % 80, epsilon=2.0, rng=discreet.Seeded(1)).value < 29
    True
    """

def sum(
    x: Any,
    *,
    epsilon: Number,
    bounds: tuple[float, float] | None = None,
    weights: Any = None,
    clusters: Any = None,
    strata: Any = None,
    largest_weight: float | None = None,
    design: Any = None,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[float]:
    """The total of the values in this table. No bounds needed. Pure.

    Values are limited to the public `bounds`, or to a range around 0 that is found privately and that few records lie
    beyond. The interval is for the total of the limited values; it names the range. With `weights` it is for the total
    of the population that they stand for, and allows for sampling.

    >>> import discreet
    >>> r = discreet.sum([float(hours % 24) for hours in range(4000)], epsilon=1.0, rng=discreet.Seeded(1))
    >>> r.interval(0.999).low <= 45_936 <= r.interval(0.999).high or "once in a thousand"
    True
    """

def survival(
    time: Any,
    event: Any,
    *,
    epsilon: Number,
    times: Any,
    parts: int = 4,
    equals: Any = None,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[StepCurve]:
    """The share of people without the event at each of the public `times`, by Kaplan and Meier, with intervals. Pure.

    `time` is how long a person was watched, `event` whether the event came then or watching ended without it. What
    counts as the event is true in a column of truth values, and 1 in one of numbers, where any other is an end; or what
    `equals` says, or a condition, "status == 2". The interval's first line names it.
    The interval of each time, by itself, allows for sampling and noise, and for what a grid of times hides: `parts` is
    in how many parts the time from one of `times` to the next is cut. The value has `.at` and `.heights`, is called
    with a time, and `.reaches(0.5)` is the median. Times at which too few people are left have no number.

    >>> import discreet
    >>> time, died = [float(k % 10 + 1) for k in range(3000)], [k % 3 > 0 for k in range(3000)]
    >>> r = discreet.survival(time, died, epsilon=1.0, times=[2, 5, 8], rng=discreet.Seeded(1))
    >>> 0.55 < r.value(5.0) < 0.75
    True
    """

def synthetic(
    X: Any,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    levels: Mapping[str, Any] | None = None,
    edges: Mapping[str, Any] | None = None,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[SyntheticTable]:
    """A synthetic table: rows like those of a table, and an interval for every count that they were made of.

    `levels` lists the public categories of columns, `edges` public edges of bins of numbers; the categories of other
    columns are found where enough people share them, which needs delta > 0. The counts of every column are measured,
    and those of the pairs that are worth their noise, at most one less than there are columns; which they are is chosen
    privately. `value.to_frame()` draws rows, `value.marginal("sex", "smokes")` gives counts, and `interval()` holds all
    of them at once. A pair that was not measured has no interval and no count. Noise is Gaussian with delta > 0.

    >>> import discreet
    >>> table = {"sex": ["F", "M"] * 500, "age": [k % 80 for k in range(1000)]}
    >>> known = {"levels": {"sex": ["F", "M"]}, "edges": {"age": [0, 20, 40, 60, 80]}}
    >>> r = discreet.synthetic(table, epsilon=2.0, **known, rng=discreet.Seeded(1))
    >>> low, high = r.interval()
    >>> low.marginal("sex")["F"] <= 500 <= high.marginal("sex")["F"]
    True
    """

def top(
    x: Any,
    k: int = 10,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    categories: Any = None,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[Counts]:
    """The k most frequent categories and their counts in this table, with a band for all of them at once.

    Nobody has to list the categories: those that enough people share are found, which needs delta > 0. With public
    `categories` it is pure. Which categories are shown, and in what order, is decided by noisy counts: where the ends
    of two overlap, the order may be the other one.

    >>> import discreet
    >>> town = ["Bergen"] * 900 + ["Oslo"] * 3000 + ["Voss"] * 300
    >>> discreet.top(town, 2, epsilon=1.0, delta=1e-6, rng=discreet.Seeded(1)).value.bins
    ('Oslo', 'Bergen')
    """

def two_means_test(
    x: Any,
    y: Any,
    *,
    epsilon: Number,
    alternative: Alternative = "two-sided",
    model: Literal["gaussian"] | None = None,
    bounds: tuple[float, float] | None = None,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[TestResult]:
    """Null: two independent groups have one mean, far values limited alike. For many people.

    The limit is a distance from the middle of all values, found privately; values beyond it count as 4/3 of it. It is
    close where the tails of both groups seem alike, and one that few people are beyond elsewhere. Or give public
    `bounds`, or model="gaussian" if both are normal. For whether groups have one *distribution*, which is found sooner
    by ranks, ask two_samples_test: under unequal spreads or shapes that is another hypothesis. Under the default
    relation, "add_or_remove", a person's group and presence are hidden too; under "replace" they are public.

    >>> import discreet
    >>> x, y = [float(k % 80) for k in range(4000)], [float(k % 80) + 9 for k in range(4000)]
    >>> discreet.two_means_test(x, y, epsilon=1.0, rng=discreet.Seeded(1)).value.decide(0.01)
    True
    """

def two_samples_test(
    x: Any,
    y: Any,
    *,
    epsilon: Number,
    alternative: Alternative = "two-sided",
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[TestResult]:
    """Null: two independent groups have one distribution (Mann and Whitney). Exact, whatever the distribution.

    "greater" is for x that tends to be larger. Under the default relation, "add_or_remove", a person's group and
    presence are hidden too; under "replace" they are public.

    >>> import discreet
    >>> x, y = [k % 50 for k in range(200)], [k % 50 + 15 for k in range(200)]
    >>> discreet.two_samples_test(x, y, epsilon=1.0, rng=discreet.Seeded(1)).value.decide(0.01)
    True
    """

def variance(
    x: Any,
    *,
    epsilon: Number,
    model: Literal["gaussian"] | None = None,
    bounds: tuple[float, float] | None = None,
    neighbours: Neighbours | str = "add_or_remove",
    unit: Any = None,
    missing: Any = "drop",
    rng: Randomness | None = None,
) -> Release[float]:
    """The variance, with a confidence interval for the population's. No bounds needed. Pure.

    >>> import discreet
    >>> import numpy as np
    >>> 300 < discreet.variance(np.arange(9000.0) % 80, epsilon=2.0, rng=discreet.Seeded(1)).value < 800
    True
    """

class Asking:
    def ask(self, statistic: str, *columns: Any, **options: Any) -> Any: ...
    def ab_test(
        self,
        x: str | Sequence[str],
        groups: str | Sequence[str],
        *,
        epsilon: Number,
        treatment: Any,
        control: Any,
        of: Of = "mean",
        planned: float = 0.5,
        alternative: Alternative = "two-sided",
        bounds: tuple[float, float] | None = None,
        confidence: float = 0.95,
        equals: Any = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[Comparison]:
        """What a treatment changes: difference and ratio with intervals, a p-value, and a check of the groups' sizes. Pure.

        Null: the public groups `treatment` and `control` have the same mean, or share, in the population; "greater" is for
        a treatment that makes it larger. The p-value is at most 5% if, and only if, the 95% interval of the difference
        leaves out 0. Who is in which group is private. `planned` is the share of both groups' people that were to be in the
        treatment's; the sample-ratio check takes a tenth of epsilon, and its `split_p_value` is small where the groups are
        not of the planned sizes. `difference` compares medians.

        Example: session.ab_test("age", "sex", treatment='new', control='old', epsilon=0.5)
        """

    def additive_model(
        self,
        X: str | Sequence[str],
        y: str | Sequence[str],
        *,
        epsilon: Number,
        delta: Number,
        classes: Sequence[Any],
        bounds: Any = None,
        levels: Mapping[str, Sequence[Any]] | None = None,
        bins: int = 16,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[Shapes]:
        """An additive model of two classes, as boosted trees of one column each: what the bins of each column add to the
        log odds, with an interval for each bin. No bounds needed; delta > 0.

        `classes` are the two public labels in `y`, that of no first; rows with any other do not count. `levels` lists the
        public categories of columns by name; all other columns are numbers, with `bins` bins. Where these are is found, or
        follows from public `bounds`: a pair for all columns of numbers, or a dictionary by name, as {"age": (0, 90)}. An
        entry that is missing has a bin of its own: give missing="keep" to count such rows. The value predicts:
        `.predict(X)` and `.predict_proba(X)`, which have no interval: ask on rows that were kept apart for the
        `proportion` that is right.

        Example: session.additive_model(["age", "bmi"], "bmi", classes=[0, 1], epsilon=0.5, delta=1e-6)
        """

    @overload
    def correlation(
        self,
        x: str | Sequence[str],
        *,
        epsilon: Number,
        method: Literal["pearson", "spearman"] = "pearson",
        groupby: None = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[Matrix]:
        """The correlation of the columns, a named matrix, with an interval for each entry. No bounds needed. Pure.

        `x` is an array, a data frame or an Arrow table of numbers, a row for each person. Each column's values are limited
        to a range that is found privately and that few rows lie beyond; the interval is for the correlation of the limited
        values and names the ranges. It holds whatever the joint distribution is, and needs no delta.

        method="spearman" is the correlation of ranks, equal values sharing the middle one of theirs. It limits nothing,
        is not moved by a few extreme values, and needs fewer rows.

        Example: session.correlation(["age", "bmi"], epsilon=0.5)
        """
    @overload
    def correlation(
        self,
        x: str | Sequence[str],
        *,
        epsilon: Number,
        method: Literal["pearson", "spearman"] = "pearson",
        delta: Any = 0.0,
        groupby: str | Sequence[str],
        keys: Any = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Groups: ...
    @overload
    def count(
        self,
        x: str | Sequence[str] | None = None,
        *,
        epsilon: Number,
        equals: Any = None,
        groupby: None = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[int]:
        """How many entries are true, or 1. Any other number and missing entries are not counted. Pure.

        With `equals`, how many are this text, number or date; a condition counts others, as "visits != 0". In a session,
        without a column, it is the number of people.

        Example: session.count(epsilon=0.5)
        """
    @overload
    def count(
        self,
        x: str | Sequence[str] | None = None,
        *,
        epsilon: Number,
        equals: Any = None,
        delta: Any = 0.0,
        groupby: str | Sequence[str],
        keys: Any = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Groups: ...
    def covariance(
        self,
        x: str | Sequence[str],
        *,
        epsilon: Number,
        delta: Number,
        model: Literal["gaussian"] | None = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[Any]:
        """The covariance of the columns, a d x d array, with an interval for each entry. No bounds needed.

        `x` is an array, a data frame or an Arrow table of numbers, a row for each person. model="gaussian" is tighter for
        normal rows, and takes rows far from the others for errors. Needs delta > 0.

        Example: session.covariance(["age", "bmi"], epsilon=0.5, delta=1e-6)
        """

    @overload
    def crosstab(
        self,
        x: str | Sequence[str],
        y: str | Sequence[str],
        *,
        epsilon: Number,
        delta: Number = 0.0,
        z: str | Sequence[str] | None = None,
        categories: Any = None,
        groupby: None = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[CrossCounts]:
        """How many there are of each combination of the categories of two columns, or three, with sums. Pure.

        `categories` has a public list for each column. Where it is left out, or None stands for a list, the categories that
        enough people share are found: needs delta > 0. Sums agree with the cells, and the interval holds for all cells and
        sums at once. Whoever has a category that is not listed is counted in `other`.

        Example: session.crosstab("sex", "bmi", epsilon=0.5, delta=1e-6)
        """
    @overload
    def crosstab(
        self,
        x: str | Sequence[str],
        y: str | Sequence[str],
        *,
        epsilon: Number,
        delta: Number = 0.0,
        z: str | Sequence[str] | None = None,
        categories: Any = None,
        groupby: str | Sequence[str],
        keys: Any = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Groups: ...
    def custom_test(
        self,
        test: Any,
        X: str | Sequence[str],
        y: str | Sequence[str] | None = None,
        *,
        epsilon: Number,
        method: Literal["scores", "binary"] = "scores",
        blocks: int | Literal["auto"] = "auto",
        smallest: int = SMALLEST,
        options: Mapping[str, Any] | None = None,
        engine: Engine | None = None,
        trust: Trust | None = None,
        sandbox: Sandbox | None = None,
        timeout: float | None = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[TestResult]:
        """Any test: a function of the rows (and of y) that returns a p-value, run on disjoint blocks of people.

        Valid if the base test is valid on blocks of `smallest` people; give one-sided p-values where there is a direction,
        for two-sided ones lose it in every block. A block in which the test fails is no evidence. method="binary" counts
        the blocks that reject. Under neighbours="add_or_remove", where `blocks` are not declared, a noisy number of people
        chooses them.

        Example: session.custom_test(above, "age", epsilon=0.5)
        """

    def density(
        self,
        x: str | Sequence[str],
        *,
        epsilon: Number,
        delta: Number = 0.0,
        support: Any = None,
        granularity: float | None = None,
        categories: Any = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[Any]:
        """How a column is distributed: a density with bins of widths that are found, no bounds needed. Pure.

        The value is a function, with `.edges` and `.heights`, and `.polygon`, `.cdf` and `.quantile`; the release's spread
        has `.band(confidence)` for the distribution function and `.quantile(q, confidence)`. `support` are public ends.
        `granularity` is what the data are rounded to: 1 if the column is declared to hold integers, else found privately,
        for a small part of epsilon; granularity=0 says that they are not rounded. Bins hold whole multiples of it.
        With `categories` (a list) the value gives the share of each; with `categories="open"` those that enough people
        share are found, which needs delta > 0.

        Example: session.density("age", epsilon=0.5)
        """

    def difference(
        self,
        x: str | Sequence[str],
        groups: str | Sequence[str],
        *,
        epsilon: Number,
        between: Any,
        of: OfOfDifference = "mean",
        bounds: tuple[float, float] | None = None,
        confidence: float = 0.95,
        equals: Any = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[Vector]:
        """The difference and the ratio of two groups' means, medians or shares, with intervals. Pure.

        `between` names the two public groups: the second is taken from the first. Who is in which group is private. The
        value has "difference", "ratio" and both groups by name. The ratio is left out (NaN) where the second group's
        interval reaches 0. Null hypothesis of the difference: both groups are the same in the population; it is rejected
        at 5% if the 95% interval of the difference leaves out 0.

        Example: session.difference("age", "sex", between=['new', 'old'], epsilon=0.5)
        """

    @overload
    def distinct(
        self,
        x: str | Sequence[str],
        *,
        epsilon: Number,
        groupby: None = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[int]:
        """How many different values a column holds. Missing entries are not counted. Pure.

        It tells names and ids, which differ from person to person, from categories, which people share.

        Example: session.distinct("sex", epsilon=0.5)
        """
    @overload
    def distinct(
        self,
        x: str | Sequence[str],
        *,
        epsilon: Number,
        delta: Any = 0.0,
        groupby: str | Sequence[str],
        keys: Any = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Groups: ...
    @overload
    def ecdf(
        self,
        x: str | Sequence[str],
        *,
        epsilon: Number,
        support: Any = None,
        granularity: float | None = None,
        groupby: None = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[StepCurve]:
        """The share of people below each of many places, with a band that holds at all of them at once. Pure.

        No bounds needed; `support` are public ends. The value has `.at` and `.heights`, is called with a place, and says
        where it reaches a share: `.reaches(0.5)`. The band assumes no shape. `granularity` as in `density`.

        Example: session.ecdf("age", epsilon=0.5)
        """
    @overload
    def ecdf(
        self,
        x: str | Sequence[str],
        *,
        epsilon: Number,
        support: Any = None,
        granularity: float | None = None,
        delta: Any = 0.0,
        groupby: str | Sequence[str],
        keys: Any = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Groups: ...
    def fit(
        self,
        estimator: Any,
        X: str | Sequence[str],
        y: str | Sequence[str] | None = None,
        *,
        epsilon: Number,
        delta: Number = 0.0,
        blocks: int | Literal["auto"] = "auto",
        aggregator: Any = "auto",
        bias_correction: str | None = "auto",
        timeout: float | None = None,
        engine: Engine | None = None,
        names: Any = None,
        labels: Any = None,
        attributes: Any = None,
        formula: str | None = None,
        options: Mapping[str, Any] | None = None,
        categories: Mapping[Any, Any] | None = None,
        unbiased: bool | None = None,
        estimate_bias: bool | Literal["auto"] = "auto",
        smallest: int | None = None,
        scales: Any = None,
        confidence: float = 0.95,
        trust: Trust | None = None,
        sandbox: Sandbox | None = None,
        vectorised: bool = True,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[Any]:
        """Any estimator, privately: fitted on disjoint blocks of people, the estimates combined, with an interval.

        `estimator` is a scikit-learn estimator or pipeline (`attributes` to read, by default `coef_` and `intercept_`), a
        statsmodels class (with `formula` if X is a frame), a lifelines fitter, a function of the rows (and of y) that
        returns a number, an array, a dictionary or a label, or "file.py:function", which runs in a sandbox. `options` go to
        its fit. `unit` names the column that says whose row it is, or is that column: all rows of a person are protected.
        What is returned is found on made-up rows of the same columns, or declared: `names`, or `labels` for a vote. Blocks
        hold numbers as float64 and texts, declared by their type, as objects; a column of objects is one of numbers.
        `categories` declares the public categories of some columns, {"sex": ["F", "M"]}. Where people are few for blocks,
        scikit-learn's LinearRegression, LogisticRegression (y declared boolean) and PoissonRegressor (alpha=0) are answered
        by `linear_regression` and its like, if `delta` is above 0 and nothing is said of blocks.
        `aggregator` is "mean", "coordinatewise", "friendly" (for several numbers at once; `scales=1` declares that they
        vary alike), "median", "vote" (by noisy counts; "exponential" and "noisy-max" draw the winner alone), or a mechanism
        whose rows are estimates; `bias_correction` the one within blocks, "half", "jackknife", "firth" or None.
        `estimate_bias` spends 3/10 of epsilon on what is left of the bias, and widens the interval by it: by default for
        functions, of which nothing is known, and elsewhere where its price is small; `unbiased=True` says that there is
        none. `confidence` is that of the interval that is shown; `interval(0.9)` of the release gives any other, but for
        the median, whose interval is drawn at this one. `timeout` is how many seconds a block may take, in a sandbox how
        long every block takes. Under neighbours="add_or_remove", where `blocks` are not declared, a twentieth of epsilon
        buys a noisy number of people that chooses them. How it will be done is logged before anything is spent.

        Example: session.fit(lambda x: float((x > 75).mean()), "age", epsilon=0.5)
        """

    def fit_distribution(
        self,
        family: str | Family,
        x: str | Sequence[str],
        *,
        epsilon: Number,
        trials: int | None = None,
        categories: Any = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[Distribution]:
        """The distribution of a known family that fits best, with an interval for each of its parameters. Pure.

        Its parameters are those that maximum likelihood would find in the whole population, whether or not that has a
        distribution of the family. There are no bounds to give: far values are limited, and the answer says where.

        `family` is "bernoulli" (p), "binomial" (p; `trials` of each record), "multinomial" (probabilities; the public
        `categories`), "poisson" (rate), "exponential" (rate), "gamma" (shape, scale), "beta" (a, b), "gaussian" (mean,
        variance), "lognormal" (mu, sigma: mean and standard deviation of the logarithms; entries that are not above 0 are
        limited to the least), or a `discreet.Family` of your own. `value` has the parameters by name, and
        `value.distribution()` is a scipy.stats distribution.

        Example: session.fit_distribution('poisson', "age", epsilon=0.5)
        """

    def fit_normal(
        self,
        x: str | Sequence[str],
        *,
        epsilon: Number,
        delta: Number = 0.0,
        bounds: tuple[float, float] | None = None,
        model: Literal["gaussian"] | None = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[Any]:
        """The normal distribution that fits best: `.mean` and `.variance`, with intervals for both. No bounds needed.

        The intervals hold the mean and the variance of a population of any shape, far values limited where the answer says.
        Of one column it is pure, whatever delta is allowed, and `bounds` are a public range of its median. Of the rows of
        an array, a data frame or an Arrow table it has `.covariance` and needs delta > 0; model="gaussian" is tighter for
        normal rows there, and takes rows far from the others for errors.

        Example: session.fit_normal("age", epsilon=0.5)
        """

    def goodness_of_fit_test(
        self,
        x: str | Sequence[str],
        null: Any,
        *,
        epsilon: Number,
        categories: Any = None,
        edges: Any = None,
        bins: int = 10,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[TestResult]:
        """Null: entries have these probabilities, or this distribution. Exact.

        `null` is a dictionary of probabilities, a list of them (with `categories` or `edges`), or a distribution of
        scipy.stats, compared on `edges` or on `bins` intervals of equal probability.

        Example: session.goodness_of_fit_test("age", die, epsilon=0.5)
        """

    def groups_test(
        self,
        x: str | Sequence[str],
        groups: str | Sequence[str],
        *,
        epsilon: Number,
        between: Any,
        of: OfOfGroupsTest = "distribution",
        alternative: Alternative = "two-sided",
        bounds: tuple[float, float] | None = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[TestResult]:
        """Null: the public groups `between` have one distribution, or one mean. Who is in which group is private. Pure.

        of="distribution" compares ranks: of two groups as `two_samples_test`, of more as `anova`; exact, whatever the
        distribution. of="mean" compares two means, far values limited alike, as `two_means_test`; public `bounds` may be
        given for it. "greater" is for a first group that tends to be larger. For how far apart two groups are, with an
        interval, ask for their `difference`.

        Example: session.groups_test("age", "sex", between=['new', 'old'], epsilon=0.5)
        """

    @overload
    def histogram(
        self,
        x: str | Sequence[str],
        *,
        epsilon: Number,
        delta: Number = 0.0,
        categories: Any = None,
        edges: Any = None,
        width: float | None = None,
        noise: Literal["laplace", "gaussian"] = "laplace",
        groupby: None = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[Counts]:
        """How many entries each bin holds.

        With `categories` (a list) or `edges` (of numeric bins), both public, all bins are shown, with a band that holds for
        all of them at once; entries that fit in none are counted in `other`. Pure; (epsilon, delta) with noise="gaussian".
        With `categories=range(...)` of more than a million whole numbers, bins above a threshold are shown. Pure.
        With neither, the categories are found in the data, those that enough people share: needs delta > 0. So are, with
        `width`, the bins [0, width), [width, 2 width), ... of the whole line, in both directions.

        Example: session.histogram("sex", epsilon=0.5, delta=1e-6)
        """
    @overload
    def histogram(
        self,
        x: str | Sequence[str],
        *,
        epsilon: Number,
        delta: Number = 0.0,
        categories: Any = None,
        edges: Any = None,
        width: float | None = None,
        noise: Literal["laplace", "gaussian"] = "laplace",
        groupby: str | Sequence[str],
        keys: Any = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Groups: ...
    def independence_test(
        self,
        x: str | Sequence[str],
        y: str | Sequence[str],
        *,
        epsilon: Number,
        categories: Any,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[TestResult]:
        """Null: two columns are independent; `categories` lists those of x, then those of y. Holds for many people.

        Example: session.independence_test("sex", "bmi", categories=(['a', 'b'], [0, 1]), epsilon=0.5)
        """

    @overload
    def iqr(
        self,
        x: str | Sequence[str],
        *,
        epsilon: Number,
        bounds: tuple[Any, Any] | None = None,
        confidence: float = 0.95,
        granularity: float | None = None,
        guaranteed: bool = False,
        groupby: None = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[float]:
        """The distance between the quartiles, with an interval for the population's that assumes no shape. Pure.

        No bounds needed. The interval is made of those of both quartiles, which hold at once; its `confidence` is declared
        here. The other options are those of `quantile`.

        Example: session.iqr("age", epsilon=0.5)
        """
    @overload
    def iqr(
        self,
        x: str | Sequence[str],
        *,
        epsilon: Number,
        bounds: tuple[Any, Any] | None = None,
        confidence: float = 0.95,
        granularity: float | None = None,
        guaranteed: bool = False,
        delta: Any = 0.0,
        groupby: str | Sequence[str],
        keys: Any = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Groups: ...
    def kmeans(
        self,
        X: str | Sequence[str],
        k: int,
        *,
        epsilon: Number,
        delta: Number = 0.0,
        method: Clustering = "auto",
        radius: float | None = None,
        centre: Any = None,
        iterations: int | None = None,
        loss: bool = False,
        columns: int | None = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[Clusters]:
        """k clusters: `.centres`, noisy `.sizes`, and `.predict` by the released centres.

        `radius` is a public ball around `centre` (0 if left out) that holds the rows; without one a ball is found
        privately. method="auto" or "centred" is the most accurate; "lloyd" is the lectures' own; "friendly" is for clusters
        that are well apart, wherever they are, and refuses others. delta=0.0 is pure. loss=True releases the loss too, for
        a share of the budget. `columns` says how many there are, where X is a list of rows.

        Example: session.kmeans(["age", "bmi"], 2, epsilon=0.5, delta=1e-6)
        """

    def likelihood_ratio_test(
        self,
        x: str | Sequence[str],
        p: Any,
        q: Any,
        *,
        epsilon: Number,
        method: Literal["clamped", "vote"] = "clamped",
        clamp: tuple[float, float] | None = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[TestResult]:
        """Null: the distribution is p, and not q: two distributions of scipy.stats, or dictionaries of probabilities.

        Exact. method="vote" is the lecture's, kept for comparison: blocks of people vote by their likelihood ratios.

        Example: session.likelihood_ratio_test("age", fair, loaded, epsilon=0.5)
        """

    def linear_regression(
        self,
        X: str | Sequence[str],
        y: str | Sequence[str] | None = None,
        *,
        epsilon: Number,
        delta: Number,
        weights: str | Sequence[str] | None = None,
        offset: str | Sequence[str] | None = None,
        clusters: str | Sequence[str] | None = None,
        strata: str | Sequence[str] | None = None,
        method: Literal["auto", "moments", "friendly", "sgd"] = "auto",
        ridge: float | None = None,
        intercept: bool = True,
        names: Sequence[str] | None = None,
        bounds: Any = None,
        levels: Mapping[str, Sequence[Any]] | None = None,
        blocks: int | Literal["auto"] = "auto",
        design: Any = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[Coefficients]:
        """Linear regression: coefficients, each with an interval that has the privacy noise in it. No bounds needed.

        `X` is an array or a frame of numbers and `y` the outcome; or X is a formula, "y ~ age + C(sex)", and y the frame
        (pandas, polars, Arrow or a dictionary of columns). `levels` lists the categories of a C(...), the one to compare
        with first; those not listed are found, at a tenth of the budget each. `bounds` are public bounds by name of column,
        (0, 1) for rare truth values say. `weights` is a column of survey or precision weights: any numbers above 0, of any
        scale; rows without one do not count. `offset` is a column that is taken off the outcome. `clusters`, and `strata`
        of them, say how a survey drew people, and `design` lists them: the public clusters, or those of each stratum. The
        intervals are then for people drawn in these clusters. `ridge` is as
        scikit-learn's alpha; None adds only what the noise asks for. `method` "moments" is a noisy sum of squares,
        "friendly" fits on blocks of people, "sgd" is descent on the squares, for columns in units of about 1 and with no
        interval; "auto" is "moments". For people with several rows open a session with person=, or use `fit`.

        Example: session.linear_regression("bmi ~ age", epsilon=0.5, delta=1e-6)
        """

    def log_rank_test(
        self,
        time: str | Sequence[str],
        event: str | Sequence[str],
        groups: str | Sequence[str],
        *,
        epsilon: Number,
        between: Any,
        times: Any,
        parts: int = 4,
        alternative: Alternative = "two-sided",
        equals: Any = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[TestResult]:
        """Null: among those still watched, both groups have the event at the same rate, at all times up to the last. Pure.

        `between` names the two public groups; who is in which is private. `time` is how long a person was watched, `event`
        whether the event came then: true, the number 1, or what `equals` says, as in `survival`. alternative="greater"
        tests against the first group having it more often. `times` are public, and each interval is cut in `parts`: those
        up to which enough people are left are used, and a note names the last. For how far apart the
        groups are ask for `survival` by group.

        Example: session.log_rank_test("age", "age >= 65", "sex", between=['new', 'old'], times=[1, 2, 4], epsilon=0.5)
        """

    def logistic_regression(
        self,
        X: str | Sequence[str],
        y: str | Sequence[str] | None = None,
        *,
        epsilon: Number,
        delta: Number = 0.0,
        weights: str | Sequence[str] | None = None,
        offset: str | Sequence[str] | None = None,
        clusters: str | Sequence[str] | None = None,
        strata: str | Sequence[str] | None = None,
        method: Method = "auto",
        ridge: float | None = None,
        intercept: bool = True,
        bounds: Any = None,
        norm: float | None = None,
        classes: Sequence[Any] | None = None,
        levels: Mapping[str, Sequence[Any]] | None = None,
        names: Sequence[str] | None = None,
        confidence: float | None = 0.95,
        design: Any = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[Coefficients]:
        """Logistic regression: the coefficients of log odds, with intervals where there are people enough. No bounds
        needed.

        `X` is an array or a frame of numbers and `y` the outcome: 1 for yes and 0 for no, or the second and the first of
        two public `classes`; rows with any other outcome do not count. Or X is a formula, "ill ~ age + C(sex)", and y the
        frame; C(ill) takes two public levels, that of no first. Rows at levels that are not listed do not count. Public
        `bounds` (a pair for all features, one for each, or a dictionary by name) or a public largest `norm` of a row save
        what finding scales costs. `weights`, `clusters` and `strata` are as in `linear_regression`; `offset` is a column
        that is added to the log odds; all need delta > 0. `method` "objective" is pure (a minimum tilted by chance, with a
        `ridge`), "descent" needs delta > 0, "friendly" fits on blocks of people; "auto" says in a note which it took, and
        why. With a delta "auto" answers with a ridge where people are too few for coefficients without one, and the first
        line says so. confidence=None saves the budget of intervals.

        Example: session.logistic_regression("bmi ~ age", epsilon=0.5)
        """

    @overload
    def maximum(
        self,
        x: str | Sequence[str],
        *,
        epsilon: Number,
        share: float = SHARE,
        bounds: tuple[Any, Any] | None = None,
        confidence: float = 0.95,
        granularity: float | None = None,
        guaranteed: bool = False,
        groupby: None = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[float]:
        """A high value, the 99% quantile, with an interval for the population's. Pure.

        The greatest value itself belongs to one person, and cannot be told. What is told is the quantile that a `share` of
        the people, 1%, lies above, and its first line says so. The other options are those of `quantile`.

        Example: session.maximum("age", epsilon=0.5)
        """
    @overload
    def maximum(
        self,
        x: str | Sequence[str],
        *,
        epsilon: Number,
        share: float = SHARE,
        bounds: tuple[Any, Any] | None = None,
        confidence: float = 0.95,
        granularity: float | None = None,
        guaranteed: bool = False,
        delta: Any = 0.0,
        groupby: str | Sequence[str],
        keys: Any = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Groups: ...
    def maximum_likelihood(
        self,
        model: Any,
        data: str | Sequence[str],
        *,
        epsilon: Number,
        delta: Number = 0.0,
        fixed: Mapping[str, float] | None = None,
        names: Any = None,
        start: Any = None,
        bounds: Any = None,
        blocks: int | Literal["auto"] = "auto",
        aggregator: Any = "auto",
        bias_correction: str | None = "auto",
        engine: Engine | None = None,
        timeout: float | None = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[Distribution]:
        """Maximum likelihood for any parametric distribution, with an interval for each parameter. No bounds on the data.

        `model` is a continuous distribution of scipy.stats or its name ("gamma", "weibull", "lognormal", "t", ...), with
        some of its parameters `fixed`: unless you say otherwise, loc=0 for one on a half-line, and loc=0, scale=1 for one
        on an interval; fixed={} frees them. Or it is `logpdf(x, *parameters)`, with the `names` of the parameters,
        a public `start` and `bounds` such as [(0, None), (None, None)]. It is fitted on disjoint blocks of people and the
        estimates are combined: `blocks`, `aggregator`, `engine` and `timeout` are those of `discreet.fit`;
        `bias_correction` is the one within blocks ("jackknife", "half" or None).

        Example: session.maximum_likelihood('gamma', "age", epsilon=0.5)
        """

    @overload
    def mean(
        self,
        x: str | Sequence[str],
        *,
        epsilon: Number,
        delta: Number = 0.0,
        model: Literal["gaussian"] | None = None,
        bounds: tuple[Any, Any] | None = None,
        sigma: Any = None,
        near_zero: bool = False,
        method: Literal["auto", "clipped", "two-stage", "stability", "karwa-vadhan", "refine", "blocks"] = "auto",
        reach: float | None = None,
        weights: str | Sequence[str] | None = None,
        clusters: str | Sequence[str] | None = None,
        strata: str | Sequence[str] | None = None,
        largest_weight: float | None = None,
        design: Any = None,
        groupby: None = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[Any]:
        """The mean, with a confidence interval for the population's. No bounds needed.

        model=None assumes no shape. With n * epsilon^2 of some 2,000 (10,000 under "replace"; more for long tails) its
        interval is for the mean, and allows for values farther out than can be seen; elsewhere it is for the mean of values
        limited to a range that it names, beyond which few records lie. It takes n * epsilon of 180; near_zero=True declares
        that the mean is within a hundred standard deviations of 0, as it is for most measurements, and takes 120.
        model="gaussian" is tighter for normal data. Public `bounds`, and a public `sigma`, are used when given, never read
        from the data. The answer is pure epsilon; with delta > 0 a normal mean may be released in zCDP if that is predicted
        to be more accurate. The other methods are the lectures' own, kept for comparison: they need a public `reach`
        (`abs(mean) <= reach`) and `sigma` ("karwa-vadhan": a range of sigmas; "stability": no reach).

        With the `weights` of a survey it is the mean of the population that they stand for; with its `clusters`, the
        interval is for people who were drawn in them.

        A table (an array of rows and columns, a data frame, an Arrow table) has a mean for each column, with noise in units
        of its own spread; delta > 0 makes it much more accurate. For columns of one scale there are method="refine", which
        averages rows, and "blocks", the means of blocks of rows: both need delta > 0. For columns that vary together, a
        stretched covariance, the mean of `fit_normal` has far less noise across the long direction.

        Example: session.mean("age", epsilon=0.5)
        """
    @overload
    def mean(
        self,
        x: str | Sequence[str],
        *,
        epsilon: Number,
        delta: Number = 0.0,
        model: Literal["gaussian"] | None = None,
        bounds: tuple[Any, Any] | None = None,
        sigma: Any = None,
        near_zero: bool = False,
        method: Literal["auto", "clipped", "two-stage", "stability", "karwa-vadhan", "refine", "blocks"] = "auto",
        reach: float | None = None,
        weights: str | Sequence[str] | None = None,
        clusters: str | Sequence[str] | None = None,
        strata: str | Sequence[str] | None = None,
        largest_weight: float | None = None,
        design: Any = None,
        groupby: str | Sequence[str],
        keys: Any = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Groups: ...
    def mean_test(
        self,
        x: str | Sequence[str],
        null: float,
        *,
        epsilon: Number,
        alternative: Alternative = "two-sided",
        model: Literal["gaussian", "symmetric"] | None = None,
        bounds: tuple[float, float] | None = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[TestResult]:
        """Null: the population's mean, far values limited at a distance found privately, is `null`. For many people.

        Values beyond that distance from `null` count as 4/3 of it. Where both tails seem to hold as many people, the
        distance is that of about two standard deviations; elsewhere one that few people are beyond. So the limited mean is
        the mean for symmetric, for slightly skewed and for exponential tails. Where one tail is clearly longer, `null` may
        lie a little to its side of the limited mean; in a far longer tail that few people are in, the test is about the
        mean so limited. The first line of the release says where. If `null` is between 0 and 1 and nearly all values seem
        to be 0 or 1, both are within the limit; proportion_test finds more in them. Give `bounds` for the mean of all
        values, model="gaussian" if a normal model is true: these invert the interval of `mean`. model="symmetric" tests
        another hypothesis, that the distribution is symmetric about `null`; it is exact (signed ranks, or signs), and no
        test of the mean of skewed data.

        Example: session.mean_test("age", 30.0, epsilon=0.5)
        """

    @overload
    def median(
        self,
        x: str | Sequence[str],
        *,
        epsilon: Number,
        bounds: tuple[Any, Any] | None = None,
        confidence: float | None = 0.95,
        granularity: float | None = None,
        guaranteed: bool = False,
        weights: str | Sequence[str] | None = None,
        largest_weight: float | None = None,
        groupby: None = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[Any]:
        """The middle value: the quantile with q = 0.5, with its options and its interval. Pure.

        Example: session.median("age", epsilon=0.5)
        """
    @overload
    def median(
        self,
        x: str | Sequence[str],
        *,
        epsilon: Number,
        bounds: tuple[Any, Any] | None = None,
        confidence: float | None = 0.95,
        granularity: float | None = None,
        guaranteed: bool = False,
        weights: str | Sequence[str] | None = None,
        largest_weight: float | None = None,
        delta: Any = 0.0,
        groupby: str | Sequence[str],
        keys: Any = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Groups: ...
    @overload
    def minimum(
        self,
        x: str | Sequence[str],
        *,
        epsilon: Number,
        share: float = SHARE,
        bounds: tuple[Any, Any] | None = None,
        confidence: float = 0.95,
        granularity: float | None = None,
        guaranteed: bool = False,
        groupby: None = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[float]:
        """A low value, the 1% quantile, with an interval for the population's. Pure.

        The least value itself belongs to one person, and cannot be told. What is told is the quantile that a `share` of the
        people, 1%, lies below, and its first line says so. The other options are those of `quantile`.

        Example: session.minimum("age", epsilon=0.5)
        """
    @overload
    def minimum(
        self,
        x: str | Sequence[str],
        *,
        epsilon: Number,
        share: float = SHARE,
        bounds: tuple[Any, Any] | None = None,
        confidence: float = 0.95,
        granularity: float | None = None,
        guaranteed: bool = False,
        delta: Any = 0.0,
        groupby: str | Sequence[str],
        keys: Any = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Groups: ...
    @overload
    def mode(
        self,
        x: str | Sequence[str],
        *,
        epsilon: Number,
        delta: Number = 0.0,
        categories: Any = None,
        confidence: float = 0.95,
        groupby: None = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[Counts]:
        """The most frequent category in this table: all that may be it, at the declared confidence, the likeliest first.

        Where the noise leaves no doubt one category is shown, with its count. Categories are found, which needs delta > 0,
        or public and listed: then it is pure. Where a category that was not found may be the most frequent one, the answer
        is a refusal.

        Example: session.mode("sex", epsilon=0.5, delta=1e-6)
        """
    @overload
    def mode(
        self,
        x: str | Sequence[str],
        *,
        epsilon: Number,
        delta: Number = 0.0,
        categories: Any = None,
        confidence: float = 0.95,
        groupby: str | Sequence[str],
        keys: Any = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Groups: ...
    def multinomial_regression(
        self,
        X: str | Sequence[str],
        y: str | Sequence[str],
        *,
        epsilon: Number,
        delta: Number,
        classes: Sequence[Any],
        bounds: Any = None,
        names: Sequence[str] | None = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[ClassCoefficients]:
        """Multinomial logistic regression: coefficients of the log odds of each class against the first, with intervals.
        No bounds needed; delta > 0.

        `X` is an array or a frame of numbers, `classes` are the public labels in `y`, two to twenty, the one to compare
        with first; rows with any other do not count. `bounds` are public bounds: a pair for all columns, one for each, or a
        dictionary by name. The value predicts: `.predict(X)` and `.predict_proba(X)`, which have no interval.

        Example: session.multinomial_regression(["age", "bmi"], "bmi", classes=[0, 1, 2], epsilon=0.5, delta=1e-6)
        """

    def naive_bayes(
        self,
        X: str | Sequence[str],
        y: str | Sequence[str],
        *,
        epsilon: Number,
        classes: Sequence[Any],
        delta: Number = 0.0,
        bounds: Any = None,
        levels: Mapping[str, Sequence[Any]] | None = None,
        bins: int = 12,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[ClassCounts]:
        """Naive Bayes: how many people of each class there are in each bin of each column, all with one interval, and a
        classifier made of these counts. No bounds needed.

        `classes` are the public labels in `y`; rows with any other do not count. `levels` lists the public categories of
        columns by name; all other columns are numbers, with `bins` bins. Where these are is found, or follows from public
        `bounds`: a pair for all columns of numbers, or a dictionary by name, as {"age": (0, 90)}. delta > 0 saves much
        where bins of several columns are found. An entry that is missing has a bin of its own: give missing="keep" to count
        such rows. The value predicts: `.predict(X)` and `.predict_proba(X)`. Chances take columns as independent within
        classes; they and predictions have no interval: ask on rows that were kept apart for the `proportion` that is right.

        Example: session.naive_bayes(["age", "bmi"], "bmi", classes=[0, 1], epsilon=0.5)
        """

    def paired_test(
        self,
        x: str | Sequence[str],
        y: str | Sequence[str] | None = None,
        *,
        epsilon: Number,
        alternative: Alternative = "two-sided",
        method: Literal["ranks", "signs"] | None = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[TestResult]:
        """Null: x - y is symmetric about 0; with "signs", as often positive as negative. Exact.

        Symmetry is tested by signed ranks, or by signs where n * epsilon^2 is below 45 (24 under "replace") and these find
        more; "ranks" always takes ranks. Without y, x holds the differences. Zeros and ties are allowed for.

        Example: session.paired_test("age", epsilon=0.5)
        """

    def pca(
        self,
        x: str | Sequence[str],
        k: int,
        *,
        epsilon: Number,
        delta: Number,
        standardise: bool = True,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[Components]:
        """The first k principal components: directions, and the share of the variance that lies along each. No bounds.

        The interval is for `.shares` of each of the released directions and for `.captured`, that of all k together: what
        they hold of the population's variance, rows limited to a distance that it names. The directions themselves,
        `.directions`, have no interval: where two components are about alike, any turn of the two is as good. `.transform`
        gives rows along them. standardise=True takes columns in units of their standard deviations. Needs delta > 0.

        Example: session.pca(["age", "bmi"], 1, epsilon=0.5, delta=1e-6)
        """

    def poisson_regression(
        self,
        X: str | Sequence[str],
        y: str | Sequence[str] | None = None,
        *,
        epsilon: Number,
        delta: Number,
        weights: str | Sequence[str] | None = None,
        offset: str | Sequence[str] | None = None,
        clusters: str | Sequence[str] | None = None,
        strata: str | Sequence[str] | None = None,
        method: Literal["auto", "descent", "friendly"] = "auto",
        largest: int | None = None,
        intercept: bool = True,
        bounds: Any = None,
        norm: float | None = None,
        levels: Mapping[str, Sequence[Any]] | None = None,
        names: Sequence[str] | None = None,
        design: Any = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[Coefficients]:
        """Poisson regression: the coefficients of the log of a rate, with intervals. No bounds needed; delta > 0.

        As `logistic_regression`; `y` are counts, and `largest` a public number that hardly any exceeds, if there is one.
        For rates give the logarithm of the exposure as `offset`.

        Example: session.poisson_regression("bmi ~ age", epsilon=0.5, delta=1e-6)
        """

    @overload
    def proportion(
        self,
        x: str | Sequence[str],
        *,
        epsilon: Number,
        equals: Any = None,
        weights: str | Sequence[str] | None = None,
        clusters: str | Sequence[str] | None = None,
        strata: str | Sequence[str] | None = None,
        largest_weight: float | None = None,
        design: Any = None,
        groupby: None = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[float]:
        """The share of true entries, with an exact confidence interval for the population's share. Pure.

        Entries are true, yes, or 1; with `equals` those that are this text, number or date. Any other number is no, also a
        code for a missing entry: leave it out by `where`. Missing entries are left out. With `weights` it is the share of
        the population that they stand for.

        Example: session.proportion("age >= 65", epsilon=0.5)
        """
    @overload
    def proportion(
        self,
        x: str | Sequence[str],
        *,
        epsilon: Number,
        equals: Any = None,
        weights: str | Sequence[str] | None = None,
        clusters: str | Sequence[str] | None = None,
        strata: str | Sequence[str] | None = None,
        largest_weight: float | None = None,
        design: Any = None,
        delta: Any = 0.0,
        groupby: str | Sequence[str],
        keys: Any = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Groups: ...
    def proportion_test(
        self,
        x: str | Sequence[str],
        null: float,
        *,
        epsilon: Number,
        alternative: Alternative = "two-sided",
        equals: Any = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[TestResult]:
        """Null: the population's share of true entries is `null`. The value has `.p_value` and `.decide(level)`. Pure.

        With `equals` it is the share of entries that are this text, number or date.

        Example: session.proportion_test("age >= 65", 0.5, epsilon=0.5)
        """

    @overload
    def quantile(
        self,
        x: str | Sequence[str],
        q: Any,
        *,
        epsilon: Number,
        bounds: tuple[Any, Any] | None = None,
        confidence: float | None = 0.95,
        granularity: float | None = None,
        guaranteed: bool = False,
        weights: str | Sequence[str] | None = None,
        largest_weight: float | None = None,
        groupby: None = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[Any]:
        """The q-quantile, or several, with an interval for the population's that assumes no shape. No bounds needed. Pure.

        The ends of the interval are what is drawn, so its `confidence` is declared here; with confidence=None the whole
        epsilon goes to the point. `granularity` is what the data are rounded to: 1 if the column is declared to hold
        integers, else found privately, for a small part of epsilon; granularity=0 says that they are not rounded.
        `guaranteed=True` holds for any distribution, and is wider. With `weights` each person counts with a chance of their
        weight over the public `largest_weight`: it is the quantile of the population that they stand for.

        Example: session.quantile("age", 0.25, epsilon=0.5)
        """
    @overload
    def quantile(
        self,
        x: str | Sequence[str],
        q: Any,
        *,
        epsilon: Number,
        bounds: tuple[Any, Any] | None = None,
        confidence: float | None = 0.95,
        granularity: float | None = None,
        guaranteed: bool = False,
        weights: str | Sequence[str] | None = None,
        largest_weight: float | None = None,
        delta: Any = 0.0,
        groupby: str | Sequence[str],
        keys: Any = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Groups: ...
    @overload
    def rate(
        self,
        x: str | Sequence[str],
        y: str | Sequence[str],
        *,
        epsilon: Number,
        bounds: Any = None,
        per: float = 1.0,
        equals: Any = None,
        groupby: None = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[float]:
        """Events over the time that people were watched, with a confidence interval for the population's rate. Pure.

        x is each person's number of events, 0 or 1 for yes or no, or a condition, "status == 'dead'"; with `equals` an
        event is an entry that is this text, number or date. y is the time; `per=1000` tells events per 1,000 units of time.
        No bounds are needed; public ones, a pair for each column or None, make the answer better. A condition is 0 or 1. A
        total time near 0 is refused.

        Example: session.rate("age", "bmi", epsilon=0.5)
        """
    @overload
    def rate(
        self,
        x: str | Sequence[str],
        y: str | Sequence[str],
        *,
        epsilon: Number,
        bounds: Any = None,
        per: float = 1.0,
        equals: Any = None,
        delta: Any = 0.0,
        groupby: str | Sequence[str],
        keys: Any = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Groups: ...
    @overload
    def ratio(
        self,
        x: str | Sequence[str],
        y: str | Sequence[str],
        *,
        epsilon: Number,
        bounds: Any = None,
        groupby: None = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[float]:
        """The total of x over the total of y, with a confidence interval for the population's. No bounds needed. Pure.

        Both columns are limited to public `bounds`, a pair for each, or to ranges that are found privately and that few
        people lie beyond; the interval names them. y is not below 0: what is, counts as 0. A total of y that is near 0 is
        refused.

        Example: session.ratio("age", "bmi", epsilon=0.5)
        """
    @overload
    def ratio(
        self,
        x: str | Sequence[str],
        y: str | Sequence[str],
        *,
        epsilon: Number,
        bounds: Any = None,
        delta: Any = 0.0,
        groupby: str | Sequence[str],
        keys: Any = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Groups: ...
    def sgd(
        self,
        loss: str | Callable[..., Any],
        X: str | Sequence[str],
        y: str | Sequence[str],
        *,
        epsilon: Number,
        delta: Number,
        steps: int = 40,
        rate: float = 1.0,
        clip: float | None = None,
        learning: float | None = None,
        size: int | None = None,
        parameters: int | None = None,
        intercept: bool = True,
        bounds: Any = None,
        norm: float | None = None,
        names: Sequence[str] | None = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[Any]:
        """Stochastic gradient descent on a loss, each person's gradient clipped, with noise at every step.

        `loss` is "squared", "huber", "logistic" or "poisson" (features in units of about 1, or with public `bounds`),
        or a function gradients(w, X, y) of one row that returns its `parameters` derivatives; it sees one row at a time
        and may remember nothing of others, and if it raises, that counts as 0. With rate < 1 each step sees a secret
        sample in which each person is with that chance: give neighbours="add_or_remove", and `size`, a public guess
        of how many there are. There is no interval.

        Example: session.sgd('squared', ["age", "bmi"], "bmi", epsilon=0.5, delta=1e-6)
        """

    @overload
    def std(
        self,
        x: str | Sequence[str],
        *,
        epsilon: Number,
        model: Literal["gaussian"] | None = None,
        bounds: tuple[float, float] | None = None,
        groupby: None = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[float]:
        """The standard deviation: the root of the variance, with its options and its interval. Pure.

        Example: session.std("age", epsilon=0.5)
        """
    @overload
    def std(
        self,
        x: str | Sequence[str],
        *,
        epsilon: Number,
        model: Literal["gaussian"] | None = None,
        bounds: tuple[float, float] | None = None,
        delta: Any = 0.0,
        groupby: str | Sequence[str],
        keys: Any = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Groups: ...
    @overload
    def sum(
        self,
        x: str | Sequence[str],
        *,
        epsilon: Number,
        bounds: tuple[float, float] | None = None,
        weights: str | Sequence[str] | None = None,
        clusters: str | Sequence[str] | None = None,
        strata: str | Sequence[str] | None = None,
        largest_weight: float | None = None,
        design: Any = None,
        groupby: None = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[float]:
        """The total of the values in this table. No bounds needed. Pure.

        Values are limited to the public `bounds`, or to a range around 0 that is found privately and that few records lie
        beyond. The interval is for the total of the limited values; it names the range. With `weights` it is for the total
        of the population that they stand for, and allows for sampling.

        Example: session.sum("age", epsilon=0.5)
        """
    @overload
    def sum(
        self,
        x: str | Sequence[str],
        *,
        epsilon: Number,
        bounds: tuple[float, float] | None = None,
        weights: str | Sequence[str] | None = None,
        clusters: str | Sequence[str] | None = None,
        strata: str | Sequence[str] | None = None,
        largest_weight: float | None = None,
        design: Any = None,
        delta: Any = 0.0,
        groupby: str | Sequence[str],
        keys: Any = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Groups: ...
    @overload
    def survival(
        self,
        time: str | Sequence[str],
        event: str | Sequence[str],
        *,
        epsilon: Number,
        times: Any,
        parts: int = 4,
        equals: Any = None,
        groupby: None = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[StepCurve]:
        """The share of people without the event at each of the public `times`, by Kaplan and Meier, with intervals. Pure.

        `time` is how long a person was watched, `event` whether the event came then or watching ended without it. What
        counts as the event is true in a column of truth values, and 1 in one of numbers, where any other is an end; or what
        `equals` says, or a condition, "status == 2". The interval's first line names it.
        The interval of each time, by itself, allows for sampling and noise, and for what a grid of times hides: `parts` is
        in how many parts the time from one of `times` to the next is cut. The value has `.at` and `.heights`, is called
        with a time, and `.reaches(0.5)` is the median. Times at which too few people are left have no number.

        Example: session.survival("age", "age >= 65", times=[2, 5, 8], epsilon=0.5)
        """
    @overload
    def survival(
        self,
        time: str | Sequence[str],
        event: str | Sequence[str],
        *,
        epsilon: Number,
        times: Any,
        parts: int = 4,
        equals: Any = None,
        delta: Any = 0.0,
        groupby: str | Sequence[str],
        keys: Any = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Groups: ...
    def synthetic(
        self,
        X: str | Sequence[str],
        *,
        epsilon: Number,
        delta: Number = 0.0,
        levels: Mapping[str, Any] | None = None,
        edges: Mapping[str, Any] | None = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[SyntheticTable]:
        """A synthetic table: rows like those of a table, and an interval for every count that they were made of.

        `levels` lists the public categories of columns, `edges` public edges of bins of numbers; the categories of other
        columns are found where enough people share them, which needs delta > 0. The counts of every column are measured,
        and those of the pairs that are worth their noise, at most one less than there are columns; which they are is chosen
        privately. `value.to_frame()` draws rows, `value.marginal("sex", "smokes")` gives counts, and `interval()` holds all
        of them at once. A pair that was not measured has no interval and no count. Noise is Gaussian with delta > 0.

        Example: session.synthetic(["age", "bmi"], epsilon=0.5, delta=1e-6)
        """

    @overload
    def top(
        self,
        x: str | Sequence[str],
        k: int = 10,
        *,
        epsilon: Number,
        delta: Number = 0.0,
        categories: Any = None,
        groupby: None = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[Counts]:
        """The k most frequent categories and their counts in this table, with a band for all of them at once.

        Nobody has to list the categories: those that enough people share are found, which needs delta > 0. With public
        `categories` it is pure. Which categories are shown, and in what order, is decided by noisy counts: where the ends
        of two overlap, the order may be the other one.

        Example: session.top("sex", epsilon=0.5, delta=1e-6)
        """
    @overload
    def top(
        self,
        x: str | Sequence[str],
        k: int = 10,
        *,
        epsilon: Number,
        delta: Number = 0.0,
        categories: Any = None,
        groupby: str | Sequence[str],
        keys: Any = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Groups: ...
    @overload
    def variance(
        self,
        x: str | Sequence[str],
        *,
        epsilon: Number,
        model: Literal["gaussian"] | None = None,
        bounds: tuple[float, float] | None = None,
        groupby: None = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Release[float]:
        """The variance, with a confidence interval for the population's. No bounds needed. Pure.

        Example: session.variance("age", epsilon=0.5)
        """
    @overload
    def variance(
        self,
        x: str | Sequence[str],
        *,
        epsilon: Number,
        model: Literal["gaussian"] | None = None,
        bounds: tuple[float, float] | None = None,
        delta: Any = 0.0,
        groupby: str | Sequence[str],
        keys: Any = None,
        where: str | None = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        request: str | None = None,
    ) -> Groups: ...
