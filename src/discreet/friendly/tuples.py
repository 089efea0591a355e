"""Tuples of k points in no order, such as the centres of k clusters: which tuples agree, and their mean.

Releases
    k points, in the order of what they are after the noise; or a refusal: too few tuples agree.
Promise
    [tuples.1] Friends are tuples of which each point has one of the other's within the radius r, tuples whose own
          points are more than 3r apart: then there is one way to align them, and it is transitive.
    [tuples.2] REPLACE and ADD_OR_REMOVE: the losses `test` and `mean`, and an event of probability `miss`.
    [tuples.3] TupleCore: (epsilon, delta), by [tuples.2] and [allocation.2].
Why
    [tuples.1] Within r of one point there is at most one point of a tuple whose points are more than 2r apart, and no
    two points have the same partner: so partners, if all have one, are a bijection, the only one within r. Let p, q, z
    be friends. The partner of p_a in q, and that of p_a's partner in z, are within r and 2r of p_a, so within 3r of
    each other: they are the same.
    [tuples.2] Align all survivors to one of them, and stack the points. By [tuples.1] another choice permutes the k
    blocks of all tuples alike; the noise is the same on every coordinate and the answer is sorted, so the distribution
    of what leaves is as if the choice had been any z of S and S' both. So aligned, friends are within r in each block,
    r sqrt(k) in all, and the proofs of [find_centre.1] and [find_centre.2] hold with r sqrt(k) in place of r. All
    comparisons are exact: [core.8].
Needs
    Points of a tuple more than 3r apart, in most tuples: otherwise it refuses, by design.
Accuracy
    Noise of 2r sqrt(k) / (survivors mu) on each coordinate, under ADD_OR_REMOVE half of that.
Source
    Tsfadia, Cohen, Kaplan, Mansour and Stemmer 2022 and Cohen et al. 2021 cluster by friendly tuples, with a predicate
    that needs no radius; this one is the lectures', with the separation that makes an average well defined.
"""

from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.friendly.average import (
    Centre,
    Lattice,
    check_costs,
    check_promise,
    friendly_budget,
    friendly_stages,
)
from discreet.friendly.core import FARTHEST, UNITS, Apart, Points, check_radius, far_apart, match_core
from discreet.friendly.find_centre import MOST, check_least, check_table, choose_rows, fewest, survivors_at_least
from discreet.friendly.friendly_mean import of_agreeing
from discreet.privacy.exact import Number, root_above
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.loss import Gaussian, Loss
from discreet.privacy.mechanism import Randomness, promised
from discreet.privacy.release import Release
from discreet.tables.matrix import Floats, Rows, matrix

SEPARATION = 3  # radii [tuples.1]
Truths = npt.NDArray[np.bool_]
Steps = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TupleWithin:
    """Friends are tuples of k points that can be paired within `radius`, each tuple's own being 3 radii apart.

    A row holds the points of a tuple one after the other.

    >>> rows = np.array([[0.0, 9.0], [9.5, 0.0], [0.0, 2.0]])
    >>> TupleWithin(1.0, 2).strangers(rows).block(0, 1)
    array([[False, False,  True]])
    """

    radius: float
    k: int

    def __post_init__(self) -> None:
        check_radius(self.radius)
        if not self.radius:
            raise BadInput("the radius is 0; tuples need a positive one")
        if not isinstance(self.k, int) or not 1 <= self.k <= 2**10:
            raise BadInput(f"k is {self.k!r}; give the number of points of a tuple, from 1 to 1024")

    def strangers(self, rows: Floats) -> "TuplesApart":
        """The predicate on these rows."""
        return TuplesApart(tuples_of(rows, self.radius, self.k))


@dataclass(frozen=True, slots=True, eq=False)
class Tuples:
    """n x k x d whole numbers, the points of each tuple sorted, and which tuples are valid."""

    steps: Steps
    valid: Truths


def tuples_of(rows: Floats, radius: float, k: int, bits: int = FARTHEST) -> Tuples:
    """Each row as k points, by itself: finite, within reach and more than 3 radii apart, or invalid. [tuples.1]"""
    if rows.shape[1] % k:
        raise BadInput(f"the rows have {rows.shape[1]} columns, which are not {k} points of equal length")
    points = Points.of(rows, radius, bits)
    steps = points.steps.reshape(len(rows), k, rows.shape[1] // k)
    for index, tuple_ in enumerate(steps):
        steps[index] = tuple_[np.lexsort(tuple_.T[::-1])]
    valid = points.valid.copy()
    wide = SEPARATION * UNITS
    for a in range(k):
        for b in range(a):
            moved = np.minimum(np.abs(steps[:, a] - steps[:, b]), 2 * wide)
            valid &= np.einsum("ij,ij->i", moved, moved) > wide**2  # [tuples.1]
    return Tuples(steps, valid)


class TuplesApart:
    """Which tuples are not friends, block by block."""

    def __init__(self, tuples: Tuples) -> None:
        self.size, self._k, width = tuples.steps.shape
        each = np.repeat(tuples.valid, self._k)
        self._apart = Apart(Points(tuples.steps.reshape(self.size * self._k, width), each))

    def block(self, start: int, stop: int) -> Truths:
        """Rows start..stop-1 against rows start..: True where they are not friends. [tuples.1]"""
        k = self._k
        apart = self._apart.block(start * k, stop * k).reshape(stop - start, k, self.size - start, k)
        return np.asarray(np.any(np.all(apart, axis=3), axis=1))  # a point without a partner


def aligned(kept: Steps) -> Steps:
    """Friends, each with its points in the order of their partners in the first. [tuples.2]"""
    out = kept.copy()
    for index, tuple_ in enumerate(kept[1:], start=1):
        for a, point in enumerate(kept[0]):
            out[index, a] = tuple_[int(np.argmin(far_apart(point, tuple_)))]  # the first that is not far
    return out


def find_tuple(
    rows: Floats | Rows,
    radius: float,
    k: int,
    *,
    test: Gaussian,
    mean: Gaussian,
    miss: float,
    neighbours: Neighbours,
    rng: Randomness,
    least: int | None = None,
    most: int = MOST,
) -> Centre | None:
    """The noisy mean of tuples that agree, k x d, sorted; None if too few do. Costs as `find_centre`. [tuples.2]"""
    table = check_table(rows, radius)
    check_costs(test, mean, miss)
    check_least(least, neighbours)
    looked, size = choose_rows(table, test, neighbours, rng, most)
    top = max(1, most if size is None else size)
    units = (1 if size is None else 2) * UNITS * root_above(k)  # [tuples.2]
    lattice = Lattice.for_mean(table.width, units / top, mean.mu)
    tuples = tuples_of(looked, radius, k, lattice.reach)
    core = match_core(TuplesApart(tuples))
    count = survivors_at_least(core, test, miss, size, rng)
    if count < fewest(least, size):
        return None
    kept = aligned(tuples.steps[core.survivors[tuples.valid[core.survivors]]])
    average = lattice.mean(kept.reshape(len(kept), table.width))
    found = lattice.blurred(average, Fraction(units) / min(count, top), radius=radius, cost=mean, rng=rng)
    points = found.point.reshape(k, -1)
    return Centre(points[np.lexsort(points.T[::-1])], found.deviation, count)  # [tuples.2]


@dataclass(frozen=True, slots=True)
class TupleCore:
    """The mean of tuples of k points, given as rows of k d numbers or as an n x k x d array.

    >>> from discreet.noise.randomness import Seeded
    >>> noise = np.random.default_rng(0).normal(size=(400, 2, 1)) / 10
    >>> rows = np.array([[0.0], [30.0]]) + noise
    >>> release = TupleCore(radius=1.5, k=2, epsilon=2.0, delta=1e-6).release(rows, Seeded(0))
    >>> release.value.shape, bool((abs(release.value - [[0], [30]]) < 1).all())
    ((2, 1), True)
    """

    radius: float
    k: int
    _: KW_ONLY
    epsilon: Number
    delta: Number
    neighbours: Neighbours = Neighbours.REPLACE
    columns: int | None = None
    unit: str = "row"
    least: int | None = None
    share: Number | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "neighbours", Neighbours(self.neighbours))
        check_promise(self.epsilon, self.delta, self.neighbours, self.share)
        TupleWithin(self.radius, self.k)
        check_least(self.least, self.neighbours)
        if self.columns is not None and self.columns % self.k:
            raise BadInput(f"columns is {self.columns!r}, which is not {self.k} points of equal length")

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """Both noises, however they share it, and the event."""
        return friendly_budget(self.epsilon, self.delta).ceiling  # [tuples.3]

    def release(self, rows: Any, rng: Randomness) -> Release[Floats]:
        """The noisy mean of the tuples that agree, or a refusal."""
        if isinstance(rows, np.ndarray) and rows.ndim == 3:
            rows = rows.reshape(len(rows), rows.shape[1] * rows.shape[2])
        table = matrix(rows, self.columns)
        size = table.size if self.neighbours.size_is_public else None
        check_budget(self.epsilon, self.delta, None if size is None else max(1, size))
        looked = None if size is None else min(size, MOST)
        stages = friendly_stages(self.epsilon, self.delta, self.share, looked)  # [tuples.3]
        found = find_tuple(
            table,
            self.radius,
            self.k,
            test=stages.part("test", Gaussian),
            mean=stages.part("mean", Gaussian),
            miss=float(stages.event),
            neighbours=self.neighbours,
            rng=rng,
            least=self.least,
        )
        return of_agreeing("tuples", self, {"k": self.k}, size, found, rng=rng)
