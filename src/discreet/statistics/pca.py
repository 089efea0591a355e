"""Principal components: directions, and the share of the variance that the released ones hold, with intervals.

Releases
    Half of epsilon and all of delta: the stages of a covariance (statistics/free_covariance.py), from which follow a
    centre m, a scale for each column (1 where columns are not scaled) and d orthogonal directions w_j. Then for rows
    z = (x - m) / scales a length C that about m0 rows exceed; with R^2 = 2 C^2 and rows beyond R drawn back to it, the
    noisy sums of (w_j z)^2 for all j; and, with the shares s_j of these, for each of k directions and for all k
    together the noisy sum of the square of the row's influence on its share.
Promise
    [pca.1] (epsilon, delta) under both relations.
    [pca.2] Refusals read public numbers and earlier answers only.
    [pca.3] The interval is, for each number by itself, for the share of the population's variance that lies along the
          released directions, rows drawn back to a distance that it names, by the normal approximation, whatever the
          distribution is. It is not for the directions.
Why
    [pca.1] Adaptive composition of [covariance.1] at (epsilon / 2, delta), of [locate.2], and of two sums of fixed
    functions of one row. With p_j = (w_j z)^2, t their sum, and all of them multiplied by min(1, R^2 / t), floors of
    h p_j / R^2 are at least 0 and together at most h: one row added moves the sums by at most h in L1, one replaced by
    2 h. The influence on a share s_j is p_j - s_j t, on that of the first k their sum. The squares of the first add up
    to at most (1 + |s|^2) t^2, as p / t and s are weights, and the last is at most t^2: over b R^4, b = 2 + |s|^2,
    which is released, they are at least 0 and together at most 1. The parts are exact fractions of epsilon
    ([allocation.1]); the delta is that of the covariance. A row with an entry that is not finite adds 0.
    [pca.2] [covariance.2]; m0 is public; a total that is small beside its noise is a released number.
    [pca.3] The directions are fixed once they are released, and the sums are fresh. A share is a ratio of two means, so
    that its sampling variance is the mean square of (p_j - s_j t) over the mean of t, over n; one scale of its noise is
    added to the first. The number of rows cancels in the ratio. Its noise is the sum of the noises, each times its
    derivative, taken as one Laplace variable of the same variance. That m is not the mean of the population adds the
    square of its error, which is of second order.
Needs
    What a covariance needs at half of epsilon: about 4,000 rows of 5 columns at epsilon 1 and delta 1e-6.
Accuracy
    Noise of about 7 sqrt(k) R^2 / (n epsilon v) on a share, v the mean square of the rows' lengths: it does not depend
    on gaps between eigenvalues, as the error of directions does.
Source
    Dwork, Talwar, Thakurta and Zhang 2014 (Analyze Gauss) for directions of a noisy covariance; the fresh sums along
    them, one row's weight shared out among directions, are ours.
"""

import math
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.accounting.allocation import Allocation, Share
from discreet.errors import BadInput, Refused
from discreet.noise.distributions import laplace_scale
from discreet.privacy.declaration import Columns, Public, number, statistic
from discreet.privacy.exact import Number, exact, show
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Approximate, Choice, Laplace, Loss
from discreet.privacy.mechanism import Randomness, promised, refusal_of, what_to_do
from discreet.privacy.release import Provenance, Release
from discreet.privacy.values import Components
from discreet.stages.clip import Floats, fitting_bits
from discreet.stages.gram import Rows
from discreet.stages.locate import BEYOND, far_distance
from discreet.statistics.covariance import Covariance
from discreet.statistics.covariance_stages import positive
from discreet.statistics.free_covariance import FreeMoment
from discreet.statistics.rank_correlation import CorrelationSpread
from discreet.tables.kept_rows import FLOAT, kept
from discreet.tables.matrix import long_matrix
from discreet.tables.streams import added, each, fold
from discreet.worlds.assumptions import MANY, About, World
from discreet.worlds.shapes import AssumedTable

FIND: Final = Fraction(1, 2)  # of epsilon, for directions
FAR, VARY = Fraction(1, 5), Fraction(1, 5)  # of what is left; the shares have the rest
REACH: Final = 2.0  # the square of the limit over that of the distance that m0 rows exceed
SURE: Final = 5.0  # deviations of noise that the total variance must be
MOST: Final = 100  # columns
LOST: Final = "the rows vary too little beside the noise to say along what; bring more rows, or use a larger epsilon"


@dataclass(frozen=True, slots=True)
class Pca:
    """The first `k` principal components of `dimension` columns.

    >>> from discreet.noise.randomness import Seeded
    >>> import numpy as np
    >>> rows = np.array([[k % 97, k % 97 + k % 11, k % 13] for k in range(8000)])
    >>> found = Pca(2.0, 1e-6, k=1, dimension=3, standardise=True).release(rows, Seeded(1))
    >>> bool(0.6 < found.value.captured < 0.73)
    True
    """

    epsilon: Number
    delta: Number
    _: KW_ONLY
    k: int
    dimension: int
    standardise: bool
    neighbours: Neighbours = Neighbours.ADD_OR_REMOVE
    unit: str = "row"
    size: int | None = None
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 2 <= self.dimension <= MOST:
            raise BadInput(f"there are {self.dimension} columns; principal components are of 2 to {MOST}")
        whole = isinstance(self.k, int) and not isinstance(self.k, bool)
        if not whole or not 1 <= self.k < self.dimension:
            raise BadInput(f"k is {self.k!r}; give how many components, 1 to {self.dimension - 1}: all hold everything")
        if not isinstance(self.standardise, bool):
            raise BadInput(
                f"standardise is {self.standardise!r}; give True, for columns in units of their deviations, or False"
            )
        self.inner.check(None)

    guarantee = promised

    @property
    def inner(self) -> Covariance:
        """What finds the directions. [pca.1]"""
        return Covariance(
            exact(self.epsilon) * FIND,
            self.delta,
            dimension=self.dimension,
            neighbours=self.neighbours,
            unit=self.unit,
            size=self.size,
            names=self.names,
        )

    @property
    def loss(self) -> Loss:
        """The covariance's, and what is left of epsilon. [pca.1]"""
        return Approximate(self.epsilon, self.delta)

    @property
    def stages(self) -> Allocation:
        """What each draw after the directions costs. [pca.1]"""
        return Allocation.of(exact(self.epsilon) * (1 - FIND)).split(
            far=Share(FAR, Choice), shares=Share(), vary=Share(VARY)
        )

    @property
    def beyond(self) -> int:
        """m0: how many rows are drawn back, about, were the limit the distance found. Public."""
        return math.ceil(2 * BEYOND / float(self.stages.part("far", Choice).epsilon))

    def check(self, size: int | None) -> None:
        """Refuse too few rows. [pca.2]"""
        self.inner.check(size)
        self._check_rows(size)

    def _check_rows(self, size: int | None) -> None:
        """Refuse fewer rows, public or noisy, than the sums along directions need. [pca.2]"""
        if size is not None and size < 4 * self.beyond:
            noisy = not self.neighbours.size_is_public
            to_do = what_to_do(size, self.epsilon, 4 * self.beyond, noisy=noisy)
            raise Refused(
                f"there are {size} rows{' (a noisy number)' if noisy else ''}; principal components without bounds "
                f"need at least {4 * self.beyond} at epsilon {show(self.epsilon)}; {to_do}"
            )

    def release(self, rows: Any, rng: Randomness) -> Release[Components]:
        """The components and the interval of their shares, or a refusal."""
        table = kept(long_matrix(rows, self.dimension), FLOAT * self.dimension)
        public = len(table) if self.neighbours.size_is_public else None
        if public == 0:
            raise BadInput("the data are empty (0 rows); a statistic needs at least 1 row")
        shown = {"k": self.k, "standardise": self.standardise, "neighbours": self.neighbours, "rows": public}
        blank: Release[Components] = Release(
            self.guarantee, Provenance("Pca", shown, rng.secure), name="principal components"
        )
        if refusal := refusal_of(self, public):  # [pca.2]
            return replace(blank, refusal=refusal)
        found = self.inner.moment(table, public, rng)  # [pca.1]
        if isinstance(found, str):  # [pca.2]
            return replace(blank, refusal=found)
        try:
            self._check_rows(max(1, round(found.size)))  # [pca.2]
        except Refused as refused:
            return replace(blank, refusal=str(refused))
        scales, directions = self._directions(found)
        if not (np.isfinite(scales).all() and np.isfinite(directions).all() and (scales > 0).all()):  # [pca.2]
            return replace(blank, refusal="the columns' scales are beyond the floats; rescale them")
        return self._along(blank, table, found=found, scales=scales, directions=directions, rng=rng)

    def _directions(self, found: FreeMoment) -> tuple[Floats, Floats]:
        """The scale of each column, and all directions, a row each, the one of the largest variance first."""
        with np.errstate(all="ignore"):
            covariance = found.back @ positive(found.inside) @ found.back.T
            deviations = np.sqrt(np.diag(covariance))
            scales = deviations if self.standardise else np.full(self.dimension, 1.0)
            scaled = covariance / np.outer(scales, scales)
            if not np.isfinite(scaled).all():
                return scales, np.full_like(scaled, np.nan)
            vectors = np.linalg.eigh((scaled + scaled.T) / 2)[1][:, ::-1].T
        signs = np.sign(vectors[np.arange(len(vectors)), np.abs(vectors).argmax(axis=1)])
        return scales, np.asarray(vectors * signs[:, None])

    def _along(
        self,
        blank: Release[Components],
        table: Rows,
        *,
        found: FreeMoment,
        scales: Floats,
        directions: Floats,
        rng: Randomness,
    ) -> Release[Components]:
        """The shares of the variance along directions that were released. [pca.1], [pca.3]"""
        stages = self.stages
        moved = 2 if self.neighbours.size_is_public else 1
        squares = each(partial(_squares, place=found.place, scales=scales, directions=directions), table)
        far = far_distance(
            each(_lengths, squares),
            centre=0.0,
            beyond=self.beyond,
            cost=stages.part("far", Choice),
            rng=rng,
            least=2.0**-24,
        )  # [pca.1]
        limit = REACH * far**2
        parts = each(partial(_drawn_back, limit=limit), squares)  # [pca.1]
        if not 1e-300 < limit < 1e300:  # [pca.2]
            return replace(blank, refusal="the rows reach beyond what can be squared; rescale them")
        sums, noise = _noisy(parts, self.dimension, moved, stages.part("shares", Laplace), rng)  # [pca.1]
        whole = float(sums.sum())
        if whole < SURE * math.sqrt(2 * self.dimension) * noise:  # [pca.2]
            return replace(blank, refusal=LOST)
        s, k = np.clip(sums / whole, 0.0, 1.0), self.k
        c = float(np.clip(sums[:k].sum() / whole, 0.0, 1.0))
        bound = 2 + float(s @ s)
        influence = each(partial(_influence, shares=s[:k], captured=c, bound=bound), parts)
        vary, doubt = _noisy(influence, k + 1, moved, stages.part("vary", Laplace), rng)  # [pca.1]
        sampling = np.sqrt(bound * (np.maximum(vary, 0.0) + doubt)) / whole  # [pca.3]
        many, own = self.dimension, np.append(s[:k], c)
        inside = np.append(np.ones(k), k)
        spread = np.sqrt(inside * (1 - own) ** 2 + (many - inside) * own**2) * math.sqrt(2) * noise / whole
        about = (
            "the shares, each by itself, of the population's variance along the released directions, nobody's distance "
            f"from the centre above {show(math.sqrt(limit))}{' deviations' if self.standardise else ''}"
        )
        answer = Components(s[:k], c, directions[:k], found.place, scales)
        return replace(
            blank,
            answer=answer,
            spread=CorrelationSpread(own, sampling, spread, about, ((0.0, math.sqrt(limit)),), 0.0),
        )  # [pca.3]


def _turned(rows: Floats, directions: Floats) -> Floats:
    """Rows along directions, summed in a fixed order: a row's numbers do not depend on where it stands. [pca.1]"""
    found = np.zeros((len(rows), len(directions)))
    for place in range(rows.shape[1]):
        found += rows[:, place, None] * directions[:, place]
    return found


def _squares(rows: Floats, *, place: Floats, scales: Floats, directions: Floats) -> Floats:
    """The squares of rows along directions. [pca.1]"""
    with np.errstate(all="ignore"):
        return np.asarray(_turned((rows - place) / scales, directions) ** 2)


def _lengths(squares: Floats) -> Floats:
    """Of rows, missing where they are not finite."""
    found: Floats = np.sqrt(squares.sum(axis=1))
    found[~np.isfinite(found)] = np.nan
    return found


def _drawn_back(squares: Floats, *, limit: float) -> Floats:
    """Squares over the limit, or over their sum where that is larger: at most 1 together. [pca.1]"""
    with np.errstate(all="ignore"):
        total = squares.sum(axis=1)
        return np.where(np.isfinite(total)[:, None], squares / np.maximum(total, limit)[:, None], 0.0)


def _influence(parts: Floats, *, shares: Floats, captured: float, bound: float) -> Floats:
    """What a row does to each share and to what they hold together, squared, as parts of the bound. [pca.1]"""
    lengths, first = parts.sum(axis=1), parts[:, : len(shares)]
    moved = np.column_stack([first - shares * lengths[:, None], first.sum(axis=1) - captured * lengths])
    return np.asarray(moved**2 / bound)


def _step_sums(given: Iterator[Floats], *, bits: int, many: int) -> npt.NDArray[np.int64]:
    """A kernel: the sums of rows in whole steps."""
    found = np.zeros(many, dtype=np.int64)
    for piece in given:
        found += np.floor(piece * 2.0**bits).astype(np.int64).sum(axis=0)
    return found


def _noisy(parts: Rows, many: int, moved: int, cost: Laplace, rng: Randomness) -> tuple[Floats, float]:
    """Sums of rows of numbers of at least 0 that add up to 1 at most, with noise, and its scale. [pca.1]"""
    bits = fitting_bits(cost)
    steps = fold(partial(_step_sums, bits=bits, many=many), added, parts)
    blurred = rng.blur(steps, sensitivity=moved << bits, cost=cost)  # [pca.1]
    return np.asarray(blurred, dtype=float) / 2**bits, float(laplace_scale(moved << bits, cost.epsilon)) / 2**bits


def _world(about: About) -> World:
    about.option("scale", 1.0)  # a share has no unit
    k = about.given["k"] = about.whole("k", 1, 1, 99)
    table = AssumedTable.of(about, columns=max(3, k + 1))
    truth = np.append(np.full(k, 1.0), k) / table.columns

    def plain(x: Any) -> Any:
        held = x.var(axis=0) / x.var(axis=0).sum()
        return np.append(held[:k], held[:k].sum())

    return World(
        units="",
        make=lambda g, n: {"x": table.draw(g, n)},
        truth=truth,
        plain=plain,
        read=lambda value: np.append(value.shares, value.captured) if isinstance(value, Components) else value,
        measure=MANY,
        runs=16,
    )


@statistic({"x": number("several", streams=True)}, world=_world)
def pca(people: Public, x: Columns, k: int, *, epsilon: Number, delta: Number, standardise: bool = True) -> Pca:
    """The first k principal components: directions, and the share of the variance that lies along each. No bounds.

    The interval is for `.shares` of each of the released directions and for `.captured`, that of all k together: what
    they hold of the population's variance, rows limited to a distance that it names. The directions themselves,
    `.directions`, have no interval: where two components are about alike, any turn of the two is as good. `.transform`
    gives rows along them. standardise=True takes columns in units of their standard deviations. Needs delta > 0.

    >>> import discreet
    >>> import numpy as np
    >>> x = np.array([[k % 97, k % 97 + k % 11, k % 13] for k in range(8000)])
    >>> r = discreet.pca(x, k=1, epsilon=2.0, delta=1e-6, rng=discreet.Seeded(1))
    >>> bool(0.6 < r.value.captured < 0.73)
    True
    """
    return Pca(
        epsilon,
        delta,
        k=k,
        dimension=len(x.names),
        standardise=standardise,
        neighbours=people.neighbours,
        unit=people.unit,
        size=people.size,
        names=x.names,
    )
