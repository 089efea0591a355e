"""Maximum likelihood for any parametric distribution, by name."""

import logging
import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from discreet.engines.local import Local
from discreet.errors import BadInput
from discreet.models.likelihood import plan_likelihood
from discreet.privacy.declaration import Columns, Public, number, statistic
from discreet.privacy.exact import Number
from discreet.privacy.mechanism import Mechanism
from discreet.privacy.values import Distribution
from discreet.subsample.aggregate import Engine
from discreet.subsample.block_table import BlockTable
from discreet.tables.entries import numbers
from discreet.worlds.assumptions import MANY, About, World


def _table(columns: Mapping[str, Any]) -> BlockTable:
    data = columns["data"]
    several = getattr(data, "ndim", 1) == 2
    return BlockTable.of(data if several else numbers(data), None, columns["people"])


def _world(about: About) -> World:
    model = about.option("model", "gamma")
    name = model if isinstance(model, str) else getattr(model, "name", None)
    chosen = _of_scipy(name)
    if chosen is None:
        raise BadInput(
            f"model is {model!r}; a forecast takes a continuous distribution of scipy.stats or its name, 'gamma' say"
        )
    fixed = dict(about.given.get("fixed") or _usual_fixed(chosen))
    usual = dict.fromkeys((chosen.shapes or "").replace(",", " ").split(), 2.0) | {"loc": 0.0, "scale": 1.0}
    values = about.parameters(str(name), {one: value for one, value in usual.items() if one not in fixed})
    held = {f"f{one}": value for one, value in fixed.items()}
    places = [place for place, one in enumerate(usual) if one not in fixed]
    return World(
        make=lambda g, n: {"data": chosen(**values, **fixed).rvs(size=n, random_state=g)},
        truth=list(values.values()),
        plain=lambda data: np.array(chosen.fit(data, **held))[places],
        measure=MANY,
        runs=40,
        most=200_000,
    )


def _of_scipy(name: Any) -> Any:
    from scipy import stats

    called = {"normal": "norm", "lognormal": "lognorm", "weibull": "weibull_min", "exponential": "expon"}
    found = getattr(stats, called.get(name, name), None) if isinstance(name, str) else None
    return found if isinstance(found, stats.rv_continuous) else None


def _usual_fixed(chosen: Any) -> dict[str, float]:
    """As the statistic has it: loc=0 on a half-line, and scale=1 too on an interval."""
    bounded = math.isfinite(chosen.a), math.isfinite(chosen.b)
    return {"loc": 0.0, "scale": 1.0} if all(bounded) else {"loc": 0.0} if any(bounded) else {}


@statistic({"data": number("either")}, rows=_table, blocks=True, world=_world)
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
    on an interval; fixed={} frees them. Or it is a function logpdf(x, *parameters), with the `names` of the parameters,
    a public `start` and `bounds` such as [(0, None), (None, None)]. It is fitted on disjoint blocks of people and the
    estimates are combined: `blocks`, `aggregator`, `engine` and `timeout` are those of `discreet.fit`;
    `bias_correction` is the one within blocks ("jackknife", "half" or None).

    >>> import discreet, numpy as np
    >>> waits = -np.log((np.arange(20000) * 0.618034 + 0.0001) % 1)
    >>> r = discreet.maximum_likelihood("gamma", waits, epsilon=1.0, delta=1e-6, rng=discreet.Seeded(1))
    >>> 0.9 < r.value.a < 1.1
    True
    """
    mechanism = plan_likelihood(
        model,
        people.schema,
        epsilon=epsilon,
        delta=delta,
        fixed=fixed,
        names=names,
        start=start,
        bounds=bounds,
        blocks=blocks,
        aggregator=aggregator,
        correct=bias_correction,
        engine=Local(limit=None if timeout is None else 1000 * timeout) if engine is None else engine,
        seconds=timeout,
        neighbours=people.neighbours,
        unit=people.unit,
    )
    logging.getLogger("discreet").info("%s", mechanism.plan(people.schema))
    return mechanism
