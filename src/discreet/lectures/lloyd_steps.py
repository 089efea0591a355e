"""Lloyd's algorithm as lectured: Algorithm 1 without privacy, and Algorithm 2, step by step. `kmeans` is far better.

Releases
    PrivateLloyd: for T steps, from k centres drawn without the data, the noisy number of rows nearest to each centre
    and the noisy sum of them; with these the path of the centres, and the average of the last few.
Promise
    [lloyd_steps.1] Pure epsilon, the whole path with all its noisy counts included: Laplace noise of scale
          4 T / epsilon on counts, and 4 T B / epsilon on each coordinate of the sums, under REPLACE; half of that under
          ADD_OR_REMOVE.
    [lloyd_steps.2] Centres that are drawn, at first or for a cluster that seems to be empty, are uniform in the L1 ball
          and read no row.
Why
    [lloyd_steps.1] What a row adds to a sum is pulled into the L1 ball of radius B, each by itself ([assign.1]): the
    lecture takes for granted that it is there. One step is [cluster_sums.4] with counts in units of B: one row moves
    counts and sums together by 2 B + 2 B, or B + B, in L1, and epsilon / T is spent on it. Given what was released
    before, the centres are public. T steps: [allocation.1]. Moving, drawing and averaging centres is post-processing.
    [lloyd_steps.2] The gaps between sorted uniform numbers are uniform in the simplex; signs are fair coins.
Needs
    T, k and B fixed in advance. Columns on scales that make distances meaningful.
Accuracy
    A centre of m rows has Laplace noise of scale 4 T B / (m epsilon) on each coordinate, and that of its count; the
    average of the last s steps about 1 / sqrt(s) of it once the centres have settled.
Source
    Blum, Dwork, McSherry and Nissim 2005, as lectured. The domain is the ball, not the sphere, and is enforced; centres
    are pulled back into it.
"""

from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.accounting.allocation import Allocation, Share
from discreet.api import door
from discreet.errors import BadInput
from discreet.models.assign import BITS, Ball, Floats
from discreet.models.cluster_sums import check_cluster_budget, check_k, check_width, cluster_budget, noisy_clusters
from discreet.models.enclose import check_ball
from discreet.privacy.exact import Number
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Laplace, Loss
from discreet.privacy.mechanism import Randomness, promised
from discreet.privacy.release import Provenance, Release
from discreet.tables.matrix import matrix


@dataclass(frozen=True, slots=True, eq=False)
class LloydPath:
    """k `centres`, how many rows each had in the last step (noisy, if private), and the centres after each step."""

    centres: Floats
    counts: Any
    path: tuple[Floats, ...]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.centres, dtype=dtype)


@dataclass(frozen=True, slots=True)
class PrivateLloyd:
    """Algorithm 2: see `private_lloyd`."""

    k: int
    iterations: int
    epsilon: Number
    _: KW_ONLY
    radius: float = 1.0
    average_last: int = 1
    columns: int | None = None
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"

    def __post_init__(self) -> None:
        object.__setattr__(self, "neighbours", Neighbours(self.neighbours))
        check_cluster_budget(self.epsilon, 0.0, self.neighbours)
        check_k(self.k)
        check_ball(self.radius, None)
        check_steps(self.iterations, self.average_last)

    guarantee = promised

    @property
    def stages(self) -> Allocation:
        """An equal part for each step. [lloyd_steps.1]"""
        return cluster_budget(self.epsilon, 0.0).split(step=Share(times=self.iterations))

    @property
    def loss(self) -> Loss:
        """All steps together."""
        return cluster_budget(self.epsilon, 0.0).ceiling  # [lloyd_steps.1]

    def release(self, rows: Any, rng: Randomness) -> Release[LloydPath]:
        """The whole path."""
        table = matrix(rows, self.columns)
        check_width(table.width, self.k)
        ball, cost = Ball(np.zeros(table.width), float(self.radius)), self.stages.part("step", Laplace)
        centres, path = drawn_centres(ball, self.k, rng), []  # [lloyd_steps.2]
        for _ in range(self.iterations):
            found = noisy_clusters(
                table, ball, ball.steps(centres), 2**BITS, centred=False, cost=cost, neighbours=self.neighbours,
                rng=rng, weight=Fraction(1),
            )  # [lloyd_steps.1]  # fmt: skip
            full = found.counts >= 1
            moved = ball.points(found.sums / np.where(full, found.counts, 1.0)[:, None])
            centres = np.where(full[:, None], moved, drawn_centres(ball, self.k, rng))  # [lloyd_steps.2]
            centres = ball.points(ball.steps(centres))
            path.append(centres)
        answer = LloydPath(np.mean(path[-self.average_last :], axis=0), found.counts, tuple(path))
        public = {"k": self.k, "iterations": self.iterations, "radius": self.radius, "neighbours": self.neighbours}
        note = (
            f"Lloyd's algorithm as lectured; noise of standard deviation {found.sum_noise * ball.step:.3g} on each sum"
        )
        history = Provenance("PrivateLloyd", public | {"average_last": self.average_last}, rng.secure, notes=(note,))
        return Release(self.guarantee, history, answer, name=f"{self.k} centres")


def private_lloyd(
    x: Any,
    k: int,
    *,
    iterations: int,
    epsilon: Number,
    radius: float = 1.0,
    average_last: int = 1,
    columns: int | None = None,
    neighbours: Neighbours | str = Neighbours.REPLACE,
    rng: Randomness | None = None,
) -> Release[LloydPath]:
    """Algorithm 2 of lecture 2: k centres, the average of the last steps, and the `path` of all. Pure epsilon.

    Rows are pulled into the L1 ball of this public radius around 0, where the first centres are drawn: shift columns by
    public numbers so that they lie around 0, or one centre takes all rows. `columns` says how many there are, if x is a
    list of rows.

    >>> import numpy as np
    >>> from discreet import Seeded
    >>> rows = np.array([[0.6, 0.0], [-0.6, 0.1]] * 2000)
    >>> found = private_lloyd(rows, 2, iterations=4, epsilon=4.0, average_last=2, rng=Seeded(1)).value
    >>> sorted(found.centres[:, 0].round(1).tolist()), len(found.path)
    ([-0.6, 0.6], 4)
    """
    own: dict[str, Any] = {"average_last": average_last, "columns": columns, "neighbours": Neighbours(neighbours)}
    asked = PrivateLloyd(k, iterations, epsilon, radius=radius, **own)
    return asked.release(x, door(rng))


def lloyd(x: Any, k: int, *, iterations: int, start: Any = None, rng: Randomness | None = None) -> LloydPath:
    """Algorithm 1 of lecture 2, without privacy: what it returns tells about the rows. A centre without rows stays.

    The first centres are `start`, or are drawn in the L1 ball that holds all rows.

    >>> found = lloyd([[0.0], [1.0], [9.0], [10.0]], 2, iterations=3, start=[[0.0], [1.0]])
    >>> found.centres.ravel().tolist(), found.counts.tolist()
    ([0.5, 9.5], [2, 2])
    """
    check_k(k)
    check_steps(iterations, 1)
    rows = _finite("x", x)
    if start is None:
        ball = Ball(np.zeros(rows.shape[1]), max(float(np.abs(rows).sum(axis=1).max()), 1e-100))
        centres = drawn_centres(ball, k, door(rng))
    else:
        centres = _finite("start", start)
        if centres.shape != (k, rows.shape[1]):
            raise BadInput(f"start has the shape {centres.shape}; give {k} rows of {rows.shape[1]} numbers")
    path, counts = [], np.zeros(k, dtype=np.int64)
    for _ in range(iterations):
        nearest = ((rows[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        counts = np.bincount(nearest, minlength=k)
        centres = np.array([rows[nearest == j].mean(axis=0) if counts[j] else centres[j] for j in range(k)])
        path.append(centres)
    return LloydPath(centres, counts, tuple(path))


def _finite(name: str, given: Any) -> Floats:
    try:
        found: Floats = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadInput(f"{name} is no table of numbers; give rows of as many numbers each") from None
    if found.ndim != 2 or not found.size:
        raise BadInput(f"{name} has the shape {found.shape}; give rows and columns, finite ones")
    if not (np.abs(found) < 1e150).all():
        raise BadInput(f"{name} has missing, infinite or huge entries; give finite rows, below 1e150")
    return found


def drawn_centres(ball: Ball, k: int, rng: Randomness) -> Floats:
    """Points that are uniform in the L1 ball around 0. [lloyd_steps.2]"""
    width = len(ball.centre)
    drawn = np.array([[rng.below(2**53) for _ in range(width)] for _ in range(k)], dtype=np.float64) / 2.0**53
    gaps = np.diff(np.sort(drawn, axis=1), axis=1, prepend=0.0)  # [lloyd_steps.2]
    signs = np.array([[2 * rng.below(2) - 1 for _ in range(width)] for _ in range(k)])
    return np.asarray(ball.radius * gaps * signs)


def check_steps(iterations: object, last: object) -> None:
    """Numbers of steps, fixed in advance."""
    for name, value, most in (("iterations", iterations, 32), ("average_last", last, iterations)):
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:  # type: ignore[operator]
            raise BadInput(f"{name} is {value!r}; give a whole number from 1 to {most}, fixed in advance")
