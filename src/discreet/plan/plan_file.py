"""What a release plan may say, and its file.

Names, types and ranges are checked before anything is opened; an error names the line of whatever is wrong.
"""

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from functools import reduce
from itertools import takewhile
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field, StringConstraints, ValidationError, model_validator

from discreet.errors import BadInput, meant, short
from discreet.plan.plan_tables import Name, PlannedTable, Section, Types, check_tables
from discreet.plan.planned_fit import OPTIONS, check_fit, fit_of
from discreet.privacy.declaration import declared

FIT: Final = "fit"
BESIDE: Final = ("epsilon", "delta", "where", "groupby", "keys", "neighbours", "unit", "missing", "rng")
OTHERS: Final = ("weights", "offset", "clusters", "strata")  # columns beside those that a release is about
LATER: Final = ("guesses", "estimator", "code")  # entries that older plans do not have
MOST: Final = 500  # releases in a plan
Text = Annotated[str, StringConstraints(max_length=10_000)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Chance = Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False)]
Scalar = str | bool | int | float


def plannable(name: str) -> str:
    """The name of a statistic that a plan can hold: one about one table, and without code but for `fit`."""
    try:
        statistic = declared(name)
    except BadInput as error:
        raise ValueError(str(error)) from None
    if statistic.code and name != FIT:
        raise ValueError(f"{name} runs code that a plan cannot hold; ask for it in Python, in a session")
    if statistic.samples:
        raise ValueError(
            f"{name} compares groups whose members are public, and a plan is about one table, where they are not; ask "
            "for difference, ab_test or groups_test"
        )
    return name


class Data(Section):
    """[data]: the table, whose rows it holds, and what a missing entry stands for."""

    source: Name | None = Field(None, description="a file, glob or folder, from the plan's folder; or a database")
    table: Name | None = Field(None, description="the table of a database")
    engine: Name | None = Field(None, description="where files are worked on: dask://host:8786 or spark://host:7077")
    person: Name | None = Field(None, description="the column that says whose row it is")
    unit: Name | None = Field(None, description="what a row, or a person, is called: patient, say")
    unit_plural: Name | None = Field(None, description="more than one of them, if English has its own word: oxen")
    neighbours: Literal["add_or_remove", "replace"] = Field(
        "add_or_remove", description="what is hidden; under replace the number of people is public"
    )
    rows: Annotated[int, Field(ge=1)] | None = Field(None, description="about how many people, if public, to forecast")
    types: Types = Field(
        {}, description="by column, what it holds, or how its numbers are written; else as the file declares"
    )
    missing: dict[Name, Scalar] = Field({}, description='by column: "drop", "keep", or a public value that stands in')
    per_person: dict[Name, Literal["first", "last", "mean", "sum", "count", "min", "max", "any", "all"]] = Field(
        {}, description="by column, what is made of a person's several rows"
    )
    max_rows: Annotated[int, Field(ge=1)] | None = Field(
        None, description="how many rows of a person sum and count read at most"
    )


class Population(Section):
    """[population]: whose budget is spent, and the ledger that keeps it."""

    name: Name
    ledger: Name = Field(description="a file, from the plan's folder; or a PostgreSQL address")
    epsilon: Positive | None = Field(None, description="the whole budget, needed when the population is new")
    delta: Chance = 0.0
    accounting: Literal["epsilon", "zcdp", "gdp"] = Field("epsilon", description="what the budget is counted in")
    analyst: Name | None = Field(None, description="whose part of the budget is spent as well")
    key: Name | None = Field(None, description="the file of the key, if it is not beside the ledger")
    anchor: Name | None = Field(None, description="the file of the anchor, if it is not beside the ledger")


class Spend(Section):
    """[spend]: what this plan may cost, all its releases together."""

    epsilon: Positive
    delta: Chance = 0.0


class PlannedRelease(Section):
    """[[release]]: one question. Its price is a share of the plan's epsilon, an epsilon, or what an accuracy takes."""

    id: Annotated[str, StringConstraints(min_length=1, max_length=60, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
    statistic: Annotated[str, AfterValidator(plannable)]
    columns: Name | list[Name] | None = Field(
        None, description="the column, or a list of columns, that it is about; a regression explains its outcome"
    )
    formula: Name | None = Field(None, description="of a regression: bmi ~ age + C(sex)")
    outcome: Name | None = Field(None, description="of a regression without a formula: the column that is explained")
    weights: Name | None = Field(None, description="the column of weights: of a regression, or of a survey")
    clusters: Name | None = Field(None, description="of a survey: the column of clusters; options.design lists them")
    strata: Name | None = Field(None, description="of a survey: the column of the clusters' strata")
    offset: Name | None = Field(None, description="of a regression: the column that is a known part of the outcome")
    where: Text | None = Field(None, description="which rows it is about: age >= 18 and sex == 'F'")
    groupby: Name | Annotated[list[Name], Field(min_length=1)] | None = Field(
        None, description="one answer for each group, for the price of one; of several columns for each combination"
    )
    keys: list[Scalar] | list[list[Scalar]] | list[dict[Name, Scalar]] | None = Field(
        None,
        description="the groups; of several columns a list for each column, or a table for each group, from column to "
        "entry; without them they are found, which needs delta",
    )
    share: Positive | None = Field(None, description="of what the fixed prices leave; 1 if no price is given")
    epsilon: Positive | None = Field(None, description="a fixed price")
    accuracy: Positive | None = Field(None, description="half the width of the 95% interval that is wanted")
    delta: Chance | None = Field(None, description="else those that need one share half of the plan's")
    rows: Annotated[int, Field(ge=1)] | None = Field(
        None, description="about how many people it is about, if not all: for forecasts"
    )
    scale: Positive | None = Field(None, description="a public guess of the standard deviation, for forecasts")
    guesses: dict[Literal["shape", "location", "low", "typical", "high"], float | Name] = Field(
        {},
        description="public guesses for the forecast, where values are not normal: shape, or what 1%, half and 99% of "
        "people are below",
    )
    title: Text | None = Field(None, description="the question, in your words")
    estimator: Name | None = Field(
        None, description="of fit: a listed estimator of scikit-learn or statsmodels, with settings: Ridge(alpha=2.0)"
    )
    code: str | None = Field(
        None, description="of fit: Python with a function estimate(X, y), which runs in a sandbox, block by block"
    )
    options: dict[Name, Any] = Field({}, description="the statistic's own options")

    @model_validator(mode="after")
    def one_price(self) -> "PlannedRelease":
        """Exactly one way to say what it costs."""
        priced = [name for name in ("share", "epsilon", "accuracy") if getattr(self, name) is not None]
        if len(priced) > 1:
            raise ValueError(f"{' and '.join(priced)} are given; give one of share, epsilon and accuracy")
        return self

    @model_validator(mode="after")
    def own_options(self) -> "PlannedRelease":
        """The options are the statistic's own; what the entry itself says is not said again in them."""
        statistic = declared(self.statistic)
        twice = sorted({*BESIDE, *LATER, *statistic.columns} & set(self.options))
        if twice:
            raise ValueError(f"options hold {', '.join(twice)}; write them in the release itself, not in its options")
        own = options_of(self.statistic)
        if self.statistic == FIT:
            try:
                check_fit(self.estimator, self.code, self.options)
            except BadInput as error:
                raise ValueError(str(error)) from None
        elif self.estimator is not None or self.code is not None:
            raise ValueError(f"{self.statistic} takes no estimator and no code; they are for fit")
        unknown = [name for name in self.options if name not in own]
        if unknown:
            near = meant(unknown[0], own)
            has = f"{'I' if near else 'i'}t has {', '.join(own) or 'none'}"
            raise ValueError(f"{self.statistic} has no option {', '.join(map(repr, unknown))}; {near}{has}")
        return self

    def given(self) -> dict[str, Any]:
        """Its columns and options, and what it fits, by the parameters of the declaration."""
        fitted = fit_of(self.estimator, self.code, self.options)
        options = {name: value for name, value in self.options.items() if self.code is None or name != "timeout"}
        placed = self.placed()
        if self.estimator is not None:  # of the listed ones each takes several columns
            placed |= {name: [value] for name, value in placed.items() if name == "X" and isinstance(value, str)}
        return placed | options | fitted

    def placed(self) -> dict[str, Any]:
        """The columns, by the parameters of the declaration; BadInput for what does not fit."""
        statistic = declared(self.statistic)
        beside = {name: getattr(self, name) for name in OTHERS if getattr(self, name) is not None}
        for name in beside.keys() - statistic.columns.keys():
            raise BadInput(f"{self.statistic} takes no {name}; leave it out")
        return self._main() | beside

    def _main(self) -> dict[str, Any]:
        """Those without weights, offset and the design of a survey."""
        statistic = declared(self.statistic)
        first, *more = (name for name in statistic.columns if name not in OTHERS)
        if self.formula is not None:
            if statistic.formula is None:
                raise BadInput(f"{self.statistic} takes no formula; name its columns")
            if self.columns is not None or self.outcome is not None:
                raise BadInput("a formula names its own columns; leave columns and outcome out")
            return {first: self.formula}
        given: dict[str, Any] = {} if self.columns is None else {first: self.columns}
        single = more and all(statistic.reads(name, self.options).width == "one" for name in (first, *more))
        if single and isinstance(self.columns, list):
            if len(self.columns) > 1 + len(more):
                raise BadInput(f"{self.statistic} is about {1 + len(more)} columns; {len(self.columns)} are given")
            given = dict(zip((first, *more), self.columns, strict=False))
        if self.outcome is not None:
            if not more or more[0] in given:
                raise BadInput(f"{self.statistic} takes no outcome beside its columns; leave it out")
            given[more[0]] = self.outcome
        if first not in given and not statistic.reads(first, self.options).optional:
            raise BadInput(f"{self.statistic} needs columns{' or a formula' if statistic.formula else ''}; name them")
        return given


def options_of(name: str) -> tuple[str, ...]:
    """The options of a statistic that stand in `options`."""
    if name == FIT:
        return OPTIONS
    return tuple(option for option in declared(name).options if option not in BESIDE)


class Plan(Section):
    """A release plan."""

    title: Name
    description: Text | None = None
    data: Data
    tables: dict[Name, Name | PlannedTable] = Field({}, description="tables that share people, instead of a source")
    features: dict[Name, Text] = Field({}, description="by name, what is made of a person's rows: any(drug == 'x')")
    population: Population
    spend: Spend
    release: Annotated[list[PlannedRelease], Field(min_length=1, max_length=MOST)]

    @model_validator(mode="after")
    def own_ids(self) -> "Plan":
        """Each release has a name of its own, and there is one table, or several with features."""
        seen: set[str] = set()
        for asked in self.release:
            if asked.id.lower() in seen:
                raise ValueError(f"two releases are called {asked.id!r}; give each its own id")
            seen.add(asked.id.lower())
        check_tables(self)
        return self


def plan_digest(plan: Plan, as_of: str | None) -> str:
    """Of all that a plan says, and of the date that its answers are for."""
    content = plan.model_dump(mode="json") | ({} if as_of is None else {"as_of": as_of})
    if plan.data.unit_plural is None:  # plans that were paid for before there was such an entry keep their digest
        del content["data"]["unit_plural"]
    for entry in content["release"]:  # likewise
        for name in LATER:
            if not entry[name]:
                del entry[name]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


LARGEST: Final = 1_000_000  # bytes
DEEPEST: Final = 40
SHOWN: Final = 8  # errors at once
SECTIONS: Final[Mapping[str, type[Section]]] = {
    "data": Data,
    "population": Population,
    "spend": Spend,
    "release": PlannedRelease,
}
TRIED: Final = re.compile(r"(constrained-|list\[|dict\[|function-)")  # what the checker calls the kinds it tried
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


def parse_plan(text: str, name: str = "the plan", given: Mapping[str, Any] | None = None) -> Plan:
    """A plan from its text; BadInput with the lines of all that is wrong. What is `given` the text must not say."""
    try:
        content = tomllib.loads(text)
        for entry in set(given or ()) & set(content):
            raise BadInput(f"{name} says {entry}, which is not yours to say here; leave it out")
        content |= given or {}
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
        found = error.errors(include_url=False, include_context=False)
        said = [_sentence(item, lines, name, content) for item in found[:SHOWN]]
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


def _sentence(error: Any, lines: dict[tuple[str | int, ...], int], name: str, content: Any) -> str:
    path = tuple(takewhile(lambda part: not TRIED.match(str(part)), error["loc"]))
    line = line_of(lines, path)
    where = f"{name}, line {line}" if line is not None else name
    what = ".".join(str(part + 1 if isinstance(part, int) else part) for part in path)
    fields = SECTIONS.get(str(path[0]) if len(path) > 1 else "", Plan).model_fields
    message = str(error["msg"]).removeprefix("Value error, ")
    match error["type"]:
        case "missing":
            message = "this entry is needed"
        case "extra_forbidden":
            asked = content["release"][path[1]].get("statistic", "") if path[0] == "release" and len(path) > 1 else ""
            if _own(asked, path[-1]):
                message = f"this is an option of {asked}: options = {{ {path[-1]} = ... }}"
            else:
                message = f"no such entry in a plan; {meant(path[-1], fields)}".rstrip("; ")
        case "literal_error":
            words = re.findall(r"'([^']*)'", message)
            near = meant(error["input"], words)
            message = f"it is {short(error['input'])}; {near}{'G' if near else 'g'}ive one of {', '.join(words)}"
        case "string_pattern_mismatch":
            message = f"it is {short(error['input'])}; give letters, digits, _ . and -, and words as a title"
        case _ if len(path) < len(error["loc"]):
            seen = reduce(lambda held, part: held[part], path, content)
            entry = next(fields[part] for part in reversed(path) if part in fields)
            message = f"it is {short(seen)}; needed: {entry.description}"
    return f"{where}: {what + ': ' if what else ''}{message}"


def _own(statistic: Any, option: Any) -> bool:
    """Whether a statistic has this option; no statistic of another name has any."""
    try:
        return option in options_of(statistic)
    except BadInput:
        return False


def _depth(content: Any) -> int:
    if not isinstance(content, dict | list):
        return 0
    return 1 + max(map(_depth, content.values() if isinstance(content, dict) else content), default=0)
