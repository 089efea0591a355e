"""Who is looked at: by chance that sticks to places, or to rows."""

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.friendly import order
from discreet.friendly.order import prioritised, shuffled
from discreet.noise.seeded import Seeded

VALUES = (0.0, -0.0, 1.0, np.nan, np.inf, 2.5)


@pytest.mark.claim("FO1")
def test_places_are_shuffled_and_different() -> None:
    assert sorted(shuffled(7, 10, Seeded(0)).tolist()) == list(range(7))
    for seed in range(50):
        chosen = shuffled(30, 12, Seeded(seed)).tolist()
        assert len(set(chosen)) == 12
        assert min(chosen) >= 0
        assert max(chosen) < 30
    assert shuffled(0, 12, Seeded(0)).tolist() == []


@pytest.mark.claim("FO1")
def test_every_place_is_as_likely_first_or_last() -> None:
    """20,000 shuffles of 10 places to 4: each place 2,000 times at each, give or take 250 (5.8 deviations)."""
    counts = np.zeros((4, 10))
    for seed in range(20_000):
        counts[np.arange(4), shuffled(10, 4, Seeded(seed))] += 1
    assert (abs(counts - 2000) < 250).all()


def listed(rows: Any, places: Any) -> list[str]:
    return [repr(row) for row in (np.where(np.isnan(rows), np.nan, rows) + 0.0)[places].tolist()]


@pytest.mark.claim("FO2")
@pytest.mark.parametrize("rate", [Fraction(1), Fraction(1, 2), Fraction(1, 5)])
def test_a_row_more_is_at_most_one_more_and_nobody_moves(rate: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    """For every key, even where all rows share their hash."""
    rng = np.random.default_rng(1)
    for trial in range(300):
        if trial == 200:
            monkeypatch.setattr(order, "_hashed", lambda bits, key: np.full(len(bits), key % 3, dtype=np.uint64))
        rows = rng.choice(VALUES, size=(int(rng.integers(0, 12)), 2))
        place = int(rng.integers(len(rows) + 1))
        more = np.insert(rows, place, rng.choice(VALUES, size=2), axis=0)
        few, many = (listed(table, prioritised(table, rate, Seeded(trial))) for table in (rows, more))
        extra = Counter(many) - Counter(few)
        assert not Counter(few) - Counter(many)
        assert extra.total() <= 1
        for one in extra:
            places = [at for at, row in enumerate(many) if row == one]
            assert any(many[:at] + many[at + 1 :] == few for at in places)
        if not extra:
            assert many == few


@pytest.mark.claim("FO2")
def test_the_rate_is_kept_and_equal_rows_are_chosen_one_by_one() -> None:
    """Binomial: 100,000 rows at a rate of 1/10, give or take 475 (5 deviations)."""
    rng = np.random.default_rng(2)
    for rows in (rng.normal(size=(100_000, 2)), np.ones((100_000, 2))):
        chosen = prioritised(rows, Fraction(1, 10), Seeded(3))
        assert abs(len(chosen) - 10_000) < 475
        assert len(set(chosen.tolist())) == len(chosen)
    spread = prioritised(rng.normal(size=(1000, 1)), Fraction(1), Seeded(4))
    assert abs(np.corrcoef(np.arange(1000), spread)[0, 1]) < 0.16  # 5 deviations
    assert prioritised(np.empty((0, 2)), Fraction(1, 2), Seeded(5)).tolist() == []
