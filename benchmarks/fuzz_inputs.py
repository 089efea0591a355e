"""What the fuzz is made of: tables with one person whom nothing may show, and plans, right, nearly right or wrong.

The person has a mark of its own in every column: a text, numbers and a date that nobody else has.
"""

import csv
import gzip
import io
import json
import random
import sqlite3
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import feather

WORD: Final = "CanaryQz"
WHOLE: Final = 918273645
REAL: Final = 7364512.90817263
DAY: Final = date(1907, 3, 17)
MARKS: Final = (WORD.lower(), "918273645", "7364512.9081", "1907-03-17")
HOSTILE: Final = (
    "<script>alert(1)</script>",
    "=cmd|' /C calc'!A0",
    "'; DROP TABLE people; --",
    "a\tb\nc\r\nd",
    "\u202egnirts",
    "\x00null",
    "{{7*7}} ${x} %s %n",
    "__import__('os').system('true')",
    "[bold red]x[/] [/]",
    "`a` or true",
    "é" * 300,
    "",
    " ",
    "NaN",
    "../../etc/passwd",
    '"',
    "\\",
    "file:///etc/hosts",
    "\U0001f600",
    "-1",
    "nan",
    "1e400",
)
NUMBERS: Final = (
    float("nan"),
    float("inf"),
    -float("inf"),
    1e308,
    -1e308,
    5e-324,
    -0.0,
    0,
    -1,
    2**63,
    -(2**63) - 1,
    10**40,
    1e-300,
    0.1,
    1,
    3,
    True,
    False,
)
COMMON: Final = ("Ulm", "Bonn", HOSTILE[0])
NAMES: Final = ("age", "bmi", "sex", "town", "smoker", "day", "id")
ODD: Final = ("body mass", "select", "x`y", "<b>", "=1+1", "a.b", "[red]", "é", "where", "and")
FORMATS: Final = ("csv", "csv", "tsv", "csv.gz", "parquet", "parquet", "arrow", "db")
Leaf = tuple[Any, Any]


class Raw(str):
    """TOML that is written as it is."""

    __slots__ = ()


@dataclass(frozen=True)
class World:
    """A table in a file, and what a plan may say of it."""

    source: str
    format: str
    table: str | None
    people: int
    repeated: bool
    odd: str

    @property
    def shape(self) -> str:
        """For the count of kinds."""
        rows = "no rows" if not self.people else "one row" if self.people == 1 else "rows"
        return f"{self.format}, {rows}{', several a person' if self.repeated else ''}"


def make_table(rng: random.Random, folder: Path, number: int) -> World:
    """A new table: of any format, hostile here and there; one person holds the marks."""
    people = rng.choice((0, 1, 2, 30, 120, 120, 300))
    repeated, odd = people > 1 and rng.random() < 0.3, rng.choice(ODD)
    names, chosen = (*NAMES, odd), rng.choice(FORMATS)
    rows = [row for who in range(people) for row in _rows_of(rng, who, marked=who == 0, repeated=repeated)]
    rng.shuffle(rows)
    path = folder / f"t{number}.{chosen}"
    if chosen in ("csv", "tsv", "csv.gz"):
        text = _lines(rng, names, rows, "\t" if chosen == "tsv" else ",")
        path.write_bytes(gzip.compress(text, 1) if chosen == "csv.gz" else text)
    elif chosen == "db":
        with sqlite3.connect(path) as base:
            listed = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
            base.execute(f"create table people ({listed})")
            places = ", ".join("?" * len(names))
            base.executemany(f"insert into people values ({places})", map(_stored, rows))  # noqa: S608
        base.close()
    else:
        table = pa.table(_columns(names, rows))
        (pq.write_table if chosen == "parquet" else feather.write_feather)(table, str(path))
    source = f"sqlite:///{path.name}" if chosen == "db" else path.name
    return World(source, chosen, "people" if chosen == "db" else None, people, repeated, odd)


def _rows_of(rng: random.Random, who: int, *, marked: bool, repeated: bool) -> list[list[Any]]:
    found = []
    for _ in range(rng.randint(1, 4) if repeated else 1):
        if marked:
            found.append([WHOLE, REAL, WORD, WORD, True, DAY, f"{WORD}{who}", WORD])
            continue
        row: list[Any] = [
            rng.randint(0, 99),
            rng.gauss(25, 4),
            rng.choice("FM"),
            rng.choice(COMMON),
            rng.random() < 0.3,
            date(2000, 1, 1) + timedelta(rng.randint(0, 9000)),
            f"p{who}",
            rng.choice(HOSTILE),
        ]
        if rng.random() < 0.1:
            row[rng.randrange(len(row))] = None
        if rng.random() < 0.05:
            row[1] = rng.choice((float("nan"), float("inf"), 1e308, -1e308, 5e-324))
        found.append(row)
    return found


def _stored(row: list[Any]) -> list[Any]:
    return [entry.isoformat() if isinstance(entry, date) else entry for entry in row]


def _columns(names: tuple[str, ...], rows: list[list[Any]]) -> dict[str, pa.Array]:
    kinds = (pa.int64(), pa.float64(), pa.string(), pa.string(), pa.bool_(), pa.date32(), pa.string(), pa.string())
    return {
        name: pa.array([row[place] for row in rows], kind)
        for place, (name, kind) in enumerate(zip(names, kinds, strict=True))
    }


def _lines(rng: random.Random, names: tuple[str, ...], rows: list[list[Any]], between: str) -> bytes:
    """CSV, and now and then lines that are too short or too long, cells of another kind, bytes that are no text."""
    file = io.StringIO()
    writer = csv.writer(file, delimiter=between, lineterminator=rng.choice(("\n", "\r\n")))
    writer.writerow(names)
    ragged, mixed = rng.random() < 0.2, rng.random() < 0.4
    for row in rows:
        cells = ["" if entry is None else str(entry) for entry in row]
        if mixed and rng.random() < 0.2:
            cells[rng.randrange(len(cells))] = rng.choice((*HOSTILE, WORD if row[0] == WHOLE else "x"))
        if ragged and rng.random() < 0.1:
            cells = cells[: rng.randint(0, 5)] if rng.random() < 0.5 else [*cells, WORD, WORD]
        writer.writerow(cells)
    text = file.getvalue().encode()
    if rng.random() < 0.1:
        text = b"\xef\xbb\xbf" + text
    if rng.random() < 0.05:
        text = text[: rng.randint(0, len(text))]
    if rng.random() < 0.05:
        place = rng.randint(0, len(text))
        text = text[:place] + rng.choice((b"\xff\xfe", b'"', b"\x00", b'""x"')) + text[place:]
    return text


def quoted(name: str) -> str:
    """A column's name in a condition."""
    return "`" + name.replace("`", "``") + "`"


def _asked(rng: random.Random, world: World, number: int, *, costly: bool) -> dict[str, Any]:
    """One release that can be asked."""
    text = rng.choice(("sex", "town", world.odd))
    number_column = rng.choice(("age", "bmi"))
    cheap: list[Callable[[], dict[str, Any]]] = [
        lambda: {"statistic": "count"},
        lambda: {"statistic": "count", "columns": "smoker"},
        lambda: {"statistic": "proportion", "columns": f"{quoted(text)} == '{rng.choice(('F', 'Ulm', 'x'))}'"},
        lambda: {"statistic": "histogram", "columns": text, "options": {"categories": ["F", "M", "Ulm", HOSTILE[0]]}},
        lambda: {"statistic": "histogram", "columns": "age", "options": {"edges": [0, 20, 40, 120]}},
        lambda: {"statistic": "mean", "columns": number_column, "options": {"bounds": [0, 120]}},
        lambda: {"statistic": "median", "columns": number_column, "options": {"bounds": [0, 120]}},
        lambda: {
            "statistic": "quantile",
            "columns": number_column,
            "options": {"q": rng.choice((0.1, 0.99, [0.2, 0.9]))},
        },
    ]
    found: list[Callable[[], dict[str, Any]]] = [
        lambda: {"statistic": "histogram", "columns": text, "delta": 1e-6},
        lambda: {"statistic": "histogram", "columns": "id", "delta": 1e-6},
        lambda: {"statistic": "histogram", "columns": "day", "delta": 1e-6},
        lambda: {"statistic": "count", "groupby": text, "delta": 1e-6},
        lambda: {
            "statistic": "mean",
            "columns": "bmi",
            "groupby": "sex",
            "delta": 1e-6,
            "options": {"bounds": [0, 60]},
        },
        lambda: {"statistic": "mean", "columns": "bmi"},
        lambda: {"statistic": "variance", "columns": number_column},
        lambda: {"statistic": "std", "columns": "bmi", "options": {"bounds": [0, 60]}},
        lambda: {"statistic": "proportion_test", "columns": "smoker", "options": {"null": 0.3}},
        lambda: {"statistic": "mean_test", "columns": "bmi", "options": {"null": 25.0}},
        lambda: {"statistic": "density", "columns": "bmi", "options": {"bounds": [0, 60]}},
        lambda: {"statistic": "gaussian", "columns": "bmi", "options": {"bounds": [0, 60]}},
        lambda: {"statistic": "covariance", "columns": ["age", "bmi"], "delta": 1e-6},
        lambda: {"statistic": "linear_regression", "formula": "bmi ~ age", "delta": 1e-6},
        lambda: {"statistic": "logistic_regression", "columns": ["age"], "outcome": "smoker"},
        lambda: {"statistic": "independence_test", "columns": ["sex", "town"]},
        lambda: {"statistic": "kmeans", "columns": ["age", "bmi"], "delta": 1e-6, "options": {"k": 2}},
    ]
    asked = {"id": f"r{number}"} | rng.choice(found if costly else cheap)()
    if rng.random() < 0.3:
        asked["where"] = rng.choice(
            (
                "age >= 18",
                f"{quoted(world.odd)} is missing",
                "sex in ['F', 'M'] and not smoker == true",
                "day >= '2010-01-01'",
                "age < 1e300 or bmi is number",
            )
        )
    if "groupby" not in asked and asked["statistic"] in ("count", "proportion", "mean") and rng.random() < 0.2:
        asked |= {"groupby": "town", "keys": ["Ulm", "Bonn", HOSTILE[0], "nobody"]}
    match rng.randrange(4):
        case 0:
            asked["share"] = rng.choice((1, 2, 0.5))
        case 1 | 2:
            asked["epsilon"] = rng.choice((0.1, 0.25, 0.5))
        case _:
            pass
    if rng.random() < 0.2:
        asked["title"] = rng.choice(HOSTILE)
    return asked


def make_plan(rng: random.Random, world: World, number: int) -> dict[str, Any]:
    """A plan that can be asked of the table, mostly."""
    costly = rng.random() < 0.15
    many = rng.choice((1, 1, 1, 2, 3))
    releases = [_asked(rng, world, place, costly=costly and place == 0) for place in range(many)]
    delta = 1e-5 if any("delta" in asked for asked in releases) else 0.0
    if delta and many > 1:  # at fixed prices: what shares come to is searched for, which takes a second
        releases = [{k: v for k, v in asked.items() if k != "share"} | {"epsilon": 0.3} for asked in releases]
    data: dict[str, Any] = {"source": world.source}
    if world.table is not None:
        data["table"] = world.table
    if world.repeated or rng.random() < 0.2:
        data |= {"person": "id", "unit": "patient"}
    if rng.random() < 0.2:
        data["neighbours"] = "replace"
    if rng.random() < 0.01:  # forecasts may take a second
        data["rows"] = rng.choice((1, 50, 500))
    if rng.random() < 0.5 or world.format not in ("parquet", "arrow"):
        data["types"] = {"age": "integer", "bmi": "number", "smoker": "boolean", "day": "date"}
    if rng.random() < 0.2:
        data["missing"] = {"age": rng.choice((0, 40, "drop", "keep"))}
    if "person" in data and rng.random() < 0.3:
        data |= {"per_person": {"age": rng.choice(("first", "last", "max", "sum"))}, "max_rows": 3}
    name = f"{data.get('neighbours', 'add')} {data.get('unit', 'row')}" + (" small" if rng.random() < 0.05 else "")
    plan: dict[str, Any] = {
        "title": rng.choice((*HOSTILE[:10], "A plan")) + f" {number}",
        "data": data,
        "population": {
            "name": name,
            "ledger": "study.ledger",
            "epsilon": 0.2 if "small" in name else 1e5,
            "delta": 0.5,
        },
        "spend": {"epsilon": rng.choice((0.5, 1.0, 2.0, 4.0)), "delta": delta},
        "release": releases,
    }
    if rng.random() < 0.1:
        plan["description"] = rng.choice(HOSTILE)
    return plan


def hostile(rng: random.Random, depth: int = 0) -> Any:
    """Any value that TOML can hold."""
    match rng.randrange(8 if depth < 4 else 4):
        case 0 | 1:
            return rng.choice(NUMBERS)
        case 2:
            return rng.choice(HOSTILE)
        case 3:
            return rng.choice(
                (Raw("1979-05-27T07:32:00Z"), Raw("07:32:00"), Raw("2020-02-30"), Raw("0xff"), "x" * 20_000)
            )
        case 4 | 5:
            return [hostile(rng, depth + 1) for _ in range(rng.randrange(4))]
        case 6:
            return {rng.choice(HOSTILE[:8]): hostile(rng, depth + 1) for _ in range(rng.randrange(3))}
        case _:
            return [0, 1]


SMUGGLED: Final = (
    *(
        "epsilon",
        "delta",
        "where",
        "groupby",
        "keys",
        "neighbours",
        "unit",
        "rng",
        "x",
        "X",
        "y",
        "data",
        "request",
        "missing",
    ),
    *("bounds", "q", "edges", "categories", "method", "model", "sigma", "reach", "confidence", "granularity", "names"),
    *("self", "__class__", "kwargs", "table", "people", "classes", "k", "p", "mu", "null", "guaranteed", "fit", "clip"),
)


def _leaves(thing: Any) -> list[Leaf]:
    """Every place of a plan that can be changed: its container and its key."""
    found: list[Leaf] = []
    pairs = thing.items() if isinstance(thing, dict) else enumerate(thing) if isinstance(thing, list) else ()
    for key, value in pairs:
        found.append((thing, key))
        found += _leaves(value)
    return found


def spoil(rng: random.Random, plan: dict[str, Any]) -> None:
    """Change one thing or a few."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        holder, key = rng.choice(_leaves(plan) or [(plan, "title")])
        match rng.randrange(8):
            case 0 | 1 | 2:
                holder[key] = hostile(rng)
            case 3:
                del holder[key]
            case 4 if isinstance(holder, dict):
                holder[rng.choice((*SMUGGLED, *HOSTILE))] = hostile(rng)
            case 5:
                asked = rng.choice(plan["release"]) if isinstance(plan.get("release"), list) and plan["release"] else {}
                if isinstance(asked, dict):
                    options = asked.get("options")
                    asked["options"] = (options if isinstance(options, dict) else {}) | {
                        rng.choice(SMUGGLED): hostile(rng)
                    }
            case 6:
                asked = rng.choice(plan["release"]) if isinstance(plan.get("release"), list) and plan["release"] else {}
                if isinstance(asked, dict):
                    asked["statistic"] = rng.choice(
                        (
                            "fit",
                            "custom_test",
                            "maximum_likelihood",
                            "sgd",
                            "fit_distribution",
                            "goodness_of_fit_test",
                            "x",
                        )
                    )
            case _:
                other, place = rng.choice(_leaves(plan) or [(plan, "title")])
                holder[key] = deepcopy(other[place])


def spoiled_bytes(rng: random.Random, text: bytes) -> bytes:
    """The same file after an accident or an attack."""
    for _ in range(rng.choice((1, 1, 3, 10))):
        start = rng.randint(0, len(text))
        stop = min(len(text), start + rng.choice((1, 1, 5, 50)))
        match rng.randrange(6):
            case 0:
                text = text[:start] + text[stop:]
            case 1:
                text = text[:start] + bytes(rng.randrange(256) for _ in range(stop - start)) + text[stop:]
            case 2:
                text = text[:start] + text[start:stop] * 3 + text[stop:]
            case 3:
                text = text[:start] + rng.choice(HOSTILE).encode() + text[start:]
            case 4:
                text = (
                    text[:start]
                    + rng.choice((b"nan", b"-inf", b"1e999", b"-1", b"0", b"[[", b'"""', b"\n"))
                    + text[stop:]
                )
            case _:
                deep = rng.choice((30, 60, 2000))
                text += b"\nz = " + b"[" * deep + b"]" * rng.choice((deep, deep - 1))
    return text


def toml(value: Any) -> str:
    """A value, as TOML has it."""
    match value:
        case Raw():
            return str(value)
        case bool():
            return str(value).lower()
        case int():
            return str(value)
        case float():
            return repr(value)
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case dict():
            return "{" + ", ".join(f"{toml(str(key))} = {toml(entry)}" for key, entry in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(toml, value)) + "]"
        case _:
            return '""'


def written(plan: dict[str, Any]) -> str:
    """A plan's file."""
    lines = [f"{toml(str(key))} = {toml(value)}" for key, value in plan.items() if not isinstance(value, dict | list)]
    for key, value in plan.items():
        if isinstance(value, dict):
            lines += [f"[{toml(str(key))}]", *(f"{toml(str(name))} = {toml(entry)}" for name, entry in value.items())]
        elif isinstance(value, list) and value and all(isinstance(entry, dict) for entry in value):
            for entry in value:
                lines += [f"[[{toml(str(key))}]]", *(f"{toml(str(name))} = {toml(one)}" for name, one in entry.items())]
        elif isinstance(value, list):
            lines.insert(0, f"{toml(str(key))} = {toml(value)}")
    return "\n".join(lines) + "\n"
