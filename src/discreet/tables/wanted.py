"""Which columns a question reads, and as what: decided by names, options and declared kinds, before any row is read."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

from discreet.errors import BadInput, short
from discreet.privacy.declaration import Columns, Reads, Statistic
from discreet.privacy.exact import is_number
from discreet.privacy.release import Release
from discreet.tables.dates import numbers_in_words, public_day, says_dates
from discreet.tables.entries import key
from discreet.tables.per_person import CAPPED, OF_KEYS, RULES, Rule, Rules
from discreet.tables.where import Where

if TYPE_CHECKING:
    from discreet.tables.table import Table

Missing: TypeAlias = Any  # "keep", "drop", or a public text, number or date that stands in
BESIDE: Final = ("offset", "weights", "clusters", "strata")  # are told by what they are
MANY: Final = 0.1  # of the rows: if more are left out, a refusal begins with that
OWN: Final = "\0"  # begins the name of a column that a caller gave as an array: it is nobody's name for it
WRONG: Final = {"text": "text", "category": "categories", "date": "dates"}


@dataclass(frozen=True)
class Want:
    """A column as it is wanted.

    `missing` is "keep", "drop" (such rows are left out) or a public value that stands in. `rule` makes several rows of
    a person one; "sum" and "count" need a `cap`, the largest number of a person's rows that is taken, the first ones.
    Of kind "where" the name is a condition, and the entries are 1 where it holds, else 0.
    """

    name: str
    kind: Literal["number", "boolean", "event", "date", "category", "where"]
    _: KW_ONLY
    missing: Missing = "keep"
    rule: Rule = "first"
    cap: int | None = None
    equals: Any = None  # of kind "boolean": the public value that counts as yes, any other as no

    def __post_init__(self) -> None:
        name = self.name.removeprefix(OWN)
        if self.kind not in ("number", "boolean", "event", "date", "category", "where"):
            raise BadInput(f"column {name!r} is wanted as {self.kind!r}; give number, boolean, date or category")
        if self.rule not in RULES:
            raise BadInput(f"per_person for {name!r} is {self.rule!r}; give one of {', '.join(RULES)}")
        if self.kind == "category" and self.rule not in OF_KEYS:
            raise BadInput(f"per_person={self.rule!r} is for numbers; for {name!r} give one of {', '.join(OF_KEYS)}")
        whole = isinstance(self.cap, int) and not isinstance(self.cap, bool) and self.cap >= 1
        if self.cap is not None and not whole:
            raise BadInput(f"max_rows for {name!r} is {self.cap!r}; give a whole number of at least 1")
        if self.cap is None and self.rule in CAPPED:
            raise BadInput(
                f"per_person={self.rule!r} for {name!r} needs max_rows=, how many rows of a person count at most"
            )
        if isinstance(self.missing, str) and self.missing in ("keep", "drop"):
            return
        number = isinstance(self.missing, bool) or is_number(self.missing)
        named = self.kind == "category" and isinstance(self.missing, str | datetime.date)
        if not number and not named:  # several might fit or not, by how many are missing
            needed = "a date, a text or a number" if self.kind == "category" else "a finite number"
            raise BadInput(f"missing for {name!r} is {self.missing!r}; give 'keep', 'drop' or {needed}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Which rows a question is about, what a missing entry stands for, and what is made of a person's several rows."""

    where: Any = None
    groupby: Any = None
    keys: Any = None
    missing: Any = None
    per_person: Any = None
    max_rows: int | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """The columns of a question: `references` by parameter (a name, names, or a formula's), and how each is read."""

    references: Mapping[str, Any]
    wants: tuple[Want, ...]
    facts: Mapping[str, Columns | None]
    rules: Rules

    @property
    def names(self) -> str:
        """The columns in words; those without a name of their own are passed over."""
        shown = []
        for parameter, reference in self.references.items():
            names = [reference] if isinstance(reference, str) else list(reference)
            formula = next(iter(reference.values())) if isinstance(reference, dict) else None
            part = f"{parameter} " if parameter in BESIDE else ""
            equal = [one.equals for one in self.wants if one.name in names and one.equals is not None]
            told = formula or part + and_between(names) + (f" == {equal[0]!r}" if equal else "")
            shown += [] if any(name.startswith(OWN) for name in names) else [told]
        explained = "X" in self.references and "y" in self.references and len(shown) > 1
        return ", ".join([f"{shown[1]} on {shown[0]}", *shown[2:]] if explained else shown)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a statistic of one table whose columns have names: what its numbers are called."""
        first = next(iter(self.facts.values()), None)
        alone = first is not None and len(self.references) == 1
        return first.names if alone and first.several and first.named and first.formula is None else ()  # type: ignore[union-attr]

    @property
    def of_dates(self) -> bool:
        """Whether it is about a column of dates."""
        return self.wants[0].kind == "date"

    @property
    def named(self) -> set[str]:
        """The columns that the question names: none for a count of all."""
        return {want.name for want in self.wants if self.references}

    @property
    def leaves_out(self) -> bool:
        """Whether people may be left out for a missing entry."""
        return "drop" in [want.missing for want in self.wants if isinstance(want.missing, str)]

    def of_each(self, unit: str, where: Where | None, by: tuple[str, ...]) -> str:
        """What is made of the rows of each, in a few words."""
        tests = [test for want in self.wants if want.kind == "where" for test in Where.parse(want.name).tests]
        tests += where.tests if where is not None else ()
        rules = [want.rule for want in self.wants if want.kind != "where" and self.references]
        rules += [self.rules.of(test.column, test.reading) for test in tests]
        rules += [self.rules.of(name, "category") for name in by]
        cap = "" if self.rules.cap is None else f"first {self.rules.cap} "
        last = f"the last of each {unit}'s {cap}rows" if cap else f"each {unit}'s last row"
        said = {"first": f"each {unit}'s first row", "last": last}
        words = [said.get(rule, f"the {rule} of each {unit}'s {cap}rows") for rule in dict.fromkeys(rules)]
        return "" if not words else f" ({', '.join(words)})"

    def notes(self, unit: str, several_rows: bool) -> list[str]:
        """What was done about missing entries and a person's several rows."""
        notes, dropped = [], []
        for want in self.wants if self.references else ():
            if not (name := want.name).startswith(OWN) and want.kind != "where":
                if isinstance(want.missing, str) and want.missing == "drop":
                    dropped.append(name)
                elif not isinstance(want.missing, str) or want.missing != "keep":
                    notes.append(f"where {name} is missing, {want.missing!r} stands in")
                cap = f" of at most {want.cap}" if want.cap is not None else ""
                notes += numbers_in_words(name, self.facts) if want.kind == "event" else []
                if several_rows:
                    notes.append(f"{name}: the {want.rule}{cap} of each {unit}'s rows")
        left_out = [f"each {unit} whose {' or '.join(dropped)} is missing is left out"] if dropped else []
        return [*left_out, *notes]


def wanted(
    table: "Table",
    statistic: Statistic,
    arguments: Mapping[str, Any],
    terms: Terms,
    facts: Mapping[str, Columns] | None = None,
) -> Wanted:
    """The columns that a statistic is asked about, looked up in a table; BadInput for what does not fit."""
    references: dict[str, Any] = {}
    kinds: dict[str, str] = {}
    equals = arguments.get("equals")
    about, own = dict[str, Columns | None].fromkeys(statistic.columns), facts or {}
    for parameter in statistic.columns:
        given, reads = arguments.get(parameter), statistic.reads(parameter, arguments)
        reads = replace(reads, width="several") if parameter in own and own[parameter].frame else reads  # a frame stays
        if given is None:
            if not reads.optional and not any(isinstance(one, dict) for one in references.values()):
                raise BadInput(f"{statistic.name} needs {parameter}; give the name of a column")
            continue
        factors, formula = None, None
        if statistic.formula is not None and isinstance(given, str) and "~" in given:
            factors, formula = statistic.formula(given), given
        reference = dict.fromkeys(factors, given) if factors is not None else _reference(given, parameter, reads)
        names = (reference,) if isinstance(reference, str) else tuple(reference)
        for name in names:
            read = reads if factors is None else factors[name]
            read = read if len(names) == 1 else replace(read, dates=False)
            asked = Asked(
                verb=statistic.name,
                formula=formula is not None,
                equals=equals is not None,
                dates=says_dates(arguments),
                outcome=parameter == "y" or (formula is not None and formula.split("~")[0].strip() == name),
                classes="classes" in statistic.signature.parameters,
                factors=statistic.formula is not None and formula is None,
                opened=facts is None,
            )
            kinds[name] = _kind(table, name, read, asked)
            if isinstance(levels := arguments.get("levels"), Mapping) and name in levels:
                check_levels("levels", levels[name], table, name)
                kinds[name] = "category" if read.kind == "any" else kinds[name]  # listed, so they are no numbers
        references[parameter] = reference
        kinds_of = tuple([table.kinds.get(name, "boolean") for name in names])
        terms_of: dict[str, Any] = {"several": not isinstance(reference, str), "formula": formula}
        seen = Columns(names, kinds_of, **terms_of, condition={kinds[name] for name in names} == {"where"})
        about[parameter] = own.get(parameter, seen)
    missing, rules = _by_column(terms.missing, table), Rules(_by_column(terms.per_person, table), terms.max_rows)
    listed = arguments.get("categories") if statistic.blocks else None  # public, so they are no numbers
    kinds |= {name: "category" for name in kinds if isinstance(listed, Mapping) and name in listed}
    if not kinds:  # any column tells how many there are
        rules.check_people(statistic.name, alone=terms.where is None)
        return Wanted({}, (table.quickest,), about, rules)
    wants = []
    for name, kind in kinds.items():
        chosen = "keep" if kind == "where" or name in table.complete else missing.get(name, missing.get("", "drop"))
        usual = rules.by.get("", "mean" if kind == "number" else "first")
        rule = "first" if kind == "where" else rules.by.get(name, usual)
        if kind == "date" and not (isinstance(chosen, str) and chosen in ("keep", "drop")):
            chosen = public_day(chosen, "missing")
        if kind in ("boolean", "event", "where"):
            rules.check_people(statistic.name, column=None if kind == "where" else name)
        check_levels("equals", [counted := equals if kind == "boolean" else None], table, name)
        wants.append(Want(name, kind, missing=chosen, rule=rule, cap=terms.max_rows, equals=counted))  # type: ignore[arg-type]
    _check_listed(table, kinds, references, arguments)
    return Wanted(references, tuple(wants), about, rules)


def _check_listed(table: "Table", kinds: Mapping[str, str], references: Mapping[str, Any], given: Any) -> None:
    """Check the public categories, classes and groups that are listed for columns of categories."""
    of_categories = [name for name, kind in kinds.items() if kind == "category"]
    for option, parameter in LISTED.items():
        if references.get(parameter) in of_categories:
            part = given.get(option)
            check_levels(option, [part] if option in ("treatment", "control") else part, table, references[parameter])
    for option in ("categories", "null", "p", "q"):
        listed = given.get(option)
        if option == "categories" or isinstance(listed, Mapping):  # probabilities of the categories
            parts = listed if len(of_categories) > 1 and isinstance(listed, list | tuple) else [listed]
            for name, part in zip(of_categories, parts, strict=False):
                check_levels(option, part, table, name)


def _reference(given: Any, parameter: str, reads: Reads) -> Any:
    if isinstance(given, str):
        return given if reads.width != "several" else [given]
    listed = isinstance(given, list | tuple) and given and all(isinstance(name, str) for name in given)
    if listed and len(given) == 1 and reads.width != "several":
        return alone(given)
    if not listed or reads.width == "one":
        more = "" if reads.width == "one" else ", or a list of names"
        raise BadInput(f"{parameter} is {short(given)}; give the name of a column{more}")
    if len(set(given)) != len(given):
        raise BadInput(f"{parameter} names a column twice: {list(given)!r}; name each once")
    return list(given)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """In what question a column stands, and what that question takes."""

    verb: str
    formula: bool  # it stands in one
    equals: bool
    dates: bool
    outcome: bool
    classes: bool  # an outcome of categories is taken
    factors: bool  # a formula, which is not given, would take categories
    opened: bool  # in a session


def _kind(table: "Table", name: str, reads: Reads, asked: Asked) -> str:
    """As what a column is read."""
    if name not in table.names and reads.condition and not asked.equals and _is_condition(table, name):
        return "where"
    declared = table.kinds[known(table, name)]
    if reads.kind == "category" or (reads.kind == "any" and declared in WRONG):
        return "category"
    shown = name.removeprefix(OWN)
    if reads.kind == "boolean":
        if declared not in WRONG or asked.equals:
            return "boolean" if asked.equals else "event"
        typed = f"open the table with types={{{shown!r}: 'boolean'}} if it holds yes and no"
        other = typed if asked.opened else f"give {shown} == 'yes'"
        advice = f"say which entries count, as in equals='yes', or {other}"
        raise BadInput(f"{asked.verb} needs yes and no, and {shown!r} is declared to hold {WRONG[declared]}; {advice}")
    if reads.dates and (declared == "date" or (declared == "unknown" and asked.dates)):
        return "date"
    if declared in WRONG:
        advice = _instead_of_numbers(shown, reads, asked)
        raise BadInput(f"{asked.verb} needs numbers, and {shown!r} is declared to hold {WRONG[declared]}; {advice}")
    return "number"


def _instead_of_numbers(name: str, reads: Reads, asked: Asked) -> str:
    """What to do where numbers are needed, and a column is declared to hold something else."""
    if reads.condition:
        return f"say which entries count, as in equals='yes', or give a condition, \"{name} == 'yes'\""
    if asked.outcome and asked.classes:
        if asked.formula:
            return (
                f"write C({name}) ~ ... and list its two values, that of no first: levels={{{name!r}: ['no', 'yes']}}"
            )
        return "give its two classes, that of no first, as in classes=('no', 'yes')"
    advice = "give a column of numbers"
    if asked.opened:
        advice = f"open the table with types={{{name!r}: 'number'}} to read its cells as numbers"
    if asked.outcome and (asked.formula or asked.factors):
        return f"for an outcome of categories ask logistic_regression or multinomial_regression; or {advice}"
    if asked.formula:
        return f"write C({name}) for categories, or {advice}"
    return f"write a formula, 'outcome ~ C({name})', for categories, or {advice}" if asked.factors else advice


def _is_condition(table: "Table", text: str) -> bool:
    """Whether a yes or no is asked for as a condition, "age >= 65", rather than as a column."""
    if not any(letter in text for letter in " `<>=!"):
        return False
    Where.parse(text).check(table.kinds)
    return True


def _by_column(given: Any, table: "Table") -> dict[str, Any]:
    """One choice for all columns, under "", or one by name."""
    if isinstance(given, Mapping):
        own = {name: OWN + name for name in given if isinstance(name, str) and OWN + name in table.names}
        return {known(table, own.get(name, name)): choice for name, choice in given.items()}
    return {} if given is None else {"": given}


def known(table: "Table", name: object) -> str:
    """The name of a column that is there."""
    if not isinstance(name, str) or name not in table.names:
        names = [one.removeprefix(OWN) for one in table.names]
        there = ", ".join(names[:20] + (["..."] if len(names) > 20 else []))
        near = get_close_matches(str(name), names, 1)
        meant = f"did you mean {near[0]!r}? The table has" if near else "the table has"
        raise BadInput(f"there is no column {short(name)}; {meant} {there}")
    return name


def alone(given: Any) -> Any:
    """The name in a list of one name; else what was given."""
    return given[0] if isinstance(given, list | tuple) and len(given) == 1 and isinstance(given[0], str) else given


LISTED: Final = {"classes": "y", "between": "groups", "treatment": "groups", "control": "groups"}
HOLDS: Final = {"text": "texts", "category": "texts", "date": "dates", "boolean": "true and false"}


def check_levels(option: str, listed: Any, table: "Table", name: str) -> None:
    """Refuse public values that a column of the declared kind cannot hold: they would be paid for and never found."""
    kind = table.kinds.get(name, "unknown")
    if isinstance(listed, str) or not isinstance(listed, list | tuple | range | Mapping):
        return
    if kind == "unknown" and not table.of_texts:
        return
    for level in listed[:1] if isinstance(listed, range) else listed:  # of a range all are whole numbers, or none
        text, truth = isinstance(level, str), isinstance(level, bool | np.bool_)
        if kind == "date" or (kind == "unknown" and option == "keys"):  # groups go by what they are called
            fits = text or isinstance(level, datetime.date)
        elif kind in ("text", "category", "unknown"):
            fits = text
        else:
            fits = truth if kind == "boolean" else not truth and not text
        if fits or key(level) is None:
            continue
        if kind == "unknown":
            meant = "boolean" if truth else "date" if isinstance(level, datetime.date) else "number"
            raise BadInput(
                f"{option} has {short(level)}, and a text file does not say what {name!r} holds: its cells are read as "
                f"texts; open it with types={{{name!r}: {meant!r}}}, or list texts, as {str(level)!r}"
            )
        raise BadInput(
            f"{option} has {short(level)}, and {name.removeprefix(OWN)!r} is declared to hold "
            f"{HOLDS.get(kind, 'numbers')}; give {HOLDS.get(kind, 'numbers')}"
        )


def and_between(names: Sequence[str]) -> str:
    """Names as in a sentence.

    >>> and_between(["age", "sex", "town"])
    'age, sex and town'
    """
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def told_missing(release: Release[Any], absent: float, total: float | None, columns: int) -> Release[Any]:
    """With how many entries are missing, by a noisy count; as a share where all, or the others, were counted too."""
    spread = release.spread
    counted = release.provenance.parameters.get("counted", getattr(spread, "size", getattr(spread, "people", None)))
    if total is None and is_number(counted):
        total = max(float(counted), 0.0) + absent
    share = 0.0 if total is None else min(absent / total, 1.0)
    many = f"{absent:,.0f}" if share < 0.0005 else f"{share:{'.1%' if share < 0.01 else '.0%'}} of the"
    what = "entries are missing" if columns == 1 else "rows have a missing entry"
    note = f"about {many} {what}, by a noisy count at no further cost"
    refusal = release.refusal
    if refusal is not None and (total is None or share > MANY):
        why = "an entry is missing there, or is not of the kind that is asked for, as a text where a number is"
        refusal = f"about {many} rows are left out (a noisy count): {why}. Of the others: {refusal}"
    history = replace(release.provenance, notes=(note, *release.provenance.notes))
    return replace(release, refusal=refusal, provenance=history)
