"""The audit of linear regression where there are many columns: sums are pooled and steps averaged."""

import math
from typing import Any

import numpy as np
import pytest
from benchmarks.compare.published import gradient_descent

from discreet import audit
from discreet.accounting.compose import implies
from discreet.audit.replay import drawn, exceeds
from discreet.models import newton_stages
from discreet.models.least_squares import LeastSquares
from discreet.models.newton_stages import EARLIER
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Gaussian
from discreet.stages import gram, octaves

REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
MANY = 9  # columns: the fewest whose sums are pooled
NAMES = tuple(f"x{k}" for k in range(MANY))


def crowd(size: int) -> list[Any]:
    """Rows of columns that go together a little, and their outcome."""
    rng = np.random.default_rng(17)
    x = rng.normal(1.0, 2.0, size=(size, MANY)) + rng.normal(size=(size, 1))
    y = x @ np.linspace(-1.0, 1.0, MANY) + rng.normal(size=size)
    return [tuple(row) for row in np.round(np.column_stack([x, y]), 2).tolist()]


CROWD = crowd(398)


def row(at: dict[int, float], outcome: float) -> tuple[float, ...]:
    """A row of zeros but for a few columns."""
    return (*(at.get(k, 0.0) for k in range(MANY)), outcome)


LONG = (  # outside the balls: along one column and another with residuals up and down, along the outcome; and inside
    row({0: 40.0}, 60.0),
    row({0: 40.0}, -140.0),
    row({8: 40.0}, 140.0),
    row({8: -40.0}, 60.0),
    row({}, 90.0),
    row({0: 1.0, 4: 2.0}, -1.0),
)
ODD: tuple[Any, ...] = (
    row({0: math.nan}, 1.0),
    row({3: math.inf, 4: -math.inf}, 0.0),
    row({5: 1e300, 6: -1e300}, 1e300),
    row({7: 5e-324}, math.nan),
    row({1: 1e9}, -1e9),
    (1.0, 2.0),
    None,
)


def world(relation: Neighbours, step: int, beside: list[Any] | None = None) -> list[audit.Pair]:
    """Long rows and odd ones against each other, or there and not there, beside a crowd; every `step`th of them, and
    always long ones against long ones."""
    rows = CROWD if beside is None else beside
    if relation is ADD:
        chosen: list[tuple[Any, Any]] = [(one, None) for one in (*LONG[::2], *ODD[::step])]
    else:
        odd = [(a, b) for a in (*LONG, *ODD) for b in ODD if a is not b][::step]
        chosen = [(LONG[0], LONG[1]), (LONG[1], LONG[2]), (LONG[0], LONG[3]), (LONG[4], LONG[5]), *odd]
    pairs = []
    for index, (left, right) in enumerate(chosen):
        at = (0, 150, len(rows))[index % 3]
        one, other = ([*rows[:at], *added, *rows[at:]] for added in ([left], [right] if relation is REPLACE else []))
        pairs.append(audit.Pair(one, other) if index % 2 else audit.Pair(other, one))
    return pairs


def mechanism_of(relation: Neighbours, epsilon: float = 16.0, **given: Any) -> LeastSquares:
    """The regression on all columns."""
    size = len(CROWD) + 1 if relation is REPLACE else None
    return LeastSquares(epsilon, 1e-5, names=NAMES, neighbours=relation, size=size, **given)


@pytest.mark.claim("least_squares.1")
@pytest.mark.claim("newton_stages.1")
@pytest.mark.claim("newton_stages.2")
@pytest.mark.claim("newton_stages.3")
@pytest.mark.claim("newton_stages.4")
@pytest.mark.parametrize("relation", [REPLACE, ADD])
def test_every_small_pair(relation: Neighbours) -> None:
    mechanism = mechanism_of(relation)
    audit.check(mechanism, world(relation, 16 if relation is REPLACE else 2), hostile_values=False).require()
    rows = [*CROWD, LONG[-1]]
    assert mechanism.release(rows, Seeded(0)).refusal is None  # a world of answers
    assert implies(mechanism.loss, mechanism.guarantee)
    assert exceeds(drawn(mechanism, rows), mechanism.loss) is None


@pytest.mark.study
@pytest.mark.claim("least_squares.1")
@pytest.mark.claim("newton_stages.2")
@pytest.mark.parametrize("relation", [REPLACE, ADD])
@pytest.mark.parametrize(
    "given",
    [
        {},
        {"epsilon": 8.0},  # too few rows, or nearly so
        {"intercept": False, "ridge": 2.0},
        {"bounds": ((-5.0, 7.0), *[None] * 8, (-50.0, 50.0))},
    ],
)
def test_every_pair(relation: Neighbours, given: dict[str, Any]) -> None:
    mechanism = mechanism_of(relation, **given)
    audit.check(mechanism, world(relation, 1), hostile_values=False, seed=100).require()


@pytest.mark.study
@pytest.mark.claim("newton_stages.3")
@pytest.mark.parametrize("relation", [REPLACE, ADD])
def test_weighted_pairs(relation: Neighbours) -> None:
    """The same rows with a weight each, odd ones with a large weight, none, and a missing one."""
    mechanism = mechanism_of(relation, weights=True)

    def weighted(rows: Any) -> list[Any]:
        return [(*one, (1.0, 0.5, 3.0)[k % 3]) if isinstance(one, tuple) else one for k, one in enumerate(rows)]

    heavy = [(*LONG[0], 1e9), (*LONG[1], math.nan), (*LONG[2], 8.0), (*LONG[3], -1.0), None]
    beside, pairs = weighted(CROWD), []
    for one in heavy:
        for other in heavy:
            right = [other] if relation is REPLACE else []
            if one is not other:
                pairs.append(audit.Pair([*beside, one], [*beside, *right]))
    audit.check(mechanism, pairs, hostile_values=False).require()


@pytest.mark.study
@pytest.mark.parametrize(("relation", "moved"), [(ADD, 1), (REPLACE, 2)])
def test_twenty_columns_err_as_gradient_descent_that_knows_their_deviations(relation: Neighbours, moved: int) -> None:
    """At most 1.5 times as much, though its clips were tuned to these data: 1.1 and 1.25 times are usual."""
    slopes, ours, theirs = np.linspace(1.0, 0.2, 20), [], []
    names, spread = tuple(f"x{k}" for k in range(20)), math.sqrt(slopes @ slopes + 1)
    for seed in range(24):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(5000, 20))
        y = x @ slopes + rng.normal(size=5000)
        release = LeastSquares(1.0, 1e-6, names=names, neighbours=relation).release(
            np.column_stack([x, y]), Seeded(seed)
        )
        found = gradient_descent((x, y), spread, 1.0, 1e-6, rng, moved=moved, beyond=1.0, residual=2.0)
        ours += [] if release.refusal is not None else [np.mean((release.value.coef - slopes) ** 2)]
        theirs.append(np.mean((found - slopes) ** 2))
    assert len(ours) >= 16
    assert np.mean(ours) <= 1.5**2 * np.mean(theirs)


@pytest.mark.claim("newton_stages.1")
@pytest.mark.parametrize("rows", [None, 2_000])
@pytest.mark.parametrize("width", [10, 11, 21])
def test_there_is_a_part_of_the_budget_for_every_step(rows: int | None, width: int) -> None:
    """From 9 columns on two steps come before the last; every part is used once, and none is free."""
    many = width > newton_stages.MANY
    plan = newton_stages.plan(1.0, 1e-6, rows, width, width - 1, centred=True)
    for stage, times in {"early": EARLIER[many], "step": EARLIER[many], "moments": 1, "information": 1}.items():
        parts = plan.costs.all(stage, Gaussian)
        assert len(parts) == times
        assert all(part.mu > 0 for part in parts)


@pytest.mark.claim("newton_stages.2")
def test_a_public_number_of_rows_that_hardly_shows_the_columns_pays_more_for_the_frame() -> None:
    """By public numbers: many columns, rows that are replaced, noise above half of them. Nothing else changes."""

    def planned(rows: int, width: int) -> newton_stages.NewtonStages:
        return newton_stages.plan(1.0, 1e-6, rows, width, width - 1, centred=True)

    near, far = planned(5_000, 22), planned(6_000, 22)
    assert not {"count"} & {*near.costs.parts, *far.costs.parts}
    mu = [float(plan.costs.part("moments", Gaussian).mu) for plan in (near, far)]
    assert mu[0] > 1.15 * mu[1]
    assert near.operator(near.longest(5_000)) > newton_stages.UNSEEN * 5_000
    assert far.costs == planned(100_000, 22).costs
    assert planned(200, 9).costs == planned(100_000, 9).costs


@pytest.mark.claim("least_squares.1")
@pytest.mark.claim("newton_stages.1")
@pytest.mark.claim("newton_stages.2")
def test_every_small_pair_where_the_frame_has_more() -> None:
    mechanism = mechanism_of(REPLACE, epsilon=5.5, bounds=((-7.0, 9.0),) * MANY + ((-30.0, 30.0),))
    rows = [*CROWD, LONG[-1]]
    usual = newton_stages._costs(5.5, 1e-5, MANY + 2, 0, counted=False, centred=True, weighted=False, beside=None)
    assert mechanism.stages(len(rows)).costs != usual
    assert implies(mechanism.loss, mechanism.guarantee)
    audit.check(mechanism, world(REPLACE, 10), hostile_values=False).require()
    assert mechanism.release(rows, Seeded(0)).refusal is None
    assert exceeds(drawn(mechanism, rows), mechanism.loss) is None


@pytest.mark.claim("newton_stages.2")
@pytest.mark.parametrize("relation", [REPLACE, ADD])
def test_scores_of_every_step_are_as_long_as_the_noise_is_worth(
    relation: Neighbours, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many are cut as cost by their excess what the noise does, or nearly: with twice the noise more of them."""
    tails, reaches = list[Any](), list[float]()

    def tail(*given: Any, **drawn: Any) -> Any:
        tails.append(octaves.tail_of(*given, **drawn))
        return tails[-1]

    def total(rows: Any, seen: Any, reach: float, *rest: Any, **drawn: Any) -> Any:
        reaches.append(reach)
        return gram.noisy_sum(rows, seen, reach, *rest, **drawn)

    monkeypatch.setattr(newton_stages, "tail_of", tail)
    monkeypatch.setattr(newton_stages, "noisy_sum", total)
    rows = np.array(crowd(4_000))
    mechanism = LeastSquares(2.0, 1e-6, names=NAMES, neighbours=relation)
    assert mechanism.release(rows, Seeded(1)).refusal is None
    stages = mechanism.stages(4_000 if relation is REPLACE else None)
    moved = stages.moved("step")
    assert len(reaches) == EARLIER[True] + 1
    for found, reach in zip(tails[-3:-1], reaches[:-1], strict=True):
        assert reach == float(found.at(found.most(0.6 * moved, 8 * moved, 1.2 * moved)))
