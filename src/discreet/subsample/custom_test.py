"""Any test, by name, on blocks of people."""

import math
from collections.abc import Mapping
from typing import Any, Literal

from discreet.engines.local import Local
from discreet.hypotheses.power import SMALLEST
from discreet.privacy.declaration import Columns, Public, Reads, statistic
from discreet.privacy.exact import Number
from discreet.privacy.guarantee import check_budget
from discreet.privacy.mechanism import Mechanism
from discreet.privacy.values import TestResult
from discreet.sandbox.sandbox import Sandbox
from discreet.subsample.aggregate import Engine, Trust
from discreet.subsample.block_tests import planned_test
from discreet.subsample.estimators import adapted
from discreet.subsample.fit import table_of
from discreet.worlds.assumptions import ALL, About, Effect
from discreet.worlds.shapes import shift


def _world(about: About) -> Effect:
    effect = shift(about)
    if about.given.get("test") is None:
        about.given["test"] = _above_zero
        about.say("the base test is a one-sided test of a normal mean")
    usual = about.given["test"] is _above_zero and not {"blocks", "method"} & set(about.given)
    return Effect(
        make=lambda g, n: {"X": effect + g.standard_normal(n)},
        known=(lambda n: ("custom_test", n, effect)) if usual else None,
        most=ALL,
    )


def _above_zero(x: Any) -> float:
    """The p-value of normal values, against a mean above 0."""
    return math.erfc(float(x.mean()) / max(float(x.std()), 1e-300) * math.sqrt(len(x) / 2)) / 2


@statistic(
    {"X": Reads("any", "either"), "y": Reads("any", optional=True)}, rows=table_of, blocks=True, code=True, world=_world
)
def custom_test(
    people: Public,
    test: Any,
    X: Columns,  # noqa: N803  as scikit-learn calls it
    y: Columns | None = None,
    *,
    epsilon: Number,
    method: Literal["scores", "binary"] = "scores",
    blocks: int | Literal["auto"] = "auto",
    smallest: int = SMALLEST,
    options: Mapping[str, Any] | None = None,
    engine: Engine | None = None,
    trust: Trust | None = None,
    sandbox: Sandbox | None = None,
    timeout: float | None = None,
) -> Mechanism[TestResult]:
    """Any test: a function of the rows (and of y) that returns a p-value, run on disjoint blocks of people.

    Valid if the base test is valid on blocks of `smallest` people; give one-sided p-values where there is a direction,
    for two-sided ones lose it in every block. A block in which the test fails is no evidence. method="binary" counts
    the blocks that reject. Under neighbours="add_or_remove", where `blocks` are not declared, a noisy number of people
    chooses them.

    >>> import discreet
    >>> from scipy import stats
    >>> def above(x):
    ...     return stats.ttest_1samp(x, 0.0, alternative="greater").pvalue
    >>> x = [(k * 0.618) % 1 - 0.4 for k in range(2000)]
    >>> discreet.custom_test(above, x, epsilon=1.0, rng=discreet.Seeded(1)).value.decide(0.01)
    True
    """
    check_budget(epsilon, 0, people.size)
    return planned_test(
        adapted(test, options=options),
        people.schema,
        epsilon=epsilon,
        method=method,
        blocks=blocks,
        smallest=smallest,
        neighbours=people.neighbours,
        unit=people.unit,
        engine=Local(limit=None if timeout is None else 1000 * timeout) if engine is None else engine,
        trust=trust,
        sandbox=sandbox,
        seconds=timeout,
    )
