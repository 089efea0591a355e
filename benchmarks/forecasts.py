"""Is the error what the forecast said? Every verb, forecast from assumptions alone, then released many times.

    python -m benchmarks.forecasts [--runs 200] [--only mean]

Achieved errors are medians over independent runs on random data, measured here and not by the code that forecasts: the
truth of each law is written down again. For tests the share of rejections stands beside the power. Noise is fresh.
"""

import argparse
import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from scipy import stats

import discreet

PAGE = Path(__file__).parent.parent / "docs" / "measured-forecasts.md"
BAR: Final = 0.20
Array = np.ndarray[Any, Any]
Rng = np.random.Generator


@dataclass(frozen=True)
class Case:
    """A forecast, and how to put it to the test."""

    statistic: str
    rows: int
    about: dict[str, Any]
    release: Callable[[Rng], Any]  # a release on fresh data
    error: Callable[[Any], float]  # of its value; for a test whether it rejects
    epsilon: float = 1.0
    delta: float = 0.0
    share: float = 1.0  # of the runs: less where a release is slow
    note: str = ""


def size(value: Any) -> float:
    return float(np.sqrt(np.sum(np.asarray(value, dtype=float) ** 2)))


Draw = Callable[[Rng, int], Array]
LAWS: Final[dict[str, tuple[Draw, float, float]]] = {  # draw, mean, standard deviation
    "normal": (lambda g, n: g.normal(3, 2, n), 3.0, 2.0),
    "uniform": (lambda g, n: g.uniform(0, 10, n), 5.0, 10 / math.sqrt(12)),
    "exponential": (lambda g, n: g.exponential(2, n), 2.0, 2.0),
    "lognormal": (lambda g, n: g.lognormal(0, 1, n), math.exp(0.5), math.sqrt(math.expm1(1) * math.e)),
    "t3": (lambda g, n: g.standard_t(3, n), 0.0, math.sqrt(3)),
}


def one(verb: str, shape: str, truth: float, rows: int, epsilon: float = 1.0, **options: Any) -> Case:
    """A number about one column."""
    draw, mean, sd = LAWS[shape]

    def release(g: Rng) -> Any:
        return getattr(discreet, verb)(draw(g, rows), epsilon=epsilon, **options)

    assumed = {"shape": shape, "location": mean, "scale": sd}
    return Case(verb, rows, assumed | options, release, lambda value: abs(value - truth), epsilon)


def columns() -> list[Case]:
    """Statistics of one column."""
    normal: dict[str, Any] = {"model": "gaussian"}
    return [
        *(one("mean", shape, LAWS[shape][1], 5000) for shape in LAWS),
        one("mean", "normal", 3.0, 2000, 0.3),
        one("mean", "normal", 3.0, 3000, 0.5, **normal),
        one("mean", "normal", 3.0, 3000, 0.5, bounds=(-10.0, 20.0)),
        one("mean", "normal", 3.0, 3000, 0.5, neighbours="add_or_remove"),
        one("variance", "normal", 4.0, 5000),
        one("variance", "uniform", 100 / 12, 5000),
        one("variance", "exponential", 4.0, 5000),
        one("variance", "normal", 4.0, 3000, **normal),
        one("std", "normal", 2.0, 5000),
        one("std", "normal", 2.0, 3000, **normal),
        one("quantile", "normal", 3.0, 1000, q=0.5),
        one("quantile", "exponential", 2 * math.log(10), 5000, 0.5, q=0.9),
        one("median", "normal", 3.0, 5000),
        one("median", "normal", 3.0, 500, 0.5, confidence=None),
    ]


def laws_of_columns() -> list[Case]:
    """Distributions of a column."""
    places = np.linspace(-8, 8, 4001)

    def variation(value: Any) -> float:
        return float(np.abs(stats.norm(value.mean, value.sd).pdf(places) - stats.norm.pdf(places)).sum() * 0.004 / 2)

    def off(curve: Any) -> float:
        return float(np.abs(curve(places) - stats.norm.pdf(places)).sum() * 0.004 / 2)

    def parameters(*truth: float) -> Callable[[Any], float]:
        return lambda value: size(np.array(list(value.values())) - truth)

    names = np.array(list("abcd"))
    return [
        Case("gaussian", 2000, {}, lambda g: discreet.gaussian(g.normal(size=2000), epsilon=0.5), variation, 0.5),
        Case("density", 5000, {}, lambda g: discreet.density(g.normal(size=5000), epsilon=1.0), off, share=0.5),
        Case(
            "density",
            3000,
            {"categories": list("abcd")},
            lambda g: discreet.density(g.choice(names, 3000), epsilon=0.2, categories=list("abcd")),
            lambda v: float(np.abs(v.heights - 0.25).sum() / 2),
            0.2,
        ),
        Case(
            "family",
            3000,
            {"name": "poisson"},
            lambda g: discreet.family("poisson", g.poisson(3, 3000), epsilon=0.5),
            parameters(3.0),
            0.5,
        ),
        Case(
            "family",
            5000,
            {"name": "gamma"},
            lambda g: discreet.family("gamma", g.gamma(2, 1, 5000), epsilon=1.0),
            parameters(2.0, 1.0),
        ),
        Case(
            "family",
            3000,
            {"name": "bernoulli", "share": 0.2},
            lambda g: discreet.family("bernoulli", g.random(3000) < 0.2, epsilon=0.2),
            parameters(0.2),
            0.2,
        ),
        Case(
            "likelihood",
            20_000,
            {"model": "gamma"},
            lambda g: discreet.likelihood("gamma", g.gamma(2, 1, 20_000), epsilon=1.0),
            parameters(2.0, 1.0),
            share=0.4,
        ),
        Case(
            "fit",
            10_000,
            {"estimator": _upper},
            lambda g: discreet.fit(_upper, g.normal(size=10_000), epsilon=1.0),
            lambda v: abs(v - float(stats.norm.ppf(0.75))),
            share=0.5,
        ),
    ]


def _upper(x: Array) -> float:
    return float(np.quantile(x, 0.75))


def counts() -> list[Case]:
    """Counts, shares, histograms."""

    def counted(g: Rng) -> Any:
        x = g.random(1000) < 0.3
        return discreet.count(x, epsilon=0.1).map(lambda v: v - int(x.sum()))

    def tallied(g: Rng) -> Any:
        x = g.integers(0, 20, 2000)
        release = discreet.histogram(x, epsilon=0.5, categories=list(range(20)))
        return release.map(lambda v: v.counts - np.bincount(x, minlength=20))

    def found(g: Rng) -> Any:
        x = g.integers(0, 10, 5000)
        true = np.bincount(x, minlength=10)
        release = discreet.histogram(x, epsilon=1.0, delta=1e-6)
        return release.map(lambda v: np.array([c - true[int(k)] for k, c in zip(v.keys, v.counts, strict=True)]))

    def largest(value: Any) -> float:
        return float(np.max(np.abs(value)))

    return [
        Case("count", 1000, {"share": 0.3}, counted, largest, 0.1),
        Case(
            "proportion",
            300,
            {"share": 0.3},
            lambda g: discreet.proportion(g.random(300) < 0.3, epsilon=0.1),
            lambda v: abs(v - 0.3),
            0.1,
        ),
        Case("histogram", 2000, {"categories": list(range(20))}, tallied, largest, 0.5),
        Case("histogram", 5000, {"bins": 10}, found, largest, 1.0, 1e-6),
    ]


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
            "gaussian",
            rows,
            {"columns": 2},
            lambda g: discreet.gaussian(g.normal(size=(rows, 2)), **both),
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
        Case("sgd", rows, {}, lambda g: discreet.sgd("logistic", *odds(g), **both), coefficients(0.5), **d),
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
            "test_mean",
            600,
            {"effect": 0.15},
            lambda g: discreet.test_mean(g.normal(0.15, 1, 600), 0.0, epsilon=1.0),
            rejects,
        ),
        Case(
            "test_mean",
            300,
            {"effect": 0.2, "model": "gaussian"},
            lambda g: discreet.test_mean(g.normal(0.2, 1, 300), 0.0, epsilon=1.0, model="gaussian"),
            rejects,
        ),
        Case(
            "test_two_means",
            800,
            {"effect": 0.25, "model": "gaussian"},
            lambda g: discreet.test_two_means(
                g.normal(0.25, 1, 400), g.normal(size=400), epsilon=1.0, model="gaussian"
            ),
            rejects,
        ),
        Case(
            "test_two_samples",
            300,
            {"effect": 0.3},
            lambda g: discreet.test_two_samples(g.normal(0.3, 1, 150), g.normal(size=150), epsilon=1.0),
            rejects,
        ),
        Case(
            "test_paired",
            200,
            {"effect": 0.2},
            lambda g: discreet.test_paired(g.normal(0.2, 1, 200), epsilon=1.0),
            rejects,
        ),
        Case(
            "test_anova",
            300,
            {"effect": 0.5},
            lambda g: discreet.test_anova(*(g.normal(s, 1, 100) for s in (0, 0.25, 0.5)), epsilon=1.0),
            rejects,
            share=0.5,
        ),
        Case(
            "test_proportion",
            300,
            {"null": 0.5, "effect": 0.08},
            lambda g: discreet.test_proportion(g.random(300) < 0.58, 0.5, epsilon=0.3),
            rejects,
            0.3,
        ),
        Case(
            "test_simple",
            200,
            {"effect": 0.2},
            lambda g: discreet.test_simple(g.normal(0.2, 1, 200), stats.norm(0, 1), stats.norm(0.2, 1), epsilon=1.0),
            rejects,
            share=0.5,
        ),
        Case(
            "test_fit",
            600,
            {"null": die, "effect": 0.075},
            lambda g: discreet.test_fit(g.choice(10, 600, p=tilt), die, epsilon=1.0),
            rejects,
            share=0.5,
        ),
        Case(
            "test_closeness",
            800,
            {"effect": 0.1},
            lambda g: discreet.test_closeness(
                g.integers(0, 5, 400), g.choice(5, 400, p=five), epsilon=1.0, categories=list(range(5))
            ),
            rejects,
            share=0.5,
        ),
        Case(
            "test_independence",
            800,
            {"effect": 0.1},
            lambda g: discreet.test_independence(*followed(g), epsilon=1.0, categories=(three, three)),
            rejects,
            share=0.5,
        ),
        Case(
            "test_any",
            2000,
            {"effect": 0.06, "test": above},
            lambda g: discreet.test_any(above, g.normal(0.06, 1, 2000), epsilon=1.0),
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


def measure(case: Case, runs: int, seed: int) -> tuple[float, float, float, int]:
    """Forecast, achieved, seconds of the forecast, runs that answered."""
    start = time.process_time()
    said = discreet.forecast(case.statistic, rows=case.rows, epsilon=case.epsilon, delta=case.delta, **case.about)
    spent = time.process_time() - start
    rng, found = np.random.default_rng(seed), []
    for _ in range(max(20, int(runs * case.share))):
        release = case.release(rng)
        if release.refusal is None:
            found.append(case.error(release.value))
    test = case.statistic.startswith("test_")
    expected = said.power if test else said.error
    achieved = float(np.mean(found) if test else np.median(found)) if found else math.nan
    return math.nan if expected is None else expected, achieved, spent, len(found)


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    everything = [*counts(), *columns(), *laws_of_columns(), *tables(), *decisions(), *people()]
    cases = [case for case in everything if asked.only in case.statistic]
    lines, missed = [], 0
    for case in cases:
        said, achieved, spent, count = measure(case, asked.runs, asked.seed)
        ratio = said / achieved if achieved else 1.0 if said == achieved else math.inf
        ok = abs(ratio - 1) <= BAR
        missed += not ok
        about = case.note or ", ".join(
            f"{key}={getattr(value, '__name__', value)}" for key, value in case.about.items() if key != "null"
        )
        lines.append(
            f"| `{case.statistic}` | {about[:60]} | {case.rows} | {case.epsilon:g} | {said:.4g} | {achieved:.4g} | "
            f"{ratio:.2f} | {count} | {spent:.2f} | {'ok' if ok else '**missed**'} |"
        )
        print(lines[-1], flush=True)
    if not asked.only:
        head = [
            "# Measured: forecasts",
            "",
            f"By `python -m benchmarks.forecasts --runs {asked.runs}`: what `discreet.forecast` said from assumptions",
            "alone, beside the median error (for tests, the share of rejections) of releases on random data. Bar:",
            "a ratio within 20% of 1; a missed one says so. Achieved medians are themselves uncertain, by about 1.2",
            "over the root of the runs. For NHANES the table is the population, and 4,000 people are drawn from it",
            "with replacement.",
            "",
            "| verb | assumed | rows | epsilon | forecast | achieved | ratio | runs | forecast, CPU s | |",
            "|---|---|---|---|---|---|---|---|---|---|",
        ]
        tail = ["", f"{len(cases) - missed} of {len(cases)} are within 20%."]
        PAGE.write_text("\n".join([*head, *lines, *tail]) + "\n")
    sys.exit(f"{missed} missed" if missed else 0)


if __name__ == "__main__":
    main()
