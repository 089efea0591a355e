"""k-means by Lloyd's steps on noisy counts and sums: centred on many seeds, the default, or as in the lectures.

Releases
    Where there is no public ball, one ([enclose.1]). Centred: from 6 k seeds packed into it, without data, noisy
    counts and centred sums; a radius r that holds four fifths of the rows around the moved seeds; counts and sums cut
    to r; then, from the k centres into which the seeds were joined, counts and sums cut to 1.2 r, twice. As in the
    lectures: T times, from k packed seeds, noisy counts and noisy sums of the rows nearest to each centre. If asked
    for, the loss. The last centres and counts are the answer.
Promise
    [kmeans.1] (epsilon, delta), pure where delta is 0, under both relations. As in the lectures: with delta 0 and
          rows in the L1 ball of radius B Laplace noise of scale 4 T / epsilon on counts and 4 B T / epsilon on sums
          under REPLACE, of half of that under ADD_OR_REMOVE. With delta Gaussian noise, mu / sqrt(T) for each step,
          rows in the L2 ball.
    [kmeans.2] Refusals read public numbers, and where the number of rows is private their noisy number.
Why
    [kmeans.1] The ball is enforced: rows outside are pulled into it, each by itself. Every stage is
    [cluster_sums.3] or [cluster_sums.4], [cluster_sums.1] or [cluster_sums.2] or [enclose.1], at its share of the
    budget, around centres and with radii that are public or were released; to drop, move and join centres is
    post-processing. In the lectures w = reach = B, 4 B at epsilon / T; T, k and the seeds are public. The shares add up
    to 1: [allocation.1], [allocation.2].
    [kmeans.2] As the code reads.
Needs
    10 sqrt(d) s rows for each cluster, s the noise on a sum in units of its radius: at epsilon 1, delta 1e-6, 420 rows
    for each of k clusters in 10 columns, 190 in 2. Columns on scales that make distances meaningful, as any k-means.
Accuracy
    docs/benchmarks.md: medians of 1.00 to 1.06 times the loss of k-means without privacy at n = 20,000,
    epsilon = 1; the worst of all runs with a delta was 1.28. A count's noise multiplies the difference from a centre,
    which is small, and not the centre; and many seeds make a bad start rare. In the lectures' form it multiplies the
    centre's distance from 0, and the sum's noise is that of the whole ball: kept for comparison. There the average of
    the last two steps, if T is 5 or more, halves the variance of the last noise.
Source
    Blum, Dwork, McSherry and Nissim 2005 (sums and counts; the lecture's domain |x| = 1 is the ball here, and
    enforced); McSherry 2009; Su, Cao, Li, Bertino and Jin 2016 (packed seeds); Ward 1963.
"""

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from typing import Any, Final, Literal

import numpy as np

from discreet.accounting.allocation import Share
from discreet.errors import BadInput
from discreet.models.assign import BITS, Ball, Floats, distances
from discreet.models.cluster_sums import (
    LOSS,
    NoisyClusters,
    check_cluster_budget,
    check_k,
    check_width,
    cluster_budget,
    holding,
    noise_per_reach,
    noisy_clusters,
    noisy_loss,
    reach_of,
)
from discreet.models.enclose import Search, check_ball, find_ball, fixed, given_ball, merged, packed
from discreet.models.friendly_kmeans import FriendlyKMeans
from discreet.privacy.declaration import Columns, Public, Reads, number, statistic
from discreet.privacy.exact import Number, is_number
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.loss import Choice, Loss
from discreet.privacy.mechanism import Mechanism, Randomness, promised, what_to_do
from discreet.privacy.release import Provenance, Release
from discreet.privacy.values import Clusters
from discreet.tables.matrix import Rows, streamed
from discreet.worlds.assumptions import About, World
from discreet.worlds.shapes import RUNS

Clustering = Literal["auto", "lloyd", "centred", "friendly"]
SEEDS: Final = 6  # for each cluster
CLEAR: Final = 3.0  # deviations of a count's noise by which a cluster must be seen to be moved
OUTSIDE: Final = 0.2  # the share of rows beyond r
WIDER: Final = 1.2
FAR: Final = 3.0  # times r: as far as a row counts in the loss
FIRST, RADIUS, SECOND, LAST = Fraction(25, 100), Fraction(4, 100), Fraction(30, 100), Fraction(41, 100)
BALL_SHARE: Final = {False: Fraction(6, 100), True: Fraction(15, 100)}  # of a pure budget: more
ENOUGH: Final = 10.0
AVERAGED: Final = 2  # of the lectures' last steps
LONG: Final = 5  # steps from which they are


@dataclass(frozen=True, slots=True)
class LloydKMeans:
    """k centres by over-seeded, centred Lloyd steps, or by the lectures' own.

    `radius` (and `centre`, 0 if it is left out) is a public ball that holds the rows: in L2, for the lectures' steps
    with delta 0 in L1. Without one a ball is found privately. `columns` declares the number of columns: a list of rows
    needs it.

    >>> from discreet.noise.randomness import Seeded
    >>> rows = np.array([[k % 2 * 8 + math.sin(k), math.cos(3 * k)] for k in range(4000)])
    >>> found = LloydKMeans(2, epsilon=2.0, delta=1e-6, radius=12.0).release(rows, Seeded(1)).value
    >>> bool(abs(found.centres - [[0, 0], [8, 0]]).max() < 0.5)
    True
    """

    k: int
    epsilon: Number
    delta: Number = 0.0
    _: KW_ONLY
    centred: bool = True
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
        most = 16 if self.centred else 32
        if self.iterations is not None and (
            not isinstance(self.iterations, int)
            or isinstance(self.iterations, bool)
            or not 1 <= self.iterations <= most
        ):
            raise BadInput(
                f"iterations is {self.iterations!r}; give a number from 1 to {most}, fixed in advance, or None"
            )

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """All draws together. [kmeans.1]"""
        return cluster_budget(self.epsilon, self.delta).ceiling  # [kmeans.1]

    def release(self, rows: Any, rng: Randomness) -> Release[Clusters]:
        """The centres, or a refusal."""
        table = streamed(rows, self.columns)
        check_width(table.width, SEEDS * self.k if self.centred else self.k)
        size = table.size if self.neighbours.size_is_public else None
        check_budget(self.epsilon, self.delta, None if size is None else max(1, size))
        return _Run(self, table, size, rng).release()


class _Run:
    """One release: the data, the door, and the budget."""

    def __init__(self, asked: LloydKMeans, table: Rows, size: int | None, rng: Randomness) -> None:
        self.asked, self.table, self.size, self.rng = asked, table, size, rng
        self.times = asked.iterations or (2 if asked.centred else 5)
        self.weight = None if asked.centred else Fraction(1)
        budget = cluster_budget(asked.epsilon, asked.delta)
        half = BALL_SHARE[budget.pure] / 2
        parts: dict[str, Share | None] = {}
        if asked.radius is None:
            parts = {"columns": Share(half, Choice, table.width), "radius": Share(half, Choice)}
        rest = 1 - (2 * half if parts else 0) - (LOSS if asked.with_loss else 0)
        parts["loss"] = Share(LOSS) if asked.with_loss else None
        if asked.centred:
            parts |= {"first": Share(rest * FIRST), "holding": Share(rest * RADIUS, Choice)}
            parts |= {"second": Share(rest * SECOND), "last": Share(rest * LAST, times=self.times)}
            steps = budget.split(together=Share(rest * LAST)).noise("together")
        else:
            parts["last"] = Share(times=self.times)
        self.stages = budget.split(**parts)  # [kmeans.1]
        self.search = Search.of(self.stages)
        in_l2 = asked.centred or self.search is not None
        self.wide = math.sqrt(table.width) if budget.pure and in_l2 else 1.0  # an L1 ball that holds one in L2
        noise = self.wide * noise_per_reach(
            steps if asked.centred else self.stages.noise("last"), asked.neighbours, self.weight
        )
        self.least = math.ceil(asked.k * ENOUGH * math.sqrt(table.width) * noise)
        if self.search is not None:
            self.least = max(self.least, 4 * self.search.beyond)
        self.shown: dict[str, Any] = {"k": asked.k, "neighbours": asked.neighbours, "radius": asked.radius}
        self.shown |= {"rows": size, "iterations": self.times}

    def release(self) -> Release[Clusters]:
        """All stages, or a refusal before the first, or after the count of rows."""
        if self.size is not None and self.size < self.least:  # [kmeans.2]
            return self._blank(self._too_few(self.size))
        ball = given_ball(self.asked.radius, self.asked.centre, self.table.width)
        if self.search is not None:
            ball = find_ball(self.table, self.search, self.asked.neighbours, self.rng)  # [kmeans.1]
            self.shown["ball"] = ball.radius
        assert ball is not None
        count = (SEEDS if self.asked.centred else 1) * self.asked.k
        seeds = ball.steps(ball.points(packed(count, self.table.width) * 2.0**BITS))
        first = self._sums(ball, seeds, 2**BITS, "first" if self.asked.centred else "last")
        seen = self.size if self.size is not None else max(1, round(float(first.counts.sum())))
        if self.size is None and seen < self.least:  # [kmeans.2]
            return self._blank(self._too_few(seen))
        return (self._joined if self.asked.centred else self._lectured)(ball, seeds, first, seen)

    def _joined(self, ball: Ball, seeds: Floats, first: NoisyClusters, seen: int) -> Release[Clusters]:
        """From many seeds to k centres, each moved by sums of differences from it."""
        points, full = first.moved(seeds, CLEAR * first.count_noise, centred=True)
        seeds = ball.steps(ball.points(points[full] if full.any() else seeds))  # those that were seen to have rows
        radius = holding(
            distances(self.table, ball, seeds),
            beyond=round(OUTSIDE * seen),
            cost=self.stages.part("holding", Choice),
            rng=self.rng,
        )  # [kmeans.1]
        second = self._sums(ball, seeds, reach_of(radius), "second")
        points, full = second.moved(seeds, CLEAR * second.count_noise, centred=True)
        if not full.any():
            full[:] = True
        centres = merged(points[full], second.counts[full], self.asked.k)
        for _ in range(self.times):
            centres = ball.steps(ball.points(centres))
            last = self._sums(ball, centres, reach_of(WIDER * radius), "last")
            centres, _ = last.moved(centres, CLEAR * last.count_noise, centred=True)
        return self._answer(ball, centres, last, far=FAR * radius, averaged=1)

    def _lectured(self, ball: Ball, centres: Floats, found: NoisyClusters, _: int) -> Release[Clusters]:
        """Lloyd's steps on the sums themselves, the first of which were taken."""
        path: list[Floats] = []
        while True:
            centres, _full = found.moved(centres, found.count_noise, centred=False)
            centres = ball.steps(ball.points(centres))  # back into the ball
            path.append(centres)
            if len(path) == self.times:
                break
            found = self._sums(ball, centres, 2**BITS, "last")
        last = path[-AVERAGED:] if self.times >= LONG else path[-1:]
        return self._answer(ball, np.mean(last, axis=0), found, far=2.0 ** (BITS + 1), averaged=len(last))

    def _sums(self, ball: Ball, centres: Floats, reach: int, stage: str) -> NoisyClusters:
        """A pass over the rows. [kmeans.1]"""
        return noisy_clusters(
            self.table,
            ball,
            centres,
            math.ceil(reach * self.wide),
            centred=self.asked.centred,
            cost=self.stages.noise(stage),
            neighbours=self.asked.neighbours,
            rng=self.rng,
            weight=self.weight,
        )  # [kmeans.1]

    def _answer(
        self, ball: Ball, centres: Floats, last: NoisyClusters, *, far: float, averaged: int
    ) -> Release[Clusters]:
        centres, found = ball.steps(ball.points(centres)), None
        if self.asked.with_loss:
            cap = min(max(far, 1.0), 2.0 ** (BITS + 1))
            cost = self.stages.noise("loss")
            found = noisy_loss(distances(self.table, ball, centres), cap, cost=cost, rng=self.rng)  # [kmeans.1]
            found *= ball.step**2
            self.shown["farthest in the loss"] = cap * ball.step
        noise = last.sum_noise / np.maximum(last.counts, last.count_noise) * ball.step / math.sqrt(averaged)
        return replace(self._blank(), answer=Clusters.sorted(ball.points(centres), last.counts, noise, found))

    def _too_few(self, seen: int) -> str:
        """What was seen, what is needed, what to do; by public or noisy numbers. [kmeans.2]"""
        noisy = not self.asked.neighbours.size_is_public
        others = ("ask for fewer clusters",)
        to_do = what_to_do(seen, self.asked.epsilon, self.least, *others, noisy=noisy, scales=False)
        return (
            f"{'about ' if noisy else ''}{seen} rows are too few for {self.asked.k} clusters in {self.table.width} "
            f"columns at epsilon {float(self.asked.epsilon):g}: about {self.least} are needed; {to_do}"
        )

    def _blank(self, refusal: str | None = None) -> Release[Clusters]:
        name = "CentredKMeans" if self.asked.centred else "LloydKMeans"
        history = Provenance(name, self.shown, self.rng.secure)
        return Release(self.asked.guarantee, history, refusal=refusal, name=f"{self.asked.k} clusters")


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


def _reads(options: Mapping[str, Any]) -> Reads:
    return number("several", streams=options.get("method") != "friendly")  # which fits blocks of rows


@statistic({"X": _reads}, wants_delta=_always, world=_world)
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
