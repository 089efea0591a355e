"""Where a ledger, its key and its anchor are: three files, or a server and two files."""

from pathlib import Path

from discreet.errors import BadInput, LedgerFault
from discreet.ledger.database import Database
from discreet.ledger.seal import OWN, WRITTEN_BY_OWNER, Anchor, Seal, given_seal, new_seal
from discreet.privacy.exact import is_number


def parts(
    where: str | Path, key: bytes | str | Path | None, anchor: str | Path | None, patience: float, *, make: bool
) -> tuple[Database, Seal, Anchor | None]:
    """The database, the key and the anchor; a key is made beside a file that is not there, if `make` allows it."""
    if not is_number(patience) or not 0 < patience < 1e6:
        raise BadInput(f"patience is {patience!r}; give the seconds to wait for other writers, for example 30")
    database = Database(where, patience, reading=not make)
    kept = beside(database, ".key")
    if key is not None:
        kept = None if isinstance(key, bytes) else Path(key)
        seal = given_seal(key, WRITTEN_BY_OWNER if make else None)
    elif kept is None:
        raise BadInput(
            "a ledger in PostgreSQL needs key=: the path of a key file that the database's users cannot read"
        )
    else:
        if not make:
            there(database)
        seal = new_seal(kept) if make and not database.exists() else given_seal(kept, OWN if make else None)
    heads = beside(database, ".anchor") if anchor is None else Path(anchor).absolute()
    files = [path.resolve() for path in (database.path, kept, heads) if path is not None]
    if len(set(files)) < len(files):
        raise BadInput("the ledger, its key and its anchor are three files; give each a name of its own")
    return database, seal, None if heads is None else Anchor(heads)


def beside(database: Database, ending: str) -> Path | None:
    """A file beside the ledger's, if it is in a file."""
    return None if database.path is None else database.path.with_name(database.path.name + ending)


def there(database: Database) -> None:
    """That there is a ledger."""
    if not database.exists():
        raise LedgerFault(f"there is no ledger at {database.name}; it was moved or deleted, or the path is wrong")


def is_there(where: str | Path) -> bool:
    """Whether there is a ledger; nothing is made or written."""
    database = Database(where, 30.0, reading=True)
    try:
        return database.exists()
    finally:
        database.close()
