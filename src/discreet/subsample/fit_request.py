"""From what people ask for to a mechanism: shape, aggregator, blocks and correction, by public numbers alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from discreet.errors import BadInput
from discreet.privacy.exact import Number, is_number
from discreet.privacy.guarantee import check_budget
from discreet.privacy.intervals import check_confidence
from discreet.privacy.mechanism import Mechanism
from discreet.privacy.neighbours import Neighbours
from discreet.sandbox.sandbox import Sandbox
from discreet.subsample.aggregate import (
    Engine,
    SubsampleAggregate,
    Trust,
    check_aggregator,
    check_engine,
    check_seconds,
    check_trust,
)
from discreet.subsample.batched import batched
from discreet.subsample.block_plan import auto_blocks, chosen_correction, predicted_error, roomy, smallest_block
from discreet.subsample.block_table import BlockTable
from discreet.subsample.coordinatewise import BlockMean, BlockMedian
from discreet.subsample.counted_people import CountedPeople
from discreet.subsample.estimators import SourceFit, adapted
from discreet.subsample.friendly_aggregate import BlockFriends
from discreet.subsample.partition import units
from discreet.subsample.returned import Shape, declared, found_shape
from discreet.subsample.vote import OpenVote, Vote

AGGREGATORS: Final = ("auto", "mean", "coordinatewise", "median", "vote", "friendly")


def planned(
    estimator: Any,
    table: BlockTable,
    *,
    epsilon: Number,
    delta: Number,
    neighbours: Neighbours,
    unit: str,
    blocks: Any = "auto",
    aggregator: Any = "auto",
    engine: Engine | None = None,
    names: Any = None,
    labels: Any = None,
    attributes: Any = None,
    formula: str | None = None,
    options: Mapping[str, Any] | None = None,
    correct: str | None = "auto",
    unbiased: bool | None = None,
    smallest: int | None = None,
    scales: Any = None,
    confidence: float = 0.95,
    trust: Trust | None = None,
    sandbox: Sandbox | None = None,
    seconds: float | None = None,
    vectorised: bool = True,
    people: int | None = None,
) -> SubsampleAggregate | CountedPeople:
    """The mechanism that was asked for, or an error that says what is needed. Reads the table's schema and size.

    `people` is about how many there are, where their number is private: a public guess, or a noisy number that was
    paid for. Without it, and without a number of blocks, such a number is bought first.
    """
    check_given(
        attributes=attributes,
        formula=formula,
        options=options,
        engine=engine,
        confidence=confidence,
        trust=trust,
        sandbox=sandbox,
        seconds=seconds,
        switches={"unbiased": unbiased, "vectorised": vectorised},
    )
    size = units(table, neighbours)
    check_budget(epsilon, delta, size)
    check_blocks(blocks, size)
    fit = adapted(estimator, attributes=attributes, formula=formula, options=options)
    trust = trust or ("sandbox" if isinstance(fit, SourceFit) or sandbox is not None else "own")
    shape = declared(names, labels)
    if shape is None:
        if trust == "sandbox":
            raise BadInput(
                "in a sandbox nothing is tried out first; declare what the estimator returns: names=['slope', "
                "'intercept'], names='number', names=3 or labels=[...]"
            )
        shape = found_shape(fit, table)
    numeric = shape.kind in ("number", "array", "named")
    plain = fit.unbiased if unbiased is None else unbiased
    fast = batched(fit, shape, table.x, table.y, None) if trust == "own" and vectorised else None
    likelihood = fast is not None and fast.likelihood
    ready = None if isinstance(aggregator, str) else aggregator
    if ready is not None:
        check_aggregator(ready, shape)
        if blocks not in ("auto", ready.blocks):
            raise BadInput(f"blocks is {blocks}, but the aggregator is made for {ready.blocks}; leave blocks out")
    least = smallest_block(
        shape.width if numeric else 1, plain, smallest, adjusted=likelihood and correct in ("auto", "firth")
    )

    def made(about: int | None, epsilon: Number) -> SubsampleAggregate:
        if ready is not None:
            chosen, count = ready, int(ready.blocks)
        else:
            chosen, count = FitRequest(
                shape=shape,
                people=about,
                epsilon=epsilon,
                delta=delta,
                blocks=blocks,
                smallest=least if size is not None else roomy(least),
                unbiased=plain,
                halves=numeric and not plain and (correct == "half" or (correct == "auto" and not likelihood)),
                scales=declared_scales(scales, shape.width) if numeric else None,
                confidence=confidence,
            ).aggregator(_kind(aggregator, numeric))
        return SubsampleAggregate(
            fit,
            shape,
            chosen,
            neighbours=neighbours,
            unit=unit,
            correct=chosen_correction(
                correct,
                size=None if about is None else about // count,
                unbiased=plain,
                numeric=numeric,
                width=shape.width,
                likelihood=likelihood,
            ),
            engine=engine,
            trust=trust,
            sandbox=sandbox,
            seconds=seconds,
            vectorised=vectorised,
            confidence=confidence,
        )

    known = size if people is None else people
    if known is None and ready is None and isinstance(blocks, str):
        return CountedPeople(made, epsilon, delta, unit)
    return made(known, epsilon)


def _kind(aggregator: object, numeric: bool) -> str:
    if aggregator not in AGGREGATORS:
        raise BadInput(f"aggregator is {aggregator!r}; give one of {', '.join(AGGREGATORS)}, or a mechanism")
    if not numeric and aggregator not in ("auto", "vote"):
        raise BadInput(f"aggregator is {aggregator!r}, but the estimator returns labels; give 'vote'")
    if numeric and aggregator == "vote":
        raise BadInput("aggregator is 'vote', but the estimator returns numbers; list them with labels=")
    if aggregator == "auto":
        return "auto" if numeric else "vote"
    return "mean" if aggregator == "coordinatewise" else str(aggregator)


def declared_scales(scales: Any, width: int) -> tuple[float, ...] | None:
    """Public deviations of the estimates, up to a common factor: one number for all that are alike, or one each."""
    if scales is None:
        return None
    each = [scales] * width if is_number(scales) else list(scales) if isinstance(scales, Sequence) else []
    if len(each) != width or not all(is_number(one) and 1e-100 < one < 1e100 for one in each):
        raise BadInput(f"scales is {scales!r}; give 1 if all numbers vary alike, {width} positive numbers, or None")
    return tuple(float(one) for one in each)


@dataclass(frozen=True, slots=True, kw_only=True)
class FitRequest:
    """The public numbers that choose blocks and aggregator."""

    shape: Shape
    people: int | None
    epsilon: Number
    delta: Number
    blocks: int | str
    smallest: int
    unbiased: bool
    halves: bool
    scales: tuple[float, ...] | None
    confidence: float

    def aggregator(self, kind: str) -> tuple[Mechanism[Any], int]:
        """The mechanism of that kind, or of the better kind, and its number of blocks."""
        if kind == "auto" and self.shape.width > 1 and self.delta:
            return self._better()
        kind = "mean" if kind == "auto" else kind
        count = self.count(kind)
        return self._made(kind, count), count

    def count(self, kind: str) -> int:
        """How many blocks: as declared, or by the public rule."""
        people = self.people
        if not isinstance(self.blocks, str):
            return int(self.blocks)
        assert people is not None  # where it is private, a noisy one comes first
        return auto_blocks(
            people,
            self.shape.width if kind != "vote" else 1,
            self.epsilon,
            self.delta if self.shape.kind == "text" or kind != "vote" else 0.0,
            aggregator=kind,
            smallest=self.smallest,
            unbiased=self.unbiased,
            scales=self.scales,
            halves=self.halves and kind in ("mean", "friendly"),
        )

    def _better(self) -> tuple[Mechanism[Any], int]:
        """The friendly mean or the coordinatewise one, by the error predicted for each from public numbers."""
        found: list[tuple[float, Mechanism[Any], int]] = []
        refusals = []
        for kind in ("mean", "friendly"):
            try:
                count = self.count(kind)
                made = self._made(kind, count)
            except BadInput as refusal:
                refusals.append(refusal)
                continue
            assert isinstance(made, BlockMean | BlockFriends)
            found.append((predicted_error(made, self.people), made, count))
        if not found:
            raise refusals[-1]
        _, made, count = min(found, key=lambda one: one[0])  # a tie, of two that cannot: coordinatewise
        return made, count

    def _made(self, kind: str, blocks: int) -> Mechanism[Any]:
        shape, epsilon, delta = self.shape, self.epsilon, self.delta
        if kind == "vote":
            if shape.kind == "label":
                return Vote(blocks, len(shape.labels), epsilon)
            return OpenVote(blocks, epsilon, delta)
        if kind == "median":
            return BlockMedian(blocks, shape.width, epsilon, self.confidence)
        if kind == "friendly":
            return BlockFriends(blocks, shape.width, epsilon=epsilon, delta=delta, scales=self.scales)
        return BlockMean(blocks, shape.width, epsilon, delta)


def check_given(
    *,
    attributes: object,
    formula: object,
    options: object,
    engine: object,
    confidence: object,
    trust: object,
    sandbox: object,
    seconds: object,
    switches: Mapping[str, object],
) -> None:
    """All that can be told by its type or range alone."""
    check_seconds(seconds)
    check_confidence(confidence)
    check_trust("sandbox" if trust is None else trust, sandbox, seconds)
    check_engine(engine)
    if options is not None and not (isinstance(options, Mapping) and all(isinstance(name, str) for name in options)):
        raise BadInput(f"options is {options!r}; give a dictionary of what the fit takes by name, or leave it out")
    if formula is not None and not isinstance(formula, str):
        raise BadInput(f"formula is {formula!r}; give a text, for example 'y ~ x', or leave it out")
    named = [attributes] if isinstance(attributes, str) else attributes
    listed = isinstance(named, list | tuple) and named and all(isinstance(name, str) and name for name in named)
    if named is not None and not listed:
        raise BadInput(f"attributes is {attributes!r}; give the names to read, for example ['coef_', 'intercept_']")
    for name, switch in switches.items():
        if not isinstance(switch, bool) and not (switch is None and name == "unbiased"):
            raise BadInput(f"{name} is {switch!r}; give True or False")


def check_blocks(blocks: object, people: int | None) -> None:
    """A whole number that the people can fill, or "auto"."""
    if isinstance(blocks, str) and blocks == "auto":
        return
    if isinstance(blocks, bool) or not isinstance(blocks, int | np.integer):
        raise BadInput(f"blocks is {blocks!r}; give a whole number or 'auto'")
    if blocks < 1 or (people is not None and blocks > people):
        raise BadInput(f"blocks is {blocks}; give 1 to as many as there are people")
