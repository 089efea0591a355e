"""The logistic loss with a bound on its rounding."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from discreet.models import logistic_loss as tilted
from discreet.models.descent import Descent
from discreet.models.features import STEPS, Features, Prepared, Scaling, framed, prepared
from discreet.models.logistic_loss import ERROR, LONGEST, MOST, LogisticLoss, sigmoid
from discreet.models.objective import ObjectivePerturbation
from discreet.models.prepared_rows import FarPrepared
from discreet.noise import tilted_minimum
from discreet.noise.randomness import Seeded
from discreet.noise.tilted_minimum import GAMMA, TiltedObjective, exactly, newton
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Approximate
from discreet.stages.gram import Frame
from discreet.tables.streams import Stream


def loss(rows: int, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    table = np.column_stack([rng.normal(size=(rows, 2)) * [1, 8], rng.integers(0, 2, rows)])
    return LogisticLoss(prepared(table, Scaling(np.zeros(2), np.ones(2), True)), rows)


def in_a_frame(rows: int, seed: int = 0, reach: float = 2.0) -> Any:
    rng = np.random.default_rng(seed)
    table = np.column_stack([np.ones(rows), rng.normal(size=(rows, 2)) * [1, 4], rng.integers(0, 2, rows)])
    return LogisticLoss(framed(table, Frame.of(np.ones(3), np.eye(3)), reach), rows)


@pytest.mark.claim("logistic_loss.2")
def test_one_person_is_no_steeper_or_more_curved_than_claimed() -> None:
    steepest = 0.0
    for seed in range(80):
        one, most = (loss(1, seed), 0.25) if seed % 2 else (in_a_frame(1, seed), 0.5)
        assert one.bend == most
        for w in (np.zeros(3), np.array([5.0, -3.0, 0.1]), np.array([-100.0, 50.0, 3.0])):
            assert np.linalg.norm(one.gradient(exactly(w))[0]) <= 1
            values = np.linalg.eigvalsh(one.hessian(w))
            assert values.max() <= most + 1e-15
            steepest = max(steepest, float(values.max()))
            assert values[:-1].max() <= 1e-15
    assert steepest > 0.45  # so that what is claimed is no more than it must be


def valley(rows: int) -> np.ndarray:
    """Two features that are one another's negative: along their sum nothing but the ridge holds the coefficients."""
    x = np.random.default_rng(0).normal(size=rows)
    return np.column_stack([x, -x, np.arange(rows) % 2])


@pytest.mark.claim("logistic_loss.3")
@pytest.mark.parametrize("size", [0.1, 3.0, 4000.0, 1e5, 2.0**19, 1e9, 1e30])
@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("offset", [0.0, -11.97])
def test_the_gradient_errs_by_less_than_it_says(size: float, flat: bool, offset: float) -> None:
    """Against sums of 90-digit residuals; in a valley where large coefficients cancel, too."""
    from decimal import Decimal, getcontext

    getcontext().prec = 90
    found, w = loss(300), np.random.default_rng(1).normal(size=3) * size
    if offset:
        found = in_a_frame(300, reach=LONGEST)
    if flat:
        found, w = LogisticLoss(prepared(valley(300), Scaling(np.zeros(2), np.ones(2), False)), 300), np.full(2, size)
    found = replace(found, offset=offset)
    at = [one + Fraction((-1) ** k, 3) for k, one in enumerate(exactly(w), start=1)]
    gradient, off = found.gradient(at)
    total = [Decimal(0)] * found.size
    scale = Decimal(1024) * Decimal(found.rows.radius)
    for steps, weight, y in zip(found.rows.steps.tolist(), found.rows.weight, found.rows.outcome, strict=True):
        exact = sum(s * part for s, part in zip(steps, at, strict=True))
        linear = Decimal(exact.numerator) / exact.denominator / scale + Decimal(offset)
        linear = min(max(linear, Decimal(-500)), Decimal(500))
        residual = (1 / (1 + (-linear).exp()) - Decimal(float(y))) * Decimal(float(weight))
        total = [t + residual * s / scale for t, s in zip(total, steps, strict=True)]
    wrong = math.sqrt(sum(float(Decimal(float(g)) - t) ** 2 for g, t in zip(gradient, total, strict=True)))
    assert wrong <= off < 1e-9
    assert Fraction(off) > 0


@pytest.mark.claim("logistic_loss.5")
@pytest.mark.parametrize("framing", [True, False])
def test_a_minimum_is_the_same_however_rows_are_cut(framing: bool) -> None:
    """And second derivatives are no larger than those of the loss, and hardly smaller."""
    held = in_a_frame(20_000, reach=3.0) if framing else loss(20_000)
    rng = np.random.default_rng(0)
    kinds: Any = (held.rows.steps, held.rows.weight, held.rows.outcome)
    whole = [Fraction(1, 3), Fraction(-2, 7), Fraction(1, 11)]
    w = np.array([float(one) for one in whole])
    for _ in range(3):
        order, ends = rng.permutation(20_000), np.sort(rng.integers(0, 20_001, 5)).tolist()
        pieces = [order[start:end] for start, end in itertools.pairwise([0, *ends, 20_000])]
        rows = Stream(20_000, lambda pieces=pieces: iter(pieces), kind=np.int64)  # type: ignore[misc]
        prepare = partial(_chosen, kinds=kinds, like=held.rows)
        far = replace(held, rows=FarPrepared.of(rows, prepare, prepare(np.empty(0, dtype=np.int64))))
        assert (far.reach, far.size, far.tolerance) == (held.reach, held.size, held.tolerance)
        assert far.gradient(whole)[0].tolist() == held.gradient(whole)[0].tolist()
        assert far.hessian(w).tolist() == held.hessian(w).tolist()
        terms: dict[str, Any] = {"steepness": 2, "curvature": 0.5, "ridge": 2, "cost": Approximate(1.0, 0)}
        assert Seeded(3).minimum(far, **terms).tolist() == Seeded(3).minimum(held, **terms).tolist()
    x = held.rows.steps * held.per
    chance = sigmoid(x @ w)
    bends = (x * (held.rows.weight * chance * (1 - chance))[:, None]).T @ x
    left = np.linalg.eigvalsh(bends - held.hessian(w))
    assert left.min() >= -1e-9
    assert left.max() <= 0.03 * np.linalg.eigvalsh(bends).max()


@pytest.mark.claim("glm_stages.3")
def test_of_more_rows_than_are_allowed_for_the_first_are_in_a_minimum(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tilted, "MOST", 50)
    rows = np.arange(240.0).reshape(80, 3)
    pieces = np.array_split(rows, 7)
    for given in (rows, Stream(80, lambda: iter(pieces))):
        assert np.array_equal(tilted.most_rows(given), rows[:50])
        fewer = given if isinstance(given, Stream) else given[:50]
        monkeypatch.setattr(tilted, "MOST", 80)
        assert tilted.most_rows(fewer) is fewer
        monkeypatch.setattr(tilted, "MOST", 50)


@pytest.mark.claim("logistic_loss.5")
def test_few_steps_of_a_feature_do_not_hold_up_newtons_method() -> None:
    """Bounds hundreds of times as wide as a column leave it a few steps, and the ridge is small beside so many rows."""
    for most in (3, 7, 12):
        rng = np.random.default_rng(most)
        steps = rng.integers(-most, most + 1, (20_000, 2)).astype(np.int16)
        rows = Prepared(steps, np.full(20_000, 1 - 2.0**-40), rng.integers(0, 2, 20_000).astype(float), 1.0)
        found = LogisticLoss(rows, 20_000)
        x = steps * found.per
        left = np.linalg.eigvalsh(x.T @ x / 4 - found.hessian(np.zeros(2)))
        assert -1e-9 <= left.min() <= left.max() <= 1e-3 * np.linalg.eigvalsh(x.T @ x / 4).max()
        lean = TiltedObjective(found, [Fraction(1), Fraction(-1, 2)], Fraction(1, 64), 2.0**-18)
        assert newton(lean, np.zeros(2)) is not None


def _chosen(places: Any, *, kinds: Any, like: Prepared) -> Prepared:
    steps, weight, outcome = (one[np.asarray(places, dtype=np.int64)] for one in kinds)
    return replace(like, steps=steps, weight=weight, outcome=outcome)


@pytest.mark.claim("logistic_loss.4")
@pytest.mark.parametrize("relation", list(Neighbours))
@pytest.mark.parametrize(
    ("epsilon", "ridge", "rounding"), [(1e-8, None, 1.0), (5.62, 2.0**-10, 1.0), (1.0, None, 2.0**25)]
)
def test_every_minimum_is_found(
    epsilon: float, ridge: float | None, rounding: float, relation: Neighbours, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tilt too large for floats to add, a long valley, the rounding of 10^12 rows: each went on for ever, once."""
    seen, gradient = [], LogisticLoss.gradient

    def counted(self: LogisticLoss, point: Sequence[Fraction]) -> tuple[np.ndarray, float]:
        seen.append(1)
        assert len(seen) < 200
        return gradient(self, point)

    monkeypatch.setattr(LogisticLoss, "gradient", counted)
    monkeypatch.setattr(tilted, "ERROR", rounding * tilted.ERROR)
    features = Features(("x", "y"), intercept=False, bounds=(-2, 2))
    rows = valley(60_000)
    release = ObjectivePerturbation(features, epsilon, ridge=ridge, confidence=None, neighbours=relation).release(
        rows, Seeded(1)
    )
    assert np.isfinite(release.value.coef).all()


@pytest.mark.claim("logistic_loss.4")
def test_the_tolerance_reads_public_numbers() -> None:
    few, many = (LogisticLoss(loss(rows).rows, 10**10).tolerance for rows in (1, 500))
    assert few == many == 4.5 * 10**10 * ERROR
    assert loss(500).gradient([Fraction(0)] * 3)[1] * 4.5 <= loss(500).tolerance
    assert LogisticLoss(loss(9).rows, 10**6).tolerance < float(GAMMA)
    assert LogisticLoss(loss(9).rows, MOST).tolerance < 2.3 * float(GAMMA)


def test_nobody_has_no_slope() -> None:
    nobody = LogisticLoss(Prepared(np.empty((0, 2), dtype=np.int16), np.empty(0), np.empty(0), 1.0), 1)
    assert nobody.gradient([Fraction(1)] * 2)[0].tolist() == [0.0, 0.0]


@pytest.mark.claim("logistic_loss.3")
def test_the_numbers_of_the_proof_are_those_of_the_code() -> None:
    """The parts of a gradient's error, in 2^-53: linear part 7, its rounding 0.8, sigmoid 3, residual 1; sums 32 and 2.

    They hold for offsets of at most 12 and for w |V| < 2^14, which R <= 15 gives."""
    assert ERROR >= (7 + 0.8 + 3 + 1 + 32 + 2) * 2.0**-53
    assert tilted.OFFSET <= 12
    assert STEPS * LONGEST < 2**14


@pytest.mark.claim("glm_stages.4")
@pytest.mark.parametrize("relation", list(Neighbours))
def test_the_tilt_that_intervals_allow_for_is_the_one_that_is_drawn(
    relation: Neighbours, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Gamma(d, 1 / beta) long in a random direction: sqrt(d + 1) / beta in each coordinate."""
    size = 900 if relation is Neighbours.REPLACE else None
    model = Descent(Features(("x",), bounds=(-2, 2)), 4.0, 1e-4, tilted=True, neighbours=relation, size=size)
    rates, honest = [], tilted_minimum.tilt_rate

    def seen(*given: Any) -> Fraction:
        rates.append(honest(*given))
        return rates[-1]

    monkeypatch.setattr(tilted_minimum, "tilt_rate", seen)  # as the minimum draws it, not as intervals are told
    table = np.column_stack([np.tile([-1.0, 0.0, 1.0], 300), np.arange(900) % 2])
    model.release(table, Seeded(1))
    assert rates
    assert tilted.tilt_of(model.stages(size)) == pytest.approx(math.sqrt(3) / float(rates[-1]))
