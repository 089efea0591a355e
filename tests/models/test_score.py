"""Sums of scores and of second moments: exact, as sensitive as they say."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from discreet.models import score as module
from discreet.models.features import Prepared, Scaling, prepared
from discreet.models.score import (
    OutcomeMean,
    logistic,
    moment_cost,
    moment_sensitivity,
    moments,
    noisy_moments,
    noisy_score,
    poisson,
    score,
    score_cost,
    score_sensitivity,
    whole_coefficients,
)
from discreet.noise.integers import compiled
from discreet.noise.randomness import Seeded
from discreet.privacy.neighbours import Neighbours
from discreet.stages.gram import BESIDE, DIAGONAL

REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
SCALING = Scaling(np.zeros(2), np.ones(2), True)
VALUES = (0.0, 1.0, -3.0, 50.0, math.inf, math.nan)
FAMILIES = (logistic(), poisson(7))
PLACES = (np.zeros(3), np.array([0.3, -1.0, 2.0]), np.array([1e3, -1e9, 0.0]))


def ready(family: OutcomeMean, table: np.ndarray) -> Prepared:
    found = prepared(table, SCALING)
    return Prepared(found.steps, found.weight, family.outcome(found.outcome), found.radius)


def one_by_one(family: OutcomeMean) -> list[Prepared]:
    rows = [(*pair, y) for pair in product(VALUES, repeat=2) for y in (0.0, 1.0, 9.0, math.nan)]
    return [ready(family, np.array([row])) for row in rows]


@pytest.mark.claim("score.2")
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_what_one_row_can_do_to_a_score(family: OutcomeMean) -> None:
    for w in PLACES:
        found = [score(row, family, w).tolist() for row in one_by_one(family)]
        alone = max(sum(a * a for a in row) for row in found)
        pairs = max(sum((a - b) ** 2 for a, b in zip(x, y, strict=True)) for x in found for y in found)
        assert alone <= score_sensitivity(3, SCALING.radius, ADD) ** 2
        assert pairs <= score_sensitivity(3, SCALING.radius, REPLACE) ** 2
    assert alone > 0.9 * float(score_sensitivity(3, SCALING.radius, ADD)) ** 2  # the claim is not idle


@pytest.mark.claim("score.3")
@pytest.mark.parametrize("family", [*FAMILIES, None], ids=lambda family: getattr(family, "name", "none"))
def test_what_one_row_can_do_to_moments(family: OutcomeMean | None) -> None:
    weights = [[DIAGONAL if i == j else BESIDE for j in range(3)] for i in range(3)]

    def upper(matrix: np.ndarray) -> list[int]:
        return [int(matrix[i, j]) * weights[i][j] for i in range(3) for j in range(i, 3)]

    for w in PLACES:
        found = [upper(moments(row, family, w)) for row in one_by_one(family or logistic())]
        assert max(sum(a * a for a in row) for row in found) <= moment_sensitivity(3, SCALING.radius, ADD) ** 2
        pairs = max(sum((a - b) ** 2 for a, b in zip(x, y, strict=True)) for x in found for y in found)
        assert pairs <= moment_sensitivity(3, SCALING.radius, REPLACE) ** 2


@pytest.mark.claim("score.1")
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_sums_are_sums_and_the_compiled_pass_agrees(family: OutcomeMean, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.normal(size=(9000, 2)) * 5, rng.integers(0, 9, 9000)])
    table[::97, 0] = np.nan
    whole = ready(family, table)
    for w in PLACES:
        total, second = score(whole, family, w), moments(whole, family, w)
        pieces = [ready(family, part) for part in (table[:1], table[1:4321], table[4321:])]
        assert (np.sum([score(piece, family, w) for piece in pieces], axis=0) == total).all()
        assert (np.sum([moments(piece, family, w) for piece in pieces], axis=0) == second).all()
        if compiled():
            with monkeypatch.context() as patch:
                patch.setattr(module, "LARGE", 1)
                assert (score(whole, family, w) == total).all()


@pytest.mark.claim("score.2")
def test_noise_is_as_declared() -> None:
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.normal(size=(500, 2)), rng.integers(0, 2, 500)])
    rows, family = ready(logistic(), table), logistic()
    cost = score_cost(Fraction(1), 3, SCALING.radius, REPLACE)
    w = np.array([0.1, 0.2, -0.3])
    seen = rows.steps / 1024
    truth = (rows.weight * (1 / (1 + np.exp(-seen @ w)) - rows.outcome)) @ seen
    drawn = [noisy_score(rows, family, w, cost=cost, neighbours=REPLACE, rng=Seeded(seed)) for seed in range(40)]
    noise = np.array([found - truth for found, _ in drawn])
    assert abs(drawn[0][1] - 2 * SCALING.radius) < 0.01
    assert 0.6 < noise.std() / drawn[0][1] < 1.5
    costly = moment_cost(Fraction(1), 3, SCALING.radius, REPLACE)
    found, size = noisy_moments(rows, family, w, cost=costly, neighbours=REPLACE, rng=Seeded(1))
    assert (found == found.T).all()
    chance = 1 / (1 + np.exp(-seen @ w))
    exact = (seen * (rows.weight * chance * (1 - chance))[:, None]).T @ seen
    assert np.abs(found - exact).max() < 6 * size


@pytest.mark.claim("score.1")
@pytest.mark.parametrize("size", [3, 7, 1000])
def test_coefficients_are_whole_at_the_edge_of_their_room(size: int) -> None:
    """2^37 / size is no whole number: cut there, products with features would be rounded, in an order of their own."""
    edge = 2.0**37 / size
    for most in (edge, math.nextafter(edge, 0), edge - 0.2, math.floor(edge), edge / 3):
        w = np.full(size, -most)
        whole, _ = whole_coefficients(w)
        assert (whole == np.rint(whole)).all()
        assert np.abs(whole).max() * size * 2**15 <= 2**53
