"""From what people ask for to a mechanism: shape, aggregator, blocks and correction, by public numbers alone."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from discreet.errors import BadInput
from discreet.privacy.exact import Number, exact
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.intervals import check_confidence
from discreet.privacy.mechanism import Mechanism
from discreet.sandbox.sandbox import Sandbox
from discreet.subsample.aggregate import (
    SubsampleAggregate,
    Trust,
    check_aggregator,
    check_engine,
    check_seconds,
    check_trust,
)
from discreet.subsample.batched import batched
from discreet.subsample.block_plan import (
    QUARTERS,
    Rate,
    auto_blocks,
    chosen_correction,
    expected_width,
    predicted_error,
    roomy,
    small_block,
    smallest_block,
    usual_blocks,
)
from discreet.subsample.block_table import BlockTable, is_frame
from discreet.subsample.coordinatewise import BlockMean, BlockMedian
from discreet.subsample.counted_people import CountedPeople
from discreet.subsample.estimators import COEFFICIENTS, Fit, FunctionFit, ModelFit, SklearnFit, SourceFit, adapted
from discreet.subsample.friendly_aggregate import BlockFriends, declared_scales
from discreet.subsample.partition import check_blocks, units
from discreet.subsample.remaining_bias import PART, ROUGH, SMOOTH, RemainingBias
from discreet.subsample.returned import Shape, declared, found_shape
from discreet.subsample.vote import Method, OpenVote, Vote
from discreet.tables.streams import Engine

PRESENT: Final = 10  # people of the rarest level in a block: one in 2,000 blocks has fewer than two; fewer are skewed
CHEAP: Final = 1.1  # times as wide: what a smooth estimator may pay for telling what is left of its bias
DEAR: Final = 3.0  # and one that nothing is known of
WIDE: Final = 2.5  # times as wide as without noise: what blocks may cost where all people can be asked at once
FEWER: Final = "; an estimator of fewer numbers needs fewer people"
BALLOTS: Final[Mapping[str, Method]] = {"vote": "counts", "exponential": "choice", "noisy-max": "noisy-max"}
AGGREGATORS: Final = ("auto", "mean", "coordinatewise", "median", "friendly", *BALLOTS)
Whole = Callable[[Number, int | None], Mechanism[Any] | None]  # by epsilon, and how many tell the rarest column apart
Instead = Callable[[Fit, Shape], Whole | str | None]  # a text is what to declare for it


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
    estimate_bias: object = "auto",
    smallest: int | None = None,
    scales: Any = None,
    confidence: float = 0.95,
    trust: Trust | None = None,
    sandbox: Sandbox | None = None,
    seconds: float | None = None,
    vectorised: bool = True,
    people: int | None = None,
    instead: Instead | None = None,
) -> Mechanism[Any]:
    """The mechanism that was asked for, or an error that says what is needed. Reads the table's schema and size.

    `people` is about how many there are, where their number is private: a public guess, or a noisy number that was
    paid for. Without it, and without a number of blocks, such a number is bought first.

    `instead` may know a mechanism for the same numbers that asks all people at once: it is taken where people are too
    few for blocks, or where blocks are predicted to make intervals wide. [counted_people.2]
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
    _check_levels(formula, table)
    shape = declared(names, labels)
    if shape is None:
        if trust == "sandbox":
            raise BadInput(
                "in a sandbox nothing is tried out first; declare what the estimator returns: names=['slope', "
                "'intercept'], names='number', names=3 or labels=[...]"
            )
        shape = found_shape(fit, table)
    numeric = shape.kind in ("number", "array", "named")
    if not (isinstance(estimate_bias, bool) or estimate_bias == "auto"):
        raise BadInput(f"estimate_bias is {estimate_bias!r}; give True, False or 'auto'")
    if estimate_bias is True and not numeric:
        raise BadInput("estimate_bias is True, but the estimator returns labels, which have no bias; leave it out")
    rate = _rate(fit, fit.unbiased if unbiased is None else unbiased)
    fast = batched(fit, shape, table.x, table.y, None) if trust == "own" and vectorised else None
    likelihood = fast is not None and fast.likelihood
    if (ready := None if isinstance(aggregator, str) else aggregator) is not None:
        check_aggregator(ready, shape)
        if blocks not in ("auto", ready.blocks):
            raise BadInput(f"blocks is {blocks}, but the aggregator is made for {ready.blocks}; leave blocks out")
    least = smallest_block(
        shape.width if numeric else 1, rate, smallest, adjusted=likelihood and correct in ("auto", "firth")
    )
    small = small_block(shape.width, rate, smallest) if numeric and trust == "own" else 0
    planning = ready is None and isinstance(blocks, str)

    def made(about: int | None, epsilon: Number, fewest: int | None = None) -> SubsampleAggregate:
        room = least if size is not None else roomy(least)
        if fewest is not None and about is not None:  # so many of the rarest in a block, for hardly any to lack them
            room = max(room, math.ceil((PRESENT if rate == "squares" else 2 * PRESENT) * about / fewest))
        if ready is not None:
            chosen, count = ready, int(ready.blocks)
        else:
            chosen, count = FitRequest(
                shape=shape,
                people=about,
                epsilon=epsilon,
                delta=delta,
                blocks=blocks,
                smallest=room,
                small=small,
                rate=rate,
                halves=numeric and rate != "unbiased" and (correct == "half" or (correct == "auto" and not likelihood)),
                bias=estimate_bias if numeric and (estimate_bias is True or trust == "own") else False,
                scales=declared_scales(scales, shape.width) if numeric else None,
                confidence=confidence,
                ballot=BALLOTS.get(aggregator, "counts"),
            ).aggregator(_kind(aggregator, numeric))
        each = None if about is None else about // count
        few = small and planning and isinstance(chosen, BlockMean) and count < usual_blocks(shape.width, epsilon)
        return SubsampleAggregate(
            fit,
            shape,
            chosen,
            neighbours=neighbours,
            unit=unit,
            small=each or 0 if few else 0,
            correct=chosen_correction(
                correct,
                size=each,
                rate=rate,
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

    advice = FEWER if numeric and shape.width > 1 else ""
    whole = instead(fit, shape) if instead is not None and fast is not None else None
    if isinstance(whole, str):
        whole, advice = None, f"; {whole}"
    best, known = made if whole is None else _or_all_at_once(made, whole), size if people is None else people
    many = table.x.shape[1:] > (1,) or whole is not None
    rare = numeric and smallest is None and rate in ("squares", "smooth") and many
    if planning and (known is None or rare):
        spare = int(isinstance(fit, ModelFit) and formula is None)  # the column of ones
        return CountedPeople(best, epsilon, delta, unit, size=known, rare=spare if rare else None, advice=advice)
    return best(known, epsilon)


def _or_all_at_once(made: Callable[..., SubsampleAggregate], whole: Whole) -> Callable[..., Mechanism[Any]]:
    """Blocks; or all people at once, where they are too few for blocks, or blocks are predicted to be wide."""

    def best(about: int | None, epsilon: Number, fewest: int | None = None) -> Mechanism[Any]:
        other = whole(epsilon, fewest)
        if other is None:
            return made(about, epsilon, fewest)
        try:
            found = made(about, epsilon, fewest)
        except BadInput:  # too few people
            return other
        return found if (expected_width(found.aggregator) or math.inf) <= WIDE else other

    return best


def _check_levels(formula: str | None, table: BlockTable) -> None:
    """The levels of a formula's categories are public, or blocks that lack one would each have their own."""
    for name in re.findall(r"\bC\(\s*(\w+)", formula or ""):
        if is_frame(table.x) and name in table.x.columns and not hasattr(table.x.dtypes[name], "categories"):
            raise BadInput(
                f"the formula has C({name}), whose levels are not declared, and blocks may lack some; list the public "
                f"ones: categories={{{name!r}: [...]}}"
            )


def _rate(fit: Fit, unbiased: bool) -> Rate:
    """How the bias of an estimator shrinks with the size of its block: by what it is."""
    if unbiased:
        return "unbiased"
    if getattr(fit, "least_squares", False):
        return "squares"
    if getattr(fit, "second_order", False):  # not `jackknifed`, which is a method of other adapters
        return "jackknifed"
    known = not isinstance(fit, FunctionFit | SourceFit)
    if isinstance(fit, SklearnFit):
        known = type(fit.last).__module__.startswith("sklearn.linear_model.") and fit.attributes == COEFFICIENTS
    return "smooth" if known else "unknown"


def _kind(aggregator: object, numeric: bool) -> str:
    if aggregator not in AGGREGATORS:
        raise BadInput(f"aggregator is {aggregator!r}; give one of {', '.join(AGGREGATORS)}, or a mechanism")
    if not numeric and aggregator not in ("auto", *BALLOTS):
        raise BadInput(f"aggregator is {aggregator!r}, but the estimator returns labels; give 'vote'")
    if numeric and aggregator in BALLOTS:
        raise BadInput(f"aggregator is {aggregator!r}, but the estimator returns numbers; list them with labels=")
    if not numeric:
        return "vote"
    return "mean" if aggregator == "coordinatewise" else str(aggregator)


@dataclass(frozen=True, slots=True, kw_only=True)
class FitRequest:
    """The public numbers that choose blocks and aggregator."""

    shape: Shape
    people: int | None
    epsilon: Number
    delta: Number
    blocks: int | str
    smallest: int
    small: int = 0  # people a block may have instead, where they are few
    rate: Rate
    halves: bool
    scales: tuple[float, ...] | None
    confidence: float
    ballot: Method = "counts"
    few: bool = False  # people
    bias: object = False  # whether to release what is left of it: yes, no, or "auto", where its price is small

    def aggregator(self, kind: str) -> tuple[Mechanism[Any], int]:
        """The mechanism and its number of blocks: fewer where people are few, then smaller ones. [aggregate.2]"""
        fixed = self.bias is True or kind not in ("auto", "mean") or not isinstance(self.blocks, str)
        try:
            return self._usual(kind)
        except BadInput as reason:  # too few people
            refused = reason
        for smallest in filter(None, () if fixed else (self.smallest, self.small)):
            try:
                return replace(self, smallest=smallest, few=True).plain("mean")
            except BadInput as reason:
                refused = reason
        raise refused

    def _usual(self, kind: str) -> tuple[Mechanism[Any], int]:
        """The mechanism, with what is left of the bias where that is to be told, and its number of blocks."""
        if self.bias is True:
            return self._telling(kind)
        plain, count = self.plain(kind)
        told = self.bias is False or self.rate == "unbiased" or self.people is None
        if told or not isinstance(plain, BlockMean | BlockFriends):
            return plain, count
        try:
            other, most = self._telling(kind)
        except BadInput:  # too few people to tell
            return plain, count
        price = other.relative_error / plain.relative_error
        return (other, most) if price <= (DEAR if self.rate == "unknown" else CHEAP) else (plain, count)

    def _telling(self, kind: str) -> tuple[RemainingBias, int]:
        """The mean of estimates and what is left of their bias; refused where blocks are too small to tell."""
        needs = max(2 * self.smallest, 0 if self.rate == "squares" else QUARTERS * self.shape.width)
        rest = exact(self.epsilon) * (1 - PART)
        inner, count = replace(self, epsilon=rest, smallest=needs, bias=False).plain(kind)
        if not isinstance(inner, BlockMean | BlockFriends):
            raise BadInput(f"estimate_bias is True, which is for means of numbers, not for aggregator={kind!r}")
        if self.people is not None and self.people < needs * count:
            raise BadInput(
                f"estimate_bias is True, but blocks of fewer than {needs} people are too small to tell what is left of "
                "the bias; ask for fewer blocks, or leave both out"
            )
        reach = ROUGH if self.rate == "unknown" else SMOOTH
        return RemainingBias(inner, exact(self.epsilon) * PART, reach), count

    def plain(self, kind: str) -> tuple[Mechanism[Any], int]:
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
            rate=self.rate,
            scales=self.scales,
            halves=self.halves and kind in ("mean", "friendly"),
            few=self.few,
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
                return Vote(blocks, len(shape.labels), epsilon, self.ballot)
            if self.ballot != "counts":
                raise BadInput("this vote chooses from public labels; list them with labels=, or give 'vote'")
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
