"""What each statistic was built to reach: an error, a coverage or a power, beside what is measured now.

    python -m benchmarks.goals [--runs 200] [--models 40] [--only PATTERN] [--processes 2]

A goal is what the best private alternative reaches where an independent study found it ahead, or a little less; where
alternatives are told bounds, ours is told nothing unless its name says so. Error is the root of the mean squared error
over that of the answer without privacy in the same runs. Coverage is of what the first line of an answer names. People
are drawn anew in each run, and the noise is seeded. A missed goal is printed as missed.
"""

import argparse
import math
import re
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache, partial
from types import SimpleNamespace
from typing import Any, Final

import numpy as np
from scipy import stats

import discreet
from benchmarks.compare.cases import LIKERT, Draw, Shape, shapes
from benchmarks.compare.contenders import flat
from benchmarks.record import Row, record
from discreet import Seeded
from discreet.errors import BadInput, Refused

NOTE: Final = "Add or remove a person unless replace is said; delta 1e-6 where one is needed."
DELTA: Final[dict[str, Any]] = {"delta": 1e-6}
REPLACE: Final[dict[str, Any]] = {"neighbours": "replace", "missing": "keep"}
POPULATION: Final = 400_000  # draws that a limited mean of a distribution is taken from
LIMITS: Final = re.compile(r"between (-?[\d.e+-]+) and (-?[\d.e+-]+)")
AT_LEAST: Final = ("coverage", "answered", "rejected", "refused or held")
GROUPS: Final = tuple(f"ward {number}" for number in range(12))
KINDS: Final = tuple(f"code {number}" for number in range(80))


@dataclass(frozen=True, kw_only=True)
class Goal:
    """A cell: what is asked of whom, what the truth is, and what each figure is to be at most, or at least."""

    name: str
    draw: Draw
    size: int
    ask: Callable[[Any, int], Any]  # of the people and a seed: a release
    reach: Mapping[str, float]
    plain: Callable[[Any], Any] | None = None
    truth: Any = None
    values: Callable[[Any], Any] = flat
    shape: Shape | None = None  # of a mean, which may be of limited values
    light: bool = True


def asked(verb: str, epsilon: float, **options: Any) -> Callable[[Any, int], Any]:
    """A public function on what was drawn: one array or several."""

    def ask(people: Any, seed: int) -> Any:
        given = people if isinstance(people, tuple) else (people,)
        return getattr(discreet, verb)(*given, epsilon=epsilon, rng=Seeded(seed), **options)

    return ask


def means() -> Iterator[Goal]:
    """Means and variances of one column."""
    known = shapes()
    known["ages"] = known.pop("NHANES age")

    def goal(shape: str, size: int, epsilon: float, reach: Mapping[str, float], **options: Any) -> Goal:
        said = ", replace" if "neighbours" in options else ""
        return Goal(
            name=f"mean, {shape}, n={size:,}, epsilon {epsilon:g}{said}", draw=known[shape].draw, size=size,
            ask=asked("mean", epsilon, **options), reach=reach, plain=np.mean, truth=known[shape].mean,
            shape=known[shape],
        )  # fmt: skip

    for shape in ("normal", "exponential", "grades 1 to 5", "beta(0.5, 0.5)", "ages", "t(3)"):
        yield goal(shape, 300, 1.0, {"error": 1.5, "coverage": 0.93, "answered": 0.95})
        yield goal(shape, 200, 1.0, {"error": 3.0, "coverage": 0.93, "answered": 0.5})
    for shape, small in (("grades 1 to 5", 3.0), ("beta(0.5, 0.5)", 3.0), ("ages", 3.0)):
        yield goal(shape, 5000, 0.1, {"error": small, "coverage": 0.93, "answered": 0.95})
        yield goal(shape, 1000, 1.0, {"error": 1.2, "coverage": 0.93, "answered": 0.95})
    yield goal("normal", 5000, 0.1, {"error": 3.6, "coverage": 0.93, "answered": 0.95})
    yield goal("times, N(1.7e9, 3600)", 5000, 0.1, {"error": 3.6, "coverage": 0.93, "answered": 0.95})
    for shape in ("Pareto(2.5)", "Weibull(0.7)", "lognormal(0.8)"):
        for size, epsilon in ((400, 1.0), (5000, 0.1)):
            yield goal(shape, size, epsilon, {"coverage": 0.93, "answered": 0.9})
            if size > 400:
                yield goal(shape, size, epsilon, {"coverage": 0.93}, **REPLACE)
    for size in (130, 150, 175):  # a noisy number of people lets some of these through
        yield goal("normal", size, 1.0, {"refused or held": 0.95})
        yield goal("exponential", size, 1.0, {"refused or held": 0.95})
    grades = np.repeat(np.arange(1.0, 6.0), [round(1000 * share) for share in LIKERT])
    for shape, size, epsilon, error in (("normal", 5000, 1.0, 1.6), ("grades 1 to 5", 50_000, 0.1, 2.0)):
        yield Goal(
            name=f"variance, {shape}, n={size:,}, epsilon {epsilon:g}", draw=known[shape].draw, size=size,
            ask=asked("variance", epsilon), reach={"error": error, "coverage": 0.93},
            plain=lambda x: np.var(x, ddof=1), truth=float(grades.var()) if size > 5000 else known[shape].sd ** 2,
        )  # fmt: skip
    for shape in ("normal", "lognormal(0.8)"):
        yield Goal(
            name=f"99% point without an interval, {shape}, n=1,000, epsilon 1", draw=known[shape].draw, size=1000,
            ask=asked("quantile", 1.0, q=0.99, confidence=None), reach={"error": 2.5},
            plain=lambda x: np.quantile(x, 0.99), truth=known[shape].quantile(0.99),
        )  # fmt: skip
    yield Goal(
        name="mean with bounds of 6 sd, normal, n=1,000, epsilon 0.1", size=1000,
        draw=lambda rng, n: rng.normal(size=n),
        ask=asked("mean", 0.1, bounds=(-6.0, 6.0)), reach={"error": 2.95, "coverage": 0.93}, plain=np.mean, truth=0.0,
    )  # fmt: skip


def shares() -> Iterator[Goal]:
    """A share, an open histogram, tests."""
    for chance in (0.03, 0.3, 0.5):
        yield Goal(
            name=f"proportion of {100 * chance:g}%, n=1,000, epsilon 0.1", size=1000, truth=chance,
            draw=lambda rng, n, chance=chance: (rng.random(n) < chance).astype(float),  # type: ignore[misc]
            ask=asked("proportion", 0.1), reach={"width": 0.08, "coverage": 0.945},
        )  # fmt: skip
    for size, epsilon, power in ((1000, 1.0, 0.75), (5000, 0.1, 0.6)):
        for shape, frozen in (("normal", stats.norm()), ("t(5)", stats.t(5))):
            shift = 3 * frozen.std() / math.sqrt(size)
            yield Goal(
                name=f"mean_test, {shape} shifted by 3 errors, n={size:,}, epsilon {epsilon:g}", size=size,
                draw=lambda rng, n, frozen=frozen, shift=shift: frozen.rvs(n, random_state=rng) + shift,  # type: ignore[misc]
                ask=asked("mean_test", epsilon, null=0.0), reach={"rejected": power},
            )  # fmt: skip
    for said, options in (("", {}), (", replace", REPLACE)):
        yield Goal(
            name=f"two_means_test, normal 0.15 sd apart, 1,000 and 1,000, epsilon 1{said}", size=1000,
            draw=lambda rng, n: (rng.normal(0.15, 1, n), rng.normal(size=n)),
            ask=asked("two_means_test", 1.0, **options), reach={"rejected": 0.91},
        )  # fmt: skip
        yield Goal(
            name=f"paired_test, normal shifted by 0.09 sd, n=1,000, epsilon 0.1{said}", size=1000,
            draw=lambda rng, n: (rng.normal(0.09, 1, n), np.zeros(n)),
            ask=asked("paired_test", 0.1, **options), reach={"rejected": 0.53},
        )  # fmt: skip


@dataclass(frozen=True)
class Together:
    """The answers of several groups as one release; refused if one of them is."""

    parts: Mapping[str, Any]

    @property
    def refusal(self) -> str | None:
        return next((one.refusal for one in self.parts.values() if one.refusal is not None), None)

    @property
    def value(self) -> list[float]:
        return [one.value for one in self.parts.values()]

    def interval(self, confidence: float) -> Any:
        ends = [one.interval(confidence) for one in self.parts.values()]
        return replace(ends[0], low=[one.low for one in ends], high=[one.high for one in ends])


def _by_ward(people: Any, seed: int) -> Together:
    table = {"x": people, "ward": np.resize(GROUPS, len(people))}
    with discreet.open(table, budget=1.0, ledger=":memory:", rng=Seeded(seed)) as session:
        return Together(session.mean("x", epsilon=1.0, groupby="ward", keys=list(GROUPS)))


def _band(people: Any, seed: int) -> Together:
    """Not a release of ours: the width of an open histogram's band over that with public categories."""
    told: dict[str, Any] = {"epsilon": 1.0, "rng": Seeded(seed)}
    found = discreet.histogram(people, **DELTA, **told).interval(0.95)
    public = discreet.histogram(people, categories=list(KINDS), **told).interval(0.95)
    return Together({"all": SimpleNamespace(refusal=None, value=_wide(found) / _wide(public), interval=_none)})


def _wide(ends: Any) -> float:
    return float(np.median(flat(ends.high) - flat(ends.low)))


def _none(_: float) -> Any:
    raise Refused("a ratio has no interval")


def _least_squares(x: Any, y: Any) -> Any:
    return np.linalg.lstsq(np.column_stack([x, np.ones(len(y))]), y, rcond=None)[0]


def _fitted(estimator: Any, people: Any, seed: int) -> Any:
    return discreet.fit(estimator, *people, epsilon=1.0, rng=Seeded(seed), **DELTA)


def _in_order(value: Any) -> Any:
    return flat(list(value.values()) if isinstance(value, dict) else value)


def apart() -> Iterator[Goal]:
    """Groups, unlisted categories, any estimator."""
    from pandas import Series
    from sklearn.linear_model import LinearRegression, LogisticRegression

    for shape in ("normal", "ages"):
        drawn = shapes()["NHANES age" if shape == "ages" else shape]
        yield Goal(
            name=f"mean of 12 groups of 240, {shape}, epsilon 1", draw=drawn.draw, size=2880, ask=_by_ward, shape=drawn,
            reach={"error": 1.5, "coverage": 0.93, "answered": 0.95}, truth=np.full(len(GROUPS), drawn.mean),
            plain=lambda x: x.reshape(-1, len(GROUPS)).mean(axis=0),
        )  # fmt: skip
    frequent = np.arange(1, 81) ** -1.0
    yield Goal(
        name="open histogram of 80 categories, n=5,000, epsilon 1: its band over that of listed ones", size=5000,
        draw=lambda rng, n: rng.choice(KINDS, size=n, p=frequent / frequent.sum()), ask=_band, truth=0.0,
        reach={"width": 1.5}, light=False, values=flat,
    )  # fmt: skip
    slopes = np.array([1.0, -0.5, 0.3, 0.2])

    def linear(rng: np.random.Generator, n: int) -> Any:
        x = rng.normal(size=(n, 2))
        return x, x @ slopes[:2] + rng.normal(size=n)

    def binary(rng: np.random.Generator, n: int) -> Any:
        x = rng.normal(size=(n, 4))
        return x, Series(rng.random(n) < 1 / (1 + np.exp(-x @ slopes))).astype("boolean")

    for name, draw, size, estimator, truth in (
        ("fit of a function, 3 numbers", linear, 5000, _least_squares, np.append(slopes[:2], 0.0)),
        ("fit of LinearRegression, 3 numbers", linear, 5000, LinearRegression(), np.append(slopes[:2], 0.0)),
        ("fit of LogisticRegression, 5 numbers", binary, 20_190, LogisticRegression(), np.append(slopes, 0.0)),
    ):
        yield Goal(
            name=f"{name}, n={size:,}, epsilon 1", draw=draw, size=size, truth=truth, light=False,
            ask=partial(_fitted, estimator), values=_in_order, reach={"answered": 1.0, "coverage": 0.93},
        )  # fmt: skip
    yield Goal(
        name="maximum_likelihood of a gamma distribution, n=7,874, epsilon 1", size=7874,
        draw=lambda rng, n: rng.gamma(2.0, 1.5, n),
        ask=lambda x, seed: discreet.maximum_likelihood("gamma", x, epsilon=1.0, rng=Seeded(seed), **DELTA),
        truth=0.0, values=lambda value: flat(list(value.parameters.values()))[:1], reach={"answered": 1.0}, light=False,
    )  # fmt: skip


def models() -> Iterator[Goal]:
    """Vectors, covariances, regressions."""
    for size in (10_000, 200_000):
        yield Goal(
            name=f"mean of 3 columns, normal, n={size:,}, epsilon 0.1", draw=lambda rng, n: rng.normal(size=(n, 3)),
            size=size, ask=asked("mean", 0.1, **DELTA), plain=lambda x: x.mean(axis=0), truth=0.0, light=False,
            reach={"answered": 1.0, "coverage": 0.93} | ({"error": 1.3} if size > 100_000 else {}),
        )  # fmt: skip
    yield Goal(
        name="mean of 5 columns, gamma(2), n=5,000, epsilon 1", size=5000, plain=lambda x: x.mean(axis=0), truth=2.0,
        draw=lambda rng, n: rng.gamma(2, size=(n, 5)), ask=asked("mean", 1.0, **DELTA), light=False,
        reach={"error": 1.4, "answered": 1.0, "coverage": 0.93},
    )  # fmt: skip
    for width, size, epsilon, error in ((20, 5000, 1.0, 3.1), (30, 5000, 1.0, 4.5), (30, 50_000, 1.0, 1.95)):
        for kind in ("normal", "gamma(2)"):

            def rows(rng: np.random.Generator, n: int, width: int = width, kind: str = kind) -> Any:
                return rng.normal(size=(n, width)) if kind == "normal" else rng.gamma(2, 0.5**0.5, size=(n, width))

            yield Goal(
                name=f"covariance of {width} columns, {kind}, n={size:,}, epsilon {epsilon:g}", draw=rows, size=size,
                ask=asked("covariance", epsilon, **DELTA), plain=lambda x: np.cov(x.T), truth=np.eye(width).ravel(),
                reach={"error": error, "answered": 1.0}, light=False,
            )  # fmt: skip
    yield from regressions()


def regressions() -> Iterator[Goal]:
    """Linear, Poisson and logistic."""
    coef: Callable[[Any], Any] = lambda value: flat(value.coef)  # noqa: E731
    slopes = np.linspace(1, 0.2, 20)

    def linear(rng: np.random.Generator, n: int) -> Any:
        x = rng.normal(size=(n, 20))
        return x, x @ slopes + rng.normal(size=n)

    for size, epsilon, error in ((5000, 1.0, 2.25), (50_000, 0.1, 4.35)):
        for said, options in (("", {}), (", replace", REPLACE)):
            yield Goal(
                name=f"linear regression, 20 columns, n={size:,}, epsilon {epsilon:g}{said}", draw=linear, size=size,
                ask=asked("linear_regression", epsilon, **DELTA, **options), values=coef, truth=slopes, light=False,
                plain=lambda people: np.linalg.lstsq(np.c_[people[0], np.ones(len(people[1]))], people[1])[0][:-1],
                reach={"error": error, "answered": 1.0, "coverage": 0.93},
            )  # fmt: skip
    three = np.array([0.4, -0.3, 0.2])

    def counts(rng: np.random.Generator, n: int) -> Any:
        x = rng.normal(size=(n, 3))
        return x, rng.poisson(np.exp(x @ three + 0.3)).astype(float)

    yield Goal(
        name="Poisson regression, 3 columns, n=5,000, epsilon 1", draw=counts, size=5000, values=coef, truth=three,
        ask=asked("poisson_regression", 1.0, **DELTA), plain=_poisson, light=False,
        reach={"error": 2.7, "answered": 1.0, "coverage": 0.93},
    )  # fmt: skip
    for shift, width, size, error in ((-3.9, 3, 5000, 1.3), (0.0, 10, 1000, 2.15)):
        slopes_of = np.array([0.8, 0.5, 0.2]) if width == 3 else np.linspace(0.8, 0.2, 10)

        def binary(
            rng: np.random.Generator, n: int, shift: float = shift, slopes_of: Any = slopes_of
        ) -> tuple[Any, Any]:
            x = rng.normal(size=(n, len(slopes_of)))
            return x, (rng.random(n) < 1 / (1 + np.exp(-x @ slopes_of - shift))).astype(float)

        for said, options in (("", {}), (", replace", REPLACE)):
            if said and width > 3:
                continue
            yield Goal(
                name=f"logistic regression, {width} columns, {'3%' if width == 3 else 'half'} cases, n={size:,}, "
                f"epsilon 1{said}",
                draw=binary, size=size, ask=asked("logistic_regression", 1.0, **DELTA, **options), values=coef,
                truth=slopes_of, plain=_logistic, light=False,
                reach={"error": error, "answered": 1.0} | ({"coverage": 0.93} if width == 3 else {}),
            )  # fmt: skip


def _logistic(people: tuple[Any, Any]) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=1e6, max_iter=500).fit(*people).coef_[0]


def _poisson(people: tuple[Any, Any]) -> Any:
    from sklearn.linear_model import PoissonRegressor

    return PoissonRegressor(alpha=0, max_iter=500).fit(*people).coef_


PARTS: Final[tuple[Callable[[], Iterator[Goal]], ...]] = (means, shares, apart, models)


@cache
def goals() -> list[Goal]:
    """All of them."""
    return [goal for part in PARTS for goal in part()]


@dataclass(slots=True)
class Seen:
    """What came of the runs of a cell."""

    far: list[float] = field(default_factory=list)
    plain: list[float] = field(default_factory=list)
    held: list[float] = field(default_factory=list)
    width: list[float] = field(default_factory=list)
    rejected: list[float] = field(default_factory=list)
    runs: int = 0
    refused: int = 0

    def figures(self) -> Iterator[tuple[str, float]]:
        """What can be said of them."""
        if self.far and self.plain:
            yield "error", math.sqrt(np.mean(np.square(self.far)) / np.mean(np.square(self.plain)))
        for name, found in (("coverage", self.held), ("rejected", self.rejected)):
            if found:
                yield name, float(np.mean(found))
        if self.width:
            yield "width", float(np.median(self.width))
        yield "answered", 1 - self.refused / max(1, self.runs)
        yield "refused or held", (self.refused + sum(self.held)) / max(1, self.runs)


def ran(place: int, runs: int) -> Seen:
    """One cell."""
    goal, seen = goals()[place], Seen()
    truth: Any = None if goal.truth is None else flat(goal.truth)
    for run in range(runs):
        people = goal.draw(np.random.default_rng([run, place, 11]), goal.size)
        seen.runs += 1
        try:
            release = goal.ask(people, run)
        except Refused:
            seen.refused += 1
            continue
        if release.refusal is not None:
            seen.refused += 1
            continue
        if "rejected" in goal.reach:
            seen.rejected.append(float(release.value.p_value <= 0.05))
            continue
        value = goal.values(release.value)
        seen.far.append(float(np.linalg.norm(value - truth)))
        if goal.plain is not None:
            seen.plain.append(float(np.linalg.norm(flat(goal.plain(people)) - truth)))
        if goal.name.startswith("open"):
            seen.width.append(float(value[0]))
        try:
            ends = release.interval(0.95)
        except (Refused, BadInput):
            continue
        low, high = goal.values(ends.low), goal.values(ends.high)
        seen.held.append(float(np.mean((low <= (meant := named(goal, ends.about, truth))) & (meant <= high))))
        seen.width.append(float(np.median(high - low)))
    return seen


def named(goal: Goal, about: str, truth: Any) -> Any:
    """What the first line names: of a mean, that of limited values where it says so."""
    limits = LIMITS.search(about) if goal.shape is not None else None
    if limits is None:
        return truth
    return flat(_population(goal.name).clip(float(limits[1]), float(limits[2])).mean())


@cache
def _population(name: str) -> Any:
    (goal,) = (goal for goal in goals() if goal.name == name)
    return goal.draw(np.random.default_rng(1), POPULATION)


def measured(runs: int, models_runs: int, only: str, processes: int) -> Iterator[Row]:
    """Every goal, figure by figure, with its bar."""
    places = [place for place, goal in enumerate(goals()) if re.search(only, goal.name)]
    with ProcessPoolExecutor(processes) as pool:
        jobs = {place: pool.submit(ran, place, runs if goals()[place].light else models_runs) for place in places}
        for place, job in jobs.items():
            goal, seen = goals()[place], job.result()
            for figure, value in seen.figures():
                if (bar := goal.reach.get(figure)) is None:
                    continue
                met = value >= bar if figure in AT_LEAST else value <= bar
                sense = ">=" if figure in AT_LEAST else "<="
                yield goal.name, f"{figure}, {seen.runs} runs", f"{value:.3g}", f"{sense} {bar:g}", met


def study(runs: int, models_runs: int = 40, only: str = "", processes: int = 2) -> None:
    """Measure, print, write; a part of them is only printed."""
    record("goals", measured(runs, models_runs, only, processes), note=NOTE, keep=not only)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200, help="of one column")
    parser.add_argument("--models", type=int, default=40, help="of several columns and models")
    parser.add_argument("--only", default="", help="a pattern of names; nothing is recorded then")
    parser.add_argument("--processes", type=int, default=2)
    wanted = parser.parse_args()
    study(wanted.runs, wanted.models, wanted.only, wanted.processes)


if __name__ == "__main__":
    main()
