"""The correlation of columns of any shape: no bounds, no model, an interval for each entry.

Releases
    Where the number of rows is private, a noisy one. For each column a median c and a distance C from it that about m0
    rows exceed; with R = 2 C, u = clip((x - c) / R, +-1), the noisy sums of u and of u^2. For each pair of columns the
    noisy sums of ((u + v) / 2)^2 and ((u - v) / 2)^2, whose difference is that of u v; last, with all of these, that
    of the squares of the row's influence on the correlation.
Promise
    [correlation.1] Pure epsilon under both relations.
    [correlation.2] Refusals read public numbers and earlier answers only.
    [correlation.3] The interval of each entry is for the population's correlation of the limited values, by the normal
          approximation, whatever their joint distribution is.
Why
    [correlation.1] Adaptive composition of [additive.1] for the count, [locate.1], [locate.2], and sums of fixed
    functions of one row. A row is whole numbers of steps k in [-h, h], h = 2^bits ([clip.1]). It adds k to one sum and
    floor(k^2 / h), in [0, h], to the next: moves of h and h, under REPLACE 2 h and h. To a pair it adds
    floor((k + l)^2 / 4 h) and floor((k - l)^2 / 4 h), neither negative and together at most (k^2 + l^2) / 2 h <= h: one
    row added moves the pair by at most h in L1, one replaced by at most 2 h. A square of influences is cut to [0, h].
    The parts are exact fractions of epsilon ([allocation.1]).
    [correlation.2] Under REPLACE n is public and the refusal of too few rows comes before any draw; under ADD_OR_REMOVE
    the noisy n decides. Distances beyond 1e300 and columns that do not vary are refused after release.
    [correlation.3] With a = (u - mean) / sd, b likewise, the influence of a row on the correlation r is
    a b - r (a^2 + b^2) / 2, and the sampling variance of r is the mean of its square, over n. That mean is released; as
    its noise could make it too small, one scale of the noise is added. The noise on r is the sum of the noises, each
    times the derivative of r, and is taken as one Laplace variable of the same variance, which is a little wide.
Needs
    4 m0 rows, m0 = (2 / e) (7 + ln 1000), e = epsilon / (5 d) for d columns: n epsilon of about 1,120 for two columns.
    A row with a missing entry is left out by default; kept, the entry counts as the median.
Accuracy
    The share of a pair is 0.38 epsilon over the number of pairs, so that many columns need many rows.
Source
    The influence function of a correlation: Devlin, Gnanadesikan and Kettenring 1975. The pair of squares is ours.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from discreet.accounting.allocation import Allocation, Share
from discreet.errors import BadInput, Refused
from discreet.noise.distributions import laplace_scale
from discreet.privacy.declaration import Columns, Public, Reads, number, statistic
from discreet.privacy.exact import Number, exact, show, show_range
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.loss import Approximate, Choice, Laplace, Loss
from discreet.privacy.mechanism import Mechanism, Randomness, promised, refusal_of, what_to_do
from discreet.privacy.release import Provenance, Release
from discreet.privacy.values import Matrix
from discreet.stages.clip import Floats, count_error, fitting_bits, noisy_size, steps_of
from discreet.stages.locate import BEYOND, WIDEST, far_distance, finest, middle
from discreet.statistics.rank_correlation import EACH, MOST, CorrelationSpread, RankCorrelation
from discreet.tables.kept_rows import FLOAT, kept
from discreet.tables.matrix import long_matrix
from discreet.tables.streams import Numbers, added, column_of, fold
from discreet.worlds.assumptions import MANY, About, World
from discreet.worlds.shapes import AssumedTable

COUNT, CENTRE, FAR = Fraction(1, 20), Fraction(1, 10), Fraction(1, 5)  # shares of epsilon, those of columns together
MEAN, SQUARE, VARY = Fraction(2, 25), Fraction(7, 50), Fraction(1, 20)  # the pairs have the rest
REACH: Final = 2  # the clip, in units of the distance that m0 rows exceed
SURE: Final = 3.0  # times its noise that a variance must be
BLOCK: Final = 1 << 16  # rows whose steps are held at once
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Correlation:
    """The correlation of `dimension` columns, a d x d array.

    >>> from discreet.noise.randomness import Seeded
    >>> import numpy as np
    >>> rows = np.array([[k % 7, k % 11 + k % 7] for k in range(20_000)])
    >>> release = Correlation(epsilon=2.0, dimension=2).release(rows, Seeded(1))
    >>> bool(0.4 < release.value[0, 1] < 0.65)
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
        """Pure epsilon: the draws add up to it. [correlation.1]"""
        return Approximate(self.epsilon, 0)

    @property
    def stages(self) -> Allocation:
        """What each draw costs. [correlation.1]"""
        pairs = math.comb(self.dimension, 2)
        return Allocation.of(self.epsilon).split(
            size=None if self.neighbours.size_is_public else Share(COUNT),
            centre=Share(CENTRE, Choice, self.dimension),
            scale=Share(FAR, Choice, self.dimension),
            mean=Share(MEAN, times=self.dimension),
            square=Share(SQUARE, times=self.dimension),
            pair=Share(times=pairs),
            vary=Share(VARY, times=pairs),
        )

    @property
    def beyond(self) -> int:
        """m0: how many rows lie beyond the distance found for a column. Public."""
        return math.ceil(2 * BEYOND * self.dimension / float(exact(self.epsilon) * FAR))

    def check(self, size: int | None) -> None:
        """Refuse so few rows that a quarter of them is fewer than `beyond`. [correlation.2]"""
        if size is not None and 4 * self.beyond > size:
            noisy = "" if self.neighbours.size_is_public else " (a noisy number)"
            to_do = what_to_do(size, self.epsilon, 4 * self.beyond, "give fewer columns", noisy=bool(noisy))
            raise Refused(
                f"there are {size} rows{noisy}; a correlation of {self.dimension} columns without bounds needs at "
                f"least {4 * self.beyond} at epsilon {show(self.epsilon)}; {to_do}"
            )

    def release(self, rows: Any, rng: Randomness) -> Release[Matrix]:
        """The correlations and the interval of each, or a refusal."""
        stages, wide = self.stages, self.dimension
        table = kept(long_matrix(rows, wide), FLOAT * wide)
        public = len(table) if self.neighbours.size_is_public else None
        if public == 0:
            raise BadInput("the data are empty (0 rows); a statistic needs at least 1 row")
        size = public or noisy_size(table, stages.part("size", Laplace), rng)  # [correlation.1]
        shown = {"neighbours": self.neighbours, "rows": public, "columns": wide, "costs": stages.shown}
        blank: Release[Matrix] = Release(
            self.guarantee, Provenance("Correlation", shown, rng.secure), name="correlation"
        )
        if refusal := refusal_of(self, size):  # [correlation.2]
            return replace(blank, refusal=refusal)
        clips = [self._clip(column_of(table, place), stages, rng) for place in range(wide)]  # [correlation.1]
        if any(radius > REACH * WIDEST for _, radius in clips):  # [correlation.2]
            return replace(blank, refusal="a column reaches beyond 1e300; rescale it")
        found = _Sums(table, clips, stages, size=size, neighbours=self.neighbours, rng=rng)
        entries = {pair: found.entry(pair) for pair in combinations(range(wide), 2)}
        flat = next((pair for pair, entry in entries.items() if entry is None), None)
        if flat is not None:  # [correlation.2]
            return replace(
                blank,
                refusal=f"columns {flat[0] + 1} and {flat[1] + 1} vary too little beside the noise to say how they "
                "vary together; leave out a column that hardly varies, bring more rows, or a larger epsilon",
            )
        estimate, sampling, privacy = np.eye(wide), *np.zeros((2, wide, wide))
        known = [entry for entry in entries.values() if entry is not None]
        for pair, entry, vary in zip(entries, known, found.vary(known), strict=True):
            for i, j in (pair, pair[::-1]):
                estimate[i, j], sampling[i, j], privacy[i, j] = entry.r, math.sqrt(vary / size), entry.noise
        history = replace(
            blank.provenance, notes=(f"fewer than {2 * self.beyond} people beyond a range may leave no trace",)
        )
        ends = ", ".join(show_range(centre - radius, centre + radius) for centre, radius in clips)
        about = f"{EACH} correlation of values limited to {ends}"
        spread = CorrelationSpread(estimate, sampling, privacy, about, clips=tuple(clips))  # [correlation.3]
        return replace(blank, answer=Matrix(estimate), spread=spread, provenance=history)

    def _clip(self, values: Numbers, stages: Allocation, rng: Randomness) -> tuple[float, float]:
        """The centre and the radius of one column. [correlation.1]"""
        centre = middle(values, cost=stages.part("centre", Choice), neighbours=self.neighbours, rng=rng)
        cost = stages.part("scale", Choice)
        distance = far_distance(values, centre=centre, beyond=self.beyond, cost=cost, rng=rng, least=finest(centre))
        return centre, REACH * max(distance, 1 / WIDEST)


class _Sums:
    """The noisy means of all sums over rows, and from them one correlation after the other."""

    def __init__(
        self,
        table: Any,
        clips: list[tuple[float, float]],
        stages: Allocation,
        *,
        size: int,
        neighbours: Neighbours,
        rng: Randomness,
    ) -> None:
        self.table, self.clips, self.stages, self.size, self.rng = table, clips, stages, size, rng
        self.moved = 2 if neighbours.size_is_public else 1
        names = ("mean", "square", "pair", "vary")
        self.costs = {name: stages.part(name, Laplace) for name in names}
        self.bits = min(fitting_bits(cost) for cost in self.costs.values())
        first, second, *both = fold(partial(_sums, clips=tuple(clips), bits=self.bits), added, table)
        self.first = [self._noisy(total, "mean", self.moved) for total in first]  # [correlation.1]
        self.second = [self._noisy(total, "square", 1) for total in second]  # [correlation.1]
        self.both = {
            pair: self._noisy(np.array(total, dtype=object), "pair", self.moved)
            for pair, total in zip(combinations(range(len(clips)), 2), both, strict=True)
        }

    def _noisy(self, total: Any, name: str, moved: int) -> Any:
        """A sum of steps plus noise, as a mean. [correlation.1]"""
        blurred = self.rng.blur(total, sensitivity=moved << self.bits, cost=self.costs[name])  # [correlation.1]
        return blurred / (self.size << self.bits)

    def _noise(self, name: str, moved: int) -> float:
        """The scale of the noise on such a mean."""
        return float(laplace_scale(moved << self.bits, self.costs[name].epsilon)) / (self.size << self.bits)

    def entry(self, pair: tuple[int, int]) -> "_Entry | None":
        """The estimate for a pair; None where the columns hardly vary. [correlation.3]"""
        i, j = pair
        mean, other = float(self.first[i]), float(self.first[j])
        up, down = (float(part) for part in self.both[pair])
        mean_noise, pair_noise = self._noise("mean", self.moved), self._noise("pair", self.moved)
        level = up + down - (mean**2 + other**2) / 2 + 2 * mean_noise**2  # the mean of both variances
        gap = (float(self.second[i]) - float(self.second[j]) - mean**2 + other**2) / 2  # half their difference
        if level - abs(gap) < SURE * math.hypot(2 * pair_noise, self._noise("square", 1)):
            return None
        root = math.sqrt((level - gap) * (level + gap))
        r = min(max((up - down - mean * other) / root, -1.0), 1.0)
        slopes = {
            "up": 1 / root - r * level / root**2,
            "down": -1 / root - r * level / root**2,
            "mean": -other / root + r * mean * (level - gap) / root**2,
            "other": -mean / root + r * other * (level + gap) / root**2,
            "square": r * gap / root**2 / 2,
        }
        counted = count_error(self.stages, self.size) * (
            slopes["up"] * up
            + slopes["down"] * down
            + slopes["mean"] * mean
            + slopes["other"] * other
            + slopes["square"] * float(self.second[i] - self.second[j])
        )
        noise = math.sqrt(
            2 * pair_noise**2 * (slopes["up"] ** 2 + slopes["down"] ** 2)
            + 2 * mean_noise**2 * (slopes["mean"] ** 2 + slopes["other"] ** 2)
            + 4 * (self._noise("square", 1) * slopes["square"]) ** 2
            + counted**2
        )
        return _Entry(pair, r, noise, (mean, other), (math.sqrt(level + gap), math.sqrt(level - gap)))

    def vary(self, entries: "list[_Entry]") -> list[float]:
        """The mean square of the rows' influences on each, one scale of its noise added; of all in one pass.
        [correlation.1], [correlation.3]"""
        most = min(400.0, max(16.0, self.size * float(self.costs["vary"].epsilon) / 20))  # public or released
        kernel = partial(_influences, clips=tuple(self.clips), bits=self.bits, entries=tuple(entries), most=most)
        noise = self._noise("vary", 1)
        means = [float(self._noisy(total, "vary", 1)) for total in fold(kernel, added, self.table)]  # [correlation.1]
        return [most * max(mean + noise, noise) for mean in means]


@dataclass(frozen=True, slots=True)
class _Entry:
    """The estimate for a pair, the deviation of its noise, and the two columns' means and deviations: all released."""

    pair: tuple[int, int]
    r: float
    noise: float
    means: tuple[float, float]
    scales: tuple[float, float]


Clips = tuple[tuple[float, float], ...]


def _steps(given: Iterator[Floats], clips: Clips, bits: int) -> Iterator[list[Integers]]:
    """All rows as whole numbers of steps, column by column, in blocks."""
    for piece in given:
        for start in range(0, len(piece), BLOCK):
            part = piece[start : start + BLOCK]
            yield [steps_of(part[:, place], *clip, bits=bits)[0] for place, clip in enumerate(clips)]


def _sums(given: Iterator[Floats], *, clips: Clips, bits: int) -> tuple[tuple[int, ...], ...]:
    """A kernel: the sums of the columns and of their squares; of each pair, of the squares of sum and difference."""
    pairs = list(combinations(range(len(clips)), 2))
    found = [[0] * len(clips), [0] * len(clips), *([0, 0] for _ in pairs)]
    for steps in _steps(given, clips, bits):
        for place, column in enumerate(steps):
            found[0][place] += int(column.sum())
            found[1][place] += int((column * column >> bits).sum())
        for both, (i, j) in zip(found[2:], pairs, strict=True):
            for sign, move in enumerate((steps[i] + steps[j], steps[i] - steps[j])):
                both[sign] += int((move * move >> bits + 2).sum())
    return tuple(map(tuple, found))


def _influences(
    given: Iterator[Floats], *, clips: Clips, bits: int, entries: tuple[_Entry, ...], most: float
) -> tuple[int, ...]:
    """A kernel: for each pair the sum of the squares of the rows' influences, in steps of `most`."""
    totals, whole = [0] * len(entries), 2**bits
    for steps in _steps(given, clips, bits):
        for place, one in enumerate(entries):
            a, b = ((steps[column] / whole - one.means[k]) / one.scales[k] for k, column in enumerate(one.pair))
            influence: Floats = a * b - one.r * (a * a + b * b) / 2
            totals[place] += int(np.floor(np.minimum(influence**2 / most, 1.0) * whole).astype(np.int64).sum())
    return tuple(totals)


def _reads(options: Mapping[str, Any]) -> Reads:
    return number("several", streams=options.get("method") != "spearman")  # ranks are of all values at once


def _world(about: About) -> World:
    about.option("scale", 1.0)  # a correlation has no unit
    table, ranked = AssumedTable.of(about), about.given.get("method") == "spearman"

    def plain(x: Any) -> Any:
        return np.corrcoef(np.argsort(np.argsort(x, axis=0), axis=0) if ranked else x, rowvar=False)

    return World(
        make=lambda g, n: {"x": table.draw(g, n)}, truth=np.eye(table.columns), plain=plain, measure=MANY, runs=24
    )


@statistic({"x": _reads}, groups=True, world=_world)
def correlation(
    people: Public, x: Columns, *, epsilon: Number, method: Literal["pearson", "spearman"] = "pearson"
) -> Mechanism[Matrix]:
    """The correlation of the columns, a named matrix, with an interval for each entry. No bounds needed. Pure.

    `x` is an array, a data frame or an Arrow table of numbers, a row for each person. Each column's values are limited
    to a range that is found privately and that few rows lie beyond; the interval is for the correlation of the limited
    values and names the ranges. It holds whatever the joint distribution is, and needs no delta.

    method="spearman" is the correlation of ranks, equal values sharing the middle one of theirs. It limits nothing,
    is not moved by a few extreme values, and needs fewer rows.

    >>> import discreet
    >>> import numpy as np
    >>> x = np.array([[k % 7, k % 11 + k % 7] for k in range(20_000)])
    >>> r = discreet.correlation(x, epsilon=2.0, rng=discreet.Seeded(1))
    >>> bool(0.4 < r.value[0, 1] < 0.65)
    True
    """
    if method not in ("pearson", "spearman"):
        raise BadInput(f"method is {method!r}; give 'pearson' or 'spearman'")
    kind = RankCorrelation if method == "spearman" else Correlation
    return kind(epsilon, dimension=len(x.names), neighbours=people.neighbours, unit=people.unit)
