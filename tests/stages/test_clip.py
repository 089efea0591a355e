"""Exact sums of clipped powers, what one record can do to them, and the budgets of their stages."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting.compose import implies
from discreet.accounting.currency import pure
from discreet.audit.replay import Recorder, drawn, exceeds
from discreet.errors import BadInput
from discreet.noise.randomness import Seeded
from discreet.privacy.exact import exact
from discreet.privacy.guarantee import Guarantee, Neighbours
from discreet.privacy.loss import Gaussian, Laplace, atoms
from discreet.stages import clip as clipped
from discreet.stages.clip import (
    BITS,
    Power,
    concentrated,
    enough,
    exact_sums,
    fitting_bits,
    joint_moments,
    moments,
    noisy_moment,
    sensitivity_of,
    steps_of,
)
from discreet.stages.distance_grid import Distances
from discreet.statistics.bounded_mean import BoundedMean
from discreet.statistics.normal import GaussianMean

HALF = 2**BITS
HOSTILE = [0.0, -0.0, 5e-324, -5e-324, 1e-300, 1.0, -3.5, 1e12, 1e300, -1e300, math.inf, -math.inf, math.nan]
POWERS: tuple[Power, ...] = (1, 2, 4)
ANY = st.floats(allow_nan=True, allow_infinity=True)
CENTRES = st.floats(allow_nan=False, allow_infinity=False)
RADII = st.floats(min_value=5e-324, max_value=1e308, exclude_min=False)


@pytest.mark.claim("clip.1")
@given(st.lists(ANY, min_size=1, max_size=20), CENTRES, RADII)
@settings(max_examples=300)
def test_one_record_is_a_bounded_number_of_steps(values: list[float], centre: float, radius: float) -> None:
    first, second, fourth = steps_of(np.array(values), centre, radius, POWERS)
    assert (np.abs(first) <= HALF).all()
    for even in (second, fourth):
        assert (even >= 0).all()
        assert (even <= HALF).all()
    alone = [steps_of(np.array([value]), centre, radius, (1,))[0][0] for value in values]
    assert first.tolist() == alone  # a function of the record alone


@pytest.mark.claim("clip.1")
@pytest.mark.parametrize("relation", list(Neighbours))
@pytest.mark.parametrize("power", POWERS)
def test_sensitivity_holds_and_is_reached(relation: Neighbours, power: Power) -> None:
    common, largest = [1.0, 2.0, math.nan], 0
    sums = {
        repr(value): exact_sums(np.array([*common, value]), 1.0, 2.0, (power,))[0] for value in [*HOSTILE, 3.0, -1.0]
    }
    without = exact_sums(np.array(common), 1.0, 2.0, (power,))[0]
    for one in sums.values():
        others = sums.values() if relation is Neighbours.REPLACE else [without]
        largest = max(largest, *(abs(one - other) for other in others))
    assert largest == sensitivity_of(power, relation) * HALF


def test_what_steps_mean() -> None:
    values = np.array([5.0, 7.0, 3.0, 6.0, 9.0, math.nan, -math.inf])
    first, second, fourth = steps_of(values, 5.0, 2.0, POWERS)
    assert (first / HALF).tolist() == [0, 1, -1, 0.5, 1, 0, -1]
    assert (second / HALF).tolist() == [0, 1, 1, 0.25, 1, 0, 1]
    assert (fourth / HALF).tolist() == [0, 1, 1, 0.0625, 1, 0, 1]


@pytest.mark.claim("clip.2")
def test_neither_order_nor_blocks_nor_the_compiled_pass_change_a_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    mixed = np.concatenate([rng.standard_cauchy(3000) * 10.0 ** rng.integers(-9, 9, 3000), HOSTILE * 20])
    halves = rng.integers(-9, 9, 3000) / 2  # ties of the rounding
    every: list[tuple[Power, ...]] = [(1,), (2,), (4,), (1, 2), (2, 4)]
    for values in (mixed, halves, mixed[::2]):
        for centre, radius in ((0.0, 1.0), (0.3, 2.5), (1e12, 3.0), (1e300, 1e299), (0.0, 5e-324), (0.0, 1e-310)):
            for powers, bits in [(powers, bits) for powers in every for bits in (BITS, 13)]:
                plain = exact_sums(values, centre, radius, powers, bits)
                with monkeypatch.context() as patch:
                    patch.setattr(clipped, "BLOCK", 100)
                    assert exact_sums(rng.permutation(values), centre, radius, powers, bits) == plain
                    patch.setattr(clipped, "LARGE", 1)
                    assert exact_sums(values, centre, radius, powers, bits) == plain  # compiled


@pytest.mark.claim("clip.2")
def test_the_integers_that_are_blurred_are_the_exact_sum() -> None:
    values = np.random.default_rng(0).normal(size=1000)
    recorder = Recorder(Seeded(0))
    noisy_moment(values, centre=0.1, radius=2.0, cost=Laplace(1), neighbours=Neighbours.REPLACE, rng=recorder)
    request: Any = recorder.log[0][0]
    steps = [round(min(max((value - 0.1) * (HALF / 2.0), -HALF), HALF)) for value in values.tolist()]
    assert request.values == sum(steps)
    assert request.sensitivity == 2 * HALF


@pytest.mark.claim("clip.3")
@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("value", HOSTILE)
def test_both_halves_of_a_pair_move_by_one_in_all(power: Power, value: float) -> None:
    common = [1.0, 2.0, math.nan, -5.0]
    pairs = []
    for rows in (common, [*common, value]):
        recorder = Recorder(Seeded(0))
        relation = Neighbours.ADD_OR_REMOVE
        moments(
            np.array(rows), {power: Laplace(1)}, centre=1.0, radius=2.0, size=None, neighbours=relation, rng=recorder
        )
        pairs.append(recorder.log[0][0])
    left, right = pairs
    assert left.sensitivity == right.sensitivity  # type: ignore[attr-defined]
    moved = np.abs(right.values - left.values)  # type: ignore[attr-defined]
    assert moved.sum() == left.sensitivity  # type: ignore[attr-defined]
    assert (right.values >= left.values).all()  # type: ignore[attr-defined]
    assert left.values.sum() == len(common) * left.sensitivity  # type: ignore[attr-defined]


@pytest.mark.claim("clip.4")
@pytest.mark.parametrize("bits", [0, 1, 3, 6])
def test_three_sums_move_by_hardly_more_than_one_and_two_by_hardly_more_than_two(bits: int) -> None:
    """Every value on a grid finer than the steps: the bounds hold, and less would not do."""
    half = 2**bits
    first, second = steps_of(np.linspace(-1, 1, 64 * half + 1), 0.0, 1.0, (1, 2), bits)
    three = np.abs([half + 2 * first + second, 2 * half - 2 * second, half - 2 * first + second]).sum(axis=0)
    assert three.max() <= 4 * half + 2
    assert bits < 3 or three.max() > 4 * half
    two = 2 * np.abs(first[:, None] - first) + np.abs(second[:, None] - second)
    assert 4 * half <= two.max() <= 4 * half + 3


@pytest.mark.claim("clip.4")
@pytest.mark.parametrize("value", [*HOSTILE, 2.3, 0.2])
@pytest.mark.parametrize("epsilon", [1.0, 1e-9])
def test_what_is_blurred_for_both_moments_moves_as_claimed(value: float, epsilon: float) -> None:
    common = [1.0, 2.0, math.nan, -5.0]
    for rows, others, size in (([*common, 0.7], [*common, value], 5), (common, [*common, value], None)):
        requests: list[Any] = []
        for values in (rows, others):
            recorder = Recorder(Seeded(0))
            joint_moments(np.array(values), Laplace(epsilon), centre=1.0, radius=2.0, size=size, rng=recorder)
            requests.append(recorder.log[0][0])
        assert requests[0].objection(requests[1]) is None
        assert len(recorder.log) == 1  # for the price of one


@pytest.mark.claim("clip.4")
def test_what_rounding_adds_for_both_moments_is_claimed() -> None:
    """Two fifths of a step from the end its root is rounded to the end and its square is not: each bound without its
    last few steps would be too low."""
    near = -1 + 0.4 * 2.0**-BITS
    moved = {}
    for rows, others, size in (([0.5], [0.5, near], None), ([1.0], [near], 1)):
        blurred: list[Any] = []
        for values in (rows, others):
            recorder = Recorder(Seeded(0))
            joint_moments(np.array(values), Laplace(1.0), centre=0.0, radius=1.0, size=size, rng=recorder)
            blurred.append(recorder.log[0][0])
        assert blurred[0].objection(blurred[1]) is None
        pairs = zip(*(request.values for request in blurred), strict=True)
        moved[size] = sum(abs(int(one) - int(two)) for one, two in pairs) - 4 * 2**BITS
    assert moved == {None: 2, 1: 1}


@pytest.mark.claim("clip.4")
def test_a_table_is_not_for_both_moments_at_once_nor_for_fourth_powers() -> None:
    """Rounded as a whole, the three sums move by more than is claimed."""
    plain, more = (
        Distances.of(np.array(rows), 0.0).sums(1.0, (1, 2), 4) for rows in ([0.75, 0.0625], [0.75, 0.0625, -0.953125])
    )
    u, square = more[0] - plain[0], more[1] - plain[1]
    assert abs(16 + 2 * u + square) + abs(32 - 2 * square) + abs(16 - 2 * u + square) == 4 * 16 + 4
    table = Distances.of(np.array([1.0, 2.0]), 0.0)
    where: dict[str, Any] = {"centre": 0.0, "radius": 1.0, "rng": Seeded(0)}
    for size in (2, None):
        with pytest.raises(BadInput, match="give the records"):
            joint_moments(table, Laplace(exact(1)), size=size, **where)
    with pytest.raises(BadInput, match="not of the powers"):
        exact_sums(table, 0.0, 1.0, (4,))


@pytest.mark.claim("clip.4")
@pytest.mark.parametrize("size", [4000, None])
def test_both_moments_are_those_of_the_data_with_noise_as_stated(size: int | None) -> None:
    values = np.random.default_rng(1).normal(3.0, 1.0, size=4000)
    unit = np.clip((values - 2.5) / 2, -1, 1)
    where: dict[str, Any] = {"centre": 2.5, "radius": 2.0, "size": size}
    exactly = joint_moments(values, Laplace(1e5), rng=Seeded(0), **where)
    for moment, power in zip(exactly, (1, 2), strict=True):
        assert moment.mean == pytest.approx((unit**power).mean(), abs=1e-6)
        assert moment.size == pytest.approx(4000, abs=1e-2)
    found = [joint_moments(values, Laplace(0.05), rng=Seeded(seed), **where) for seed in range(400)]
    for place, moment in enumerate(exactly):
        errors = [run[place].mean - moment.mean for run in found]
        stated = np.median([run[place].noise for run in found])
        assert np.std(errors) == pytest.approx(math.sqrt(2) * stated, rel=0.3)  # six standard errors


@pytest.mark.parametrize("relation", list(Neighbours))
def test_with_little_noise_moments_are_those_of_the_data(relation: Neighbours) -> None:
    values = np.random.default_rng(1).normal(3.0, 1.0, size=4000)
    unit = np.clip((values - 2.5) / 2, -1, 1)
    sizes: list[int | None] = [4000] if relation is Neighbours.REPLACE else [4000, None]
    for size in sizes:
        found = moments(
            values,
            {1: Laplace(1e5), 2: Laplace(1e5)},
            centre=2.5,
            radius=2.0,
            size=size,
            neighbours=relation,
            rng=Seeded(0),
        )
        assert found[0].mean == pytest.approx(unit.mean(), abs=1e-6)
        assert found[1].mean == pytest.approx((unit**2).mean(), abs=1e-6)
        assert found[0].size == pytest.approx(4000, abs=1e-2)
    for cost in (Laplace(1e5), Gaussian(50, 1e-9)):
        one = noisy_moment(values, centre=2.5, radius=2.0, cost=cost, neighbours=relation, rng=Seeded(0))
        assert one.total == pytest.approx(unit.sum(), abs=1)


def test_noise_has_the_scale_it_states() -> None:
    values = np.zeros(10)
    totals = []
    for seed in range(400):
        found = noisy_moment(
            values, centre=0.0, radius=3.0, cost=Laplace(0.5), neighbours=Neighbours.REPLACE, rng=Seeded(seed)
        )
        totals.append(found.total)
        assert found.noise == pytest.approx(2 / 0.5)
    assert np.mean(np.abs(totals)) == pytest.approx(4, rel=0.3)  # six standard errors


def test_small_epsilons_get_wider_steps_and_none_is_refused() -> None:
    assert fitting_bits(Laplace(1.0)) == BITS
    assert fitting_bits(Laplace(5e-11)) < BITS
    for epsilon in (1e-11, 1e-9, 1e-3, 1e6):
        noisy_moment(
            np.ones(3), centre=0.0, radius=1.0, cost=Laplace(epsilon), neighbours=Neighbours.REPLACE, rng=Seeded(0)
        )


@pytest.mark.parametrize(("centre", "radius"), [(math.nan, 1.0), (0.0, 0.0), (0.0, -1.0), (0.0, math.inf)])
def test_bad_centre_or_radius(centre: float, radius: float) -> None:
    with pytest.raises(BadInput, match="radius"):
        exact_sums(np.ones(3), centre, radius)


@pytest.mark.parametrize("relation", list(Neighbours))
@pytest.mark.parametrize("epsilon", [1e-9, 3e-9, 1e-8, 1e-6])
def test_the_smallest_epsilons_are_charged_as_what_they_are(epsilon: float, relation: Neighbours) -> None:
    mechanism = BoundedMean(0, 1, epsilon, neighbours=relation)
    assert exceeds(drawn(mechanism, [0.2, 0.8]), mechanism.loss) is None
    assert pure(mechanism.loss) == (exact(epsilon), Fraction(0))


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 3.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-9, 1e-6, 1e-4])
def test_concentrated_stages_keep_the_guarantee(epsilon: float, delta: float) -> None:
    stages = concentrated(epsilon, delta, centre=Fraction(12, 100), scale=Fraction(13, 100), mean=Fraction(3, 4))
    assert stages is not None
    cost = stages.part("mean", Gaussian)
    assert implies(stages.loss, Guarantee(epsilon, delta))
    steps = 2 * 2 ** fitting_bits(cost)
    assert isinstance(Seeded(0).blur(0, sensitivity=steps, cost=cost), int)  # they can be drawn
    shared = concentrated(
        epsilon, delta, centre=Fraction(12, 100), scale=Fraction(13, 100), mean=Fraction(3, 4), times=5
    )
    assert shared is not None
    assert len(atoms(shared.loss)) == 15
    assert implies(shared.loss, Guarantee(epsilon, delta))


def test_where_the_normal_mean_takes_gaussian_noise_it_is_drawn() -> None:
    rows = np.random.default_rng(0).normal(size=10_000)
    release = GaussianMean(0.025, 1e-5, size=10_000).release(rows, Seeded(0))
    assert release.guarantee == Guarantee(0.025, 1e-5, Neighbours.REPLACE)
    assert abs(release.value) < 1


def test_where_there_is_no_room_for_slack_there_are_no_such_stages() -> None:
    shares: dict[str, Any] = {"centre": Fraction(1, 4), "scale": Fraction(1, 4), "mean": Fraction(1, 2)}
    assert concentrated(1.0, 0.0, **shares) is None
    assert concentrated(1.0, 1e-30, **shares) is None
    assert concentrated(800.0, 1e-6, **shares) is None


def test_enough() -> None:
    assert enough(80, 1000, 1.0, Fraction(1, 20), Fraction(1, 5)) == Fraction(80, 1000)
    assert enough(80, 10**6, 1.0, Fraction(1, 20), Fraction(1, 5)) == Fraction(1, 20)
    assert enough(80, 10, 1.0, Fraction(1, 20), Fraction(1, 5)) == Fraction(1, 5)
    assert enough(80, 1000, 0.5, Fraction(1, 20), Fraction(1, 5)) == Fraction(80, 500)
