"""Maximum likelihood for any parametric distribution, by name."""

import logging
from collections.abc import Mapping
from typing import Any, Literal

from discreet.engines.local import Local
from discreet.models.likelihood import plan_likelihood
from discreet.privacy.declaration import Columns, Public, number, statistic
from discreet.privacy.exact import Number
from discreet.privacy.mechanism import Mechanism
from discreet.statistics.family import Fitted
from discreet.subsample.aggregate import Engine
from discreet.subsample.block_table import BlockTable
from discreet.tables.entries import numbers


def _table(columns: Mapping[str, Any]) -> BlockTable:
    data = columns["data"]
    several = getattr(data, "ndim", 1) == 2
    return BlockTable.of(data if several else numbers(data), None, columns["people"])


@statistic({"data": number("either")}, rows=_table, blocks=True)
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
) -> Mechanism[Fitted]:
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
