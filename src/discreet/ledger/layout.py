"""The layout of the ledger's tables: which one a database has, and how an older one becomes the newest.

Claims
    [layout.1] A ledger of an older layout keeps every row: tables are changed in one write ([database.1]), by one
          process, or not at all. Opened for reading, it is left as it is.
    [layout.2] A ledger of a layout that this release does not know is refused before anything is read or charged.

A layout is a file in `migrations/versions`, run by Alembic, imported only if there is something to change. A new
ledger is made with the newest tables at once; a test holds the two ways to the same tables. The layout says which
tables there are. `version` in the ledger's row says what is signed, and how.
"""

import threading
from pathlib import Path
from typing import Final

import sqlalchemy as sa

from discreet.errors import LedgerFault
from discreet.ledger.database import Database
from discreet.ledger.ledger_tables import LAYOUT, LAYOUTS

SCRIPTS: Final = Path(__file__).with_name("migrations")
ONE_AT_A_TIME: Final = threading.Lock()  # Alembic keeps what it works on in one place for the whole process


def settle(database: Database) -> None:
    """Before a ledger that is there is used: the newest layout if it may be written, else one that can be read."""
    if known(database.name, database.read(layout_of)) == LAYOUTS[-1] or database.reading:
        return

    def work(connection: sa.Connection) -> None:
        database.alone(connection)
        found = known(database.name, layout_of(connection))  # another process may have been first
        if found != LAYOUTS[-1]:
            upgrade(connection, SCRIPTS, stamped=bool(_stamps(connection)))

    database.write(work)  # [layout.1]


def layout_of(connection: sa.Connection) -> str:
    """The layout of the tables; the first was made before there was a table that names it."""
    return " and ".join(_stamps(connection)) or LAYOUTS[0]


def known(name: str, layout: str) -> str:
    """This layout, if there is such a one."""
    if layout not in LAYOUTS:  # [layout.2]
        raise LedgerFault(
            f"the tables of the ledger {name} have layout {layout!r}, and this release of discreet knows "
            f"{LAYOUTS[0]} to {LAYOUTS[-1]}: it was used with a newer release. Nothing is charged: install that release"
        )
    return layout


def upgrade(connection: sa.Connection, scripts: Path, to: str = "head", *, stamped: bool) -> None:
    """Run the migrations that are missing, within the transaction of `connection`. [layout.1]"""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(scripts).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    with ONE_AT_A_TIME:
        if not stamped:
            command.stamp(config, LAYOUTS[0])
        command.upgrade(config, to)


def _stamps(connection: sa.Connection) -> list[str]:
    if not sa.inspect(connection).has_table(LAYOUT.name):
        return []
    return [str(each) for each in connection.execute(sa.select(LAYOUT.c.version_num)).scalars()]
