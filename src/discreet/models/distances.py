"""What is read off the rows' distances to their nearest centres: a radius that holds most of them, and the loss.

Releases
    `holding`: a float64 that about `beyond` of the distances exceed, by the exponential mechanism over float64.
    `noisy_loss`: the sum of min(distance, cap)^2, plus noise.
Promise
    [KR1] `holding` is Choice(epsilon) under both relations: one record moves no score by more than 1.
    [KR2] One row moves the sum of min(distance, cap)^2 by at most cap^2 under both relations, and what is summed is
          whole: Laplace noise makes it pure, Gaussian noise costs Gaussian(mu, slack).
Why
    [KR1] As [W4] of stable/locate.py: distances enter by their cells, laid out over them, so that one record more
    raises the number beyond any t by 0 or 1. Only the order statistics from the top within a fixed window around the
    `beyond`th are handed on, with zeros where there are fewer: the number beyond t is cut to a fixed interval, which is
    1-Lipschitz. `beyond` is public or was released, so the score | #beyond t - beyond | moves by 1 at most.
    [KR2] Each row becomes the whole number floor(2^20 (min(distance, cap) / cap)^2), between 0 and 2^20, by a fixed
    function of its own distance ([KA3] of models/assign.py). Then [N1] of noise/blur.py, or [TN1] of friendly/noisy.py.
Needs
    Distances to public or released centres. A row that is nowhere counts as at a distance of 0.
Accuracy
    [KR1] Two-sided exponential rank errors of scale 2 / epsilon, cells of 1/64 of a binade.
Source
    Smith 2011; stable/locate.py.
"""

from fractions import Fraction
from math import ceil
from typing import Final

import numpy as np

from discreet.friendly.noisy import blurred
from discreet.models.assign import Floats
from discreet.noise.floats import Staircase
from discreet.noise.lattice import total
from discreet.promise.exact import exact
from discreet.promise.loss import Choice, Gaussian, Laplace
from discreet.promise.mechanism import Randomness
from discreet.stable.locate import FINE, LARGEST, NATS, cells, laid_out

STEPS: Final = 20  # binary digits of a squared distance, in units of the cap


def holding(distances: Floats, *, beyond: int, cost: Choice, rng: Randomness) -> float:
    """A float64 that about `beyond` of the distances exceed; missing counts as 0. [KR1]"""
    reach, size = ceil(2 * NATS / exact(cost.epsilon)), len(distances)
    low, high = max(0, beyond - reach), beyond + reach  # ranks from the top
    window = laid_out(cells(distances, 0.0, FINE), FINE, max(0, size - high), max(0, size - low))
    padded = np.concatenate([np.zeros(high - low - len(window)), window])  # always as many [KR1]
    return rng.choose_float(Staircase(padded, Fraction(high - beyond), 0.0, LARGEST), sensitivity=1, cost=cost)  # [KR1]


def noisy_loss(distances: Floats, cap: float, *, cost: Laplace | Gaussian, rng: Randomness) -> float:
    """The sum of min(distance, cap)^2 plus noise, at least 0. [KR2]"""
    shares = np.minimum(np.where(np.isnan(distances), 0.0, distances), cap) / cap
    exact_sum = total(np.floor(shares * shares * 2.0**STEPS).astype(np.int64), 2**STEPS)
    if isinstance(cost, Gaussian):
        noisy, _ = blurred(np.array([exact_sum], dtype=object), square=4**STEPS, cost=cost, rng=rng)  # [KR2]
        found = float(noisy[0])
    else:
        found = float(rng.blur(exact_sum, sensitivity=2**STEPS, cost=cost))  # [KR2]
    return max(0.0, found) / 2.0**STEPS * cap * cap
