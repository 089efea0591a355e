"""Any estimator, on blocks of people."""

import logging
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from discreet.engines.local import Local
from discreet.errors import BadInput
from discreet.privacy.exact import Number, exact
from discreet.privacy.guarantee import check_budget
from discreet.privacy.mechanism import Randomness
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.release import Release
from discreet.quick.asked import ask, relation_of
from discreet.sandbox.sandbox import Sandbox
from discreet.subsample.aggregate import Engine, SubsampleAggregate, Trust
from discreet.subsample.bias_probe import Probed
from discreet.subsample.block_table import BlockTable
from discreet.subsample.counted_people import CountedPeople
from discreet.subsample.fit_options import check_seconds
from discreet.subsample.fit_request import planned
from discreet.subsample.partition import units


def fit(
    estimator: Any,
    X: Any,  # noqa: N803  as scikit-learn calls it
    y: Any = None,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    blocks: int | Literal["auto"] = "auto",
    aggregator: Any = "auto",
    unit: Any = None,
    engine: Engine | None = None,
    names: Any = None,
    labels: Any = None,
    attributes: Any = None,
    formula: str | None = None,
    options: Mapping[str, Any] | None = None,
    categories: Mapping[Any, Any] | None = None,
    correct: str | None = "auto",
    unbiased: bool | None = None,
    smallest: int | None = None,
    scales: Any = None,
    probe: bool = False,
    confidence: float = 0.95,
    trust: Trust | None = None,
    sandbox: Sandbox | None = None,
    seconds: float | None = None,
    vectorised: bool = True,
    neighbours: Neighbours | str = "replace",
    rng: Randomness | None = None,
) -> Release[Any]:
    """Any estimator, privately: fitted on disjoint blocks of people, the estimates combined, with an interval.

    `estimator` is a scikit-learn estimator or pipeline (`attributes` to read, by default coef_ and intercept_), a
    statsmodels class (with `formula` if X is a frame), a lifelines fitter, a function of the rows (and of y) that
    returns a number, an array, a dictionary or a label, or "file.py:function", which runs in a sandbox. `options` go to
    its fit. `unit` names the column that says whose row it is, or is that column: all rows of a person are protected.
    What is returned is found on made-up rows of the same columns, or declared: `names`, or `labels` for a vote. A block
    of a frame has its numbers as float64 and its texts as objects, whatever types pandas found; `categories` declares
    the public categories of some columns, {"sex": ["F", "M"]}, which are then columns of categories.
    `aggregator` is "mean", "coordinatewise", "friendly" (for several numbers at once; `scales`=1 declares that they
    vary alike), "median", "vote", or a mechanism whose rows are estimates; `correct` the bias correction within blocks,
    "half", "jackknife", "firth" or None. `probe` spends half of the budget on blocks of half the size, to estimate what
    bias is left (a note of the release). `confidence` is that of the interval that is shown; `interval(0.9)` of the
    release gives any other, but for the median, whose interval is drawn at this one. `seconds` is how long a block may
    take, in a sandbox how long every block takes. Under neighbours="add_or_remove", where `blocks` are not declared, a
    twentieth of epsilon buys a noisy number of people that chooses them. How it will be done is logged before
    anything is spent.

    >>> import discreet
    >>> rows = [float(k % 100) for k in range(20000)]
    >>> r = discreet.fit(lambda x: float((x > 75).mean()), rows, epsilon=2.0, rng=discreet.Seeded(1))
    >>> 0.1 < r.value < 0.4
    True
    """
    check_seconds(seconds)
    if not isinstance(probe, bool):
        raise BadInput(f"probe is {probe!r}; give True or False")
    table = BlockTable.of(X, y, unit, categories)
    called = "row" if unit is None else unit if isinstance(unit, str) else "person"
    asked = partial(
        planned,
        estimator,
        table,
        aggregator=aggregator,
        engine=Local(limit=None if seconds is None else 1000 * seconds) if engine is None else engine,
        names=names,
        labels=labels,
        attributes=attributes,
        formula=formula,
        options=options,
        correct=correct,
        unbiased=unbiased,
        smallest=smallest,
        scales=scales,
        confidence=confidence,
        trust=trust,
        sandbox=sandbox,
        seconds=seconds,
        vectorised=vectorised,
        neighbours=relation_of(neighbours),
        unit=called,
    )
    if not probe:
        return run_fit(asked(epsilon=epsilon, delta=delta, blocks=blocks), table, rng)
    relation = relation_of(neighbours)
    check_budget(epsilon, delta, units(table, relation))

    def probed(people: int | None, epsilon: Number) -> Probed:
        halved = partial(asked, epsilon=exact(epsilon) / 2, delta=exact(delta) / 2, people=people)
        first = halved(blocks=blocks)
        assert isinstance(first, SubsampleAggregate)
        finer = halved(blocks=2 * first.blocks)
        assert isinstance(finer, SubsampleAggregate)
        return Probed(first, replace(finer, correct=first.correct))

    if relation.size_is_public or blocks != "auto" or not isinstance(aggregator, str):
        return run_fit(probed(None, epsilon), table, rng)
    return run_fit(CountedPeople(probed, epsilon, delta, called), table, rng)


def run_fit(
    mechanism: SubsampleAggregate | Probed | CountedPeople, table: BlockTable, rng: Randomness | None
) -> Release[Any]:
    """Say how it will be done, then do it."""
    logging.getLogger("discreet").info("%s", mechanism.plan(table))
    return ask(mechanism, table, rng)
