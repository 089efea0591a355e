"""FriendlyCore on blocks' estimates: privacy, refusals, scales, coverage."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import audit
from discreet.accounting.compose import implies
from discreet.audit.replay import replay
from discreet.errors import BadInput
from discreet.noise.randomness import Seeded
from discreet.privacy.exact import exact
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Gaussian
from discreet.subsample.aggregate import SubsampleAggregate
from discreet.subsample.block_plan import chosen_correction, compared
from discreet.subsample.coordinatewise import BlockMean
from discreet.subsample.estimators import FunctionFit
from discreet.subsample.friendly_aggregate import BlockFriends, least_friends, read_scale, seen_share, templates
from discreet.subsample.remaining_bias import RemainingBias
from discreet.subsample.returned import Shape

NAN = math.nan
ODD = (0.0, 1.0, 1e300, -1e300, math.inf, NAN, 5e-324)


@pytest.mark.claim("friendly_aggregate.1")
@pytest.mark.claim("friendly_aggregate.2")
@pytest.mark.parametrize(
    "mechanism",
    [
        BlockFriends(80, 2, epsilon=20.0, delta=1e-4),
        BlockFriends(60, 1, epsilon=30.0, delta=1e-4),
        BlockFriends(61, 3, epsilon=20.0, delta=1e-4, scales=(1.0, 10.0, 0.1)),
        BlockFriends(20, 3, epsilon=1.0, delta=1e-4),
    ],
    ids=str,
)
def test_replacing_an_estimate_moves_every_draw_within_its_claim(mechanism: BlockFriends) -> None:
    assert implies(mechanism.loss, mechanism.guarantee)
    generator = np.random.default_rng(mechanism.width)
    answered = 0
    for index in range(20):
        base = generator.normal(size=(mechanism.blocks, mechanism.width))
        base = base * generator.choice([1e-9, 1.0, 1e9], size=mechanism.width) + generator.choice([0, 1e6])
        if mechanism.scales is not None:
            base = generator.normal(size=base.shape) * mechanism.scales
        if generator.random() < 0.3:
            base[generator.random(mechanism.blocks) < 0.1] = NAN
        other = base.copy()
        other[generator.integers(mechanism.blocks)] = generator.choice(ODD, size=mechanism.width)
        assert not replay(mechanism, audit.Pair(base, other), seed=index)
        answered += mechanism.release(base, Seeded(index)).refusal is None
    assert answered >= 10 or not mechanism.feasible  # the replay went all the way


@pytest.mark.claim("friendly_aggregate.1")
@pytest.mark.parametrize(("blocks", "width", "epsilon"), [(1000, 5, 1.0), (5000, 20, 0.3), (100, 2, 8.0)])
@pytest.mark.parametrize("declared", [False, True])
def test_the_squares_of_all_stages_fit_into_the_whole(blocks: int, width: int, epsilon: float, declared: bool) -> None:
    stages = BlockFriends(
        blocks, width, epsilon=epsilon, delta=1e-6, scales=(1.0,) * width if declared else None
    ).stages
    assert stages.inner is not None
    count, scale = (stages.costs.part(name, Gaussian) for name in ("count", "scales"))
    scales = (1 if declared else width) * exact(scale.mu) ** 2
    whole = exact(count.mu) ** 2 + scales + stages.inner.budget.square
    assert 0.99 * stages.costs.square < whole <= stages.costs.square


@pytest.mark.claim("friendly_aggregate.1")
def test_a_mutant_that_takes_scales_from_the_rows_is_caught() -> None:
    class Peeking(BlockFriends):
        def _scales(self, table: Any, cost: Any, rng: Any) -> Any:
            return np.nanmax(np.abs(table), axis=0) + 1e-9

    base = np.random.default_rng(0).normal(size=(80, 2))
    other = base.copy()
    other[3] = 1e3
    peeking = Peeking(80, 2, epsilon=20.0, delta=1e-4)
    assert any(replay(peeking, audit.Pair(base, other), seed=seed) for seed in range(5))


@pytest.mark.study
@pytest.mark.claim("friendly_aggregate.3")
@pytest.mark.parametrize("share", [0.0, 0.1])
def test_coverage_with_scales_far_apart_and_blocks_that_fail(share: float) -> None:
    scales, truth = np.array([1e-5, 1.0, 3e4]), np.array([2e-3, 5.0, -7e5])
    hits, widths, refused = 0, [], 0
    for index in range(60):
        generator = np.random.default_rng(index)
        rows = truth + scales * generator.normal(size=(1000, 3))
        rows[generator.random(1000) < share] = NAN
        release = BlockFriends(1000, 3, epsilon=1.0, delta=1e-6).release(rows, Seeded(index))
        if release.refusal is not None:
            refused += 1
            continue
        interval = release.interval()
        hits += int(((interval.low <= truth) & (truth <= interval.high)).sum())
        widths.append((interval.high - interval.low) / scales)
    assert refused <= 8
    assert hits >= 0.86 * 3 * (60 - refused)  # at 95% a chance below 1e-6
    plain = 2 * 1.96 / math.sqrt(1000 * (1 - share))
    assert np.all(np.median(widths, axis=0) < 3 * plain)
    assert np.all(np.median(widths, axis=0) > plain)


def test_refusals_say_what_is_needed() -> None:
    few = BlockFriends(100, 4, epsilon=1.0, delta=1e-6).release(np.zeros((100, 4)), Seeded(0))
    assert f"at least {least_friends(4, 1.0, 1e-6)} blocks" in str(few.refusal)
    least = least_friends(4, 1.0, 1e-6)
    assert least is not None
    assert BlockFriends(least, 4, epsilon=1.0, delta=1e-6).feasible
    failed = np.full((1000, 3), NAN)
    failed[:100] = 1.0
    assert "gave an estimate (a noisy number)" in str(
        BlockFriends(1000, 3, epsilon=1.0, delta=1e-6).release(failed, Seeded(0)).refusal
    )
    same = np.random.default_rng(0).normal(size=(1000, 3))
    same[:, 1] = 4.0
    assert "coincide" in str(BlockFriends(1000, 3, epsilon=1.0, delta=1e-6).release(same, Seeded(0)).refusal)
    with pytest.raises(BadInput, match="scales"):
        BlockFriends(1000, 3, epsilon=1.0, delta=1e-6, scales=(1.0, 2.0))
    with pytest.raises(BadInput, match="delta"):
        BlockFriends(1000, 3, epsilon=1.0, delta=0.0)
    with pytest.raises(BadInput, match="delta"):  # before anything is drawn, not by the mean when much is
        BlockFriends(1000, 3, epsilon=1.0, delta=1e-3)
    assert seen_share(50, 5, 0.2) is None


def test_an_epsilon_too_small_for_any_number_of_blocks_is_said_to_be() -> None:
    assert least_friends(1, 0.002, 1e-6) is None
    refusal = BlockFriends(1000, 1, epsilon=0.002, delta=1e-6).release(np.zeros((1000, 1)), Seeded(0)).refusal
    assert "no number of blocks" in str(refusal)
    with pytest.raises(BadInput, match="no number of blocks"):
        discreet.fit(np.mean, np.zeros(50000), epsilon=0.002, delta=1e-6, aggregator="friendly", unbiased=True)


def test_the_record_shows_what_was_spent_when_many_blocks_fail() -> None:
    rows = np.random.default_rng(0).normal(size=(2000, 2))
    mechanism = BlockFriends(2000, 2, epsilon=1.0, delta=1e-6)
    whole = mechanism.release(rows, Seeded(1)).provenance.parameters["costs"]
    rows[:500] = NAN
    fewer = mechanism.release(rows, Seeded(1)).provenance.parameters["costs"]
    assert fewer["scales, each of 2"] > whole["scales, each of 2"]


def test_a_scale_is_read_off_noisy_exponents() -> None:
    from discreet.friendly.radius import NONE, pair_bins

    assert templates().sum(axis=1) == pytest.approx(1, abs=2e-3)
    for scale in (1e-30, 0.3, 1.0, 7e12):
        rows = scale * np.random.default_rng(1).normal(size=(2000, 1))
        found = read_scale(np.bincount(pair_bins(rows), minlength=NONE + 1).astype(float), 20.0)
        assert found is not None
        assert 0.8 < found / scale < 1.25
    assert read_scale(np.random.default_rng(2).normal(size=NONE + 1), 1.0) is None


def test_the_better_aggregator_is_chosen_by_public_numbers() -> None:
    from sklearn.linear_model import LinearRegression

    generator = np.random.default_rng(0)
    x = generator.normal(size=(50000, 4))
    y = x @ [1.0, 2.0, 3.0, 4.0] + generator.normal(size=50000)
    blocks: Any = {"bias_correction": "jackknife"}  # said of blocks: all people at once are no choice then
    release = discreet.fit(LinearRegression(), x, y, epsilon=1.0, delta=1e-6, rng=Seeded(0), **blocks)
    assert release.provenance.parameters["aggregator"] == "friendly"
    assert release.guarantee.delta == 1e-6
    assert abs(release.value["coef_[2]"] - 3) < 0.1
    public: dict[str, Any] = {"neighbours": "replace", "missing": "keep", **blocks}
    few = discreet.fit(LinearRegression(), x[:12000, :1], y[:12000], epsilon=1.0, delta=1e-6, rng=Seeded(0), **public)
    assert few.provenance.parameters["aggregator"] == "coordinatewise"
    assert "coordinatewise 2." in compared(BlockFriends(1000, 5, epsilon=1.0, delta=1e-6))
    assert "friendly" in compared(BlockMean(2000, 2, 1.0, 1e-6))
    assert "more blocks" in compared(BlockFriends(400, 5, epsilon=1.0, delta=1e-6))


def test_the_default_correction_follows_public_numbers() -> None:
    pick: dict[str, Any] = {"rate": "unknown", "numeric": True}
    assert chosen_correction("auto", size=30, width=6, likelihood=True, **pick) == "firth"
    assert chosen_correction("auto", size=60, width=6, **pick) is None  # halves of 30 for 6 numbers do harm
    assert chosen_correction("auto", size=100, width=6, **pick) == "half"
    with pytest.raises(BadInput, match="without a penalty"):
        chosen_correction("firth", size=100, **pick)


@pytest.mark.study
@pytest.mark.claim("friendly_aggregate.3")
def test_logistic_regression_in_five_dimensions_is_covered() -> None:
    from sklearn.linear_model import LogisticRegression

    truth = np.array([0.5, -0.5, 0.3, 0.0, 0.2])
    hits = total = 0
    for index in range(12):
        generator = np.random.default_rng(index)
        x = generator.normal(size=(40000, 5))
        y = (generator.random(40000) < 1 / (1 + np.exp(-(x @ truth)))).astype(int)
        release = discreet.fit(LogisticRegression(C=np.inf), x, y, epsilon=1.0, delta=1e-6, rng=Seeded(index))
        assert release.provenance.parameters["bias_correction"] == "firth"
        if release.refusal is None:
            interval = release.interval()
            total += 5
            for place, value in enumerate(truth):
                hits += interval.low[f"coef_[{place}]"] <= value <= interval.high[f"coef_[{place}]"]
    assert total >= 40
    assert hits >= 0.75 * total  # at 93% a chance below 1e-6


@pytest.mark.claim("remaining_bias.1")
@pytest.mark.parametrize("relation", list(Neighbours))
def test_a_friendly_fit_and_its_bias_hide_one_person_under_both_relations(relation: Neighbours) -> None:
    fit = SubsampleAggregate(
        FunctionFit(lambda x: np.array([x.mean(), x.max()])),
        Shape("array", ("a", "b")),
        BlockMean(12, 2, 30.0),
        neighbours=relation,
    )
    subjects = [
        replace(fit, aggregator=RemainingBias(BlockMean(24, 2, 30.0), 10.0)),
        replace(fit, aggregator=BlockFriends(60, 2, epsilon=40.0, delta=1e-4)),
    ]
    rows = np.random.default_rng(4).normal(size=300).tolist()
    for subject in subjects:
        assert implies(subject.loss, subject.guarantee)
        for seed in range(6):
            odd = ODD[seed % len(ODD)]
            other = rows[:-1] if relation is Neighbours.ADD_OR_REMOVE and seed % 2 else [*rows[:-1], odd]
            if relation is Neighbours.ADD_OR_REMOVE and not seed % 2:
                other = [*rows, odd]
            assert not replay(subject, audit.Pair(rows, other), seed=seed)
