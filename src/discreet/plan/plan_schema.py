"""The JSON Schema of release plans, for editors that complete TOML: of the model and of the declared statistics."""

import inspect
from collections.abc import Mapping, Sequence
from fractions import Fraction
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin

from discreet.plan.plan_file import FIT, OTHERS, Plan, options_of
from discreet.privacy.declaration import Statistic, declared, homes

SIMPLE: Final[Mapping[Any, str]] = {str: "string", bool: "boolean", int: "integer", float: "number", Fraction: "number"}


def schema() -> dict[str, Any]:
    """What a plan may say.

    >>> found = schema()["$defs"]["quantile"]["properties"]["options"]
    >>> sorted(found["properties"])
    ['bounds', 'confidence', 'granularity', 'guaranteed', 'largest_weight', 'q']
    >>> found["required"]
    ['q']
    """
    found = Plan.model_json_schema()
    statistics = [one for one in map(declared, homes()) if (not one.code or one.name == FIT) and not one.samples]
    common = found["$defs"]["PlannedRelease"]
    common["properties"]["statistic"] = {"enum": [one.name for one in statistics], "title": "Statistic"}
    found["$defs"] |= {one.name: _release(one, common) for one in statistics}
    found["properties"]["release"]["items"] = {"oneOf": [{"$ref": f"#/$defs/{one.name}"} for one in statistics]}
    return found


def _release(statistic: Statistic, common: Mapping[str, Any]) -> dict[str, Any]:
    """[[release]] of one statistic: the entries that it takes, and its own options."""
    left_out = set() if statistic.formula is not None else {"formula"}
    left_out |= set() if statistic.groups else {"groupby", "keys"}
    left_out |= set() if statistic.groups or "delta" in statistic.options else {"delta"}
    main = [name for name in statistic.columns if name not in OTHERS]
    if len(main) < 2 or statistic.reads(main[0], {}).width == "one":
        left_out.add("outcome")
    left_out |= set() if statistic.name == FIT else {"estimator", "code"}
    left_out |= {name for name in OTHERS if name not in statistic.columns}
    about = inspect.cleandoc(statistic.make.__doc__ or "").splitlines()[0]
    entries = {
        name: {"$ref": f"#/$defs/PlannedRelease/properties/{name}"}
        for name in common["properties"]
        if name not in left_out
    }
    options = _options(statistic)
    return {
        "title": statistic.name,
        "description": about,
        "type": "object",
        "properties": entries | {"statistic": {"const": statistic.name, "description": about}, "options": options},
        "required": ["id", "statistic", *(["options"] if "required" in options else [])],
        "additionalProperties": False,
    }


def _options(statistic: Statistic) -> dict[str, Any]:
    """The options that TOML can hold; those that take objects of Python are left out."""
    found, needed = {}, []
    for name in options_of(statistic.name):
        one = statistic.signature.parameters[name]
        kind = _kind(one.annotation)
        if kind is None:
            continue
        if one.default is inspect.Parameter.empty:
            needed.append(name)
        elif one.default is not None:
            kind = kind | {"default": one.default}
        found[name] = kind
    made = {"type": "object", "properties": found, "additionalProperties": False}
    return made | ({"required": needed} if needed else {})


def _kind(annotation: Any) -> dict[str, Any] | None:
    """The schema of a type; None of what TOML cannot hold."""
    if annotation is Any:
        return {}
    if annotation in SIMPLE:
        return {"type": SIMPLE[annotation]}
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in (Union, UnionType):
        found = [kind for kind in (_kind(one) for one in inner if one is not NoneType) if kind is not None]
        apart = [kind for place, kind in enumerate(found) if kind not in found[:place]]
        if {"type": "number"} in apart:
            apart = [kind for kind in apart if kind != {"type": "integer"}]
        return None if not apart else apart[0] if len(apart) == 1 else {"anyOf": apart}
    if origin is tuple:
        return {"type": "array", "items": _kind(inner[0]), "minItems": len(inner), "maxItems": len(inner)}
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return {"type": "array", "items": _kind(inner[0]) or {}}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _kind(inner[1]) or {}}
    return None
