"""Which columns a question reads, and as what: decided by names, options and declared kinds, before any row is read."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from discreet.errors import BadInput
from discreet.privacy.declaration import Columns, Reads, Statistic
from discreet.tables.entries import key
from discreet.tables.entries import name as name_of
from discreet.tables.table import OWN, Table, Want
from discreet.tables.where import Where

MOST_KEYS: Final = 10_000
WRONG: Final = {"text": "text", "category": "categories", "date": "dates"}


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

    @property
    def names(self) -> str:
        """The columns in words; those without a name of their own are passed over."""
        shown = []
        for reference in self.references.values():
            if isinstance(reference, str):
                shown += [] if reference.startswith(OWN) else [reference]
            elif not any(name.startswith(OWN) for name in reference):
                shown.append(" and ".join(reference))
        return ", ".join(shown)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a statistic of one table whose columns have names: what its numbers are called."""
        match [fact for fact in self.facts.values() if fact is not None]:
            case [Columns(several=True, named=True, formula=None) as fact]:
                return fact.names
        return ()

    @property
    def leaves_out(self) -> bool:
        """Whether people may be left out for a missing entry."""
        return any(_leaves_out(want) for want in self.wants)

    def notes(self, unit: str, several_rows: bool) -> list[str]:
        """What was done about missing entries and a person's several rows."""
        shown, notes = self.wants if any(not want.name.startswith(OWN) for want in self.wants) else (), []
        for want in shown:
            name = want.name.removeprefix(OWN)
            if want.missing not in ("drop", "keep"):
                notes.append(f"where {name} is missing, {want.missing!r} stands in")
            if several_rows:
                cap = f" of at most {want.cap}" if want.cap is not None else ""
                notes.append(f"{name}: the {want.rule}{cap} of a person's rows")
        dropped = [want.name.removeprefix(OWN) for want in shown if _leaves_out(want)]
        if dropped:
            notes.insert(0, f"each {unit} whose {' or '.join(dropped)} is missing is left out")
        return notes


def wanted(
    table: Table,
    statistic: Statistic,
    arguments: Mapping[str, Any],
    terms: Terms,
    facts: Mapping[str, Columns] | None = None,
) -> Wanted:
    """The columns that a statistic is asked about, looked up in a table; BadInput for what does not fit."""
    references: dict[str, Any] = {}
    kinds: dict[str, str] = {}
    for parameter in statistic.columns:
        given, reads = arguments.get(parameter), statistic.reads(parameter, arguments)
        if given is None:
            if not reads.optional and not any(isinstance(one, dict) for one in references.values()):
                raise BadInput(f"{statistic.name} needs {parameter}; give the name of a column")
        elif statistic.formula is not None and isinstance(given, str) and "~" in given:
            factors = statistic.formula(given)
            references[parameter] = dict.fromkeys(factors, given)
            for name in factors:
                kinds[name] = _kind(table, name, factors[name], statistic.name, formula=True)
        else:
            references[parameter] = _reference(given, parameter, reads)
            listed = [references[parameter]] if isinstance(references[parameter], str) else references[parameter]
            kinds |= {name: _kind(table, name, reads, statistic.name) for name in listed}
    if not kinds:  # any column tells how many there are
        return Wanted({}, (Want(table.names[0], "category"),), dict.fromkeys(statistic.columns))
    known_facts = {name: _facts(table, name, references.get(name), facts) for name in statistic.columns}
    return Wanted(references, _wants(table, kinds, terms), known_facts)


def _reference(given: Any, parameter: str, reads: Reads) -> Any:
    if isinstance(given, str):
        return given if reads.width != "several" else [given]
    listed = isinstance(given, list | tuple) and given and all(isinstance(name, str) for name in given)
    if not listed or reads.width == "one":
        more = "" if reads.width == "one" else ", or a list of names"
        raise BadInput(f"{parameter} is {short(given)}; give the name of a column{more}")
    if len(set(given)) != len(given):
        raise BadInput(f"{parameter} names a column twice: {list(given)!r}; name each once")
    return list(given)


def _kind(table: Table, name: str, reads: Reads, verb: str, *, formula: bool = False) -> str:
    """As what a column is read."""
    if name not in table.names and reads.kind == "boolean" and _is_condition(table, name):
        return "where"
    declared = table.kinds[known(table, name)]
    if reads.kind == "category" or (reads.kind == "any" and declared in WRONG):
        return "category"
    if reads.kind == "boolean":
        return "boolean"
    if declared in WRONG:
        shown = name.removeprefix(OWN)
        advice = f"open the table with types={{{shown!r}: 'number'}} to read its cells as numbers"
        if name != shown:
            advice = "give a column of numbers"
        elif formula:
            advice = f"write C({shown}) for categories, or {advice}"
        raise BadInput(f"{verb} needs numbers, and {shown!r} is declared to hold {WRONG[declared]}; {advice}")
    return "number"


def _is_condition(table: Table, text: str) -> bool:
    """Whether a yes or no is asked for as a condition, "age >= 65", rather than as a column."""
    if not any(letter in text for letter in " `<>=!"):
        return False
    Where.parse(text).check(table.kinds)
    return True


def _wants(table: Table, kinds: Mapping[str, str], terms: Terms) -> tuple[Want, ...]:
    """How each column is read: what a missing entry stands for, and what is made of a person's rows."""
    missing, rule = (_by_column(given, table) for given in (terms.missing, terms.per_person))
    found = []
    for name, kind in kinds.items():
        chosen = "keep" if kind == "where" else missing.get(name, missing.get("", "drop"))
        by = rule.get(name, rule.get("", "mean" if kind == "number" else "first"))
        found.append(Want(name, kind, missing=chosen, rule=by, cap=terms.max_rows))  # type: ignore[arg-type]
    return tuple(found)


def _by_column(given: Any, table: Table) -> dict[str, Any]:
    """One choice for all columns, under "", or one by name."""
    if isinstance(given, Mapping):
        own = {name: OWN + name for name in given if isinstance(name, str) and OWN + name in table.names}
        return {known(table, own.get(name, name)): choice for name, choice in given.items()}
    return {} if given is None else {"": given}


def _leaves_out(want: Want) -> bool:
    return isinstance(want.missing, str) and want.missing == "drop"


def _facts(table: Table, parameter: str, reference: Any, facts: Mapping[str, Columns] | None) -> Columns | None:
    if reference is None or (facts is not None and parameter in facts):
        return None if facts is None else facts.get(parameter)
    names = (reference,) if isinstance(reference, str) else tuple(reference)
    formula = next(iter(reference.values())) if isinstance(reference, dict) else None
    kinds = tuple(table.kinds.get(name, "boolean") for name in names)
    return Columns(names, kinds, several=not isinstance(reference, str), formula=formula)


def known(table: Table, name: object) -> str:
    """The name of a column that is there."""
    if not isinstance(name, str) or name not in table.names:
        more = ", ..." if len(table.names) > 20 else ""
        there = ", ".join(one.removeprefix(OWN) for one in table.names[:20]) + more
        raise BadInput(f"there is no column {short(name)}; the table has {there}")
    return name


def short(thing: object) -> str:
    """What was given, cut where it is long."""
    seen = repr(thing)
    return seen if len(seen) <= 60 else f"{seen[:57]}..."


def listed_keys(table: Table, statistic: Statistic, terms: Terms, asked: Wanted) -> tuple[Any, ...] | None:
    """The public groups of `groupby`; None where there is none, or the groups are to be found."""
    by, keys = terms.groupby, terms.keys
    if by is None:
        if keys is not None:
            raise BadInput("keys are the groups of groupby=; give groupby too, or leave keys out")
        return None
    known(table, by)
    if not statistic.groups:
        raise BadInput(f"{statistic.name} cannot be asked by group; ask with where= for each group")
    if by in asked.references.values():
        raise BadInput(f"groupby is {by!r}, the column that the question is about; group by another")
    if keys is None:
        return None
    if isinstance(keys, str) or not isinstance(keys, list | tuple | range) or not 1 <= len(keys) <= MOST_KEYS:
        raise BadInput(f"keys is {keys!r}; list the groups, 1 to {MOST_KEYS}, for example ['Female', 'Male']")
    if len({group_of(name) for name in keys}) != len(keys):
        raise BadInput("a group is listed twice in keys; list each once")
    return tuple(None if key(name) is None else name for name in keys)  # whatever a missing one is called


def with_groups(wants: tuple[Want, ...], by: str | None) -> tuple[Want, ...]:
    """The columns of a question and the one that says who is in which group."""
    if by is None or any(want.name == by for want in wants):
        return wants
    return (*wants, Want(by, "category"))


def group_of(entry: Any) -> Hashable:
    """The group of an entry, by what it is called: a date is in that of its text, as plans and found groups have it."""
    return key(name_of(key(entry)))
