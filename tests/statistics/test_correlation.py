"""The ladder for correlations."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import audit
from discreet.accounting.compose import implies
from discreet.accounting.currency import pure
from discreet.audit.replay import Recorder, drawn, exceeds
from discreet.errors import BadInput, DiscreetError
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.statistics import correlation as module
from discreet.statistics.correlation import Correlation

BOTH = list(Neighbours)
REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
CROWD = [(float(x), float(x + y)) for x, y in np.round(np.random.default_rng(4).normal(1.0, 2.0, size=(150, 2)), 2)]
VALUES: tuple[Any, ...] = (
    *((0.0, 0.0), (1.0, 2.0), (1e6, -1e6), (1e300, 1e300), (math.inf, 0.0), (-math.inf, math.inf)),
    *((math.nan, 1.0), (5e-324, -0.0), None, (1.0,), "ab", (None, "x")),
)


def world(relation: Neighbours) -> list[audit.Pair]:
    """Odd rows with a crowd beside them."""
    if relation is REPLACE:
        return [audit.Pair([*CROWD, a], [*CROWD, b]) for a in VALUES for b in VALUES if a is not b][::6]
    few: tuple[list[Any], ...] = ([], [(1.0, 2.0)], [(1e300, 0.0)] * 3)
    return [audit.Pair(CROWD, [*CROWD, one]) for one in VALUES] + [audit.Pair(a, [*a, (1.0, 2.0)]) for a in few]


@pytest.mark.claim("correlation.1")
@pytest.mark.parametrize("relation", BOTH)
def test_every_small_pair(relation: Neighbours) -> None:
    mechanism = Correlation(16.0, dimension=2, neighbours=relation)
    audit.check(mechanism, world(relation), hostile_values=False).require()
    assert mechanism.release([*CROWD, (1.0, 1.0)], Seeded(0)).refusal is None  # a world of answers
    assert implies(mechanism.loss, mechanism.guarantee)
    assert exceeds(drawn(mechanism, [*CROWD, (1.0, 1.0)]), mechanism.loss) is None


@pytest.mark.claim("correlation.1")
@pytest.mark.parametrize("relation", BOTH)
def test_three_columns_cost_no_more_than_epsilon(relation: Neighbours) -> None:
    rows = np.random.default_rng(5).normal(size=(200, 3)) @ np.array(
        [[1.0, 1.0, 0.5], [0.0, 1.0, 0.5], [0.0, 0.0, 1.0]]
    )
    mechanism, recorder = Correlation(48.0, dimension=3, neighbours=relation), Recorder(Seeded(0))
    assert mechanism.release(rows, recorder).refusal is None
    assert len(recorder.log) == 4 * 3 + 2 * 3 + (relation is ADD)
    assert pure(mechanism.stages.loss) == (Fraction(48), Fraction(0))
    assert exceeds(drawn(mechanism, rows), mechanism.loss) is None


@pytest.mark.claim("correlation.1")
def test_a_pair_moves_by_one_in_all() -> None:
    """The two squares of one row, and of any other row: at most h together, 2 h apart."""
    h = 2**26
    steps = np.random.default_rng(0).integers(-h, h + 1, size=(20_000, 2))
    steps[:9] = [(a, b) for a in (-h, 0, h) for b in (-h, 0, h)]
    up, down = ((steps[:, 0] + sign * steps[:, 1]) ** 2 >> 28 for sign in (1, -1))
    assert (up + down).max() == h
    assert min(up.min(), down.min()) == 0


@pytest.mark.claim("correlation.1")
@pytest.mark.parametrize("relation", BOTH)
def test_a_smaller_sensitivity_is_found_out(relation: Neighbours, monkeypatch: pytest.MonkeyPatch) -> None:
    true: Any = vars(module)["steps_of"]
    monkeypatch.setattr(module, "steps_of", lambda *given, **named: tuple(a * 2 for a in true(*given, **named)))
    found = audit.check(Correlation(16.0, dimension=2, neighbours=relation), world(relation), hostile_values=False)
    with pytest.raises(DiscreetError):
        found.require()


@pytest.mark.claim("correlation.2")
def test_refusals() -> None:
    rows = np.random.default_rng(0).normal(size=(900, 2))
    recorder = Recorder(Seeded(0))
    assert "1116" in str(Correlation(1.0, dimension=2, neighbours=REPLACE).release(rows, recorder).refusal)
    assert recorder.log == []
    recorder = Recorder(Seeded(0))
    assert "noisy number" in str(Correlation(1.0, dimension=2).release(rows, recorder).refusal)
    assert len(recorder.log) == 1
    still = np.column_stack([rows[:, 0], np.full(900, 7.0)])
    assert "vary too little" in str(Correlation(8.0, dimension=2).release(still, Seeded(0)).refusal)
    for columns in (1, 21):
        with pytest.raises(BadInput, match="2 to 20"):
            Correlation(1.0, dimension=columns)


def skewed(generator: np.random.Generator, rows: int) -> Any:
    """A lognormal column that goes with a normal one, far from 0 and in other units."""
    x = generator.normal(size=(rows, 2))
    return np.column_stack([np.exp(x[:, 0]), 1e6 + 3600 * (0.6 * x[:, 0] + 0.8 * x[:, 1])])


def flags(generator: np.random.Generator, rows: int) -> Any:
    """A truth value that goes with a number."""
    x = generator.normal(size=(rows, 2))
    return np.column_stack([x[:, 0] > 1.2, 0.5 * x[:, 0] + x[:, 1]])


@pytest.mark.claim("correlation.3")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("draw", [skewed, flags])
def test_the_interval_holds_the_correlation_of_the_limited_values(relation: Neighbours, draw: Any) -> None:
    """40 runs in all: a true 0.95 fails once in a million, 0.6 hardly ever passes."""
    population, held = draw(np.random.default_rng(0), 200_000), 0
    for seed in range(20):
        rows = draw(np.random.default_rng([1, seed]), 4000)
        release = Correlation(1.0, dimension=2, neighbours=relation).release(rows, Seeded(seed))
        ends = np.array(release.spread.clips)  # type: ignore[union-attr]
        truth = np.corrcoef(np.clip(population, ends[:, 0] - ends[:, 1], ends.sum(axis=1)), rowvar=False)[0, 1]
        low, high = (end[0, 1] for end in release.interval(0.95))
        held += low <= truth <= high
    assert held >= 14


def test_names_diagonal_and_ranges() -> None:
    import pandas as pd

    x = np.random.default_rng(3).normal(size=(6000, 3))
    frame = pd.DataFrame({"age": x[:, 0], "height": x[:, 0] + x[:, 1], "score": x[:, 2]})
    release = discreet.correlation(frame, epsilon=3.0, rng=Seeded(0))
    found = release.to_frame() if hasattr(release, "to_frame") else release.value.to_frame()
    assert "height" in str(found)
    assert np.diag(np.asarray(release.value)).tolist() == [1.0, 1.0, 1.0]
    assert abs(release.value[0, 1] - 0.707) < 0.2
    assert str(release).count("[") >= 3


@pytest.mark.claim("correlation.3")
def test_the_squares_of_influences_add_up_over_pieces() -> None:
    rows = np.random.default_rng(8).normal(size=(500, 2))
    a, b = np.clip(rows.T / 4, -1, 1)
    expected = float(((a * b - 0.2 * (a * a + b * b)) ** 2 / 0.5).sum())
    entries = tuple(module._Entry(pair, r, 0.0, (0.0, 0.0), (1.0, 1.0)) for pair, r in (((0, 1), 0.4), ((1, 1), 1.0)))
    terms: dict[str, Any] = {"clips": ((0.0, 4.0), (0.0, 4.0)), "bits": 26, "entries": entries, "most": 0.5}
    found, same = module._influences(iter([rows[:100], rows[100:]]), **terms)
    assert abs(found / 2**26 - expected) < 1e-4 * expected + 1e-5
    assert same == 0  # a column does not move its correlation with itself


@pytest.mark.claim("correlation.1")
def test_each_pair_has_noise_of_its_own_whatever_the_others_are() -> None:
    """One pass for all pairs, one draw for each."""
    x = np.random.default_rng(4).normal(size=(30_000, 3)) @ np.array([[1, 0.5, 0], [0, 1, 0.5], [0, 0, 1]])
    plain = (1 - np.corrcoef(x, rowvar=False) ** 2) / np.sqrt(len(x))  # of normal columns
    for wide in (2, 3):
        spread: Any = discreet.correlation(x[:, :wide], epsilon=40.0, rng=Seeded(0)).spread
        found = spread.sampling
        assert np.abs(found - plain[:wide, :wide])[~np.eye(wide, dtype=bool)].max() < 0.25 * plain.max()
