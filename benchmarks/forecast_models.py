"""Tables, models, tests and real people whose forecasts are put to the test."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

import discreet
from benchmarks.forecast_columns import Array, Case, Rng, size


def tables() -> list[Case]:
    """Tables and models."""

    def line(g: Rng, n: int = 5000) -> tuple[Array, Array]:
        x = g.normal(size=(n, 2))
        return x, x @ [0.5, 0.5] + g.normal(size=n)

    def odds(g: Rng, n: int = 5000) -> tuple[Array, Array]:
        x = g.normal(size=(n, 2))
        return x, (g.random(n) < 1 / (1 + np.exp(-x @ [0.5, 0.5]))).astype(float)

    def rates(g: Rng, n: int = 5000) -> tuple[Array, Array]:
        x = g.normal(size=(n, 2))
        return x, g.poisson(np.exp(x @ [0.3, 0.3])).astype(float)

    def coefficients(effect: float) -> Callable[[Any], float]:
        return lambda v: size([*(v.coef - effect), v.intercept])

    def clusters(g: Rng) -> Array:
        centres = 8 * np.array([-1.0, 0.0, 1.0])[:, None] * np.ones(2) / math.sqrt(2)
        return centres[g.integers(0, 3, 6000)] + g.normal(size=(6000, 2))

    def centred(value: Any) -> float:
        truth = 8 * np.array([-1.0, 0.0, 1.0])[:, None] * np.ones(2) / math.sqrt(2)
        return math.sqrt(((value.centres[np.argsort(value.centres[:, 0])] - truth) ** 2).sum() / 3)

    def pinsker(value: Any) -> float:
        return math.sqrt((value.mean**2).sum() + ((value.covariance - np.eye(2)) ** 2).sum() / 2) / 2

    both: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6}
    d: dict[str, Any] = {"delta": 1e-6, "share": 0.5}
    rows = 5000
    return [
        Case(
            "mean",
            rows,
            {"columns": 3},
            lambda g: discreet.mean(g.normal(size=(rows, 3)), **both),
            size,
            1.0,
            1e-6,
            0.3,
        ),
        Case(
            "covariance",
            rows,
            {"columns": 2},
            lambda g: discreet.covariance(g.normal(size=(rows, 2)), **both),
            lambda v: size(v - np.eye(2)),
            **d,
        ),
        Case(
            "fit_normal",
            rows,
            {"columns": 2},
            lambda g: discreet.fit_normal(g.normal(size=(rows, 2)), **both),
            pinsker,
            **d,
        ),
        Case(
            "linear_regression",
            rows,
            {},
            lambda g: discreet.linear_regression(*line(g), **both),
            coefficients(0.5),
            **d,
        ),
        Case(
            "logistic_regression",
            rows,
            {},
            lambda g: discreet.logistic_regression(*odds(g), epsilon=1.0),
            coefficients(0.5),
            share=0.5,
        ),
        Case(
            "poisson_regression",
            rows,
            {},
            lambda g: discreet.poisson_regression(*rates(g), **both),
            coefficients(0.3),
            **d,
        ),
        Case("sgd", rows, {}, lambda g: discreet.sgd("logistic", *odds(g), size=rows, **both), coefficients(0.5), **d),
        Case("kmeans", 6000, {"k": 3}, lambda g: discreet.kmeans(clusters(g), 3, **both), centred, **d),
    ]


def decisions() -> list[Case]:
    """Tests: power."""

    def rejects(value: Any) -> float:
        return float(value.p_value <= 0.05)

    def above(x: Array) -> float:
        return float(stats.ttest_1samp(x, 0.0, alternative="greater").pvalue)

    die = dict.fromkeys(range(10), 0.1)
    tilt = np.where(np.arange(10) % 2 == 0, 0.115, 0.085)
    five = np.where(np.arange(5) % 2 == 0, 0.2 + 0.1 / 3, 0.2 - 0.05)

    def followed(g: Rng) -> tuple[Array, Array]:
        x = g.integers(0, 3, 800)
        return x, np.where(g.random(800) < 0.1, x, g.integers(0, 3, 800))

    three = [0, 1, 2]
    return [
        Case(
            "mean_test",
            600,
            {"effect": 0.15},
            lambda g: discreet.mean_test(g.normal(0.15, 1, 600), 0.0, epsilon=1.0),
            rejects,
        ),
        Case(
            "mean_test",
            300,
            {"effect": 0.2, "model": "gaussian"},
            lambda g: discreet.mean_test(g.normal(0.2, 1, 300), 0.0, epsilon=1.0, model="gaussian"),
            rejects,
        ),
        Case(
            "two_means_test",
            800,
            {"effect": 0.25, "model": "gaussian"},
            lambda g: discreet.two_means_test(
                g.normal(0.25, 1, 400), g.normal(size=400), epsilon=1.0, model="gaussian"
            ),
            rejects,
        ),
        Case(
            "two_samples_test",
            300,
            {"effect": 0.3},
            lambda g: discreet.two_samples_test(g.normal(0.3, 1, 150), g.normal(size=150), epsilon=1.0),
            rejects,
        ),
        Case(
            "paired_test",
            200,
            {"effect": 0.2},
            lambda g: discreet.paired_test(g.normal(0.2, 1, 200), epsilon=1.0),
            rejects,
        ),
        Case(
            "anova",
            300,
            {"effect": 0.5},
            lambda g: discreet.anova(*(g.normal(s, 1, 100) for s in (0, 0.25, 0.5)), epsilon=1.0),
            rejects,
            share=0.5,
        ),
        Case(
            "proportion_test",
            300,
            {"null": 0.5, "effect": 0.08},
            lambda g: discreet.proportion_test(g.random(300) < 0.58, 0.5, epsilon=0.3),
            rejects,
            0.3,
        ),
        Case(
            "likelihood_ratio_test",
            200,
            {"effect": 0.2},
            lambda g: discreet.likelihood_ratio_test(
                g.normal(0.2, 1, 200), stats.norm(0, 1), stats.norm(0.2, 1), epsilon=1.0
            ),
            rejects,
            share=0.5,
        ),
        Case(
            "goodness_of_fit_test",
            600,
            {"null": die, "effect": 0.075},
            lambda g: discreet.goodness_of_fit_test(g.choice(10, 600, p=tilt), die, epsilon=1.0),
            rejects,
            share=0.5,
        ),
        Case(
            "closeness_test",
            800,
            {"effect": 0.1},
            lambda g: discreet.closeness_test(
                g.integers(0, 5, 400), g.choice(5, 400, p=five), epsilon=1.0, categories=list(range(5))
            ),
            rejects,
            share=0.5,
        ),
        Case(
            "independence_test",
            800,
            {"effect": 0.1},
            lambda g: discreet.independence_test(*followed(g), epsilon=1.0, categories=(three, three)),
            rejects,
            share=0.5,
        ),
        Case(
            "custom_test",
            2000,
            {"effect": 0.06, "test": above},
            lambda g: discreet.custom_test(above, g.normal(0.06, 1, 2000), epsilon=1.0),
            rejects,
            share=0.3,
        ),
    ]


def people() -> list[Case]:
    """The built-in table as a population: 4,000 of its people with replacement, assumptions from general knowledge."""
    table = discreet.datasets.load_nhanes()

    def known(name: str) -> Array:
        return np.array([value for value in table[name].to_pylist() if value is not None], dtype=float)

    bmi, pressure = known("bmi"), known("systolic_bp")
    smoked = np.array([a == "Yes" for a in table["smoked_100_cigarettes"].to_pylist() if a is not None])
    health = np.array([a for a in table["general_health"].to_pylist() if a is not None])
    levels = list(discreet.datasets.NHANES_CATEGORIES["general_health"])

    def tallied(g: Rng) -> Any:
        x = g.choice(health, 4000)
        true = np.array([(x == level).sum() for level in levels])
        return discreet.histogram(x, epsilon=0.5, categories=levels).map(lambda v: v.counts - true)

    rows = 4000
    return [
        Case(
            "mean",
            rows,
            {"scale": 18.0, "location": 125.0},
            lambda g: discreet.mean(g.choice(pressure, rows), epsilon=1.0),
            lambda v: abs(v - pressure.mean()),
            note="NHANES systolic_bp, sd assumed 18",
        ),
        Case(
            "mean",
            rows,
            {"scale": 18.0, "bounds": (60.0, 260.0), "location": 125.0},
            lambda g: discreet.mean(g.choice(pressure, rows), epsilon=1.0, bounds=(60.0, 260.0)),
            lambda v: abs(v - pressure.mean()),
            note="NHANES systolic_bp, bounds (60, 260)",
        ),
        Case(
            "median",
            rows,
            {"scale": 7.0, "location": 28.0},
            lambda g: discreet.median(g.choice(bmi, rows), epsilon=1.0),
            lambda v: abs(v - float(np.median(bmi))),
            note="NHANES bmi, sd assumed 7",
        ),
        Case(
            "proportion",
            rows,
            {"share": 0.4},
            lambda g: discreet.proportion(g.choice(smoked, rows), epsilon=0.5),
            lambda v: abs(v - smoked.mean()),
            0.5,
            note="NHANES smoked_100_cigarettes, share assumed 0.4",
        ),
        Case(
            "histogram",
            rows,
            {"categories": levels},
            tallied,
            lambda v: float(np.max(np.abs(v))),
            0.5,
            note="NHANES general_health",
        ),
    ]
