"""What people hand to a fit besides the rows: refused in words before a row is read or anything is drawn.

No check here looks at the data, so every refusal is public.
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from discreet.errors import BadInput
from discreet.privacy.exact import is_number
from discreet.privacy.intervals import check_confidence
from discreet.sandbox.sandbox import Sandbox
from discreet.subsample.returned import Shape

PARTS: Final = ("guarantee", "loss", "release", "blocks")  # of an aggregator
LONGEST: Final = 1e6  # seconds: more than a week for one block is a slip


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


def check_seconds(seconds: object) -> None:
    """A positive number, or none."""
    if seconds is not None and not (is_number(seconds) and 0 < seconds <= LONGEST):  # type: ignore[operator]
        raise BadInput(f"timeout is {seconds!r}; give how many seconds a block may take, above 0, or None for no limit")


def check_engine(engine: object) -> None:
    """Something that maps and folds."""
    if engine is not None and not all(callable(getattr(engine, name, None)) for name in ("map", "fold")):
        raise BadInput(
            f"engine is {engine!r}; give what has map and fold, for example Local(workers=2), or leave it out"
        )


def check_trust(trust: object, sandbox: object, seconds: object = None) -> None:
    """One of the two, and limits of a sandbox only where there is one."""
    if not (isinstance(trust, str) and trust in ("own", "sandbox")):
        raise BadInput(f"trust is {trust!r}; give 'own' for code that you wrote or read, or 'sandbox'")
    if sandbox is not None and not isinstance(sandbox, Sandbox):
        raise BadInput(f"sandbox is {sandbox!r}; give its limits as Sandbox(seconds=1.0), or leave it out")
    if sandbox is not None and trust == "own":
        raise BadInput("sandbox is given, but trust is 'own', which runs without one; leave one of the two out")
    if sandbox is not None and seconds is not None:
        raise BadInput(f"timeout is {seconds!r}, and a sandbox has its own; give Sandbox(seconds={seconds!r}) alone")


def check_blocks(blocks: object, people: int | None) -> None:
    """A whole number that the people can fill, or "auto"."""
    if isinstance(blocks, str) and blocks == "auto":
        return
    if isinstance(blocks, bool) or not isinstance(blocks, int | np.integer):
        raise BadInput(f"blocks is {blocks!r}; give a whole number or 'auto'")
    if blocks < 1 or (people is not None and blocks > people):
        raise BadInput(f"blocks is {blocks}; give 1 to as many as there are people")


def check_aggregator(aggregator: Any, shape: Shape) -> None:
    """A mechanism whose rows are estimates of this shape, and which hides what one of them is."""
    missing = [name for name in PARTS if not hasattr(aggregator, name)]
    if missing or not callable(aggregator.release):
        raise BadInput(
            f"aggregator is {aggregator!r}, which has no {', '.join(missing) or 'method release'}; give a mechanism "
            "whose rows are estimates, for example BlockMean(400, 1, epsilon=1.0), or the name of one"
        )
    blocks = aggregator.blocks
    if isinstance(blocks, bool) or not isinstance(blocks, int | np.integer) or blocks < 1:
        raise BadInput(f"the aggregator is made for {blocks!r} blocks; it must be a whole number, 1 or more")
    if not aggregator.guarantee.neighbours.size_is_public:
        raise BadInput("the aggregator hides whether one estimate is there; it must hide what one estimate is")
    width = getattr(aggregator, "width", shape.width)
    if shape.kind in ("number", "array", "named") and width != shape.width:
        raise BadInput(
            f"the aggregator is made for {width} numbers, but the estimator returns {shape.width}; make one for those"
        )
    labels = getattr(aggregator, "labels", len(shape.labels))
    if shape.kind == "label" and labels != len(shape.labels):
        raise BadInput(f"the aggregator is made for {labels} labels, but {len(shape.labels)} are listed; list as many")
