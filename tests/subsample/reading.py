"""Rows as `discreet.fit` reads them: through the tables, then cut into what blocks are made of."""

from typing import Any

from discreet.api import _owned, given_table
from discreet.privacy.declaration import declared
from discreet.subsample.block_table import BlockTable
from discreet.tables.arranging import arranged
from discreet.tables.table import OWNER
from discreet.tables.wanted import OWN, Terms, wanted


def read(x: Any, y: Any = None, people: Any = None, categories: Any = None, missing: str = "keep") -> BlockTable:
    """What the mechanism of a fit is given; rows without an owner are left out."""
    fit = declared("fit")
    given = {"estimator": len, "X": x, "y": y, "categories": categories}
    arguments, owners = _owned(fit, given, people)
    table, named, facts = given_table(fit, arguments, owners)
    asked = wanted(table, fit, named, Terms(missing=missing), facts)
    found: Any = table.columns(asked.wants, owner=None if owners is None else OWN + "unit")
    rows: BlockTable = arranged(fit, asked, found, named, found.pop(OWNER, None))
    return rows
