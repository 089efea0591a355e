"""A first plan for a table, from its schema alone; and what differs between two plans.

A draft asks what the declared kinds of columns allow: means of numbers, shares of booleans, categories of texts.
Columns whose kind nothing declares are written as comments, and those that are called like a person's id are left out.
No row is read. What the people may ever spend, and what this plan may, are the steward's decision and have no default.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from discreet.errors import BadInput
from discreet.plan.plan_file import MOST, Plan, PlannedRelease
from discreet.tables.opening import read
from discreet.tables.wanted import known

PEOPLE: Final = re.compile(
    r"(^|[^a-z])(id|ids|key|person|patient|subject|respondent|member|name|rownames|rowid|seqn|ssn)([^a-z]|$)"
)
ASKED: Final = {
    "number": "mean",
    "integer": "mean",
    "boolean": "proportion",
    "category": "histogram",
    "text": "histogram",
}


def looks_like_id(column: str) -> bool:
    """Whether a column is called like a person's id.

    >>> looks_like_id("patient_id"), looks_like_id("paid")
    (True, False)
    """
    return PEOPLE.search(column.lower()) is not None


def draft(
    source: str,
    *,
    epsilon: float,
    budget: float,
    budget_delta: float,
    delta: float = 0.0,
    person: str | None = None,
    unit: str | None = None,
    table: str | None = None,
    population: str | None = None,
    types: Mapping[str, str] | None = None,
) -> str:
    """The text of a plan for a table: what it could publish, with comments on what to decide."""
    if budget_delta < delta:
        raise BadInput(
            f"the plan's delta is {delta:g} and all that these people will ever spend {budget_delta:g}; give a larger "
            "--budget-delta, so that later plans have some"
        )
    found = read(source, table=table, types=types)
    if person is not None:
        known(found, person)
    stem = re.sub(r"\W+", "-", table or Path(source).name.partition(".")[0]).strip("-") or "people"
    name = population or stem
    columns = [column for column in found.names if column != person]
    looks = list(filter(looks_like_id, columns))
    lines = [
        f"title = {_text(f'A first look at {name}')}",
        "",
        "[data]",
        f"source = {_text(source)}",
        *([f"table = {_text(table)}"] if table else []),
        *_whose(person, looks),
        *_word("unit", unit, "patient", "what one person is called, in every promise"),
        "# rows = 10000          # about how many people, if that is public: then every answer's error is forecast",
        *_types(found.kinds, columns, types or {}),
        "",
        "[population]            # whose budget is spent: all tables about these people share it",
        f"name = {_text(name)}",
        f"ledger = {_text(f'{stem}.ledger')}",
        f"{f'epsilon = {budget:g}':<24}# all that these people will ever spend",
        f"{f'delta = {budget_delta:g}':<24}# likewise, never changed: what this plan leaves of it is for later ones",
        "",
        "[spend]                 # of it, by this plan",
        f"epsilon = {epsilon:g}",
        f"delta = {delta:g}",
        *_releases(found.kinds, [column for column in columns if column not in looks], delta),
    ]
    return "\n".join(lines) + "\n"


def _text(text: str) -> str:
    """A text as TOML writes it."""
    return json.dumps(text)


def _word(name: str, given: str | None, example: str, why: str) -> list[str]:
    return [f"{name} = {_text(given)}"] if given is not None else [f"# {f'{name} = {_text(example)}':<22}# {why}"]


def _whose(person: str | None, looks: list[str]) -> list[str]:
    if person is not None:
        return [f"person = {_text(person)}"]
    example = looks[0] if looks else "patient_id"
    return [
        f"# {f'person = {_text(example)}':<22}# the column that says whose row it is. Without it every row is taken",
        "#                       # for a person: then somebody with two rows is protected half as well",
    ]


def _types(kinds: Mapping[str, str], columns: list[str], given: Mapping[str, str]) -> Iterator[str]:
    """The types that were given, and those that nothing declares, to be filled in."""
    undeclared = [column for column in columns if kinds[column] == "unknown"]
    if undeclared:
        yield "# The file declares no types. Declare them, with the help of: discreet release PLAN --suggest-types"
    if undeclared or given:
        yield "[data.types]"
        yield from (f"{_text(column)} = {_text(kind)}" for column, kind in given.items())
        yield from (f'# {_text(column)} = "number"' for column in undeclared)


def _releases(kinds: Mapping[str, str], columns: list[str], delta: float) -> Iterator[str]:
    yield from ("", "[[release]]", 'id = "people"', 'statistic = "count"')
    used = {"people"}
    for column in columns[: MOST - 1]:
        statistic = ASKED.get(kinds[column])
        name = _id(column, used)
        lines = ["[[release]]", f'id = "{name}"', f'statistic = "{statistic or "mean"}"', f"columns = {_text(column)}"]
        why = ""
        if statistic is None:
            why = (
                "nothing declares what it holds: declare it, then choose a statistic"
                if kinds[column] == "unknown"
                else f"a {kinds[column]}: choose a statistic, median say"
            )
        elif statistic == "histogram" and not delta:
            why = 'its categories are not known: give delta, or list them in options = {categories = ["a", "b"]}'
        yield from ("", *([f"# {why}"] if why else []), *(f"# {line}" if why else line for line in lines))


def _id(column: str, used: set[str]) -> str:
    """A short name of its own for the release about a column."""
    base = re.sub(r"[^A-Za-z0-9]+", "-", column).strip("-").lower()[:50] or "column"
    found = next(name for name in (base, *(f"{base}-{place}" for place in range(2, MOST + 2))) if name not in used)
    used.add(found)
    return found


def differences(old: Plan, new: Plan) -> list[str]:
    """What differs between two plans, a line each; the order of releases does not count.

    >>> from discreet.plan.plan_file import parse_plan
    >>> head = "title = 't'\\ndata = {source = 'x.csv'}\\npopulation = {name='p', ledger='l'}\\n[spend]\\nepsilon = "
    >>> one, other = (parse_plan(head + rest) for rest in (
    ...     "1\\n[[release]]\\nid = 'a'\\nstatistic = 'count'",
    ...     "0.5\\n[[release]]\\nid = 'b'\\nstatistic = 'mean'\\ncolumns = 'age'"))
    >>> differences(one, other)
    ['spend.epsilon: 1.0 -> 0.5', 'release a: removed (count)', 'release b: added (mean of age)']
    """
    one, other = (plan.model_dump(mode="json", exclude={"release"}) for plan in (old, new))
    found = list(_changed("", one, other))
    before, after = ({entry.id: entry for entry in plan.release} for plan in (old, new))
    found += [f"release {name}: removed ({_asks(before[name])})" for name in before if name not in after]
    found += [f"release {name}: added ({_asks(after[name])})" for name in after if name not in before]
    for name in before:
        if name in after:
            pair = (entry.model_dump(mode="json") for entry in (before[name], after[name]))
            found += _changed(f"release {name}: ", *pair)
    return found


def _asks(entry: PlannedRelease) -> str:
    about = entry.formula or entry.columns
    return entry.statistic + (f" of {about if isinstance(about, str) else ', '.join(about)}" if about else "")


def _changed(before: str, one: Any, other: Any) -> Iterator[str]:
    """The entries that differ, by their path."""
    for name in dict.fromkeys([*one, *other]):
        first, second = one.get(name), other.get(name)
        if isinstance(first, dict) and isinstance(second, dict):
            yield from _changed(f"{before}{name}.", first, second)
        elif first != second:
            yield f"{before}{name}: {_shown(first)} -> {_shown(second)}"


def _shown(thing: Any) -> str:
    return "not given" if thing is None else json.dumps(thing, ensure_ascii=False)
