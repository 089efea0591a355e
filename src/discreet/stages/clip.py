"""The noisy sum of clipped deviations, or of their squares: the last stage of every mean and variance.

Releases
    The sum over all records of u^p, u = clip((x - centre) / radius, +-1), p = 1, 2 or 4, plus noise. Centre and radius
    are public, or were released.
Promise
    [clip.1] One record moves the sum of u by at most 2 under REPLACE, 1 under ADD_OR_REMOVE, and the sum of u^2 or u^4
         by at most 1 under both: Laplace(epsilon) makes the release pure epsilon, Gaussian(mu, slack) what that costs.
    [clip.3] Under ADD_OR_REMOVE one record moves the pair (sum of w, sum of 1 - w), w = u^2, u^4 or (1 + u) / 2, by
         exactly 1 in L1: sum and number of records for the price of one.
    [clip.4] Sums of u and of u^2 for the price of one. Under ADD_OR_REMOVE one record moves the sums of the three
         (1 + u)^2 / 4, (1 - u^2) / 2 and (1 - u)^2 / 4, which tell the number of records too, by at most 1 + 2^(-1 -
         bits) in L1. Under REPLACE one moves the sums of u and u^2 / 2 by at most 2 + 3 2^(-1 - bits).
    [clip.2] What is blurred is an exact integer; neither the order of the records nor blocks or machines change it.
Why
    [clip.1] Each record becomes a whole number of steps by a fixed function of itself, the centre and the radius: u^p
    is rounded to a multiple of 1 / half, half = 2^bits, and a missing u is 0. So its steps lie in [-half, half], and in
    [0, half] for even p: replacing a record moves the sum by at most 2 half, or half, and adding one by at most half.
    Then [additive.1] or [additive.2].
    [clip.3] A record adds k steps to one and half - k to the other, k in [0, half] (for p = 1: half + k and half - k).
    [clip.4] The three are not negative and add up to 1 (Bernstein's basis). In steps s = u half, kept as k = rint(s),
    q = rint(s^2 / half), they are half + 2 k + q, 2 half - 2 q and half - 2 k + q, which add up to 4 half. As
    s^2 + half^2 >= 2 |s| half, and rounding moves q by at most 1/2 and 2 k by at most 1, none of these whole numbers is
    below -1, and of the first and the last one at most is: in L1 they are at most 4 half + 2. Two records s, t differ
    by 2 |s - t| + |s^2 - t^2| / half = |s - t| (2 + |s + t| / half) in (2 s, s^2 / half), and |s + t| <= 2 half - |s -
    t|: at most 4 half; rounding adds at most 2 + 1.
    [clip.1] A table of distances rounds the sum in place of each record's part of it: [distance_grid.2]. So it is not
    for [clip.4], which counts what the rounding of one record's parts does.
    [clip.2] Whole numbers of at most 2^26 are exact in float64 and so are their sums in int64, up to 2^35 records; the
    sums of so many are added as Python's integers, which have no end.
Needs
    A finite centre and a positive, finite radius.
Accuracy
    Rounding moves u^p by at most 2^-27. Where epsilon is below 2^-23 the steps are wider: at least 2^48 to the noise.
Source
    The clipped mean of the lectures (Lemma 2.2), on integers.
"""

import math
from collections.abc import Iterator, Mapping, Sized
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from discreet._compiled.warmth import warm
from discreet.accounting.allocation import STRONGEST, Allocation, Share
from discreet.errors import BadInput
from discreet.noise.additive import COARSE, slack
from discreet.noise.distributions import LARGEST_SCALE, compiled, laplace_scale
from discreet.privacy.exact import Number, exact, is_number, root_below
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Approximate, Choice, Gaussian, Laplace, Loss, atoms, compose
from discreet.privacy.mechanism import Randomness
from discreet.stages.distance_grid import Distances
from discreet.tables.streams import Numbers, added, fold

BITS: Final = 26  # the radius in steps: 2^26
LARGE: Final = 100_000  # records from which the compiled pass is worth its import
BLOCK: Final = 1 << 16  # records whose steps stay in the cache
FAST: Final = 1 << 35  # records whose steps add up in an int64 [clip.2]
Floats = npt.NDArray[np.float64]
Power = Literal[1, 2, 4]


@dataclass(frozen=True, slots=True)
class ClippedSum:
    """A noisy sum, and the scale (of Laplace) or standard deviation (of Gaussian noise) of what was added."""

    total: float
    noise: float


@dataclass(frozen=True, slots=True)
class Moment:
    """A noisy mean of powers, the scale of its Laplace noise (deviation of Gaussian), and the size it is divided by."""

    mean: float
    noise: float
    size: float


def steps_of(
    values: Floats, centre: float, radius: float, powers: tuple[Power, ...] = (1,), bits: int = BITS
) -> tuple[npt.NDArray[np.int64], ...]:
    """Each record as a whole number of steps, for each power: in [-2^bits, 2^bits], [0, 2^bits] if it is even.
    [clip.1]"""
    half = 2.0**bits
    with np.errstate(all="ignore"):
        scaled = (values - centre) * (half / float(radius))  # inf - inf and 0 * inf are missing
    steps = np.where(np.isnan(scaled), 0.0, np.clip(scaled, -half, half))
    square = steps * steps / half
    raised = {1: steps, 2: square, 4: square * square / half}
    return tuple(np.rint(raised[power]).astype(np.int64) for power in powers)


def exact_sums(
    values: Numbers | Distances, centre: float, radius: float, powers: tuple[Power, ...] = (1,), bits: int = BITS
) -> tuple[int, ...]:
    """The sums of all records' steps, one for each power, in one pass; by a table of that centre in none. [clip.2]"""
    if not is_number(centre) or not is_number(radius) or radius <= 0:
        raise BadInput(
            f"centre is {centre!r}, radius is {radius!r}; give a finite centre and a positive, finite radius"
        )
    if isinstance(values, Distances):
        assert centre == values.centre
        if not {1, 2}.issuperset(powers):
            raise BadInput(f"a table of distances has the sums of u and u^2, not of the powers {powers}")
        return values.sums(radius, powers, bits)  # [clip.2]
    large = len(values) >= LARGE and warm(len(values), "column_kernels")
    return fold(partial(_sums, centre=centre, radius=radius, powers=powers, bits=bits, large=large), added, values)


def _sums(
    given: Iterator[Floats], *, centre: float, radius: float, powers: tuple[Power, ...], bits: int, large: bool
) -> tuple[int, ...]:
    """A kernel: the sums of some records. [clip.2]"""
    fast, half, sums = large and compiled(), 2.0**bits, [0] * len(powers)
    block = FAST if fast else BLOCK
    for piece in given:
        for start in range(0, len(piece), block):
            part = piece[start : start + block]
            if fast:
                from discreet._compiled.column_kernels import total_steps

                found = total_steps(part, centre, half / float(radius), half, powers)
            else:
                found = tuple(int(steps.sum()) for steps in steps_of(part, centre, radius, powers, bits))
            for place, total in enumerate(found):
                sums[place] += total  # [clip.2]
    return tuple(sums)


def noisy_moment(
    values: Numbers,
    *,
    centre: float,
    radius: float,
    cost: Laplace | Gaussian,
    neighbours: Neighbours,
    rng: Randomness,
    power: Power = 1,
) -> ClippedSum:
    """The sum of clip((x - centre) / radius, +-1)^power plus noise, in units of radius^power. [clip.1]"""
    bits = fitting_bits(cost)
    (total,) = exact_sums(values, centre, radius, (power,), bits)
    return _blurred(total, bits, sensitivity=sensitivity_of(power, neighbours), cost=cost, rng=rng)


def moments(
    values: Numbers | Distances,
    costs: Mapping[Power, Laplace | Gaussian],
    *,
    centre: float,
    radius: float,
    size: int | None,
    neighbours: Neighbours,
    rng: Randomness,
) -> list[Moment]:
    """The means of clip((x - centre) / radius, +-1)^power for one or two powers, cut to what they can be. [clip.1]

    `size` is public or was released. If it is None, under ADD_OR_REMOVE, a mean is a share of two sums that tell the
    size too, in Laplace noise; their noises are taken as one Laplace variable of the same variance, which is a little
    wide. [clip.3]
    """
    powers, bits = tuple(costs), min(map(fitting_bits, costs.values()))
    found = []
    for power, total in zip(powers, exact_sums(values, centre, radius, powers, bits), strict=True):
        least = -1.0 if power == 1 else 0.0
        if size is not None:
            moved = sensitivity_of(power, neighbours)
            noisy = _blurred(total, bits, sensitivity=moved, cost=costs[power], rng=rng)
            found.append(Moment(min(max(noisy.total / size, least), 1.0), noisy.noise / size, size))
            continue
        cost = costs[power]
        assert isinstance(cost, Laplace)
        up, down, noise = _parted(total, bits, size=len(values), signed=power == 1, cost=cost, rng=rng)
        whole = max(1.0, up + down)
        share = min(max(up / whole, 0.0), 1.0)
        error = (1 - least) * noise / whole * math.hypot(share, 1 - share)
        found.append(Moment(least + (1 - least) * share, error, whole))
    return found


def joint_moments(
    values: Numbers | Distances, cost: Laplace, *, centre: float, radius: float, size: int | None, rng: Randomness
) -> tuple[Moment, Moment]:
    """The means of u = clip((x - centre) / radius, +-1) and of u^2 for the price of one. [clip.4]

    `size` is the public one under REPLACE, None under ADD_OR_REMOVE. Noise on several sums is taken as one Laplace
    variable of its variance, which is a little wide. Of a table of distances one record moves the three by more.
    """
    if isinstance(values, Distances):
        raise BadInput("sums from a table of distances are rounded as a whole; give the records")  # [clip.4]
    bits = fitting_bits(Laplace(exact(cost.epsilon) / 4))
    half = 2**bits
    first, second = exact_sums(values, centre, radius, (1, 2), bits)
    if size is not None:
        moved = 4 * half + 3  # [clip.4]
        blurred = rng.blur(np.array([2 * first, second], dtype=object), sensitivity=moved, cost=cost)  # [clip.4]
        noise, mean, square = noise_size(moved, cost) / half, int(blurred[0]) / (2 * half), int(blurred[1]) / half
        return (
            Moment(min(max(mean / size, -1.0), 1.0), noise / (2 * size), size),
            Moment(min(max(square / size, 0.0), 1.0), noise / size, size),
        )
    count, moved = len(values) * half, 4 * half + 2  # [clip.4]
    three = [count + 2 * first + second, 2 * count - 2 * second, count - 2 * first + second]
    blurred = rng.blur(np.array(three, dtype=object), sensitivity=moved, cost=cost)  # [clip.4]
    up, middle, down = (int(part) / (4 * half) for part in blurred)
    whole, noise = max(1.0, up + middle + down), noise_size(moved, cost) / (4 * half)
    mean = min(max((up - down) / whole, -1.0), 1.0)
    square = min(max((up + down - middle) / whole, 0.0), 1.0)
    return (
        Moment(mean, noise / whole * math.sqrt(2 + 3 * mean**2), whole),
        Moment(square, noise / whole * math.sqrt(2 * (1 - square) ** 2 + (1 + square) ** 2), whole),
    )


def _blurred(total: int, bits: int, *, sensitivity: int, cost: Laplace | Gaussian, rng: Randomness) -> ClippedSum:
    """A sum of steps plus noise, in units of radius^power. [clip.1]"""
    steps = sensitivity * 2**bits  # [clip.1]
    blurred: int = rng.blur(total, sensitivity=steps, cost=cost)  # [clip.1]
    return ClippedSum(blurred / 2**bits, noise_size(steps, cost) / 2**bits)


def _parted(
    total: int, bits: int, *, size: int, signed: bool, cost: Laplace, rng: Randomness
) -> tuple[float, float, float]:
    """The noisy sums of w and of 1 - w, and the scale of the noise on each, under ADD_OR_REMOVE. [clip.3]

    w is u^power, or (1 + u) / 2 where that is signed: a share in [0, 1]. Both sums add up to the number of records.
    """
    whole = 2 ** (bits + 1) if signed else 2**bits  # the steps of one record in both sums
    up = total + size * 2**bits if signed else total
    blurred = rng.blur(np.array([up, size * whole - up], dtype=object), sensitivity=whole, cost=cost)  # [clip.3]
    return int(blurred[0]) / whole, int(blurred[1]) / whole, noise_size(whole, cost) / whole


def sensitivity_of(power: Power, neighbours: Neighbours) -> int:
    """How far one record moves the sum, in units of radius^power. [clip.1]"""
    return 2 if power == 1 and neighbours is Neighbours.REPLACE else 1


def fitting_bits(cost: Laplace | Gaussian) -> int:
    """How fine the steps are: 2^26 in a radius, fewer where noise of this cost would be too wide for the integers."""
    strength = exact(cost.epsilon if isinstance(cost, Laplace) else cost.mu)
    bits = BITS
    while 2 ** (bits + 1) > LARGEST_SCALE * strength and bits:
        bits -= 1
    return bits


def charged(loss: Loss) -> Loss:
    """What stages cost whose sums share steps: if these are too few for one of them, all Laplace noise costs as much as
    anything pure ([additive.1])."""
    parts = atoms(loss)
    for part in parts:
        if isinstance(part, Laplace) and fitting_bits(part) < COARSE:
            return compose(*(Approximate(part.epsilon, 0) if isinstance(part, Laplace) else part for part in parts))
    return loss


class Listed:
    """The property `loss` of a mechanism whose stages follow from its size: every draw, or before a public size is
    known what they amount to. `loss = listed` in its class."""

    def __get__(self, mechanism: Any, kind: type) -> Loss:
        if mechanism is None:
            return self  # type: ignore[return-value]
        if mechanism.size is None and mechanism.neighbours.size_is_public:
            return Approximate(mechanism.epsilon, getattr(mechanism, "delta", 0))
        return charged(mechanism.stages(mechanism.size).loss)


listed: Final = Listed()


def noise_size(sensitivity: int, cost: Laplace | Gaussian) -> float:
    """The scale of Laplace noise, or the standard deviation of Gaussian noise, in steps."""
    match cost:
        case Laplace(epsilon):
            return float(laplace_scale(sensitivity, epsilon))
        case Gaussian(mu):
            return float(Fraction(sensitivity) / exact(mu))


def enough(nats: int, size: int, epsilon: Number, least: Fraction, most: Fraction) -> Fraction:
    """The share of epsilon with which `size` records give so many nats, between two others."""
    return min(max(Fraction(nats, size) / exact(epsilon), least), most)


def concentrated(
    epsilon: Number, delta: Number, *, centre: Fraction, scale: Fraction, mean: Fraction, times: int = 1
) -> Allocation | None:
    """These shares of rho, Gaussian noise last, under REPLACE. None where delta is 0 or too small for the grid.

    With `times` each of so many columns is released by these stages, all of them for epsilon and delta.
    """
    first = Allocation.concentrated(epsilon, delta) if delta else None
    if first is None:
        return None
    strongest = min(Fraction(STRONGEST), root_below(first.square / times * mean))
    whole = Allocation.concentrated(epsilon, delta, slack=times * _slack(strongest))  # of weaker noise there is less

    def cost(mu: Fraction) -> Gaussian:
        strength = min(strongest, mu)
        return Gaussian(strength, _slack(strength))

    if whole is None or times * exact(cost(root_below(whole.square / times * mean)).slack) > whole.slack:
        return None
    return whole.split(
        centre=Share(centre, Choice, times),
        scale=Share(scale, Choice, times) if scale else None,
        mean=Share(mean, cost, times),
    )


def _slack(mu: Fraction) -> Fraction:
    """What noise of this mu on a clipped sum under REPLACE falls short of a Gaussian distribution."""
    return slack(1, int(2 ** (fitting_bits(Gaussian(mu)) + 1) / mu))


def unit_variance(cost: Laplace | Gaussian, size: int, neighbours: Neighbours) -> float:
    """The variance of the noise on a mean of records clipped to +-1."""
    move = sensitivity_of(1, neighbours) / size
    if isinstance(cost, Gaussian):
        return (move / float(cost.mu)) ** 2
    return 2 * (move / float(cost.epsilon)) ** 2


def noisy_size(values: Sized, cost: Laplace | Gaussian, rng: Randomness) -> int:
    """The number of records plus noise, at least 1."""
    return max(1, noisy_number(values, cost, rng))


def noisy_number(values: Sized, cost: Laplace | Gaussian, rng: Randomness) -> int:
    """The number of records plus noise ([additive.1] or [additive.2], on a fine grid), below 0 too."""
    bits = fitting_bits(cost)
    blurred: int = rng.blur(len(values) << bits, sensitivity=2**bits, cost=cost)
    return round(Fraction(blurred, 2**bits))


def count_error(stages: Allocation, size: float, name: str = "size") -> float:
    """The relative standard deviation of a noisy size; 0 where the size is public."""
    if name not in stages:
        return 0.0
    cost = stages.noise(name)
    return (1 / float(cost.mu) if isinstance(cost, Gaussian) else math.sqrt(2) / float(cost.epsilon)) / size
