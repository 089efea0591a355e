"""Made-up worlds of one column: means, variances, quantiles, normal laws, densities, families."""

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from discreet.errors import BadInput
from discreet.forecast.assumptions import About, Floats, Generator, World, flat
from discreet.forecast.floors import (
    BOUND,
    Told,
    law_places,
    least_error,
    normal_means,
    normal_scales,
    shares,
    shifted,
)
from discreet.forecast.shapes import AssumedColumn
from discreet.privacy.exact import is_number
from discreet.statistics.family import FAMILIES, Family

GRID: Final = 2001  # places at which densities are compared
PARAMETERS: Final[Mapping[str, Mapping[str, float]]] = {
    "poisson": {"rate": 3.0},
    "exponential": {"rate": 1.0},
    "gamma": {"shape": 2.0, "scale": 1.0},
    "beta": {"a": 2.0, "b": 5.0},
    "gaussian": {"mean": 0.0, "variance": 1.0},
}
ONE: Final = "median absolute error, against the population's value"
MANY: Final = "median Euclidean length of the error, against the population's values"
VARIATION: Final = "median distance in total variation from the population's law"


def place_floor(entries: AssumedColumn, rows: int, limit: Told) -> float:
    """Under the error of whatever moves with the location."""
    if entries.shape == "normal":
        pair = normal_means(rows)
    else:
        law = entries.law
        pair = shifted(rows, law.pdf, law_places(law))
    return entries.scale * least_error(rows, 0.5, pair, limit, 20.0)


def mean(about: About) -> World:
    """The mean of a column."""
    entries = AssumedColumn.of(about)
    return World(
        lambda g, n: (entries.draw(g, n),),
        np.array([entries.location]),
        lambda x: np.array([x.mean()]),
        ONE,
        sampling=lambda n: entries.scale / math.sqrt(n),
        parts=True,
        skewed=entries.skewed,
        floor=lambda n, limit: place_floor(entries, n, limit),
        floor_note=BOUND,
    )


def variance(about: About, power: int = 2) -> World:
    """The variance of a column, or with power 1 its root."""
    entries = AssumedColumn.of(about)
    if entries.shape == "t3":
        raise BadInput("the variance of t3 has no error of its own (its fourth moment is infinite); take another shape")
    spread = math.sqrt(entries.tails - 1) * (1.0 if power == 2 else 0.5)
    return World(
        lambda g, n: (entries.draw(g, n),),
        np.array([entries.scale**power]),
        lambda x: np.array([x.std() ** power]),
        ONE,
        sampling=lambda n: entries.scale**power * spread / math.sqrt(n),
        parts=True,
        skewed=entries.skewed,
        floor=(
            lambda n, limit: least_error(n, 0.5, normal_scales(n, entries.scale, power), limit, entries.scale**power)
        )
        if entries.shape == "normal"
        else None,
        floor_note=BOUND if entries.shape == "normal" else "no floor is known for this shape",
    )


def quantile(about: About, share: Any) -> World:
    """One or several quantiles of a column."""
    shares = [float(q) for q in share] if isinstance(share, list | tuple | np.ndarray) else [share]
    if not all(is_number(q) and 0 < q < 1 for q in shares):
        raise BadInput(f"q is {share!r}; give a number between 0 and 1, or a list of them")
    entries, one = AssumedColumn.of(about), len(shares) == 1 and share is shares[0]
    return World(
        lambda g, n: (entries.draw(g, n), share),
        np.array([entries.quantile(q) for q in shares]),
        lambda x, _q: np.atleast_1d(np.quantile(x, shares)),
        ONE if one else MANY,
        sampling=(lambda n: math.sqrt(share * (1 - share) / n) / entries.height(share)) if one else None,
        parts=one,
        floor=(lambda n, limit: place_floor(entries, n, limit)) if one else None,
        floor_note=BOUND if one else "no floor is known for several at once",
    )


def gaussian(about: About) -> World:
    """A normal distribution of a column, by its mean and variance."""
    entries = AssumedColumn.of(about, shaped=False)

    def gap(errors: Floats, truth: Floats) -> Floats:
        return between_normals(errors[:, 0], truth[1] + errors[:, 1], truth[1])

    return World(
        lambda g, n: (entries.draw(g, n),),
        np.array([entries.location, entries.scale**2]),
        lambda x: np.array([x.mean(), x.var()]),
        VARIATION,
        read=lambda value: np.array([value.mean, value.variance]),
        gap=gap,
        width=lambda spread, confidence: float(spread.total_variation(confidence)),
    )


def between_normals(shift: Floats, variance: Floats, against: float) -> Floats:
    """The total variation between N(shift, variance) and N(0, against), summed on a grid."""
    places = np.linspace(-8, 8, 401) * math.sqrt(against)
    wide = np.sqrt(np.maximum(variance, 1e-12 * against))[:, None]
    here = np.exp(-(((places - shift[:, None]) / wide) ** 2) / 2) / wide
    there = np.exp(-(places**2) / against / 2) / math.sqrt(against)
    found: Floats = np.abs(here - there).sum(axis=1) * (places[1] - places[0]) / math.sqrt(8 * math.pi)
    return np.minimum(found, 1.0)


def density(about: About) -> World:
    """A density; without privacy a histogram by the rule of Freedman and Diaconis. Or shares of categories."""
    listed = about.given.get("categories")
    if listed is not None:
        return category_shares(about, listed)
    support = about.given.get("support")
    if isinstance(support, tuple | list) and len(support) == 2 and all(map(is_number, support)):
        about.given["bounds"] = tuple(support)  # for the assumptions only
    entries = AssumedColumn.of(about)
    about.given.pop("bounds", None)
    ends = (support[0], support[1]) if support is not None else (entries.quantile(1e-6), entries.quantile(1 - 1e-6))
    edges = np.linspace(float(ends[0]), float(ends[1]), GRID)
    middles, step = (edges[:-1] + edges[1:]) / 2, float(edges[1] - edges[0])
    truth = np.diff(entries.law.cdf((edges - entries.location) / entries.scale)) / step
    if support is not None:
        truth = truth / (truth.sum() * step)

    def made(g: Generator, n: int) -> tuple[Any, ...]:
        x = entries.draw(g, n)
        if support is None:
            return (x,)
        inside = (x >= ends[0]) & (x <= ends[1])
        return (x[inside][np.arange(n) % max(1, int(inside.sum()))],)

    def plain(x: Floats) -> Floats:
        low, high = np.quantile(x, [0.25, 0.75])
        count = max(1, math.ceil((x.max() - x.min()) / max(2 * (high - low) * len(x) ** (-1 / 3), 1e-300)))
        heights, places = np.histogram(x, min(count, 4 * GRID), density=True)
        found = np.searchsorted(places, middles, side="right") - 1
        return np.where((found >= 0) & (found < len(heights)), heights[np.clip(found, 0, len(heights) - 1)], 0.0)

    return World(
        made,
        truth,
        plain,
        "median distance in total variation from the population's density",
        read=lambda curve: np.asarray(curve(middles)) if callable(curve) else np.asarray(curve),
        gap=lambda errors, _truth: np.abs(errors).sum(axis=1) * step / 2,
        sums=False,
        rate=1 / 3,
        runs=16,
        most=100_000,
    )


def category_shares(about: About, listed: Any) -> World:
    """Shares of categories that are listed, or found."""
    count = about.whole("bins", 10 if isinstance(listed, str) else len(list(listed)), 1, 1_000_000)
    names = [f"category {place}" for place in range(count)] if isinstance(listed, str) else list(listed)
    about.say(f"each of {count} categories is as likely")
    if isinstance(listed, str):
        order = {name: place for place, name in enumerate(names)}

    def read(value: Any) -> Floats:
        if not isinstance(listed, str):
            return flat(value.heights)
        found = np.zeros(count)
        for name, height in zip(value.bins, value.heights, strict=True):
            found[order[name]] = height
        return found

    return World(
        lambda g, n: (np.array(names, dtype=object)[g.integers(0, count, n)],),
        np.full(count, 1 / count),
        lambda x: np.array([np.mean(x == name) for name in names]),
        "median distance in total variation from the population's shares",
        read=read,
        gap=lambda errors, _truth: np.abs(errors).sum(axis=1) / 2,
        runs=24,
    )


def chosen_parameters(about: About, name: str, usual: Mapping[str, float] | None) -> dict[str, float]:
    """The population's parameters: as assumed, or the usual ones."""
    given = about.take("parameters", usual)
    if not isinstance(given, Mapping) or not given or not all(map(is_number, given.values())):
        raise BadInput(f"parameters of {name} are {given!r}; give them by name, parameters={{'shape': 2.0}} say")
    if usual is not None and set(given) != set(usual):
        raise BadInput(f"parameters are of {', '.join(given)}; {name} has {', '.join(usual)}")
    ordered = {key: float(given[key]) for key in (usual or given)}
    about.say(f"{name} has " + ", ".join(f"{key} {value:g}" for key, value in ordered.items()))
    return ordered


def family(about: About) -> World:
    """A distribution of a known family."""
    name = about.take("name", about.take("family", None))
    if isinstance(name, str) and name in ("bernoulli", "binomial"):
        return _binomial(about, name)
    if isinstance(name, str) and name in ("multinomial", "categorical"):
        inner = category_shares(about, about.given.get("categories") or ())
        return World(
            lambda g, n: (name, *inner.make(g, n)),
            inner.truth,
            lambda _name, x: inner.plain(x),
            MANY,
            runs=24,
        )
    known = {"normal": "gaussian"}.get(name, name) if isinstance(name, str) else name
    if not isinstance(known, Family) and known not in PARAMETERS:
        raise BadInput(f"family is {name!r}; give name='gamma', say, or a discreet.Family with parameters=")
    if isinstance(known, Family):
        values = chosen_parameters(about, known.name, None)
        law = known.distribution(*values.values())
    else:
        values = chosen_parameters(about, known, PARAMETERS[known])
        law = _gaussian(*values.values()) if known == "gaussian" else FAMILIES[known].distribution(*values.values())

    return World(
        lambda g, n: (name, law.rvs(size=n, random_state=g)),
        np.array(list(values.values())),
        lambda _name, x: _fitted(known, x, values),
        MANY,
        sampling=_SAMPLING[known](values["rate"]) if known in ("poisson", "exponential") else None,
        runs=32,
    )


_SAMPLING: Final[Mapping[str, Callable[[float], Callable[[int], float]]]] = {
    "poisson": lambda rate: lambda rows: math.sqrt(rate / rows),
    "exponential": lambda rate: lambda rows: rate / math.sqrt(rows),
}


def _gaussian(mean: float, variance: float) -> Any:
    from scipy import stats

    return stats.norm(mean, math.sqrt(variance))


def _fitted(known: Any, x: Floats, truth: Mapping[str, float]) -> Floats:
    """Maximum likelihood without privacy; a family of one's own is taken at its truth, its sampling is not known."""
    from scipy import stats

    match known:
        case "poisson":
            return np.array([x.mean()])
        case "exponential":
            return np.array([1 / x.mean()])
        case "gaussian":
            return np.array([x.mean(), x.var()])
        case "gamma":
            found = stats.gamma.fit(x, floc=0)
            return np.array([found[0], found[2]])
        case "beta":
            return np.array(stats.beta.fit(x, floc=0, fscale=1)[:2])
    return np.array(list(truth.values()))


def _binomial(about: About, name: str) -> World:
    trials = about.given.get("trials") or 1
    share = about.number("share", 0.5, 0.0, 1.0)
    about.say(f"the population's share is {share:g}")
    return World(
        lambda g, n: (name, g.binomial(trials, share, n)),
        np.array([share]),
        lambda _name, x: np.array([x.mean() / trials]),
        ONE,
        sampling=lambda n: math.sqrt(share * (1 - share) / (n * trials)),
        runs=100,
        floor=(lambda n, limit: least_error(n, 0.5, shares(n, share), limit, 0.5)) if trials == 1 else None,
        floor_note=BOUND,
    )


def likelihood(about: About) -> World:
    """Maximum likelihood of a law of scipy.stats by its name."""
    from discreet.models.likelihood import plan_likelihood  # noqa: F401  the verb checks the model itself

    model = about.take("model", "gamma")
    name = model if isinstance(model, str) else getattr(model, "name", None)
    law = _scipy_law(name)
    if law is None:
        raise BadInput(f"model is {model!r}; a forecast takes a continuous law of scipy.stats or its name, 'gamma' say")
    fixed = dict(about.given.get("fixed") or _usual_fixed(law))
    usual = dict.fromkeys((law.shapes or "").replace(",", " ").split(), 2.0) | {"loc": 0.0, "scale": 1.0}
    free = {one: value for one, value in usual.items() if one not in fixed}
    values = chosen_parameters(about, str(name), free)
    frozen = law(**values, **fixed)
    held = {f"f{one}": value for one, value in fixed.items()}
    places = [place for place, one in enumerate(usual) if one not in fixed]

    return World(
        lambda g, n: (model, frozen.rvs(size=n, random_state=g)),
        np.array(list(values.values())),
        lambda _model, x: np.array(law.fit(x, **held))[places],
        MANY,
        runs=40,
        most=200_000,
    )


def _scipy_law(name: Any) -> Any:
    from scipy import stats

    called = {"normal": "norm", "lognormal": "lognorm", "weibull": "weibull_min", "exponential": "expon"}
    found = getattr(stats, called.get(name, name), None) if isinstance(name, str) else None
    return found if isinstance(found, stats.rv_continuous) else None


def _usual_fixed(law: Any) -> dict[str, float]:
    """As the verb has it: loc=0 on a half-line, and scale=1 too on an interval."""
    bounded = math.isfinite(law.a), math.isfinite(law.b)
    return {"loc": 0.0, "scale": 1.0} if all(bounded) else {"loc": 0.0} if any(bounded) else {}
