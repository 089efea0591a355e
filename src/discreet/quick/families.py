"""Distributions of a known family, and maximum likelihood."""

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from discreet.engines.local import Local
from discreet.errors import BadInput
from discreet.models.likelihood import plan_likelihood
from discreet.privacy.exact import Number
from discreet.privacy.guarantee import check_budget
from discreet.privacy.mechanism import Mechanism, Randomness
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.release import Release
from discreet.privacy.values import Distribution
from discreet.quick.asked import ask, is_table, named, relation_of
from discreet.statistics.binomials import BinomialFit, MultinomialFit
from discreet.statistics.bins import Categories
from discreet.statistics.family import FAMILIES, Family
from discreet.statistics.normal import Gaussian1D
from discreet.statistics.normal_laplace import NormalSpread
from discreet.statistics.sufficient import FamilySpread, SufficientStatistics
from discreet.subsample.aggregate import Engine
from discreet.subsample.block_table import BlockTable
from discreet.tables.entries import column, numbers, public_size

NAMES = ("bernoulli", "binomial", "multinomial", "gaussian", *FAMILIES)


def family(
    name: str | Family,
    x: Any,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    trials: int | None = None,
    categories: Any = None,
    neighbours: Neighbours | str = "replace",
    unit: str = "row",
    rng: Randomness | None = None,
) -> Release[Distribution]:
    """A distribution of a known family, with an interval for each of its parameters. No bounds. Pure.

    `name` is "bernoulli" (p), "binomial" (p; `trials` of each record), "multinomial" (probabilities; the public
    `categories`), "poisson" (rate), "exponential" (rate), "gamma" (shape, scale), "beta" (a, b), "gaussian" (mean,
    variance), or a `discreet.Family` of your own. `value` has the parameters by name, and `value.distribution()` is a
    scipy.stats distribution. The answer is pure, whatever delta is allowed.

    >>> import discreet
    >>> r = discreet.family("poisson", [k % 5 for k in range(4000)], epsilon=1.0, rng=discreet.Seeded(1))
    >>> 1.8 < r.value.rate < 2.3
    True
    """
    relation, called = relation_of(neighbours), named(unit)
    kind = name.lower() if isinstance(name, str) else name
    kind = {"normal": "gaussian", "categorical": "multinomial"}.get(kind, kind) if isinstance(kind, str) else kind
    if not isinstance(kind, Family) and not (isinstance(kind, str) and kind in NAMES):
        seen = repr(name) if isinstance(name, str) else f"of type {type(name).__name__}"  # it may be the data
        raise BadInput(f"family is {seen}; give one of {', '.join(NAMES)}, or a discreet.Family of your own")
    if (trials is not None) != (kind == "binomial"):
        raise BadInput(f"trials is {trials!r}; it is needed for 'binomial', for example trials=10, and for no other")
    if (categories is not None) != (kind == "multinomial"):
        raise BadInput("categories are needed for 'multinomial', for example categories=['yes', 'no'], and no other")
    values = column(x)
    size = public_size(values, relation)
    check_budget(epsilon, delta, size)
    mechanism: Mechanism[Distribution]
    match kind:
        case "gaussian":
            return fitted_normal(ask(Gaussian1D(epsilon, None, relation, called, size), values, rng))
        case "multinomial":
            mechanism = MultinomialFit(Categories.of(categories), epsilon, relation, called)
        case "bernoulli" | "binomial":
            mechanism = BinomialFit(1 if trials is None else trials, epsilon, relation, called)
        case _:
            one = kind if isinstance(kind, Family) else FAMILIES[kind]
            mechanism = SufficientStatistics(one, epsilon, relation, called, size)
    return ask(mechanism, values, rng)


def fitted_normal(release: Release[Any]) -> Release[Distribution]:
    """A released normal distribution as a fitted family: each interval by itself. Post-processing."""
    if release.refusal is not None:
        return release
    spread = release.spread
    assert isinstance(spread, NormalSpread)
    value = spread.value
    return replace(release, answer=value, spread=FamilySpread(value, (spread.mean, spread.variance)))


def likelihood(
    model: Any,
    data: Any,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    fixed: Mapping[str, float] | None = None,
    names: Any = None,
    start: Any = None,
    bounds: Any = None,
    blocks: int | Literal["auto"] = "auto",
    aggregator: Any = "auto",
    correct: str | None = "auto",
    unit: Any = None,
    engine: Engine | None = None,
    seconds: float | None = None,
    neighbours: Neighbours | str = "replace",
    rng: Randomness | None = None,
) -> Release[Distribution]:
    """Maximum likelihood for any parametric law, privately, with an interval for each parameter. No bounds on the data.

    `model` is a continuous distribution of scipy.stats or its name ("gamma", "weibull", "lognormal", "t", ...), with
    some of its parameters `fixed`: unless you say otherwise, loc=0 for a law on a half-line, and loc=0, scale=1 for one
    on an interval; fixed={} frees them. Or it is a function logpdf(x, *parameters), with the `names` of the parameters,
    a public `start` and `bounds` such as [(0, None), (None, None)]. It is fitted on disjoint blocks of people and the
    estimates are combined: `blocks`, `aggregator`, `unit` and `engine` are those of `discreet.fit`; `correct` is the
    bias correction within blocks ("jackknife", "half" or None).

    >>> import discreet, numpy as np
    >>> waits = -np.log((np.arange(20000) * 0.618034 + 0.0001) % 1)
    >>> r = discreet.likelihood("gamma", waits, epsilon=1.0, delta=1e-6, rng=discreet.Seeded(1))
    >>> 0.9 < r.value.a < 1.1
    True
    """
    table = BlockTable.of(data if is_table(data) else numbers(data), None, unit)
    mechanism = plan_likelihood(
        model,
        table,
        epsilon=epsilon,
        delta=delta,
        fixed=fixed,
        names=names,
        start=start,
        bounds=bounds,
        blocks=blocks,
        aggregator=aggregator,
        correct=correct,
        engine=Local(limit=None if seconds is None else 1000 * seconds) if engine is None else engine,
        seconds=seconds,
        neighbours=relation_of(neighbours),
        unit="row" if unit is None else unit if isinstance(unit, str) else "person",
    )
    logging.getLogger("discreet").info("%s", mechanism.plan(table))
    return ask(mechanism, table, rng)
