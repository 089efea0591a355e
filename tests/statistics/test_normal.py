"""The ladder for means of normal data, and for normal distributions."""

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet import audit
from discreet.accounting.allocation import Share
from discreet.accounting.compose import implies
from discreet.accounting.currency import pure
from discreet.audit.replay import Recorder, drawn, exceeds
from discreet.audit.worlds import HOSTILE
from discreet.errors import BadInput
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Guarantee, Neighbours
from discreet.privacy.loss import Approximate, Gaussian, atoms
from discreet.stages import normal_stages
from discreet.statistics.normal import GaussianMean, predicted, pure_stages

BOTH = list(Neighbours)
REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
CROWD: list[Any] = [float(x) for x in np.round(np.random.default_rng(4).normal(1.0, 2.0, size=40), 1)]


def world(relation: Neighbours, step: int) -> list[audit.Pair]:
    """Ordinary and odd rows with a crowd beside them, enough for an answer; 42 rows where their number is public."""
    small = [pair for pair in audit.numbers(relation, 2) if relation is ADD or len(pair.left) == 2][::step]
    for value in HOSTILE:
        odd = audit.Pair([2.0, 1.0], [2.0, value]) if relation is REPLACE else audit.Pair([2.0], [2.0, value])
        small += [odd, audit.Pair(odd.right, odd.left)]
    return [audit.Pair(CROWD + pair.left, CROWD + pair.right) for pair in small]


@pytest.mark.claim("normal.1")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("given", [{}, {"sigma": 2.0}, {"bounds": (-5.0, 5.0)}, {"sigma": 2.0, "bounds": (-5.0, 5.0)}])
def test_every_small_pair(relation: Neighbours, given: dict[str, Any]) -> None:
    size = 42 if relation is REPLACE else None
    mechanism = GaussianMean(10.0, neighbours=relation, size=size, **given)
    audit.check(mechanism, world(relation, 6 if not given else 16), hostile_values=False).require()
    assert mechanism.release([*CROWD, 0.0, 1.0], Seeded(0)).refusal is None  # the world is one of answers


@pytest.mark.claim("normal.1")
@pytest.mark.parametrize("size", [150, 1000, 10**6])
def test_the_stages_are_what_is_drawn_and_sum_to_epsilon(size: int) -> None:
    for epsilon in (1.0, 0.3, Fraction(7, 3)):
        mechanism = GaussianMean(epsilon, size=size)
        assert pure(mechanism.loss) == (Fraction(str(epsilon)), Fraction(0))
        assert implies(mechanism.loss, mechanism.guarantee)
    rows = np.random.default_rng(0).normal(size=1000)
    for relation in BOTH:
        one = GaussianMean(1.0, neighbours=relation, size=1000 if relation is REPLACE else None)
        assert sorted(map(repr, atoms(drawn(one, rows)))) == sorted(map(repr, atoms(one.loss)))
    unsized = GaussianMean(1.0)
    assert unsized.loss == Approximate(1.0, 0.0)  # the shares wait for the size, their sum does not
    assert exceeds(drawn(unsized, rows), unsized.loss) is None


@pytest.mark.claim("normal.2")
def test_gaussian_noise_is_used_where_it_is_better_and_the_guarantee_says_so() -> None:
    small = GaussianMean(0.5, 2e-4, size=500)
    stages = small.stages(500)
    assert isinstance(stages["mean"], Gaussian)
    assert predicted(stages, 500, REPLACE) < predicted(
        pure_stages(0.5, 500, known_sigma=False, mean=Share()), 500, REPLACE
    )
    assert small.guarantee == Guarantee(0.5, 2e-4, REPLACE)
    assert implies(small.loss, small.guarantee)
    assert not implies(small.loss, Guarantee(0.5, 1e-4))  # nothing is left over
    rows = np.random.default_rng(1).normal(3.0, 1.0, size=500)
    release = GaussianMean(0.5, 2e-4).release(rows, Seeded(0))
    assert release.guarantee == small.guarantee
    assert release.interval().low < 3 < release.interval().high
    assert exceeds(drawn(small, rows), small.loss) is None
    world = [audit.Pair([*rows, 0.0], [*rows, math.inf]), audit.Pair([*rows, 2.0], [*rows, 3.0])]
    audit.check(GaussianMean(0.5, 1.9e-4), world, hostile_values=False).require()
    large = GaussianMean(1.0, 1e-6, size=2000)  # Laplace noise is better: delta is not used, and not claimed
    assert large.guarantee == Guarantee(1.0, 0.0, REPLACE)
    unsized = GaussianMean(1.0, 1e-6)
    assert unsized.release(rows, Seeded(0)).guarantee == unsized.guarantee == Guarantee(1.0, 1e-6, REPLACE)
    assert GaussianMean(1.0, 1e-6, neighbours=ADD).guarantee.delta == 0
    assert GaussianMean(1.0, 1e-6).loss == Approximate(1.0, 1e-6)


@pytest.mark.claim("normal.3")
def test_a_refusal_comes_before_any_draw_or_from_the_noisy_size() -> None:
    rows = np.random.default_rng(0).normal(size=100)
    mechanism = GaussianMean(1.0)
    recorder = Recorder(Seeded(0))
    release: Any = mechanism.release(rows, recorder)
    assert recorder.log == []
    for word in ("n * epsilon is 100", "149", "epsilon=1.6", "160 rows", "bounds"):
        assert word in release.refusal
    hidden = replace(mechanism, neighbours=ADD)
    recorder = Recorder(Seeded(0))
    release = hidden.release(rows[:60], recorder)
    assert [type(request).__name__ for request, _ in recorder.log] == ["Blur"]
    assert "noisy number" in release.refusal
    assert f"{round(recorder.log[0][1] / recorder.log[0][0].sensitivity)} rows" in release.refusal  # type: ignore[attr-defined]
    assert GaussianMean(1.0, sigma=1.0).release(rows, Seeded(0)).refusal is not None  # 105 are needed
    assert GaussianMean(1.0, sigma=1.0, bounds=(-3.0, 3.0)).release(rows, Seeded(0)).refusal is None
    assert GaussianMean(1.0, neighbours=ADD).release([], Seeded(1)).refusal is not None  # emptiness is private here


@pytest.mark.claim("normal.3")
def test_a_scale_at_the_edge_of_the_floats_is_refused_by_what_was_released() -> None:
    tied = GaussianMean(20.0).release([5.0] * 400, Seeded(0))
    assert tied.refusal is not None
    assert "one and the same" in tied.refusal
    wide = np.random.default_rng(0).normal(size=400) * 1e300
    far = GaussianMean(2.0).release(wide, Seeded(0))
    assert far.refusal is not None
    assert "rescale" in far.refusal


@pytest.mark.claim("normal.4")
@pytest.mark.parametrize(
    ("size", "epsilon", "given", "widest"),
    [
        (1000, 1.0, {}, 1.10),
        (200, 1.0, {}, 1.8),
        (250, 1.0, {"sigma": 3.0}, 1.2),
        (400, 1.0, {"neighbours": ADD}, 1.15),
    ],
)
def test_coverage_and_error(size: int, epsilon: float, given: dict[str, Any], widest: float) -> None:
    """|mu| <= 100 sigma. A true coverage of 0.95 fails less than once in a million; 0.72 passes once in 30."""
    mechanism, runs = GaussianMean(epsilon, **given), 90
    widths, errors, plain = [], [], []

    def draw(seed: int) -> tuple[Any, float]:
        generator = np.random.default_rng(seed)
        mean = generator.uniform(-300, 300)
        rows = generator.normal(mean, 3.0, size=size)
        release = mechanism.release(rows, Seeded(seed))
        interval = release.interval()
        widths.append((interval.high - interval.low) / (2 * 1.97 * 3 / math.sqrt(size)))
        errors.append(release.value - mean)
        plain.append(rows.mean() - mean)
        return release, mean

    seen = audit.coverage(draw, runs=runs)
    assert seen.holds
    assert seen.share > 0.82
    assert np.median(widths) < widest
    if size == 1000:
        assert np.sqrt(np.mean(np.square(errors)) / np.mean(np.square(plain))) < 1.15


FAR = [(1e6, 1.0), (1.7e9, 3600.0), (-1e6, 1.0)]


@pytest.mark.claim("normal.5")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize(("size", "epsilon"), [(300, 0.5), (300, 1.0), (400, 1.0), (1600, 0.5)])
def test_data_far_from_zero_get_an_interval_that_holds_or_a_refusal(
    relation: Neighbours, size: int, epsilon: float
) -> None:
    """30 runs a place, seeded. Of 90 runs 5% miss by sampling alone; centres outside the data would miss in most."""
    rng, missed, answered = np.random.default_rng(5), 0, 0
    for place, scale in FAR:
        for run in range(30):
            rows = rng.normal(place, scale, size)
            release = GaussianMean(epsilon, neighbours=relation).release(rows, Seeded(run))
            if release.refusal is None:
                low, high = release.interval(0.95)
                missed, answered = missed + (not low <= place <= high), answered + 1
    assert missed <= 12
    assert answered < 20 if size * epsilon < 200 else answered > 75


@pytest.mark.claim("normal.5")
@pytest.mark.parametrize("relation", BOTH)
def test_a_centre_beside_the_data_is_refused_by_a_released_number(
    relation: Neighbours, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = np.random.default_rng(6).normal(10.0, 1.0, 2000)
    for centre, refused in [(10.0, False), (10.2, False), (12.0, True), (7.0, True), (1e6, True), (-1e300, True)]:
        monkeypatch.setattr(normal_stages, "middle", lambda *_, centre=centre, **__: centre)
        mechanism = GaussianMean(1.0, neighbours=relation)
        for seed in range(5):
            assert (mechanism.release(rows, Seeded(seed)).refusal is not None) == refused
    known = GaussianMean(1.0, sigma=1.0, neighbours=relation)
    assert known.release(rows, Seeded(0)).refusal is not None  # at the last of these centres


def test_offsets_ties_and_extreme_values() -> None:
    generator = np.random.default_rng(0)
    base = generator.normal(size=2000)
    for offset, scale in ((1e12, 1.0), (-1e12, 1e3), (0.0, 1e-100), (1e150, 1e140), (5.0, 1e140)):
        release = GaussianMean(1.0).release(base * scale + offset, Seeded(1))
        assert abs(release.value - offset) < 0.2 * scale
    integers = np.rint(generator.normal(40, 12, size=1000))  # ties
    assert abs(GaussianMean(1.0).release(integers, Seeded(2)).value - 40) < 2
    spoilt = np.concatenate([base, [math.inf, -math.inf, math.nan, 1e300, 5e-324] * 4])
    assert abs(GaussianMean(1.0).release(spoilt, Seeded(3)).value) < 0.2
    beside = GaussianMean(1.0, bounds=(0.0, 1.0)).release(base - 5, Seeded(3))  # bounds that do not hold the mean
    assert "beside the data" in str(beside.refusal)


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": 1.0, "delta": 2}, "delta"),
        ({"epsilon": 1.0, "sigma": 0.0}, "sigma"),
        ({"epsilon": 1.0, "sigma": math.nan}, "sigma"),
        ({"epsilon": 1.0, "bounds": (2.0, 1.0)}, "bounds"),
        ({"epsilon": 1.0, "bounds": (0.0, math.inf)}, "bounds"),
        ({"epsilon": 1.0, "bounds": 3}, "bounds"),
        ({"epsilon": 1.0, "size": 0}, "size"),
        ({"epsilon": 1.0, "size": 5, "neighbours": ADD}, "size"),
    ],
)
def test_bad_arguments(given: dict[str, Any], word: str) -> None:
    with pytest.raises(BadInput, match=word):
        GaussianMean(**given)


def test_bad_data_is_refused_before_any_draw() -> None:
    recorder = Recorder(Seeded(0))
    for rows, word in (([], "empty"), (np.ones((3, 2)), "shape"), ("text", "str"), (np.ones(7), "size=5")):
        with pytest.raises(BadInput, match=word):
            GaussianMean(1.0, size=5 if word == "size=5" else None).release(rows, recorder)
    with pytest.raises(BadInput, match="delta"):
        GaussianMean(1.0, 1e-2).release(np.ones(1000), recorder)
    assert recorder.log == []
