"""Order statistics are those of a full sort, whatever the data look like."""

import numpy as np
import pytest

from discreet.noise.order import MANY, order_statistics

LARGE = np.random.default_rng(0).normal(0, 1, MANY + 3)
SHAPES = {
    "few": LARGE[:500],
    "normal": LARGE,
    "sorted": np.sort(LARGE),
    "ties": np.round(LARGE),
    "one value": np.zeros(MANY),
    "infinite": np.where(LARGE > 1, np.inf, np.where(LARGE < -1, -np.inf, LARGE)),
    "a sample that misleads": np.where(np.arange(MANY + 3) % 2 == 0, 1e9, LARGE),
}


@pytest.mark.parametrize("name", SHAPES)
def test_the_same_as_sorting(name: str) -> None:
    values = SHAPES[name]
    before, ordered, size = values.copy(), np.sort(values), len(values)
    for start, stop in ((0, size), (0, 1), (size - 1, size), (size // 2, size // 2 + 1), (size // 3, size // 2)):
        assert np.array_equal(np.sort(order_statistics(values, start, stop)), ordered[start:stop])
    assert np.array_equal(values, before)
