"""Who is looked at: by chance that sticks to places."""

import numpy as np
import pytest

from discreet.friendly.core import shuffled
from discreet.noise.randomness import Seeded


@pytest.mark.claim("core.1")
def test_places_are_shuffled_and_different() -> None:
    assert sorted(shuffled(7, 10, Seeded(0)).tolist()) == list(range(7))
    for seed in range(50):
        chosen = shuffled(30, 12, Seeded(seed)).tolist()
        assert len(set(chosen)) == 12
        assert min(chosen) >= 0
        assert max(chosen) < 30
    assert shuffled(0, 12, Seeded(0)).tolist() == []


@pytest.mark.claim("core.1")
def test_every_place_is_as_likely_first_or_last() -> None:
    """5,000 shuffles of 10 places to 4: each place 500 times at each, give or take 120 (5.6 deviations)."""
    counts = np.zeros((4, 10))
    for seed in range(5000):
        counts[np.arange(4), shuffled(10, 4, Seeded(seed))] += 1
    assert (abs(counts - 500) < 120).all()
