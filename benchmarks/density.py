"""What a density with no bounds and no bandwidth is worth: its error beside that of the best fixed width.

    python -m benchmarks.density [--runs 20]

The mean integrated squared error of `density`, as steps and as a polygon, over that of a private histogram of a width
chosen by somebody who knows the distribution: for each distribution and number of rows the width with the least error
on average when all of epsilon goes to its counts. It has the same support (of every run: what `density` found), is made
to shares in the same way and has 2 bins or more: one bin would be the uniform distribution itself. Rows are
replaced. Noise of `density` is fresh and secret, so figures move a little from run to run; a missed bar says so.
"""

import argparse
import math
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from scipy import stats
from scipy.integrate import quad

import discreet
from benchmarks.record import Row, record
from discreet.noise.distributions import laplace_scale
from discreet.privacy.values import Density
from discreet.statistics.density_curve import on_simplex

NOTE = "Over a private histogram of the best fixed width, which knows the distribution and has all of epsilon."
Array = np.ndarray[Any, Any]
BAR: Final = 1.7
PARTS: Final = 4000  # of the line, for the polygon
COUNTS: Final = np.unique(np.rint(np.geomspace(2, 4096, 64)).astype(int))  # bins that the best width is chosen from


class Mixture:
    """Normal distributions: the share, place and standard deviation of each."""

    def __init__(self, *parts: tuple[float, float, float]) -> None:
        self.shares, self.places, self.sds = np.array(parts).T

    def rvs(self, size: int, random_state: np.random.Generator) -> Array:
        which = random_state.choice(len(self.shares), size, p=self.shares)
        return np.asarray(self.places[which] + self.sds[which] * random_state.normal(size=size))

    def cdf(self, t: Any) -> Any:
        return stats.norm.cdf(np.asarray(t)[..., None], self.places, self.sds) @ self.shares

    def pdf(self, t: Any) -> Any:
        return stats.norm.pdf(np.asarray(t)[..., None], self.places, self.sds) @ self.shares


UNIT: Final = (0.0, 1.0)
DISTRIBUTIONS: tuple[
    tuple[str, Any, tuple[float, float] | None, tuple[float, float]], ...
] = (  # support; where nearly all is
    ("beta(2, 5), support (0, 1)", stats.beta(2, 5), UNIT, UNIT),
    ("uniform, support (0, 1)", stats.uniform(), UNIT, UNIT),
    ("normal", stats.norm(), None, (-9, 9)),
    ("exponential", stats.expon(), None, (0, 50)),
    ("lognormal", stats.lognorm(1), None, (0, 200)),
    ("bimodal", Mixture((0.5, -1, 0.25), (0.5, 1, 0.25)), None, (-4, 4)),
    ("t(3)", stats.t(3), None, (-100, 100)),
)
CLAW: Final = Mixture((0.5, 0, 1), *((0.1, place / 2 - 1, 0.1) for place in range(5)))
SMALL_EPSILON: Final = (  # at 0.1
    ("claw", CLAW, None, (-9, 9)),
    ("Laplace", stats.laplace(), None, (-50, 50)),
    ("uniform, support (0, 1)", stats.uniform(), UNIT, UNIT),
    ("normal", stats.norm(), None, (-9, 9)),
    ("narrow peak on a wide one", Mixture((0.9, 0, 1), (0.1, 1.5, 0.03)), None, (-9, 9)),
)


def step_error(edges: Array, heights: Array, distribution: Any, square: float) -> float:
    """Exact: the integral of (g - f)^2 is that of g^2 - 2 g f, and `square`, that of f^2."""
    return float((heights**2 * np.diff(edges)).sum() - 2 * (heights * np.diff(distribution.cdf(edges))).sum() + square)


def polygon_error(curve: Density, distribution: Any, square: float) -> float:
    """g^2 exactly, g f with the true share of each of many parts of the line."""
    nodes, at = curve.corners
    own = (np.diff(nodes) * (at[:-1] ** 2 + at[:-1] * at[1:] + at[1:] ** 2) / 3).sum()
    parts = np.unique(np.concatenate([nodes, np.linspace(nodes[0], nodes[-1], PARTS)]))
    both = (curve.polygon((parts[:-1] + parts[1:]) / 2) * np.diff(distribution.cdf(parts))).sum()
    return float(own - 2 * both + square)


def fixed_error(
    rows: Array, edges: Array, distribution: Any, square: float, epsilon: float, rng: np.random.Generator
) -> float:
    """A private histogram of these bins, all of epsilon on it."""
    held = np.histogram(rows, np.concatenate([[-np.inf], edges, [np.inf]]))[0]
    chance = -math.expm1(-1 / float(laplace_scale(2, epsilon)))
    noisy = held + rng.geometric(chance, len(held)) - rng.geometric(chance, len(held))
    return step_error(edges, on_simplex(noisy / len(rows))[1:-1] / np.diff(edges), distribution, square)


def errors(
    distribution: Any, support: Any, inside: Any, size: int, epsilon: float, runs: int
) -> tuple[float, float, float, float]:
    """Of the steps, of the polygon and of the best width; and that width."""
    rng = np.random.default_rng(size)
    square = quad(lambda t: distribution.pdf(t) ** 2, *inside, limit=2000, points=(0.0, 1.0))[0]
    samples = [distribution.rvs(size, random_state=rng) for _ in range(runs)]
    curves = [
        discreet.density(rows, epsilon=epsilon, support=support, neighbours="replace", missing="keep").value
        for rows in samples
    ]
    usual = float(np.median([curve.edges[-1] - curve.edges[0] for curve in curves]))

    def bins(curve: Density, width: float) -> Array:
        return np.linspace(
            curve.edges[0], curve.edges[-1], max(2, round((curve.edges[-1] - curve.edges[0]) / width)) + 1
        )

    pairs = list(zip(samples, curves, strict=True))
    fixed = {
        usual / count: float(
            np.mean(
                [
                    fixed_error(rows, bins(curve, usual / count), distribution, square, epsilon, rng)
                    for rows, curve in pairs
                ]
            )
        )
        for count in COUNTS.tolist()
    }
    width = min(fixed, key=lambda one: fixed[one])
    steps = np.mean([step_error(curve.edges, curve.heights, distribution, square) for curve in curves])
    polygon = np.mean([polygon_error(curve, distribution, square) for curve in curves])
    return float(steps), float(polygon), fixed[width], width


def measured(runs: int) -> Iterator[Row]:
    """Every distribution at both sizes."""
    cases = [(case, size, 1.0) for case in DISTRIBUTIONS for size in (10_000, 100_000)]
    cases += [(case, 50_000, 0.1) for case in SMALL_EPSILON]
    for (name, distribution, support, inside), size, epsilon in cases:
        steps, polygon, best, width = errors(distribution, support, inside, size, epsilon, runs)
        for way, error in (("steps", steps), ("polygon", polygon)):
            figure = f"{way}, {error:.3g} over {best:.3g} (width {width:.3g})"
            what = f"{name}, n={size:,}, epsilon {epsilon:g}"
            yield what, figure, f"{error / best:.2f}", f"<= {BAR}", error <= BAR * best


def study(runs: int) -> None:
    """Measure, print, write."""
    record("density", measured(runs), note=NOTE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    study(parser.parse_args().runs)


if __name__ == "__main__":
    main()
