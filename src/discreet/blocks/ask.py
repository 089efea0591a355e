"""From what people ask for to a mechanism: shape, aggregator, blocks and correction, by public numbers alone."""

from collections.abc import Mapping
from typing import Any, Final

from discreet.blocks.aggregate import Engine, SubsampleAggregate, Trust
from discreet.blocks.centre import BlockMean
from discreet.blocks.estimator import SourceFit, adapted
from discreet.blocks.halfway import BlockMedian
from discreet.blocks.partition import units
from discreet.blocks.plan import auto_blocks, chosen_correction, smallest_block
from discreet.blocks.sandbox import Sandbox
from discreet.blocks.schema import found_shape
from discreet.blocks.shape import Shape, declared
from discreet.blocks.table import Table
from discreet.blocks.vote import OpenVote, Vote
from discreet.errors import BadInput
from discreet.promise.exact import Number
from discreet.promise.guarantee import check_budget
from discreet.promise.mechanism import Mechanism
from discreet.promise.neighbours import Neighbours

AGGREGATORS: Final = ("auto", "mean", "coordinatewise", "median", "vote", "friendly")


def planned(
    estimator: Any,
    table: Table,
    *,
    epsilon: Number,
    delta: Number,
    blocks: Any,
    aggregator: Any,
    engine: Engine | None,
    names: Any,
    labels: Any,
    attributes: Any,
    formula: str | None,
    options: Mapping[str, Any] | None,
    correct: str | None,
    unbiased: bool | None,
    smallest: int | None,
    confidence: float,
    trust: Trust | None,
    sandbox: Sandbox | None,
    seconds: float | None,
    vectorised: bool,
    neighbours: Neighbours,
    unit: str,
) -> SubsampleAggregate:
    """The mechanism that was asked for, or an error that says what is needed. Reads the table's schema and size."""
    people = units(table, neighbours)
    check_budget(epsilon, delta, people)
    fit = adapted(estimator, attributes=attributes, formula=formula, options=options)
    trust = trust or ("sandbox" if isinstance(fit, SourceFit) else "own")
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
    ready = aggregator if not isinstance(aggregator, str) and hasattr(aggregator, "release") else None
    kind = "given" if ready is not None else _kind(aggregator, numeric)
    count = _count(
        blocks,
        ready,
        people,
        shape=shape,
        epsilon=epsilon,
        delta=delta,
        kind=kind,
        smallest=smallest,
        unbiased=plain,
    )
    size = None if people is None else people // count
    return SubsampleAggregate(
        fit,
        shape,
        ready or _aggregator(kind, shape, count, epsilon, delta=delta, confidence=confidence),
        neighbours,
        unit,
        chosen_correction(correct, size=size, unbiased=plain, numeric=numeric),
        engine,
        trust,
        sandbox,
        seconds,
        vectorised,
    )


def _kind(aggregator: object, numeric: bool) -> str:
    if aggregator not in AGGREGATORS:
        raise BadInput(f"aggregator is {aggregator!r}; give one of {', '.join(AGGREGATORS)}, or a mechanism")
    if aggregator == "friendly":
        raise BadInput("aggregator='friendly' takes the mechanism itself: give FriendlyMean(...) for rows of estimates")
    if not numeric and aggregator not in ("auto", "vote"):
        raise BadInput(f"aggregator is {aggregator!r}, but the estimator returns labels; give 'vote'")
    if numeric and aggregator == "vote":
        raise BadInput("aggregator is 'vote', but the estimator returns numbers; list them with labels=")
    if aggregator == "auto":
        return "mean" if numeric else "vote"
    return "mean" if aggregator == "coordinatewise" else str(aggregator)


def _count(
    blocks: object,
    ready: Any,
    people: int | None,
    *,
    shape: Shape,
    epsilon: Number,
    delta: Number,
    kind: str,
    smallest: int | None,
    unbiased: bool,
) -> int:
    """How many blocks: as declared, or by the public rule."""
    if ready is not None and hasattr(ready, "blocks"):
        return int(ready.blocks)
    if isinstance(blocks, int) and not isinstance(blocks, bool):
        if blocks < 1 or (people is not None and blocks > people):
            raise BadInput(f"blocks is {blocks}; give 1 to as many as there are people")
        return blocks
    if blocks != "auto":
        raise BadInput(f"blocks is {blocks!r}; give a whole number or 'auto'")
    if people is None:
        raise BadInput("the number of people is private here, so it cannot choose the blocks; give blocks=400, say")
    width = shape.width if kind != "vote" else 1
    open_labels = delta if shape.kind == "text" or kind != "vote" else 0.0
    least = smallest_block(width, unbiased, smallest)
    return auto_blocks(people, width, epsilon, open_labels, aggregator=kind, smallest=least, unbiased=unbiased)


def _aggregator(
    kind: str, shape: Shape, blocks: int, epsilon: Number, *, delta: Number, confidence: float
) -> Mechanism[Any]:
    if kind == "vote":
        return Vote(blocks, len(shape.labels), epsilon) if shape.kind == "label" else OpenVote(blocks, epsilon, delta)
    if kind == "median":
        return BlockMedian(blocks, shape.width, epsilon, confidence)
    return BlockMean(blocks, shape.width, epsilon, delta)
