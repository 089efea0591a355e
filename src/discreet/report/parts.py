"""The numbers of a release by name: what a table, a sentence or a picture is made of.

A record is what `Release.to_dict` returns, or what JSON kept of it. Its value has one of few shapes, known by its keys.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Final, Literal

from discreet.report.numbers import finite, number

Shape = Literal[
    "nothing",
    "number",
    "vector",
    "quantiles",
    "matrix",
    "normal",
    "normal table",
    "tally",
    "density",
    "coefficients",
    "named",
    "clusters",
    "test",
    "text",
    "other",
]
MOST: Final = 100_000  # numbers of one release that are listed


@dataclass(frozen=True, slots=True)
class NamedNumber:
    """One released number and the ends of its interval; `aside` if it is not drawn beside the others."""

    name: str
    value: float | None
    _: KW_ONLY
    low: float | None = None
    high: float | None = None
    aside: bool = False

    @property
    def barred(self) -> bool:
        """Whether it has an interval."""
        return self.low is not None and self.high is not None


def shape_of(record: Mapping[str, Any]) -> Shape:
    """What kind of answer a record holds."""
    value = record.get("value")
    if record.get("refusal") is not None or value is None:
        return "nothing"
    if isinstance(value, str | bool):
        return "text"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, list) and value:
        if all(map(_numeric, value)):
            return "quantiles" if len(_shares(record)) == len(value) else "vector"
        return "matrix" if _square(value) else "other"
    return _shape_of_keys(value) if isinstance(value, Mapping) and value else "other"


def _shape_of_keys(value: Mapping[str, Any]) -> Shape:
    def listed(*names: str) -> bool:
        return all(isinstance(value.get(name), list) for name in names)

    if _numeric(value.get("p_value")) and "statistic" in value:
        return "test"
    if listed("centres", "sizes") and all(isinstance(row, list) for row in value["centres"]):
        return "clusters"
    if listed("edges", "heights") and len(value["edges"]) == len(value["heights"]) + 1:
        return "density"
    if listed("keys", "counts") or listed("keys", "heights"):
        return "tally"
    if listed("coef", "names"):
        return "coefficients"
    if listed("mean", "covariance") and _square(value["covariance"]) and all(map(_numeric, value["mean"])):
        return "normal table"
    if set(value) == {"mean", "variance"} and all(map(_numeric, value.values())):
        return "normal"
    return "named" if all(map(_numeric, value.values())) else "other"


def parts(entry: Mapping[str, Any], record: Mapping[str, Any]) -> list[NamedNumber]:
    """Every number of a release, in order, with its interval; none of a refusal or a text."""
    shape = shape_of(record)
    value: Any = record.get("value")
    if shape in {"nothing", "text"}:
        return []
    interval = record.get("interval") or {}
    if shape in {"named", "normal"}:
        middles, lows, highs = (_in_order(thing, value) for thing in (value, interval.get("low"), interval.get("high")))
    else:
        middles, lows, highs = (_flat(shape, thing) for thing in (value, interval.get("low"), interval.get("high")))
    names = _names(shape, entry, record, len(middles))
    aside: range | tuple[()] = ()
    if shape == "coefficients":
        aside = range(1)  # the intercept is on no scale of the others
    elif shape == "normal table":
        aside = range(len(record["value"]["mean"]), len(middles))  # the covariance is a table of its own
    found = []
    for place, (name, middle) in enumerate(zip(names, middles[:MOST], strict=False)):
        ends = [finite(end[place]) if place < len(end) else None for end in (lows, highs)]
        found.append(NamedNumber(name, finite(middle), low=ends[0], high=ends[1], aside=place in aside))
    return found + list(_beside(shape, value))


def columns(entry: Mapping[str, Any], many: int) -> list[str]:
    """What the coordinates of a row are called."""
    given = entry.get("columns") or []
    return [str(name) for name in given] if len(given) == many else [f"column {place + 1}" for place in range(many)]


def label(key: Any) -> str:
    """A bin or a group in words.

    >>> label([0, 10]), label(None), label("a"), label(True)
    ('0 to 10', 'missing', 'a', 'yes')
    """
    match key:
        case None:
            return "missing"
        case bool():
            return "yes" if key else "no"
        case int() | float():
            return number(key, 8)
        case [int() | float(), int() | float()]:
            return f"{number(key[0], 8)} to {number(key[1], 8)}"
        case list() | tuple():
            return ", ".join(map(label, key))
        case Mapping():
            return ", ".join(f"{name} {label(item)}" for name, item in key.items())
    return str(key)


def _flat(shape: Shape, thing: Any) -> list[Any]:
    """The numbers of a value, or of one end of its interval, in one order for all three."""
    match shape, thing:
        case "density" | "tally", Mapping():
            inner = thing.get("counts", thing.get("heights"))
            return inner if isinstance(inner, list) else []
        case "coefficients", Mapping():
            return [thing.get("intercept"), *_listed(thing.get("coef"))]
        case "normal table", Mapping():
            return [*_listed(thing.get("mean")), *_spread(thing.get("covariance"))]
        case "test", Mapping():
            return [thing.get("p_value"), thing.get("statistic")]
        case "clusters", Mapping():
            return _spread(thing.get("centres"))
        case "matrix" | "other", _:
            return _spread(thing)
        case _, list():
            return thing
    return [thing]


def _in_order(thing: Any, names: Iterable[str]) -> list[Any]:
    return [thing.get(name) if isinstance(thing, Mapping) else None for name in names]


def _names(shape: Shape, entry: Mapping[str, Any], record: Mapping[str, Any], many: int) -> list[str]:
    value: Any = record.get("value")
    match shape:
        case "vector":
            return columns(entry, many)
        case "quantiles":
            return [f"{number(100 * share)}%" for share in _shares(record)]
        case "matrix":
            return _pairs(columns(entry, len(value)))
        case "normal table":
            called = columns(entry, len(value["mean"]))
            return [f"mean of {name}" for name in called] + _pairs(columns(entry, len(value["covariance"])))
        case "tally":
            return [label(key) for key in value["keys"]]
        case "density":
            edges = [number(edge) for edge in value["edges"]]
            return [f"{one} to {other}" for one, other in itertools.pairwise(edges)]
        case "coefficients":
            return ["intercept", *map(str, value["names"])]
        case "named" | "normal":
            return [str(name) for name in value]
        case "test":
            return ["p-value", "statistic"]
        case "clusters":
            widths = [(place, columns(entry, len(row))) for place, row in enumerate(value["centres"], 1)]
            return [f"centre {place}, {name}" for place, called in widths for name in called]
        case "number":
            return [""]
    return [f"number {place + 1}" for place in range(many)]


def _beside(shape: Shape, value: Any) -> list[NamedNumber]:
    """Released numbers that have no interval and no place in the picture."""
    match shape:
        case "tally" if finite(value.get("other")) is not None:
            return [NamedNumber("in none of these", finite(value["other"]), aside=True)]
        case "density":
            return [
                NamedNumber(name, finite(value.get(name)), aside=True) for name in ("below", "above") if name in value
            ]
        case "clusters":
            return [
                NamedNumber(f"{word} of {place}", finite(item), aside=True)
                for word, named in (("size", "sizes"), ("noise (sd)", "noise"))
                for place, item in enumerate(_listed(value.get(named)), 1)
            ]
    return []


def _shares(record: Mapping[str, Any]) -> list[Any]:
    """Which quantile is which."""
    kept = record.get("provenance")
    found = kept.get("parameters") if isinstance(kept, Mapping) else None
    shares = found.get("q") if isinstance(found, Mapping) else None
    return shares if isinstance(shares, list) and all(finite(share) is not None for share in shares) else []


def _pairs(names: Sequence[str]) -> list[str]:
    return [f"{one} and {other}" for one in names for other in names]


def _numeric(thing: Any) -> bool:
    return thing is None or (isinstance(thing, int | float) and not isinstance(thing, bool))


def _square(thing: Any) -> bool:
    rows = isinstance(thing, list) and bool(thing) and all(isinstance(row, list) for row in thing)
    return rows and all(len(row) == len(thing) and all(map(_numeric, row)) for row in thing)


def _listed(thing: Any) -> list[Any]:
    return thing if isinstance(thing, list) else []


def _spread(thing: Any) -> list[Any]:
    """All numbers, however deep they are nested."""
    found: list[Any] = []
    waiting = [thing]
    while waiting and len(found) < MOST:
        match waiting.pop():
            case list() as inner:
                waiting.extend(reversed(inner))
            case Mapping() as inner:
                waiting.extend(reversed(list(inner.values())))
            case item if _numeric(item):
                found.append(item)
    return found
