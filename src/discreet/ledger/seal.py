"""The key that signs the head of the chain, and the anchor: a copy of all heads outside the ledger.

Claims
    [seal.1] Only who has the key can make a head, or the state of an account, that is accepted: HMAC-SHA-256.
    [seal.2] A ledger is written only with a key that nobody else could have put there: its file belongs to who runs the
          program, or to root, and only its owner may write it. One that is beside the ledger, where others may have put
          it before there was a ledger, is also readable by its owner alone, as those are that are made there. Not on
          Windows, where a file's mode does not tell: keep the key in a folder that others cannot open.
    [seal.3] The anchor names entries that were durable when it was written. A ledger that lacks one of them, or has
          another in its place, is an older copy or a rewritten one. Lines that are added by who has no key hide none of
          those before. A line is on its disk before its answer is shown.
    [seal.4] No entry is written before the anchor has the head that it continues, and the first of them has number 0.
          So the anchor of a ledger with n entries, n above 0, ends at entry n - 1 or later, whatever crashed: one that
          ends earlier, or is empty or gone, was cut, exchanged or deleted.

A key file is written once, readable by its owner alone, and is never replaced. The anchor is only ever appended to: one
line a head. Keep it where those who can write the ledger cannot: another machine, another owner, an append-only file.
Who can set it back to the very line at which an older copy of the ledger ends leaves nothing that tells.
"""

import hmac
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from discreet.errors import BadInput, LedgerFault
from discreet.ledger import durable_files
from discreet.ledger.account import canonical
from discreet.ledger.durable_files import opened, read_at, sync, sync_folder

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
    secret = key if isinstance(key, bytes) else read_secret(Path(key), forbidden)
    if len(secret) < SHORTEST:
        raise BadInput(f"the ledger's key has {len(secret)} bytes; give {SHORTEST} or more, from os.urandom(32)")
    return Seal(secret)


def exposed(key: Path) -> str | None:
    """How others than its owner could read or replace a key file, if they could."""
    if durable_files.WINDOWS:
        return "is in a file of which this system does not tell who can read or replace it: whoever can"
    try:
        return _exposed(key.stat(), OWN)
    except OSError:
        return None


def new_seal(path: Path) -> Seal:
    """The key in this file, made if there is none. Of several processes that try at once, one makes it."""
    if not path.exists():
        try:
            make_secret(path, os.urandom(32).hex().encode() + b"\n")
        except OSError as error:
            raise LedgerFault(
                f"the ledger's key {path} cannot be made ({error.strerror}); give a folder for it"
            ) from None
    return given_seal(path, OWN)


def make_secret(path: Path, secret: bytes) -> None:
    """A file that its owner alone may read, whole or not at all, and never over another."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    handle = opened(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(handle, secret)
        sync(handle)
    finally:
        os.close(handle)
    try:
        os.link(draft, path)  # whole or not at all, and never over another
    except FileExistsError:
        pass
    finally:
        draft.unlink()
    sync_folder(path.parent)


def read_secret(path: Path, forbidden: int | None) -> bytes:
    """What is in a key's file, if nobody else could have put it there. [seal.2]"""
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
    if durable_files.WINDOWS:  # no owner and no bits to look at
        return None
    if found.st_uid not in (os.geteuid(), 0):  # [seal.2]
        return f"belongs to another user, number {found.st_uid}"
    if found.st_mode & forbidden & WRITTEN_BY_OWNER:  # [seal.2]
        return "can be written by others than its owner"
    return "can be read by others than its owner" if found.st_mode & forbidden else None  # [seal.2]


LINE: Final = re.compile(
    rb"([0-9]{1,18}) ([0-9a-f]{64}) ([0-9a-f]{64})(?: ([0-9a-f]{128}))?\n?"
)  # of an anchor; a number that databases hold; the last, if there is one, is a private key's: public_seal.py


@dataclass(frozen=True, slots=True)
class Head:
    """An entry that was once the last, signed; `public` is the signature of a private key, if there is one."""

    number: int
    hash: str
    signature: str
    public: str | None = field(default=None, compare=False)


class Anchor:
    """A file of heads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: tuple[int, int] | None = None  # which file was read, and up to which byte
        self._read = 0
        self._most, self._best = -1, b""

    def append(self, head: Head, *, begin: bool = False, recorded: bool = True) -> None:
        """One line, in one write: racing processes do not mix. Called after the entry is durable. [seal.3]

        Nothing is written if this is the last line already. The file is made only to `begin` an anchor; `recorded` is
        whether the charge under way is in the ledger already.
        """
        line = " ".join(filter(None, (str(head.number), head.hash, head.signature, head.public))).encode() + b"\n"
        try:
            new = begin and not os.path.lexists(self.path)
            flags = os.O_RDWR | os.O_APPEND | (os.O_CREAT | os.O_EXCL if new else 0)  # [seal.4]
            handle = opened(self.path, flags, 0o644)
            try:
                found = os.fstat(handle)
                if not stat.S_ISREG(found.st_mode):
                    raise self._fault("it is not a file", recorded)
                end = read_at(handle, len(line) + 1, max(0, found.st_size - len(line) - 1))
                if (b"\n" + end).endswith(b"\n" + line):
                    return
                if end and self.furthest() is None:
                    raise self._fault("it holds something else", recorded)
                whole = (b"\n" if end and not end.endswith(b"\n") else b"") + line  # a crash in the middle of a line
                short = os.write(handle, whole) != len(whole)
                sync(handle)  # [seal.3]
            finally:
                os.close(handle)
            if new:
                sync_folder(self.path.parent)
        except OSError as error:
            raise self._fault(error.strerror, recorded) from None
        if short:
            raise self._fault("the disk is full", recorded)

    def _fault(self, why: str | None, recorded: bool) -> LedgerFault:
        if not recorded:
            return LedgerFault(
                f"the anchor {self.path} cannot be written ({why}); nothing is charged: make it writable"
            )
        return LedgerFault(
            f"entry recorded, but its anchor {self.path} cannot be written ({why}); nothing is shown: make room for it "
            "and ask again with the same request, which charges nothing"
        )

    def heads(self) -> Iterator[Head | None]:
        """All heads, None for a line that cannot be read."""
        for line in self._lines(0):
            if line.strip():
                yield _head(line)

    def furthest(self) -> Head | None:
        """The head of the highest number; all lines count, as the last may be an old one that somebody added.
        [seal.3]

        Of a file that has only grown since it was last read, the new lines are read.
        """
        try:
            found = self.path.stat()
            file, size = (found.st_dev, found.st_ino), found.st_size
        except OSError:
            file, size = None, 0
        if file is None or file != self._file or size < self._read:
            self._file, self._read, self._most, self._best = file, 0, -1, b""
        for line in self._lines(self._read):
            self._read += len(line) if line.endswith(b"\n") else 0  # the rest of a torn one may follow
            matched = LINE.fullmatch(line)
            if matched and int(matched[1]) > self._most:
                self._most, self._best = int(matched[1]), line
        return _head(self._best)

    def _lines(self, start: int) -> Iterator[bytes]:
        if self.path.exists() and not self.path.is_file():
            raise LedgerFault(f"the anchor {self.path} cannot be read: it is not a file")
        try:
            with self.path.open("rb") as lines:
                lines.seek(start)
                yield from lines
        except FileNotFoundError:
            return
        except OSError as error:
            raise LedgerFault(f"the anchor {self.path} cannot be read ({error.strerror})") from None


def lacking(furthest: int | None, entries: int) -> str | None:
    """What an anchor that goes so far does not have of a ledger with so many entries, in words. [seal.4]"""
    if entries == 0 or (furthest is not None and furthest >= entries - 1):  # [seal.4]
        return None
    ends = "is not there, or is empty" if furthest is None else f"ends at entry {furthest}"
    so_many = "1 entry" if entries == 1 else f"{entries} entries"
    return f"the ledger has {so_many}, and its anchor {ends}: it was deleted, cut or exchanged"


def _head(line: bytes) -> Head | None:
    found = LINE.fullmatch(line)
    if found is None:
        return None
    return Head(int(found[1]), found[2].decode(), found[3].decode(), found[4].decode() if found[4] else None)
