"""Which private k-means: by what is asked for and what is public, never by the data."""

from typing import Any, Literal

from discreet.errors import BadInput
from discreet.models.centred_kmeans import CentredKMeans
from discreet.models.friendly_kmeans import FriendlyKMeans
from discreet.models.lloyd_kmeans import LloydKMeans
from discreet.privacy.exact import Number
from discreet.privacy.mechanism import Mechanism
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.values import Clusters

Method = Literal["auto", "lloyd", "centred", "friendly"]


def plan_kmeans(
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
    neighbours: Neighbours = Neighbours.REPLACE,
    unit: str = "row",
) -> Mechanism[Clusters]:
    """The mechanism: "auto" is "centred", in the public ball or in one that it finds.

    >>> type(plan_kmeans(3, epsilon=1.0)).__name__, type(plan_kmeans(3, epsilon=1.0, method="lloyd")).__name__
    ('CentredKMeans', 'LloydKMeans')
    """
    if not isinstance(loss, bool):
        raise BadInput(f"loss is {loss!r}; give True for a noisy loss, which costs a share of the budget, or False")
    match method:
        case "auto" | "centred":
            return CentredKMeans(k, epsilon, delta, radius, centre, iterations, loss, columns, neighbours, unit)
        case "lloyd":
            return LloydKMeans(k, epsilon, delta, radius, centre, iterations, loss, columns, neighbours, unit)
        case "friendly":
            if radius is not None or centre is not None or iterations is not None:
                raise BadInput("method 'friendly' takes no radius, centre or iterations; leave them out")
            return FriendlyKMeans(k, epsilon, delta, loss, columns, neighbours, unit)
    raise BadInput(f"method is {method!r}; give 'auto', 'centred', 'lloyd' or 'friendly'")
