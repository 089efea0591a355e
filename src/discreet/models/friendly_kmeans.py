"""k-means without bounds, for clusters that are well apart: the centres on which blocks of people agree.

Releases
    The number of rows, with noise, where it is private. The octave of a common distance between the k centres of two
    blocks; the mean of the tuples of centres that agree ([tuples.2]); a radius that holds most rows around them; counts
    and centred sums of all rows. If asked for, the loss. Or a refusal.
Promise
    [friendly_kmeans.1] (epsilon, delta) under both relations.
    [friendly_kmeans.2] Refusals read public numbers and what was released before.
Why
    [friendly_kmeans.1] REPLACE: a public shuffle puts rows into blocks of public sizes. ADD_OR_REMOVE: a noisy number
    of rows is released first ([average.5]), and blocks are buckets of places ([sample.1]), how many follows from it. So
    the number of blocks is public or was released, and one row changes one block, and with it one tuple, to whatever it
    may be: k-means in a block sees that block alone, in an order that no other block decides, and one that fails gives
    a tuple of NaN, which is nobody's friend. The tuples, as many on both sides, are neighbours under REPLACE, whatever
    the rows are. Their pairs' distances cost [radius.1] (one tuple changes one pair), their mean [tuples.2] with an
    event of probability `miss`; the rest is [cluster_sums.1] and [cluster_sums.3] under the rows' own relation, on all
    rows, around released centres. Shares add up to 1: [allocation.2], with the slack of DRAWS draws on the coarser grid
    of the tuples, and of one more for the number of rows.
    [friendly_kmeans.2] As the code reads: the number of rows is public or noisy, the octave is found or not by noisy
    counts, and tuples agree or not by a noisy one.
Needs
    Clusters 16 standard errors of a block's centre apart, or more; 30 / mu blocks, mu that of the test, with 20 rows
    for each cluster: at epsilon 1, delta 1e-6, 6,600 rows for each of k clusters. How long k-means takes in
    a block depends on its rows, and is not hidden.
Accuracy
    That of Lloyd's last step with known centres, docs/benchmarks.md.
Source
    Tsfadia, Cohen, Kaplan, Mansour and Stemmer 2022; Cohen, Kaplan, Mansour, Stemmer and Tsfadia 2021 (k-tuple
    clustering), here with a radius found by pairs, and refined on all rows.
"""

import math
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

import numpy as np
from scipy.optimize import linear_sum_assignment

from discreet.accounting.allocation import Allocation, Share
from discreet.engines.local import silence
from discreet.errors import BadInput
from discreet.friendly.average import SLACK as TUPLE_SLACK
from discreet.friendly.average import noisy_count
from discreet.friendly.radius import pair_scale
from discreet.friendly.sample import Places
from discreet.friendly.tuples import find_tuple
from discreet.models.assign import LARGEST, SMALLEST, Ball, Floats, distances
from discreet.models.cluster_sums import (
    LOSS,
    STRONGEST,
    check_cluster_budget,
    check_k,
    check_width,
    holding,
    noisy_clusters,
    noisy_loss,
    reach_of,
)
from discreet.privacy.exact import Number, exact
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.loss import Choice, Gaussian, Loss
from discreet.privacy.mechanism import Randomness, promised
from discreet.privacy.release import Provenance, Release
from discreet.privacy.values import Clusters
from discreet.tables.matrix import Rows, matrix, take

MISS: Final = Fraction(1, 10)  # of delta: that fewer tuples agree than the search believes
SCALE, TEST, MEAN, RADIUS, LAST = (Fraction(part, 100) for part in (20, 15, 15, 5, 45))
COUNT: Final = Fraction(2, 100)  # of the last sums' share, under ADD_OR_REMOVE
DRAWS: Final = 5  # scale, test, mean, last sums and loss [friendly_kmeans.1]
BLOCKS, FEWEST = 40.0, 30.0  # over the mu of the test
ROWS: Final = 25  # of a block, for each cluster, and
LEAST: Final = 20  # at least
FRIENDS: Final = 2.5  # the friends' radius, over the upper end of the octave
OUTSIDE: Final = 0.02  # the share of rows beyond the radius of the last sums, if so few can be told
WIDER: Final = 1.25
CLEAR: Final = 4.0
STARTS: Final = 4  # of k-means in a block


@dataclass(frozen=True, slots=True)
class FriendlyKMeans:
    """k centres of clusters that are well apart, wherever they are: no bounds. Needs scikit-learn.

    >>> from discreet.noise.randomness import Seeded
    >>> noise = np.random.default_rng(0).normal(size=(9000, 1))
    >>> rows = 1e6 + 40.0 * (np.arange(9000)[:, None] % 2) + noise
    >>> found = FriendlyKMeans(2, epsilon=4.0, delta=1e-6).release(rows, Seeded(1)).value
    >>> bool(abs(found.centres - [[1e6], [1e6 + 40]]).max() < 0.2)
    True
    """

    k: int
    epsilon: Number
    delta: Number
    _: KW_ONLY
    with_loss: bool = False
    columns: int | None = None
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"

    def __post_init__(self) -> None:
        if not self.delta:
            raise BadInput("delta is 0; clusters without bounds by friends need delta above 0, for example 1e-6")
        check_cluster_budget(self.epsilon, self.delta, self.neighbours)
        check_k(self.k)

    guarantee = promised

    @property
    def stages(self) -> Allocation:
        """What each stage costs; the event is that fewer tuples agree than believed. [friendly_kmeans.1]"""
        lost = exact(self.delta) * MISS
        left = exact(self.delta) - lost  # of which slack takes a tenth at most
        counts = not self.neighbours.size_is_public
        draws = DRAWS + counts  # [friendly_kmeans.1]
        whole = Allocation.of(self.epsilon, left, slack=TUPLE_SLACK, draws=draws, lower=True, strongest=STRONGEST)
        budget = replace(whole, event=lost)
        rest = 1 - (LOSS if self.with_loss else Fraction(0))
        return budget.split(
            scale=Share(rest * SCALE),
            test=Share(rest * TEST),
            mean=Share(rest * MEAN),
            radius=Share(rest * RADIUS, Choice),
            last=Share(rest * (LAST - COUNT if counts else LAST)),
            count=Share(rest * COUNT) if counts else None,
            loss=Share(LOSS) if self.with_loss else None,
        )  # [friendly_kmeans.1]

    @property
    def loss(self) -> Loss:
        """All draws together, and the event. [friendly_kmeans.1]"""
        return self.stages.ceiling  # [friendly_kmeans.1]

    def release(self, rows: Any, rng: Randomness) -> Release[Clusters]:
        """The centres, or a refusal."""
        table = matrix(rows, self.columns)
        check_width(table.width, self.k)
        check_sklearn()
        check_budget(self.epsilon, self.delta, max(1, table.size) if self.neighbours.size_is_public else None)
        return _Run(self, table, rng).release()


class _Run:
    """One release: the data, the door, and the budget."""

    def __init__(self, asked: FriendlyKMeans, table: Rows, rng: Randomness) -> None:
        self.asked, self.table, self.rng, self.stages = asked, table, rng, asked.stages
        public = table.size if asked.neighbours.size_is_public else None
        self.shown: dict[str, Any] = {"k": asked.k, "neighbours": asked.neighbours, "rows": public}
        self.size = table.size if public is not None else self._counted()

    def _counted(self) -> int:
        """A noisy number of rows. [friendly_kmeans.1]"""
        noisy = noisy_count(self.table.size, self.stages.part("count", Gaussian), self.rng)  # [friendly_kmeans.1]
        self.shown["counted"] = max(0, round(noisy))
        return max(0, round(noisy))

    def release(self) -> Release[Clusters]:
        """Blocks, a radius for their tuples, the tuple, and its refinement."""
        k, size = self.asked.k, self.size
        test = self.stages.part("test", Gaussian)
        blocks, fewest = math.ceil(BLOCKS / test.mu), math.ceil(FEWEST / test.mu)
        blocks = min(blocks, size // (ROWS * k))
        if blocks < fewest:
            blocks = min(fewest, size // (LEAST * k))
        if blocks < fewest:  # [friendly_kmeans.2]
            about = f"{size} rows are" if self.shown["rows"] is not None else f"about {size} rows are"
            return self._blank(
                f"{about} too few for {k} clusters without bounds at epsilon {float(self.asked.epsilon):g}: about "
                f"{fewest * LEAST * k} are needed; bring more rows, or give radius= and method='centred'"
            )
        self.shown["blocks"] = blocks
        tuples = block_tuples(self.table, blocks, k, self.rng, self.asked.neighbours)  # [friendly_kmeans.1]
        scale = pair_scale(
            pair_rows(tuples), cost=self.stages.part("scale", Gaussian), rng=self.rng
        )  # [friendly_kmeans.1]
        if scale.refusal is not None:  # [friendly_kmeans.2]
            return self._blank(UNSEEN)
        radius = min(max(FRIENDS * scale.upper, SMALLEST), LARGEST)
        found = find_tuple(
            tuples.reshape(blocks, -1),
            radius,
            k,
            test=test,
            mean=self.stages.part("mean", Gaussian),
            miss=float(self.stages.event),
            neighbours=Neighbours.REPLACE,
            rng=self.rng,
        )  # [friendly_kmeans.1]
        if found is None:  # [friendly_kmeans.2]
            return self._blank(
                f"the centres of blocks do not agree within {radius:.3g} of each other, or lie closer together than "
                "three times that: this method is for clusters that are well apart; give radius= and method='centred'"
            )
        self.shown["agree within"] = radius
        return self._refined(found.point)

    def _refined(self, centres: Floats) -> Release[Clusters]:
        """From released centres: sums of all rows around them. [friendly_kmeans.1]"""
        middle = np.clip(centres.mean(axis=0), -LARGEST, LARGEST)
        wide = 4 * float(np.linalg.norm(centres - middle, axis=1).max()) + self.shown["agree within"]
        ball = Ball(middle, min(max(wide, SMALLEST), LARGEST))
        steps = ball.steps(centres)
        choice = self.stages.part("radius", Choice)
        beyond = max(round(OUTSIDE * self.size), math.ceil(28 / float(choice.epsilon)))
        reach = reach_of(
            WIDER * holding(distances(self.table, ball, steps), beyond=beyond, cost=choice, rng=self.rng)
        )  # [friendly_kmeans.1]
        last = noisy_clusters(
            self.table,
            ball,
            steps,
            reach,
            centred=True,
            cost=self.stages.part("last", Gaussian),
            neighbours=self.asked.neighbours,
            rng=self.rng,
        )  # [friendly_kmeans.1]
        moved, _ = last.moved(steps, CLEAR * last.count_noise, centred=True)
        steps = ball.steps(ball.points(moved))
        total = None
        if self.asked.with_loss:
            away, cost = distances(self.table, ball, steps), self.stages.noise("loss")
            total = noisy_loss(away, 2.0 * reach, cost=cost, rng=self.rng) * ball.step**2  # [friendly_kmeans.1]
            self.shown["farthest in the loss"] = 2.0 * reach * ball.step
        noise = last.sum_noise / np.maximum(last.counts, last.count_noise) * ball.step
        value = Clusters.sorted(ball.points(steps), last.counts, noise, total)
        return replace(self._blank(), answer=value)

    def _blank(self, refusal: str | None = None) -> Release[Clusters]:
        history = Provenance("FriendlyKMeans", self.shown, self.rng.secure)
        return Release(self.asked.guarantee, history, refusal=refusal, name=f"{self.asked.k} clusters")


UNSEEN: Final = (
    "no distance between the centres of two blocks is common enough to be seen through the noise; bring more rows, "
    "or give radius= and method='centred'"
)


def block_tuples(
    table: Rows, blocks: int, k: int, rng: Randomness, neighbours: Neighbours = Neighbours.REPLACE
) -> Floats:
    """Each block's k centres: blocks x k x d; NaN for a block that has none. [friendly_kmeans.1]"""
    from threadpoolctl import threadpool_limits

    if neighbours.size_is_public:
        order = np.asarray(rng.permutation(table.size), dtype=np.int64)
        edges = np.arange(blocks + 1) * table.size // blocks
    else:
        places = Places(table, rng)
        order, edges = places.order, np.searchsorted(places.buckets(blocks), np.arange(blocks + 1))
    rows = take(table, order)
    with silence(), np.errstate(all="ignore"), threadpool_limits(1):
        return np.stack([_centres(rows[start:stop], k) for start, stop in pairwise(edges.tolist())])


def _centres(rows: Floats, k: int) -> Floats:
    """k-means of one block, around its own median so that it loses no digits; whatever goes wrong gives NaN.
    [friendly_kmeans.1]"""
    from sklearn.cluster import KMeans

    missing = np.full((k, rows.shape[1]), np.nan)
    known = rows[np.isfinite(rows).all(axis=1)]
    if len(known) < k:
        return missing
    try:
        middle = np.median(known, axis=0)
        model = KMeans(k, n_init=STARTS, random_state=0).fit(known - middle)
        return np.asarray(model.cluster_centers_ + middle, dtype=np.float64)
    except Exception:  # noqa: BLE001  [friendly_kmeans.1]: what happens in a block stays in it
        return missing


def pair_rows(tuples: Floats) -> Floats:
    """For each two tuples that follow each other a row 0 and a row with their distance, for `pair_scale`.
    [friendly_kmeans.1]"""
    rows = np.zeros((len(tuples) // 2 * 2, 1))
    for place in range(len(tuples) // 2):
        rows[2 * place + 1] = bottleneck(tuples[2 * place], tuples[2 * place + 1])
    return rows


def bottleneck(one: Floats, other: Floats) -> float:
    """The largest distance of two tuples' points when they are paired at the least sum of squares; NaN if one is."""
    with np.errstate(all="ignore"):
        square = ((one[:, None] - other[None]) ** 2).sum(axis=2)
        if not np.isfinite(square).all():
            return math.nan
        here, there = linear_sum_assignment(square)
        return float(np.sqrt(square[here, there].max()))


def check_sklearn() -> None:
    """Refused before anything is drawn if it is not installed."""
    try:
        import sklearn.cluster  # noqa: F401
    except ImportError:
        raise BadInput(
            "method 'friendly' needs scikit-learn; install it with: pip install 'discreet[sklearn]'"
        ) from None
