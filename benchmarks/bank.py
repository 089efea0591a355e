"""Coverage without fitting everything anew: a bank of fits on independent blocks, from which every run draws its own.

Rows are independent, and blocks are disjoint, so the estimates of a fit's k blocks are k independent draws from one
distribution, that of the estimator on as many rows as a block has. A bank holds 60 k such estimates, made once; a run
draws k of them without replacement and hands them to the aggregator that `discreet.fit` has chosen, correction and
number of blocks included. Runs share estimates: the bank's own error, an eighth of a run's, takes 0.002 or so off the
coverage. Least squares and logistic regression are fitted by the very path that `discreet.fit` takes; the slow ones (a
gamma distribution, a Cox model, a median) by formulas for many blocks at once, of which some are compared with that
path.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.subsample.aggregate import SubsampleAggregate
from discreet.subsample.block_table import BlockTable
from discreet.subsample.coordinatewise import BlockMean
from discreet.subsample.counted_people import CountedPeople
from discreet.subsample.fit_request import planned
from discreet.subsample.run_block import block_row

SIZE = 20_000
TIMES = 60  # blocks in a bank, over those of a run
COMPARED = 30  # blocks that are fitted both ways
DEFAULTS: dict[str, Any] = {
    "blocks": "auto", "aggregator": "auto", "engine": None, "names": None, "labels": None, "attributes": None,
    "formula": None, "options": None, "correct": "auto", "unbiased": None, "smallest": None, "scales": None,
    "confidence": 0.95, "trust": None, "sandbox": None, "seconds": None, "vectorised": True,
    "neighbours": Neighbours.REPLACE, "unit": "row",
}  # fmt: skip
Array = Any
Draw = Callable[[np.random.Generator, int], Array]  # so many rows, one array: the columns, and the outcome last if any


@dataclass(frozen=True)
class Bank:
    """Estimates of independent blocks, the mechanism that combines them, and what it should find."""

    mechanism: SubsampleAggregate
    estimates: Array
    truth: Array
    plain: Array  # widths of the 95% intervals of the fit on all rows, without privacy

    def run(self, index: int, failing: float = 0.0) -> Any:
        """What the aggregator releases of some of them, a share of which is lost."""
        rng = np.random.default_rng(index)
        rows = self.estimates[rng.choice(len(self.estimates), self.mechanism.blocks, replace=False)]
        rows[rng.random(len(rows)) < failing] = np.nan
        return self.mechanism.aggregator.release(rows, Seeded(index))


def chosen(estimator: Any, x: Any, y: Any = None, **settings: Any) -> SubsampleAggregate:
    """The mechanism that `discreet.fit` would make at epsilon = 1 and delta = 1e-6."""
    asked = DEFAULTS | {"estimate_bias": False} | settings  # a bank has estimates alone
    found = planned(estimator, BlockTable.of(x, y), epsilon=1.0, delta=1e-6, **asked)
    found = found.checked(SIZE) if isinstance(found, CountedPeople) else found  # no level is rare
    assert isinstance(found, SubsampleAggregate)
    return found


def same_path(estimator: Any, draw: Draw, truth: Array, plain: Array, **settings: Any) -> Bank:
    """A bank of a regression, by the path of `discreet.fit`."""
    g = np.random.default_rng(1)
    rows = draw(g, SIZE)
    mechanism = chosen(estimator, rows[:, :-1], rows[:, -1], **settings)
    count, size = TIMES * mechanism.blocks, SIZE // mechanism.blocks
    parts: list[Array] = []
    for _ in range(10):  # in parts, for the memory
        rows = draw(g, count // 10 * size)
        many = replace(mechanism, aggregator=BlockMean(count // 10, mechanism.shape.width, 1000.0))
        parts.append(many.estimates(BlockTable.of(rows[:, :-1], rows[:, -1]), Seeded(len(parts))))
    return Bank(mechanism, np.concatenate(parts), truth, plain)


def by_formula(
    estimator: Any, many: Callable[[Array], Array], draw: Draw, truth: float, plain: float, **settings: Any
) -> Bank:
    """A bank of one number that `many` finds for all blocks at once: rows, then columns, in the second axis and on."""
    g = np.random.default_rng(1)
    framed = settings.pop("framed", lambda rows: rows)
    mechanism = chosen(estimator, framed(draw(g, SIZE)), **settings)
    count, size = TIMES * mechanism.blocks, SIZE // mechanism.blocks
    rows = draw(g, count * size)
    rows = rows.reshape(count, size, *rows.shape[1:])
    middle = (size + 1) // 2
    found = many(rows)
    if mechanism.correct == "half":
        found = 2 * found - (many(rows[:, :middle]) + many(rows[:, middle:])) / 2
    elif mechanism.correct == "jackknife":
        left = sum(many(np.delete(rows, one, axis=1)) for one in range(size))
        found = size * found - (size - 1) * left / size
    for number in range(COMPARED):
        block = BlockTable(framed(rows[number]))
        alone = block_row(mechanism.fit, mechanism.shape, block, middle, number=number, correct=mechanism.correct)
        assert abs(alone[0] - found[number]) < 2e-3 * (1 + abs(alone[0])), "a formula and a fit differ"
    return Bank(mechanism, found[:, None], np.array([truth]), np.array([plain]))


def heavy_ols(g: np.random.Generator, size: int) -> Array:
    """A line of slope 1 and heteroscedastic errors of Student's distribution with 3 degrees of freedom."""
    x = g.normal(size=size)
    return np.column_stack([x, x + g.standard_t(3, size=size) * (1 + np.abs(x)) / 2])


def robust_width(rows: Array) -> float:
    """The width of the sandwich interval of the slope."""
    x, y = rows[:, 0] - rows[:, 0].mean(), rows[:, 1] - rows[:, 1].mean()
    residual = y - x @ y / (x @ x) * x
    return float(3.92 * math.sqrt(np.sum((x * residual) ** 2)) / (x @ x))


SLOPES = np.array([0.5, -0.5, 0.3, 0.0, 0.2])


def logistic(g: np.random.Generator, size: int) -> Array:
    """Five slopes and no intercept."""
    x = g.normal(size=(size, len(SLOPES)))
    return np.column_stack([x, g.random(size) < 1 / (1 + np.exp(-(x @ SLOPES)))])


def logistic_widths(rows: Array) -> Array:
    """Those of the five slopes, by the information."""
    x = np.column_stack([rows[:, :-1], np.ones(len(rows))])
    chance = 1 / (1 + np.exp(-(rows[:, :-1] @ SLOPES)))
    inverse = np.linalg.inv((x * (chance * (1 - chance))[:, None]).T @ x)
    return 3.92 * np.sqrt(np.diag(inverse))[:-1]


def gamma_shape(x: Array) -> Array:
    """The maximum-likelihood shape, along the last axis: log a - digamma(a) = log mean - mean log, by Newton steps."""
    from scipy.special import digamma, polygamma

    gap = np.log(x.mean(axis=-1)) - np.log(x).mean(axis=-1)
    a = (3 - gap + np.sqrt((gap - 3) ** 2 + 24 * gap)) / (12 * gap)
    for _ in range(6):
        a = a - (np.log(a) - digamma(a) - gap) / (1 / a - polygamma(1, a))
    return a


def median_ratio(x: Array) -> Array:
    """The median of the ratio of two columns."""
    return np.median(x[..., 0] / x[..., 1], axis=-1)


def survival(g: np.random.Generator, size: int) -> Array:
    """A covariate with a log hazard ratio of 1/2, a time, and whether it was seen, in four of five."""
    a = g.normal(size=size)
    return np.column_stack([a, g.exponential(np.exp(-0.5 * a)), g.random(size) < 0.8])


def frame(rows: Array) -> Any:
    """For lifelines."""
    import pandas as pd

    return pd.DataFrame({"a": rows[:, 0], "T": rows[:, 1], "E": rows[:, 2] > 0.5})


def cox(x: Array) -> Array:
    """The slope of Cox's partial likelihood, without ties, for each of many blocks."""
    return cox_steps(x)[0]


def cox_steps(x: Array) -> tuple[Array, Array]:
    """Slopes and information, by Newton steps."""
    order = np.argsort(-x[:, :, 1], axis=1)
    a, seen = (np.take_along_axis(x[:, :, column], order, axis=1) for column in (0, 2))
    slope = np.zeros(len(x))
    for _ in range(10):
        risk = np.exp(a * slope[:, None])
        sums = [np.cumsum(risk * a**power, axis=1) for power in range(3)]
        mean = sums[1] / sums[0]
        information = (seen * (sums[2] / sums[0] - mean**2)).sum(axis=1)
        slope = slope + np.clip((seen * (a - mean)).sum(axis=1) / information, -1, 1)
    return slope, information
