"""Statistics of one column; the mean and the normal distribution of a table too."""

from typing import Any, Literal

from discreet.errors import BadInput
from discreet.lectures.normal_means import lecture
from discreet.privacy.exact import Number
from discreet.privacy.guarantee import check_budget
from discreet.privacy.mechanism import Mechanism, Randomness
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.release import Release
from discreet.quick.asked import ask, is_table, named, relation_of
from discreet.quick.tables import mean_of_table
from discreet.statistics.mean import plan_mean
from discreet.statistics.normal import Gaussian1D
from discreet.statistics.normal_table import MultivariateGaussian
from discreet.statistics.quantile import Quantile
from discreet.statistics.variance import Variance, standard_deviation
from discreet.tables.entries import long_column, public_size


def mean(
    x: Any,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    model: Literal["gaussian"] | None = None,
    bounds: tuple[float, float] | None = None,
    sigma: Any = None,
    method: Literal["auto", "clipped", "two-stage", "stability", "karwa-vadhan", "refine", "blocks"] = "auto",
    reach: float | None = None,
    neighbours: Neighbours | str = "replace",
    unit: str = "row",
    rng: Randomness | None = None,
) -> Release[Any]:
    """The mean, with a confidence interval for the population's. No bounds needed.

    model=None assumes no shape, and its interval is for the mean of values winsorised to a range that it names, beyond
    which few records lie; model="gaussian" is tighter for normal data. Public `bounds`, and a public `sigma`, are
    used when given, never read from the data. The answer is pure epsilon; with delta > 0 a normal mean may be released
    in zCDP if that is predicted to be more accurate. The other methods are the lectures' own, kept for comparison: they
    need a public `reach` (|mean| <= reach) and `sigma` ("karwa-vadhan": a range of sigmas; "stability": no reach).

    A table (an array of rows and columns, a data frame, an Arrow table) has a mean for each column: that needs
    delta > 0. method="refine" averages rows, "blocks" the means of blocks of rows, for skewed and heavy-tailed ones.

    >>> import discreet
    >>> r = discreet.mean([float(age % 80) for age in range(4000)], epsilon=1.0, rng=discreet.Seeded(1))
    >>> 35 < r.value < 44
    True
    """
    relation, name = relation_of(neighbours), named(unit)
    if is_table(x):
        if model is not None or bounds is not None or reach is not None:
            raise BadInput("model, bounds and reach are for one column; a table's mean needs none of them")
        return mean_of_table(
            x, epsilon=epsilon, delta=delta, sigma=sigma, method=method, neighbours=relation, unit=name, rng=rng
        )
    values = long_column(x)
    size = public_size(values, relation)
    check_budget(epsilon, delta, size)
    mechanism: Mechanism[float]
    if method == "auto":
        if reach is not None:
            raise BadInput("reach is for the lectures' methods; leave it out, or give bounds= and a model")
        mechanism = plan_mean(
            size, epsilon, delta, model=model, bounds=bounds, sigma=sigma, neighbours=relation, unit=name
        )
    else:
        if model is not None or bounds is not None:
            raise BadInput(f"method {method!r} takes neither model= nor bounds=; leave them out, or use method='auto'")
        mechanism = lecture(
            method, epsilon=epsilon, delta=delta, sigma=sigma, reach=reach, neighbours=relation, unit=name
        )
    return ask(mechanism, values, rng)


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
    >>> import numpy as np
    >>> 300 < discreet.variance(np.arange(9000.0) % 80, epsilon=2.0, rng=discreet.Seeded(1)).value < 800
    True
    """
    values, relation = long_column(x), relation_of(neighbours)
    size = public_size(values, relation)
    check_budget(epsilon, delta, size)
    return ask(Variance(epsilon, model, bounds, relation, named(unit), size), values, rng)


def std(x: Any, **options: Any) -> Release[float]:
    """The standard deviation: the root of `variance`, with its options and its interval.

    >>> import discreet
    >>> import numpy as np
    >>> 18 < discreet.std(np.arange(9000.0) % 80, epsilon=2.0, rng=discreet.Seeded(1)).value < 29
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
    """A normal distribution: `.mean`, `.covariance`, and how far off it may be in total variation. No bounds needed.

    Of one column (also `.variance`) it is pure, whatever delta is allowed. Of the rows of an array, a data frame or an
    Arrow table it needs delta > 0.

    >>> import discreet
    >>> r = discreet.gaussian([float(k % 80) for k in range(4000)], epsilon=1.0, rng=discreet.Seeded(1))
    >>> 30 < r.value.mean < 50
    True
    """
    if is_table(x):
        if bounds is not None:
            raise BadInput(f"bounds are {bounds!r}; those of rows with several columns are not used, leave them out")
        return ask(MultivariateGaussian(epsilon, delta, None, relation_of(neighbours), named(unit)), x, rng)
    values, relation = long_column(x), relation_of(neighbours)
    size = public_size(values, relation)
    check_budget(epsilon, delta, size)
    return ask(Gaussian1D(epsilon, bounds, relation, named(unit), size), values, rng)


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
    >>> r = discreet.quantile(range(1000), 0.25, epsilon=2.0, confidence=None, rng=discreet.Seeded(1))
    >>> 200 < r.value < 300
    True
    """
    mechanism = Quantile(
        q, epsilon, bounds, confidence, granularity, guaranteed, missing, relation_of(neighbours), named(unit)
    )
    return ask(mechanism, x, rng)


def median(x: Any, **options: Any) -> Release[Any]:
    """The middle value: `quantile` with q = 0.5, and its options.

    >>> import discreet
    >>> 400 < discreet.median(range(1000), epsilon=2.0, confidence=None, rng=discreet.Seeded(1)).value < 600
    True
    """
    return quantile(x, 0.5, **options)
