"""The mean, the median and the vote of blocks: privacy, refusals, coverage."""

import math
from typing import Any

import numpy as np
import pytest

from discreet import audit
from discreet.accounting.compose import implies
from discreet.audit.replay import Recorder, replay
from discreet.errors import BadInput
from discreet.noise.randomness import Seeded
from discreet.privacy.loss import Choice
from discreet.subsample.block_plan import auto_blocks
from discreet.subsample.coordinatewise import BlockMean, BlockMedian, least_blocks
from discreet.subsample.vote import OpenVote, Vote

NAN = math.nan
ODD = (0.0, 1.0, 1e300, -1e300, math.inf, NAN, 5e-324)


def pairs(width: int, blocks: int, count: int) -> list[audit.Pair]:
    """Tables of estimates that differ in one row: any numbers, or none."""
    generator = np.random.default_rng(width)
    found = []
    for _ in range(count):
        base = generator.normal(size=(blocks, width)) * generator.choice([1e-9, 1.0, 1e9]) + generator.choice([0, 1e6])
        if generator.random() < 0.3:
            base[generator.random(blocks) < 0.5] = NAN
        other = base.copy()
        other[generator.integers(blocks)] = generator.choice(ODD, size=width)
        found.append(audit.Pair(base, other))
    return found


@pytest.mark.claim("coordinatewise.1")
@pytest.mark.claim("coordinatewise.2")
@pytest.mark.parametrize(
    "mechanism",
    [
        BlockMean(12, 1, 30.0),
        BlockMean(12, 2, 60.0),
        BlockMean(40, 3, 20.0, 1e-6),
        BlockMean(330, 3, 1.0, 1e-6),
        BlockMean(5, 1, 0.1),
        BlockMedian(40, 2, 30.0),
        BlockMedian(40, 1, 12.0),
    ],
    ids=str,
)
def test_replacing_an_estimate_moves_every_draw_within_its_claim(mechanism: Any) -> None:
    assert implies(mechanism.loss, mechanism.guarantee)
    for index, pair in enumerate(pairs(mechanism.width, mechanism.blocks, 25)):
        assert not replay(mechanism, pair, seed=index)


@pytest.mark.claim("coordinatewise.1")
@pytest.mark.claim("coordinatewise.2")
@pytest.mark.parametrize("width", [2, 3, 5])
@pytest.mark.parametrize("epsilon", [1.0, 0.1])
def test_delta_finds_several_places_and_scales_with_fewer_blocks(width: int, epsilon: float) -> None:
    """Place and scale get what they need of rho, and no more than epsilon and delta are spent."""
    few = least_blocks(width, epsilon, 1e-6)
    assert few < 0.88 * least_blocks(width, epsilon)
    for blocks in (few, round(1.5 * few)):
        mechanism = BlockMean(blocks, width, epsilon, 1e-6)
        assert mechanism.guarantee.delta == 1e-6
        assert implies(mechanism.loss, mechanism.guarantee)
        stages = mechanism.stages
        found = [float(stages.part(name, Choice).epsilon) * blocks for name in ("centre", "scale")]
        assert found[0] >= (42 if blocks == few else 52)  # places are missed less and less often
        assert found[1] >= (52 if blocks == few else 54)
    rows = np.random.default_rng(1).normal(5, 1, size=(few, width))
    release = BlockMean(few, width, epsilon, 1e-6).release(rows, Seeded(1))
    assert np.abs(release.value - 5).max() < 2.6  # noise of .4 a number: chance below 1e-6


def test_many_people_have_as_many_blocks_as_pure_stages_need() -> None:
    """What delta saves is for few people: fewer blocks would have more noise."""
    usual: dict[str, Any] = {"aggregator": "mean", "smallest": 30, "rate": "unknown"}
    assert auto_blocks(100_000, 3, 1.0, 1e-6, **usual) == auto_blocks(100_000, 3, 1.0, 0.0, **usual) == 2 * 597
    assert auto_blocks(100_000, 3, 1.0, 1e-6, **usual, few=True) == 486


@pytest.mark.claim("vote.1")
@pytest.mark.claim("vote.2")
@pytest.mark.parametrize("method", ["counts", "choice", "noisy-max"])
@pytest.mark.parametrize("labels", [2, 3])
def test_replacing_a_vote(method: Any, labels: int) -> None:
    mechanism = Vote(7, labels, 1.0, method)
    assert implies(mechanism.loss, mechanism.guarantee)
    generator = np.random.default_rng(0)
    for index in range(30):
        base = generator.choice([0.0, 1.0, 2.0, NAN, 9.0], size=7)
        other = base.copy()
        other[index % 7] = generator.choice([0.0, 1.0, NAN])
        assert not replay(mechanism, audit.Pair(base, other), seed=index)
    texts = OpenVote(30, 2.0, 1e-4)
    base_texts: list[Any] = ["yes"] * 20 + ["no"] * 9 + [None]
    for odd in ("yes", "no", "new", None):
        assert not replay(texts, audit.Pair(base_texts, [odd, *base_texts[1:]]), seed=1)


@pytest.mark.claim("coordinatewise.1")
def test_a_mutant_that_counts_failures_for_nothing_is_caught() -> None:
    """Dividing by the true number of estimates, say: the audit must see it."""

    class Leaky(BlockMean):
        def release(self, rows: Any, rng: Any) -> Any:
            table = np.asarray(rows, dtype=float)
            kept = table[np.isfinite(table).all(axis=1)]
            return BlockMean(len(kept), self.width, self.epsilon).release(kept, rng)

    base = np.random.default_rng(0).normal(size=(12, 1))
    other = base.copy()
    other[3] = NAN
    assert replay(Leaky(12, 1, 40.0), audit.Pair(base, other), seed=0)


@pytest.mark.claim("coordinatewise.3")
@pytest.mark.parametrize("share", [0.0, 0.05, 0.2])
def test_coverage_and_width_with_blocks_that_fail(share: float) -> None:
    widths = []

    def draw(index: int) -> tuple[Any, float]:
        generator = np.random.default_rng(index)
        rows = 3 + 0.1 * generator.normal(size=(400, 1))
        rows[generator.random(400) < share] = NAN
        release = BlockMean(400, 1, 1.0).release(rows, Seeded(index))
        widths.append(float(release.interval().high[0] - release.interval().low[0]))
        return release, 3.0

    seen = audit.coverage(draw, runs=200)
    assert seen.holds
    assert seen.share > 0.88  # chance below 1e-6 at 95%
    plain = 2 * 1.96 * 0.1 / math.sqrt(400)
    assert 1.1 < np.median(widths) / plain < 2.4
    if share == 0.2:
        whole = BlockMean(400, 1, 1.0).release(3 + 0.1 * np.random.default_rng(0).normal(size=(400, 1)), Seeded(0))
        assert np.median(widths) > 0.9 * float(whole.interval().high[0] - whole.interval().low[0])


@pytest.mark.claim("coordinatewise.5")
@pytest.mark.claim("coordinatewise.4")
def test_coverage_of_the_median() -> None:
    hits = 0
    for index in range(120):
        generator = np.random.default_rng(index)
        rows = generator.standard_t(2, size=(400, 1))
        rows[generator.random(400) < 0.1] = NAN
        interval = BlockMedian(400, 1, 1.0).release(rows, Seeded(index)).interval()
        hits += int(interval.low[0] <= 0 <= interval.high[0])
    assert hits >= 98  # 95% of 120 is 114; fewer than 98 has a chance below 1e-6


def test_when_most_blocks_fail_it_says_so() -> None:
    rows = np.full((400, 1), NAN)
    rows[:60] = 1.0
    release = BlockMean(400, 1, 1.0).release(rows, Seeded(0))
    assert release.refusal is not None
    assert "gave an estimate (a noisy number)" in release.refusal


@pytest.mark.claim("coordinatewise.2")
@pytest.mark.claim("coordinatewise.3")
@pytest.mark.parametrize("place", [0.0, 1.0])
def test_estimates_that_coincide_are_refused_or_covered(place: float) -> None:
    """There is no scale to find: some are refused once it is paid for, with no mean drawn; no other is sure of a
    lie."""
    missed, refused, draws = 0, 0, set()
    for seed in range(30):
        recorder = Recorder(Seeded(seed))
        release = BlockMean(400, 1, 4.0).release(np.full((400, 1), place), recorder)
        if release.refusal is not None:
            assert "coincide" in release.refusal
            assert "aggregator='vote'" in release.refusal
            refused += 1
            draws.add(len(recorder.log))
        else:
            interval = release.interval(0.99)
            missed += not interval.low[0] <= place <= interval.high[0]
            assert interval.high[0] > interval.low[0]
            full = len(recorder.log)
    assert missed <= 5  # of 30 at 99%: more have a chance below 1e-6
    assert refused >= (place == 1.0)
    assert draws <= {full - 1}


def test_too_few_blocks_say_how_many() -> None:
    release = BlockMean(50, 1, 1.0).release(np.zeros((50, 1)), Seeded(0))
    assert f"at least {least_blocks(1, 1.0)} blocks" in str(release.refusal)
    assert BlockMean(least_blocks(2, 0.5), 2, 0.5).feasible
    assert not BlockMean(least_blocks(2, 0.5) - 1, 2, 0.5).feasible


def test_votes_are_won_by_the_many() -> None:
    votes = np.array([2.0] * 70 + [0.0] * 20 + [NAN] * 10)
    for method in ("counts", "choice", "noisy-max"):
        won = [Vote(100, 3, 1.0, method).release(votes, Seeded(k)).value for k in range(20)]
        assert won.count(2) >= 19
    note = Vote(100, 3, 1.0).release(votes, Seeded(1)).provenance.notes[0]
    assert "of 100 blocks voted for it" in note
    open_vote = OpenVote(100, 1.0, 1e-6).release(["x"] * 30 + ["y"] * 30 + ["z"] * 40, Seeded(0))
    assert open_vote.value == "z"
    few = OpenVote(100, 1.0, 1e-6).release([str(k) for k in range(100)], Seeded(0))
    assert "no label" in str(few.refusal)


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: BlockMean(0, 1, 1.0), "blocks"),
        (lambda: BlockMean(10, 1, -1.0), "epsilon"),
        (lambda: Vote(10, 1, 1.0), "label"),
        (lambda: Vote(10, 2, 1.0, "loud"), "method"),  # type: ignore[arg-type]
        (lambda: OpenVote(5, 1.0, 1e-6), "threshold"),
        (lambda: OpenVote(500, 1.0, 0.0), "delta"),
    ],
)
def test_bad_arguments(make: Any, word: str) -> None:
    with pytest.raises(BadInput, match=word):
        make()
