"""The table of a plan: one source, or several tables that share people and the features that join them.

[data]
person = "id"

[tables]
visits = "visits.parquet"
drugs = { source = "sqlite:///clinic.db", table = "prescriptions", person = "patient", types = { day = "date" } }

[features]
visits = "count"
insulin = "any(drug == 'insulin')"
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from discreet.engines.addresses import engine_of
from discreet.errors import BadInput
from discreet.tables.joined_people import people
from discreet.tables.opening import read
from discreet.tables.table import Table
from discreet.tables.wanted import known

if TYPE_CHECKING:
    from discreet.plan.plan_file import Plan

Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Dates = Literal["date", "dd.mm.yyyy", "dd/mm/yyyy", "mm/dd/yyyy"]
Types = dict[Name, Literal["number", "integer", "boolean", "category", "text", Dates, "percent", "thousands"]]


class Section(BaseModel):
    """A part of a plan: nothing is guessed, nothing unknown is passed over."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class PlannedTable(Section):
    """An entry of [tables]: one of the tables that share people."""

    source: Name = Field(description="a file, glob or folder, from the plan's folder; or a database's address")
    table: Name | None = Field(None, description="the table of a database, if it is not called as the entry is")
    person: Name | None = Field(None, description="the column that says whose row it is, if not that of [data]")
    types: Types = Field({}, description="by column, what it holds, or how its numbers are written")


def check_tables(plan: "Plan") -> None:
    """A plan is about one source, or about tables with features: ValueError for what does not fit together."""
    data = plan.data
    if not plan.tables:
        if plan.features:
            raise ValueError("[features] are made of [tables], and there are none; name the tables by name")
        if data.source is None:
            raise ValueError("there is no table; give source in [data], or several tables in [tables]")
        return
    if not plan.features:
        raise ValueError("[tables] are joined by [features], and there are none; write one, as in visits = 'count'")
    wrong = [name for name in ("source", "table", "types", "per_person", "max_rows") if getattr(data, name)]
    if wrong:
        raise ValueError(f"[data] has {', '.join(wrong)}, and the plan has [tables]; leave it out, or write it there")
    for name, entry in plan.tables.items():
        if data.person is None and (isinstance(entry, str) or entry.person is None):
            raise ValueError(f"no column says whose rows {name} holds; give person in [data] or in the table's entry")


def table_of(
    plan: "Plan",
    place: Callable[[str], str],
    told: Callable[[tuple[str, ...], BadInput], BadInput],
    engine: Any = None,
) -> Table:
    """The table of a plan, of which names and kinds are read; `told` puts a line of the plan before what is wrong."""
    data = plan.data
    if plan.tables and (engine or data.engine):
        raise BadInput("the plan has [tables], which are brought together here; leave out the engine")
    if not plan.tables:
        assert data.source is not None  # as `check_tables` has it
        how: dict[str, Any] = {"table": data.table, "types": data.types or None}
        table = read(place(data.source), engine=engine_of(engine or data.engine), **how)
        for column in (data.person, *data.types, *data.per_person):
            if column is not None:
                known(table, column)
        return table
    entries = {
        name: PlannedTable.model_validate({"source": entry}) if isinstance(entry, str) else entry
        for name, entry in plan.tables.items()
    }
    try:
        return people(
            {name: place(entry.source) for name, entry in entries.items()},
            {name: str(entry.person or data.person) for name, entry in entries.items()},
            plan.features,
            table={name: entry.table for name, entry in entries.items() if entry.table is not None},
            types={name: entry.types for name, entry in entries.items() if entry.types},
        )
    except BadInput as error:
        raise told(_place(plan.tables, plan.features, str(error)), error) from None


def _place(tables: Mapping[str, object], features: Mapping[str, object], message: str) -> tuple[str, ...]:
    """The entry of a plan that a message is about: it begins with its name."""
    for section, word, names in (("features", "feature", features), ("tables", "table", tables)):
        for name in names:
            if message.startswith(f"{word} {name!r}: "):
                return (section, name)
    return ("tables",)
