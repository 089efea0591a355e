"""Predicates read two rows and nothing else."""

from typing import Any

import numpy as np
import pytest

from discreet.errors import BadInput
from discreet.friendly.core import Pairwise, Predicate, Within, match_core


def whole(predicate: Predicate, rows: Any) -> list[list[bool]]:
    table = np.asarray(rows, dtype=float)
    found: list[list[bool]] = predicate.strangers(table).block(0, len(table)).tolist()
    return found


@pytest.mark.claim("core.2")
def test_a_function_of_two_rows() -> None:
    rows = [[0.0, 1.0], [0.5, 1.0], [9.0, 1.0], [np.nan, 1.0]]
    near = Pairwise(lambda one, other: bool(abs(one - other).max() <= 1))
    assert whole(near, rows) == whole(Within(1.0), rows)
    assert match_core(near.strangers(np.array(rows[:3]))).survivors.tolist() == [1]


@pytest.mark.claim("core.2")
def test_symmetric_and_silent_whatever_the_function_is() -> None:
    assert whole(Pairwise(lambda one, other: one[0] < other[0]), [[0.0], [1.0]])[0][1]

    def angry(one: Any, other: Any) -> bool:
        one[:] = 7.0  # it works on copies
        raise ValueError(one, other)

    rows = np.array([[0.0], [1.0]])
    assert whole(Pairwise(angry), rows) == [[True, True], [True, True]]
    assert rows.tolist() == [[0.0], [1.0]]
    odd = Pairwise(lambda one, other: np.array([1, 2]))  # no truth value
    assert whole(odd, rows)[0][1]
    assert not whole(Pairwise(lambda one, other: np.log(one - 5) is not None), rows)[0][1]


def test_radii_are_checked() -> None:
    with pytest.raises(BadInput, match="radius"):
        Within(-1.0)
    assert whole(Within(0.0), [[1.0], [1.0], [2.0]])[0] == [False, False, True]
