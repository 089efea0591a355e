"""A plan from its file; what is wrong is said with its line."""

import re
import tomllib
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from discreet.errors import BadInput
from discreet.plan.plan_model import Plan

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
