"""Rows seen at a fit, and sums of second moments: exact, as sensitive as they say."""

import math
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from discreet.models.features import Prepared, Scaling, prepared
from discreet.models.score import AtFit, OutcomeMean, logistic, moments, poisson, whole_coefficients
from discreet.stages.gram import Frame, steps_of

SCALING = Scaling(np.zeros(2), np.ones(2), True)
VALUES = (0.0, 1.0, -3.0, 50.0, math.inf, math.nan)
FAMILIES = (logistic(), poisson())
PLACES = (np.zeros(3), np.array([0.3, -1.0, 2.0]), np.array([1e3, -1e9, 0.0]))
ROWS = np.array([(1.0, *pair, y) for pair in product((*VALUES, 1e300), repeat=2) for y in (0.0, 1.0, 1e6)])


def one_by_one() -> list[Prepared]:
    rows = [(*pair, y) for pair in product(VALUES, repeat=2) for y in (0.0, 1.0, math.nan)]
    return [prepared(np.array([row]), SCALING) for row in rows]


def frame(fit: Any) -> Frame:
    turn = np.array([[1.0, 0.2, 0.0], [0.2, 2.0, -1.0], [0.0, -1.0, 3.0]])
    return Frame.of(np.array([1.0, 2.0, 0.5]), np.vstack([turn, fit]), np.array([0.0, 0.5, -1.0]))


@pytest.mark.claim("score.2")
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
@pytest.mark.parametrize("of", ["scores", "roots", "limits"])
def test_a_row_at_a_fit_is_seen_by_itself(family: OutcomeMean, of: Any) -> None:
    """In any company, and whatever it holds: never infinite, and in a ball no longer than that."""
    inner = frame([0.3, -1.0, 2.0])
    seen = AtFit(inner, inner.step, family, of, 1.0)
    rows = np.where(np.isinf(ROWS), np.nan, ROWS)
    whole, lost = seen.turned(rows)
    assert lost is not None
    assert (lost == np.isnan(rows).any(axis=1)).all()
    assert np.isfinite(whole).all()
    assert (whole[:, lost] == 0).all()
    for place in range(0, len(rows), 5):
        alone, _ = seen.turned(rows[place : place + 1])
        assert (alone[:, 0] == whole[:, place]).all()
    steps = steps_of(rows, seen, 2.0, "clip")
    assert np.linalg.norm(steps, axis=0).max() <= 2**15 + 2
    weighed = np.column_stack([rows, np.resize([1.0, 5e-324, 0.0, 1e300, -1.0, np.inf, np.nan], len(rows))])
    seen = AtFit(inner, inner.step, family, of, 1.0, limit=50.0, unit=1e-3)
    whole, _ = seen.turned(weighed)
    assert np.isfinite(whole).all()
    assert (whole == np.column_stack([seen.turned(row[None])[0] for row in weighed])).all()


@pytest.mark.claim("score.2")
def test_scores_are_scores() -> None:
    rng = np.random.default_rng(0)
    rows = np.column_stack([np.ones(50), rng.normal(size=(50, 2)), rng.integers(0, 2, 50)])
    inner = frame([0.3, -1.0, 0.5])
    found, _ = AtFit(inner, inner.step, logistic(), "scores").turned(rows)
    v = (rows[:, :3] - [0.0, 0.5, -1.0]) / [1.0, 2.0, 0.5]
    u = v @ np.array([[1.0, 0.2, 0.0], [0.2, 2.0, -1.0], [0.0, -1.0, 3.0]])
    chance = 1 / (1 + np.exp(-(v @ [0.3, -1.0, 0.5])))
    assert np.allclose(found.T * inner.step, u * (rows[:, 3] - chance)[:, None], atol=1e-4)
    roots, _ = AtFit(inner, inner.step, logistic(), "roots").turned(rows)
    assert np.allclose(roots.T * inner.step, u * np.sqrt(chance * (1 - chance))[:, None], atol=1e-4)
    kept, _ = AtFit(inner, inner.step, logistic(), "roots", limit=1.0).turned(rows)
    beyond = np.linalg.norm(found * inner.step, axis=0) > 1.0
    assert 5 < beyond.sum() < 45
    assert (kept[:, beyond] == 0).all()  # a score that is cut has no slope
    assert (kept[:, ~beyond] == roots[:, ~beyond]).all()
    weights = np.resize([0.5, 2.0, 1.0], 50)
    own = AtFit(inner, inner.step, logistic(), "roots", limit=1.0, unit=2.0)
    kept, _ = own.turned(np.column_stack([rows, 2 * weights]))
    beyond = np.linalg.norm(found * weights * inner.step, axis=0) > 1.0  # as a weighted score is cut
    assert (kept[:, beyond] == 0).all()
    assert np.allclose(kept[:, ~beyond], (roots * np.sqrt(weights))[:, ~beyond])
    scores, _ = replace(own, of="scores").turned(np.column_stack([rows, 2 * weights]))
    assert np.allclose(scores, found * weights)


@pytest.mark.claim("score.3")
@pytest.mark.parametrize("family", [*FAMILIES, None], ids=lambda family: getattr(family, "name", "none"))
def test_what_one_row_can_do_to_moments(family: OutcomeMean | None) -> None:
    most = 2**10 * (128 * SCALING.radius + math.sqrt(3)) ** 2
    for w in PLACES:
        for row in one_by_one():
            assert np.trace(moments(row, family, w)) <= most


@pytest.mark.claim("score.1")
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_sums_are_sums(family: OutcomeMean) -> None:
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.normal(size=(9000, 2)) * 5, rng.integers(0, 2, 9000)])
    table[::97, 0] = np.nan
    for w in PLACES:
        second = moments(prepared(table, SCALING), family, w)
        pieces = [prepared(part, SCALING) for part in (table[:1], table[1:4321], table[4321:])]
        assert (np.sum([moments(piece, family, w) for piece in pieces], axis=0) == second).all()


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
