"""Heads that are signed with a private key (Ed25519): who has the public key can check a ledger, not sign one.

Claims
    [public_seal.1] Only who has the private key can make a signature of a head that its public key accepts. A head
          holds the hash of all entries up to it ([account.4]): one signed head vouches for all of them.
    [public_seal.2] A ledger whose last signed head is of one key takes no entry without that key, until the steward
          signs with another (`sign` with `replace`): nobody leaves the signature out by mistake.
    [public_seal.3] The private key is read only from a file that nobody else could have put there or read: [seal.2].

The shared key (seal.py) signs entries, accounts and heads for those who run the ledger: who checks with it could also
sign. This signature stands beside it, in the table of public heads and in the anchor. It needs `cryptography`, which is
imported when there is something to sign or to check.
"""

import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import sqlalchemy as sa

from discreet.errors import BadInput, LedgerChanged, LedgerFault
from discreet.ledger.account import canonical
from discreet.ledger.database import Database, key_path
from discreet.ledger.durable_files import opened
from discreet.ledger.ledger_tables import PUBLIC_HEADS
from discreet.ledger.seal import OWN, Head, make_secret, read_secret

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

ENDING: Final = ".ed25519"  # of the private key beside the shared one
LAST: Final = sa.select(PUBLIC_HEADS).order_by(PUBLIC_HEADS.c.number.desc()).limit(1)


@dataclass(frozen=True, slots=True)
class PublicKey:
    """Checks signatures; `text` is the key itself, in hexadecimal."""

    text: str

    def fits(self, signature: str, ledger: str, number: int, hash_: str) -> bool:
        """Whether the signature is of this head. [public_seal.1]"""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        try:
            key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(self.text))
            key.verify(bytes.fromhex(signature), _message(ledger, number, hash_))  # [public_seal.1]
        except (InvalidSignature, ValueError):
            return False
        return True

    @property
    def fingerprint(self) -> str:
        """The first digits of the key's hash, to read aloud and compare."""
        return sha256(bytes.fromhex(self.text)).hexdigest()[:16]


class Signer:
    """Signs heads."""

    def __init__(self, key: "Ed25519PrivateKey") -> None:
        self._key = key
        self.public = PublicKey(key.public_key().public_bytes_raw().hex())

    def __repr__(self) -> str:
        return f"Signer({self.public.fingerprint})"  # never the key

    def sign(self, ledger: str, number: int, hash_: str) -> str:
        """The signature of a head; the same each time."""
        return self._key.sign(_message(ledger, number, hash_)).hex()  # [public_seal.1]


def _message(ledger: str, number: int, hash_: str) -> bytes:
    return canonical(("discreet public head", ledger, number, hash_)).encode()


def read_signer(path: Path, forbidden: int | None = OWN) -> Signer:
    """The private key in a file that belongs to who runs the program, and to nobody else. [public_seal.3]"""
    serialization, ed25519 = _library()
    try:
        key = serialization.load_pem_private_key(read_secret(path, forbidden), None)  # [public_seal.3]
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        raise BadInput(f"{path} holds no Ed25519 private key in PEM; make one with `discreet ledger sign`")
    return Signer(key)


def given_signer(database: Database, key: bytes | str | Path | None, given: str | Path | None) -> Signer | None:
    """The private key that was given, or the one beside the shared key, if there is one."""
    if given is not None:
        return read_signer(Path(given))
    path = beside_key(database, key)
    return read_signer(path) if path is not None and path.exists() else None


def beside_key(database: Database, key: bytes | str | Path | None) -> Path | None:
    """Where the private key is looked for."""
    kept = key_path(database, key)
    return None if kept is None else kept.with_name(kept.name + ENDING)


def read_public(path: str | Path) -> PublicKey:
    """The public key in a file, as `discreet ledger sign` writes it."""
    serialization, ed25519 = _library()
    try:
        key = serialization.load_pem_public_key(Path(path).read_bytes())
    except OSError as error:
        raise LedgerFault(f"the public key {path} cannot be read ({error.strerror})") from None
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, ed25519.Ed25519PublicKey):
        raise BadInput(f"{path} holds no Ed25519 public key in PEM; ask for the file that `discreet ledger sign` wrote")
    return PublicKey(key.public_bytes_raw().hex())


def make_signer(path: Path) -> Signer:
    """The private key in this file, made if there is none; never over another."""
    serialization, ed25519 = _library()
    if not path.exists():
        form, how = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        text = ed25519.Ed25519PrivateKey.generate().private_bytes(serialization.Encoding.PEM, form, how)
        try:
            make_secret(path, text)
        except OSError as error:
            raise LedgerFault(
                f"the private key {path} cannot be made ({error.strerror}); give a folder for it"
            ) from None
    return read_signer(path)


def write_public(signer: Signer, path: Path) -> None:
    """The public key, for auditors; a file that is there must hold the same."""
    serialization, ed25519 = _library()
    key = ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(signer.public.text))
    text = key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    try:
        handle = opened(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        with os.fdopen(handle, "wb") as file:
            file.write(text)
    except FileExistsError:
        if read_public(path) != signer.public:
            raise BadInput(f"{path} holds another public key; keep it for auditors, and give another name") from None
    except OSError as error:
        raise LedgerFault(f"the public key {path} cannot be written ({error.strerror}); give a folder for it") from None


def public_head(connection: sa.Connection, signer: Signer | None, ledger: str, head: Head) -> str | None:
    """The signature that the head has, if it has one and may be continued with this key."""
    row = connection.execute(LAST).one_or_none()
    if row is None:
        return None
    if signer is None or signer.public.text != row.key:  # [public_seal.2]
        found = PublicKey(str(row.key)).fingerprint if len(str(row.key)) == 64 else "unknown"
        given = "none was given" if signer is None else f"{signer.public.fingerprint} was given"
        raise LedgerFault(
            f"the heads of this ledger are signed with a private key, public fingerprint {found}, and {given}; nothing "
            "is charged: give signing_key= with its file, or sign with another: `discreet ledger sign --replace`"
        )
    if row.number != head.number:
        return None
    if not signer.public.fits(row.signature, ledger, head.number, head.hash):
        raise LedgerChanged(
            "the ledger was changed by other hands: its head is not what the private key signed. Nothing is charged; "
            "`discreet ledger verify` says where"
        )
    return str(row.signature)


def keep_public_head(connection: sa.Connection, signer: Signer, ledger: str, head: Head) -> str:
    """Sign a head, and write it down."""
    signature = signer.sign(ledger, head.number, head.hash)
    connection.execute(sa.delete(PUBLIC_HEADS).where(PUBLIC_HEADS.c.number == head.number))
    row = {"number": head.number, "key": signer.public.text, "signature": signature}
    connection.execute(PUBLIC_HEADS.insert(), row)
    return signature


def _library() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ModuleNotFoundError:
        raise BadInput("signatures with a private key need a library: pip install 'discreet[sign]'") from None
    return serialization, ed25519
