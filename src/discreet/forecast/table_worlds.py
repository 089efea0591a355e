"""Made-up worlds of several columns: means, covariances, regressions, clusters, any estimator."""

import inspect
import math
from typing import Any, Final

import numpy as np

from discreet.errors import BadInput
from discreet.forecast.assumptions import About, Floats, Generator, World, flat
from discreet.forecast.column_worlds import MANY, ONE
from discreet.forecast.floors import RATES
from discreet.forecast.shapes import AssumedColumn
from discreet.subsample.estimators import adapted

EFFECTS: Final = {"linear": 0.5, "logistic": 0.5, "poisson": 0.3}
LARGE: Final = 200_000  # rows on which an estimator's value for the population is taken
BLOCKS: Final = 500_000  # blocks of people do not scale


def rows_of(about: About, columns: int) -> tuple[AssumedColumn, Any]:
    """Independent columns of one law, and what makes rows of them."""
    entries = AssumedColumn.of(about)
    about.say(f"{columns} independent columns")
    return entries, lambda g, n: entries.draw(g, n * columns).reshape(n, columns)


def mean_of_table(about: About) -> World:
    """The mean of each column."""
    columns = about.whole("columns", 2, 1, 1000)
    entries, rows = rows_of(about, columns)
    return World(
        make=lambda g, n: (rows(g, n),),
        truth=np.full(columns, entries.location),
        plain=lambda x: x.mean(axis=0),
        measure=MANY,
        runs=16,
        floor_note=RATES["mean of a table"],
    )


def covariance(about: About) -> World:
    """The covariance of the columns."""
    columns = about.whole("columns", 2, 1, 1000)
    entries, rows = rows_of(about, columns)
    return World(
        make=lambda g, n: (rows(g, n),),
        truth=(np.eye(columns) * entries.scale**2).ravel(),
        plain=lambda x: np.cov(x, rowvar=False).ravel(),
        measure=MANY,
        runs=32,
        floor_note=RATES["covariance"],
    )


def gaussian_table(about: About) -> World:
    """A normal distribution of rows."""
    columns = about.whole("columns", 2, 2, 1000)
    about.take("shape", "normal")
    entries, rows = rows_of(about, columns)

    def gap(errors: Floats, _truth: Floats) -> Floats:
        shift, matrix = errors[:, :columns] / entries.scale, errors[:, columns:] / entries.scale**2
        found: Floats = np.sqrt((shift**2).sum(axis=1) + (matrix**2).sum(axis=1) / 2) / 2
        return np.minimum(found, 1.0)

    return World(
        make=lambda g, n: (rows(g, n),),
        truth=np.concatenate([np.full(columns, entries.location), (np.eye(columns) * entries.scale**2).ravel()]),
        plain=lambda x: np.concatenate([x.mean(axis=0), np.cov(x, rowvar=False).ravel()]),
        measure="median distance in total variation from the population's law, by Pinsker's bound for small errors",
        read=lambda value: np.concatenate([np.ravel(value.mean), np.ravel(value.covariance)]),
        gap=gap,
        width=lambda spread, confidence: float(spread.total_variation(confidence)),
        runs=32,
        floor_note=RATES["covariance"],
    )


def width_of(about: About) -> int:
    """How many features: as said, as named, or as a formula has terms."""
    names, formula = about.given.get("names"), about.take("formula", None)
    usual = 2
    if isinstance(formula, str) and "~" in formula:
        terms = [one.strip() for one in formula.split("~", 1)[1].split("+")]
        usual = max(1, len([one for one in terms if one and one != "1"]))
        about.say("every term of the formula is one column of numbers")
        about.given.pop("levels", None)
    elif isinstance(names, list | tuple):
        usual = len(names)
    return about.whole("columns", usual, 1, 1000)


def regression(about: About, link: str, before: tuple[Any, ...] = ()) -> World:
    """Coefficients of a linear, logistic or Poisson model on standard features."""
    columns, constant = width_of(about), bool(about.given.get("intercept", True))
    effect = about.number("effect", EFFECTS[link], -1e6, 1e6)
    base = about.number("intercept_value", 0.0, -1e6, 1e6)
    noise = about.number("noise_sd", 1.0, 0.0, 1e300) if link == "linear" else 1.0
    if about.bounds is not None and about.bounds[0] > -3:
        about.say("features lie within the bounds, centred in them")
    entries, rows = rows_of(about, columns)
    about.say(f"a {link} model holds, all coefficients {effect:g}")
    truth = np.append(np.full(columns, effect), base if constant else 0.0)

    def made(g: Generator, n: int) -> tuple[Any, ...]:
        x = rows(g, n)
        linear = x @ truth[:-1] + truth[-1]
        if link == "linear":
            y = linear + noise * g.standard_normal(n)
        elif link == "logistic":
            y = (g.random(n) < 1 / (1 + np.exp(-linear))).astype(float)
        else:
            y = g.poisson(np.exp(np.minimum(linear, 30.0))).astype(float)
        return (*before, x, _labelled(y, about))

    def plain(*made: Any) -> Floats:
        x, y = made[-2], made[-1]
        coded = y if y.dtype.kind == "f" else (y == _classes(about)[1]).astype(float)
        return newton(x, coded, link, constant)

    about.say(f"features have mean {entries.location:g}")
    return World(make=made, truth=truth, plain=plain, measure=MANY, runs=RUNS_OF_MODELS)


RUNS_OF_MODELS: Final = 40


def _classes(about: About) -> Any:
    return about.given.get("classes")


def _labelled(y: Floats, about: About) -> Any:
    classes = _classes(about)
    return y if classes is None else np.array(list(classes), dtype=object)[y.astype(int)]


def newton(x: Floats, y: Floats, link: str, constant: bool) -> Floats:
    """Maximum likelihood, the constant last (0 where there is none)."""
    design = np.column_stack([x, np.ones(len(x))]) if constant else x
    weights = np.zeros(design.shape[1])
    for _ in range(1 if link == "linear" else 12):
        linear = np.clip(design @ weights, -30, 30)
        middle, curve = linear, np.ones(len(y))
        if link == "logistic":
            middle = 1 / (1 + np.exp(-linear))
            curve = middle * (1 - middle)
        elif link == "poisson":
            middle = curve = np.exp(linear)
        bent = design.T @ (design * curve[:, None]) + 1e-9 * np.eye(len(weights))
        weights = weights + np.linalg.solve(bent, design.T @ (y - middle))
    return weights if constant else np.append(weights, 0.0)


def sgd(about: About) -> World:
    """Stochastic descent on a loss known by its name."""
    loss = about.take("loss", "logistic")
    links = {"squared": "linear", "huber": "linear", "logistic": "logistic", "poisson": "poisson"}
    if loss not in links:
        raise BadInput(f"loss is {loss!r}; a forecast knows {', '.join(map(repr, links))}")
    return regression(about, links[loss], (loss,))


def kmeans(about: About) -> World:
    """Clusters of normal rows around centres on a line of equal distances, turned into all columns."""
    k, columns = about.whole("k", 3, 1, 1000), about.whole("columns", 2, 1, 1000)
    apart = about.number("apart", 8.0, 0.0, 1e6)
    ball = about.given.get("radius")
    usual = 1.0 if not isinstance(ball, int | float) else float(ball) / (apart * max(1, k - 1) / 2 + 4)
    scale = about.number("scale", usual, 0.0, 1e300)
    about.say(f"{k} clusters of normal rows, standard deviation {scale:g}, their centres {apart:g} of them apart")
    about.say(f"{columns} independent columns")
    middle = np.asarray(about.given.get("centre", 0.0) if about.given.get("centre") is not None else 0.0, dtype=float)
    direction = np.ones(columns) / math.sqrt(columns)
    centres = middle + scale * apart * (np.arange(k) - (k - 1) / 2)[:, None] * direction

    def made(g: Generator, n: int) -> tuple[Any, ...]:
        return centres[np.arange(n) % k] + scale * g.standard_normal((n, columns)), k

    def plain(x: Floats, _k: int) -> Floats:
        found = centres
        for _ in range(5):
            nearest = ((x[:, None] - found[None]) ** 2).sum(axis=2).argmin(axis=1)
            found = np.array([x[nearest == j].mean(axis=0) if (nearest == j).any() else found[j] for j in range(k)])
        return found.ravel()

    def matched(value: Any) -> Floats:
        from scipy.optimize import linear_sum_assignment

        seen = np.asarray(value.centres, dtype=float)
        apart = ((centres[:, None] - seen[None]) ** 2).sum(axis=2)
        places, others = linear_sum_assignment(apart)
        found = np.full_like(centres, np.nan)
        found[places] = seen[others]
        return np.where(np.isnan(found), centres.mean(axis=0), found).ravel()

    return World(
        make=made,
        truth=centres.ravel(),
        plain=plain,
        measure="median, over releases, of the root mean squared distance of centres from the population's",
        read=matched,
        gap=lambda errors, _truth: np.sqrt((errors**2).sum(axis=1) / k),
        runs=RUNS_OF_MODELS,
    )


def fit(about: About) -> World:
    """Any estimator, on made-up rows; its value on very many of them stands for the population's."""
    estimator = about.take("estimator", None)
    if estimator is None:
        raise BadInput("no estimator is given; forecast('fit', estimator=..., rows=..., epsilon=...) needs one")
    columns = about.whole("columns", 1, 1, 1000)
    entries = AssumedColumn.of(about)
    outcome = about.take("outcome", _outcome(estimator))
    if outcome not in (None, "linear", "logistic", "poisson"):
        raise BadInput(f"outcome is {outcome!r}; give None, 'linear', 'logistic' or 'poisson'")
    wide = columns > 1 or outcome is not None
    about.say(f"{columns} independent columns" if wide else "one column")
    asked = {name: about.given.get(name) for name in ("attributes", "options")}
    base = adapted(estimator, **asked)
    model = regression(About("linear_regression", {"columns": columns}), outcome) if outcome else None

    def made(g: Generator, n: int) -> tuple[Any, ...]:
        if model is None:
            return estimator, entries.draw(g, n * columns).reshape(n, columns) if wide else entries.draw(g, n)
        return estimator, *model.make(g, n)

    def plain(_estimator: Any, x: Any, y: Any = None) -> Floats:
        return flat(base.answer(x, y))

    truth = about.take("truth", None)
    if truth is None:
        from discreet.noise import distributions as simulated

        found = plain(*made(simulated.stream(1), LARGE))
    else:
        found = flat(truth)
    one = len(found) == 1
    return World(make=made, truth=found, plain=plain, measure=ONE if one else MANY, parts=one, runs=24, most=BLOCKS)


def _outcome(estimator: Any) -> str | None:
    """What an estimator is told besides rows: nothing, numbers, or yes and no."""
    if hasattr(estimator, "predict_proba"):
        return "logistic"
    if hasattr(estimator, "fit") and hasattr(estimator, "get_params"):
        needs = inspect.signature(estimator.fit).parameters.get("y")
        return "linear" if needs is not None and needs.default is inspect.Parameter.empty else None
    if callable(estimator) and not inspect.isclass(estimator):
        positional = [
            one
            for one in inspect.signature(estimator).parameters.values()
            if one.default is inspect.Parameter.empty and one.kind is not inspect.Parameter.KEYWORD_ONLY
        ]
        return "linear" if len(positional) == 2 else None
    return "linear" if inspect.isclass(estimator) else None
