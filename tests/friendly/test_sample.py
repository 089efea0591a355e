"""Pairs and blocks of a private number of rows: one row more changes one of them."""

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.friendly import sample
from discreet.friendly.sample import Places, block_means
from discreet.noise.randomness import Seeded
from discreet.tables.matrix import Stored, matrix, take

VALUES = (0.0, -0.0, 1.0, np.nan, np.inf, 2.5)


def placed(table: Any) -> Counter[Any]:
    found = Places(matrix(table), Seeded(1))
    return Counter(zip(found.places.tolist(), map(bytes, map(np.ndarray.tobytes, table)), strict=True))


def listed(rows: Any) -> list[bytes]:
    return [row.tobytes() for row in rows]


@pytest.mark.claim("sample.1")
@pytest.mark.parametrize("rate", [Fraction(1), Fraction(1, 2), Fraction(1, 5)])
def test_a_row_more_is_at_most_one_more_and_nobody_moves(rate: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    """For every key, even where all rows share their sum."""
    rng = np.random.default_rng(1)
    for trial in range(300):
        if trial == 200:
            monkeypatch.setattr(sample, "_sums", lambda block, keys: np.full(len(block), keys[0] % np.uint64(3)))
        rows = rng.choice(VALUES, size=(int(rng.integers(0, 12)), 2))
        place = int(rng.integers(len(rows) + 1))
        more = np.insert(rows, place, rng.choice(VALUES, size=2), axis=0)
        few, many = (listed(Places(matrix(table), Seeded(trial)).below(rate)) for table in (rows, more))
        extra = Counter(many) - Counter(few)
        assert not Counter(few) - Counter(many)
        assert extra.total() <= 1
        for one in extra:
            places = [at for at, row in enumerate(many) if row == one]
            assert any(many[:at] + many[at + 1 :] == few for at in places)
        if not extra:
            assert many == few


def means_of(table: Any, number: int) -> Any:
    found = Places(matrix(table), Seeded(1))
    blocks = block_means(found.rows, number, found.buckets(number), found.order)
    return next(blocks.blocks())


@pytest.mark.claim("sample.1")
def test_the_rate_is_kept_and_equal_rows_are_chosen_one_by_one() -> None:
    """Binomial: 100,000 rows at a rate of 1/10, give or take 475 (5 deviations)."""
    rng = np.random.default_rng(2)
    for rows in (rng.normal(size=(100_000, 2)), np.ones((100_000, 2))):
        assert abs(len(Places(matrix(rows), Seeded(3)).below(Fraction(1, 10))) - 10_000) < 475
    found = Places(matrix(rng.normal(size=(1000, 1))), Seeded(4))
    assert sorted(found.order.tolist()) == list(range(1000))
    assert abs(np.corrcoef(np.arange(1000), found.order)[0, 1]) < 0.16  # 5 deviations
    assert len(Places(matrix(np.empty((0, 2))), Seeded(5)).below(0.5)) == 0


@pytest.mark.claim("sample.1")
@pytest.mark.parametrize("collide", [False, True])
def test_one_row_more_is_one_place_one_pair_one_block_more(collide: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """With many equal rows, and with sums that collide for different rows."""
    if collide:
        honest = sample._sums
        monkeypatch.setattr(sample, "_sums", lambda block, keys: honest(block, keys) % np.uint64(3))
    rng = np.random.default_rng(0)
    table = rng.integers(0, 3, size=(80, 2)).astype(float)
    table[5] = np.nan
    before = placed(table)
    pairs = Counter(map(bytes, map(np.ndarray.tobytes, Places(matrix(table), Seeded(1)).pairs(30, 1.0).reshape(-1, 4))))
    means = means_of(table, 12)
    for _ in range(25):
        place, row = int(rng.integers(81)), rng.integers(0, 4, size=2).astype(float)
        more = np.insert(table, place, row, axis=0)
        after = placed(more)
        assert sum((after - before).values()) == 1
        assert not before - after
        both = Places(matrix(more), Seeded(1)).pairs(30, 1.0).reshape(-1, 4)
        changed = Counter(map(bytes, map(np.ndarray.tobytes, both)))
        assert sum((changed - pairs).values()) <= 1
        assert sum((pairs - changed).values()) <= 1
        other = means_of(more, 12)
        assert sum(not np.array_equal(a, b, equal_nan=True) for a, b in zip(means, other, strict=True)) <= 1


def test_places_are_spread_evenly_and_samples_have_their_share() -> None:
    rows = matrix(np.repeat(np.arange(2.0), 10_000)[:, None])  # two values only
    found = Places(rows, Seeded(1))
    counts = np.bincount(found.buckets(10), minlength=10)
    assert (abs(counts - 2000) < 6 * np.sqrt(2000)).all()
    some = found.below(0.1)
    assert abs(len(some) - 2000) < 6 * np.sqrt(2000)
    assert abs(some.mean() - 0.5) < 0.08
    assert len(Places(matrix(np.empty((0, 3))), Seeded(1)).pairs(5, 1.0)) == 0


def test_block_means_of_an_arrow_table_are_the_same_in_a_few_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    pa = pytest.importorskip("pyarrow")
    rows = np.random.default_rng(0).normal(size=(400, 3))
    table = matrix(pa.table({str(place): rows[:, place] for place in range(3)}))
    order = np.random.default_rng(1).permutation(400)
    monkeypatch.setattr(sample, "CACHED", 12)  # so that the array is gone through in many parts
    passes = 0
    taken = take

    def counted(*given: Any) -> Any:
        nonlocal passes
        passes += 1
        return taken(*given)

    monkeypatch.setattr(sample, "take", counted)
    found = next(block_means(table, 40, np.arange(400) // 10, order).blocks())
    assert passes == sample.PASSES
    assert found.tobytes() == next(block_means(matrix(rows), 40, np.arange(400) // 10, order).blocks()).tobytes()
    assert passes > 5 * sample.PASSES


def test_block_means_are_means_of_their_own_rows() -> None:
    rows = np.random.default_rng(0).normal(size=(100, 3)) + 1e9
    order = np.random.default_rng(1).permutation(100)
    means = next(block_means(Stored((rows[:40], rows[40:]), 3), 10, np.arange(100) // 10, order).blocks())
    np.testing.assert_allclose(means[4], rows[order[40:50]].mean(axis=0), rtol=1e-15)
    spoilt = rows.copy()
    spoilt[order[41], 2] = np.nan
    again = next(block_means(matrix(spoilt), 10, np.arange(100) // 10, order).blocks())
    assert np.isnan(again[4, 2])
    np.testing.assert_array_equal(np.delete(again, 4, axis=0), np.delete(means, 4, axis=0))
