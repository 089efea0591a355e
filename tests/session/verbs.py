"""Every verb of a session, with columns to ask about: age, bmi, sex, smokes, visits and cost."""

from typing import Any

import numpy as np


def asked(*, blocks: int, people: int, steps: int) -> dict[str, tuple[tuple[Any, ...], dict[str, Any]]]:
    """The columns and options of each verb, but for epsilon."""
    return {
        "count": (("smokes",), {}),
        "covariance": ((["age", "bmi"],), {"delta": 1e-6}),
        "density": (("bmi",), {}),
        "fit_distribution": (("poisson", "visits"), {}),
        "fit": ((np.mean, "bmi"), {"blocks": blocks}),
        "fit_normal": (("bmi",), {}),
        "histogram": (("sex",), {"categories": ["F", "M"]}),
        "kmeans": ((["age", "bmi"], 2), {"delta": 1e-6}),
        "maximum_likelihood": (("norm", "bmi"), {"blocks": blocks, "delta": 1e-6}),
        "linear_regression": (("cost ~ age + C(sex)",), {"delta": 1e-6, "levels": {"sex": ["F", "M"]}}),
        "logistic_regression": ((["age", "bmi"], "smokes"), {"delta": 1e-6}),
        "mean": (("bmi",), {}),
        "median": (("bmi",), {}),
        "poisson_regression": ((["age"], "visits"), {"delta": 1e-6}),
        "proportion": (("smokes",), {}),
        "quantile": (("bmi", 0.9), {}),
        "sgd": (("logistic", ["age", "bmi"], "smokes"), {"delta": 1e-6, "size": people, "steps": steps}),
        "std": (("bmi",), {}),
        "custom_test": ((lambda x: 0.5, "bmi"), {"blocks": blocks}),
        "goodness_of_fit_test": (("sex", {"F": 0.5, "M": 0.5}), {}),
        "independence_test": (("sex", "smokes"), {"categories": (["F", "M"], [True, False])}),
        "mean_test": (("bmi", 27.0), {}),
        "paired_test": (("age", "bmi"), {}),
        "proportion_test": (("smokes", 0.25), {}),
        "likelihood_ratio_test": (("sex", {"F": 0.5, "M": 0.5}, {"F": 0.4, "M": 0.6}), {}),
        "variance": (("bmi",), {}),
    }
