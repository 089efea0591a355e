"""Sums of privacy losses on a grid, from above by proof: worst pairs as masses, and transforms with a bounded error.

A measure of masses m(l) on losses l, and a mass beyond them, has the curve h(t) = beyond + sum of m(l) (1 - t e^-l)+ at
t = e^eps. One measure dominates another if its curve is nowhere lower, for all t >= 0.

Promise
    [loss_sums.1] dots(above, below, ...) dominates the pair of outputs whose curve at l >= 0 is at most above(l), and
         that of the pair turned round at most below(l).
    [loss_sums.2] Tilted.delta(epsilon) is at least the curve of all measures' convolution, whatever the tilt. Its error
         is in proportion to the value, not absolute.
Why
    [loss_sums.1] h is convex in t, falls, and h(0) = 1, so it is below the chords of any numbers not below it at the
    points of the grid. The measure has these chords as its curve: its masses are the bends, t_i (s_i - s_{i-1}) with
    the chords' slopes s. Below t = 1, h(t) = 1 - t + t h'(1/t), h' the curve turned round; 1 - t is straight, so the
    bends are those of t h'(1/t), which is small there. A mass has error at most 7 u (A + B), A and B its two terms (u =
    2^-53; expm1 within 2 u, a difference, a quotient, two sums); 1e-15 (A + B) is added. A larger mass, one at 0 in
    place of a negative one included, raises the curve. The curve at the highest point is the mass beyond.

    [loss_sums.2] Dominance survives convolution with a measure, since the curve of a convolution is a mixture of
    curves, each at another t. Let a_k be the masses of part k times e^{theta l} / M_k, as floats, and n_k how often it
    occurs. The composition has mass M e^{-theta l} c(l), c the convolution of all, M the product of the M_k^n_k. A
    transform of length N = 2^m takes two levels at a time, and an odd one: it multiplies by roots of unity (numpy's
    table is within 6 u, a product within sqrt 5 u) and adds (u a level): 11 u for two levels, 10 u for one, in the
    Euclidean norm, as levels are unitary up to a factor. That is at most ETA = 8 u a level for m >= 2. So the transform
    A_k of a_k is off by a vector of norm e_k = ETA m sqrt(N) |a_k|, and nowhere by more. |A_k| <= S_k, the sum of a_k.
    With C = exp(sum of n_k ((S_k - 1)+ + e_k)), what the inputs are off by changes the product by at most C times the
    sum of n_k e_k. The n = sum of n_k complex products change it by 3 u n of its norm, which is at most C sqrt(N) times
    the least |a_k|; the way back adds ETA m of that. Divided by sqrt N: c is off by at most C (ETA m sum of n_k |a_k| +
    (3 u n + ETA m) min |a_k|), and 1/1000 for products of errors. By Cauchy and Schwarz delta is then off by at most
    this, times the norm of its weights e^{-theta (l - eps)} (1 - e^{eps - l}), times M e^{-theta eps}. With theta near
    the saddle point this is some 1e-9 of delta.

    The transform is circular: what lies below the window [start, start + N) comes back inside and adds; what lies
    above is at most M(s) e^{-s top} by Chernoff's bound, any s > 0, and is added as lost. A part's exponents are at
    most 600 and off by less than 4 u of that: 1e-12 is added for each of n parts, and ten times more for those of the
    weights, at most 3,000. A sum of N positive floats is off by N u < 3e-11, log M by less than 1e-10: 2e-10 is added.
Source
    Doroshenko et al. 2022 ("connect the dots") for [loss_sums.1]; Higham 2002, section 24.1, and Brent, Percival and
    Zimmermann 2007 for transforms and complex products; the tilt is that of large deviations.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from discreet.privacy.exact import bisect

Floats = npt.NDArray[np.float64]
Curve = Callable[[Floats], Floats]
UNIT: Final = 2.0**-53
ETA: Final = 8 * UNIT  # [loss_sums.2] of one level of a transform
ROUNDED: Final = 1e-15  # [loss_sums.1]
EACH: Final = 1e-12  # [loss_sums.2] of a part's exponents
SUMMED: Final = 2e-10  # [loss_sums.2] of a sum
NEGLIGIBLE: Final = 1e-250  # more than all that underflows
NATS: Final = 35.0  # the window leaves out less than e^-35 of the tilted mass, by Chernoff's bound
LONGEST: Final = 18  # log2 of the longest window
COARSE: Final = 2_048  # points where only the tilt is sought
KEPT: Final = 8  # convolutions in memory
STEEPEST: Final = 300.0  # tilt times reach


class Part(NamedTuple):
    """Masses at (first, first + 1, ...) steps of the grid, and what is beyond them; met `times` times."""

    first: int
    masses: Floats
    lost: float
    times: int = 1


def dots(above: Curve, below: Curve, grid: float, low: int, high: int) -> Part:
    """The measure on low..high steps, low < 0 < high, for curves of at most `above`, and `below` turned round.
    [loss_sums.1]"""
    up, down = math.expm1(grid), -math.expm1(-grid)
    right, left = (np.asarray(grid * np.arange(size + 1) * (1 - 4 * UNIT)) for size in (high, -low))  # lower than exact
    h, g = above(right), below(left) * np.exp(-left) * (1 + ROUNDED)
    h[0] = g[0] = max(h[0], g[0])
    falls, fades = -np.diff(h), -np.diff(g)
    rising = [(-falls[1:] / up, falls[:-1] / down), (fades[:-1] / up, -fades[1:] / down)]
    inner = [np.maximum(0.0, a + b) + ROUNDED * (abs(a) + abs(b)) for a, b in rising]  # [loss_sums.1]
    first, middle = fades[-1] / up, 1 - falls[0] / up - fades[0] / down
    top = falls[-1] / down
    ends = (
        max(0.0, first - g[-1]) + ROUNDED * (abs(first) + g[-1]),
        max(0.0, middle) + ROUNDED * (1 + abs(falls[0] / up) + abs(fades[0] / down)),
        max(0.0, top) + ROUNDED * abs(top),
    )
    masses = np.concatenate([[ends[0]], inner[1][::-1], [ends[1]], inner[0], [ends[2]]])
    return Part(low, masses, float(h[-1]) + NEGLIGIBLE)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TiltedMasses:
    """A convolution, its masses times e^(theta l) / M."""

    theta: float
    grid: float
    start: int
    masses: Floats
    whole: bool  # nothing lies below the window
    scale: float  # log M
    error: float  # Euclidean, of the masses
    lost: float
    rounding: float

    def delta(self, epsilon: float) -> float:
        """The curve at this epsilon, from above; 1 below the window. [loss_sums.2]"""
        reach = self.grid * (abs(self.start) + len(self.masses))
        here = epsilon - 4 * UNIT * (reach + abs(epsilon))  # below it by more than the rounding of the losses
        first = math.floor(here / self.grid) - 1 - self.start
        if first < 0 and not self.whole:
            return 1.0
        first = max(first, 0)
        losses = self.grid * (self.start + np.arange(first, len(self.masses))) - here
        keep = losses > 0
        losses, masses = losses[keep], self.masses[first:][keep]
        weights = np.exp(-self.theta * losses) * -np.expm1(-losses)
        value = _dot(weights, masses) + self.error * math.sqrt(_dot(weights, weights))  # [loss_sums.2]
        size = self.scale - self.theta * here
        found = math.exp(size) * value if size < 600 else 1.0
        return min(1.0, (found + self.lost) * (1 + self.rounding) + NEGLIGIBLE)

    def near(self, delta: float) -> float:
        """About the epsilon of this delta; not rounded to either side."""
        losses = self.grid * (self.start + np.arange(len(self.masses)))
        middle = losses[int(np.argmax(self.masses))]
        with np.errstate(over="ignore", invalid="ignore"):  # far from the middle; what is found is checked by `delta`
            masses = self.masses * np.exp(-self.theta * (losses - middle))
            whole, less = (np.cumsum(x[::-1])[::-1] for x in (masses, masses * np.exp(middle - losses)))
            # at a point of the grid the curve is the mass above it less e^(point - loss) times the same
            curve = whole - less * np.exp(losses - middle)
        size = self.scale - self.theta * middle
        room = (delta - self.lost) * math.exp(-size) if abs(size) < 600 else math.nan
        under = np.flatnonzero(curve <= room)
        if not room > 0 or not len(under):
            return math.inf
        place = int(under[0])
        if place == 0:
            return float(losses[0])
        share = (whole[place] - room) / less[place] if less[place] > 0 else 0.0
        found = middle + math.log(share) if share > 0 else losses[place]
        return float(min(max(found, losses[place - 1]), losses[place]))


class Sum:
    """All parts of a loss, convolved: at whatever tilt suits what is asked."""

    def __init__(self, parts: Sequence[Part], grid: float, reach: float) -> None:
        self.parts, self.grid = tuple(parts), grid
        ends = [abs(end) for part in parts for end in (part.first, part.first + len(part.masses))]
        self.steepest = STEEPEST / max(reach, grid * max(ends))  # [loss_sums.2]: no exponent is large
        self.many = sum(part.times for part in parts)
        self.low = sum(part.times * part.first for part in parts)
        self.high = sum(part.times * (part.first + len(part.masses) - 1) for part in parts)
        self.found: dict[float, TiltedMasses] = {}

    def delta(self, epsilon: float) -> float:
        """The curve at this epsilon, from above. [loss_sums.2]"""
        return self._at(epsilon).delta(epsilon)

    def near(self, delta: float) -> float:
        """About the epsilon of this delta."""

        def beyond(theta: float) -> float:
            size, mean, spread = self.moments(theta)
            return theta * mean - size + math.log(delta * max(1.0, theta * (1 + theta) * math.sqrt(7 * spread)))

        found = self.tilted(self.saddle(beyond)).near(delta)
        return self._at(found).near(delta) if found < math.inf else found

    def _at(self, epsilon: float) -> TiltedMasses:
        """The convolution at the tilt whose mean this is."""
        tilted = self.tilted(self.saddle(lambda theta: self.moments(theta)[1] - epsilon))
        return tilted if tilted.start * self.grid < epsilon else self.tilted(0.0)

    def saddle(self, beyond: Callable[[float], float]) -> float:
        """The tilt from which on `beyond` is positive, within 1%: for a sharp bound; any tilt gives a valid one."""
        low, high = math.log(self.steepest) - 20.0, math.log(self.steepest)
        if beyond(math.exp(low)) >= 0:
            return 0.0
        _, high = bisect(lambda log: beyond(math.exp(log)) > 0, low, high, steps=12)
        return math.exp(min(round(64 * high) / 64, math.log(self.steepest)))

    @cached_property
    def coarse(self) -> list[tuple[Floats, Floats, int]]:
        """Losses, masses and times of parts, points of the grid gathered into few: for `moments`."""
        gathered = []
        for part in self.parts:
            cells = max(1, -(-len(part.masses) // COARSE))
            padded = np.zeros(-(-len(part.masses) // cells) * cells)
            padded[: len(part.masses)] = part.masses
            places = self.grid * (part.first + np.arange(len(padded)))
            masses = padded.reshape(-1, cells)
            full = masses.sum(1)
            centres = (places.reshape(-1, cells) * masses).sum(1) / np.maximum(full, 1e-300)
            kept = full > 0
            gathered.append((centres[kept], full[kept], part.times))
        return gathered

    def moments(self, theta: float) -> tuple[float, float, float]:
        """About the logarithm of the moment at theta, and its first two derivatives."""
        size = mean = spread = 0.0
        for losses, masses, times in self.coarse:
            exponents = theta * losses
            most = float(exponents.max())
            weights = masses * np.exp(exponents - most)
            whole = float(weights.sum())
            middle = _dot(weights, losses) / whole
            size += times * (most + math.log(whole))
            mean += times * middle
            spread += times * _dot(weights, (losses - middle) ** 2) / whole
        return size, mean, spread

    def tilted(self, theta: float) -> TiltedMasses:
        """The convolution at this tilt. [loss_sums.2]"""
        if theta not in self.found:
            while len(self.found) >= KEPT:
                self.found.pop(next(iter(self.found)))
            self.found[theta] = self._tilted(theta)
        return self.found[theta]

    def _tilted(self, theta: float) -> TiltedMasses:
        start, length, steep = self._window(theta)
        levels = length.bit_length() - 1
        product: Any = 1.0
        scale, norms, least, over = 0.0, 0.0, math.inf, 0.0
        for part in self.parts:
            masses, logarithm = self._moment(part, theta)
            folded = _folded(masses, part.first, length)
            norm = math.sqrt(_dot(folded, folded))
            off = ETA * levels * math.sqrt(length) * norm  # [loss_sums.2]
            norms, least = norms + part.times * norm, min(least, norm)
            over += part.times * (max(0.0, float(folded.sum()) - 1) + SUMMED + off)
            scale += part.times * logarithm
            product = product * _power(np.fft.rfft(folded), part.times)
        masses = np.roll(np.fft.irfft(product, length), -(start % length))
        # [loss_sums.2]
        error = (ETA * levels * norms + (3 * UNIT * self.many + ETA * levels) * least) * math.exp(over) * 1.001
        lost = self._lost() + self._above(start + length - 1, steep)
        rounding = math.expm1(EACH * (self.many + 10)) + SUMMED
        masses, whole = np.maximum(masses, 0.0), start <= self.low
        return TiltedMasses(
            theta=theta,
            grid=self.grid,
            start=start,
            masses=masses,
            whole=whole,
            scale=scale,
            error=error + NEGLIGIBLE,
            lost=lost,
            rounding=rounding,
        )

    def _moment(self, part: Part, theta: float) -> tuple[Floats, float]:
        """The masses of a part times e^(theta l) / M, and log M."""
        exponents = theta * self.grid * (part.first + np.arange(len(part.masses)))
        most = float(exponents.max())
        logarithm = most + math.log(float((part.masses * np.exp(exponents - most)).sum()))
        return part.masses * np.exp(exponents - logarithm), logarithm

    def _window(self, theta: float) -> tuple[int, int, float]:
        """Where the tilted masses are, all but e^-NATS of them; and the tilt at which Chernoff's bound says so."""
        size, _, spread = self.moments(theta)
        if self.high - self.low < 64:
            return self.low, 64, 0.0
        steps = (math.sqrt(NATS / max(spread, 1e-300)) * 2 ** (k / 2) for k in range(-12, 7))
        ends, starts = [], []
        for step in steps:
            if (theta + step) <= 2 * self.steepest:
                ends.append(((self.moments(theta + step)[0] - size + NATS) / step, theta + step))
            if step - theta <= self.steepest:
                starts.append((size - self.moments(theta - step)[0] - NATS) / step)
        end, steep = min(ends, default=(self.grid * self.high, 0.0))
        start = max(starts, default=self.grid * self.low)
        first = max(self.low, math.floor((start if theta else min(start, 0.0)) / self.grid) - 4)
        last = min(self.high, math.ceil(end / self.grid))
        length = 1 << min(LONGEST, max(6, (last - first).bit_length()))
        return min(first, max(self.low, self.high - length + 1)), length, steep

    def _above(self, top: int, steep: float) -> float:
        """The mass above the window, at most. [loss_sums.2]"""
        if top >= self.high:
            return 0.0
        if not steep:
            return 1.0
        size = sum(part.times * (self._moment(part, steep)[1] + EACH) for part in self.parts)
        return math.exp(min(0.0, size - steep * self.grid * top)) * (1 + SUMMED)

    def _lost(self) -> float:
        """The mass that is beyond all losses in one part or another."""
        whole = kept = 0.0
        for part in self.parts:
            finite = float(part.masses.sum())
            whole += part.times * math.log(finite + part.lost)
            kept += part.times * (math.log1p(-part.lost / (finite + part.lost)) if finite else -math.inf)
        return math.exp(whole) * -math.expm1(kept) * (1 + SUMMED)


def _dot(one: Floats, other: Floats) -> float:
    """The sum of products by one core: the many of a linear algebra library wait for each other at full load."""
    return float(np.einsum("i,i->", one, other))


def _folded(masses: Floats, first: int, length: int) -> Floats:
    """The masses on a circle of this length, the loss 0 at place 0."""
    shift = first % length
    padded = np.zeros(-(-(shift + len(masses)) // length) * length)
    padded[shift : shift + len(masses)] = masses
    return np.asarray(padded.reshape(-1, length).sum(0))


def _power(values: Any, times: int) -> Any:
    """By squaring: `times` products in all count towards the error. [loss_sums.2]"""
    result: Any = None
    while times:
        if times & 1:
            result = values if result is None else result * values
        times >>= 1
        if times:
            values = values * values
    return result
