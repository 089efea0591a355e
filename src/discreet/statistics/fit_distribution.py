"""Distributions fitted to data: of a known family by its name, and normal ones of one column or several."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, Literal

import numpy as np

from discreet.errors import BadInput
from discreet.privacy.declaration import Columns, Public, Reads, boolean, category, number, statistic
from discreet.privacy.exact import Number
from discreet.privacy.guarantee import check_budget
from discreet.privacy.mechanism import Mechanism, Wrapped
from discreet.privacy.release import Release
from discreet.privacy.values import Distribution
from discreet.stages.normal_laplace import RootSpread, gaussian
from discreet.statistics.family import FAMILIES, GAUSSIAN, Family
from discreet.statistics.histogram import Categories
from discreet.statistics.multivariate_gaussian import MultivariateGaussian
from discreet.statistics.shares import BinomialFit, MultinomialFit, shares_world
from discreet.statistics.sufficient import FamilySpread, SufficientStatistics, at_once
from discreet.tables.entries import long_numbers
from discreet.tables.streams import each
from discreet.worlds.assumptions import MANY, NO_FLOOR, About, World
from discreet.worlds.floors import BOUND, RATES, least_error, shares
from discreet.worlds.shapes import AssumedTable

NAMES = ("bernoulli", "binomial", "multinomial", "gaussian", "lognormal", *FAMILIES)
ALSO = {"normal": "gaussian", "categorical": "multinomial", "log-normal": "lognormal"}


def _kind(family: Any) -> Any:
    lower = family.lower() if isinstance(family, str) else family
    return ALSO.get(lower, lower) if isinstance(lower, str) else lower


def _reads(options: Mapping[str, Any]) -> Reads:
    kind = _kind(options.get("family"))
    if kind == "multinomial":
        return category(streams=True)
    return boolean(streams=True) if kind == "bernoulli" else number(streams=True)


def lognormal(mu: float, sigma: float) -> Any:
    """Whose logarithms have mean mu and standard deviation sigma."""
    from scipy import stats

    return stats.lognorm(max(sigma, 1e-300), scale=math.exp(min(max(mu, -700.0), 700.0)))


def logarithms(rows: Any) -> Any:
    """Of each entry by itself; one that is not above 0 is as far down as there is."""
    return each(_logarithms, long_numbers(rows))


def _logarithms(values: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.where(values > 0, np.log(np.maximum(values, 5e-324)), np.where(np.isnan(values), np.nan, -np.inf))


def of_logarithms(release: Release[Distribution]) -> Release[Distribution]:
    """The lognormal distribution whose logarithms have the normal one that was fitted: post-processing."""
    notes = tuple(note.replace("gaussian", "lognormal") for note in release.provenance.notes)
    refusal = release.refusal and release.refusal.replace("gaussian", "lognormal")
    history = replace(release.provenance, notes=notes)
    blank = replace(release, provenance=history, refusal=refusal, name="lognormal distribution")
    if not isinstance(release.spread, FamilySpread):
        return blank
    mean, variance = release.spread.parts
    sigma = math.sqrt(max(release.value["variance"], 0.0))
    answer = Distribution("lognormal", {"mu": release.value["mean"], "sigma": sigma}, lognormal)
    target = release.spread.target.replace("values", "logarithms")
    spread = FamilySpread(answer, (mean, RootSpread(variance, sigma)), target)
    return replace(blank, answer=answer, spread=spread)


USUAL: Final[Mapping[str, Mapping[str, float]]] = {
    "poisson": {"rate": 3.0},
    "exponential": {"rate": 1.0},
    "gamma": {"shape": 2.0, "scale": 1.0},
    "beta": {"a": 2.0, "b": 5.0},
    "gaussian": {"mean": 0.0, "variance": 1.0},
    "lognormal": {"mu": 0.0, "sigma": 1.0},
}


def _world(about: About) -> World:
    family = about.given.get("family")
    kind = _kind(family)
    if kind in ("bernoulli", "binomial"):
        return _binomial_world(about)
    if kind == "multinomial":
        inner = shares_world(about, about.given.get("categories") or ())
        return World(make=inner.make, truth=inner.truth, plain=inner.plain, measure=MANY, runs=24)
    own = isinstance(kind, Family)
    if not own and kind not in USUAL:
        raise BadInput(f"family is {family!r}; give family='gamma', say, or a discreet.Family with parameters=")
    values = about.parameters(kind.name if own else kind, None if own else USUAL[kind])
    ours = {"gaussian": gaussian, "lognormal": lognormal}
    chosen = (kind.distribution if own else ours[kind] if kind in ours else FAMILIES[kind].distribution)(
        *values.values()
    )
    once = {"poisson": math.sqrt(values.get("rate", 0)), "exponential": values.get("rate", 0)}.get("" if own else kind)
    return World(
        make=lambda g, n: {"x": chosen.rvs(size=n, random_state=g)},
        truth=list(values.values()),
        plain=lambda x: _fitted("" if own else kind, x, values),
        measure=MANY,
        sampling=None if once is None else lambda n: once / math.sqrt(n),
        runs=32,
    )


def _fitted(kind: str, x: Any, truth: Mapping[str, float]) -> Any:
    """Maximum likelihood without privacy; a family of one's own is taken at its truth, its sampling is not known."""
    from scipy import stats

    match kind:
        case "poisson":
            return x.mean()
        case "exponential":
            return 1 / x.mean()
        case "gaussian":
            return [x.mean(), x.var()]
        case "lognormal":
            return [np.log(x).mean(), np.log(x).std()]
        case "gamma":
            return stats.gamma.fit(x, floc=0)[::2]
        case "beta":
            return stats.beta.fit(x, floc=0, fscale=1)[:2]
    return list(truth.values())


def _binomial_world(about: About) -> World:
    trials, share = about.given.get("trials") or 1, about.number("share", 0.5, 0.0, 1.0)
    about.say(f"the population's share is {share:g}")
    return World(
        make=lambda g, n: {"x": g.binomial(trials, share, n)},
        truth=share,
        plain=lambda x: x.mean() / trials,
        sampling=lambda n: math.sqrt(share * (1 - share) / (n * trials)),
        runs=100,
        floor=(lambda n, limit: least_error(n, 0.5, shares(n, share), limit, 0.5)) if trials == 1 else None,
        floor_note=BOUND if trials == 1 else NO_FLOOR,
    )


@statistic({"x": _reads}, world=_world)
def fit_distribution(
    people: Public,
    family: str | Family,
    x: Columns,
    *,
    epsilon: Number,
    trials: int | None = None,
    categories: Any = None,
) -> Mechanism[Distribution]:
    """The distribution of a known family that fits best, with an interval for each of its parameters. Pure.

    Its parameters are those that maximum likelihood would find in the whole population, whether or not that has a
    distribution of the family. There are no bounds to give: far values are limited, and the answer says where.

    `family` is "bernoulli" (p), "binomial" (p; `trials` of each record), "multinomial" (probabilities; the public
    `categories`), "poisson" (rate), "exponential" (rate), "gamma" (shape, scale), "beta" (a, b), "gaussian" (mean,
    variance), "lognormal" (mu, sigma: mean and standard deviation of the logarithms; entries that are not above 0 are
    limited to the least), or a `discreet.Family` of your own. `value` has the parameters by name, and
    `value.distribution()` is a scipy.stats distribution.

    >>> import discreet
    >>> r = discreet.fit_distribution("poisson", [k % 5 for k in range(4000)], epsilon=1.0, rng=discreet.Seeded(1))
    >>> 1.8 < r.value.rate < 2.3
    True
    """
    kind = _kind(family)
    if not isinstance(kind, Family) and not (isinstance(kind, str) and kind in NAMES):
        seen = repr(family) if isinstance(family, str) else f"of type {type(family).__name__}"  # it may be the data
        raise BadInput(f"family is {seen}; give one of {', '.join(NAMES)}, or a discreet.Family of your own")
    if (trials is not None) != (kind == "binomial"):
        raise BadInput(f"trials is {trials!r}; it is needed for 'binomial', for example trials=10, and for no other")
    if (categories is not None) != (kind == "multinomial"):
        raise BadInput("categories are needed for 'multinomial', for example categories=['yes', 'no'], and no other")
    check_budget(epsilon, 0, people.size)
    terms: dict[str, Any] = {"neighbours": people.neighbours, "unit": people.unit}
    match kind:
        case "gaussian":
            return SufficientStatistics(GAUSSIAN, epsilon, size=people.size, **terms)
        case "lognormal":
            inner = SufficientStatistics(GAUSSIAN, epsilon, size=people.size, **terms)
            return Wrapped(inner, before=logarithms, after=of_logarithms)
        case "multinomial":
            return MultinomialFit(Categories.of(categories), epsilon, **terms)
        case "bernoulli" | "binomial":
            return BinomialFit(1 if trials is None else trials, epsilon, **terms)
        case _:
            one = kind if isinstance(kind, Family) else FAMILIES[kind]
            return SufficientStatistics(one, epsilon, size=people.size, **terms)


def _several(_: Mapping[str, Any], columns: Mapping[str, Columns | None]) -> bool:
    about = columns.get("x")
    return about is not None and about.several


def _normal_world(about: About) -> World:
    several = "columns" in about.given
    table = AssumedTable.of(about, columns=2 if several else 1, shaped=False)
    place, scale, d = table.entries.location, table.entries.scale, table.columns

    def gap(errors: Any, _truth: Any) -> Any:
        """For small errors by Pinsker's bound; of one column summed."""
        if not several:
            return between_normals(errors[:, 0], scale**2 + errors[:, 1], scale**2)
        shift, matrix = errors[:, :d] / scale, errors[:, d:] / scale**2
        return np.minimum(np.sqrt((shift**2).sum(axis=1) + (matrix**2).sum(axis=1) / 2) / 2, 1.0)

    def numbers(value: Any) -> Any:
        return np.concatenate([np.ravel(value.mean), np.ravel(value.covariance if several else value.variance)])

    return World(
        make=lambda g, n: {"x": table.draw(g, n) if several else table.draw(g, n)[:, 0]},
        truth=np.concatenate([np.full(d, place), (np.eye(d) * scale**2).ravel()]),
        plain=lambda x: np.append(x.mean(axis=0), np.cov(x, rowvar=False, ddof=0)),
        measure="median distance in total variation from the population's distribution"
        + (", by Pinsker's bound for small errors" if several else ""),
        read=numbers,
        gap=gap,
        width=lambda spread, confidence: float(spread.total_variation(confidence)),
        floor_note=RATES["covariance"] if several else NO_FLOOR,
    )


def between_normals(shift: Any, variance: Any, against: float) -> Any:
    """The total variation between N(shift, variance) and N(0, against), summed on a grid."""
    places = np.linspace(-8, 8, 401) * math.sqrt(against)
    wide = np.sqrt(np.maximum(variance, 1e-12 * against))[:, None]
    here = np.exp(-(((places - shift[:, None]) / wide) ** 2) / 2) / wide
    there = np.exp(-(places**2) / against / 2) / math.sqrt(against)
    found = np.abs(here - there).sum(axis=1) * (places[1] - places[0]) / math.sqrt(8 * math.pi)
    return np.minimum(found, 1.0)


def _column(options: Mapping[str, Any]) -> Reads:
    return number("either", streams=not isinstance(options.get("x"), list | tuple))  # several are sampled


@statistic({"x": _column}, wants_delta=_several, world=_normal_world)
def fit_normal(
    people: Public,
    x: Columns,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    bounds: tuple[float, float] | None = None,
    model: Literal["gaussian"] | None = None,
) -> Mechanism[Any]:
    """The normal distribution that fits best: `.mean` and `.variance`, with intervals for both. No bounds needed.

    The intervals hold the mean and the variance of a population of any shape, far values limited where the answer says.
    Of one column it is pure, whatever delta is allowed, and `bounds` are a public range of its median. Of the rows of
    an array, a data frame or an Arrow table it has `.covariance` and needs delta > 0; model="gaussian" is tighter for
    normal rows there, and takes rows far from the others for errors.

    >>> import discreet
    >>> r = discreet.fit_normal([float(k % 80) for k in range(4000)], epsilon=1.0, rng=discreet.Seeded(1))
    >>> 30 < r.value.mean < 50
    True
    """
    terms: dict[str, Any] = {"neighbours": people.neighbours, "unit": people.unit, "size": people.size}
    if not x.several:
        if model is not None:
            raise BadInput(f"model is {model!r}; that is for several columns, leave it out for one")
        return Wrapped(SufficientStatistics(GAUSSIAN, epsilon, bounds=bounds, **terms), after=at_once)
    if bounds is not None:
        raise BadInput(f"bounds are {bounds!r}; those of rows with several columns are not used, leave them out")
    return MultivariateGaussian(epsilon, delta, model=model, dimension=len(x.names), names=x.names, **terms)
