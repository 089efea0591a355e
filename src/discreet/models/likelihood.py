"""Parameters on scales without ends: there estimates are nearer to normal, and no interval leaves their range.

Private maximum likelihood for any parametric distribution: fitted on blocks of people, the estimates combined.

Releases
    What the aggregator releases of the blocks' estimates ([aggregate.1]), and from it the parameters.
Promise
    [likelihood.1] As private as SubsampleAggregate with the same aggregator: epsilon and delta under REPLACE and
          ADD_OR_REMOVE, for all rows of a person if `unit` tells whose they are.
    [likelihood.2] Intervals are for the population's parameters: to first order, if the bias left in blocks is small.
          They never leave a parameter's range.
Why
    [likelihood.1] Each block's row is the maximum of its own likelihood: a function of the block alone, whether found
    by scipy ([run_block.1], [run_block.2]) or for all blocks at once ([likelihood_kernels.1]). The rest post-processes.
    [likelihood.2] Within a block the estimate is m-consistent and asymptotically normal with the inverse information
    over m as its variance: so the mean over blocks is as efficient as the maximum on all rows, up to the bias, which
    the jackknife (or halves) takes down to order 1 / m^2, and the noise. Positive parameters are averaged as
    logarithms, bounded ones as log odds: nearer to normal on blocks of that size; the interval's ends are mapped back,
    monotonely.
Needs
    A distribution that the data follow. Blocks enough for the aggregator and records enough in a block:
    subsample/block_plan.py refuses otherwise. A block with a missing or impossible record (a negative one under a gamma
    distribution) has no estimate.
Accuracy
    docs/measured-families.md: coverage and width for gamma and Weibull distributions at n = 20,000 and epsilon = 1.
Source
    Smith 2011 (subsample and aggregate attains the efficiency of maximum likelihood); Quenouille 1956 (jackknife).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

import numpy as np

from discreet._compiled.likelihood_kernels import FAST, LARGEST_JACKKNIFE, FastLikelihood
from discreet.errors import BadInput
from discreet.privacy.exact import Number, is_number
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.intervals import Interval, Spread
from discreet.privacy.loss import Loss
from discreet.privacy.mechanism import Randomness
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.release import Release
from discreet.privacy.values import Distribution
from discreet.subsample.aggregate import Engine, SubsampleAggregate
from discreet.subsample.block_plan import ROWS_A_NUMBER, BlockPlan
from discreet.subsample.block_table import BlockTable
from discreet.subsample.counted_people import CountedPeople
from discreet.subsample.fit_request import planned
from discreet.subsample.partition import units

FARTHEST: Final = 700.0  # beyond it exponentials overflow


@dataclass(frozen=True, slots=True)
class Scale:
    """The range of a parameter, and the way to the whole line and back: logarithms for a half-line, log odds between.

    >>> Scale(0.0, math.inf).there(1.0), Scale(0.0, 1.0).back(0.0)
    (0.0, 0.5)
    """

    low: float = -math.inf
    high: float = math.inf

    def there(self, value: float) -> float:
        """The parameter on the whole line."""
        match math.isfinite(self.low), math.isfinite(self.high):
            case (True, True):
                return math.log((value - self.low) / (self.high - value))
            case (True, False):
                return math.log(value - self.low)
            case (False, True):
                return -math.log(self.high - value)
        return value

    def back(self, place: float) -> float:
        """And back."""
        cut = min(max(place, -FARTHEST), FARTHEST)
        match math.isfinite(self.low), math.isfinite(self.high):
            case (True, True):
                share = 1 / (1 + math.exp(-cut))
                return self.low + (self.high - self.low) * share
            case (True, False):
                return self.low + math.exp(cut)
            case (False, True):
                return self.high - math.exp(-cut)
        return place

    def slope(self, place: float) -> float:
        """How fast the parameter grows there."""
        step = 1e-5
        return (self.back(place + step) - self.back(place - step)) / (2 * step)


SMALLEST: Final = {"jackknife": 25}  # records in a block: what a correction leaves of the bias grows fast below
HALVES: Final = 50  # the same for halves, and for none
ALIASES: Final = {
    "weibull": "weibull_min",
    "exponential": "expon",
    "normal": "norm",
    "gaussian": "norm",
    "lognormal": "lognorm",
    "student": "t",
}


@dataclass(frozen=True, slots=True)
class ScipyDistribution:
    """A scipy.stats distribution with some of its parameters fixed."""

    dist: Any
    fixed: Mapping[str, float]
    scales: Mapping[str, Scale]

    @property
    def name(self) -> str:
        """scipy's."""
        return str(self.dist.name)

    def maximum(self, x: Any) -> list[float]:
        """scipy's own fit."""
        every = parameters_of(self.dist)
        found = self.dist.fit(np.asarray(x, dtype=np.float64), **{f"f{name}": at for name, at in self.fixed.items()})
        by_name = dict(zip(every, found, strict=True))
        return [float(by_name[name]) for name in self.scales]

    def made(self, *free: float) -> Any:
        """The distribution, frozen."""
        return self.dist(**(dict(self.fixed) | dict(zip(self.scales, free, strict=True))))

    def fast(self) -> FastLikelihood | None:
        """All blocks at once, for some distributions in their usual place."""
        usual = {"gamma": {"loc": 0.0}, "expon": {"loc": 0.0}, "lognorm": {"loc": 0.0}, "weibull_min": {"loc": 0.0}}
        usual |= {"norm": {}, "beta": {"loc": 0.0, "scale": 1.0}}
        distribution = FAST.get((self.name, tuple(self.scales)))
        return (
            FastLikelihood(distribution, len(self.scales))
            if distribution and dict(self.fixed) == usual[self.name]
            else None
        )


@dataclass(frozen=True, slots=True)
class DensityDistribution:
    """A logarithm of a density by its own function of the data and the parameters."""

    density: Callable[..., Any]
    start: tuple[float, ...]
    scales: Mapping[str, Scale]

    @property
    def name(self) -> str:
        """The function's."""
        return str(getattr(self.density, "__name__", type(self.density).__name__))

    def maximum(self, x: Any) -> list[float]:
        """From the public start, on scales without ends; what does not converge raises."""
        from scipy.optimize import minimize

        scales = list(self.scales.values())

        def loss(places: Any) -> float:
            free = [scale.back(float(place)) for scale, place in zip(scales, places, strict=True)]
            value = -float(np.mean(self.density(x, *free)))
            return value if np.isfinite(value) else 1e300

        first = np.array([scale.there(at) for scale, at in zip(scales, self.start, strict=True)])
        found = minimize(loss, first, method="BFGS", options={"gtol": 1e-6})
        if not found.success:  # a density with corners, say
            found = minimize(loss, found.x, method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-10})
        if not found.success or found.fun >= 1e299:
            raise ArithmeticError("not converged")
        return [scale.back(float(place)) for scale, place in zip(scales, found.x, strict=True)]

    def made(self, *_: float) -> Any:
        """There is none."""
        raise BadInput("a density of your own has no scipy distribution; use its parameters, for example dict(value)")

    def fast(self) -> None:
        """There is none."""


@dataclass(frozen=True, slots=True)
class LikelihoodFit:
    """The adapter to blocks: the parameters of a block on scales without ends. [likelihood.1]"""

    distribution: ScipyDistribution | DensityDistribution
    unbiased: bool = False

    @property
    def name(self) -> str:
        """The distribution's."""
        return f"{self.distribution.name} likelihood"

    def answer(self, x: Any, y: Any = None) -> dict[str, float]:  # noqa: ARG002
        """The maximum of the likelihood; raises whatever it likes."""
        found = self.distribution.maximum(x)
        return {
            name: scale.there(at) for (name, scale), at in zip(self.distribution.scales.items(), found, strict=True)
        }

    def fast(self, x: Any, y: Any, correct: object) -> FastLikelihood | None:  # noqa: ARG002
        """The fast path, by the distribution and the declared type of the column."""
        numeric = isinstance(x, np.ndarray) and x.ndim == 1 and x.dtype.kind in "biuf"
        return self.distribution.fast() if numeric and correct != "firth" else None  # [likelihood.1]


@dataclass(frozen=True, slots=True)
class MaximumLikelihood:
    """A distribution fitted by `inner`, on scales without ends; the answer is on the parameters' own."""

    distribution: ScipyDistribution | DensityDistribution
    inner: SubsampleAggregate | CountedPeople

    @property
    def guarantee(self) -> Guarantee:
        """The blocks'. [likelihood.1]"""
        return self.inner.guarantee

    @property
    def loss(self) -> Loss:
        """The blocks'. [likelihood.1]"""
        return self.inner.loss

    def plan(self, rows: Any) -> BlockPlan | str:
        """What will be done with a table of this schema and public size."""
        return self.inner.plan(rows)

    def check(self, size: int | None) -> None:
        """Refused, by public numbers, where the blocks are."""
        self.inner.check(size)

    def release(self, rows: Any, rng: Randomness) -> Release[Distribution]:
        """The parameters and their intervals, or a refusal."""
        found = self.inner.release(rows, rng)  # [likelihood.1]
        note = f"the interval rests on the {self.distribution.name} distribution"
        provenance = replace(found.provenance, mechanism="MaximumLikelihood", notes=(note, *found.provenance.notes))
        if found.refusal is not None:
            return replace(found, provenance=provenance)
        value = self._fitted(found.value)
        spread = (
            None
            if found.spread is None
            else LikelihoodSpread(found.value, found.spread, self._fitted, self.distribution)
        )
        return replace(found, answer=value, spread=spread, provenance=provenance)

    def _fitted(self, places: Mapping[str, float]) -> Distribution:
        free = {name: scale.back(places[name]) for name, scale in self.distribution.scales.items()}
        return Distribution(self.distribution.name, free, self.distribution.made)


@dataclass(frozen=True, slots=True)
class LikelihoodSpread:
    """The blocks' error bars on the parameters' own scales."""

    places: Mapping[str, float]
    inner: Spread
    fitted: Callable[[Mapping[str, float]], Distribution] = field(repr=False)
    distribution: Any = field(repr=False)

    def _sizes(self, sizes: Any) -> dict[str, float] | None:
        if sizes is None:
            return None
        return {name: scale.slope(self.places[name]) * sizes[name] for name, scale in self.distribution.scales.items()}

    @property
    def sampling(self) -> dict[str, float] | None:
        """Standard deviations from sampling."""
        return self._sizes(self.inner.sampling)

    @property
    def privacy(self) -> dict[str, float] | None:
        """Standard deviations from the noise."""
        return self._sizes(self.inner.privacy)

    def interval(self, confidence: float) -> Interval:
        """Both ends, mapped back. [likelihood.2]"""
        inner = self.inner.interval(confidence)
        about = "the population's parameters, each by itself" if len(self.places) > 1 else "the population's parameter"
        return replace(inner, low=self.fitted(inner.low), high=self.fitted(inner.high), about=about)


def parameters_of(dist: Any) -> list[str]:
    """scipy's names, in its order."""
    shapes = [name.strip() for name in (dist.shapes or "").split(",") if name.strip()]
    return [*shapes, "loc", "scale"]


def scipy_distribution(model: Any, fixed: Mapping[str, float] | None) -> ScipyDistribution:
    """A distribution by name or itself. Unless said, the place of one that begins at 0 is fixed there."""
    from scipy import stats

    dist = getattr(stats, ALIASES.get(model.lower(), model), None) if isinstance(model, str) else model
    if not isinstance(dist, stats.rv_continuous):
        raise BadInput(
            f"model is {model!r}; give a continuous distribution of scipy.stats or its name, for example 'gamma', or a "
            "function logpdf(x, *parameters) with names= and start="
        )
    every = parameters_of(dist)
    if fixed is None:
        ends = {"loc": 0.0} if np.isfinite(dist.a) else {}
        fixed = ends | ({"scale": 1.0} if ends and np.isfinite(dist.b) else {})
    if not isinstance(fixed, Mapping):
        raise BadInput(f"fixed is {fixed!r}; give a dict of numbers for some of {', '.join(every)}")
    unknown = [name for name in fixed if name not in every]
    if unknown or not all(is_number(value) for value in fixed.values()):
        raise BadInput(f"fixed is {dict(fixed)!r}; give numbers for some of {', '.join(every)}")
    domains = {one.name: one.domain for one in dist._shape_info()}  # noqa: SLF001  scipy has no other
    ranges = {name: Scale(float(low), float(high)) for name, (low, high) in domains.items()} | {"loc": Scale()}
    ranges["scale"] = Scale(0.0)
    for name, value in fixed.items():
        if not ranges[name].low <= value <= ranges[name].high or (name == "scale" and value == 0):
            raise BadInput(f"fixed {name} is {value!r}; give one within ({ranges[name].low}, {ranges[name].high})")
    free = {name: ranges[name] for name in every if name not in fixed}
    if not free:
        raise BadInput(f"all parameters of {dist.name} are fixed; nothing is left to fit")
    return ScipyDistribution(dist, {name: float(value) for name, value in fixed.items()}, free)


def density_distribution(density: Any, names: Any, start: Any, bounds: Any) -> DensityDistribution:
    """A function with declared parameters."""
    called = [names] if isinstance(names, str) else list(names or ())
    first = [start] if is_number(start) else list(start if start is not None else ())
    ends = list(bounds) if bounds is not None else [(None, None)] * len(called)
    sound = all(is_number(at) for at in first) and all(_is_pair(pair) for pair in ends)
    if not called or len(set(called)) < len(called) or not len(first) == len(ends) == len(called) or not sound:
        raise BadInput(
            f"names are {names!r}, start is {start!r}, bounds are {bounds!r}; a density of your own needs different "
            "names=, a public start= and, if its parameters have ends, bounds=, one for each: (0, None) for a "
            "positive one"
        )
    scales = {}
    for name, at, pair in zip(called, first, ends, strict=True):
        low, high = (given if given is not None else far for given, far in zip(pair, (-np.inf, np.inf), strict=True))
        if not low < float(at) < high:
            raise BadInput(f"start of {name!r} is {at!r}, which is not within ({low}, {high}); give one that is")
        scales[str(name)] = Scale(float(low), float(high))
    return DensityDistribution(density, tuple(float(at) for at in first), scales)


def _is_pair(pair: Any) -> bool:
    """Whether these are two ends, each a number or None."""
    ends = tuple(pair) if isinstance(pair, Sequence) and not isinstance(pair, str) else ()
    return len(ends) == 2 and all(end is None or is_number(end) or end in (-np.inf, np.inf) for end in ends)


def plan_likelihood(
    model: Any,
    table: BlockTable,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    fixed: Mapping[str, float] | None = None,
    names: Sequence[str] | None = None,
    start: Any = None,
    bounds: Any = None,
    blocks: int | Literal["auto"] = "auto",
    aggregator: Any = "auto",
    correct: str | None = "auto",
    engine: Engine | None = None,
    seconds: float | None = None,
    neighbours: Neighbours = Neighbours.REPLACE,
    unit: str = "row",
) -> MaximumLikelihood:
    """The mechanism for a distribution and a table of this schema and public size."""
    distribution: ScipyDistribution | DensityDistribution
    if callable(model) and not hasattr(model, "logpdf"):
        if fixed is not None:
            raise BadInput("fixed= is for scipy's distributions; fix a parameter inside your own function")
        distribution = density_distribution(model, names, start, bounds)
    else:
        if names is not None or start is not None or bounds is not None:
            raise BadInput("names=, start= and bounds= are for a density of your own; scipy's distributions need none")
        distribution = scipy_distribution(model, fixed)
    fit = LikelihoodFit(distribution)
    quick = fit.fast(table.x, None, None)
    rowwise = (
        correct == "auto" and quick is not None and quick.distribution.rowwise
    )  # a jackknife that is slow in large blocks
    asked = correct
    if correct == "auto":  # leaving out rows is leaving out people only where a row is a person
        quickly = quick is not None and table.people is None and not (rowwise and not neighbours.size_is_public)
        asked = "jackknife" if quickly else "half"
    if asked == "jackknife" and table.people is not None:
        quick = None
    inner = planned(
        fit,
        table,
        epsilon=epsilon,
        delta=delta,
        blocks=blocks,
        aggregator=aggregator,
        engine=engine,
        names=list(distribution.scales),
        correct=asked,
        unbiased=False,
        smallest=max(SMALLEST.get(str(asked), HALVES), ROWS_A_NUMBER * len(distribution.scales)),
        trust="own",
        seconds=seconds,
        vectorised=quick is not None,
        neighbours=neighbours,
        unit=unit,
    )
    size = units(table, neighbours)
    if (
        rowwise
        and isinstance(inner, SubsampleAggregate)
        and size is not None
        and size // inner.blocks > LARGEST_JACKKNIFE
    ):
        inner = replace(inner, correct="half")
    return MaximumLikelihood(distribution, inner)
