"""Functions of R, by stand-ins for what reticulate and rpy2 hand over; nothing is spent on them."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet
from discreet.accounting.filter import Budget
from discreet.errors import BadInput
from discreet.subsample.foreign import check_language


def of_reticulate() -> Callable[..., float]:
    """As rpytools.call.make_python_function makes it."""

    def python_function(*args: Any, **kwargs: Any) -> float:
        raise AssertionError("R was called")

    python_function.__module__ = "rpytools.call"
    return python_function


def of_rpy2() -> Any:
    kind = type("SexpClosure", (), {"__call__": lambda self, *_: 0.0, "__module__": "rpy2.rinterface"})
    return kind()


def wrapped(inner: Any) -> Callable[[Any], float]:
    return lambda x: float(inner(x))


class Method:
    def __init__(self, inner: Any) -> None:
        self.inner = inner

    @functools.wraps(float)
    def estimate(self, x: Any) -> float:
        return float(self.inner(x))


FOREIGN: dict[str, Any] = {
    "reticulate": of_reticulate(),
    "rpy2": of_rpy2(),
    "partial": functools.partial(of_reticulate(), 1),
    "closure": wrapped(of_reticulate()),
    "closure of rpy2": wrapped(of_rpy2()),
    "wraps": functools.wraps(of_reticulate())(lambda x: 0.0),
    "two deep": wrapped(wrapped(of_reticulate())),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_function_of_r_is_refused_before_anything_is_spent(name: str, tmp_path: Path) -> None:
    table = {"x": np.arange(500.0)}
    with discreet.open(table, budget=Budget(1.0), ledger=tmp_path / "l") as private:
        with pytest.raises(BadInput, match=r"function of R.*Nothing is spent"):
            private.fit(FOREIGN[name], "x", epsilon=0.5)
        with pytest.raises(BadInput, match="function of R"):
            private.custom_test(FOREIGN[name], "x", epsilon=0.5)
        assert private.balance.spent.cost == 0
    with pytest.raises(BadInput, match="function of R"):
        discreet.fit(FOREIGN[name], table["x"], epsilon=1.0)


def test_functions_of_python_are_not() -> None:
    from sklearn.linear_model import LinearRegression

    for fine in (np.mean, lambda x: 0.0, functools.partial(np.quantile, q=0.5), LinearRegression(), "mean", Method(1)):
        check_language(fine)
