"""The ladder for correlations of ranks."""

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
from discreet.statistics import rank_correlation as module
from discreet.statistics.rank_correlation import RankCorrelation, balance, in_blocks, products
from discreet.statistics.thinned import coins

BOTH = list(Neighbours)
REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
CROWD = [(float(x), float(x + y)) for x, y in np.round(np.random.default_rng(4).normal(1.0, 2.0, size=(40, 2)), 1)]
VALUES: tuple[Any, ...] = (
    *((0.0, 0.0), (1.0, 2.0), (1e6, -1e6), (-1e6, 1e6), (1e300, 1e300), (math.inf, 0.0), (-math.inf, math.inf)),
    *((math.nan, 1.0), (5e-324, -0.0), None, (1.0,), "ab", (None, "x")),
)


def world(relation: Neighbours) -> list[audit.Pair]:
    """Odd rows with a crowd beside them, and crowds in line, against which one row weighs most."""
    line = [(float(k), float(k)) for k in range(40)]
    if relation is REPLACE:
        pairs = [audit.Pair([*CROWD, a], [*CROWD, b]) for a in VALUES for b in VALUES if a is not b][::5]
        return [*pairs, audit.Pair([*line, (50.0, 50.0)], [*line, (50.0, -1.0)])]
    few: tuple[list[Any], ...] = ([], [(1.0, 2.0)], [(1e300, 0.0)] * 3)
    pairs = [audit.Pair(CROWD, [*CROWD, one]) for one in VALUES] + [audit.Pair(a, [*a, (1.0, 2.0)]) for a in few]
    return [*pairs, audit.Pair(line, [*line, (50.0, -1.0)]), audit.Pair(line, [*line, (50.0, 50.0)])]


@pytest.mark.claim("rank_correlation.1")
@pytest.mark.parametrize("relation", BOTH)
def test_every_small_pair(relation: Neighbours) -> None:
    mechanism = RankCorrelation(16.0, dimension=2, neighbours=relation)
    audit.check(mechanism, world(relation), hostile_values=False).require()
    assert mechanism.release([*CROWD, (1.0, 1.0)], Seeded(0)).refusal is None  # a world of answers
    assert implies(mechanism.loss, mechanism.guarantee)
    assert exceeds(drawn(mechanism, [*CROWD, (1.0, 1.0)]), mechanism.loss) is None


@pytest.mark.claim("rank_correlation.1")
def test_one_row_moves_the_sums_no_further_than_proved() -> None:
    """Random tables of up to 12 rows with ties and missing entries; the bound is reached by crowds in line."""
    generator, nearest = np.random.default_rng(0), 0.0
    for _ in range(3000):
        rows, levels = int(generator.integers(1, 13)), int(generator.integers(2, 15))
        table = generator.integers(0, levels, size=(rows, 2)).astype(float)
        if generator.random() < 0.3:
            table[:, 1] = table[:, 0] * generator.choice([-1, 1])
        table[generator.random(table.shape) < 0.05] = math.nan
        n = rows - 1
        for columns in ((0, 1), (0, 0)):
            after = products(*(balance(table[:, place]) for place in columns))
            before = products(*(balance(table[:-1, place]) for place in columns))
            assert abs(after - before) <= n * n + n
            moved = abs(after / rows**2 - before / max(n, 1) ** 2)
            assert moved < (5 / 3 if columns == (0, 1) else 1)
            assert columns == (0, 1) or after >= before
            nearest = max(nearest, abs(after - before) / max(n * n + n, 1))
    assert nearest > 0.8
    line = np.arange(2000.0)
    alone = products(balance(line), balance(line)) / 2000**2
    with_one = products(balance(np.append(line, 9999.0)), balance(np.append(line, -1.0))) / 2001**2
    assert 1.66 < alone - with_one < 5 / 3


@pytest.mark.claim("rank_correlation.1")
def test_a_row_is_in_one_block() -> None:
    """One row more changes one number, two rows more two, and each is within 0 and 1."""
    rows = np.round(np.random.default_rng(1).normal(size=(400, 2)), 1)
    for one in ((9.0, -9.0), (0.0, 0.1), (math.nan, 1.0)):
        places = [coins((part[:, 0], part[:, 1]), 77) % np.uint64(60) for part in (rows, np.vstack([rows, one]))]
        seen = [
            in_blocks(part, place.astype(np.int64), 60, (0.4, 0.4))
            for part, place in zip((rows, np.vstack([rows, one])), places, strict=True)
        ]
        assert (seen[0] != seen[1]).sum() <= 1
        assert min(seen[1]) >= 0
        assert max(seen[1]) <= 1


@pytest.mark.claim("rank_correlation.1")
@pytest.mark.parametrize("relation", BOTH)
def test_three_columns_cost_no_more_than_epsilon(relation: Neighbours) -> None:
    rows = np.random.default_rng(5).normal(size=(100, 3)) @ np.triu(np.ones((3, 3)))
    mechanism, recorder = RankCorrelation(16.0, dimension=3, neighbours=relation), Recorder(Seeded(0))
    assert mechanism.release(rows, recorder).refusal is None
    assert len(recorder.log) == 3 + 3 * 3 + (relation is ADD)  # columns; a pair, a key and blocks
    assert pure(mechanism.stages.loss) == (Fraction(16), Fraction(0))
    assert exceeds(drawn(mechanism, rows), mechanism.loss) is None


@pytest.mark.claim("rank_correlation.1")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("name", ["products", "in_blocks"])
def test_a_smaller_sensitivity_is_found_out(relation: Neighbours, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    true: Any = vars(module)[name]
    factor = {"products": 1.5, "in_blocks": 40}[name]
    monkeypatch.setattr(module, name, lambda *given: (true(*given) * Fraction(factor).numerator) // 2)
    found = audit.check(RankCorrelation(16.0, dimension=2, neighbours=relation), world(relation), hostile_values=False)
    with pytest.raises(DiscreetError):
        found.require()


@pytest.mark.claim("rank_correlation.1")
@pytest.mark.parametrize("relation", BOTH)
def test_a_row_may_change_whole_blocks(relation: Neighbours, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks that are 0 or 1 by whether their rows are odd in number: one replaced row may move two."""

    def odd(_pair: Any, place: Any, many: int, _weights: Any) -> Any:
        return np.bincount(place, minlength=many) % 2 * 1.0

    monkeypatch.setattr(module, "in_blocks", odd)
    mechanism, pairs = RankCorrelation(16.0, dimension=2, neighbours=relation), world(relation)
    audit.check(mechanism, pairs, hostile_values=False).require()
    monkeypatch.setattr(module, "in_blocks", lambda *given: odd(*given) * 1.05)
    with pytest.raises(DiscreetError):
        audit.check(mechanism, pairs, hostile_values=False).require()


@pytest.mark.claim("rank_correlation.3")
@pytest.mark.parametrize("relation", BOTH)
def test_the_noise_is_as_stated(relation: Neighbours) -> None:
    """40 releases of the same rows, seeded: their deviation is within a factor of 3 of the one stated."""
    x = np.random.default_rng(6).normal(size=(800, 2))
    rows = np.column_stack([x[:, 0], x[:, 0] + x[:, 1]])
    seen = [RankCorrelation(1.0, dimension=2, neighbours=relation).release(rows, Seeded(seed)) for seed in range(40)]
    stated = np.mean([one.spread.privacy[0, 1] for one in seen])  # type: ignore[union-attr]
    assert 1 / 3 < np.std([one.value[0, 1] for one in seen]) / stated < 3


@pytest.mark.claim("rank_correlation.2")
def test_refusals() -> None:
    rows = np.random.default_rng(0).normal(size=(150, 2))
    recorder = Recorder(Seeded(0))
    assert "200" in str(RankCorrelation(1.0, dimension=2, neighbours=REPLACE).release(rows, recorder).refusal)
    assert recorder.log == []
    recorder = Recorder(Seeded(0))
    assert "noisy number" in str(RankCorrelation(1.0, dimension=2).release(rows, recorder).refusal)
    assert len(recorder.log) == 1
    still = np.column_stack([rows[:, 0], np.full(150, 7.0)])
    assert "column 2 has nearly the same" in str(RankCorrelation(8.0, dimension=2).release(still, Seeded(0)).refusal)
    for columns in (1, 21):
        with pytest.raises(BadInput, match="2 to 20"):
            RankCorrelation(1.0, dimension=columns)
    with pytest.raises(BadInput, match="spearman"):
        discreet.correlation(rows, epsilon=1.0, method="kendall", rng=Seeded(0))  # type: ignore[arg-type]


def test_without_noise_it_is_the_usual_one() -> None:
    from scipy.stats import spearmanr

    rows = np.random.default_rng(2).integers(0, 6, size=(500, 3)).astype(float)
    rows[:, 2] += rows[:, 0]
    seen = RankCorrelation(1e5, dimension=3).release(rows, Seeded(0)).value
    assert np.abs(np.asarray(seen) - spearmanr(rows)[0]).max() < 1e-3


def crossed(generator: np.random.Generator, rows: int) -> Any:
    """Nearly the largest sampling variance there is: 2.4 times that of independent columns."""
    u = generator.uniform(-1, 1, rows)
    return np.column_stack([u, np.where(np.abs(u) > 5 / 6, u, -u)])


def tied(generator: np.random.Generator, rows: int) -> Any:
    """Few values, which go together."""
    x = generator.normal(size=(rows, 2))
    return np.column_stack([np.floor(np.clip(x[:, 0], -1, 1) * 2), 0.7 * x[:, 0] + 0.7 * x[:, 1] > 1]) * 1.0


@pytest.mark.claim("rank_correlation.3")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize(("draw", "truth"), [(crossed, 1 - 2 * (5 / 6) ** 3), (tied, 0.446)])
def test_the_interval_holds_the_population_s(relation: Neighbours, draw: Any, truth: float) -> None:
    """25 runs each: a true 0.95 gives fewer than 16 less than once in a million, 0.5 mostly does."""
    held, wide = 0, []
    for seed in range(25):
        rows = draw(np.random.default_rng([1, seed]), 1500)
        low, high = (
            end[0, 1]
            for end in RankCorrelation(1.0, dimension=2, neighbours=relation).release(rows, Seeded(seed)).interval(0.95)
        )
        held += low <= truth <= high
        wide.append((high - low) / 2)
    assert held >= 16
    assert np.mean(wide) < 0.13


def test_names() -> None:
    import pandas as pd

    x = np.random.default_rng(3).normal(size=(1500, 3))
    frame = pd.DataFrame({"age": x[:, 0], "height": np.exp(9 * x[:, 0]), "score": x[:, 2]})
    release = discreet.correlation(frame, epsilon=3.0, method="spearman", rng=Seeded(0))
    assert "height" in str(release.value.to_frame())
    assert "population's correlation of ranks" in str(release)
    assert release.value[0, 1] > 0.9
