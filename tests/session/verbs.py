"""Every verb of a session, with columns to ask about: age, bmi, sex, smokes, visits and cost."""

from typing import Any

import numpy as np


def asked(*, blocks: int, people: int, steps: int) -> dict[str, tuple[tuple[Any, ...], dict[str, Any]]]:
    """The columns and options of each verb, but for epsilon."""
    return {
        "count": (("smokes",), {}),
        "covariance": ((["age", "bmi"],), {"delta": 1e-6}),
        "density": (("bmi",), {}),
        "family": (("poisson", "visits"), {}),
        "fit": ((np.mean, "bmi"), {"blocks": blocks}),
        "gaussian": (("bmi",), {}),
        "histogram": (("sex",), {"categories": ["F", "M"]}),
        "kmeans": ((["age", "bmi"], 2), {"delta": 1e-6}),
        "likelihood": (("norm", "bmi"), {"blocks": blocks, "delta": 1e-6}),
        "linear_regression": (("cost ~ age + C(sex)",), {"delta": 1e-6, "levels": {"sex": ["F", "M"]}}),
        "logistic_regression": ((["age", "bmi"], "smokes"), {"delta": 1e-6}),
        "mean": (("bmi",), {}),
        "median": (("bmi",), {}),
        "poisson_regression": ((["age"], "visits"), {"delta": 1e-6}),
        "proportion": (("smokes",), {}),
        "quantile": (("bmi", 0.9), {}),
        "sgd": (("logistic", ["age", "bmi"], "smokes"), {"delta": 1e-6, "people": people, "steps": steps}),
        "std": (("bmi",), {}),
        "test_any": ((lambda x: 0.5, "bmi"), {"blocks": blocks}),
        "test_fit": (("sex", {"F": 0.5, "M": 0.5}), {}),
        "test_independence": (("sex", "smokes"), {"categories": (["F", "M"], [True, False])}),
        "test_mean": (("bmi", 27.0), {}),
        "test_paired": (("age", "bmi"), {}),
        "test_proportion": (("smokes", 0.25), {}),
        "test_simple": (("sex", {"F": 0.5, "M": 0.5}, {"F": 0.4, "M": 0.6}), {}),
        "variance": (("bmi",), {}),
    }
