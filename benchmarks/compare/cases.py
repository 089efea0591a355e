"""What is asked, of which people, and what the truth is."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy import stats

from benchmarks.coinpress import coinpress, coinpress_rows_mean
from benchmarks.compare.contenders import (
    Contender,
    Elsewhere,
    OpenDPClipped,
    Ours,
    Published,
    Question,
    flat,
    opendp_counts,
    opendp_quantile,
    opendp_share,
)
from benchmarks.compare.published import adassp, dp_lloyd, durfee_mean, durfee_quantile, gradient_descent
from benchmarks.tukey import block_fits, tukey
from discreet import datasets
from discreet.accounting.calibrate import rho

Floats = npt.NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Any]
DELTA: Final = 1e-6
CURVE: Final = (
    *((n, 1.0) for n in (200, 500, 1500, 15_000, 50_000)),
    *((5000, epsilon) for epsilon in (0.03, 0.3, 3.0)),
)  # and those of SIZES, for the pictures
DRAWN: Final = ("normal", "lognormal(0.8)", "NHANES bmi")
SIZES: Final = ((300, 1.0), (1000, 0.1), (1000, 1.0), (5000, 0.1), (5000, 1.0), (50_000, 0.1))
REAL: Final = ("age", "bmi", "systolic_bp", "total_cholesterol")
LIKERT: Final = (0.08, 0.17, 0.30, 0.28, 0.17)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A cell: one statistic of people drawn anew in each run, by everybody who can answer."""

    part: str
    people: str
    draw: Draw
    size: int
    epsilon: float
    delta: float = 0.0
    plain: Callable[[Any], Any]  # without privacy
    truth: Any  # of the population; None where the answer without privacy is the target
    contenders: Mapping[str, Contender]
    known: Mapping[str, Any] = field(default_factory=dict)
    loss: Callable[[Any, Floats], float] | None = None  # of a value on the people, where values cannot be subtracted
    light: bool = True  # asked as often as one column is, else as a model is


@dataclass(frozen=True)
class Shape:
    """A distribution of one column: how it is drawn, its mean and its standard deviation."""

    draw: Draw
    mean: float
    sd: float

    @property
    def bounds(self) -> tuple[float, float]:
        """Six standard deviations to either side: what a peer is told."""
        return self.mean - 6 * self.sd, self.mean + 6 * self.sd

    def quantile(self, q: float) -> float:
        """From 400,000 draws."""
        return float(np.quantile(self.draw(np.random.default_rng(0), 400_000), q))


def of_scipy(name: str, *arguments: float, **scaled: float) -> Shape:
    """A distribution of scipy."""
    frozen = getattr(stats, name)(*arguments, **scaled)
    return Shape(lambda rng, n: frozen.rvs(n, random_state=rng), float(frozen.mean()), float(frozen.std()))


def of_column(values: Floats) -> Shape:
    """People drawn from a real column, with replacement."""
    held = values[np.isfinite(values)]
    return Shape(lambda rng, n: rng.choice(held, n), float(held.mean()), float(held.std()))


def shapes() -> dict[str, Shape]:
    """Columns: bounded, light and heavy tails, skew, ties, far from zero, and four real ones."""
    grades = np.repeat(np.arange(1.0, 6.0), [round(1000 * share) for share in LIKERT])
    table = datasets.load_nhanes()
    real = {name: of_column(np.asarray(table[name], dtype=np.float64)) for name in REAL}
    return {
        "normal": of_scipy("norm", 5, 2),
        "grades 1 to 5": of_column(grades),
        "beta(0.5, 0.5)": of_scipy("beta", 0.5, 0.5),
        "exponential": of_scipy("expon"),
        "lognormal(0.8)": of_scipy("lognorm", 0.8),
        "Weibull(0.7)": of_scipy("weibull_min", 0.7),
        "Pareto(2.5)": of_scipy("pareto", 2.5),
        "t(3)": of_scipy("t", 3),
        "times, N(1.7e9, 3600)": of_scipy("norm", 1.7e9, 3600),
        **{f"NHANES {name}": shape for name, shape in real.items()},
    }


def means(sizes: tuple[tuple[int, float], ...] = SIZES) -> Iterator[Case]:
    """The mean of one column."""
    for name, shape in shapes().items():
        for size, epsilon in sizes:
            contenders: dict[str, Contender] = {
                "discreet": Ours("mean"),
                "discreet, bounds": Ours("mean", given=("bounds",)),
                "OpenDP, bounds, n": OpenDPClipped("mean"),
                "diffprivlib, bounds, n": Elsewhere("diffprivlib mean", ("bounds",)),
                "Google, bounds found": Elsewhere("Google mean", every=5),
                "Durfee, n": Published(lambda q: durfee_mean(q.people, q.epsilon, q.rng)),
                "CoinPress, sd, R, n, delta": Published(_coinpress),
            }
            yield Case(
                part="mean", people=name, draw=shape.draw, size=size, epsilon=epsilon, plain=np.mean,
                truth=shape.mean, contenders=contenders, known={"bounds": shape.bounds, "sd": shape.sd},
            )  # fmt: skip


def _coinpress(question: Question) -> float:
    """Four steps, best in most cells; a reach of 100 standard deviations around a known place."""
    low, high = question.known["bounds"]
    budget = rho(question.epsilon, DELTA)
    middle, sd = (low + high) / 2, question.known["sd"]
    return float(middle) + coinpress(question.people - middle, 100 * sd, sd, budget, 4, question.rng)


def variances() -> Iterator[Case]:
    """The variance of one column."""
    for name, shape in shapes().items():
        for size, epsilon in SIZES:
            contenders: dict[str, Contender] = {
                "discreet": Ours("variance"),
                "OpenDP, bounds, n": OpenDPClipped("variance"),
                "diffprivlib, bounds, n": Elsewhere("diffprivlib variance", ("bounds",)),
                "Google, bounds found": Elsewhere("Google variance", every=5),
            }
            yield Case(
                part="variance", people=name, draw=shape.draw, size=size, epsilon=epsilon,
                plain=lambda x: np.var(x, ddof=1), truth=shape.sd**2, contenders=contenders,
                known={"bounds": shape.bounds},
            )  # fmt: skip


def quantiles(sizes: tuple[tuple[int, float], ...] = SIZES) -> Iterator[Case]:
    """The median and the 99% point."""
    for name, shape in shapes().items():
        for q in (0.5, 0.99):
            truth = shape.quantile(q)
            for size, epsilon in sizes:
                contenders: dict[str, Contender] = {
                    "discreet": Ours("quantile", {"q": q}),
                    "discreet, no interval": Ours("quantile", {"q": q, "confidence": None}),
                    "OpenDP, bounds": opendp_quantile,
                    "diffprivlib, bounds, n": Elsewhere("diffprivlib quantile", ("bounds", "q")),
                    "Durfee, n": Published(
                        lambda asked: durfee_quantile(asked.people, asked.known["q"], asked.epsilon, asked.rng)
                    ),
                }
                yield Case(
                    part=f"quantile {q:g}", people=name, draw=shape.draw, size=size, epsilon=epsilon,
                    plain=partial(np.quantile, q=q), truth=truth, contenders=contenders,
                    known={"bounds": shape.bounds, "q": q},
                )  # fmt: skip


def shares() -> Iterator[Case]:
    """A share of people, and counts of twenty categories."""
    for chance in (0.03, 0.3, 0.5):
        for size, epsilon in ((1000, 0.1), (1000, 1.0), (20_000, 0.1)):
            yield Case(
                part="proportion", people=f"{100 * chance:g}% yes", size=size, epsilon=epsilon, plain=np.mean,
                draw=partial(_yes, chance), truth=chance,
                contenders={"discreet": Ours("proportion"), "OpenDP": opendp_share},
            )  # fmt: skip
    kinds = tuple(range(20))
    chances = np.arange(1, 21) ** -1.2
    for size, epsilon in ((1000, 0.1), (1000, 1.0)):
        ours = Ours("histogram", given=("categories",), numbers=_counted)
        yield Case(
            part="histogram", people="20 categories, Zipf", size=size, epsilon=epsilon, truth=None,
            draw=lambda rng, n: rng.choice(20, size=n, p=chances / chances.sum()),
            plain=lambda x: np.bincount(x, minlength=20), known={"categories": kinds},
            contenders={"discreet": ours, "OpenDP": opendp_counts},
        )  # fmt: skip


def _yes(chance: float, rng: np.random.Generator, size: int) -> Any:
    return rng.random(size) < chance


def _counted(counts: Any) -> Floats:
    return flat(list(counts.values()) if isinstance(counts, Mapping) else counts)


def rows() -> Iterator[Case]:
    """The mean of several columns."""
    drawn: dict[str, Draw] = {
        "normal rows, d=3": lambda rng, n: rng.normal(size=(n, 3)),
        "normal rows, d=10": lambda rng, n: rng.normal(size=(n, 10)),
        "gamma(2) rows, d=5": lambda rng, n: (rng.gamma(2, size=(n, 5)) - 2) / math.sqrt(2),
    }
    for name, draw in drawn.items():
        for size, epsilon in ((5000, 1.0), (50_000, 0.1)):
            contenders: dict[str, Contender] = {
                "discreet": Ours("mean"),
                "CoinPress, sd, R, n": Published(
                    lambda q: coinpress_rows_mean(q.people, 100.0, rho(q.epsilon, q.delta), 4, q.rng)
                ),
            }
            yield Case(
                part="vector mean", people=name, draw=draw, size=size, epsilon=epsilon, delta=DELTA,
                plain=lambda x: x.mean(axis=0), truth=0.0, contenders=contenders, light=False,
            )  # fmt: skip


def regressions() -> Iterator[Case]:
    """Linear and logistic regression."""
    for width in (5, 20):
        slopes = np.linspace(1, 0.2, width)

        def linear(rng: np.random.Generator, n: int, slopes: Floats = slopes) -> tuple[Floats, Floats]:
            x = rng.normal(size=(n, len(slopes)))
            return x, x @ slopes + rng.normal(size=n)

        reach = 4.0 * math.sqrt(float(slopes @ slopes) + 1)
        known = {
            "low": np.full(width, -4.0),
            "high": np.full(width, 4.0),
            "y_bounds": (-reach, reach),
            "spread": reach / 4,
        }
        for size, epsilon in ((5000, 1.0), (50_000, 0.1), (50_000, 1.0)):
            contenders: dict[str, Contender] = {
                "discreet": Ours("linear_regression", numbers=lambda value: flat(value.coef)),
                "gradient descent, sd, n": Published(
                    lambda q: gradient_descent(q.people, q.known["spread"], q.epsilon, q.delta, q.rng)
                ),
                "AdaSSP, largest row and outcome": Published(
                    lambda q: adassp(q.people[0], q.people[1], q.epsilon, q.delta, q.rng)
                ),
                "TukeyEM, n": Published(_tukey),
                "diffprivlib, bounds": Elsewhere("diffprivlib linear", ("low", "high", "y_bounds"), ("x", "y")),
            }
            yield Case(
                part="linear regression", people=f"normal, d={width}", draw=linear, size=size, epsilon=epsilon,
                delta=DELTA, plain=_least_squares, truth=slopes, contenders=contenders, known=known, light=False,
            )  # fmt: skip
    for width, shift in ((3, 0.0), (3, -3.5), (10, 0.0)):
        slopes = np.linspace(0.8, 0.2, width)

        def logistic(
            rng: np.random.Generator, n: int, slopes: Floats = slopes, shift: float = shift
        ) -> tuple[Floats, Floats]:
            x = rng.normal(size=(n, len(slopes)))
            return x, (rng.random(n) < 1 / (1 + np.exp(-(x @ slopes) - shift))).astype(float)

        for size, epsilon in ((5000, 1.0), (50_000, 0.1)):
            contenders = {
                "discreet": Ours("logistic_regression", numbers=lambda value: flat(value.coef)),
                "diffprivlib, longest row": Elsewhere("diffprivlib logistic", ("norm",), ("x", "y")),
            }
            yield Case(
                part="logistic regression", people=f"d={width}, intercept {shift:g}", draw=logistic, size=size,
                epsilon=epsilon, delta=DELTA, plain=_logistic, truth=slopes, contenders=contenders,
                known={"norm": 1.5 * math.sqrt(width) + 1.5}, light=False,
            )  # fmt: skip


def _least_squares(people: tuple[Floats, Floats]) -> Floats:
    x, y = people
    return flat(np.linalg.lstsq(np.column_stack([x, np.ones(len(y))]), y, rcond=None)[0][:-1])


def _logistic(people: tuple[Floats, Floats]) -> Floats:
    from sklearn.linear_model import LogisticRegression

    return np.asarray(LogisticRegression(C=1e6, max_iter=500).fit(*people).coef_[0])


def _tukey(question: Question) -> Floats | None:
    x, y = question.people
    if len(y) < 2000 * (x.shape[1] + 1):  # its 1,000 blocks must each have a fit
        return None
    found = tukey(block_fits(x, y, 1000, question.rng), question.epsilon, question.delta, question.rng)
    return None if found is None else found[:-1]


def clusters() -> Iterator[Case]:
    """k-means: the loss on the people over that of k-means without privacy."""
    for name, spread in (("5 tight clusters in the plane", 0.3), ("5 wide clusters in the plane", 1.0)):

        def drawn(rng: np.random.Generator, n: int, spread: float = spread) -> Floats:
            centres = np.array([[-6, -6], [-6, 6], [0, 0], [6, -6], [6, 6]], dtype=np.float64)
            return centres[rng.integers(5, size=n)] + spread * rng.normal(size=(n, 2))

        for size, epsilon in ((5000, 1.0), (20_000, 0.3)):
            contenders: dict[str, Contender] = {
                "discreet": Ours("kmeans", {"k": 5}, numbers=lambda value: flat(value.centres)),
                "DP-Lloyd, box": Published(lambda q: dp_lloyd(q.people, 5, (-10.0, 10.0), q.epsilon, q.rng)),
                "diffprivlib, box": Elsewhere("diffprivlib kmeans", ("clusters", "low", "high")),
            }
            yield Case(
                part="k-means", people=name, draw=drawn, size=size, epsilon=epsilon, delta=DELTA, plain=_kmeans,
                truth=None, contenders=contenders, loss=_loss, light=False,
                known={"clusters": 5, "low": np.full(2, -10.0), "high": np.full(2, 10.0)},
            )  # fmt: skip


def _kmeans(people: Floats) -> Floats:
    from sklearn.cluster import KMeans

    return np.asarray(KMeans(5, n_init=3, random_state=0).fit(people).cluster_centers_)


def _loss(people: Floats, value: Floats) -> float:
    centres = value.reshape(-1, people.shape[1])
    return math.sqrt(((people[:, None] - centres) ** 2).sum(axis=2).min(axis=1).sum())


PARTS: Final[Mapping[str, Callable[[], Iterator[Case]]]] = {
    "columns": lambda: chain(means(), variances(), quantiles()),
    "shares": shares,
    "rows": rows,
    "regressions": regressions,
    "clusters": clusters,
    "curves": lambda: (
        case
        for case in chain(means(CURVE), quantiles(CURVE))
        if case.people in DRAWN and case.part in ("mean", "quantile 0.5")
    ),
}
