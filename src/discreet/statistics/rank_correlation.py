"""Spearman's correlation: of ranks, for columns of any shape, with an interval for each entry. No bounds. Pure.

Releases
    Where the number of rows is private, a noisy one. With a_i the number of rows below row i in a column less the
    number above, b_i likewise in another column, and n rows: for each column the noisy sum of a^2, over n^2; for each
    pair of columns that of a b, over n^2; last, with all of these, a noisy sum over small blocks of people of the
    squared error that the correlation has in each block.
Promise
    [rank_correlation.1] Pure epsilon under both relations.
    [rank_correlation.2] Refusals read public numbers and earlier answers only.
    [rank_correlation.3] The interval of each entry is for the population's correlation of ranks, equal values sharing
          the middle one of theirs, by the normal approximation, whatever their joint distribution is.
Why
    [rank_correlation.1] Let S be the sum of a_i b_i over n rows, and let one row be added, with a_0 and b_0, s_i the
    sign of x_i - x_0 and t_i that of y_i - y_0, 0 where an entry is missing. Then S moves by a_0 b_0 + sum a_i t_i +
    sum b_i s_i + sum s_i t_i. Comparisons within a set A cancel in the sum of a_i over A, so that it is at most
    |A| (n - |A|). With L rows below and G above y_0, |sum a_i t_i| <= G (n - G) + L (n - L) <= (n^2 - b_0^2) / 2, as
    b_0 = L - G; likewise for b_i s_i. As |a_0 b_0| <= (a_0^2 + b_0^2) / 2, S moves by at most n^2 + n. Over the square
    of the number of rows this is below 1, and |S| <= n (n^2 - 1) / 3 moves by less than 2/3 as the square grows: by
    less than 5/3 in all. One row replaced is one removed and one added: S moves by at most 2 n (n - 1), which over n^2
    is below 2. Of a column with itself S never falls, as all four terms are at least 0: over the square it moves by
    less than 1 under both relations. Floors of h times these move by at most as many whole steps. The block of a row
    is told by a coin that stays with it ([thinned.1]): one row added is one more in one block, one replaced one fewer
    and one more. A block adds a number in [0, 1], so this sum moves by 1, under REPLACE by 2. The parts are exact
    fractions of epsilon ([allocation.1]).
    [rank_correlation.2] Under REPLACE n is public and the refusal of too few rows comes before any draw; under
    ADD_OR_REMOVE the noisy n decides. A column that hardly varies is refused by its noisy sum.
    [rank_correlation.3] The correlation is S_ab / sqrt(S_aa S_bb), and n^2 cancels. Its sampling variance is that in a
    block of k rows times k / n, to first order, and at most that, because k times the variance of a mean of a kernel
    over k rows falls with k (Hoeffding). The error in a block is linear in the sums of the block, about the released
    ratio. As noise could make the mean of its square too small, one scale of the noise is added. The noise on the
    correlation is the sum of the noises, each times its derivative, taken as one Laplace variable of that variance.
Needs
    n epsilon of 200 for two columns, 100 for each further one. A row with a missing entry is left out by default; kept,
    the entry is equal to all others.
Accuracy
    For two columns without ties at correlation r, noise of about (12 + 17 |r|) / (n epsilon) beside sampling of about
    1 / sqrt(n): less than sampling from n epsilon^2 of 300 on.
Source
    Spearman 1904; Hoeffding 1948 for the variance. That one row moves S by n^2 + n, and not by three times as much, is
    ours.
"""

import math
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.accounting.allocation import Allocation, Share
from discreet.errors import BadInput, Refused
from discreet.noise.distributions import laplace_scale
from discreet.privacy.exact import Number, show
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.intervals import Interval
from discreet.privacy.loss import Approximate, Laplace, Loss
from discreet.privacy.mechanism import Randomness, promised, refusal_of, what_to_do
from discreet.privacy.release import Provenance, Release
from discreet.privacy.values import Matrix
from discreet.stages.clip import Floats, fitting_bits, noisy_size
from discreet.stages.normal_laplace import radius as error_radius
from discreet.statistics.thinned import coins
from discreet.tables.matrix import in_one, matrix

COUNT, TIES, VARY = Fraction(1, 20), Fraction(1, 4), Fraction(1, 10)  # shares of epsilon; the pairs have the rest
EACH: Final = "each entry, one at a time, of the population's"
MOST: Final = 20  # columns
NEEDED: Final = 100  # rows times epsilon, for each column
SURE: Final = 4.0  # times the deviation of its noise that the sum of a column must be
BLOCK: Final = 6  # rows in a block, about
LARGEST: Final = 16  # rows of a block that are looked at
TOGETHER: Final = 1 << 12  # blocks worked on at once
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class CorrelationSpread:
    """The error of each correlation: sampling taken as normal, the noise as Laplace. [rank_correlation.3]"""

    estimate: Floats
    sampling: Floats
    privacy: Floats
    about: str
    clips: tuple[tuple[float, float], ...] = ()  # the centre and the radius of each column, where values were limited
    least: float = -1.0  # that an entry can be

    def interval(self, confidence: float) -> Interval:
        """For each entry by itself, within what it can be."""
        width = np.vectorize(lambda normal, noise: error_radius(confidence, normal, noise / math.sqrt(2)))(
            self.sampling, self.privacy
        )
        low, high = np.maximum(self.estimate - width, self.least), np.minimum(self.estimate + width, 1.0)
        return Interval(low, high, confidence=confidence, about=self.about, population=True)


@dataclass(frozen=True, slots=True)
class RankCorrelation:
    """Spearman's correlation of `dimension` columns, a d x d array.

    >>> from discreet.noise.randomness import Seeded
    >>> import numpy as np
    >>> rows = np.array([[k % 97, (k % 97) ** 3 + k % 11] for k in range(2000)])
    >>> release = RankCorrelation(epsilon=2.0, dimension=2).release(rows, Seeded(1))
    >>> bool(0.9 < release.value[0, 1] <= 1.0)
    True
    """

    epsilon: Number
    _: KW_ONLY
    dimension: int
    neighbours: Neighbours = Neighbours.ADD_OR_REMOVE
    unit: str = "row"

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        if not 2 <= self.dimension <= MOST:
            raise BadInput(f"there are {self.dimension} columns; a correlation is of 2 to {MOST}")

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """Pure epsilon: the draws add up to it. [rank_correlation.1]"""
        return Approximate(self.epsilon, 0)

    @property
    def stages(self) -> Allocation:
        """What each draw costs. [rank_correlation.1]"""
        pairs = math.comb(self.dimension, 2)
        return Allocation.of(self.epsilon).split(
            size=None if self.neighbours.size_is_public else Share(COUNT),
            ties=Share(TIES, times=self.dimension),
            pair=Share(times=pairs),
            vary=Share(VARY, times=pairs),
        )

    def check(self, size: int | None) -> None:
        """Refuse fewer rows than the noise needs. [rank_correlation.2]"""
        needed = math.ceil(NEEDED * self.dimension / float(self.epsilon))
        if size is not None and size < needed:
            noisy = "" if self.neighbours.size_is_public else " (a noisy number)"
            to_do = what_to_do(size, self.epsilon, needed, "give fewer columns", noisy=bool(noisy))
            raise Refused(
                f"there are {size} rows{noisy}; a correlation of ranks of {self.dimension} columns needs at least "
                f"{needed} at epsilon {show(self.epsilon)}; {to_do}"
            )

    def release(self, rows: Any, rng: Randomness) -> Release[Matrix]:
        """The correlations and the interval of each, or a refusal."""
        table, stages = in_one(matrix(rows, self.dimension)), self.stages
        public = len(table) if self.neighbours.size_is_public else None
        if public == 0:
            raise BadInput("the data are empty (0 rows); a statistic needs at least 1 row")
        size = public or noisy_size(table, stages.part("size", Laplace), rng)  # [rank_correlation.1]
        shown = {"neighbours": self.neighbours, "rows": public, "columns": self.dimension, "costs": stages.shown}
        blank: Release[Matrix] = Release(
            self.guarantee, Provenance("RankCorrelation", shown, rng.secure), name="correlation of ranks"
        )
        if refusal := refusal_of(self, size):  # [rank_correlation.2]
            return replace(blank, refusal=refusal)
        ranks = [balance(table[:, place]) for place in range(self.dimension)]
        one = Fraction(1)
        squares = [self._noisy(products(rank, rank), len(table), one, "ties", rng) for rank in ranks]
        if min(squares) < SURE * math.sqrt(2) * self._scale(one, "ties"):  # [rank_correlation.2]
            flat = 1 + int(np.argmin(squares))
            return replace(blank, refusal=f"column {flat} has nearly the same value in all rows; leave it out")
        estimate, sampling, privacy = np.eye(self.dimension), *np.zeros((2, self.dimension, self.dimension))
        for i, j in combinations(range(self.dimension), 2):
            total = self._noisy(products(ranks[i], ranks[j]), len(table), self.moved, "pair", rng)
            root = math.sqrt(squares[i] * squares[j])
            found = min(max(total / root, -1.0), 1.0)
            slopes = (found / squares[i] / 2, found / squares[j] / 2)
            noise = math.hypot(self._scale(self.moved, "pair") / root, *(self._scale(one, "ties") * s for s in slopes))
            tied = min(1.0, 3 * squares[i] / size), min(1.0, 3 * squares[j] / size)
            square = self._squared_error(table[:, [i, j]], found, tied, size, rng)
            for entry in ((i, j), (j, i)):
                estimate[entry], privacy[entry] = found, math.sqrt(2) * noise
                sampling[entry] = math.sqrt(square / (tied[0] * tied[1]) / size)  # [rank_correlation.3]
        spread = CorrelationSpread(estimate, sampling, privacy, f"{EACH} correlation of ranks")  # [rank_correlation.3]
        return replace(blank, answer=Matrix(estimate), spread=spread)

    @property
    def moved(self) -> Fraction:
        """How far one row moves the sum of a pair over n^2. [rank_correlation.1]"""
        return Fraction(2) if self.neighbours.size_is_public else Fraction(5, 3)

    def _noisy(self, total: int, rows: int, moved: Fraction, name: str, rng: Randomness) -> float:
        """A sum of products over the square of the number of rows, in steps, plus noise. [rank_correlation.1]"""
        cost = self.stages.part(name, Laplace)
        whole = 1 << fitting_bits(cost)
        steps = total * whole // max(rows, 1) ** 2  # [rank_correlation.1]
        return float(rng.blur(steps, sensitivity=math.ceil(moved * whole), cost=cost)) / whole  # [rank_correlation.1]

    def _scale(self, moved: Fraction, name: str) -> float:
        """The scale of the noise on such a sum."""
        cost = self.stages.part(name, Laplace)
        whole = 1 << fitting_bits(cost)
        return float(laplace_scale(math.ceil(moved * whole), cost.epsilon)) / whole

    def _squared_error(
        self, pair: Floats, ratio: float, tied: tuple[float, float], size: int, rng: Randomness
    ) -> float:
        """The mean over blocks of rows times squared error, one scale of its noise added. [rank_correlation.3]"""
        many, moved = max(1, size // BLOCK), Fraction(2 if self.neighbours.size_is_public else 1)
        cost = self.stages.part("vary", Laplace)
        bits = fitting_bits(cost)
        place = coins((pair[:, 0], pair[:, 1]), rng.below(2**63)) % np.uint64(many)  # [rank_correlation.1]
        weights = (ratio * math.sqrt(tied[1] / tied[0]) / 2, ratio * math.sqrt(tied[0] / tied[1]) / 2)
        total = int(np.floor(in_blocks(pair, place.astype(np.int64), many, weights) * 2**bits).astype(np.int64).sum())
        found = float(rng.blur(total, sensitivity=int(moved) << bits, cost=cost)) / (
            many << bits
        )  # [rank_correlation.1]
        noise = self._scale(moved, "vary") / many
        return BLOCK * (max(found, 0.0) + noise)


def balance(values: Floats) -> Integers:
    """Of each row, how many values are below less how many are above; a missing one is equal to all.

    >>> balance(np.array([3.0, 1.0, 3.0, math.nan])).tolist()
    [1, -2, 1, 0]
    """
    seen = ~np.isnan(values)
    _, where, counts = np.unique(values[seen] + 0.0, return_inverse=True, return_counts=True)
    below = np.cumsum(counts) - counts
    found = np.zeros(len(values), dtype=np.int64)
    found[seen] = (2 * below + counts - len(where))[where]
    return found


def products(one: Integers, other: Integers) -> int:
    """The exact sum of products, which may be beyond 64 bits."""
    step = max(1, 2**62 // max(1, len(one) ** 2))
    return sum(int(one[at : at + step] @ other[at : at + step]) for at in range(0, len(one), step))


def in_blocks(pair: Floats, place: Integers, many: int, weights: tuple[float, float]) -> Floats:
    """Of each block the number of its rows times its squared error, over BLOCK, within 0 and 1. [rank_correlation.1]"""
    order = np.argsort(place, kind="stable")
    sizes = np.bincount(place, minlength=many)
    within = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    kept = within < LARGEST
    table = np.full((many, LARGEST, 2), np.nan)
    table[place[order][kept], within[kept]] = pair[order][kept]
    sizes = np.minimum(sizes, LARGEST)
    found = np.full(many, 1 / BLOCK)  # of a block too small to tell, about what it is without any dependence
    for at in range(0, many, TOGETHER):
        part, rows = table[at : at + TOGETHER], sizes[at : at + TOGETHER].astype(float)
        with np.errstate(invalid="ignore"):
            a, b = (
                ((v[:, :, None] > v[:, None, :]) * 1.0 - (v[:, :, None] < v[:, None, :])).sum(axis=2)
                for v in (part[:, :, 0], part[:, :, 1])
            )
        error = (a * b).sum(axis=1) - weights[0] * (a * a).sum(axis=1) - weights[1] * (b * b).sum(axis=1)
        told = rows >= 3
        error = error[told] * 3 / (rows * (rows**2 - 1))[told]
        found[at : at + TOGETHER][told] = np.minimum(rows[told] * error**2 / BLOCK, 1.0)
    return found
