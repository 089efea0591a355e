"""A logistic model of few people, with a public ridge in place of an information matrix."""

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pytest
from benchmarks.ordinary import held_by, limited
from tests.models.worlds import COMMON, pairs

from discreet import audit
from discreet.accounting.allocation import CHOICE
from discreet.accounting.compose import implies
from discreet.audit.replay import drawn, exceeds, itemised
from discreet.audit.worlds import Pair
from discreet.models import logistic_loss, ridged_minimum
from discreet.models.descent import AMPLE, Descent
from discreet.models.design_columns import CONSTANT, DesignColumn
from discreet.models.features import Features, framed
from discreet.models.first_frame import inverse_of
from discreet.models.glm_stages import Fitting
from discreet.models.logistic_loss import ridge_of, tilt_of
from discreet.models.newton_stages import NewtonStages
from discreet.models.ridged_minimum import RidgedFit, RidgedStages, seen_through, useful_part
from discreet.noise.randomness import Door, Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Approximate, Choice, Gaussian, atoms, compose

REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
FEW = COMMON * 2
NAMES = tuple("abcdefghij")


def few(relation: Neighbours, **options: Any) -> Descent:
    """Of one feature and 80 people, who are too few for an information at this epsilon."""
    return Descent(Features(("x",)), 9.0, 1e-4, tilted=True, neighbours=relation, **options)


def columns(size: int, seed: int, kind: str = "mixed") -> np.ndarray:
    """Ten columns: two nearly the same, a skewed one, flags, and one far from 0."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(size, 10))
    if kind == "mixed":
        x[:, 1] = x[:, 0] + 0.1 * x[:, 1]
        x[:, 2] = np.exp(x[:, 2])
        x[:, 3:5] = x[:, 3:5] > [0.6, 0.0]
        x[:, 5] = 1.6e9 + 1e7 * x[:, 5]
    return x


def outcomes(x: np.ndarray, seed: int, log_odds: float = 0.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    z = (x - x.mean(axis=0)) / x.std(axis=0) @ rng.normal(size=x.shape[1])
    return np.asarray(rng.random(len(x)) < 1 / (1 + np.exp(-log_odds - z / z.std())))


@pytest.mark.claim("descent.1")
@pytest.mark.claim("ridged_minimum.1")
@pytest.mark.claim("ridged_minimum.2")
@pytest.mark.parametrize("relation", [REPLACE, ADD])
def test_audited_on_small_tables(relation: Neighbours) -> None:
    mechanism = few(relation)
    assert implies(mechanism.loss, mechanism.guarantee)
    audit.check(mechanism, pairs(relation, FEW)[::2], hostile_values=False).require()
    release = mechanism.release(np.array(FEW), Seeded(1))
    assert "with a ridge" in str(release).splitlines()[0]  # all stages were seen


@pytest.mark.claim("ridged_minimum.1")
@pytest.mark.claim("ridged_minimum.2")
def test_whether_there_is_a_ridge_is_decided_by_the_noisy_count() -> None:
    """One person more, around the numbers at which it is refused, has a ridge, and has none: with equal draws either
    way the same stages run."""
    mechanism, many = few(ADD), COMMON * 4
    kinds = [type(mechanism._chosen(size)) for size in range(1, len(many))]
    first = next(size for size in range(1, len(many)) if mechanism._chosen(size).enough(size))
    for size in (first, 1 + kinds.index(NewtonStages)):
        near = [Pair(many[:one], many[: one + 1]) for one in (size - 2, size - 1)]
        audit.check(mechanism, near, hostile_values=False).require()


@pytest.mark.claim("ridged_minimum.2")
def test_rows_with_a_missing_entry_count_nowhere() -> None:
    mechanism = Descent(Features(("x",), bounds=(-1, 1)), 9.0, 1e-4, tilted=True, neighbours=ADD)
    lost = [(math.nan, 1.0)] * 30 + [(0.5, math.nan)] * 5
    found, other = (mechanism.release(np.array(rows), Seeded(3)) for rows in (FEW, [*lost, *FEW]))
    assert found.value.coef.tolist() == other.value.coef.tolist()


@pytest.mark.claim("ridged_minimum.1")
def test_every_draw_is_in_the_loss() -> None:
    """With a public number of rows, one by one; else of few rows and of many within one loss that was declared."""
    mechanism = few(REPLACE, size=len(FEW))
    assert isinstance(mechanism._chosen(len(FEW)), RidgedStages)
    assert itemised(drawn(mechanism, np.array(FEW))) == itemised(mechanism.loss)
    for epsilon, sizes in ((1.0, (14, 400)), (9.0, (3, 40))):
        either = replace(few(ADD), epsilon=epsilon)
        assert implies(either.loss, either.guarantee)
        for times in sizes:
            spent = drawn(either, np.array(COMMON * times))
            assert any(isinstance(part, Approximate) for part in atoms(spent))  # all stages were seen
            assert exceeds(spent, either.loss) is None
            assert exceeds(compose(spent, Gaussian(0.4)), either.loss) is not None
            assert exceeds(compose(spent, Approximate(0.1, 0)), either.loss) is not None


def _square(one: Any) -> Fraction:
    return Fraction(one.epsilon) ** 2 / CHOICE if isinstance(one, Choice) else Fraction(one.mu) ** 2


@pytest.mark.claim("descent.2")
@pytest.mark.claim("ridged_minimum.1")
def test_a_row_more_does_not_decide_between_few_and_many() -> None:
    """One that stands just where the choice would change if it read the number of rows itself."""
    mechanism, rows = few(ADD), COMMON * 20
    edge = next(size for size in range(40, 800) if not isinstance(mechanism._chosen(size + 1), RidgedStages))
    assert isinstance(mechanism._chosen(edge), RidgedStages)
    audit.check(mechanism, [Pair(rows[: edge + 1], rows[:edge])], hostile_values=False).require()


@pytest.mark.claim("ridged_minimum.1")
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
@pytest.mark.parametrize("features", [1, 10])
def test_few_and_many_begin_with_the_same_count_and_have_the_same_parts(epsilon: float, features: int) -> None:
    """Or the choice between them, by that count, would not be one of two equal prices."""
    mechanism = Descent(Features(NAMES[:features]), epsilon, 1e-6, tilted=True, neighbours=ADD)
    many, ridged = mechanism.stages(None).costs, cast(RidgedStages, mechanism._chosen(1)).costs
    assert many.parts["count"] == ridged.parts["count"]
    assert many.parts["minimum"] == ridged.parts["minimum"]
    for costs in (many, ridged):
        squares = [_square(one) for name, parts in costs.parts.items() if name != "minimum" for one in parts]
        assert 0.98 * many.square <= sum(squares) <= many.square
    assert [one for one in atoms(mechanism.loss) if isinstance(one, Approximate)] == [many.part("minimum", Approximate)]


@pytest.mark.claim("descent.3")
@pytest.mark.claim("ridged_minimum.3")
@pytest.mark.parametrize(("relation", "size"), [(ADD, 1000), (REPLACE, 1900)])
def test_ten_features_of_a_thousand_people_have_intervals(relation: Neighbours, size: int) -> None:
    """That hold what the first line names, though columns are far from 0, nearly the same, skewed: of 66 intervals of
    99.9% at most 3 miss (a chance below 1e-6)."""
    missed = 0
    x = columns(40_000, 0)
    y = outcomes(x, 1, -1.2)
    mechanism = Descent(Features(NAMES), 1.0, 1e-6, tilted=True, neighbours=relation)
    for seed in range(6):
        chosen = np.random.default_rng(seed).integers(len(x), size=size)
        release = mechanism.release(np.column_stack([x, y])[chosen], Seeded(seed))
        assert "with a ridge" in str(release).splitlines()[0]
        (way, limit), bar = cast(Any, release.spread).limit, release.interval(0.999)
        truth = limited(x, y, way, limit, "logit", far=True, held=held_by(release, len(x)))
        low, high = (np.append(end.coef, end.intercept) for end in (bar.low, bar.high))
        missed += int(((truth < low) | (truth > high)).sum())
    assert missed <= 3


def errors_of(way: np.ndarray, bound: np.ndarray, weight: float, tilt: float) -> tuple[np.ndarray, np.ndarray]:
    """The squares of the errors that are stated, by sampling and by the tilt."""
    many = len(way)
    known: dict[str, Any] = {"reach": 1.0, "log_odds": 0.0, "size": 1.0, "share": 0.5, "why": ""}
    none = np.zeros(many)
    fit = RidgedFit(value=none, bias=none, way=way, bound=bound, weight=weight, tilt=tilt, **known)
    spread = fit.spread(NAMES[: many - 1], intercept=True)
    parts = (spread.sampling, spread.privacy)
    return tuple(np.append(one.intercept, one.coef) ** 2 for one in parts)  # type: ignore[return-value]


@pytest.mark.claim("ridged_minimum.3")
def test_no_information_makes_errors_larger_than_those_that_are_stated() -> None:
    """Whatever it is, seen with whatever noise of its size, or not at all; and some make them as large."""
    draw, weight, tilt, close = np.random.default_rng(0), 50.0, 7.0, 1 + 1e-9
    for trial in range(300):
        turn, _ = np.linalg.qr(draw.normal(size=(3, 3)))
        information = (turn * weight * 10.0 ** draw.uniform(-3, 3, 3)) @ turn.T
        noise = draw.normal(size=(3, 3)) * 10.0 ** draw.uniform(-1, 3)
        noise += noise.T
        values, vectors = np.linalg.eigh(information + noise)
        seen = seen_through(values, float(np.abs(np.linalg.eigvalsh(noise)).max()), weight)
        bound = inverse_of(seen, vectors) if trial % 3 else np.eye(3) / weight
        way, found = draw.normal(size=(3, 3)), np.linalg.inv(information + weight * np.eye(3))
        sampling, privacy = errors_of(way, bound, weight, tilt)
        assert ((way @ found @ (2 * information) @ found @ way.T).diagonal() <= sampling * close).all()
        assert ((tilt**2 * way @ found @ found @ way.T).diagonal() <= privacy * close).all()
    sampling, privacy = errors_of(np.eye(2), np.eye(2) / weight, weight, tilt)
    assert sampling == pytest.approx(2 * weight / (2 * weight) ** 2)  # an information like the ridge
    assert privacy == pytest.approx(tilt**2 / weight**2)  # none
    sampling, privacy = errors_of(np.eye(2), np.eye(2) / (9 * weight), weight, tilt)
    assert sampling == pytest.approx(2 / (9 * weight))
    assert privacy == pytest.approx(tilt**2 / (9 * weight**2))


@pytest.mark.claim("ridged_minimum.3")
def test_beside_an_information_its_noise_is_left_out_and_the_tilt_is_that_of_rows_in_units(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of many people, who have the minimum with its ridge at hand: what its errors are computed of."""
    found: dict[str, Any] = {}
    gram, of = Fitting.gram, RidgedFit.of

    def summed(self: Fitting, *given: Any) -> Any:
        found[given[1]] = gram(self, *given)
        return found[given[1]]

    def kept(*given: Any, **known: Any) -> RidgedFit:
        found.update(known, bound=given[4])
        return of(*given, **known)

    monkeypatch.setattr(Fitting, "gram", summed)
    monkeypatch.setattr(RidgedFit, "of", kept)
    mechanism = few(ADD)
    assert mechanism.release(np.array(COMMON * 10), Seeded(0)).refusal is None
    stages, (information, noise), reach = mechanism.stages(None), found["information"], found["reach"]
    assert found["weight"] == pytest.approx(float(ridge_of(stages)) * reach**2)
    assert found["tilt"] == pytest.approx(tilt_of(stages) * reach)
    assert reach > 1
    least = information + (found["weight"] - 2 * math.sqrt(len(information)) * noise / math.sqrt(2)) * np.eye(2)
    least = np.linalg.eigvalsh(np.linalg.inv(found["bound"]) - least)
    assert least.max() <= 0  # noise of its size, as an operator, is taken off


@pytest.mark.claim("ridged_minimum.3")
def test_where_the_people_show_nothing_the_interval_is_as_wide_as_the_tilt() -> None:
    """Two columns that are one another's negative: along their sum the ridge alone holds the slopes, and the interval
    is no wider than it must be. Of 200 intervals of 90% along that sum 160 to 195 hold, but for a chance of 1e-6."""
    rng, held, constant = np.random.default_rng(0), 0, 0.0
    mechanism = Descent(Features(("a", "b"), bounds=(-2, 2)), 1.0, 1e-6, tilted=True, neighbours=REPLACE)
    for seed in range(200):
        x = rng.normal(size=900)
        y = rng.random(900) < 1 / (1 + np.exp(1 - x))
        release = mechanism.release(np.column_stack([x, -x, y]), Seeded(seed))
        assert "with a ridge" in str(release).splitlines()[0]
        spread = cast(Any, release.spread)
        wide = 1.645 * math.hypot(*spread.privacy.coef)  # what sampling adds is 0 there
        held += bool(abs(sum(release.value.coef)) <= wide)
        constant += release.value.intercept / 200
    assert 160 <= held <= 195
    assert -1.1 < constant < -0.7  # their mean is off by 0.02 or so


@pytest.mark.claim("descent.2")
@pytest.mark.claim("ridged_minimum.2")
def test_fewer_people_are_refused_by_public_numbers_and_the_advice_works() -> None:
    mechanism = Descent(Features(NAMES), 1.0, 1e-6, tilted=True, neighbours=ADD)
    x = columns(3000, 3)
    table = np.column_stack([x, outcomes(x, 4)])
    refusal = str(mechanism.release(table[:300], Seeded(0)).refusal)
    assert "by a noisy count" in refusal
    bring = int(refusal.split("bring ")[1].split(maxsplit=1)[0])
    assert all(mechanism.release(table[:bring], Seeded(seed)).refusal is None for seed in range(6))
    public = replace(mechanism, neighbours=REPLACE)
    assert "there are 900 rows" in str(public.release(table[:900], Seeded(0)).refusal)
    least = public.needed()
    public.check(least)
    assert public.release(table[: 11 * least // 10], Seeded(0)).refusal is None
    assert isinstance(public._chosen(least), RidgedStages)
    ample = next(size for size in range(1000, 20_000, 50) if public.stages(size).enough(size / AMPLE))
    assert not isinstance(public._chosen(ample), RidgedStages)


@pytest.mark.claim("ridged_minimum.2")
def test_the_ridge_is_one_that_keeps_the_tilt_small() -> None:
    for epsilon in (0.1, 1.0, 8.0, 60.0):
        for features in (1, 4, 10):
            for relation in (REPLACE, ADD):
                mechanism = Descent(Features(NAMES[:features]), epsilon, 1e-6, tilted=True, neighbours=relation)
                stages = cast(RidgedStages, mechanism._chosen(1))
                moved = stages.tilt / stages.weight * math.sqrt(features + 1)
                assert moved <= 1.2 * ridged_minimum.LOUDEST
                assert stages.weight >= features + 1


@pytest.mark.claim("ridged_minimum.1")
@pytest.mark.parametrize("mutant", ["weights", "steepness", "curvature"])
@pytest.mark.parametrize("relation", [REPLACE, ADD])
def test_mutants_are_caught(mutant: str, relation: Neighbours, monkeypatch: pytest.MonkeyPatch) -> None:
    """Far rows that weigh as much as others, and tilts for half of what a person does, fail the replay."""
    far, near = (1e9, 0.0) if mutant == "weights" else (40.0, 0.0), (0.3, 1.0)
    if mutant == "steepness":
        far, near = (1.6, 0.0), (-1.6, 0.0)  # at the length from which on rows weigh less
    pair = Pair([*FEW, far], [*FEW, near]) if relation is REPLACE else Pair([*FEW, far], FEW)
    mechanism = few(relation)
    audit.check(mechanism, [pair], hostile_values=False).require()
    if mutant == "weights":

        def heavy(*given: Any, **more: Any) -> Any:
            found = framed(*given, **more)
            return replace(found, weight=np.ones(len(found)))

        monkeypatch.setattr(logistic_loss, "framed", heavy)
    else:
        minimum = Door.minimum

        def flat(self: Door, objective: Any, **given: Any) -> Any:
            return minimum(self, objective, **{**given, mutant: Fraction(given[mutant]) / 2})

        monkeypatch.setattr(Door, "minimum", flat)
    assert not audit.check(mechanism, [pair], hostile_values=False).passed


@pytest.mark.claim("ridged_minimum.4")
def test_slopes_that_a_tilt_alone_makes_are_drawn_to_none_and_intervals_allow_for_it() -> None:
    """Where outcomes depend on nothing; and the least that is left is as far from the interval's ends as without."""
    x = np.random.default_rng(0).normal(size=(1000, 10))
    yes = np.random.default_rng(1).random(1000) < 0.5
    mechanism = Descent(Features(NAMES), 1.0, 1e-6, tilted=True, neighbours=ADD)
    flat = [mechanism.release(np.column_stack([x, yes]), Seeded(seed)) for seed in range(6)]
    told = sum(float(np.abs(one.value.coef).sum()) for one in flat)
    drawn_off = sum(float(cast(Any, one.spread).bias[1:].sum()) for one in flat)
    assert told < drawn_off  # less than half of what the tilts made is left
    for one in flat:
        bar = one.interval(0.95)
        assert ((bar.low.coef < 0) & (bar.high.coef > 0)).all()
    theta = np.array([0.2, -0.1])
    places: Any = ((CONSTANT, DesignColumn("x"), DesignColumn("y")), np.zeros(2), np.array([1.0, 0.5]))
    terms: dict[str, Any] = {"weight": 100.0, "reach": 1.5, "log_odds": 0.3, "size": 900.0}
    for tilt in (1.0, 30.0, 100.0):
        fit = RidgedFit.of(places, theta, np.eye(2), 200.0, np.eye(2) / 100, tilt=tilt, **terms)
        part = useful_part(theta, 200.0, 100.0, tilt)
        assert fit.value == pytest.approx([0.3 + part * 0.2, part * -0.1 / 0.5])
        assert fit.bias == pytest.approx([(1 - part) * 0.2, (1 - part) * 0.2])
        spread = fit.spread(("x",), intercept=True)
        wide = spread.interval(0.95).high.coef[0] - spread.value.coef[0]
        assert wide >= (1 - part) * 0.2 + 1.64 * spread.errors[1]
    assert 0 < useful_part(theta, 200.0, 100.0, 30.0) < 1
