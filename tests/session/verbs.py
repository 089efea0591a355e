"""A call of every statistic that a session has, about the columns age, bmi, sex, smokes, visits and cost.

Columns follow from what a statistic reads, options that it needs from its docstring; OWN has what cannot be guessed.
"""

from typing import Any

import numpy as np
from benchmarks.posed import asked_of_tables, guessed

COLUMN = {"x": "bmi", "y": "cost", "any": "bmi", "boolean": "smokes", "category": "sex"}
SHARES, OTHER = {"F": 0.5, "M": 0.5}, {"F": 0.4, "M": 0.6}
OWN: dict[str, dict[str, Any]] = {
    "additive_model": {"y": "sex", "classes": ["F", "M"]},
    "custom_test": {"test": lambda x: 0.5},
    "fit": {"estimator": np.mean},
    "fit_distribution": {"x": "visits"},
    "goodness_of_fit_test": {"x": "sex", "null": SHARES},
    "histogram": {"categories": ["F", "M"]},
    "independence_test": {"y": "smokes", "categories": (["F", "M"], [True, False])},
    "likelihood_ratio_test": {"x": "sex", "p": SHARES, "q": OTHER},
    "linear_regression": {"X": "cost ~ age + C(sex)", "y": None, "levels": {"sex": ["F", "M"]}},
    "logistic_regression": {"y": "smokes", "delta": 1e-6},
    "maximum_likelihood": {"model": "norm", "delta": 1e-6},
    "mean_test": {"null": 27.0},
    "multinomial_regression": {"y": "sex", "classes": ["F", "M"]},
    "naive_bayes": {"y": "sex", "classes": ["F", "M"]},
    "poisson_regression": {"X": ["age"], "y": "visits"},
    "sgd": {"loss": "logistic", "y": "smokes"},
}


def asked(*, blocks: int, people: int, steps: int) -> dict[str, dict[str, Any]]:
    """The columns and options of each statistic by name, but for epsilon."""
    found = {}
    sizes = {"blocks": blocks, "size": people, "steps": steps}
    for statistic in asked_of_tables():
        own = OWN.get(statistic.name, {})
        arguments = guessed(statistic, own, COLUMN, ["age", "bmi"]) | own
        arguments |= {
            name: sizes[name] for name in sizes if name in statistic.options and (name != "blocks" or statistic.blocks)
        }
        if statistic.needs_delta(arguments, dict.fromkeys(statistic.columns)):
            arguments.setdefault("delta", 1e-6)
        found[statistic.name] = arguments
    return found
