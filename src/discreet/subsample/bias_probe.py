"""A look at the bias: the same estimator on twice as many blocks, for half of the budget.

Releases
    What a fit on k blocks releases, and what one on 2 k blocks releases, shuffled anew; each for half of the budget.
    The answer is the first; the difference of the second and the first estimates the bias of the first.
Promise
    [bias_probe.1] The sum of what the two cost: (epsilon, delta) in all.
    [bias_probe.2] The note on the bias is a function of the two releases.
Why
    [bias_probe.1] Basic composition of two mechanisms on the same people, which hide the same change of them.
    [bias_probe.2] As the code reads. If the bias is b / m in blocks of m people, then half as many have 2 b / m, and
    the difference estimates b / m.
Needs
    Enough people for twice as many blocks.
Accuracy
    The error of the difference is at most that of both answers together, taken as independent: blocks of the same
    people are correlated in favour of the difference.
Source
    Richardson 1911; Quenouille 1956.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet.errors import BadInput
from discreet.privacy.exact import exact, show
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.loss import Loss, compose
from discreet.privacy.mechanism import Randomness, refusal_of
from discreet.privacy.provenance import Provenance
from discreet.privacy.release import Release
from discreet.subsample.aggregate import SubsampleAggregate
from discreet.subsample.block_plan import BlockPlan
from discreet.subsample.block_table import BlockTable
from discreet.subsample.partition import units


@dataclass(frozen=True, slots=True)
class Probed:
    """A fit, and a second one on blocks of half the size that tells about its bias.

    >>> from discreet.subsample.coordinatewise import BlockMean
    >>> from discreet.subsample.estimators import FunctionFit
    >>> from discreet.subsample.returned import Shape
    >>> from discreet.noise.randomness import Seeded
    >>> one = SubsampleAggregate(FunctionFit(np.var), Shape("number", ("value",)), BlockMean(200, 1, epsilon=2.0))
    >>> two = Probed(one, replace(one, aggregator=BlockMean(400, 1, epsilon=2.0)))
    >>> float(two.guarantee.epsilon)
    4.0
    >>> "bias" in two.release([float(k % 100) for k in range(20000)], Seeded(1)).provenance.notes[-1]
    True
    """

    fit: SubsampleAggregate
    finer: SubsampleAggregate

    def __post_init__(self) -> None:
        if self.fit.shape.kind not in ("number", "array", "named"):
            raise BadInput("probe is True, but the estimator returns labels, which have no bias; leave it out")
        if self.finer.blocks != 2 * self.fit.blocks:
            raise BadInput(f"{self.finer.blocks} blocks are not twice {self.fit.blocks}; a probe halves the blocks")
        if (self.finer.neighbours, self.finer.unit) != (self.fit.neighbours, self.fit.unit):  # [bias_probe.1]
            raise BadInput("the two fits hide different things; give both the same neighbours and unit")

    @property
    def guarantee(self) -> Guarantee:
        """Both together. [bias_probe.1]"""
        one, two = self.fit.guarantee, self.finer.guarantee
        epsilon, delta = exact(one.epsilon) + exact(two.epsilon), exact(one.delta) + exact(two.delta)
        return Guarantee(epsilon, delta, one.neighbours, one.unit)  # [bias_probe.1]

    @property
    def loss(self) -> Loss:
        """Both. [bias_probe.1]"""
        return compose(self.fit.loss, self.finer.loss)  # [bias_probe.1]

    def plan(self, rows: Any) -> BlockPlan:
        """That of the answer."""
        return self.fit.plan(rows)

    def check_machine(self) -> None:
        """NoSandbox where this machine cannot make the sandbox asked for."""
        self.fit.check_machine()

    def check(self, size: int | None) -> None:
        """Refused, by public numbers, where either fit is."""
        self.finer.check(size)
        self.fit.check(size)

    def release(self, rows: Any, rng: Randomness) -> Release[Any]:
        """The answer, with a note on its bias."""
        table = BlockTable.of(rows)
        if (refusal := refusal_of(self, units(table, self.fit.neighbours))) is not None:
            history = Provenance("Probed", {"blocks": self.fit.blocks}, rng.secure)
            return Release(self.guarantee, history, refusal=refusal, name=self.fit.fit.name)
        answer, other = self.fit.release(table, rng), self.finer.release(table, rng)  # [bias_probe.1]
        note, shown = self._note(answer, other)
        history = replace(
            answer.provenance,
            notes=(*answer.provenance.notes, note),
            parameters=dict(answer.provenance.parameters) | {"bias probe": shown},
        )
        return replace(answer, guarantee=self.guarantee, provenance=history)

    def _note(self, answer: Release[Any], other: Release[Any]) -> tuple[str, Any]:
        """In words, and as numbers. [bias_probe.2]"""
        if answer.refusal is not None or other.refusal is not None:
            return f"the bias could not be estimated: {answer.refusal or other.refusal}", None
        bias = _flat(other.value) - _flat(answer.value)  # [bias_probe.2]
        confidence = float(getattr(answer.spread, "confidence", 0.95))  # that of a rank interval is declared before
        ends = [release.interval(confidence) for release in (answer, other)]
        wide = [(_flat(end.high) - _flat(end.low)) / 2 for end in ends]
        error = np.hypot(wide[0], wide[1])
        worst = int(np.argmax(np.abs(bias) / error))
        seen = "is seen" if abs(bias[worst]) > error[worst] else "is not seen"
        name = self.fit.shape.names[worst] if len(bias) > 1 else "the answer"
        note = (
            f"a bias within blocks {seen}: estimated from blocks of half the size, that of {name} is "
            f"{show(float(f'{bias[worst]:.3g}'))} +- {show(float(f'{error[worst]:.2g}'))} ({100 * confidence:g}%; the "
            f"interval has a half-width of {show(float(f'{wide[0][worst]:.2g}'))})"
        )
        return note, {"bias": bias.tolist(), "error": error.tolist()}


def _flat(value: Any) -> Any:
    values = list(value.values()) if isinstance(value, dict) else value
    return np.asarray(values, dtype=np.float64).ravel()
