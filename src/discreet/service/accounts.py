"""Accounts: signing in, one's own password and tokens, and what those who keep accounts may do to them.

Promise
    [accounts.1] Who adds or resets an account of somebody else is given a code, never a password: it is used once,
          until its time is over, and only to choose a password. A reset ends the old password, all sessions and tokens.
    [accounts.2] Whose account it is reads on their own page what was done to it, by whom and when; auditors read it in
          the ledger. A reset cannot be undone unseen: the password of before never opens the account again.
    [accounts.3] Where people sign in with an outside provider, data stewards reset nobody, and an account of the
          provider's has no password that anybody could choose.
Why
    [accounts.1] [service_people.1]; the code is made here, and kept as a digest. [accounts.2] [service_people.2];
    `history` reads the chain. [accounts.3] `may_reset`, and the ledger's own refusal.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from discreet.errors import BadInput
from discreet.ledger.service_people import NO_CODE, ApiToken, Code, PeopleStore, Person
from discreet.service.passwords import SPENT, Limiter, digest_of, fresh, salted, same, spoken, stretched, typed
from discreet.service.settings import Settings

WRONG: Final = "Name and password do not fit, or too many attempts were made. Wait a while, and try again."
SCOPES: Final[Mapping[str, tuple[str, ...]]] = {
    "analyst": ("ask",),
    "steward": ("ask", "decide"),
    "auditor": ("audit",),
    "admin": (),
}
KEPT: Final = ("analyst", "auditor")  # whose accounts data stewards keep
OTHERS: Final = ("reset person", "use code")  # events after which somebody may have signed in who was not meant to


class Accounts:
    """The accounts of one service."""

    def __init__(self, settings: Settings, people: PeopleStore, clock: Callable[[], float]) -> None:
        self.settings, self.people, self.clock = settings, people, clock
        self._attempts = Limiter(settings.login.attempts_a_minute, 60.0)

    def enrol(self, name: str, role: str, *, by: str | None, password: str | None = None) -> str:
        """A new account with a password, which is shown once: for whoever runs the server."""
        password = password or fresh(12)
        salt, kept = salted(password)
        self.people.add(name, role, salt, kept, by=by, now=self.clock())
        return password

    def invite(self, name: str, role: str, *, by: str) -> str:
        """A new account without a password, and the code that chooses one. [accounts.1]"""
        if not self.settings.passwords:
            raise BadInput("passwords are switched off here: people come with the accounts of your organisation")
        code = spoken()
        self.people.add(name, role, "", "", by=by, now=self.clock(), code=self._kept(code))
        return code

    def may_reset(self, person: Person, by: Person) -> bool:
        """Whether somebody may reset this account of somebody else's. [accounts.3]"""
        if person.name == by.name or not self.settings.passwords or person.name in self.people.bound():
            return False  # [accounts.3]
        return by.role == "admin" or (by.role == "steward" and person.role in KEPT and self.settings.oidc is None)

    def reset(self, person: Person, *, by: Person) -> str:
        """A code in the place of the password; sessions and tokens end. [accounts.1]"""
        if not self.may_reset(person, by):
            raise BadInput(f"you cannot reset {person.name}: who signs in with an organisation's account is not reset")
        code = spoken()  # [accounts.1]
        self.people.reset(person.name, self._kept(code), by=by.name)
        return code

    def choose(self, name: str, code: str, password: str, address: str) -> str:
        """A session for the right code, which is used up, with the password that was chosen. [accounts.1]"""
        if not self.settings.passwords or not self.may_try(address) or max(len(name), len(code)) > 1000:
            raise BadInput(NO_CODE)
        salt, kept = salted(password)
        self.people.choose(name, digest_of(typed(code)), salt, kept, now=self.clock())
        return self._begun(name)

    def _kept(self, code: str) -> Code:
        return Code(digest_of(typed(code)), self.clock() + 3600 * self.settings.login.code_hours)

    def history(self, person: Person) -> list[dict[str, Any]]:
        """What was done to an account, the latest first. [accounts.2]"""
        return [
            {"entry": one.number, "time": one.time, "by": one.analyst, "event": one.plain["event"],
             "note": one.plain["note"], "other": one.plain["event"] in OTHERS}
            for one in self.people.history(person.name)  # [accounts.2]
        ]  # fmt: skip

    def sign_in(self, name: str, password: str, address: str) -> str | None:
        """A session's token, or None: for a wrong name, a wrong password and a locked account alike."""
        if not self.settings.passwords or not self.may_try(address) or len(password) > 1000:
            return None
        now, person = self.clock(), self.people.find(name)
        found = stretched(password, SPENT if person is None else person.salt)
        if person is None or not person.active or person.locked > now:
            return None
        if not same(found, person.password):
            self.people.failed(name, self.settings.login.failures, now + 60 * self.settings.login.locked_minutes)
            return None
        return self._begun(name)

    def _begun(self, name: str) -> str:
        token, now = fresh(), self.clock()
        self.people.begin(digest_of(token), name, fresh(16), now + 3600 * self.settings.login.hours, now)
        return token

    def may_try(self, address: str) -> bool:
        """Whether one more attempt to sign in may come from an address."""
        return self._attempts.allow(address)

    def session(self, token: str) -> tuple[Person, str] | None:
        """Who has signed in, and what their forms must hold."""
        return self.people.session(digest_of(token), self.clock()) if token else None

    def new_password(self, person: Person, old: str, new: str) -> None:
        """Another password; all sessions and tokens end."""
        if not self.settings.passwords:
            raise BadInput("passwords are switched off here; sign in with your organisation's account")
        if not same(stretched(old, person.salt), person.password):
            raise BadInput("the present password is another one")
        salt, kept = salted(new)
        self.people.change(person.name, "another password", {"salt": salt, "password": kept}, by=person.name)

    def issue(
        self, person: Person, label: str, scopes: list[str], days: float, *, under: ApiToken | None = None
    ) -> str:
        """A token for programs, shown once; one that a token asks for (`under`) opens no more than it."""
        allowed = [one for one in SCOPES[person.role] if under is None or one in under.scopes]
        if not scopes or not set(scopes) <= set(allowed):
            whose = f"a token of a {person.role}" if under is None else "a token that this one asks for"
            raise BadInput(f"{whose} may have: {', '.join(allowed) or 'nothing'}; choose of these")
        if not 0 < days <= 366:
            raise BadInput(f"the token would last {days:g} days; give 1 to 366")
        token, now = f"discreet_{fresh()}", self.clock()
        if under is not None and now + 86_400 * days > under.until:
            raise BadInput(f"the token would outlast the one that asks for it; give at most {_days(under.until - now)}")
        kept = ApiToken(fresh(6), person.name, " ".join(label.split())[:100], tuple(scopes), now + 86_400 * days)
        self.people.issue(digest_of(token), kept, now)
        return token

    def bearer(self, token: str) -> tuple[Person, ApiToken] | None:
        """Whose token it is."""
        return self.people.bearer(digest_of(token), self.clock()) if token else None


def _days(seconds: float) -> str:
    return f"{math.floor(seconds / 864) / 100:g} days"
