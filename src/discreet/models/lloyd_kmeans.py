"""The lectures' private k-means: Lloyd's steps on noisy counts and sums, with the constants that its proof needs.

Releases
    Where there is no public ball, one ([enclose.1]). T times, from k packed seeds: noisy counts and
    noisy sums of the rows nearest to each centre. If asked for, the loss.
Promise
    [lloyd_kmeans.1] (epsilon, delta), pure where delta is 0, under both relations: with delta 0 and rows in the L1 ball
          of radius B Laplace noise of scale 4 T / epsilon on counts and 4 B T / epsilon on sums under REPLACE, of half
          of that under ADD_OR_REMOVE. With delta Gaussian noise, mu / sqrt(T) for each step, rows in the L2 ball.
    [lloyd_kmeans.2] Refusals read public numbers, and where the number of rows is private their noisy number.
Why
    [lloyd_kmeans.1] The ball is enforced: rows outside are pulled into it, each by itself. A step is [cluster_sums.4]
    of models/cluster_sums.py with w = reach = B, 4 B at epsilon / T, or [cluster_sums.3]; T, k and the seeds are
    public. Then [allocation.1], [allocation.2] of accounting/allocation.py.
    [lloyd_kmeans.2] As the code reads.
Needs
    As models/centred_kmeans.py, with T times the noise of one step (sqrt(T) with delta).
Accuracy
    The count's noise multiplies the centre's distance from 0, the sum's noise is that of the whole ball: kept for
    comparison. The average of the last two steps, if T is 5 or more, halves the variance of the last noise.
Source
    Blum, Dwork, McSherry and Nissim 2005; McSherry 2009. The lecture's domain |x| = 1 is the ball here, and enforced.
"""

import math
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from discreet.accounting.allocation import Share
from discreet.models.assign import BITS, Floats, distances
from discreet.models.centred_kmeans import (
    ENOUGH,
    LOSS,
    ball_shares,
    check_iterations,
    check_k,
    check_width,
    too_few,
)
from discreet.models.cluster_sums import (
    NoisyClusters,
    check_cluster_budget,
    cluster_budget,
    noise_per_reach,
    noisy_clusters,
    noisy_loss,
)
from discreet.models.clusters import packed
from discreet.models.enclose import Search, check_ball, find_ball, fixed, given_ball
from discreet.privacy.exact import Number
from discreet.privacy.guarantee import check_budget
from discreet.privacy.loss import Loss
from discreet.privacy.mechanism import Randomness, promised
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.provenance import Provenance
from discreet.privacy.release import Release
from discreet.privacy.values import Clusters
from discreet.tables.matrix import Rows, matrix

TIMES: Final = 5
AVERAGED: Final = 2  # of the last steps
LONG: Final = 5  # steps from which they are


@dataclass(frozen=True, slots=True)
class LloydKMeans:
    """k centres by Lloyd's steps on noisy sums; `radius` is that of an L1 ball where delta is 0, else of an L2 ball.

    >>> from discreet.noise.randomness import Seeded
    >>> rows = np.array([[k % 2 * 8 - 4 + math.sin(k), math.cos(3 * k)] for k in range(9000)])
    >>> found = LloydKMeans(2, epsilon=2.0, delta=1e-6, radius=6.0).release(rows, Seeded(1)).value
    >>> bool(abs(found.centres - [[-4, 0], [4, 0]]).max() < 0.5)
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
        check_iterations(self.iterations, 32)

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """All draws together. [lloyd_kmeans.1]"""
        return cluster_budget(self.epsilon, self.delta).ceiling  # [lloyd_kmeans.1]

    def release(self, rows: Any, rng: Randomness) -> Release[Clusters]:
        """The centres, or a refusal."""
        table = matrix(rows, self.columns)
        check_width(table.width, self.k)
        size = table.size if self.neighbours.size_is_public else None
        check_budget(self.epsilon, self.delta, None if size is None else max(1, size))
        return self._release(table, size, rng)

    def _release(self, table: Rows, size: int | None, rng: Randomness) -> Release[Clusters]:
        budget, times = cluster_budget(self.epsilon, self.delta), self.iterations or TIMES
        stages = budget.split(
            **ball_shares(self.radius, table.width, budget.pure),
            steps=Share(times=times),
            loss=Share(LOSS) if self.with_loss else None,
        )  # [lloyd_kmeans.1]
        cost, search = stages.noise("steps"), Search.of(stages)
        wide = math.sqrt(table.width) if search is not None and budget.pure else 1.0  # an L1 ball around one in L2
        noise = wide * noise_per_reach(cost, self.neighbours, Fraction(1))
        least = math.ceil(self.k * ENOUGH * math.sqrt(table.width) * noise)
        least = least if search is None else max(least, 4 * search.beyond)
        shown: dict[str, Any] = {"k": self.k, "neighbours": self.neighbours, "radius": self.radius}
        shown |= {"rows": size, "iterations": times}

        def blank(refusal: str | None = None) -> Release[Clusters]:
            history = Provenance("LloydKMeans", shown, rng.secure)
            return Release(self.guarantee, history, refusal=refusal, name=f"{self.k} clusters")

        if size is not None and size < least:  # [lloyd_kmeans.2]
            return blank(too_few(size, least, self.k, table.width, self.epsilon))
        ball = given_ball(self.radius, self.centre, table.width)
        if search is not None:
            ball = find_ball(table, search, self.neighbours, rng)  # [lloyd_kmeans.1]
        assert ball is not None
        centres = ball.steps(ball.points(packed(self.k, table.width) * 2.0**BITS))
        path: list[Floats] = []
        found: NoisyClusters | None = None
        for _ in range(times):
            found = noisy_clusters(
                table,
                ball,
                centres,
                math.ceil(2**BITS * wide),
                centred=False,
                cost=cost,
                neighbours=self.neighbours,
                rng=rng,
                weight=Fraction(1),
            )  # [lloyd_kmeans.1]
            seen = max(1, round(float(found.counts.sum())))
            if size is None and not path and seen < least:  # [lloyd_kmeans.2]
                return blank(too_few(seen, least, self.k, table.width, self.epsilon))
            centres, _ = found.moved(centres, found.count_noise, centred=False)
            centres = ball.steps(ball.points(centres))  # back into the ball
            path.append(centres)
        assert found is not None
        last = path[-AVERAGED:] if times >= LONG else path[-1:]
        centres = ball.steps(ball.points(np.mean(last, axis=0)))
        total = None
        if self.with_loss:
            cap, paid = 2.0 ** (BITS + 1), stages.noise("loss")
            # [lloyd_kmeans.1]
            total = noisy_loss(distances(table, ball, centres), cap, cost=paid, rng=rng) * ball.step**2
        size_noise = found.sum_noise / np.maximum(found.counts, found.count_noise) * ball.step
        value = Clusters.sorted(ball.points(centres), found.counts, size_noise / math.sqrt(len(last)), total)
        return replace(blank(), answer=value)
