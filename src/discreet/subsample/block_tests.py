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
    A function of a block's rows that returns a p-value; blocks times epsilon of 10. Where the number of people is
    private and no number of blocks is declared, a noisy number of people chooses it: subsample/counted_people.py.
Accuracy
    See hypotheses/combined_tests.py; docs/measured-tests.md has the power of several base tests.
Source
    Kazan, Shi, Groce and Bray 2023.
"""

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Final, Literal

from discreet.errors import BadInput
from discreet.hypotheses.combined_tests import ScoreSum, VoteCount, best_plan, best_votes
from discreet.privacy.exact import Number
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.loss import Loss
from discreet.privacy.mechanism import Randomness, refusal_of
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.provenance import Provenance
from discreet.privacy.release import Release
from discreet.privacy.values import TestResult
from discreet.sandbox.sandbox import Sandbox
from discreet.subsample.aggregate import Engine, SubsampleAggregate, Trust
from discreet.subsample.block_plan import roomy
from discreet.subsample.block_table import BlockTable
from discreet.subsample.counted_people import CountedPeople
from discreet.subsample.estimators import Fit, SourceFit
from discreet.subsample.partition import units
from discreet.subsample.returned import Shape

METHODS: Final = ("scores", "binary")


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
    _: KW_ONLY
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
            neighbours=self.neighbours,
            unit=self.unit,
            engine=self.engine,
            trust=self.trust,
            sandbox=self.sandbox,
            seconds=self.seconds,
        )

    def check(self, size: int | None) -> None:
        """Refused, by public numbers, if so many people do not fill the blocks."""
        self._blocks.check(size)

    def check_machine(self) -> None:
        """NoSandbox where this machine cannot make the sandbox asked for."""
        self._blocks.check_machine()

    def release(self, rows: Any, rng: Randomness) -> Release[TestResult]:
        """The combined test."""
        table, blocks = BlockTable.of(rows), self._blocks
        plan = blocks.plan(table)
        if (refusal := refusal_of(self, plan.people)) is not None:
            history = Provenance("BlockTest", {"test": self.fit.name, "blocks": plan.blocks}, rng.secure)
            return Release(self.guarantee, history, refusal=refusal, name=f"{self.fit.name} on blocks")
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


def planned_test(
    fit: Fit,
    table: BlockTable,
    *,
    epsilon: Number,
    method: Literal["scores", "binary"] = "scores",
    blocks: Any = "auto",
    smallest: Any,
    neighbours: Neighbours,
    unit: str,
    engine: Engine | None = None,
    trust: Trust | None = None,
    sandbox: Sandbox | None = None,
    seconds: float | None = None,
) -> BlockTest | CountedPeople:
    """The mechanism for a base test and a table of this schema and public size."""
    if method not in METHODS:
        raise BadInput(f"method is {method!r}; give 'scores' or 'binary'")
    for what, given in (("smallest", smallest), ("blocks", 1 if blocks == "auto" else blocks)):
        if not isinstance(given, int) or isinstance(given, bool) or given < 1:
            raise BadInput(f"{what} is {given!r}; give a whole number, 1 or more")

    def made(people: int, epsilon: Number) -> BlockTest:
        room = smallest if neighbours.size_is_public else roomy(smallest)
        most = int(blocks) if blocks != "auto" else max(1, people // room)
        count, level = (best_plan if method == "scores" else best_votes)(most, float(epsilon))
        kind = ScoreSum if method == "scores" else VoteCount
        return BlockTest(
            fit,
            kind(most if blocks != "auto" else count, level, epsilon),
            neighbours=neighbours,
            unit=unit,
            engine=engine,
            trust=trust or ("sandbox" if isinstance(fit, SourceFit) else "own"),
            sandbox=sandbox,
            seconds=seconds,
        )

    people = units(table, neighbours)
    if people is None and blocks == "auto":
        return CountedPeople(made, epsilon, unit=unit)
    return made(people or 0, epsilon)
