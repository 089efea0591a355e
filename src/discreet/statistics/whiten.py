"""A frame in which rows look round, found from differences of rows: no centre, no bounds, no scale is known before.

Releases
    Disjoint pairs of rows, the order drawn by chance, give differences z = (x - x') / sqrt 2, of mean 0 and with the
    covariance of a row. For each column a distance that a public share of |z_j| exceeds; several times the noisy sum
    of u u', u the direction of z in the frame so far; last the noisy median of its lengths.
Promise
    [WH1] The release costs the parts of `Whitening`, under REPLACE: a Choice for each column, a Gaussian for each turn
          and one more Choice for the length.
    [WH2] Whether it ends without a frame is decided by released numbers.
Why
    [WH1] The order of rows is drawn without a look at them and n is public, so one row is in at most one pair, at the
    same place, and one difference changes. Distances: [W4] of stable/locate.py, and the median length [W3], on a
    list of numbers of which one changes; turns: [GG2] and [GG3] of stable/gram.py on the list of differences. Each uses
    nothing but the differences and what was released before: adaptive composition. A length is a fixed
    function of one difference by [GF1] of stable/frame.py.
    [WH2] Column scales and the last length beyond [1e-150, 1e150] end it, and are what was released.
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
from typing import Final

import numpy as np

from discreet.promise.loss import Choice, Gaussian, Loss, compose
from discreet.promise.mechanism import Randomness
from discreet.promise.neighbours import Neighbours
from discreet.stable.clipped import Floats
from discreet.stable.declared import LARGEST, SMALLEST
from discreet.stable.frame import Frame, blocks
from discreet.stable.gram import lengths_of, noisy_gram
from discreet.stable.locate import far_distance, median_distance

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
        """Every draw. [WH1]"""
        return compose(*(self.distance,) * (self.columns + 1), *self.turns)

    def share(self, pairs: int) -> float:
        """The public share of |z_j| that exceeds its distance: `outside`, more where there are few."""
        return max(self.outside, NATS / (pairs * float(self.distance.epsilon)))


def measured(pairs: int) -> int:
    """So many of the differences give the distances and the length: more would be slow, and no better. Public."""
    return min(pairs, 1 << 13 if pairs < 1 << 15 else 1 << 12)


def differences(rows: Floats, rng: Randomness) -> Floats:
    """Of disjoint pairs of rows, divided by sqrt 2. Which pairs, is public chance and public numbers. [WH1]"""
    used = min(len(rows), 2 * MOST_PAIRS) // 2 * 2
    every = (np.arange(used) * len(rows)) // max(used, 1)
    order = every[rng.permutation(used)]  # [WH1]
    with np.errstate(all="ignore"):
        found = (rows[order[: used // 2]] - rows[order[used // 2 :]]) * math.sqrt(0.5)
    return np.asarray(found)


def find_frame(apart: Floats, costs: Whitening, rng: Randomness) -> Frame | str:
    """The frame about 0 in which differences look standard normal, or why there is none. [WH1]"""
    from scipy.special import chdtri, ndtri

    size, pairs = costs.columns, len(apart)
    some = apart[: measured(pairs)]
    share = costs.share(len(some))
    beyond = math.ceil(share * len(some))
    distances = [
        far_distance(np.ascontiguousarray(column), centre=0.0, beyond=beyond, cost=costs.distance, rng=rng)
        for column in some.T
    ]  # [WH1]
    odd = _odd(distances)
    if odd is not None:  # [WH2]
        return f"{odd} in column {_first_odd(distances)}"
    units = np.array(distances) / float(-ndtri(share / 2))
    turn = np.eye(size)
    for cost in costs.turns:
        total, noise = noisy_gram(
            apart, Frame.of(units, turn), 1.0, "sphere", cost=cost, neighbours=Neighbours.REPLACE, rng=rng
        )  # [WH1]
        turn = inverse_root(total / pairs, noise / pairs) @ turn
    frame = Frame.of(units, turn)
    length = median_distance(
        lengths(some, frame), centre=0.0, cost=costs.distance, neighbours=Neighbours.REPLACE, rng=rng
    )  # [WH1]
    if (none := _odd([length])) is not None:  # [WH2]
        return f"{none} in some direction"
    return Frame.of(units, turn * (math.sqrt(float(chdtri(size, 0.5))) / length))


def lengths(rows: Floats, frame: Frame) -> Floats:
    """How long each row is in the frame; 0 where it is missing. A fixed function of each. [WH1]"""
    found = []
    for block in blocks(rows, rows.shape[1]):
        seen, lost = frame.turned(block)
        found.append(lengths_of(seen) * frame.step)
        if lost is not None:
            found[-1][lost] = 0.0
    return np.concatenate(found) if found else np.zeros(0)


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
