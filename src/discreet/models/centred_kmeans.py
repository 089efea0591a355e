"""k-means from too many seeds, by sums of differences from the centres: the default.

Releases
    Where there is no public ball, one ([enclose.1]). From 6 k seeds packed into it, without data: noisy
    counts and centred sums; a radius r that holds four fifths of the rows around the moved seeds; counts and sums cut
    to r; then, from the k centres into which the seeds were joined, counts and sums cut to 1.2 r, twice. If asked for,
    the loss. The last centres and counts are the answer.
Promise
    [centred_kmeans.1] (epsilon, delta), pure where delta is 0, under both relations.
    [centred_kmeans.2] Refusals read public numbers, and where the number of rows is private their noisy number.
Why
    [centred_kmeans.1] Every stage is [cluster_sums.3] or [cluster_sums.4], [cluster_sums.1] or [cluster_sums.2] or
    [enclose.1], at its share of the budget, around centres and with radii that are public or were released; to drop,
    move and join centres is post-processing. The shares add up to 1: [allocation.1], [allocation.2].
    [centred_kmeans.2] As the code reads.
Needs
    10 sqrt(d) s rows for each cluster, s the noise on a sum in units of its radius: at epsilon 1, delta 1e-6, 420 rows
    for each of k clusters in 10 columns, 190 in 2. Columns on scales that make distances meaningful, as any k-means.
Accuracy
    docs/measured-clusters.md: medians of 1.00 to 1.06 times the loss of k-means without privacy at n = 20,000,
    epsilon = 1; the worst of all runs with a delta was 1.28. A count's noise multiplies the difference from a centre,
    which is small, and not the centre; and many seeds make a bad start rare.
Source
    Blum, Dwork, McSherry and Nissim 2005 (sums and counts); Su, Cao, Li, Bertino and Jin 2016 (packed seeds); Ward
    1963.
"""

import math
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from discreet.accounting.allocation import Share
from discreet.errors import BadInput
from discreet.models.assign import BITS, WIDEST, Ball, Floats, distances
from discreet.models.cluster_sums import (
    ENTRIES,
    NoisyClusters,
    check_cluster_budget,
    cluster_budget,
    holding,
    noise_per_reach,
    noisy_clusters,
    noisy_loss,
)
from discreet.models.clusters import merged, packed
from discreet.models.enclose import Search, check_ball, find_ball, fixed, given_ball
from discreet.privacy.exact import Number
from discreet.privacy.guarantee import check_budget
from discreet.privacy.loss import Choice, Loss
from discreet.privacy.mechanism import Randomness, promised
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.provenance import Provenance
from discreet.privacy.release import Release
from discreet.privacy.values import Clusters
from discreet.tables.matrix import Rows, matrix

SEEDS: Final = 6  # for each cluster
CLEAR: Final = 3.0  # deviations of a count's noise by which a cluster must be seen to be moved
OUTSIDE: Final = 0.2  # the share of rows beyond r
WIDER: Final = 1.2
FAR: Final = 3.0  # times r: as far as a row counts in the loss
FIRST, RADIUS, SECOND, LAST = Fraction(25, 100), Fraction(4, 100), Fraction(30, 100), Fraction(41, 100)
LOSS: Final = Fraction(5, 100)
BALL_SHARE: Final = {False: Fraction(6, 100), True: Fraction(15, 100)}  # of a pure budget: more
ENOUGH: Final = 10.0


@dataclass(frozen=True, slots=True)
class CentredKMeans:
    """k centres by over-seeded, centred Lloyd steps.

    `radius` (and `centre`, 0 if it is left out) is a public ball that holds the rows; without one a ball is found
    privately. `columns` declares the number of columns: a list of rows needs it.

    >>> from discreet.noise.randomness import Seeded
    >>> rows = np.array([[k % 2 * 8 + math.sin(k), math.cos(3 * k)] for k in range(4000)])
    >>> found = CentredKMeans(2, epsilon=2.0, delta=1e-6, radius=12.0).release(rows, Seeded(1)).value
    >>> bool(abs(found.centres - [[0, 0], [8, 0]]).max() < 0.5)
    True
    """

    k: int
    epsilon: Number
    delta: Number = 0.0
    _: KW_ONLY
    radius: float | None = None
    centre: tuple[float, ...] | None = None
    iterations: int | None = None
    with_loss: bool = False
    columns: int | None = None
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"

    def __post_init__(self) -> None:
        object.__setattr__(self, "centre", fixed(self.centre))
        check_cluster_budget(self.epsilon, self.delta, self.neighbours)
        check_k(self.k)
        check_ball(self.radius, self.centre)
        check_iterations(self.iterations, 16)

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """All draws together. [centred_kmeans.1]"""
        return cluster_budget(self.epsilon, self.delta).ceiling  # [centred_kmeans.1]

    def release(self, rows: Any, rng: Randomness) -> Release[Clusters]:
        """The centres, or a refusal."""
        table = matrix(rows, self.columns)
        check_width(table.width, SEEDS * self.k)
        size = table.size if self.neighbours.size_is_public else None
        check_budget(self.epsilon, self.delta, None if size is None else max(1, size))
        return _Run(self, table, rng).release(size)


class _Run:
    """One release: the data, the door, and the budget."""

    def __init__(self, asked: CentredKMeans, table: Rows, rng: Randomness) -> None:
        self.asked, self.table, self.rng, self.neighbours = asked, table, rng, asked.neighbours
        self.steps = asked.iterations or 2
        budget = cluster_budget(asked.epsilon, asked.delta)
        ball = ball_shares(asked.radius, table.width, budget.pure)
        loss = Share(LOSS) if asked.with_loss else None
        rest = 1 - (BALL_SHARE[budget.pure] if ball else 0) - (LOSS if loss else 0)
        self.stages = budget.split(
            **ball,
            first=Share(rest * FIRST),
            holding=Share(rest * RADIUS, Choice),
            second=Share(rest * SECOND),
            last=Share(rest * LAST, times=self.steps),
            loss=loss,
        )  # [centred_kmeans.1]
        self.last_steps = budget.split(together=Share(rest * LAST)).noise("together")
        self.search = Search.of(self.stages)
        self.wide = math.sqrt(table.width) if budget.pure else 1.0  # an L1 ball that holds one in L2
        self.shown: dict[str, Any] = {"k": asked.k, "neighbours": asked.neighbours, "radius": asked.radius}

    def release(self, size: int | None) -> Release[Clusters]:
        """All stages, or a refusal before the first, or after the count of rows."""
        self.shown["rows"] = size
        if size is not None and (refusal := self._too_few(size)) is not None:  # [centred_kmeans.2]
            return self._blank(refusal)
        ball = given_ball(self.asked.radius, self.asked.centre, self.table.width)
        if self.search is not None:
            ball = find_ball(self.table, self.search, self.neighbours, self.rng)  # [centred_kmeans.1]
            self.shown["ball"] = ball.radius
        assert ball is not None
        seeds = ball.steps(ball.points(packed(SEEDS * self.asked.k, self.table.width) * 2.0**BITS))
        first = self._sums(ball, seeds, 2**BITS, "first")
        seen = size if size is not None else max(1, round(float(first.counts.sum())))
        if size is None and (refusal := self._too_few(seen)) is not None:  # [centred_kmeans.2]
            return self._blank(refusal)
        seeds = kept(first, seeds, ball)
        radius = holding(
            distances(self.table, ball, seeds),
            beyond=round(OUTSIDE * seen),
            cost=self.stages.part("holding", Choice),
            rng=self.rng,
        )  # [centred_kmeans.1]
        second = self._sums(ball, seeds, reach_of(radius), "second")
        points, full = second.moved(seeds, CLEAR * second.count_noise, centred=True)
        if not full.any():
            full[:] = True
        centres = merged(points[full], second.counts[full], self.asked.k)
        for _ in range(self.steps):
            centres = ball.steps(ball.points(centres))
            last = self._sums(ball, centres, reach_of(WIDER * radius), "last")
            centres, _ = last.moved(centres, CLEAR * last.count_noise, centred=True)
        centres = ball.steps(ball.points(centres))
        return self._answer(ball, centres, last, FAR * radius)

    def _sums(self, ball: Ball, centres: Floats, reach: int, stage: str) -> NoisyClusters:
        """A pass over the rows. [centred_kmeans.1]"""
        return noisy_clusters(
            self.table,
            ball,
            centres,
            math.ceil(reach * self.wide),
            centred=True,
            cost=self.stages.noise(stage),
            neighbours=self.neighbours,
            rng=self.rng,
        )  # [centred_kmeans.1]

    def _too_few(self, seen: int) -> str | None:
        """Why so many rows are too few, by public or noisy numbers. [centred_kmeans.2]"""
        noise = self.wide * noise_per_reach(self.last_steps, self.neighbours)
        least = math.ceil(self.asked.k * ENOUGH * math.sqrt(self.table.width) * noise)
        if self.search is not None:
            least = max(least, 4 * self.search.beyond)
        return too_few(seen, least, self.asked.k, self.table.width, self.asked.epsilon) if seen < least else None

    def _answer(self, ball: Ball, centres: Floats, last: NoisyClusters, far: float) -> Release[Clusters]:
        found = None
        if self.asked.with_loss:
            cap = min(max(far, 1.0), 2.0 ** (BITS + 1))
            cost = self.stages.noise("loss")
            found = noisy_loss(distances(self.table, ball, centres), cap, cost=cost, rng=self.rng)  # [centred_kmeans.1]
            found *= ball.step**2
            self.shown["farthest in the loss"] = cap * ball.step
        noise = last.sum_noise / np.maximum(last.counts, last.count_noise) * ball.step
        value = Clusters.sorted(ball.points(centres), last.counts, noise, found)
        return replace(self._blank(), answer=value)

    def _blank(self, refusal: str | None = None) -> Release[Clusters]:
        history = Provenance("CentredKMeans", self.shown, self.rng.secure)
        return Release(self.asked.guarantee, history, refusal=refusal, name=f"{self.asked.k} clusters")


def ball_shares(radius: float | None, width: int, pure: bool) -> dict[str, Share]:
    """Those of a search for a ball in so many columns; none where one is public. [centred_kmeans.1]"""
    half = BALL_SHARE[pure] / 2
    return {} if radius is not None else {"columns": Share(half, Choice, width), "radius": Share(half, Choice)}


def kept(first: NoisyClusters, seeds: Floats, ball: Ball) -> Floats:
    """The seeds that were seen to have rows, moved to them; all of them if none was."""
    points, full = first.moved(seeds, CLEAR * first.count_noise, centred=True)
    return ball.steps(ball.points(points[full] if full.any() else seeds))


def reach_of(radius: float) -> int:
    """A released radius in whole steps, within the ball."""
    return int(min(max(radius, 1.0), 2.0**BITS))


def too_few(seen: int, least: int, k: int, width: int, epsilon: Number) -> str:
    """What was seen, what is needed, what to do."""
    return (
        f"{seen} rows are too few for {k} clusters in {width} columns at epsilon {float(epsilon):g}: about {least} are "
        "needed; bring more rows, fewer clusters or columns, or a larger epsilon"
    )


def check_k(k: object) -> None:
    """A number of clusters."""
    if not isinstance(k, int) or isinstance(k, bool) or not 1 <= k <= 2**10:
        raise BadInput(f"k is {k!r}; give the number of clusters, from 1 to 1024")


def check_iterations(iterations: object, most: int) -> None:
    """A public number of iterations, or the usual one."""
    if iterations is not None and (
        not isinstance(iterations, int) or isinstance(iterations, bool) or not 1 <= iterations <= most
    ):
        raise BadInput(f"iterations is {iterations!r}; give a number from 1 to {most}, fixed in advance, or None")


def check_width(width: int, clusters: int) -> None:
    """What one draw and the steps of a ball may hold. Public."""
    most = min(ENTRIES // clusters - 1, WIDEST)
    if width > most:
        raise BadInput(f"the data have {width} columns; with so many clusters give at most {most}")
