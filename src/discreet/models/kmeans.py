"""Private k-means, by name: which method, by what is asked for, never by the data."""

import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from discreet.errors import BadInput
from discreet.models.friendly_kmeans import FriendlyKMeans
from discreet.models.lloyd_kmeans import LloydKMeans
from discreet.privacy.declaration import Columns, Public, number, statistic
from discreet.privacy.exact import Number, is_number
from discreet.privacy.mechanism import Mechanism
from discreet.privacy.values import Clusters
from discreet.worlds.assumptions import About, World
from discreet.worlds.shapes import RUNS

Clustering = Literal["auto", "lloyd", "centred", "friendly"]


def _always(_: Mapping[str, Any], __: Mapping[str, Columns | None]) -> bool:
    return True


def _world(about: About) -> World:
    """Clusters of normal rows around centres on a line of equal distances, turned into all columns."""
    k, columns = about.whole("k", 3, 1, 1000), about.whole("columns", 2, 1, 1000)
    apart = about.number("apart", 8.0, 0.0, 1e6)
    about.given["k"] = k
    ball, middle = about.given.get("radius"), about.given.get("centre")
    usual = float(ball) / (apart * max(1, k - 1) / 2 + 4) if is_number(ball) else 1.0  # type: ignore[arg-type]
    scale = about.number("scale", usual, 0.0, 1e300)
    about.say(f"{k} clusters of normal rows, standard deviation {scale:g}, their centres {apart:g} of them apart")
    about.say(f"{columns} independent columns")
    line = scale * apart * (np.arange(k) - (k - 1) / 2)[:, None] * np.ones(columns) / math.sqrt(columns)
    centres = line + np.asarray(0.0 if middle is None else middle, dtype=float)

    def plain(X: Any) -> Any:  # noqa: N803
        found = centres
        for _ in range(5):
            nearest = ((X[:, None] - found[None]) ** 2).sum(axis=2).argmin(axis=1)
            found = np.array([X[nearest == j].mean(axis=0) if (nearest == j).any() else found[j] for j in range(k)])
        return found

    def matched(value: Any) -> Any:
        from scipy.optimize import linear_sum_assignment

        seen = np.asarray(value.centres, dtype=float)
        places, others = linear_sum_assignment(((centres[:, None] - seen[None]) ** 2).sum(axis=2))
        found = np.tile(centres.mean(axis=0), (k, 1))
        found[places] = seen[others]
        return found.ravel()

    return World(
        make=lambda g, n: {"X": centres[np.arange(n) % k] + scale * g.standard_normal((n, columns))},
        truth=centres,
        plain=plain,
        measure="median, over releases, of the root mean squared distance of centres from the population's",
        read=matched,
        gap=lambda errors, _truth: np.sqrt((errors**2).sum(axis=1) / k),
        runs=RUNS,
    )


@statistic({"X": number("several")}, wants_delta=_always, world=_world)
def kmeans(
    people: Public,
    X: Columns,  # noqa: N803  as scikit-learn calls it
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
) -> Mechanism[Clusters]:
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
    width = len(X.names)
    if columns not in (None, width):
        raise BadInput(f"the data have {width} columns, but columns={columns!r} was declared; declare the same")
    if centre is not None and np.shape(centre) not in ((), (width,)):
        raise BadInput(f"centre has the shape {np.shape(centre)}; give a number for each of {width} columns")
    if not isinstance(loss, bool):
        raise BadInput(f"loss is {loss!r}; give True for a noisy loss, which costs a share of the budget, or False")
    asked: dict[str, Any] = {"with_loss": loss, "columns": width, "neighbours": people.neighbours, "unit": people.unit}
    if method == "friendly":
        if radius is not None or centre is not None or iterations is not None:
            raise BadInput("method 'friendly' takes no radius, centre or iterations; leave them out")
        return FriendlyKMeans(k, epsilon, delta, **asked)
    if method not in ("auto", "centred", "lloyd"):
        raise BadInput(f"method is {method!r}; give 'auto', 'centred', 'lloyd' or 'friendly'")
    ball = {"radius": radius, "centre": centre, "iterations": iterations}
    return LloydKMeans(k, epsilon, delta, centred=method != "lloyd", **ball, **asked)
