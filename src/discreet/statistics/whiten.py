"""How the moments of rows bent into a ball answer to the mean and the covariance, near a standard normal distribution.

Rows w = r u, u uniform on the sphere, r^2 chi-square with d degrees; v = t(r) u is what the ball leaves of them. For a
distribution near N(0, I), with mean m and covariance I + E, to first order by the scores w and (w w' - I) / 2:

    E v     = a1 m,                    a1 = E t r / d
    E v v'  = k I + a E + b tr(E) I,   k = E t^2 / d,  a = E t^2 r^2 / (d (d + 2)),  b = (a - k) / 2

To second order (w' E w)^2 and the like enter by the fourth score, and with s = E t^2 r^4 / (d (d + 2) (d + 4)) add

    (s - a) (E^2 + tr(E) E / 2) + (s - 2 a + k) (2 tr(E^2) + tr(E)^2) / 8 I

In the coordinates in which the Frobenius norm is Euclidean, a matrix without trace is multiplied by a and one along I
by a + d b; v v' has the variances 2 E t^4 / (d (d + 2)) and (E t^4 - (E t^2)^2) / d there, and v has E t^2 / d.
Inverting them is what lets a ball be small, and the noise with it (Huber 1964; Tyler 1987 for a ball of no size).

A frame in which rows look round, found from differences of rows: no centre, no bounds, no scale is known before.

Releases
    Disjoint pairs of rows, formed by chance, give differences z = (x - x') / sqrt 2,
    of mean 0 and with the covariance of a row. For each column a distance that a public share of |z_j| exceeds; several
    times the noisy sum of u u', u the direction of z in the frame so far; last the noisy median of its lengths.

Promise
    [whiten.1] If one row changes one difference, which is exchanged, added or taken away, the release costs the parts
          of `Whitening`: a Choice for each column, a Gaussian for each turn and one more Choice for the length.
    [whiten.2] Whether it ends without a frame is decided by released numbers.
    [whiten.3] `by_chance`, given its free draw: under REPLACE one row is in one pair, at the same place, and once among
          the other rows it returns, likewise. Under ADD_OR_REMOVE one row more adds or exchanges one pair, or takes one
          away, and adds one of the other rows, or none; all else stays in its order.
    [whiten.4] Both are the same, or under REPLACE have the same distribution, for the rows of the table in any order.

Why
    [whiten.1] Distances: [locate.2], and the median length [locate.1], on a list of numbers; turns: [gram.2] and
    [gram.3] on the list of differences. All of these hold for one exchanged and for one added or taken away, and are
    calibrated to the larger of the two sensitivities, that of REPLACE. The first so many of a list into which one is
    put, or from which one is taken, have one exchanged, added or taken away too. Each uses nothing but the differences,
    a number of them that is public or was released, and what was released before: adaptive composition. A length is a
    fixed function of one difference by [gram.4].
    [whiten.2] Column scales and the last length beyond [1e-150, 1e150] end it, and are what was released.
    [whiten.3] REPLACE: n is public and the order is drawn without a look at the rows. ADD_OR_REMOVE: [sample.1], with
    buckets and a bound that are fixed by a released number.
    [whiten.4] REPLACE: to reorder the table is to compose the order that is drawn with a fixed one, and every order is
    as likely as any other. ADD_OR_REMOVE: rows are taken in the order of their places, which do not depend on where a
    row stands ([sample.1]).

Needs
    About 60 differences for each 1 / epsilon of a choice; d times the noise of a turn well below 1.

Accuracy
    d E u u' is I in one frame, Tyler's: for normal rows the one in which they are round. A turn by the inverse root
    evens out what is above the noise, so the condition number falls by about 1 / (d times the noise) in each. At its
    end the covariance of z in the frame is I, but for a relative error of about (d + 2) times the noise of the last
    turn. There is such a frame unless more than 1 - 1 / d of the differences lie in one hyperplane; with a truth value
    so rare the frame is less round, and the noise in it wider.

Source
    Biswas, Dong, Kamath and Ullman 2020 (CoinPress) for the iteration, there with clipped rows and a known range; Tyler
    1987 for directions, which need no radius: their noise is d + 2 where that of rows clipped at g is g^2.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

import numpy as np

from discreet.friendly.find_centre import MOST
from discreet.friendly.sample import Places
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Choice, Gaussian, Loss, compose
from discreet.privacy.mechanism import Randomness
from discreet.stages.clip import Floats
from discreet.stages.declared import LARGEST, SMALLEST
from discreet.stages.gram import Frame, Shape, lengths, noisy_gram
from discreet.stages.locate import far_distance, median_distance
from discreet.tables.matrix import Stored

NODES: Final = 160  # of Gauss's rule, in each of the pieces between which t is smooth
TAIL: Final = 1e-17
ROUND: Final = 3.0  # times I: within it slopes are taken at I
CURVED: Final = 1 / 4  # of the first order: the second is cut to that, so that it can be inverted
NEAR: Final = 0.7  # of I: it is taken into account if the first order is no more, so not where rows are flat
BENDS: Final = 20  # steps in which it is inverted
GRID: Final = 60  # radii that are tried


@dataclass(frozen=True, slots=True, kw_only=True)
class EllipticResponse:
    """k, a, a + d b, s and a1 of the module's docstring, and the variances of one row."""

    level: float
    apart: float
    along: float
    bend: float
    shift: float
    apart_variance: float
    along_variance: float
    shift_variance: float

    def covariance(self, second: Floats) -> Floats:
        """The covariance whose bent second moment this is; far from round, where no slope holds, but for its size."""
        size = len(second)
        if float(np.linalg.eigvalsh(second)[-1]) > ROUND * self.level:
            return second / self.level
        excess = second - self.level * np.eye(size)
        spread = self._linear(excess)
        near = float(np.abs(np.linalg.eigvalsh(spread)).max()) < NEAR
        for _ in range(BENDS if near else 0):
            spread = self._linear(excess - self._curved(spread))
        return np.asarray(np.eye(size) + spread)

    def _linear(self, excess: Floats) -> Floats:
        """E of which this is the first order."""
        scale = float(np.trace(excess)) / len(excess) * np.eye(len(excess))
        return np.asarray(scale / self.along + (excess - scale) / self.apart)

    def _curved(self, spread: Floats) -> Floats:
        """The second order, of a spread cut to where it is a small part of the first."""
        values, vectors = np.linalg.eigh(spread)
        size, curve = len(values), self.bend - 2 * self.apart + self.level
        apart = self.bend - self.apart
        along = apart * (1 + size / 2) + curve * size * (size + 2) / 8  # of I
        scale, most = values.mean(), CURVED * self.along / max(abs(along), 1e-9)
        wide = CURVED * self.apart / max(abs(apart), 1e-9)
        values = np.clip(scale, -most, most) + np.clip(values - scale, -wide, wide)
        trace, squares = float(values.sum()), float((values**2).sum())
        second = apart * (values**2 + trace * values / 2) + curve * (2 * squares + trace**2) / 8
        return np.asarray((vectors * second) @ vectors.T)


@lru_cache(maxsize=512)
def response(size: int, radius: float, shape: Shape) -> EllipticResponse:
    """The constants for rows of `size` columns and a ball of this radius."""
    lengths, chances = _chi(size, radius)
    if shape == "clip":
        bent = np.minimum(lengths, radius)
    elif shape == "taper":
        bent = np.clip(2 * radius - lengths, 0.0, lengths)
    else:
        bent = np.full_like(lengths, radius)
    square, fourth = float(chances @ bent**2), float(chances @ bent**4)
    slope = float(chances @ (bent * lengths) ** 2) / (size * (size + 2))
    level = square / size
    return EllipticResponse(
        level=level,
        apart=slope,
        along=slope + size * (slope - level) / 2,
        bend=float(chances @ (bent * lengths**2) ** 2) / (size * (size + 2) * (size + 4)),
        shift=float(chances @ (bent * lengths)) / size,
        apart_variance=2 * fourth / (size * (size + 2)),
        along_variance=(fourth - square**2) / size,
        shift_variance=square / size,
    )


def _chi(size: int, radius: float) -> tuple[Floats, Floats]:
    """Lengths of standard normal rows, and their chances: Gauss's rule between 0, R, 2 R and the end of the tail."""
    from scipy.special import gammaln

    end = length_of(TAIL, size)
    edges = sorted({0.0, min(radius, end), min(2 * radius, end), end})
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    parts = [((b - a) / 2 * nodes + (a + b) / 2, (b - a) / 2 * weights) for a, b in pairwise(edges)]
    lengths, steps = (np.concatenate(part) for part in zip(*parts, strict=True))
    log = (size - 1) * np.log(lengths) - lengths**2 / 2 - (size / 2 - 1) * math.log(2) - gammaln(size / 2)
    chances: Floats = steps * np.exp(log)
    return lengths, chances / chances.sum()


def length_of(miss: float, size: int, off: float = 0.0) -> float:
    """What a normal row of `size` columns, at a distance `off` from the centre, exceeds with this chance."""
    from scipy.special import chdtri, chndtrix

    return math.sqrt(float(chndtrix(1 - miss, size, off * off) if off else chdtri(size, miss)))


def radius_for_covariance(size: int, rows: int, noise: float, shape: Shape) -> float:
    """The radius at which a covariance is most accurate: `noise` is s of the mean of v v', in units of R^2. Public."""
    apart = (size - 1) * (size + 2) / 2

    def error(radius: float) -> float:
        at, blur = response(size, radius, shape), (noise * radius**2) ** 2
        if at.along <= 0 or at.apart <= 0:
            return math.inf
        return apart * (at.apart_variance / rows + blur) / at.apart**2 + (at.along_variance / rows + blur) / at.along**2

    return min(_radii(size), key=error)


def radius_for_mean(size: int, rows: int, noise: float, shape: Shape) -> float:
    """The radius at which a mean is most accurate: `noise` is that of the mean of v, in units of R. Public."""

    def error(radius: float) -> float:
        at = response(size, radius, shape)
        return (at.shift_variance / rows + (noise * radius) ** 2) / at.shift**2 if at.shift > 0 else math.inf

    return min(_radii(size), key=error)


@lru_cache(maxsize=64)
def _radii(size: int) -> tuple[float, ...]:
    """From the typical length of a row to one that hardly any reaches."""
    low, high = length_of(0.7, size), length_of(1e-9, size)
    return tuple(low * (high / low) ** (step / (GRID - 1)) for step in range(GRID))


MOST_PAIRS: Final = 1 << 17  # differences beyond which a frame is good enough
NATS: Final = 28.0  # records times epsilon that a distance needs beyond it: 2 (7 of prior + ln 1000)


@dataclass(frozen=True, slots=True)
class Whitening:
    """What a frame costs: each column's distance and the length, and each turn.

    `outside` is small where most values may be the same, near a half where many rows may be errors.
    """

    columns: int
    distance: Choice
    turns: tuple[Gaussian, ...]
    outside: float = 1 / 8

    @property
    def loss(self) -> Loss:
        """Every draw. [whiten.1]"""
        return compose(*(self.distance,) * (self.columns + 1), *self.turns)

    def share(self, pairs: int) -> float:
        """The public share of |z_j| that exceeds its distance: `outside`, more where there are few."""
        return max(self.outside, NATS / (pairs * float(self.distance.epsilon)))


def measured(pairs: int) -> int:
    """So many of the differences give the distances and the length: more would be slow, and no better. Public."""
    return min(pairs, 1 << 13 if pairs < 1 << 15 else 1 << 12)


PER_BUCKET: Final = 4  # rows of which two are a pair, where the number of rows is private and there are enough of them


def buckets(rows: int) -> tuple[int, float]:
    """How many buckets of places may hold a pair, for a released number of rows, and their share of all places."""
    number = max(1, min(rows // 2, MOST_PAIRS))
    return number, min(1.0, PER_BUCKET * number / max(rows, 1))


def pairs_of(rows: int, neighbours: Neighbours) -> int:
    """How many pairs there are, or are expected of a released number of rows: a bucket has a Poisson number of them."""
    if neighbours.size_is_public:
        return min(rows // 2, MOST_PAIRS)
    number, share = buckets(rows)
    each = share * rows / number
    return math.floor(number * (1 - (1 + each) * math.exp(-each)))


def by_chance(rows: Floats, size: int, neighbours: Neighbours, rng: Randomness) -> tuple[Floats, Floats]:
    """Disjoint pairs, one row after the other, and about MOST rows; `size` is public or was released. [whiten.3]"""
    if neighbours.size_is_public:
        order = rng.permutation(size)  # [whiten.3], [whiten.4]
        return rows[order[: 2 * pairs_of(size, neighbours)]], rows[order[:MOST]]
    places = Places(Stored((rows,), rows.shape[1]), rng)
    return places.pairs(*buckets(size)), places.below(MOST / size)  # [whiten.3], [whiten.4]


def differences(paired: Floats) -> Floats:
    """Of rows 0 and 1, 2 and 3, ..., divided by sqrt 2: a fixed function of two rows each. [whiten.1]"""
    with np.errstate(all="ignore"):
        return np.asarray((paired[0::2] - paired[1::2]) * math.sqrt(0.5))


def find_frame(apart: Floats, pairs: int, costs: Whitening, rng: Randomness) -> Frame | str:
    """The frame about 0 in which differences look standard normal, or why there is none. [whiten.1]

    `pairs` is how many differences there are, more or less: a number that is public or was released.
    """
    from scipy.special import chdtri, ndtri

    size, looked = costs.columns, measured(pairs)
    some, share = apart[:looked], costs.share(looked)  # [whiten.1]
    beyond = math.ceil(share * looked)
    distances = [
        far_distance(np.ascontiguousarray(column), centre=0.0, beyond=beyond, cost=costs.distance, rng=rng)
        for column in some.T
    ]  # [whiten.1]
    odd = _odd(distances)
    if odd is not None:  # [whiten.2]
        return f"{odd} in column {_first_odd(distances)}"
    units = np.array(distances) / float(-ndtri(share / 2))
    turn = np.eye(size)
    for cost in costs.turns:
        total, noise = noisy_gram(
            apart, Frame.of(units, turn), 1.0, "sphere", cost=cost, neighbours=Neighbours.REPLACE, rng=rng
        )  # [whiten.1]
        turn = inverse_root(total / pairs, noise / pairs) @ turn
    frame = Frame.of(units, turn)
    length = median_distance(
        lengths(some, frame), centre=0.0, cost=costs.distance, neighbours=Neighbours.REPLACE, rng=rng
    )  # [whiten.1]
    if (none := _odd([length])) is not None:  # [whiten.2]
        return f"{none} in some direction"
    return Frame.of(units, turn * (math.sqrt(float(chdtri(size, 0.5))) / length))


def inverse_root(matrix: Floats, noise: float) -> Floats:
    """The inverse root of a noisy symmetric matrix, its eigenvalues not below the size of the noise, of unit size."""
    values, vectors = np.linalg.eigh(matrix)
    floor = max(noise * math.sqrt(2 * len(matrix)), 1e-9)
    root = (vectors / np.sqrt(np.maximum(values, floor))) @ vectors.T
    return np.asarray(root / np.abs(root).max())


def _odd(found: Sequence[float]) -> str | None:
    """A scale that is none."""
    if min(found) <= SMALLEST:
        return "most rows seem to be one and the same"
    return "the data reach beyond 1e150; rescale them" if max(found) >= LARGEST else None


def _first_odd(found: Sequence[float]) -> int:
    return next(place for place, distance in enumerate(found) if not SMALLEST < distance < LARGEST)
