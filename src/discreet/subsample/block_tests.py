"""Any test, privately: run on disjoint blocks of people, its p-values combined.

Releases
    What ScoreSum or VoteCount of hypotheses/combined_tests.py releases of the blocks' p-values. Nothing else.
Promise
    [block_tests.1] Pure epsilon for a person, under REPLACE and under ADD_OR_REMOVE.
    [block_tests.2] The p-value is super-uniform if the base test's is, on independent blocks of the size that they
    have.
Why
    [block_tests.1] One person's data change one block ([aggregate.1]), so one p-value: [combined_tests.1] of
    hypotheses/combined_tests.py.
    [block_tests.2] Blocks of independent people are independent; then [combined_tests.2]. A base test that fails or
    returns no probability gives no evidence.
Needs
    A function of a block's rows that returns a p-value; blocks times epsilon of 10.
Accuracy
    See hypotheses/combined_tests.py; docs/measured-tests.md has the power of several base tests.
Source
    Kazan, Shi, Groce and Bray 2023.
"""

from dataclasses import dataclass, replace
from typing import Any

from discreet.hypotheses.combined_tests import ScoreSum, VoteCount
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.loss import Loss
from discreet.privacy.mechanism import Randomness
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.release import Release
from discreet.privacy.values import TestResult
from discreet.sandbox.sandbox import Sandbox
from discreet.subsample.aggregate import Engine, SubsampleAggregate, Trust
from discreet.subsample.block_table import BlockTable
from discreet.subsample.estimators import Fit
from discreet.subsample.returned import Shape


@dataclass(frozen=True, slots=True)
class BlockTest:
    """A base test, `fit`, that returns a p-value, on blocks; `combined` says how their p-values are combined.

    >>> from discreet.subsample.estimators import FunctionFit
    >>> from discreet.noise.randomness import Seeded
    >>> test = BlockTest(FunctionFit(lambda x: 0.5 ** float((x > 0).all())), VoteCount(50, 0.5, 1.0))
    >>> test.release([1.0] * 200, Seeded(1)).value.decide(0.001)
    True
    """

    fit: Fit
    combined: ScoreSum | VoteCount
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"
    engine: Engine | None = None
    trust: Trust = "own"
    sandbox: Sandbox | None = None
    seconds: float | None = None

    @property
    def guarantee(self) -> Guarantee:
        """Pure epsilon, for people. [block_tests.1]"""
        return self._blocks.guarantee

    @property
    def loss(self) -> Loss:
        """That of the combination. [block_tests.1]"""
        return self.combined.loss

    @property
    def _blocks(self) -> SubsampleAggregate:
        return SubsampleAggregate(
            self.fit,
            Shape("number", ("p-value",)),
            self.combined,
            self.neighbours,
            self.unit,
            engine=self.engine,
            trust=self.trust,
            sandbox=self.sandbox,
            seconds=self.seconds,
        )

    def check_machine(self) -> None:
        """NoSandbox where this machine cannot make the sandbox asked for."""
        self._blocks.check_machine()

    def release(self, rows: Any, rng: Randomness) -> Release[TestResult]:
        """The combined test."""
        table, blocks = BlockTable.of(rows), self._blocks
        plan = blocks.checked_plan(table)
        inner = self.combined.release(blocks.estimates(table, rng), rng)  # [block_tests.1]
        shown = dict(inner.provenance.parameters) | {
            "test": self.fit.name,
            "neighbours": self.neighbours,
            "people": plan.people,
            "people a block": plan.size,
            "trust": self.trust,
        }
        # [block_tests.2]
        notes = (*inner.provenance.notes, "assumes that the base test is valid on blocks of this size")
        provenance = replace(inner.provenance, mechanism="BlockTest", parameters=shown, notes=notes)
        return replace(inner, guarantee=self.guarantee, provenance=provenance, name=f"{self.fit.name} on blocks")
