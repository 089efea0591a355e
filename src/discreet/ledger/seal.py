"""The key that signs the head of the chain, and the anchor: a copy of all heads outside the ledger.

Claims
    [LK1] Only who has the key can make a head, or the state of an account, that is accepted: HMAC-SHA-256.
    [LK2] The anchor names entries that were durable when it was written. A ledger that lacks one of them, or has
          another in its place, is an older copy or a rewritten one. The anchor may lag behind (a crash between the two
          writes) until the ledger is used again; it is never ahead. A line is on its disk before its answer is shown.
          Lines that are added by who has no key hide none of those before.

A key file is written once, readable by its owner alone, and is never replaced. The anchor is only ever appended to: one
line a head. Keep it where those who can write the ledger cannot: another machine, another owner, an append-only file.
"""

import hmac
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from discreet.errors import BadInput, LedgerFault
from discreet.ledger.budget import canonical

SHORTEST: Final = 16  # bytes of a key
LINE: Final = re.compile(
    rb"([0-9]{1,18}) ([0-9a-f]{64}) ([0-9a-f]{64})\n?"
)  # of an anchor; a number that databases hold


@dataclass(frozen=True, slots=True)
class Seal:
    """Signs lists of texts and numbers."""

    key: bytes

    def __repr__(self) -> str:
        return "Seal()"  # never the key

    def sign(self, *parts: str | int | None) -> str:
        """The signature. [LK1]"""
        return hmac.digest(self.key, canonical(parts).encode(), "sha256").hex()  # [LK1]

    def fits(self, signature: str, *parts: str | int | None) -> bool:
        """Whether the signature is of these."""
        return hmac.compare_digest(self.sign(*parts).encode(), signature.encode())


def given_seal(key: bytes | str | Path) -> Seal:
    """A key as bytes, or the file that it is in."""
    secret = key if isinstance(key, bytes) else _read(Path(key))
    if len(secret) < SHORTEST:
        raise BadInput(f"the ledger's key has {len(secret)} bytes; give {SHORTEST} or more, from os.urandom(32)")
    return Seal(secret)


def exposed(key: Path) -> bool:
    """Whether others than its owner may read or replace a key file."""
    try:
        return bool(key.stat().st_mode & 0o077)
    except OSError:
        return False


def new_seal(path: Path) -> Seal:
    """The key in this file, made if there is none. Of several processes that try at once, one makes it."""
    if not path.exists():
        try:
            _make(path)
        except OSError as error:
            raise LedgerFault(
                f"the ledger's key {path} cannot be made ({error.strerror}); give a folder for it"
            ) from None
    return given_seal(path)


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
    _sync_folder(path.parent)


@dataclass(frozen=True, slots=True)
class Head:
    """An entry that was once the last, signed."""

    number: int
    hash: str
    signature: str


@dataclass(frozen=True, slots=True)
class Anchor:
    """A file of heads."""

    path: Path

    def append(self, head: Head) -> None:
        """One line, in one write: racing processes do not mix. Called after the entry is durable. [LK2]

        Nothing is written if this is the last line already.
        """
        line = f"{head.number} {head.hash} {head.signature}\n".encode()
        try:
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            try:
                size = os.fstat(handle).st_size
                end = os.pread(handle, len(line) + 1, max(0, size - len(line) - 1))
                if (b"\n" + end).endswith(b"\n" + line):
                    return
                whole = (b"\n" if end and not end.endswith(b"\n") else b"") + line  # a crash in the middle of a line
                short = os.write(handle, whole) != len(whole)
                os.fsync(handle)  # [LK2]
            finally:
                os.close(handle)
        except OSError as error:
            raise self._unwritten(error.strerror) from None
        if short:
            raise self._unwritten("the disk is full")

    def _unwritten(self, why: str | None) -> LedgerFault:
        return LedgerFault(
            f"entry recorded, but its anchor {self.path} cannot be written ({why}); nothing is shown: make room for it "
            "and ask again with the same request, which charges nothing"
        )

    def heads(self) -> Iterator[Head | None]:
        """All heads, None for a line that cannot be read."""
        if self.path.exists():
            with self.path.open("rb") as lines:
                for line in lines:
                    if line.strip():
                        yield _head(line)

    def furthest(self) -> Head | None:
        """The head of the highest number; reads all, as the last line may be an old one that somebody added. [LK2]"""
        most, best = -1, b""
        if self.path.exists():
            with self.path.open("rb") as lines:
                for line in lines:
                    found = LINE.fullmatch(line)
                    if found and int(found[1]) > most:
                        most, best = int(found[1]), line
        return _head(best)


def _head(line: bytes) -> Head | None:
    found = LINE.fullmatch(line)
    return None if found is None else Head(int(found[1]), found[2].decode(), found[3].decode())


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes().strip()
    except OSError as error:
        raise LedgerFault(
            f"the ledger's key {path} cannot be read ({error.strerror}); without its key a ledger can be neither "
            "trusted nor continued: put the file back, or give key="
        ) from None


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
