"""Clipped gradients of named losses and of any function."""

import math
import random
from typing import Any

import numpy as np
import pytest

from discreet.models import gradients as module
from discreet.models.features import Scaling, prepared
from discreet.models.gradients import LOSSES, AnyGradients, ModelGradients, clipped, gradient_sensitivity
from discreet.noise.distributions import compiled
from discreet.privacy.guarantee import Neighbours

MOST = int(gradient_sensitivity(3, Neighbours.ADD_OR_REMOVE))
SCALING = Scaling(np.zeros(2), np.ones(2), True)


def table(rows: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    found = np.column_stack([rng.normal(size=(rows, 2)) * 4, rng.integers(0, 9, rows)])
    found[::11, 0], found[::13, 2], found[::17, 1] = np.inf, np.nan, 1e300
    return found


@pytest.mark.claim("gradients.1")
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("clip", [0.01, 1.0, 1e5])
def test_no_row_is_longer_than_claimed(loss: Any, clip: float) -> None:
    for w in (np.zeros(3), np.array([3.0, -20.0, 1e6])):
        for row in table(60):
            one = ModelGradients.of(prepared(row[None, :], SCALING), loss, clip)
            found = one.total(w, np.ones(1, dtype=bool)).tolist()
            assert sum(step * step for step in found) <= MOST**2


@pytest.mark.claim("gradients.2")
@pytest.mark.parametrize("loss", LOSSES)
def test_sums_are_sums_and_the_compiled_pass_agrees(loss: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = table(9000)
    w, every = np.array([0.3, -1.0, 2.0]), np.ones(9000, dtype=bool)
    whole = ModelGradients.of(prepared(rows, SCALING), loss, 2.0)
    parts = [ModelGradients.of(prepared(part, SCALING), loss, 2.0) for part in (rows[:5], rows[5:])]
    total = whole.total(w, every)
    assert (np.sum([part.total(w, every[: part.people]) for part in parts], axis=0) == total).all()
    some = np.arange(9000) % 3 == 0
    less = whole.total(w, some)
    assert (less + whole.total(w, ~some) == total).all()
    if compiled():
        monkeypatch.setattr(module, "LARGE", 1)
        assert (whole.total(w, every) == total).all()
        assert (whole.total(w, some) == less).all()


@pytest.mark.claim("gradients.1")
def test_a_function_that_misbehaves_counts_as_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    def bad(w: np.ndarray, x: np.ndarray, y: np.ndarray) -> Any:
        w[:] = 7.0  # it may not spoil the next row's
        x[:] = 3.0
        print("a value of the data", y)  # noqa: T201
        match int(y[0]):
            case 0:
                raise ValueError(str(y))
            case 1:
                raise SystemExit
            case 2:
                return [math.nan, 1.0]
            case 3:
                return [1.0, 2.0, 3.0]
            case 4:
                return "gradient"
            case 5:
                return [3e200, 4e200]
            case _:
                return [[0.3, 0.4]]

    rows = AnyGradients(gradients=bad, X=np.zeros((8, 1)), y=np.arange(8.0), size=2, clip=1.0)
    each = [rows.total(np.zeros(2), np.arange(8) == place) for place in range(8)]
    assert all((found == 0).all() for found in each[:5])
    assert np.allclose(each[5] / 2**26, [0.6, 0.8])
    assert np.allclose(each[6] / 2**26, [0.3, 0.4])
    assert (rows.total(np.zeros(2), np.ones(8, dtype=bool)) == sum(each)).all()
    assert (rows.X == 0).all()
    assert capsys.readouterr().out == ""


@pytest.mark.claim("gradients.1")
def test_random_numbers_of_a_row_do_not_depend_on_other_rows() -> None:
    def noisy(w: np.ndarray, x: np.ndarray, y: np.ndarray) -> Any:
        for _ in range(int(y[0])):  # some rows draw more than others
            random.random()
            np.random.random()  # noqa: NPY002
        return [random.random(), np.random.random()]  # noqa: NPY002

    def total(outcomes: list[float], w: float = 0.0) -> np.ndarray:
        rows = AnyGradients(gradients=noisy, X=np.zeros((len(outcomes), 1)), y=np.array(outcomes), size=2, clip=10.0)
        return rows.total(np.full(2, w), np.ones(len(outcomes), dtype=bool))

    random.seed(4)
    assert (total([3.0, 0.0, 1.0]) == total([3.0]) + total([0.0, 1.0])).all()
    assert (total([0.0]) != total([0.0], 1.0)).all()
    after = random.random()
    random.seed(4)
    assert after == random.random()


@pytest.mark.claim("gradients.1")
def test_clipping_keeps_the_length() -> None:
    rng = np.random.default_rng(0)
    wild = rng.normal(size=(500, 3)) * 10.0 ** rng.integers(-300, 300, (500, 1))
    for row in clipped(wild, 1.0).tolist():
        assert sum(step * step for step in row) <= MOST**2
