"""The ladder for refined means."""

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats
from tests.friendly.worlds import ADD, REPLACE

import discreet
from discreet import audit
from discreet.accounting.calibrate import gaussian
from discreet.accounting.compose import implies
from discreet.accounting.currency import mu, slack
from discreet.audit.replay import Recorder, drawn, exceeds, replay
from discreet.audit.worlds import hostile
from discreet.errors import BadInput, NeedsBounds
from discreet.friendly.average import RegionSpread
from discreet.friendly.radius import r_clip
from discreet.friendly.refine import Method, RefinedMean
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours

BOTH = [REPLACE, ADD]
KINDS: list[tuple[float | None, Method]] = [(1.0, "refine"), (None, "refine"), (None, "auto"), (None, "blocks")]


def pairs_of(relation: Neighbours, seed: int, size: int = 402, width: int = 2) -> list[audit.Pair]:
    """A crowd with one row replaced by, or one more of, an odd one; equal rows and a few that are none among them.

    A row more than 402 would make a pair more.
    """
    rng, found = np.random.default_rng(seed), []
    crowd = rng.normal(size=(size, width)) * (1 if seed % 2 else rng.pareto(1.5, size=(size, 1)))
    crowd[:20] = np.round(crowd[:20])
    crowd[20] = np.nan
    for value in (0.0, 3.0, 1e3, 1e300, np.nan, np.inf):
        other = crowd.copy()
        place = int(rng.integers(size))
        if relation is REPLACE:
            other[place] = value
        else:
            other = np.insert(crowd, place, value, axis=0)
        found.append(audit.Pair(crowd, other) if rng.random() < 0.5 else audit.Pair(other, crowd))
    return found


@pytest.mark.claim("refine.1")
@pytest.mark.claim("refine.2")
@pytest.mark.claim("refine.3")
@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("relation", BOTH)
def test_replay_on_neighbours(relation: Neighbours, kind: tuple[float | None, Method]) -> None:
    mechanism = RefinedMean(10.0, 1e-6, dimension=None, sigma=kind[0], neighbours=relation, method=kind[1])
    answered = 0
    for seed in range(2):
        for place, pair in enumerate(pairs_of(relation, seed)):
            assert replay(mechanism, pair, seed=place) == []
            answered += mechanism.release(pair.left, Seeded(place)).refusal is None
    assert answered >= 6


@pytest.mark.claim("refine.1")
def test_a_row_that_turns_to_another_axis_moves_the_squares_most() -> None:
    """At nearly the radius from the centre, first along one column, then along the other: sqrt 2 R^2, nearly."""
    crowd = np.random.default_rng(0).normal(size=(400, 2))
    mechanism = RefinedMean(10.0, 1e-6, dimension=None, sigma=None, neighbours=REPLACE, method="refine")
    for seed in range(3):
        found = mechanism.release(np.vstack([crowd, [[0.0, 0.0]]]), Seeded(seed))
        radius = 0.95 * found.provenance.parameters["radius"]
        one, two = (np.vstack([crowd, found.value + turned]) for turned in ([radius, 0.0], [0.0, radius]))
        assert replay(mechanism, audit.Pair(one, two), seed=seed) == []
        assert mechanism.release(one, Seeded(seed)).refusal is None


@pytest.mark.claim("refine.2")
@pytest.mark.parametrize("sigma", [1.0, None])
def test_a_row_more_takes_its_block_from_one_side_to_the_other(sigma: float | None) -> None:
    """Blocks are replaced, not added: their tapered sum moves by more than one radius, and two are paid for."""
    crowd = np.random.default_rng(1).normal(size=(400, 1))
    mechanism = RefinedMean(10.0, 1e-6, dimension=None, sigma=sigma, neighbours=ADD, method="blocks")
    for place, value in enumerate(np.linspace(-14, 14, 15)):
        more = np.vstack([crowd, [[value]]])
        assert replay(mechanism, audit.Pair(crowd, more), seed=place) == []
        assert mechanism.release(crowd, Seeded(place)).refusal is None


@pytest.mark.claim("refine.1")
@pytest.mark.claim("refine.2")
@pytest.mark.parametrize("relation", BOTH)
def test_odd_entries_of_lists_never_raise(relation: Neighbours) -> None:
    crowd = [float(x) for x in np.random.default_rng(0).normal(size=150)]
    pairs = [
        audit.Pair(crowd + pair.left, crowd + pair.right)
        for pair in hostile(relation, (0.0,))[::40] + audit.numbers(relation, 2)[::20]
        if pair.left and pair.right
    ]
    mechanism = RefinedMean(12.0, 1e-6, dimension=1, sigma=1.0, neighbours=relation)
    audit.check(mechanism, pairs[::2], hostile_values=False).require()
    assert mechanism.release(crowd, Seeded(1)).refusal is None


@pytest.mark.claim("refine.1")
@pytest.mark.claim("refine.2")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("budget", [(0.1, 1e-6), (1.0, 1e-9), (8.0, 1e-5), (1e3, 1e-10)])
def test_what_is_drawn_is_within_the_loss_and_that_within_the_guarantee(
    relation: Neighbours, budget: tuple[float, float]
) -> None:
    rng = np.random.default_rng(5)
    tables = [rng.normal(size=(3000, 3)), rng.lognormal(size=(3000, 3)) ** 2, np.full((3000, 1), np.nan)]
    for sigma, method in KINDS:
        mechanism = RefinedMean(*budget, sigma=sigma, neighbours=relation, method=method)
        assert implies(mechanism.loss, mechanism.guarantee)
        for table in tables:
            spent = drawn(mechanism, table)
            assert exceeds(spent, mechanism.loss) is None
            assert mu(spent)[0] <= mu(mechanism.loss)[0]
            assert slack(spent) <= slack(mechanism.loss)


@pytest.mark.study
@pytest.mark.claim("refine.1")
def test_outputs_do_not_refute_the_claim() -> None:
    crowd = np.zeros((150, 1))
    left, right = np.vstack([crowd, [[-3.0]]]), np.vstack([crowd, [[3.0]]])
    mechanism = RefinedMean(8.0, 1e-5, dimension=1, sigma=1.0, method="refine")
    told = audit.distinguish(mechanism, left, right, runs=250, seed=1, feature=lambda release: float(release.value[0]))
    assert not told.violated


@pytest.mark.claim("refine.3")
def test_refusals_come_from_public_or_noisy_numbers() -> None:
    recorder = Recorder(Seeded(0))
    few = RefinedMean(1.0, 1e-6).release(np.random.default_rng(0).normal(size=(100, 2)), recorder)
    assert "100 rows are too few" in str(few.refusal)
    assert recorder.log == []
    recorder = Recorder(Seeded(0))
    hidden = RefinedMean(1.0, 1e-6, neighbours=ADD).release(np.zeros((100, 2)), recorder)
    assert "noisy number" in str(hidden.refusal)
    assert len(recorder.log) == 1
    assert RefinedMean(1.0, 1e-6, neighbours=ADD).release(np.zeros((0, 2)), Seeded(0)).refusal is not None
    same = RefinedMean(1.0, 1e-6).release(np.ones((4000, 2)), Seeded(0))
    assert "one and the same" in str(same.refusal)
    none = RefinedMean(1.0, 1e-6).release(np.full((4000, 2), np.nan), Seeded(0))
    assert "no number" in str(none.refusal)
    scattered = RefinedMean(1.0, 1e-6, sigma=1e-9).release(np.random.default_rng(0).normal(size=(4000, 2)), Seeded(0))
    assert "near each other" in str(scattered.refusal)


@pytest.mark.parametrize(("width", "size", "bar"), [(1, 1000, 1.06), (10, 2000, 1.06)])
def test_noise_is_near_that_of_a_known_centre(width: int, size: int, bar: float) -> None:
    oracle = 2 * r_clip(width, 0.0, 1 / size) / (size * gaussian(1.0, 1e-6))
    for offset in (0.0, 1e9):
        rows = np.random.default_rng(1).normal(size=(size, width)) + offset
        noise = [RefinedMean(1.0, 1e-6, sigma=1.0).release(rows, Seeded(seed)).spread.privacy[0] for seed in range(4)]  # type: ignore[union-attr]
        assert np.mean(noise) / oracle <= bar


@pytest.mark.study
@pytest.mark.claim("refine.4")
@pytest.mark.claim("average.7")
@pytest.mark.parametrize("relation", BOTH)
def test_coverage_without_bounds_or_scale(relation: Neighbours) -> None:
    """Each coordinate has its own scale. Coverage of 0.95 fails one time in ten million."""
    scales, hits, whole, runs, width = np.geomspace(1, 3, 4), 0, 0, 20, 4
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        centre = rng.normal(size=width) * 1e4
        rows = rng.normal(size=(3000, width)) * scales + centre
        rows[:150] = 1e7
        rows[150:160] = np.nan
        release = RefinedMean(2.0, 1e-6, neighbours=relation, method="refine").release(rows, Seeded(seed))
        interval = release.interval(0.95)
        hits += int(((interval.low <= centre) & (centre <= interval.high)).sum())
        spread: Any = release.spread
        whole += spread.ellipsoid(0.95).holds(centre)
    assert hits / (runs * width) >= stats.binom.ppf(1e-7, runs * width, 0.95) / (runs * width)
    assert whole >= stats.binom.ppf(1e-7, runs, 0.95)
    assert interval.low.shape == (width,)
    assert (interval.high - interval.low).max() < 1


@pytest.mark.claim("average.7")
def test_the_ellipsoid_holds_for_any_correlation() -> None:
    rng = np.random.default_rng(0)
    for draw in (rng.normal(size=(4000, 5)), np.repeat(rng.normal(size=(4000, 1)), 5, axis=1)):
        for confidence in (0.5, 0.95):
            held = [RegionSpread(e, np.ones(5), np.zeros(5)).ellipsoid(confidence).holds(np.zeros(5)) for e in draw]
            assert np.mean(held) >= stats.binom.ppf(1e-7, 4000, confidence) / 4000
    tight = RegionSpread(np.zeros(5), np.ones(5), np.zeros(5))
    assert (tight.ellipsoid(0.95, correlated=False).axes ** 2)[0] == pytest.approx(stats.chi2.ppf(0.95, 5))
    assert (tight.interval(0.95).high)[0] == pytest.approx(1.95996, abs=1e-4)


@pytest.mark.claim("refine.4")
def test_heavy_and_skewed_rows_go_to_blocks_and_others_do_not() -> None:
    runs, size = 3, 12_000
    shapes: dict[str, tuple[Any, float, bool]] = {
        "normal": (lambda g: g.normal(size=(size, 2)), 0.0, False),
        "t3": (lambda g: g.standard_t(3, size=(size, 2)), 0.0, True),
        "lognormal": (lambda g: g.lognormal(size=(size, 2)), math.exp(0.5), True),
    }
    for name, (shape, truth, heavy) in shapes.items():
        hits, blocks = 0, 0
        for seed in range(runs):
            release = RefinedMean(2.0, 1e-6).release(shape(np.random.default_rng(seed)), Seeded(seed))
            interval = release.interval(0.95)
            hits += int(((interval.low <= truth) & (truth <= interval.high)).sum())
            blocks += release.provenance.parameters["method"] == "blocks"
        assert hits >= stats.binom.ppf(1e-7, 2 * runs, 0.95), name
        assert (blocks >= 2) if heavy else (blocks <= 1), name


def test_outliers_anywhere() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(5000, 10)) + 3
    rows[:1000] = rng.normal(size=(1000, 10)) + 1e5
    for method in ("auto", "refine"):
        release = RefinedMean(1.0, 1e-6, method=method).release(rows, Seeded(2))
        assert np.linalg.norm(release.value - 3) < 0.2


def test_arrow_tables_and_blocks_give_the_same_answer() -> None:
    rows = np.random.default_rng(0).normal(size=(3000, 3))
    table = pa.table({name: rows[:, place] for place, name in enumerate("abc")})
    for relation in BOTH:
        mechanism = RefinedMean(2.0, 1e-6, neighbours=relation)
        plain = mechanism.release(rows, Seeded(1)).value
        for other in (table, [rows[:1000], rows[1000:]], np.asfortranarray(rows)):
            np.testing.assert_array_equal(mechanism.release(other, Seeded(1)).value, plain)


def test_the_verb_takes_tables() -> None:
    rows = np.random.default_rng(0).normal(size=(3000, 3)) + 7
    release = discreet.mean(rows, epsilon=1.0, delta=1e-6, method="refine", rng=Seeded(1))
    assert release.value.shape == (3,)
    assert np.abs(release.value - 7).max() < 0.3
    assert (release.guarantee.epsilon, release.guarantee.delta) == (1.0, 1e-6)
    assert str(release).count("  number ") == 3  # a line for each column, with its interval
    assert '"interval"' in release.to_json()
    with pytest.raises(NeedsBounds, match="delta"):
        discreet.mean(rows, epsilon=1.0, method="refine")
    for options in ({"bounds": (0, 1)}, {"model": "gaussian"}, {"reach": 3.0}, {"method": "clipped"}):
        with pytest.raises(BadInput):
            discreet.mean(rows, epsilon=1.0, delta=1e-6, **options)
    with pytest.raises(BadInput, match="method"):
        discreet.mean(rows[:, 0], epsilon=1.0, delta=1e-6, method="blocks")


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"delta": 0.0}, "delta"),
        ({"delta": 1e-6, "dimension": 0}, "dimension"),
        ({"delta": 1e-6, "sigma": -1.0}, "sigma"),
        ({"delta": 1e-6, "beyond": 0.7}, "beyond"),
        ({"delta": 1e-6, "method": "median"}, "method"),
        ({"delta": 1e-6, "epsilon": 1e-6}, "epsilon"),
        ({"delta": 1e-12}, "delta"),
    ],
)
def test_bad_parameters(options: dict[str, Any], word: str) -> None:
    with pytest.raises(BadInput, match=word):
        RefinedMean(**{"epsilon": 1.0, **options})
    with pytest.raises(BadInput, match="empty"):
        RefinedMean(1.0, 1e-6).release(np.empty((0, 2)), Seeded(0))
    with pytest.raises(BadInput, match="delta"):
        RefinedMean(1.0, 1e-3).release(np.zeros((1000, 2)), Seeded(0))


@pytest.mark.claim("refine.3")
@pytest.mark.parametrize("relation", list(Neighbours))
def test_more_rows_are_never_refused_where_fewer_are_answered(relation: Neighbours) -> None:
    """At a small epsilon the rows that are compared, and what their test costs, do not fade as rows grow in number."""
    rng = np.random.default_rng(3)
    for size in (12_000, 60_000, 240_000):
        for seed in range(2):
            release = RefinedMean(0.1, 1e-7, neighbours=relation).release(rng.normal(size=(size, 3)), Seeded(seed))
            assert release.refusal is None
            assert np.abs(release.value).max() < 0.5 * math.sqrt(12_000 / size)
