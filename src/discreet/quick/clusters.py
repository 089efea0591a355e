"""Clusters."""

from typing import Any

from discreet.models.kmeans import Method, plan_kmeans
from discreet.privacy.exact import Number
from discreet.privacy.mechanism import Randomness
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.release import Release
from discreet.privacy.values import Clusters
from discreet.quick.asked import ask, named, relation_of


def kmeans(
    X: Any,  # noqa: N803  as scikit-learn calls it
    k: int,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    method: Method = "auto",
    radius: float | None = None,
    centre: Any = None,
    iterations: int | None = None,
    loss: bool = False,
    columns: int | None = None,
    neighbours: Neighbours | str = "replace",
    unit: str = "row",
    rng: Randomness | None = None,
) -> Release[Clusters]:
    """k clusters: `.centres`, noisy `.sizes`, and `.predict` by the released centres.

    `radius` is a public ball around `centre` (0 if left out) that holds the rows; without one a ball is found
    privately. method="auto" or "centred" is the most accurate; "lloyd" is the lectures' own; "friendly" is for clusters
    that are well apart, wherever they are, and refuses others. delta=0.0 is pure. loss=True releases the loss too, for
    a share of the budget.

    >>> import discreet
    >>> import numpy as np
    >>> x = np.array([[k % 2 * 8 + np.sin(k), np.cos(3 * k)] for k in range(4000)])
    >>> r = discreet.kmeans(x, 2, epsilon=2.0, delta=1e-6, rng=discreet.Seeded(1))
    >>> r.value.predict([[0.0, 0.0], [8.0, 0.0]]).tolist()
    [0, 1]
    """
    mechanism = plan_kmeans(
        k,
        epsilon=epsilon,
        delta=delta,
        method=method,
        radius=radius,
        centre=centre,
        iterations=iterations,
        loss=loss,
        columns=columns,
        neighbours=relation_of(neighbours),
        unit=named(unit),
    )
    return ask(mechanism, X, rng)
