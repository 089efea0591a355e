"""Secrets of people and programs: passwords by scrypt, tokens by their digest, and how often one may guess."""

import hashlib
import hmac
import os
import threading
import time
from base64 import b32encode, urlsafe_b64encode
from collections import deque
from typing import Final

from discreet.errors import BadInput

COST: Final = {"n": 2**14, "r": 8, "p": 1, "dklen": 32}  # 16 MB and about 50 ms a guess
SHORTEST: Final = 12
LONGEST: Final = 200
SPENT: Final = "0" * 32  # the salt for a name that nobody has: a wrong name takes as long as a wrong password


def fresh(size: int = 32) -> str:
    """A secret that nobody guesses, in letters that fit an address."""
    return urlsafe_b64encode(os.urandom(size)).rstrip(b"=").decode()


def spoken() -> str:
    """A secret that nobody guesses within its hours, in groups that can be read aloud."""
    letters = b32encode(os.urandom(15)).decode()
    return "-".join(letters[place : place + 4] for place in range(0, len(letters), 4))


def typed(code: str) -> str:
    """A code as somebody types it: in small letters, with other gaps or none.

    >>> typed(" abcd-efgh 2345 ")
    'ABCDEFGH2345'
    """
    return "".join(letter for letter in code.upper() if letter.isalnum())


def digest_of(token: str) -> str:
    """What is kept of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def salted(password: str) -> tuple[str, str]:
    """A new salt, and the password as it is kept."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise BadInput(f"the password has {len(password)} characters; give {SHORTEST} to {LONGEST}")
    salt = os.urandom(16).hex()
    return salt, stretched(password, salt)


def stretched(password: str, salt: str) -> str:
    """scrypt of a password."""
    return hashlib.scrypt(password.encode(), salt=bytes.fromhex(salt), **COST).hex()


def same(one: str, other: str) -> bool:
    """Whether two secrets are equal, in a time that does not tell where they differ."""
    return hmac.compare_digest(one.encode(), other.encode())


class Limiter:
    """At most so many attempts in a window of time, by key."""

    def __init__(self, most: int, seconds: float) -> None:
        self._most, self._seconds = most, seconds
        self._seen: dict[str, deque[float]] = {}
        self._lock = threading.Lock()

    def allow(self, key: str) -> bool:
        """Whether one more is allowed now; it counts if so."""
        now = time.monotonic()
        with self._lock:
            if len(self._seen) > 10_000:
                self._seen = {one: seen for one, seen in self._seen.items() if now - seen[-1] < self._seconds}
            seen = self._seen.setdefault(key, deque())
            while seen and now - seen[0] >= self._seconds:
                seen.popleft()
            if len(seen) >= self._most:
                return False
            seen.append(now)
            return True
