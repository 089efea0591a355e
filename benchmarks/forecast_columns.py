"""Columns whose forecasts are put to the test: counts, numbers, distributions. The truth of each is written here."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from scipy import stats

import discreet

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
SHAPES: Final[dict[str, tuple[Draw, float, float]]] = {  # draw, mean, standard deviation
    "normal": (lambda g, n: g.normal(3, 2, n), 3.0, 2.0),
    "uniform": (lambda g, n: g.uniform(0, 10, n), 5.0, 10 / math.sqrt(12)),
    "exponential": (lambda g, n: g.exponential(2, n), 2.0, 2.0),
    "lognormal": (lambda g, n: g.lognormal(0, 1, n), math.exp(0.5), math.sqrt(math.expm1(1) * math.e)),
    "t3": (lambda g, n: g.standard_t(3, n), 0.0, math.sqrt(3)),
}


def one(statistic: str, shape: str, truth: float, rows: int, epsilon: float = 1.0, **options: Any) -> Case:
    """A number about one column."""
    draw, mean, sd = SHAPES[shape]

    def release(g: Rng) -> Any:
        return getattr(discreet, statistic)(draw(g, rows), epsilon=epsilon, **options)

    assumed = {"shape": shape, "location": mean, "scale": sd}
    return Case(statistic, rows, assumed | options, release, lambda value: abs(value - truth), epsilon)


def columns() -> list[Case]:
    """Statistics of one column."""
    normal: dict[str, Any] = {"model": "gaussian"}
    return [
        *(one("mean", shape, SHAPES[shape][1], 5000) for shape in SHAPES),
        one("mean", "normal", 3.0, 2000, 0.3),
        one("mean", "normal", 3.0, 3000, 0.5, **normal),
        one("mean", "normal", 3.0, 3000, 0.5, bounds=(-10.0, 20.0)),
        one("mean", "normal", 3.0, 3000, 0.5, neighbours="replace", missing="keep"),
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


def distributions() -> list[Case]:
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
        Case("fit_normal", 2000, {}, lambda g: discreet.fit_normal(g.normal(size=2000), epsilon=0.5), variation, 0.5),
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
            "fit_distribution",
            3000,
            {"family": "poisson"},
            lambda g: discreet.fit_distribution("poisson", g.poisson(3, 3000), epsilon=0.5),
            parameters(3.0),
            0.5,
        ),
        Case(
            "fit_distribution",
            5000,
            {"family": "gamma"},
            lambda g: discreet.fit_distribution("gamma", g.gamma(2, 1, 5000), epsilon=1.0),
            parameters(2.0, 1.0),
        ),
        Case(
            "fit_distribution",
            3000,
            {"family": "bernoulli", "share": 0.2},
            lambda g: discreet.fit_distribution("bernoulli", g.random(3000) < 0.2, epsilon=0.2),
            parameters(0.2),
            0.2,
        ),
        Case(
            "maximum_likelihood",
            20_000,
            {"model": "gamma"},
            lambda g: discreet.maximum_likelihood("gamma", g.gamma(2, 1, 20_000), epsilon=1.0),
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
        return release.map(lambda v: np.array([c - true[int(k)] for k, c in zip(v.bins, v.counts, strict=True)]))

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
