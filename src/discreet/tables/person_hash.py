"""A keyed hash of each row's person: 64 or 128 bits that nobody can guess who does not have the key.

Promise
    [person_hash.1] The hash of a row is a function of the key and of the canonical name of its person alone
          (`entries.key`), bit for bit: in whatever container the names come, and whatever the other names are.

Why
    [person_hash.1] A name that is a whole number of 64 bits goes through SipHash-2-4 by itself, any other through
    BLAKE2b by its text. Arrays of whole numbers, and whole numbers among floats, take the same way many at a time; all
    other names are turned into their keys one by one ([entries.1]), and those that are whole numbers then go the first
    way. The keys of both functions are made of the one secret.

Both are pseudorandom functions: under a secret key their values are those of a random function to anybody who cannot
break them, and nobody can choose names that fall together. Two of n different people share 128 bits with a chance
below n^2 / 2^128.

Source
    Aumasson and Bernstein 2012 (SipHash); Saarinen and Aumasson 2015, RFC 7693 (BLAKE2).
"""

import hashlib
from collections.abc import Hashable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.privacy.declaration import Kind
from discreet.tables.cells import Column, is_arrow, is_text, keys, pa, same_zero
from discreet.tables.entries import key

Words = npt.NDArray[np.uint64]  # a row for each of the first words, then the second ones
Mask = npt.NDArray[np.bool_]
U: Final = np.uint64
START: Final = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)  # of SipHash
LENGTH: Final = U(8 << 56)  # of what is hashed, 8 bytes, as its last block has it
CHUNK: Final = 1 << 14  # words that the nearest cache can hold with what is made of them
WHOLE: Final = 2.0**63  # floats below it in size are whole numbers of 64 bits, if whole


def owner_words(ids: Column, kind: Kind, secret: bytes, count: int = 1) -> tuple[Words, Mask]:
    """`count` words, 1 or 2, of the person of each row of a table's column, and which rows have a person.

    >>> words, there = owner_words(np.array([7, 8, 7]), "integer", bytes(32))
    >>> bool(words[0, 0] == words[0, 2]), bool(words[0, 0] == words[0, 1]), bool(there.all())
    (True, False, True)
    """
    if kind in ("integer", "number", "unknown"):
        if not is_arrow(ids) and ids.dtype.kind in "iu":
            return name_words(ids, secret, count), np.ones(len(ids), dtype=np.bool_)
        if is_arrow(ids) and pa.types.is_integer(ids.type):
            there = ids.is_valid().to_numpy(zero_copy_only=False)
            return name_words(ids.fill_null(0).to_numpy(zero_copy_only=False), secret, count), there
    if is_arrow(ids) and is_text(ids.type) and kind in ("text", "category", "unknown"):  # each is its own key
        encoded = ids.dictionary_encode()
        places = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return _of_keys([*encoded.dictionary.to_pylist(), None], secret, count)[:, places], places >= 0
    codes, distinct = keys(same_zero(ids), kind)
    canonical = [key(cell) for cell in distinct]
    named = np.array([one is not None for one in canonical], dtype=np.bool_)
    return _of_keys(canonical, secret, count)[:, codes], named[codes]


def name_words(names: npt.NDArray[Any], secret: bytes, count: int = 1) -> Words:
    """The words of people by name; a missing name is a name. [person_hash.1]"""
    if names.dtype.kind in "iu":
        words = _of_wholes(names.astype(np.int64), secret, count)
        odd = np.flatnonzero(names > np.iinfo(np.int64).max) if names.dtype == U else ()
    elif names.dtype.kind == "f":
        floats = names.astype(np.float64)
        with np.errstate(all="ignore"):
            fits = (np.floor(floats) == floats) & (floats >= -WHOLE) & (floats < WHOLE)
        words = _of_wholes(np.where(fits, floats, 0.0).astype(np.int64), secret, count)
        odd = np.flatnonzero(~fits)
    else:
        return _of_keys([key(entry) for entry in names], secret, count)
    if len(odd):
        words[:, odd] = _of_keys([key(entry) for entry in names[odd]], secret, count)
    return words


def _of_keys(canonical: Sequence[Hashable], secret: bytes, count: int) -> Words:
    """One by one. [person_hash.1]"""
    whole = [type(one) is int and -(2**63) <= one < 2**63 for one in canonical]
    wholes = np.array([one if fits else 0 for one, fits in zip(canonical, whole, strict=True)], dtype=np.int64)
    words = _of_wholes(wholes, secret, count)
    texts = [place for place, fits in enumerate(whole) if not fits]
    if texts:
        digests = b"".join(_digest(canonical[place], secret) for place in texts)
        words[:, texts] = np.frombuffer(digests, dtype="<u8").reshape(-1, 2).T[:count]
    return words


def _digest(canonical: Hashable, secret: bytes) -> bytes:
    name = repr(canonical).encode("utf-8", "backslashreplace")
    return hashlib.blake2b(name, key=secret, digest_size=16).digest()


def _of_wholes(names: npt.NDArray[np.int64], secret: bytes, count: int) -> Words:
    """SipHash-2-4 of each, under `count` keys."""
    secrets = hashlib.blake2b(b"whole numbers", key=secret, digest_size=32).digest()
    return np.stack([siphash(names.view(U), secrets[16 * one : 16 * one + 16]) for one in range(count)])


def siphash(words: npt.NDArray[np.uint64], secret: bytes) -> npt.NDArray[np.uint64]:
    """SipHash-2-4 of each word's 8 bytes, least first, under a key of 16 bytes.

    >>> eight = np.frombuffer(bytes(range(8)), dtype=np.uint64)  # the example of its authors
    >>> hex(siphash(eight, bytes(range(16)))[0])
    '0x93f5f5799a932462'
    """
    found = np.empty(len(words), dtype=U)
    low, high = np.frombuffer(secret, dtype="<u8")
    for start in range(0, len(words), CHUNK):
        part = words[start : start + CHUNK]
        state = [np.full(len(part), U(one) ^ half) for one, half in zip(START, (low, high, low, high), strict=True)]
        spare = np.empty(len(part), dtype=U)
        for block in (part, LENGTH):
            state[3] ^= block
            _rounds(state, spare, 2)
            state[0] ^= block
        state[2] ^= U(0xFF)
        _rounds(state, spare, 4)
        found[start : start + CHUNK] = state[0] ^ state[1] ^ state[2] ^ state[3]
    return found


def _rounds(state: list[npt.NDArray[np.uint64]], spare: npt.NDArray[np.uint64], count: int) -> None:
    a, b, c, d = state
    for _ in range(count):
        for one, other, turn, half in ((a, b, 13, a), (c, d, 16, None), (a, d, 21, None), (c, b, 17, c)):
            np.add(one, other, out=one)
            _rotate(other, turn, spare)
            np.bitwise_xor(other, one, out=other)
            if half is not None:
                _rotate(half, 32, spare)


def _rotate(words: npt.NDArray[np.uint64], bits: int, spare: npt.NDArray[np.uint64]) -> None:
    np.right_shift(words, U(64 - bits), out=spare)
    np.left_shift(words, U(bits), out=words)
    np.bitwise_or(words, spare, out=words)
