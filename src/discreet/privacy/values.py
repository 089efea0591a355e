"""What a release may hold: a closed set of values, which value an answer is, and how each is stored.

`value_of` names the value that an answer is, and nobody else asks. `stored` writes a value as JSON holds it and
`recall` reads it: a number or a text as itself, numbers without names as a list, and any other as an object whose
"kind" says which it is. Objects of discreet 0.1 have no kind and are known by their fields.
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, Final

import numpy as np

from discreet.errors import BadInput
from discreet.privacy.value_arrays import Array, Counts, Floats, Matrix, Scalar, Shares, Vector, label
from discreet.privacy.value_classes import ClassCoefficients, ClassCounts
from discreet.privacy.value_comparison import Comparison, TestResult
from discreet.privacy.value_components import Components
from discreet.privacy.value_curves import StepCurve
from discreet.privacy.value_models import (
    Clusters,
    Coefficients,
    Density,
    Distribution,
    Link,
    MultivariateNormal,
)
from discreet.privacy.value_shapes import Shapes
from discreet.privacy.value_synthetic import SyntheticTable
from discreet.privacy.value_tables import CrossCounts

__all__ = [
    "Array",
    "ClassCoefficients",
    "ClassCounts",
    "Clusters",
    "Coefficients",
    "Comparison",
    "Components",
    "Counts",
    "CrossCounts",
    "Density",
    "Distribution",
    "Link",
    "Matrix",
]
__all__ += [
    "MultivariateNormal",
    "Scalar",
    "Shapes",
    "Shares",
    "StepCurve",
    "SyntheticTable",
    "TestResult",
    "Value",
    "Vector",
    "label",
    "like",
    "plain",
]
__all__ += ["recall", "stored", "value_of"]

Numbers = Scalar | Vector | Matrix | Counts | CrossCounts | SyntheticTable | Shares | TestResult | Comparison
Regressions = Coefficients | ClassCoefficients
Models = (
    Regressions | ClassCounts | Shapes | Clusters | Components | Density | StepCurve | Distribution | MultivariateNormal
)
Value = Numbers | Models
MOST: Final = 100_000  # numbers of one stored value


def value_of(answer: Any) -> Value:
    """Which value an answer is: what it is already, or the one for a number, an array, or numbers by name."""
    if isinstance(answer, Value):
        return answer
    match answer:
        case bool() | np.bool_() | str():
            return Scalar(answer if isinstance(answer, str) else bool(answer))
        case Fraction() | np.generic() | int() | float():
            number = answer.item() if isinstance(answer, np.generic) else answer
            return Scalar(float(number) if isinstance(number, Fraction) else number)
        case Mapping() if answer and all(isinstance(one, int | float | np.number) for one in answer.values()):
            return Vector(np.array(list(answer.values())), tuple(map(str, answer)))
        case list() | tuple() | np.ndarray():
            try:
                cells = np.asarray(answer, dtype=None if isinstance(answer, np.ndarray) else float)
            except (TypeError, ValueError):
                return Scalar(str(answer))
            if cells.dtype.kind not in "iufb":
                return Scalar(str(answer))
            match cells.ndim:
                case 0:
                    return Scalar(cells.item())
                case 1:
                    return Vector(cells)
                case 2:
                    return Matrix(cells)
            return Vector(cells.ravel(), tuple(str(list(place)) for place in np.ndindex(cells.shape)))
    return Scalar(str(answer))


def like(value: Value, end: Any) -> Any:
    """One end of an interval, or the size of an error, as its numbers in the order of the value's."""
    numbers = value_of(end).numbers if end is not None else []
    many = len(value.numbers)
    if len(numbers) == 1 and many != 1:
        return numbers * many
    return numbers if len(numbers) == many else [None] * many


def plain(thing: Any, *, record: bool = False) -> Any:
    """Anything as JSON knows it; numbers that JSON lacks become null.

    In the `record` of a question a fraction stays one, as text, and code is there by its name.
    """
    if record and callable(thing) and hasattr(thing, "__qualname__"):
        return f"{thing.__module__}.{thing.__qualname__}"
    match thing:
        case None | bool() | int() | str():
            return thing
        case Enum():
            return thing.value
        case Fraction():
            return str(thing) if record else float(thing)
        case float():
            return thing if abs(thing) < math.inf else None
        case range() | bytes():
            return repr(thing)
        case np.ndarray() | np.generic():
            return plain(thing.tolist())
        case Mapping() if not is_dataclass(thing):
            return {str(key): plain(value, record=record) for key, value in thing.items()}
        case list() | tuple():
            return [plain(item, record=record) for item in thing]
    if is_dataclass(thing) and not isinstance(thing, type):
        return {field.name: plain(getattr(thing, field.name)) for field in fields(thing)}
    return str(thing)


def stored(answer: Any) -> Any:
    """An answer as JSON holds it."""
    if answer is None:
        return None
    value = value_of(answer)
    match value:
        case Scalar():
            return plain(value.value)
        case Vector() | Matrix() if not value.names:
            return plain(value.cells)
        case Distribution():
            return {
                "kind": "distribution",
                "family": value.family,
                "parameters": plain(value.parameters),
                "curve": None if value.curve is None else [plain(line) for line in value.curve],
            }
    kind, (_, form) = next(item for item in FORMS.items() if item[1][0] is type(value))
    held = [plain(getattr(value, field.name)) for field in fields(value)]
    return {"kind": kind, **dict(zip(form, held, strict=True))}


def json_text(record: Any, indent: int | None) -> str:
    """A record as JSON; half a surrogate pair as JSON writes it."""
    text = json.dumps(record, indent=indent, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "backslashreplace").decode()


def error_of(value: Value, size: Any) -> Any:
    """An end of an interval or the size of an error, in the order of the value's numbers; of a scalar one number."""
    if size is None or isinstance(size, str):  # a date
        return size
    if isinstance(value, Scalar) and isinstance(size, int | float):
        return plain(size)
    numbers = like(value, size)
    return plain(numbers[0] if isinstance(value, Scalar) and numbers else numbers)


def recall(record: Any) -> Any:
    """The answer that `stored` wrote: a number or a text as itself, any other as its value."""
    match record:
        case None | str() | bool() | int() | float():
            return record if not isinstance(record, int | float) or abs(record) < math.inf else None
        case list() if any(isinstance(row, list) for row in record):
            return Matrix(_rows(record))
        case list():
            return Vector(_row(record))
        case {"kind": str() as kind} if kind in FORMS:
            return _read(kind, {name: item for name, item in record.items() if name != "kind"})
        case Mapping():
            return _read_without_kind(record)
    raise BadInput(f"the value is of type {type(record).__name__}; it must be a number, a text, a list or an object")


def _read(kind: str, held: Mapping[str, Any]) -> Value:
    make, form = FORMS[kind]
    held = {**LATER.get(kind, {}), **held}
    if set(held) != set(form):
        raise BadInput(f"a value of kind {kind} has the fields {', '.join(form)}; these are others")
    found: Value = make(*(reader(held[name]) for name, reader in form.items()))
    return found


# fields that earlier versions did not write
LATER: Final[dict[str, dict[str, Any]]] = {"test": {"effect": None, "measure": ""}}


def _read_without_kind(record: Mapping[str, Any]) -> Value:
    """As discreet 0.1 wrote them."""
    for kind, (_, form) in FORMS.items():
        if set(record) in (set(form) - {"names"}, set(form), set(form) - set(LATER.get(kind, ()))):
            return _read(kind, {"names": []} | dict(record) if "names" in form else record)
    names = {str(name): item for name, item in record.items()}
    return Vector(_row(list(names.values())), tuple(names))


def _number(thing: Any) -> Any:
    if thing is not None and (isinstance(thing, bool) or not isinstance(thing, int | float)):
        raise BadInput("a value holds something else than a number where a number is needed")
    try:
        number = math.nan if thing is None else float(thing)
    except OverflowError:
        raise BadInput("a value holds a number beyond the floats") from None
    return thing if isinstance(thing, int) and abs(thing) < 2**53 else number if abs(number) < math.inf else math.nan


def _optional(thing: Any) -> Any:
    return None if thing is None else _number(thing)


def _row(thing: Any) -> Floats:
    if not isinstance(thing, list) or len(thing) > MOST:
        raise BadInput(f"a value needs a list of at most {MOST} numbers")
    return np.array([_number(item) for item in thing], dtype=None if thing else float)


def _rows(thing: Any) -> Floats:
    rows = [_row(row) for row in thing] if isinstance(thing, list) else []
    if not rows or len({len(row) for row in rows}) != 1 or not len(rows[0]):
        raise BadInput("a value needs a table with rows of one length")
    return np.array(rows)


def _keys(thing: Any) -> tuple[Any, ...]:
    if not isinstance(thing, list) or len(thing) > MOST:
        raise BadInput("bins must be a list")
    return tuple(tuple(item) if isinstance(item, list) else item for item in thing)


def _sides(thing: Any) -> tuple[tuple[Any, ...], ...]:
    if not isinstance(thing, list) or not all(isinstance(item, list) for item in thing):
        raise BadInput("levels must be a list of lists")
    return tuple(_keys(item) for item in thing)


def _pairs(thing: Any) -> tuple[tuple[int, int], ...]:
    if not isinstance(thing, list) or not all(isinstance(item, list) and len(item) == 2 for item in thing):
        raise BadInput("pairs must be a list of two places each")
    return tuple((one, other) for one, other in thing)


def _names(thing: Any) -> tuple[str, ...]:
    if not isinstance(thing, list) or not all(isinstance(item, str) for item in thing):
        raise BadInput("names must be a list of texts")
    return tuple(thing)


def _text(thing: Any) -> str:
    if not isinstance(thing, str):
        raise BadInput("a value holds something else than a text where a text is needed")
    return thing


def _parameters(thing: Any) -> dict[str, Any]:
    if not isinstance(thing, Mapping):
        raise BadInput("parameters must be an object of numbers")
    return {str(name): _number(item) for name, item in thing.items()}


def _curve(thing: Any) -> tuple[Floats, Floats] | None:
    if thing is None:
        return None
    x, y = _rows(thing) if isinstance(thing, list) and len(thing) == 2 else _rows(None)
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise BadInput("a curve needs places and heights")
    return x, y


def _fitted(family: str, parameters: dict[str, Any], curve: Any) -> Distribution:
    return Distribution(family, parameters, curve=curve)


Reader = Callable[[Any], Any]
FORMS: Final[dict[str, tuple[Callable[..., Any], dict[str, Reader]]]] = {
    "vector": (Vector, {"numbers": _row, "names": _names, "one_scale": bool}),
    "matrix": (Matrix, {"cells": _rows, "names": _names, "across": _names}),
    "counts": (Counts, {"keys": _keys, "counts": _row, "other": _optional, "threshold": _optional}),
    "cross counts": (CrossCounts, {"names": _names, "levels": _sides, "cells": _row, "other": _optional}),
    "synthetic table": (SyntheticTable, {"names": _names, "levels": _sides, "pairs": _pairs, "cells": _row}),
    "shares": (Shares, {"keys": _keys, "heights": _row, "other": _optional}),
    "coefficients": (Coefficients, {"coef": _row, "intercept": _number, "names": _names, "link": _text}),
    "coefficients by class": (
        ClassCoefficients,
        {"coef": _rows, "intercept": _row, "names": _names, "classes": _keys},
    ),
    "clusters": (Clusters, {"centres": _rows, "sizes": _row, "noise": _row, "loss": _optional, "names": _names}),
    "density": (
        Density,
        {"edges": _row, "heights": _row, "below": _number, "above": _number, "fine": _row, "reached": _row},
    ),
    "counts by class": (
        ClassCounts,
        {"classes": _keys, "names": _names, "levels": _sides, "measured": _keys, "cells": _row, "noise": _number},
    ),
    "shapes": (
        Shapes,
        {"classes": _keys, "names": _names, "levels": _sides, "measured": _keys, "cells": _row, "intercept": _number},
    ),
    "components": (
        Components,
        {"shares": _row, "captured": _number, "directions": _rows, "centre": _row, "scales": _row, "names": _names},
    ),
    "step curve": (StepCurve, {"at": _row, "heights": _row, "falls": bool}),
    "multivariate normal": (MultivariateNormal, {"mean": _row, "covariance": _rows, "names": _names}),
    "comparison": (
        Comparison,
        {"numbers": _row, "groups": _names, "p_value": _number, "split_p_value": _number},
    ),
    "test": (TestResult, {"statistic": _number, "p_value": _number, "effect": _optional, "measure": _text}),
    "distribution": (_fitted, {"family": _text, "parameters": _parameters, "curve": _curve}),
}
