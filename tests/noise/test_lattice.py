import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import BadInput
from discreet.noise.additive import COARSE, FINE, ROOM, VARIATION, Grid, fits, floor_log2, slack, whole
from discreet.privacy.exact import exact

WIDE = settings(derandomize=True, database=None, max_examples=200)
ANY = st.floats(width=64, allow_nan=True, allow_infinity=True, allow_subnormal=True)
NASTY = [0.0, -0.0, 5e-324, -5e-324, 2.2e-308, 1.7976931348623157e308, -1e308, math.inf, -math.inf, math.nan, 0.5, 1.5]


def reference(value: float, grid: Grid, low: int, high: int, default: int) -> int:
    """Quantising by rationals: to the nearest step, halves to even, then saturate."""
    if not math.isfinite(value):
        return default
    return min(max(round(Fraction(value) / grid.step), low), high)


@pytest.mark.claim("additive.4")
@WIDE
@given(st.lists(ANY, max_size=8), st.integers(-1130, 960), st.integers(-(2**60), 2**60), st.integers(0, 2**60))
def test_quantise_is_the_rational_rounding_of_each_record_and_never_raises(
    values: list[float], exponent: int, low: int, width: int
) -> None:
    grid = Grid(exponent)
    high = low + width
    middle = (low + high) // 2
    ends = {"low": low * grid.step, "high": high * grid.step, "default": middle * grid.step}
    steps = grid.quantise(values + NASTY, **ends)
    assert steps.dtype == np.int64
    assert steps.tolist() == [reference(value, grid, low, high, middle) for value in values + NASTY]


@pytest.mark.claim("additive.4")
@WIDE
@given(st.lists(ANY, min_size=1, max_size=6), ANY, st.integers(-40, 10), st.floats(-1e9, 1e9), st.floats(0, 1e9))
def test_one_record_moves_the_sum_by_no_more_than_claimed(
    values: list[float], other: float, exponent: int, low: float, width: float
) -> None:
    grid, high = Grid(exponent), low + width
    if math.floor(exact(high) / grid.step) < math.ceil(exact(low) / grid.step) or not fits(1, grid.steps(high + 1e9)):
        return  # no step between them, or too many
    before = grid.quantise(values, low=low, high=high, default=low)
    after = grid.quantise([other, *values[1:]], low=low, high=high, default=low)
    assert abs(int(before.sum()) - int(after.sum())) <= grid.steps(exact(high) - exact(low))
    assert abs(int(before.sum()) - int(before[1:].sum())) <= grid.steps(max(abs(low), abs(high)))
    assert (grid.quantise(values[::-1], low=low, high=high, default=low)[::-1] == before).all()
    assert [int(grid.quantise(value, low=low, high=high, default=low)) for value in values] == before.tolist()


@pytest.mark.claim("additive.4")
def test_one_record_moves_the_sum_in_a_small_world() -> None:
    world = [0.0, 1.0, 2.0, -1e9, math.inf, -math.inf, math.nan]
    grid = Grid(-3)
    tables = [rows for n in range(1, 5) for rows in itertools.product(world, repeat=n)]
    sums = {rows: int(grid.quantise(rows, low=-1, high=2, default=0).sum()) for rows in tables}
    reached = 0
    for rows, total in sums.items():
        for value in world:
            moved = abs(total - sums[(value, *rows[1:])])
            assert moved <= grid.steps(3)
            reached = max(reached, moved)
        if len(rows) > 1:
            assert abs(total - sums[rows[1:]]) <= grid.steps(2)
    assert reached == grid.steps(3)


@pytest.mark.claim("additive.4")
@pytest.mark.parametrize("end", ["low", "high"])
def test_a_default_at_an_end_that_is_no_step_is_that_end(end: str) -> None:
    for number in (0.1, 0.3, -0.3, 1 / 3, 1e-9):
        for exponent in (-30, -3, -20):
            low, high = (number, number + 5) if end == "low" else (number - 5, number)
            steps = Grid(exponent).quantise([math.nan, -1e99, 1e99], low=low, high=high, default=number)
            assert steps[0] == (steps[1] if end == "low" else steps[2])


def test_bounds_are_refused_before_the_data_is_looked_at() -> None:
    for low, default, high in [(1, 0, 2), (0, 3, 2), (2, 1.5, 1), (math.nan, 0, 1), (0, 0, math.inf), (0, 0, 2**70)]:
        with pytest.raises(BadInput):
            Grid(0).quantise(object(), low=low, high=high, default=default)
    with pytest.raises(BadInput):
        Grid(0).quantise(object(), low=0.2, high=0.8, default=0.5)  # no step in between


def test_edges_beyond_the_exact_floats_saturate_in_order() -> None:
    edge = ROOM - 1
    steps = Grid(0).quantise([1e30, 2.0**61, 2.0**61 - 512, -1e30], low=-edge, high=edge, default=0)
    assert steps.tolist() == [edge, edge, 2**61 - 512, -edge]


def test_a_scalar_and_a_matrix_keep_their_shape() -> None:
    grid = Grid(-1)
    assert int(grid.quantise(0.5, low=0, high=1, default=0)) == 1
    assert grid.quantise(np.full((2, 3), 0.5), low=0, high=1, default=0).shape == (2, 3)
    assert grid.quantise([], low=0, high=1, default=0).shape == (0,)
    assert grid.quantise(np.array([1e4000], dtype=np.longdouble), low=0, high=1, default=0).tolist() in ([0], [2])


@pytest.mark.claim("additive.4")
@WIDE
@given(st.lists(st.integers(-(2**70), 2**70), max_size=6))
def test_whole_numbers_of_any_size_saturate(numbers: list[int]) -> None:
    kept = whole(numbers)
    assert kept.tolist() == [min(max(number, -ROOM), ROOM) for number in numbers]
    assert kept.dtype == np.int64


@pytest.mark.claim("additive.4")
def test_unsigned_numbers_do_not_wrap_round() -> None:
    assert whole(np.array([2**63 - 1, 2**63, 2**64 - 1], dtype=np.uint64)).tolist() == [ROOM] * 3
    assert whole(np.array([0, 255], dtype=np.uint8)).tolist() == [0, 255]
    assert whole(np.array([-128, 127], dtype=np.int8)).tolist() == [-128, 127]
    assert whole(2**63).tolist() == ROOM
    assert whole((np.int64(3), 2**80, np.uint64(2**63))).tolist() == [3, ROOM, ROOM]


def test_whole_numbers_are_refused_by_type_alone() -> None:
    for values in (0.5, [1, 2.0], [True], np.array([1.0]), np.array([True]), ["1"], [[1], [1, 2]], [None]):
        with pytest.raises(BadInput):
            whole(values)


@pytest.mark.claim("additive.5")
@pytest.mark.parametrize("s", [4, 5, 6, 7, 8, 11, 16, 23, 32, 45, 64])
def test_total_variation_between_discrete_and_rounded_gaussian(s: int) -> None:
    with mpmath.workdps(40):
        reach = 12 * s
        mass = [mpmath.exp(-mpmath.mpf(k * k) / (2 * s * s)) for k in range(reach + 1)]
        whole_mass = 2 * sum(mass) - 1
        upper = [mpmath.erfc(mpmath.mpf(2 * k - 1) / (2 * s) / mpmath.sqrt(2)) / 2 for k in range(reach + 2)]
        differences = [abs(mass[k] / whole_mass - (upper[k] - upper[k + 1])) for k in range(reach + 1)]
        distance = (2 * sum(differences) - differences[0]) / 2
    assert distance <= float(VARIATION) / s**2
    assert distance <= (0.02017 + 0.03147 / s) / s**2 + 1e-12  # the bound of the proof, before it is rounded up
    assert distance >= 0.0195 / s**2  # and it is nearly tight


@pytest.mark.claim("additive.5")
def test_every_scale_from_4_to_64_in_floats() -> None:
    from scipy.stats import norm

    for s in range(4, 65):
        k = np.arange(-12 * s, 12 * s + 1)
        mass = np.exp(-(k**2) / (2 * s**2))
        rounded = norm.cdf((k + 0.5) / s) - norm.cdf((k - 0.5) / s)
        assert np.abs(mass / mass.sum() - rounded).sum() / 2 <= 0.03 / s**2


@pytest.mark.claim("additive.5")
def test_the_constants_of_the_proof() -> None:
    def density(x: float) -> float:
        return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)

    assert 4 * density(1) <= 0.96788 + 5e-6
    assert 2 * (density(0) + 4 * density(math.sqrt(3))) <= 1.5101
    assert (0.96789 / 48, 1.5101 / 48) <= (0.02017, 0.03147)
    assert 0.02017 + 0.03147 / 4 + 16 * 1.5 * math.exp(-2 * math.pi**2 * 16) <= 0.0281 < VARIATION


@pytest.mark.claim("additive.5")
def test_slack_is_exact_and_refuses_too_few_steps() -> None:
    assert slack(7, 2**20) == Fraction(21, 100 * 2**40)
    assert slack(np.int64(7), np.int64(2**40)) == Fraction(21, 100 * 2**80)  # type: ignore[arg-type]
    with pytest.raises(BadInput):
        slack(1, 3)


@WIDE
@given(st.floats(1e-300, 1e300), st.floats(0, 1e300))
def test_a_grid_for_noise_holds_sigma_and_the_sum(sigma: float, largest: float) -> None:
    try:
        grid = Grid.for_sigma(sigma, largest)
    except BadInput:
        assert Fraction(largest) / Fraction(sigma) >= 2**40
        return
    steps = Fraction(repr(sigma)) / grid.step
    assert 2**COARSE <= steps < 2 ** (FINE + 1)
    assert Fraction(repr(largest)) / grid.step < ROOM
    assert steps >= 2**FINE or Fraction(repr(largest)) / grid.step >= ROOM / 2  # no coarser than it must be


def test_a_grid_needs_noise() -> None:
    for sigma in (0, -1.0):
        with pytest.raises(BadInput):
            Grid.for_sigma(sigma, 1)


@pytest.mark.claim("additive.4")
def test_fits_is_decided_without_overflow() -> None:
    assert fits(1, ROOM - 1)
    assert not fits(2, ROOM // 2)
    assert not fits(np.int64(2**32), np.int64(2**33))  # type: ignore[arg-type]


def test_means_and_values_are_exact() -> None:
    grid = Grid(-2)
    assert grid.mean(7, 3) == Fraction(7, 12)
    assert grid.value(3) == 0.75
    assert grid.value([1, 2]).tolist() == [0.25, 0.5]
    assert grid.steps(0.3) == 2


@WIDE
@given(st.fractions(min_value=Fraction(1, 10**30), max_value=10**30))
def test_floor_log2(number: Fraction) -> None:
    k = floor_log2(number)
    assert Fraction(2) ** k <= number < Fraction(2) ** (k + 1)
