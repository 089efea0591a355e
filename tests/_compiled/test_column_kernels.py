"""The compiled order of random words is a sort's."""

import numpy as np
import pytest

from discreet.noise import randomness as door
from discreet.noise.distributions import compiled
from discreet.noise.randomness import Seeded

pytestmark = pytest.mark.skipif(not compiled(), reason="numba is not installed")


@pytest.mark.parametrize("size", [0, 1, 2, 3, 1023, 1024, 5000, 150_000])
@pytest.mark.parametrize("low", [0, 2**64 - 2**40])
def test_the_order_is_that_of_a_sort(size: int, low: int) -> None:
    """Also of words that lie close together, which no source draws."""
    from discreet._compiled.column_kernels import order_of

    size = min(size, 5000) if low else size  # they share a drawer
    words = np.unique(np.random.default_rng(size).integers(low, 2**64 - 1, size=size, dtype=np.uint64))
    words = np.random.default_rng(1).permutation(words)
    order = order_of(words)
    assert order is not None
    assert order.tolist() == np.argsort(words, kind="stable").tolist()
    if len(words) > 1:
        words[-1] = words[0]
        assert order_of(words) is None


def test_a_seeded_shuffle_is_the_same_with_and_without(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Seeded(4).permutation(3000)
    monkeypatch.setattr(door, "LARGE", 0)
    assert Seeded(4).permutation(3000).tolist() == plain.tolist()
    assert Seeded(4).permutation(0).tolist() == []
