"""Measures and their sums against exact rationals and hundreds of digits."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from discreet.accounting import loss_sums as sums
from discreet.accounting import pld
from discreet.accounting.loss_sums import Part, Sum
from discreet.accounting.pld import Kind

MP = mpmath.mp.clone()
MP.dps = 400  # curves of e^-700 are differences of numbers near 1


def exact_curve(first: int, masses: Sequence[Fraction], lost: Any, grid: float) -> Callable[[float], Any]:
    """The curve of a measure, to hundreds of digits: the mass above a loss less e^(loss - l) times the same."""
    step = MP.mpf(grid)
    whole, less = [MP.mpf(lost)], [MP.mpf(0)]
    for place in range(len(masses) - 1, -1, -1):
        mass = MP.mpf(masses[place].numerator) / masses[place].denominator
        whole.append(whole[-1] + mass)
        less.append(less[-1] + mass * MP.exp(-(first + place) * step))

    def curve(epsilon: float) -> Any:
        above = max(0, math.floor(Fraction(epsilon) / Fraction(grid)) + 1 - first)
        many = max(0, len(masses) - above)
        return whole[many] - MP.exp(MP.mpf(epsilon)) * less[many]

    return curve


def convolved(parts: Sequence[Part]) -> tuple[int, list[Fraction], Fraction]:
    """All parts, by rational convolution: where it starts, the masses, and what is lost."""
    first, masses, whole = 0, [Fraction(1)], Fraction(1)
    for part in parts:
        each = [Fraction(float(mass)) for mass in part.masses]
        for _ in range(part.times):
            after = [Fraction(0)] * (len(masses) + len(each) - 1)
            for i, one in enumerate(masses):
                for j, other in enumerate(each):
                    after[i + j] += one * other
            first, masses = first + part.first, after
            whole *= sum(each, Fraction(part.lost))
    return first, masses, whole - sum(masses, Fraction(0))


def gaussian(mu: float) -> Callable[[Any], Any]:
    def curve(loss: Any) -> Any:
        mu_ = MP.mpf(mu)
        return MP.ncdf(mu_ / 2 - loss / mu_) - MP.e**loss * MP.ncdf(-mu_ / 2 - loss / mu_)

    return curve


def laplace(size: float) -> Callable[[Any], Any]:
    def curve(loss: Any) -> Any:
        if abs(loss) < size:
            return -MP.expm1((loss - size) / 2)
        return max(MP.mpf(0), -MP.expm1(loss))

    return curve


def mixed(curve: Callable[[Any], Any], rate: float) -> Callable[[Any], Any]:
    """Removing a person who is in with this probability, by the definition of the mixture."""

    def sampled(loss: Any) -> Any:
        t, q = MP.e**loss, MP.mpf(rate)
        return q * curve(MP.log((t - 1 + q) / q)) if t > 1 - q else 1 - t

    return sampled


def turned(curve: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda loss: 1 - MP.e**loss + MP.e**loss * curve(-loss)


PAIRS = [
    (Kind("gaussian", Fraction(1)), gaussian(1.0)),
    (Kind("gaussian", Fraction(1, 10**4)), gaussian(0.01)),
    (Kind("gaussian", Fraction(9)), gaussian(3.0)),
    (Kind("laplace", Fraction(1)), laplace(1.0)),
    (Kind("laplace", Fraction(1, 1000)), laplace(0.001)),
    (Kind("gaussian", Fraction(1), Fraction(1, 10)), mixed(gaussian(1.0), 0.1)),
    (Kind("gaussian", Fraction(4), Fraction(1, 1000)), mixed(gaussian(2.0), 0.001)),
    (Kind("laplace", Fraction(2), Fraction(1, 10)), mixed(laplace(2.0), 0.1)),
]


@pytest.mark.claim("loss_sums.1")
@pytest.mark.claim("calibrate.1")
@pytest.mark.parametrize("adding", [False, True])
@pytest.mark.parametrize("cells", [2.3, 150])
@pytest.mark.parametrize(("kind", "true"), PAIRS)
def test_masses_dominate_the_pair_everywhere(kind: Kind, true: Any, cells: float, adding: bool) -> None:
    """On and between the points of the grid, above and below 0, to hundreds of digits."""
    step = (float(kind.size) ** 0.5 * 12 if kind.noise == "gaussian" else float(kind.size)) / cells
    part = pld._part(kind, step, adding)
    measured = exact_curve(part.first, [Fraction(float(mass)) for mass in part.masses], part.lost, step)
    curve = turned(true) if adding else true
    masses = [Fraction(float(mass)) for mass in part.masses]
    assert min(masses) >= 0
    high = step * (part.first + len(masses) - 1)
    places = [high * share for share in (0, 0.001, 0.1, 0.333, 0.7, 0.95, 0.999)] + [high, high + step]
    places += [step * k for k in (1, 2, 3, -1, -2)] + [step * k for k in (0.5, 1.5, -0.5, -1.5)]
    places += [step * part.first * share for share in (0.3, 1, 1.1)]
    for place in places:
        found, wanted = measured(place), curve(MP.mpf(place))
        assert found >= wanted, place
        near = curve(MP.mpf(place) - step)
        assert found <= near * (1 + 1e-9) + 1e-11, place  # no worse than a shift by one step
    assert float(sum(masses)) + part.lost < 1 + 1e-9


def random_part(rng: np.random.Generator, size: int, times: int, lost: float = 0.0) -> Part:
    masses = rng.exponential(size=size) ** 3
    return Part(-size // 3, masses / masses.sum() * (1 - lost), lost, times)


@pytest.mark.claim("loss_sums.2")
@pytest.mark.parametrize("seed", range(6))
def test_sums_are_upper_bounds_and_near_down_to_tiny_deltas(seed: int) -> None:
    rng = np.random.default_rng(seed)
    parts = [
        random_part(rng, 9, 6, lost=(0.0, 1e-30)[seed % 2]),
        random_part(rng, 17, 2),
        Part(-3, np.array([0.3, 0, 0, 0, 0, 0, 0.7]), 0.0, 3),
        Part(-1, np.array([1e-7, 1 - 2e-7, 1e-7]), 0.0, 2),
    ]
    grid = (0.01, 0.1, 0.37)[seed % 3]
    first, masses, lost = convolved(parts)
    lost_ = MP.mpf(lost.numerator) / lost.denominator
    whole = Sum(parts, grid, grid * 60)
    seen, curve = [], exact_curve(first, masses, lost_, grid)
    for share in np.linspace(0, 1, 41):
        epsilon = float(share) * grid * (first + len(masses) - 2)
        true = curve(epsilon)
        found = whole.delta(epsilon)
        assert found >= true
        assert found <= true * (1 + 1e-6) + 1e-18
        seen.append(float(true))
    assert min(seen) < 1e-12 < max(seen)


@pytest.mark.claim("loss_sums.2")
def test_many_rare_events_against_exact_binomial_sums() -> None:
    """Masses 1 - p, p at losses 0 and 1 step, 1,000 times: deltas from 1e-2 to 1e-60, against rationals."""
    p, grid, times = Fraction(1, 1024), 0.01, 1000
    part = Part(0, np.array([1 - float(p), float(p)]), 0.0, times)
    whole = Sum([part], grid, 0.3)
    for k in (2, 5, 10, 15, 25):
        masses = [Fraction(math.comb(times, j)) * p**j * (1 - p) ** (times - j) for j in range(k + 30)]
        true = exact_curve(0, masses, 0, grid)(k * grid)
        found = whole.delta(k * grid)
        assert true <= found <= true * (1 + 1e-6)
    assert true < 1e-20


@pytest.mark.claim("loss_sums.2")
@pytest.mark.parametrize("seed", range(8))
def test_the_error_of_a_transform_is_within_its_bound(seed: int) -> None:
    """The convolution of the very floats that enter, in rationals: the Euclidean error and its bound."""
    rng = np.random.default_rng(100 + seed)
    parts = [random_part(rng, 30, 2), random_part(rng, 5, 3)]
    if seed % 2:  # one point has nearly everything: the largest norm
        parts = [Part(-1, np.array([1e-12, 1 - 2e-12, 1e-12]), 0.0, 40)]
    whole = Sum(parts, 0.1, 3.0)
    for theta in (0.0, 2.0, 10.0):
        tilted = whole.tilted(theta)
        folded = [part._replace(masses=whole._moment(part, theta)[0]) for part in parts]
        first, masses, _ = convolved(folded)
        exact = {first + place: mass for place, mass in enumerate(masses)}
        found = {tilted.start + place: Fraction(float(mass)) for place, mass in enumerate(tilted.masses)}
        off = sum((exact.get(key, Fraction(0)) - found.get(key, Fraction(0))) ** 2 for key in {*exact, *found})
        assert math.sqrt(off) <= tilted.error
        norms = sum(part.times * math.sqrt(float(part.masses @ part.masses)) for part in folded)
        assert tilted.error >= 8 * 2.0**-53 * math.log2(len(tilted.masses)) * norms  # as proved, not as seen
        assert tilted.error < 1e-11


@pytest.mark.claim("loss_sums.2")
def test_what_a_transform_of_floats_is_off_by_is_far_within_eta() -> None:
    """Long transforms of hard inputs, there and back, and against the exact transform of a point."""
    rng = np.random.default_rng(7)
    for levels in (6, 7, 12, 17):
        size = 1 << levels
        for values in (rng.exponential(size=size), np.eye(1, size, size // 3)[0], rng.normal(size=size) ** 5):
            back = np.fft.irfft(np.fft.rfft(values), size)
            assert np.linalg.norm(back - values) <= 2 * sums.ETA * levels * np.linalg.norm(values)
        place = size // 3 + 1
        turns = (np.arange(size // 2 + 1) * place) % size / size
        point = np.fft.rfft(np.eye(1, size, place)[0])
        off = abs(point - np.exp(-2j * np.pi * turns))
        assert np.sqrt(2 * (off**2).sum()) <= sums.ETA * levels * math.sqrt(size)


@pytest.mark.claim("loss_sums.2")
def test_a_window_shorter_than_the_support_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sums, "LONGEST", 7)
    rng = np.random.default_rng(3)
    parts = [random_part(rng, 21, 12)]
    first, masses, _ = convolved(parts)
    for grid in (0.02, 0.2):
        whole, curve = Sum(parts, grid, grid * 100), exact_curve(first, masses, 0, grid)
        assert any(len(whole.tilted(theta).masses) <= len(masses) for theta in (0.0, 1.0, 5.0))
        for share in np.linspace(0.01, 0.99, 23):
            epsilon = float(share) * grid * (first + len(masses) - 2)
            assert whole.delta(epsilon) >= curve(epsilon)


@pytest.mark.claim("loss_sums.2")
def test_planted_faults_are_seen() -> None:
    """Without the error of the transform, or without what is lost, a sum falls below the exact curve somewhere."""
    cases: list[tuple[float, dict[str, Any]]] = [(0.0, {"error": 0.0, "rounding": 0.0}), (1e-9, {"lost": 0.0})]
    for lost, without in cases:
        below = 0
        for seed in range(5):
            part = random_part(np.random.default_rng(seed), 9, 6, lost)
            first, masses, beyond = convolved([part])
            curve = exact_curve(first, masses, MP.mpf(beyond.numerator) / beyond.denominator, 0.1)
            tilted = Sum([part], 0.1, 1.0).tilted(0.0)
            for epsilon in np.linspace(0.001, 3.9, 40):
                true = curve(float(epsilon))
                assert tilted.delta(float(epsilon)) >= true
                below += bool(replace(tilted, **without).delta(float(epsilon)) < true)
        assert below, without


@pytest.mark.claim("G3")
@pytest.mark.parametrize("times", [1, 1000])
def test_rounding_of_exponents_and_sums_is_paid_for(times: int) -> None:
    """With no error of a transform in it, the bound still has what the proof adds for exponents and for sums."""
    part = random_part(np.random.default_rng(1), 20, times)
    tilted = Sum([part], 0.1, 1.0).tilted(0.0)
    bare = replace(tilted, error=0.0, lost=0.0, rounding=0.0)
    more = replace(tilted, error=0.0, lost=0.0)
    assert more.delta(0.5) >= bare.delta(0.5) * (1 + 1e-12 * (times + 10) + 1e-10)
