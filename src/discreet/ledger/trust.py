"""A steward's word: that a ledger is all there is, although its anchor does not show it.

An anchor is lost with its disk, and a ledger is restored from a backup. Nothing in the files tells this from an attack:
a person decides. What was decided is an entry of the chain like any other, and every `verify` repeats it.
"""

from pathlib import Path

import sqlalchemy as sa

from discreet.errors import BadInput, LedgerChanged, LedgerFault
from discreet.ledger import ledger_text as words
from discreet.ledger.account import Entry, canonical
from discreet.ledger.pages import MOVE_HEAD, Pages, identity, who
from discreet.ledger.place import is_there, parts
from discreet.ledger.seal import Head
from discreet.ledger.store import verified


def trust(
    where: str | Path, why: str, *, key: bytes | str | Path | None = None, anchor: str | Path | None = None
) -> Entry:
    """Begin the anchor of a ledger anew, and record why; the entry that says so.

    Only an anchor that is gone, or was cut, is begun anew. Whatever else is wrong is refused, as is an anchor that has
    seen entries that the ledger lacks: that one is evidence, and stays as it is.
    """
    if not words.note(why).strip():
        raise BadInput("say why the ledger is trusted without its anchor; it is written down for auditors")
    if not is_there(where):
        raise LedgerFault("there is no ledger there; it was moved or deleted, or the path is wrong")
    database, seal, outside = parts(where, key, anchor, 30.0, make=True)
    if outside is None:
        raise BadInput("give the file in which the anchor begins anew, anchor=")

    def work(connection: sa.Connection) -> tuple[Entry, Head]:
        ledger, _ = identity(connection, seal)
        pages = Pages(connection, seal, ledger)
        head = pages.head()
        outside.append(head, begin=True, recorded=False)
        body = canonical({"note": why, "anchor": str(outside.path)})
        entry = pages.append(head, "anchor", "", None, body=body)
        connection.execute(MOVE_HEAD, {"fingerprint": seal.sign(*who(ledger, anchored=True))})
        return entry

    try:
        found = verified(database, seal, outside)
        wrong = [problem for problem in found.problems if not problem.anchor]
        if wrong:
            raise LedgerChanged(
                f"this ledger cannot be trusted, whatever its anchor is: {wrong[0]}. An anchor that has seen more than "
                "the ledger has stays as it is, for auditors: keep it apart, charge what it has seen, and give another"
            )
        if found.ok:
            raise BadInput(f"the anchor {outside.path} has seen this ledger; there is nothing to trust it in")
        entry, head = database.write(work)
        outside.append(head)
        return entry
    finally:
        database.close()
