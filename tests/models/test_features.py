"""Features as small whole numbers with weights."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from discreet.accounting.allocation import Allocation
from discreet.audit.replay import Recorder, exceeds
from discreet.errors import BadInput
from discreet.models.features import STEPS, Features, Scaling, find_scaling, framed, prepared, scaling_shares
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.stages.gram import Frame

VALUES = (0.0, 1.0, -2.5, 31.0, 40.0, 1e300, -math.inf, math.inf, math.nan, 5e-324)
TABLE = np.array([(*pair, outcome) for pair in product(VALUES, repeat=2) for outcome in (0.0, 1.0, math.nan)])
SCALING = Scaling(np.array([0.5, -1.0]), np.array([1.0, 3.0]), True)


@pytest.mark.claim("features.1")
def test_each_row_by_itself_in_any_company() -> None:
    whole = prepared(TABLE, SCALING)
    for place in range(0, len(TABLE), 7):
        alone = prepared(TABLE[place : place + 1], SCALING)
        assert (alone.steps[0] == whole.steps[place]).all()
        assert alone.weight[0] == whole.weight[place]
        assert alone.outcome[0] == whole.outcome[place]
    assert (whole.steps[:, 0] == STEPS).all()
    assert whole.steps.min() >= -32767
    missing = np.isnan(TABLE[:, 0])
    assert (whole.steps[missing, 1] == 0).all()
    assert prepared(np.array([[1.5, 2.0, 1.0]]), SCALING).steps.tolist() == [[1024, 1024, 1024]]


@pytest.mark.claim("features.2")
def test_weights_bound_length_and_square_exactly() -> None:
    for scaling in (SCALING, Scaling(np.zeros(2), np.full(2, 0.01), False)):
        found = prepared(TABLE, scaling)
        for steps, weight in zip(found.steps.tolist(), found.weight.tolist(), strict=True):
            square = Fraction(sum(s * s for s in steps), STEPS**2)
            radius = Fraction(scaling.size)  # R^2
            assert 0 <= weight <= 1
            assert Fraction(weight) * square <= radius
            assert Fraction(weight) ** 2 * square <= radius
        assert (found.weight[np.isnan(TABLE[:, 2])] == 0).all()
    assert prepared(np.array([[0.5, -1.0, 0.0]]), SCALING).weight[0] > 0.999


@pytest.mark.claim("features.4")
def test_rows_in_a_frame_have_weights_too() -> None:
    frame = Frame.of(np.array([1.0, 3.0]), np.array([[1.0, 0.5], [-2.0, 1.0]]), np.array([0.5, -1.0]))
    found = framed(TABLE, frame, 2.5)
    for place, (steps, weight) in enumerate(zip(found.steps.tolist(), found.weight.tolist(), strict=True)):
        alone = framed(TABLE[place : place + 1], frame, 2.5)
        assert alone.steps.tolist() == [steps]
        assert alone.weight.tolist() == [weight]
        square = Fraction(sum(s * s for s in steps), STEPS**2)
        assert 0 <= weight <= 1
        assert Fraction(weight) * square <= 2 * Fraction(25, 4)
        assert Fraction(weight) ** 2 * square <= Fraction(25, 4)
        long = max(float(square) ** 0.5, 1e-9)
        assert weight == pytest.approx(min(1.0, 2.5 / long, 12.5 / long**2) * (weight > 0))
    assert found.bend == 2
    assert (found.weight[np.isnan(TABLE).any(axis=1)] == 0).all()
    assert framed(np.array([[1.5, -1.0, np.nan]]), frame, 2.5).weight.tolist() == [0.0]
    assert framed(np.array([[1.5, -1.0, 1.0]]), frame, 2.5).steps.tolist() == [[1024, -2048]]


@pytest.mark.claim("features.3")
@pytest.mark.parametrize("relation", list(Neighbours))
def test_scales_are_found_and_cost_their_choices(relation: Neighbours) -> None:
    rng = np.random.default_rng(0)
    table = rng.normal(size=(4000, 3)) * [1.0, 100.0, 1.0] + [0.0, 1e4, 0.0]
    costs = Allocation.of(1.0).split(**scaling_shares(Features(("a", "b")), Fraction(4, 5)))
    recorder = Recorder(Seeded(1))
    found = find_scaling(table, Features(("a", "b")), costs, relation, recorder)
    assert isinstance(found, Scaling)
    assert [request.loss for request, _ in recorder.log] == [costs["centre"], costs["unit"]] * 2
    assert exceeds(recorder.spent, costs.loss) is None
    assert abs(found.centre[1] - 1e4) < 50
    assert (found.unit > [0.5, 50]).all()
    assert (found.unit < [2, 200]).all()
    refused = find_scaling(table * 1e200, Features(("a", "b")), costs, relation, Seeded(1))
    assert isinstance(refused, str)


def units(features: Features) -> list[float]:
    scaling = features.scaling()
    assert scaling is not None
    return [float(unit) for unit in scaling.unit]


def test_declared_bounds_and_norms() -> None:
    both = Features(("a", "b"), bounds=((0, 4), None))
    assert both.unknown == 1
    assert both.scaling() is None
    assert units(Features(("a", "b"), norm=math.sqrt(2))) == [1.0, 1.0]
    assert units(Features(("a",), bounds=(0, 1))) == [0.5]
    assert units(Features(("a",), bounds=(-2, 2), intercept=False)) == [1.0]
    for wrong in ({"bounds": ((0, 1),) * 3}, {"bounds": (1, 0)}, {"norm": -1.0}, {"norm": 1.0, "bounds": (0, 1)}):
        with pytest.raises(BadInput):
            Features(("a", "b"), **wrong)
    with pytest.raises(BadInput, match="intercept"):
        Features(("a",), intercept=1)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="features"):
        Features(())


def test_coefficients_go_back_to_the_units_of_the_data() -> None:
    slopes, constant = SCALING.back(np.array([1.0, 2.0, 3.0]))
    assert slopes.tolist() == [2.0, 1.0]
    assert constant == 1.0 - 2.0 * 0.5 + 1.0
    assert np.allclose(SCALING.backwards() @ [1.0, 2.0, 3.0], [constant, *slopes])
