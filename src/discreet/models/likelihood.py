"""Private maximum likelihood for any parametric distribution: fitted on blocks of people, the estimates combined.

Releases
    What the aggregator releases of the blocks' estimates ([aggregate.1]), and from it the parameters.
Promise
    [likelihood.1] As private as SubsampleAggregate with the same aggregator: epsilon and delta under REPLACE and
          ADD_OR_REMOVE, for all rows of a person if `unit` tells whose they are.
    [likelihood.2] Intervals are for the parameters that maximum likelihood would find in the whole population, whether
          or not it has the distribution: to first order, if the bias left in blocks is small. They never leave a
          parameter's range.
Why
    [likelihood.1] Each block's row is the maximum of its own likelihood: a function of the block alone, whether found
    by scipy ([run_block.1], [run_block.2]) or for all blocks at once ([likelihood_kernels.1]). The rest post-processes.
    [likelihood.2] Within a block the estimate is asymptotically normal about the best fit to the population (White
    1982), with a variance that the blocks show; under the model it is the inverse information over m. So the mean over
    blocks is as efficient as the maximum on all rows, up to the bias, which the jackknife (or halves) takes down to
    order 1 / m^2, and the noise. Positive parameters are averaged as logarithms, bounded ones as log odds: nearer to
    normal on blocks of that size; the interval's ends are mapped back, monotonely. One parameter with the jackknife is
    fitted on n^(3/4) / 6 blocks: the noise, of order 1 / (n^(3/4) epsilon) times the deviation n^(-1/8) of a block's
    estimate, vanishes beside the sampling error, so that the width over that of maximum likelihood falls to 1.
Needs
    Blocks enough for the aggregator and records enough in a block: subsample/block_plan.py refuses otherwise. A block
    with a missing or impossible record (a negative one under a gamma distribution) has no estimate.
Accuracy
    docs/benchmarks.md: coverage and width for gamma and Weibull distributions at n = 20,000 and epsilon = 1, and
    for exponential ones as n grows.
Source
    Smith 2011 (subsample and aggregate attains the efficiency of maximum likelihood); Quenouille 1956 (jackknife).
"""

import logging
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

import numpy as np

from discreet._compiled.likelihood_kernels import LARGEST_JACKKNIFE, FastLikelihood
from discreet.engines.local import Local
from discreet.errors import BadInput
from discreet.models.parametric import OwnDensity, ScipyDistribution, own_density, scipy_distribution
from discreet.privacy.declaration import Columns, Public, number, statistic
from discreet.privacy.exact import Number
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.intervals import Interval, Spread
from discreet.privacy.loss import Loss
from discreet.privacy.mechanism import Mechanism, Randomness, Wrapped, check
from discreet.privacy.release import Release
from discreet.privacy.values import Distribution
from discreet.statistics.family import FAMILIES, GAUSSIAN, Family
from discreet.statistics.sufficient import SufficientStatistics
from discreet.subsample.aggregate import SubsampleAggregate
from discreet.subsample.block_plan import ROWS_A_NUMBER
from discreet.subsample.block_table import BlockTable, table_of
from discreet.subsample.counted_people import CountedPeople
from discreet.subsample.estimators import Fit
from discreet.subsample.fit_request import Instead, Whole, planned
from discreet.subsample.partition import units
from discreet.subsample.returned import Shape
from discreet.tables.streams import Engine
from discreet.worlds.assumptions import MANY, About, World

SMALLEST: Final = {"jackknife": 25}  # records in a block: what a correction leaves of the bias grows fast below
Turn = tuple[str, Callable[[float], float]]  # a parameter of a family, and what it is here
SUMS: Final[dict[str, tuple[Family, dict[str, float], dict[str, Turn]]]] = {  # families of sums, what is fixed, and how
    "norm": (GAUSSIAN, {}, {"loc": ("mean", float), "scale": ("variance", math.sqrt)}),
    "lognorm": (GAUSSIAN, {"loc": 0.0}, {"s": ("variance", math.sqrt), "scale": ("mean", math.exp)}),
    "gamma": (FAMILIES["gamma"], {"loc": 0.0}, {"a": ("shape", float), "scale": ("scale", float)}),
    "expon": (FAMILIES["exponential"], {"loc": 0.0}, {"scale": ("rate", lambda rate: 1 / rate)}),
    "beta": (FAMILIES["beta"], {"loc": 0.0, "scale": 1.0}, {"a": ("a", float), "b": ("b", float)}),
}
AT_ONCE: Final = "people are few for blocks: this is the likelihood of all of them at once, by noisy sums"
STEP: Final = 1e-3  # of an error, for the slope of what is made of a number
LINEAR: Final = 12  # the same for one fast parameter, the logarithm of a mean: what is left of its bias is 1 / m^2
HALVES: Final = 50  # the same for halves, and for none


@dataclass(frozen=True, slots=True)
class LikelihoodFit:
    """The adapter to blocks: the parameters of a block on scales without ends. [likelihood.1]"""

    distribution: ScipyDistribution | OwnDensity
    unbiased: bool = False
    second_order: bool = False  # one parameter, whose bias the jackknife takes down to order 1 / m^2

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
    """A distribution fitted by `inner`, whose estimates are on scales without ends; the answer is on their own."""

    distribution: ScipyDistribution | OwnDensity
    inner: Mechanism[Any]

    @property
    def guarantee(self) -> Guarantee:
        """The blocks'. [likelihood.1]"""
        return self.inner.guarantee

    @property
    def loss(self) -> Loss:
        """The blocks'. [likelihood.1]"""
        return self.inner.loss

    def check(self, size: int | None) -> None:
        """Refused, by public numbers, where the blocks are."""
        check(self.inner, size)

    def release(self, rows: Any, rng: Randomness) -> Release[Distribution]:
        """The parameters and their intervals, or a refusal."""
        found = self.inner.release(rows, rng)  # [likelihood.1]
        name = self.distribution.name
        note = f"the data need not have the {name} distribution: the interval is for the one that fits best"
        provenance = replace(found.provenance, mechanism="MaximumLikelihood", notes=(note, *found.provenance.notes))
        if found.refusal is not None or isinstance(found.value, Distribution):  # by sums
            return replace(found, provenance=provenance)
        turns: dict[str, Turn] = {one: (one, scale.back) for one, scale in self.distribution.scales.items()}
        about = "the parameters, each by itself, that fit" if len(turns) > 1 else "the parameter that fits"
        return turned(replace(found, provenance=provenance), turns, self.distribution, f"{about} the population best")


@dataclass(frozen=True, slots=True)
class LikelihoodSpread:
    """The error bars of some numbers as those of the parameters, each a monotone function of one of them."""

    inner: Spread
    places: Mapping[str, float]
    turns: Mapping[str, Turn]
    distribution: Any = field(repr=False)
    about: str = ""

    @property
    def target(self) -> str:
        """Between which values it was taken."""
        return self._said(str(getattr(self.inner, "target", "")))

    def _sizes(self, sizes: Any) -> dict[str, float] | None:
        """By the slope of each function."""
        if sizes is None:
            return None
        found = {}
        for name, (source, turn) in self.turns.items():
            at, step = self.places[source], STEP * sizes[source]
            found[name] = abs(turn(at + step) - turn(at - step)) / (2 * STEP)
        return found

    @property
    def sampling(self) -> dict[str, float] | None:
        """Standard deviations from sampling."""
        return self._sizes(self.inner.sampling)

    @property
    def privacy(self) -> dict[str, float] | None:
        """Standard deviations from the noise."""
        return self._sizes(self.inner.privacy)

    def interval(self, confidence: float) -> Interval:
        """Both ends of each, turned. [likelihood.2]"""
        inner = self.inner.interval(confidence)
        ends = [turned_by(self.turns, end) for end in (inner.low, inner.high)]
        low, high = (
            Distribution(self.distribution.name, {one: pick(end[one] for end in ends) for one in self.turns}, self.made)
            for pick in (min, max)
        )
        return replace(inner, low=low, high=high, about=self.about or self._said(inner.about))

    @property
    def made(self) -> Callable[..., Any]:
        """scipy's distribution."""
        found: Callable[..., Any] = self.distribution.made
        return found

    def _said(self, words: str) -> str:
        logs = self.distribution.name == "lognorm"
        return words.replace("limiting values", "limiting the logarithms") if logs else words


def turned(
    release: Release[Any], turns: Mapping[str, Turn], distribution: Any, about: str = ""
) -> Release[Distribution]:
    """A release of some numbers, as one of the distribution's parameters. [likelihood.2]"""
    value = Distribution(distribution.name, turned_by(turns, release.value), distribution.made)
    spread = None
    if release.spread is not None:
        spread = LikelihoodSpread(release.spread, release.value, turns, distribution, about)
    return replace(release, answer=value, spread=spread)


def turned_by(turns: Mapping[str, Turn], parameters: Mapping[str, float]) -> dict[str, float]:
    """scipy's parameters from those of a family."""
    return {name: turn(float(parameters[source])) for name, (source, turn) in turns.items()}


def by_sums(chosen: ScipyDistribution | OwnDensity, people: Public) -> Instead:
    """For a family whose likelihood is a matter of sums: their mechanism on all people at once. [likelihood.1]"""

    def known(_fit: Fit, _shape: Shape) -> Whole | None:
        family, fixed, turns = SUMS.get(chosen.name, (None, None, {}))
        if family is None or not isinstance(chosen, ScipyDistribution) or dict(chosen.fixed) != fixed:
            return None
        terms: dict[str, Any] = {"neighbours": people.neighbours, "unit": people.unit, "size": people.size}

        def shown(release: Release[Distribution]) -> Release[Distribution]:
            provenance = replace(release.provenance, notes=(AT_ONCE,))
            release = replace(release, provenance=provenance, name=f"{chosen.name} likelihood")
            return release if release.refusal is not None else turned(release, turns, chosen)

        def column(table: BlockTable) -> Any:
            with np.errstate(all="ignore"):
                return np.log(table.x) if chosen.name == "lognorm" else table.x  # each entry by itself

        return lambda epsilon, _: Wrapped(SufficientStatistics(family, epsilon, **terms), before=column, after=shown)

    return known


def _world(about: About) -> World:
    model = about.option("model", "gamma")
    try:
        chosen = scipy_distribution(getattr(model, "name", model), about.given.get("fixed") or None)
    except BadInput:
        raise BadInput(
            f"model is {model!r}; a forecast takes a continuous distribution of scipy.stats or its name, 'gamma' say"
        ) from None
    usual = {name: {"loc": 0.0, "scale": 1.0}.get(name, 2.0) for name in chosen.scales}
    values = about.parameters(str(getattr(model, "name", model)), usual)
    return World(
        make=lambda g, n: {"data": chosen.made(*values.values()).rvs(size=n, random_state=g)},
        truth=list(values.values()),
        plain=lambda data: np.array(chosen.maximum(data)),
        measure=MANY,
        runs=40,
        most=200_000,
    )


@statistic({"data": number("either")}, rows=table_of, blocks=True, world=_world)
def maximum_likelihood(
    people: Public,
    model: Any,
    data: Columns,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    fixed: Mapping[str, float] | None = None,
    names: Any = None,
    start: Any = None,
    bounds: Any = None,
    blocks: int | Literal["auto"] = "auto",
    aggregator: Any = "auto",
    bias_correction: str | None = "auto",
    engine: Engine | None = None,
    timeout: float | None = None,
) -> Mechanism[Distribution]:
    """Maximum likelihood for any parametric distribution, with an interval for each parameter. No bounds on the data.

    `model` is a continuous distribution of scipy.stats or its name ("gamma", "weibull", "lognormal", "t", ...), with
    some of its parameters `fixed`: unless you say otherwise, loc=0 for one on a half-line, and loc=0, scale=1 for one
    on an interval; fixed={} frees them. Or it is `logpdf(x, *parameters)`, with the `names` of the parameters,
    a public `start` and `bounds` such as [(0, None), (None, None)]. It is fitted on disjoint blocks of people and the
    estimates are combined: `blocks`, `aggregator`, `engine` and `timeout` are those of `discreet.fit`;
    `bias_correction` is the one within blocks ("jackknife", "half" or None).

    >>> import discreet, numpy as np
    >>> waits = -np.log((np.arange(20000) * 0.618034 + 0.0001) % 1)
    >>> r = discreet.maximum_likelihood("gamma", waits, epsilon=1.0, delta=1e-6, rng=discreet.Seeded(1))
    >>> 0.9 < r.value.a < 1.1
    True
    """
    chosen: ScipyDistribution | OwnDensity
    if callable(model) and not hasattr(model, "logpdf"):
        if fixed is not None:
            raise BadInput("fixed= is for scipy's distributions; fix a parameter inside your own function")
        chosen = own_density(model, names, start, bounds)
    else:
        if names is not None or start is not None or bounds is not None:
            raise BadInput("names=, start= and bounds= are for a density of your own; scipy's distributions need none")
        chosen = scipy_distribution(model, fixed)
    table, correct, neighbours = people.schema, bias_correction, people.neighbours
    fit = LikelihoodFit(chosen)
    quick = fit.fast(table.x, None, None)
    # a jackknife that is slow in large blocks
    rowwise = correct == "auto" and quick is not None and quick.distribution.rowwise
    asked = correct
    if correct == "auto":  # leaving out rows is leaving out people only where a row is a person
        quickly = quick is not None and table.people is None and not (rowwise and not neighbours.size_is_public)
        asked = "jackknife" if quickly else "half"
    if asked == "jackknife" and table.people is not None:
        quick = None
    one = asked == "jackknife" and len(chosen.scales) == 1
    fit, smooth = replace(fit, second_order=one), one and quick is not None
    asked_for = (blocks, aggregator, correct) if isinstance(aggregator, str) else ()
    plain = asked_for == ("auto",) * 3 and timeout is None and table.people is None and len(table.x.shape) == 1
    inner = planned(
        fit,
        table,
        epsilon=epsilon,
        delta=delta,
        blocks=blocks,
        aggregator=aggregator,
        engine=Local(limit=None if timeout is None else 1000 * timeout) if engine is None else engine,
        names=list(chosen.scales),
        correct=asked,
        unbiased=False,
        estimate_bias=False,
        smallest=LINEAR if smooth else max(SMALLEST.get(str(asked), HALVES), ROWS_A_NUMBER * len(chosen.scales)),
        trust="own",
        seconds=timeout,
        vectorised=quick is not None,
        neighbours=neighbours,
        unit=people.unit,
        instead=by_sums(chosen, people) if plain else None,
    )
    size = units(table, neighbours)
    if (
        rowwise
        and isinstance(inner, SubsampleAggregate)
        and size is not None
        and size // inner.blocks > LARGEST_JACKKNIFE
    ):
        inner = replace(inner, correct="half")
    if isinstance(inner, SubsampleAggregate | CountedPeople):
        logging.getLogger("discreet").info("%s", inner.plan(table))
    return MaximumLikelihood(chosen, inner)
