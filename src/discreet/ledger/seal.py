"""The key that signs the head of the chain.

Claims
    [seal.1] Only who has the key can make a head, or the state of an account, that is accepted: HMAC-SHA-256.
    [seal.2] A ledger is written only with a key that nobody else could have put there: its file belongs to who runs the
          program, or to root, and only its owner may write it. One that is beside the ledger, where others may have put
          it before there was a ledger, is also readable by its owner alone, as those are that are made there.

A key file is written once, readable by its owner alone, and is never replaced.
"""

import hmac
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from discreet.errors import BadInput, LedgerFault
from discreet.ledger.account import canonical

SHORTEST: Final = 16  # bytes of a key
OWN: Final = 0o077  # what a key beside a ledger allows nobody else
WRITTEN_BY_OWNER: Final = 0o022  # what no key allows anybody else


@dataclass(frozen=True, slots=True)
class Seal:
    """Signs lists of texts and numbers."""

    key: bytes

    def __repr__(self) -> str:
        return "Seal()"  # never the key

    def sign(self, *parts: str | int | None) -> str:
        """The signature. [seal.1]"""
        return hmac.digest(self.key, canonical(parts).encode(), "sha256").hex()  # [seal.1]

    def fits(self, signature: str, *parts: str | int | None) -> bool:
        """Whether the signature is of these."""
        return hmac.compare_digest(self.sign(*parts).encode(), signature.encode())


def given_seal(key: bytes | str | Path, forbidden: int | None = None) -> Seal:
    """A key as bytes, or the file that it is in, whose owner and mode are looked at if `forbidden` bits are given."""
    secret = key if isinstance(key, bytes) else _read(Path(key), forbidden)
    if len(secret) < SHORTEST:
        raise BadInput(f"the ledger's key has {len(secret)} bytes; give {SHORTEST} or more, from os.urandom(32)")
    return Seal(secret)


def exposed(key: Path) -> str | None:
    """How others than its owner could read or replace a key file, if they could."""
    try:
        return _exposed(key.stat(), OWN)
    except OSError:
        return None


def new_seal(path: Path) -> Seal:
    """The key in this file, made if there is none. Of several processes that try at once, one makes it."""
    if not path.exists():
        try:
            _make(path)
        except OSError as error:
            raise LedgerFault(
                f"the ledger's key {path} cannot be made ({error.strerror}); give a folder for it"
            ) from None
    return given_seal(path, OWN)


def _make(path: Path) -> None:
    draft = path.with_name(f"{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(handle, os.urandom(32).hex().encode() + b"\n")
        os.fsync(handle)
    finally:
        os.close(handle)
    try:
        os.link(draft, path)  # whole or not at all, and never over another
    except FileExistsError:
        pass
    finally:
        draft.unlink()
    sync_folder(path.parent)


def _read(path: Path, forbidden: int | None) -> bytes:
    try:
        with path.open("rb") as file:
            why = None if forbidden is None else _exposed(os.fstat(file.fileno()), forbidden)
            if why is None:
                return file.read().strip()
    except OSError as error:
        raise LedgerFault(
            f"the ledger's key {path} cannot be read ({error.strerror}); without its key a ledger can be neither "
            "trusted nor continued: put the file back, or give key="
        ) from None
    raise LedgerFault(
        f"the ledger's key {path} {why}, who could sign what they like; nothing is charged. If it is yours, `chown` it "
        "to you and `chmod 600` it; if you did not put it there, remove it, and what was signed with it"
    )  # [seal.2]


def _exposed(found: os.stat_result, forbidden: int) -> str | None:
    if found.st_uid not in (os.geteuid(), 0):  # [seal.2]
        return f"belongs to another user, number {found.st_uid}"
    if found.st_mode & forbidden & WRITTEN_BY_OWNER:  # [seal.2]
        return "can be written by others than its owner"
    return "can be read by others than its owner" if found.st_mode & forbidden else None  # [seal.2]


def sync_folder(folder: Path) -> None:
    """What was made in a folder outlives a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
