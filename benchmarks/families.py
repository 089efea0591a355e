"""What fitted families and maximum likelihood are worth: coverage and width beside the non-private intervals.

    python -m benchmarks.families [--runs 1000] [--only family|likelihood|efficiency]

Families: every run is simulated anew. Likelihood: the blocks' estimates come from a bank of independent blocks, from
which each run draws its own without replacement; the aggregator then releases them anew. A missed bar says so.
"""

import argparse
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.special import polygamma

from benchmarks.record import Row, record
from discreet import Seeded, fit_distribution, maximum_likelihood
from discreet._compiled.likelihood_kernels import FAST, fast_rows
from discreet.subsample.fit_request import FitRequest
from discreet.subsample.returned import Shape

NOTE = "Families: 2,000 people, epsilon 1. Likelihoods: 20,000 people, epsilon 1, delta 1e-6."
Array = np.ndarray[Any, Any]
Draw = Callable[[np.random.Generator, int], Array]
LETTERS = np.array(["a", "b", "c"])
SIZE = 2000
SHARES = ("bernoulli", "binomial", "multinomial")
QUICK = ("bernoulli", "binomial", "multinomial", "gaussian", "exponential")  # twice as many runs


def information(name: str, truth: tuple[float, ...]) -> Array:
    """What one record tells about the parameters."""
    match name:
        case "bernoulli":
            return np.array([[1 / (truth[0] * (1 - truth[0]))]])
        case "binomial":
            return np.array([[10 / (truth[0] * (1 - truth[0]))]])
        case "poisson":
            return np.array([[1 / truth[0]]])
        case "exponential":
            return np.array([[1 / truth[0] ** 2]])
        case "gaussian":
            return np.diag([1 / truth[1], 1 / (2 * truth[1] ** 2)])
        case "gamma":
            shape, scale = truth
            return np.array([[polygamma(1, shape), 1 / scale], [1 / scale, shape / scale**2]])
        case "beta":
            both = polygamma(1, sum(truth))
            return np.asarray(np.diag(polygamma(1, np.array(truth))) - both)
        case _:
            return np.diag([1 / (one * (1 - one)) for one in truth])


def subjects() -> Iterator[tuple[str, tuple[float, ...], Draw, dict[str, Any]]]:
    """Families, true parameters, samples and options."""
    yield "bernoulli", (0.3,), lambda rng, n: rng.random(n) < 0.3, {}
    yield "bernoulli", (0.02,), lambda rng, n: rng.random(n) < 0.02, {}
    yield "binomial", (0.3,), lambda rng, n: rng.binomial(10, 0.3, n), {"trials": 10}
    chances = (0.2, 0.3, 0.5)
    yield "multinomial", chances, lambda rng, n: LETTERS[rng.choice(3, n, p=chances)], {"categories": ["a", "b", "c"]}
    for rate in (0.3, 3.0, 100.0):
        yield "poisson", (rate,), lambda rng, n, rate=rate: rng.poisson(rate, n), {}  # type: ignore[misc]
    yield "exponential", (2.0,), lambda rng, n: rng.exponential(0.5, n), {}
    for shape in (0.5, 2.0, 30.0):
        yield "gamma", (shape, 3.0), lambda rng, n, shape=shape: rng.gamma(shape, 3.0, n), {}  # type: ignore[misc]
    yield "beta", (2.0, 3.0), lambda rng, n: rng.beta(2.0, 3.0, n), {}
    yield "gaussian", (300.0, 4.0), lambda rng, n: rng.normal(300.0, 2.0, n), {}


def family_rows(runs: int) -> Iterator[Row]:
    """Each family, n = 2,000, epsilon = 1; a family of its own draws under both relations."""
    for name, truth, draw, options in subjects():
        for relation in ("replace", "add_or_remove"):
            many = 2 * runs if name in QUICK else runs
            rounds = many if relation == "replace" else max(100, many // 5)
            people, held = np.random.default_rng(11), np.zeros(len(truth))
            refused, wide = 0, []
            for i in range(rounds):
                release = fit_distribution(
                    name, draw(people, SIZE), epsilon=1.0, neighbours=relation, rng=Seeded(i), **options
                )
                if release.refusal is not None:
                    refused += 1
                    continue
                ends = release.interval(0.95)
                low, high = (np.array(list(end.values())) for end in (ends.low, ends.high))
                held += (low <= truth) & (np.array(truth) <= high)
                wide.append(high - low)
            usual = 2 * 1.96 * np.sqrt(np.diag(np.linalg.inv(information(name, truth))) / SIZE)
            shown = ", ".join(f"{one:g}" for one in truth)
            called = f"{name}({shown})" + (", private size" if relation != "replace" else "")
            answered = rounds - refused
            cover, ratio = held / answered, np.median(wide, axis=0) / usual
            yield called, f"coverage, {answered} answers", listed(cover), ">= 0.92", bool((cover >= 0.92).all())
            narrow = name not in SHARES or bool((ratio <= 1.1).all())
            yield called, "median width over the non-private", listed(ratio), "<= 1.1" if name in SHARES else "", narrow


def likelihood_rows(runs: int) -> Iterator[Row]:
    """Maximum likelihood, n = 20,000, epsilon = 1, delta = 1e-6, blocks by the public rule."""
    distributions: dict[str, tuple[tuple[str, tuple[str, ...]], tuple[float, ...], Draw, Any]] = {
        "gamma(2, 3)": (
            ("gamma", ("a", "scale")),
            (2.0, 3.0),
            lambda rng, n: rng.gamma(2.0, 3.0, n),
            information("gamma", (2.0, 3.0)),
        ),
        "Weibull(1.5, 3)": (
            ("weibull_min", ("c", "scale")),
            (1.5, 3.0),
            lambda rng, n: 3.0 * rng.weibull(1.5, n),
            weibull_information(1.5, 3.0),
        ),
        "exponential(3)": (
            ("expon", ("scale",)),
            (3.0,),
            lambda rng, n: rng.exponential(3.0, n),
            np.array([[1 / 9.0]]),
        ),
        "lognormal(0.7, 3)": (
            ("lognorm", ("s", "scale")),
            (0.7, 3.0),
            lambda rng, n: rng.lognormal(math.log(3.0), 0.7, n),
            np.diag([2 / 0.49, 1 / (0.49 * 9)]),
        ),
    }
    for name, (key, truth, draw, known) in distributions.items():
        width = len(truth)
        asked = FitRequest(
            shape=Shape("named", key[1]),
            people=20_000,
            epsilon=1.0,
            delta=1e-6,
            blocks="auto",
            smallest=25,
            rate="smooth",
            scales=None,
            confidence=0.95,
            halves=False,
        )
        aggregator, count = asked.aggregator("auto")
        size, many = 20_000 // count, 20 * count
        people = np.random.default_rng(12)
        bank = fast_rows(
            FAST[key], draw(people, many * size), np.arange(0, many * size + 1, size), width, jackknife=True
        )
        held, wide = np.zeros(width), np.zeros(width)
        for i in range(runs):
            ends = aggregator.release(bank[people.choice(many, count, replace=False)], Seeded(i)).interval(0.95)
            low, high = np.exp(ends.low), np.exp(ends.high)
            held += (low <= truth) & (np.array(truth) <= high)
            wide += high - low
        usual = 2 * 1.96 * np.sqrt(np.diag(np.linalg.inv(known)) / 20_000)
        called = f"likelihood, {name}, {count} blocks of {size}"
        cover, ratio = held / runs, wide / runs / usual
        yield (
            called,
            f"coverage, {runs} runs",
            listed(cover),
            "0.92 to 0.98",
            bool(((cover >= 0.92) & (cover <= 0.98)).all()),
        )
        yield called, "width over the non-private", listed(ratio), "", True


def efficiency_rows(runs: int) -> Iterator[Row]:
    """One parameter as n grows, epsilon = 1: every run is simulated anew, the blocks as they are planned."""
    for size in (20_000, 80_000, 320_000, 1_280_000):
        people, held, wide = np.random.default_rng(13), 0, []
        for i in range(runs):
            waits = people.exponential(3.0, size)
            ends = maximum_likelihood("exponential", waits, epsilon=1.0, rng=Seeded(i)).interval(0.95)
            held += ends.low.scale <= 3.0 <= ends.high.scale
            wide.append(ends.high.scale - ends.low.scale)
        ratio, cover = float(np.median(wide)) / (2 * 1.96 * 3.0 / math.sqrt(size)), held / runs
        called = f"likelihood, exponential(3), n = {size:,}"
        yield called, f"coverage, {runs} runs", f"{cover:.3f}", ">= 0.92", cover >= 0.92
        yield called, "median width over the non-private", f"{ratio:.3f}", "falls to 1", True


def weibull_information(shape: float, scale: float) -> Array:
    """Of a Weibull distribution."""
    euler = np.euler_gamma
    corner = (math.pi**2 / 6 + (1 - euler) ** 2) / shape**2
    return np.array([[corner, -(1 - euler) / scale], [-(1 - euler) / scale, (shape / scale) ** 2]])


def listed(numbers: Array) -> str:
    """Several figures."""
    return ", ".join(f"{one:.3f}" for one in numbers)


def main() -> int:
    """Measure, print, record."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--only", choices=("family", "likelihood", "efficiency"))
    asked = parser.parse_args()
    parts = (("family", family_rows), ("likelihood", likelihood_rows), ("efficiency", efficiency_rows))
    rows = (row for part, made in parts if asked.only in (None, part) for row in made(asked.runs))
    return 0 if record("families", rows, note=NOTE, keep=asked.only is None) else 1


if __name__ == "__main__":
    raise SystemExit(main())
