"""Subsample-and-aggregate and FriendlyAvg under the lectures' names."""

from typing import Any

import numpy as np
import pytest

from discreet import lectures
from discreet.audit.replay import Recorder
from discreet.errors import BadInput
from discreet.noise.randomness import Seeded

ROWS = np.random.default_rng(0).normal(1.0, size=6000)


def reject(block: Any) -> str:
    return "reject" if block.mean() > 0 else "accept"


def test_labels_vote_in_four_ways() -> None:
    for how in ("laplace", "exponential", "noisy max"):
        release = lectures.subsample_and_aggregate(
            reject, ROWS, 60, how, epsilon=1.0, labels=["accept", "reject"], rng=Seeded(1)
        )
        assert release.value == "reject"
        assert release.guarantee.delta == 0
        assert release.provenance.parameters["blocks"] == 60
    found = lectures.subsample_and_aggregate(reject, ROWS, 60, "histogram", epsilon=1.0, delta=1e-6, rng=Seeded(1))
    assert found.value == "reject"


def test_numbers_are_averaged_or_have_a_median() -> None:
    for how in ("mean", "median"):
        release = lectures.subsample_and_aggregate(
            lambda block: float(np.median(block)), ROWS, 300, how, epsilon=1.0, rng=Seeded(1)
        )
        assert abs(release.value - 1) < 0.1
    pair = lectures.subsample_and_aggregate(
        lambda block: [float(block.mean()), float(block.std())],
        ROWS,
        600,
        "friendly",
        epsilon=2.0,
        delta=1e-5,
        rng=Seeded(1),
    )
    assert np.abs(np.asarray(pair.value) - 1).max() < 0.15


@pytest.mark.parametrize(
    ("how", "more", "words"),
    [
        ("laplace", {}, "list them"),
        ("histogram", {"labels": ["a"], "delta": 1e-6}, "leave labels out"),
        ("median", {"labels": ["a"]}, "is for numbers"),
        ("mode", {}, "give one of 'laplace'"),
    ],
)
def test_bad_arguments(how: str, more: Any, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        lectures.subsample_and_aggregate(reject, ROWS, 60, how, epsilon=1.0, **more)


def test_friendly_avg_compares_all_rows() -> None:
    """Five thousand rows, more than the 4,096 that the core looks at unless it is told: no row is left out."""
    rows = 1e6 + np.random.default_rng(1).normal(size=(5000, 1))
    recorder = Recorder(Seeded(1))
    release = lectures.friendly_avg(rows, 1.0, 1e-6, rng=recorder)
    assert abs(float(release.value[0]) - 1e6) < 0.5
    assert release.provenance.parameters["survivors"] > 4096
    assert release.guarantee.epsilon == 1.0


def test_friendly_avg_refuses_rows_that_are_no_friends() -> None:
    rows = np.random.default_rng(1).normal(scale=1e6, size=(300, 2))
    assert lectures.friendly_avg(rows, 1.0, 1e-6, rng=Seeded(1)).refusal is not None
    assert lectures.friendly_avg(rows, 1.0, 1e-6, radius=1e7, rng=Seeded(1)).refusal is None
