"""The ladder for histograms on public bins."""

import datetime
import math
from typing import Any

import numpy as np
import pytest

from discreet import audit, histogram
from discreet.accounting.compose import epsilon as epsilon_of
from discreet.accounting.compose import implies
from discreet.errors import BadInput
from discreet.noise.distributions import GaussianLaw, LaplaceLaw, laplace_scale
from discreet.noise.randomness import Seeded
from discreet.privacy.loss import Gaussian
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.values import Counts, label
from discreet.statistics.bins import Categories, Edges
from discreet.statistics.histogram import Histogram

BOTH = list(Neighbours)
LABELS = Categories.of(["a", "b"])


@pytest.mark.claim("histogram.1")
@pytest.mark.parametrize("relation", BOTH)
def test_every_small_pair_laplace(relation: Neighbours) -> None:
    audit.check(Histogram(LABELS, 1.0, neighbours=relation), audit.labels(relation, 3)).require()
    audit.check(Histogram(Edges.of([0, 1, 2]), 1.0, neighbours=relation), audit.numbers(relation, 3)).require()


@pytest.mark.claim("histogram.2")
@pytest.mark.parametrize("relation", BOTH)
def test_every_small_pair_gaussian(relation: Neighbours) -> None:
    mechanism = Histogram(LABELS, 1.0, 1e-6, noise="gaussian", neighbours=relation)
    audit.check(mechanism, audit.labels(relation, 3)[:400]).require()


@pytest.mark.claim("histogram.2")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-9), (1.0, 1e-6), (3.0, 1e-5), (1e-4, 1e-6), (10.0, 1e-6)])
def test_gaussian_noise_is_calibrated_and_not_wasted(relation: Neighbours, epsilon: float, delta: float) -> None:
    mechanism = Histogram(LABELS, epsilon, delta, noise="gaussian", neighbours=relation)
    assert isinstance(mechanism.loss, Gaussian)
    assert implies(mechanism.loss, mechanism.guarantee)
    assert epsilon_of(mechanism.loss, delta) >= 0.999 * epsilon
    mechanism.release(["a"] * 1000, Seeded(1))


@pytest.mark.claim("histogram.1")
def test_the_lecture_scale_is_wrong_under_replace() -> None:
    """Scale 1/epsilon on counts that move by 2: the exact hockey stick at epsilon = 1 is 0.338, not 0."""
    a = math.exp(-1.0)
    ks = np.arange(-60, 61)
    law = (1 - a) / (1 + a) * a ** np.abs(ks)
    moved = np.concatenate([[0.0], law[:-1]])
    joint, other = np.outer(law, law), np.outer(moved, np.concatenate([law[1:], [0.0]]))
    assert np.maximum(joint - math.e * other, 0).sum() == pytest.approx(0.338, abs=1e-3)
    assert Histogram(LABELS, 1.0).sensitivity == 2
    assert Histogram(LABELS, 1.0, neighbours=Neighbours.ADD_OR_REMOVE).sensitivity == 1


@pytest.mark.study
@pytest.mark.claim("histogram.1")
def test_outputs_reach_most_of_epsilon_and_no_more() -> None:
    told = audit.distinguish(
        Histogram(LABELS, 1.0),
        ["a"] * 30 + ["b"] * 30,
        ["a"] * 29 + ["b"] * 31,
        runs=20_000,
        seed=3,
    )
    assert not told.violated
    assert told.epsilon > 0.6


@pytest.mark.claim("histogram.3")
def test_bands() -> None:
    assert LaplaceLaw(laplace_scale(2, 1)).radius(0.95, 100) == 15
    rows, truth = ["a"] * 50 + ["b"] * 70 + ["c"] * 5, np.array([50, 70])
    for mechanism in (Histogram(LABELS, 0.5), Histogram(LABELS, 0.5, 1e-6, noise="gaussian")):
        seen = audit.coverage(lambda i, m=mechanism: (m.release(rows, Seeded(i)), truth), runs=400)  # type: ignore[misc]
        assert seen.holds, str(seen)
    from statistics import NormalDist

    each = 1 - 2 * NormalDist().cdf(-(GaussianLaw(10.0).radius(0.95, 20) + 0.5) / 10)
    assert each**20 >= 0.95


def test_what_it_shows() -> None:
    release = histogram(
        ["a", "b", "a", "zebra", None], epsilon=1e6, categories=["a", "b"], missing="keep", rng=Seeded(0)
    )
    assert release.value.bins == ("a", "b")
    assert release.value.counts.tolist() == [2, 1]
    assert release.value.other == 2
    assert release.value["a"] == 2
    assert release.value.shares.tolist() == [0.4, 0.2]
    with pytest.raises(BadInput, match="zebra"):
        release.value["zebra"]
    ages = histogram([5, 15, 15, 25, math.nan, 20], epsilon=1e6, edges=[0, 10, 20], missing="keep", rng=Seeded(0))
    assert ages.value.counts.tolist() == [1, 3]
    assert ages.value.other == 2
    assert "0 to 10: 1" in str(ages)
    assert '"counts"' in ages.to_json()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"epsilon": 0, "categories": ["a"]}, "epsilon"),
        ({"epsilon": 1, "delta": 0.02, "categories": ["a"]}, "delta"),
        ({"epsilon": 1, "delta": -1e-9, "categories": ["a"]}, "delta"),
        ({"epsilon": 1, "categories": ["a"], "edges": [0, 1]}, "both"),
        ({"epsilon": 1, "categories": "abc"}, "text"),
        ({"epsilon": 1, "categories": ["a"], "noise": "gaussian"}, "delta"),
        ({"epsilon": 1, "categories": ["a"], "noise": "cauchy"}, "noise"),
        ({"epsilon": 1, "delta": 1e-3, "noise": "gaussian"}, "noise"),
        ({"epsilon": 1, "categories": ["a"], "neighbours": "swap"}, "neighbours"),
        ({"epsilon": 1, "categories": ["a"], "unit": ""}, "unit"),
    ],
)
def test_bad_input(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        histogram(["a", "b"] * 5, **arguments)


def test_no_rows_are_refused_where_their_number_is_public() -> None:
    with pytest.raises(BadInput, match="empty"):
        histogram([], epsilon=1.0, categories=["a"], neighbours="replace", missing="keep")
    assert histogram([], epsilon=1.0, categories=["a"]).value.counts.size == 1


def test_a_large_delta_is_refused_by_the_public_size_or_the_public_ceiling() -> None:
    rows = ["a"] * 1000
    public: dict[str, Any] = {"neighbours": "replace", "missing": "keep"}
    histogram(rows, epsilon=1.0, delta=1e-4, categories=["a"], noise="gaussian", **public)
    with pytest.raises(BadInput, match="outright"):
        histogram(rows, epsilon=1.0, delta=1.1e-4, categories=["a"], noise="gaussian", **public)
    with pytest.raises(BadInput, match="private here"):
        histogram(rows, epsilon=1.0, delta=2e-4, categories=["a"], noise="gaussian", neighbours="add_or_remove")


def test_counts_by_name() -> None:
    day = datetime.date(2020, 1, 1)
    tally = histogram([b"a", day, day, ("x", 1)], epsilon=1e6, categories=[b"a", day, ("x", 1)], rng=Seeded(0)).value
    assert (tally[b"a"], tally[day], tally[("x", 1)]) == (1, 2, 1)
    assert str(tally) == "b'a': 1, 2020-01-01: 2, x, 1: 1"
    ages = histogram([5, 15, 15], epsilon=1e6, edges=[0, 10, 20], rng=Seeded(0)).value
    assert ages[(0, 10)] == ages[(0.0, 10.0)] == 1
    with pytest.raises(BadInput, match="0 to 10"):
        ages[(0, 20)]


def test_labels_are_one_line() -> None:
    assert [label(one) for one in (None, "a", (0.0, 1.5), ("a", 1), 0, "")] == [
        "missing",
        "a",
        "0 to 1.5",
        "a, 1",
        "0",
        "",
    ]
    assert "\n" not in label("a\nepsilon 0")
    assert "\x1b" not in label("\x1b[2J")
    assert str(Counts((), np.empty(0, dtype=np.int64), threshold=14)) == "no bin reached the threshold of 14"
