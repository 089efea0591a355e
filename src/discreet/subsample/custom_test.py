"""Any test, privately: run on disjoint blocks of people, its p-values combined.

Releases
    What ScoreSum or VoteCount of hypotheses/combined_tests.py releases of the blocks' p-values. Nothing else.
Promise
    [custom_test.1] Pure epsilon for a person, under REPLACE and under ADD_OR_REMOVE.
    [custom_test.2] The p-value is super-uniform if the base test's is, on independent blocks of the size that they
    have.
Why
    [custom_test.1] One person's data change one block ([aggregate.1]), so one p-value: [combined_tests.1] of
    hypotheses/combined_tests.py.
    [custom_test.2] Blocks of independent people are independent; then [combined_tests.2]. A base test that fails or
    returns no probability gives no evidence.
Needs
    A function of a block's rows that returns a p-value; blocks times epsilon of 10. Where the number of people is
    private and no number of blocks is declared, a noisy number of people chooses it: subsample/counted_people.py.
Accuracy
    See hypotheses/combined_tests.py; docs/benchmarks.md has the power of several base tests.
Source
    Kazan, Shi, Groce and Bray 2023.
"""

import math
from collections.abc import Mapping
from typing import Any, Final, Literal

from discreet.engines.local import Local
from discreet.errors import BadInput
from discreet.hypotheses.combined_tests import (
    ScoreSum,
    VoteCount,
    best_plan,
    best_votes,
    expected_power,
    power_of_votes,
)
from discreet.privacy.declaration import Columns, Public, Reads, statistic
from discreet.privacy.exact import Number
from discreet.privacy.guarantee import check_budget
from discreet.privacy.mechanism import Mechanism, check
from discreet.privacy.values import TestResult
from discreet.sandbox.sandbox import Sandbox
from discreet.subsample.aggregate import SubsampleAggregate, Trust
from discreet.subsample.block_plan import roomy
from discreet.subsample.block_table import table_of
from discreet.subsample.counted_people import CountedPeople
from discreet.subsample.estimators import SourceFit, adapted
from discreet.subsample.partition import units
from discreet.subsample.returned import Shape
from discreet.tables.streams import Engine
from discreet.worlds.assumptions import About, Effect
from discreet.worlds.shapes import shift

METHODS: Final = ("scores", "binary")
P_VALUE: Final = Shape("test", ("p-value",))  # one number a block; of all blocks a whole test
SMALLEST: Final = 20  # people in a block


def _world(about: About) -> Effect:
    effect = shift(about)
    if about.given.get("test") is None:
        about.given["test"] = _above_zero
        about.say("the base test is a one-sided test of a normal mean")
    return Effect(
        make=lambda g, n: {"X": effect + g.standard_normal(n)},
        closed=(lambda test, n, level: _power(test, n, effect, level)) if about.given["test"] is _above_zero else None,
        most=20_000,
        runs=60,
    )


def _power(test: Any, size: int, effect: float, level: float) -> float:
    """The chance that a test of a normal mean in blocks rejects; Refused for too few people."""
    if isinstance(test, CountedPeople):
        test = test.checked(max(1, size - test.caution))
    check(test, size if test.neighbours.size_is_public else None)
    combined, whole = test.aggregator, effect * math.sqrt(size)
    if isinstance(combined, ScoreSum):
        return expected_power(combined.blocks, combined.reach, float(combined.epsilon), whole, level)
    return power_of_votes(combined.blocks, combined.vote_level, float(combined.epsilon), whole, level)


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
    fit = adapted(test, options=options)
    if method not in METHODS:
        raise BadInput(f"method is {method!r}; give 'scores' or 'binary'")
    for what, given in (("smallest", smallest), ("blocks", 1 if blocks == "auto" else blocks)):
        if not isinstance(given, int) or isinstance(given, bool) or given < 1:
            raise BadInput(f"{what} is {given!r}; give a whole number, 1 or more")

    def made(about: int, epsilon: Number) -> SubsampleAggregate:
        room = smallest if people.neighbours.size_is_public else roomy(smallest)
        most = max(1, about // room) if blocks == "auto" else int(blocks)
        count, level = (best_plan if method == "scores" else best_votes)(most, float(epsilon))
        kind = ScoreSum if method == "scores" else VoteCount
        return SubsampleAggregate(
            fit,
            P_VALUE,  # [custom_test.2]
            kind(most if blocks != "auto" else count, level, epsilon),  # [custom_test.1]
            neighbours=people.neighbours,
            unit=people.unit,
            engine=Local(limit=None if timeout is None else 1000 * timeout) if engine is None else engine,
            trust=trust or ("sandbox" if isinstance(fit, SourceFit) else "own"),
            sandbox=sandbox,
            seconds=timeout,
        )

    size = units(people.schema, people.neighbours)
    if size is None and blocks == "auto":
        return CountedPeople(made, epsilon, unit=people.unit)
    return made(size or 0, epsilon)
