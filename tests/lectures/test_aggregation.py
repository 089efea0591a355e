"""Subsample-and-aggregate and FriendlyAvg under the lectures' names."""

import math
import warnings
from typing import Any

import numpy as np
import pytest

from discreet import lectures
from discreet.audit.replay import Recorder
from discreet.errors import BadInput, Refused
from discreet.noise.additive import Blur
from discreet.noise.choose import Choose, NoisyMax
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Guarantee, Neighbours
from discreet.subsample.vote import Vote

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


@pytest.mark.parametrize("relation", list(Neighbours))
@pytest.mark.parametrize(("how", "drawn"), [("laplace", Blur), ("exponential", Choose), ("noisy max", NoisyMax)])
def test_each_vote_is_one_draw_of_its_own_kind_at_what_was_asked(how: str, drawn: Any, relation: Neighbours) -> None:
    recorder = Recorder(Seeded(1))
    asked: dict[str, Any] = {"epsilon": 0.7, "labels": ["accept", "reject"], "neighbours": relation, "rng": recorder}
    release = lectures.subsample_and_aggregate(reject, ROWS, 60, how, **asked)
    assert release.guarantee == Guarantee(0.7, 0.0, relation, "row")
    requests = [request for request, _ in recorder.log if isinstance(request, Blur | Choose | NoisyMax)]
    assert [type(request) for request in requests] == [drawn]
    assert float(requests[0].cost.epsilon) == 0.7  # type: ignore[union-attr]
    assert requests[0].sensitivity == 1


@pytest.mark.parametrize("how", ["exponential", "noisy max", "laplace"])
def test_a_vote_that_is_drawn_too_sharply_is_told(how: str) -> None:
    """With 3 votes more of 61 the loser wins as often as epsilon says: a factor of 2 on the scores is noticed."""
    votes, runs = [1.0] * 32 + [0.0] * 29, 3000
    method: Any = {"exponential": "choice", "noisy max": "noisy-max", "laplace": "counts"}[how]
    vote = Vote(61, 2, 0.5, method)
    lost = sum(vote.release(votes, Seeded(seed)).value == 0 for seed in range(runs)) / runs
    a = math.exp(-0.5)
    expected = {
        "exponential": 1 / (1 + math.exp(0.5 * 3 / 2)),
        "noisy max": None,
        "laplace": a**2 / (1 + a),  # 29 and noise of 2 or more is 31 or more of 61
    }[how]
    if expected is None:
        assert 0.15 < lost < 0.5
    else:
        assert abs(lost - expected) < 6 * math.sqrt(expected * (1 - expected) / runs)


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
        (["median"], {}, "give one of 'laplace'"),
        ("laplace", {"labels": 3}, "labels are 3"),
        ("laplace", {"labels": "ab"}, "labels are 'ab'"),
        ("mean", {}, "give 'vote'"),
        ("vote", {}, "list them"),
    ],
)
def test_bad_arguments(how: Any, more: Any, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        lectures.subsample_and_aggregate(reject, ROWS, 60, how, epsilon=1.0, **more)


def test_friendly_avg_compares_all_rows() -> None:
    """Five thousand rows, more than the 4,096 that the core looks at unless it is told: no row is left out."""
    rows = 1e6 + np.random.default_rng(1).normal(size=(5000, 1))
    recorder = Recorder(Seeded(1))
    release = lectures.friendly_avg(rows, 1.0, 1e-6, rng=recorder)
    assert abs(float(release.value[0]) - 1e6) < 0.5
    assert release.provenance.parameters["survivors"] > 4096
    assert release.guarantee == Guarantee(1.0, 1e-6, Neighbours.REPLACE, "row")


def test_friendly_avg_refuses_rows_that_are_no_friends() -> None:
    rows = np.random.default_rng(1).normal(scale=1e6, size=(300, 2))
    assert lectures.friendly_avg(rows, 1.0, 1e-6, rng=Seeded(1)).refusal is not None
    assert lectures.friendly_avg(rows, 1.0, 1e-6, radius=1e7, rng=Seeded(1)).refusal is None


def test_too_few_blocks_are_told_how_many_to_ask_for() -> None:
    asked: dict[str, Any] = {"epsilon": 1.0, "rng": Seeded(1)}
    with pytest.raises(Refused, match=r"20 blocks at epsilon 1 .* ask for 240 blocks"):
        lectures.subsample_and_aggregate(np.mean, ROWS, 20, "median", **asked).value  # noqa: B018
    assert lectures.subsample_and_aggregate(np.mean, ROWS, 240, "median", **asked).refusal is None


def test_no_warning_tells_of_a_signalling_nan() -> None:
    rows = np.where(np.arange(600) == 7, np.array([0x7FF0000000000001], dtype=np.uint64).view(np.float64), 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lectures.subsample_and_aggregate(
            lambda _: "accept", rows, 20, "laplace", epsilon=1.0, labels=["accept", "reject"], rng=Seeded(1)
        )
        lectures.coarse_mean(rows, (-5, 5), epsilon=1.0, rng=Seeded(1))
        lectures.infinite_histogram(rows, epsilon=1.0, delta=1e-5, width=1.0, rng=Seeded(1))
