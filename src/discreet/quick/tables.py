"""Statistics of several columns."""

from typing import Any, Literal

from discreet.errors import BadInput, NeedsBounds
from discreet.friendly.refine import RefinedMean
from discreet.privacy.exact import Number
from discreet.privacy.mechanism import Randomness
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.release import Release
from discreet.quick.asked import ask, named, relation_of
from discreet.statistics.covariance import Covariance


def covariance(
    x: Any,
    *,
    epsilon: Number,
    delta: Number,
    model: Literal["gaussian"] | None = None,
    neighbours: Neighbours | str = "replace",
    unit: str = "row",
    rng: Randomness | None = None,
) -> Release[Any]:
    """The covariance of the columns, a d x d array, with an interval for each entry. No bounds needed.

    `x` is an array, a data frame or an Arrow table of numbers, a row for each person. model="gaussian" is tighter for
    normal rows, and takes rows far from the others for errors. Needs delta > 0. With neighbours="add_or_remove" the
    number of rows is private too.

    >>> import discreet
    >>> import numpy as np
    >>> x = np.array([[k % 7, k % 11 + k % 7] for k in range(5000)])
    >>> discreet.covariance(x, epsilon=2.0, delta=1e-6, rng=discreet.Seeded(1)).value.shape
    (2, 2)
    """
    return ask(Covariance(epsilon, delta, model, None, relation_of(neighbours), named(unit)), x, rng)


def mean_of_table(
    x: Any,
    *,
    epsilon: Number,
    delta: Number,
    sigma: Any,
    method: Any,
    neighbours: Neighbours,
    unit: str,
    rng: Randomness | None,
) -> Release[Any]:
    """The mean of each column, all in one release."""
    if method not in ("auto", "refine", "blocks"):
        raise BadInput(f"method is {method!r}; for a table give 'auto', 'refine' or 'blocks'")
    if not delta:
        raise NeedsBounds(
            "delta is 0: the mean of a table without bounds needs delta above 0, for example 1e-6; or ask for the "
            "mean of each column by itself, at a share of epsilon"
        )
    return ask(RefinedMean(epsilon, delta, None, sigma, neighbours, method, unit), x, rng)
