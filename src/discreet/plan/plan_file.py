"""A plan from its file, with the line of whatever is wrong; and its JSON Schema, for editors that complete TOML."""

import inspect
import re
import tomllib
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin

from pydantic import ValidationError

from discreet.errors import BadInput
from discreet.plan.plan_model import Plan, options_of
from discreet.privacy.declaration import Statistic, declared, homes

LARGEST: Final = 1_000_000  # bytes
DEEPEST: Final = 40
SHOWN: Final = 8  # errors at once
ENTRY: Final = re.compile(r"^\s*([A-Za-z0-9_.\-\"']+)\s*=")


def read_plan(path: str | Path) -> tuple[Plan, str]:
    """The plan in a file, and the file's text."""
    file = Path(path)
    try:
        if file.stat().st_size > LARGEST:
            raise BadInput(f"{file.name} is larger than a plan can be ({LARGEST:,} bytes)")
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise BadInput(
            f"{file} cannot be read: {error.strerror}; give the path of a plan, for example plan.toml"
        ) from None
    except UnicodeDecodeError:
        raise BadInput(f"{file.name} is not a text in UTF-8; a plan is a TOML file") from None
    return parse_plan(text, file.name), text


def parse_plan(text: str, name: str = "the plan") -> Plan:
    """A plan from its text; BadInput with the lines of all that is wrong."""
    try:
        content = tomllib.loads(text)
        if _depth(content) > DEEPEST:
            raise BadInput(f"{name} is nested deeper than a plan can be")
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{name} is not TOML: {error}") from None
    except RecursionError:
        raise BadInput(f"{name} is nested deeper than a plan can be") from None
    try:
        return Plan.model_validate(content)
    except ValidationError as error:
        lines = lines_of(text)
        found = error.errors(include_url=False, include_context=False, include_input=False)
        said = [_sentence(item, lines, name) for item in found[:SHOWN]]
        more = [f"and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
        raise BadInput("\n".join(dict.fromkeys([*said, *more]))) from None


def lines_of(text: str) -> dict[tuple[str | int, ...], int]:
    """The line of each table and entry of a TOML text, by its path; good enough to point at.

    >>> lines_of("[data]\\nsource = 'x'\\n[[release]]\\nid = 'a'")[("release", 0, "id")]
    4
    """
    found: dict[tuple[str | int, ...], int] = {}
    prefix: tuple[str | int, ...] = ()
    counts: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        header, entry = _header(line.strip()), ENTRY.match(line)
        if header is not None:
            names, listed = header
            if listed:
                counts[names[0]] = counts.get(names[0], -1) + 1
            head: tuple[str | int, ...] = (names[0], counts[names[0]]) if names[0] in counts else (names[0],)
            prefix = (*head, *names[1:])
            found.setdefault(prefix, number)
        elif entry is not None:
            keys = [part.strip("\"'") for part in entry.group(1).split(".")[:DEEPEST]]
            for stop in range(1, len(keys) + 1):
                found.setdefault((*prefix, *keys[:stop]), number)
    return found


def _header(line: str) -> tuple[list[str], bool] | None:
    """The names in "[a.b]" or "[[a.b]]", and whether it is the latter; None of other lines. One pass, however long."""
    listed = line.startswith("[[")
    inside, closed, after = line[2 if listed else 1 :].partition("]" * (2 if listed else 1))
    after = after.lstrip()
    if not (line.startswith("[") and closed and inside.strip()) or "]" in inside or (after and after[0] != "#"):
        return None
    return [part.strip().strip("\"'") for part in inside.split(".")[:DEEPEST]], listed


def line_of(lines: dict[tuple[str | int, ...], int], path: tuple[str | int, ...]) -> int | None:
    """The line of a path, or of what it is in."""
    while path:
        if path in lines:
            return lines[path]
        path = path[:-1]
    return None


def _sentence(error: Any, lines: dict[tuple[str | int, ...], int], name: str) -> str:
    path = tuple(error["loc"])
    line = line_of(lines, path)
    where = f"{name}, line {line}" if line is not None else name
    what = ".".join(str(part + 1 if isinstance(part, int) else part) for part in path)
    message = str(error["msg"]).removeprefix("Value error, ")
    if error["type"] == "extra_forbidden":
        message = "no such entry in a plan"
    elif error["type"] == "missing":
        message = "this entry is needed"
    return f"{where}: {what + ': ' if what else ''}{message}"


def _depth(content: Any) -> int:
    if isinstance(content, dict):
        return 1 + max((_depth(value) for value in content.values()), default=0)
    if isinstance(content, list):
        return 1 + max((_depth(value) for value in content), default=0)
    return 0


SIMPLE: Final[Mapping[Any, str]] = {str: "string", bool: "boolean", int: "integer", float: "number", Fraction: "number"}


def schema() -> dict[str, Any]:
    """What a plan may say.

    >>> found = schema()["$defs"]["quantile"]["properties"]["options"]
    >>> sorted(found["properties"])
    ['bounds', 'confidence', 'granularity', 'guaranteed', 'q']
    >>> found["required"]
    ['q']
    """
    found = Plan.model_json_schema()
    statistics = [one for one in map(declared, homes()) if not one.code and not one.samples]
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
    if len(statistic.columns) < 2 or statistic.reads(next(iter(statistic.columns)), {}).width == "one":
        left_out.add("outcome")
    left_out |= {name for name in ("weights", "offset") if name not in statistic.columns}
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
