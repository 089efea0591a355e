"""An analyst's plan: questions only. Data, ledger, key, population and the analyst's name are the server's.

A plan is a text in TOML. The form of the page is another view of it: `to_form` and `to_text` go both ways.
"""

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from discreet.asking import Question
from discreet.errors import BadInput
from discreet.plan.bound_plan import Bound, bind
from discreet.plan.plan_file import LATER, Plan, parse_plan
from discreet.plan.planned_fit import box, returns_as_declared, seconds_of_code
from discreet.service.settings import CodebookColumn, Source
from discreet.tables.where import Where

LARGEST: Final = 65_536  # characters of a plan
MOST: Final = 40  # questions in one
FORM: Final = ("statistic", "columns", "outcome", "where", "groupby", "options", "title", "estimator", "code")
NAME: Final = "your plan"
QUESTIONS: Final = ("title", "description", "spend", "release")  # what an analyst says; all else is the server's
SERVERS: Final = {
    name: field.get_default(call_default_factory=True)
    for name, field in Plan.model_fields.items()
    if name not in (*QUESTIONS, "data", "population")
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A plan, bound to the source's table and priced; nothing was charged and no row was read."""

    bound: Bound
    source: Source
    text: str

    @property
    def question(self) -> str:
        """The digest of what is asked, whoever asks and whatever it is called: equal questions have one answer."""
        plan = self.bound.plan
        asked = [
            entry.model_dump(
                mode="json", exclude={"id", "title"} | {name for name in LATER if not getattr(entry, name)}
            )
            for entry in plan.release
        ]
        told = [self.source.name, plan.data.model_dump(mode="json"), plan.spend.model_dump(mode="json"), asked]
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()

    @property
    def code(self) -> list[tuple[str, str]]:
        """The code that it would run in the sandbox: by the name of its question."""
        return [(entry.id, entry.code) for entry in self.bound.plan.release if entry.code is not None]

    @property
    def seconds(self) -> float:
        """How long its code takes, whatever the rows are. [planned_fit.2]"""
        return sum(seconds_of_code(entry.options) for entry in self.bound.plan.release if entry.code is not None)

    def try_code(self) -> None:
        """Whether its code returns what is declared, on made-up rows in the sandbox; BadInput if not.

        What comes of it depends on the plan and the declared types alone.
        """
        for entry, question in zip(self.bound.plan.release, self.bound.priced.questions, strict=True):
            if entry.code is not None and not returns_as_declared(question):
                raise BadInput(
                    f"the code of {entry.id!r} does not return what it declares on made-up rows of these columns, in "
                    f"{box(entry.options).seconds:g} seconds; nothing was sent. It is given X and the outcome as "
                    "arrays, or X as a frame; it returns names= in a dictionary or a list, or one of labels="
                )

    @property
    def columns(self) -> list[str]:
        """Every column that an answer depends on: those it is about, those of conditions, and those of groups."""
        found = [name for question in self.bound.priced.questions for name in _columns(question)]
        return sorted(set(found))


def understood(text: str, source: Source, analyst: str, folder: Path) -> Asked:
    """The plan in a text, for one analyst; BadInput says what is wrong, and in which line."""
    if len(text) > LARGEST:
        raise BadInput(f"the plan has {len(text):,} characters; a request holds at most {LARGEST:,}")
    population = source.population.model_dump(exclude_none=True) | {"analyst": analyst}
    given = SERVERS | {"data": source.data.model_dump(exclude_none=True), "population": population}
    plan = parse_plan(text, NAME, given)
    if len(plan.release) > MOST:
        raise BadInput(f"the plan asks {len(plan.release)} questions; a request holds at most {MOST}")
    return Asked(bind(plan, text, folder, name=NAME), source, text)


def _columns(question: Question) -> list[str]:
    found = [want.name for want in question.wanted.wants if want.kind != "where" and question.wanted.references]
    conditions = [Where.parse(want.name) for want in question.wanted.wants if want.kind == "where"]
    conditions += [] if question.where is None else [question.where]
    found += [name for condition in conditions for name in condition.columns]
    return found + ([] if question.grouping is None else list(question.grouping.by))


ASKS: Final = ("statistic", "columns", "outcome", "formula", "where", "groupby", "estimator", "code")


def purpose(text: str) -> str:
    """What a plan that was accepted says it is for."""
    return str(tomllib.loads(text).get("description") or "")


def asks(text: str) -> list[dict[str, Any]]:
    """The questions of a plan that was accepted, for readers: statistic, columns, condition, groups."""
    found = tomllib.loads(text).get("release", [])
    return [{name: one.get(name) for name in ASKS} for one in found]


Book = Mapping[str, CodebookColumn]


def to_text(form: Mapping[str, Any], book: Book) -> str:
    """The plan that a form describes; groups and categories that the codebook knows are written into it."""
    lines = [f"title = {as_toml(form.get('title') or 'Untitled')}"]
    if form.get("description"):
        lines.append(f"description = {as_toml(form['description'])}")
    lines += ["", "[spend]", f"epsilon = {_number(form.get('epsilon'), 'epsilon')}"]
    if float(_number(form.get("delta") or 0, "delta")):
        lines.append(f"delta = {_number(form['delta'], 'delta')}")
    for place, asked in enumerate(form.get("release") or [], 1):
        lines += ["", "[[release]]", f'id = "q{place}"', f"statistic = {as_toml(asked.get('statistic') or 'count')}"]
        columns = [name for name in asked.get("columns") or [] if name]
        if columns:
            lines.append(f"columns = {as_toml(columns[0] if len(columns) == 1 else columns)}")
        lines += [
            f"{name} = {as_toml(asked[name])}" for name in ("outcome", "where", "groupby", "title") if asked.get(name)
        ]
        if asked.get("groupby") and _categories(asked["groupby"], book):
            lines.append(f"keys = {as_toml(_categories(asked['groupby'], book))}")
        if asked.get("statistic") == "fit":
            lines += [f"estimator = {as_toml(asked['estimator'])}"] if asked.get("estimator") else []
            lines += [f"code = {_long(asked['code'])}"] if asked.get("code") else []
        given = [line.strip().rstrip(",") for line in (asked.get("options") or "").splitlines() if line.strip()]
        given = given or [f"{name} = {as_toml(value)}" for name, value in _known(asked, book).items()]
        lines += [f"options = {{ {', '.join(given)} }}"] if given else []
    return "\n".join(lines) + "\n"


def _categories(column: str, book: Book) -> list[str]:
    return list(book[column].categories) if column in book else []


def _known(asked: Mapping[str, Any], book: Book) -> dict[str, Any]:
    """The options that the codebook knows: categories, or ten cells of the same width for a histogram."""
    columns = asked.get("columns") or []
    names = [*([columns] if isinstance(columns, str) else columns), *filter(None, [asked.get("outcome")])]
    found = [_categories(name, book) for name in names]
    match asked.get("statistic"), len(names):
        case ("histogram" | "mode" | "top", 1) if found[0]:
            return {"categories": found[0]}
        case ("crosstab" | "independence_test", 2 | 3) if all(found):
            return {"categories": found}
        case "histogram", 1 if names[0] in book:
            low, high = book[names[0]].low, book[names[0]].high
            if low is not None and high is not None and low < high:
                return {"edges": [float(f"{low + (high - low) * part / 10:.6g}") for part in range(11)]}
    return {}


def to_form(text: str, book: Book) -> dict[str, Any]:
    """The form of a plan; BadInput if it says what the form has no place for."""
    try:
        plan = tomllib.loads(text)
        form = {name: plan.get(name, "") for name in ("title", "description")}
        form |= {"epsilon": plan["spend"]["epsilon"], "delta": plan["spend"].get("delta", 0), "release": []}
        for asked in plan["release"]:
            known = _categories(str(asked.get("groupby")), book)
            if asked.get("keys") == known:
                del asked["keys"]
            more = sorted(set(asked) - {*FORM, "id"})
            if more or isinstance(asked.get("groupby"), list):
                raise BadInput(
                    f"the form has no place for {', '.join(more) or 'several groups'}; edit the plan as text"
                )
            columns = asked.get("columns") or []
            own = asked.get("options", {})
            if own == _known(asked, book):
                own = {}
            options = "\n".join(f"{name} = {as_toml(value)}" for name, value in own.items())
            told = {
                name: asked.get(name, "")
                for name in ("statistic", "outcome", "where", "groupby", "title", "estimator", "code")
            }
            form["release"].append(
                told | {"columns": [columns] if isinstance(columns, str) else list(columns), "options": options}
            )
        return form
    except (tomllib.TOMLDecodeError, KeyError, TypeError, AttributeError):
        raise BadInput("the plan is not complete; it needs title, [spend] epsilon and [[release]]") from None


def as_toml(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(str(name))} = {as_toml(one)}" for name, one in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(as_toml, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value)


def _long(text: str) -> str:
    """A text of several lines, as it reads; one that TOML cannot hold so, in one line."""
    plain = "'''" not in text and all(letter in "\n\t" or letter.isprintable() for letter in text)
    return f"'''\n{text}'''" if plain and not text.endswith("'") else as_toml(text)


def _number(value: Any, name: str) -> str:
    try:
        return repr(float(value))
    except (TypeError, ValueError):
        raise BadInput(f"{name} is {str(value)[:40]!r}; give a number, for example 0.1") from None
