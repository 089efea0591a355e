"""From now on: heads that are signed with a private key as well, which is made if it is not there."""

from pathlib import Path

from discreet.errors import BadInput
from discreet.ledger.database import beside, place, there
from discreet.ledger.public_seal import beside_key, make_signer, write_public
from discreet.ledger.store import Ledger


def sign_from_now(
    where: str | Path,
    *,
    key: bytes | str | Path | None = None,
    anchor: str | Path | None = None,
    private: Path | None = None,
    public: Path | None = None,
    replace: bool = False,
) -> dict[str, str]:
    """Make the two keys if they are not there, sign the head, and say where they are."""
    database, _ = place(where, anchor, 30.0, make=False)
    there(database)
    database.close()
    secret, shown = private or beside_key(database, key), public or beside(database, ".pub")
    if secret is None or shown is None:
        raise BadInput("a ledger in PostgreSQL needs --key and --public-key: where the two keys are, or shall be")
    signer = make_signer(secret)
    write_public(signer, shown)
    with Ledger(where, key=key, anchor=anchor, signing_key=secret) as ledger:
        ledger.sign(replace=replace)
    return {"signing_key": str(secret), "public_key": str(shown), "fingerprint": signer.public.fingerprint}
