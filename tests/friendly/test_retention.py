"""Random retention: its exact privacy on every small graph."""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from tests.friendly.graphs import Graph, graph, graphs, without
from tests.friendly.test_algorithm import Length
from tests.friendly.worlds import ADD, REPLACE

from discreet.accounting.compose import implies
from discreet.errors import BadInput
from discreet.friendly.core import Within
from discreet.friendly.weights import Retained
from discreet.noise.randomness import Seeded
from discreet.privacy.loss import Approximate
from discreet.privacy.neighbours import Neighbours

Floats = np.ndarray[Any, Any]
OUT = np.arange(-8, 14)


class Given:
    """A predicate that is a graph."""

    def __init__(self, strangers: object) -> None:
        self.given = strangers

    def strangers(self, rows: object) -> object:
        return self.given


def chances(apart: Any, relation: Neighbours) -> Floats:
    units, whole = Retained(Length(), Given(Graph(apart)), relation).chances(np.zeros((len(apart), 1)))  # type: ignore[arg-type]
    return np.asarray(units) / whole


def distribution(weights: Floats, epsilon: float) -> Floats:
    """The exact distribution of a noisy count of the rows that are kept, which is pure epsilon."""
    kept = np.ones(1)
    for weight in weights:
        kept = np.convolve(kept, [1 - weight, weight])
    noise = np.exp(-epsilon * np.abs(OUT[None, :] - np.arange(len(kept))[:, None]))
    return np.asarray(kept @ (noise * math.tanh(epsilon / 2)))


@pytest.mark.claim("weights.6")
@pytest.mark.claim("weights.7")
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_adding_a_row(size: int) -> None:
    for _, strangers in graphs(size):
        more = chances(strangers.apart, ADD)
        for row in range(size):
            fewer = chances(without(strangers.apart, row), ADD)
            assert np.abs(np.delete(more, row) - fewer).sum() + more[row] <= 2 + 1e-12  # [weights.7]
            ratio = np.log(distribution(more, 0.5) / distribution(fewer, 0.5))
            assert np.abs(ratio).max() <= 2 * math.expm1(0.5)


@pytest.mark.claim("weights.6")
@pytest.mark.parametrize("size", [3, 4])
def test_replacing_a_row(size: int) -> None:
    largest = 0.0
    for code, strangers in graphs(size):
        mine = distribution(chances(strangers.apart, REPLACE), 0.5)
        for bits in product((0, 1), repeat=size - 1):
            other = code & ~(2 ** (size - 1) - 1) | sum(bit << place for place, bit in enumerate(bits))
            theirs = distribution(chances(graph(size, other).apart, REPLACE), 0.5)
            largest = max(largest, float(np.abs(np.log(mine / theirs)).max()))
    assert 0.5 < largest <= 3 * math.expm1(0.5)


@pytest.mark.claim("weights.6")
def test_what_it_promises() -> None:
    for relation, moved in ((REPLACE, 3), (ADD, 2)):
        mechanism = Retained(Length(Approximate(0.5, 1e-6)), Within(1.0), relation)
        size = moved * math.expm1(0.5)
        assert mechanism.guarantee.epsilon == pytest.approx(size)
        assert mechanism.guarantee.delta == pytest.approx(moved * 1e-6 * math.exp(size))
        assert implies(mechanism.loss, mechanism.guarantee)
    with pytest.raises(BadInput, match="too large"):
        Retained(Length(Approximate(6, 0)), Within(1.0))


def test_rows_are_kept_as_often_as_they_weigh() -> None:
    """Five friends and two strangers: 1/3 each; 2,000 runs keep 3,333 rows, give or take 310 (6 deviations)."""
    rows = np.array([0.0] * 5 + [50.0, np.nan])
    mechanism = Retained(Length(), Within(1.0))
    assert mechanism.chances(rows[:, None])[0].tolist() == [2] * 5 + [0, 0]
    total = sum(mechanism.release(rows, Seeded(seed)).value for seed in range(2000))
    assert abs(total - 2000 * 5 / 3) < 310 + 6 * math.sqrt(2 * 2000)
    assert mechanism.release(rows, Seeded(0)).provenance.mechanism == "retained Length"
