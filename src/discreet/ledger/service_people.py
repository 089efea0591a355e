"""Who may use the service: accounts, sessions and tokens. Secrets are kept as digests only.

Claims
    [service_people.1] Whoever resets an account learns no password of it: the password, all sessions and tokens end,
          and a code takes their place, which chooses one password, once, until its time is over. An account of an
          outside identity is not reset.
    [service_people.2] What was done to an account is an entry of the chain, by whom, in the same transaction.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa

from discreet.errors import BadInput
from discreet.ledger import ledger_text as words
from discreet.ledger.account import Entry, canonical
from discreet.ledger.ledger_tables import CODES, ENTRIES, IDENTITIES, PEOPLE, SESSIONS, TOKENS
from discreet.ledger.store import EVERYBODY, Ledger

ROLES: Final = ("analyst", "steward", "auditor", "admin")
NO_CODE: Final = "name and code do not fit, or the code was used or is too old; ask for another one"


@dataclass(frozen=True, slots=True)
class Person:
    """Someone who may sign in; `locked` is until when they may not."""

    name: str
    role: str
    salt: str
    password: str
    active: bool
    failures: int
    locked: float
    made: float


@dataclass(frozen=True, slots=True)
class ApiToken:
    """A key for programs: what it may do, and until when."""

    id: str
    name: str
    label: str
    scopes: tuple[str, ...]
    until: float


@dataclass(frozen=True, slots=True)
class Code:
    """With which somebody chooses a password, once: its digest, and until when."""

    digest: str
    until: float


class PeopleStore:
    """Accounts, sessions and tokens in the ledger's database; who was added or changed is in its chain."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def add(
        self,
        name: str,
        role: str,
        salt: str,
        password: str,
        *,
        by: str | None,
        now: float,
        identity: tuple[str, str] | None = None,
        code: Code | None = None,
    ) -> Person:
        """A new account, under a name that nobody would take for another; `identity` is an issuer and its subject."""
        if role not in ROLES:
            raise BadInput(f"the role is {role!r}; it must be one of {', '.join(ROLES)}")
        name = words.name("the name", name)
        words.new_name("the name", name)
        person = Person(name, role, salt, password, True, 0, 0.0, now)

        def work(connection: sa.Connection, entry: int) -> Person:
            for known in connection.execute(sa.select(PEOPLE.c.name)).scalars():
                if known == name or words.alike(known, name):
                    raise BadInput(
                        f"there is {known!r} already; give {name!r} another name, so that nobody is mistaken"
                    )
            row = {field: getattr(person, field) for field in Person.__slots__}
            connection.execute(PEOPLE.insert().values(**row))
            if identity is not None:
                _bound(connection, identity, name, now)
            if code is not None:
                _coded(connection, name, code, entry)
            return person

        about = {"person": name, "role": role}
        return self._ledger.record("add person", f"{name} may sign in as {role}", about, by=by, beside=work)

    def all(self) -> Sequence[Person]:
        """Everybody, by name."""
        query = sa.select(PEOPLE).order_by(PEOPLE.c.name)
        return self._ledger.beside(lambda c: [Person(*row) for row in c.execute(query)])

    def find(self, name: str) -> Person | None:
        """A person by name."""
        query = sa.select(PEOPLE).where(PEOPLE.c.name == name)
        found = self._ledger.beside(lambda c: c.execute(query).one_or_none())
        return None if found is None else Person(*found)

    def identity(self, issuer: str, subject: str) -> Person | None:
        """Whose account a subject of an issuer is."""
        joined = sa.select(PEOPLE).join(IDENTITIES, IDENTITIES.c.name == PEOPLE.c.name)
        query = joined.where(IDENTITIES.c.issuer == issuer, IDENTITIES.c.subject == subject)
        found = self._ledger.beside(lambda c: c.execute(query).one_or_none())
        return None if found is None else Person(*found)

    def bind(self, person: Person, identity: tuple[str, str], *, now: float) -> Person:
        """From now on this identity signs in to an account that is there, and no password and no code does."""
        self.change(
            person.name,
            f"may sign in by {identity[0]}",
            {"salt": "", "password": ""},
            by=None,
            beside=lambda c, _: _bound(c, identity, person.name, now),
        )
        return person

    def bound(self) -> frozenset[str]:
        """Whose accounts are of an outside identity."""
        query = sa.select(IDENTITIES.c.name)
        return self._ledger.beside(lambda c: frozenset(c.execute(query).scalars()))

    def change(
        self,
        name: str,
        note: str,
        values: dict[str, Any],
        *,
        by: str | None,
        event: str = "change person",
        beside: Callable[[sa.Connection, int], None] | None = None,
    ) -> None:
        """Another password, or no more access; the sessions, tokens and codes of before end."""

        def work(connection: sa.Connection, entry: int) -> None:
            found = connection.execute(PEOPLE.update().where(PEOPLE.c.name == name).values(**values))
            if not found.rowcount:
                raise BadInput(f"there is nobody called {name!r}")
            if beside is not None:
                beside(connection, entry)
            # [service_people.2]: all of it, or nothing
            for table in (SESSIONS, TOKENS) if beside is not None else (SESSIONS, TOKENS, CODES):
                connection.execute(table.delete().where(table.c.name == name))

        self._ledger.record(event, f"{name}: {note}", {"person": name}, by=by, beside=work)

    def reset(self, name: str, code: Code, *, by: str) -> None:
        """No password any more, and a code that chooses one. [service_people.1]"""

        def work(connection: sa.Connection, entry: int) -> None:
            if connection.execute(sa.select(IDENTITIES).where(IDENTITIES.c.name == name)).first() is not None:
                raise BadInput(f"{name} signs in with an account of the organisation; there is no password to reset")
            _coded(connection, name, code, entry)  # [service_people.1]

        values = {"salt": "", "password": "", "locked": 0.0, "failures": 0}
        self.change(name, "reset, with a code for one use", values, by=by, event="reset person", beside=work)

    def choose(self, name: str, code: str, salt: str, password: str, *, now: float) -> None:
        """The password that a code chooses, once. [service_people.1]"""
        if not self.fits(name, code, now):  # nothing is written for a guess
            raise BadInput(NO_CODE)

        def work(connection: sa.Connection, _: int) -> None:
            here = (CODES.c.name == name) & (CODES.c.code == code) & (CODES.c.until > now)
            if connection.execute(CODES.delete().where(here)).rowcount != 1:
                raise BadInput(NO_CODE)  # used meanwhile

        values = {"salt": salt, "password": password, "locked": 0.0, "failures": 0}
        self.change(name, "chose a password with a code", values, by=name, event="use code", beside=work)

    def fits(self, name: str, code: str, now: float) -> bool:
        """Whether this is the code of an account that is open."""
        joined = sa.select(CODES.c.code).join(PEOPLE, PEOPLE.c.name == CODES.c.name)
        query = joined.where(CODES.c.name == name, CODES.c.code == code, CODES.c.until > now, PEOPLE.c.active)
        return self._ledger.beside(lambda c: c.execute(query).first()) is not None

    def history(self, name: str, most: int = 50) -> list[Entry]:
        """What was done to an account, the latest first. [service_people.2]"""
        mine = ENTRIES.c.body.contains(f'"person":{canonical(name)}', autoescape=True)
        query = sa.select(ENTRIES.c.number).where(ENTRIES.c.population == EVERYBODY, ENTRIES.c.kind == "event", mine)
        query = query.order_by(ENTRIES.c.number.desc()).limit(most)
        found = map(self._ledger.entry, self._ledger.beside(lambda c: list(c.execute(query).scalars())))
        return [entry for entry in found if entry is not None and entry.plain.get("person") == name]

    def failed(self, name: str, most: int, until: float) -> None:
        """One more wrong password; after `most` of them the account is locked until then."""

        def work(connection: sa.Connection) -> None:
            here = PEOPLE.c.name == name
            connection.execute(PEOPLE.update().where(here).values(failures=PEOPLE.c.failures + 1))
            many = here & (PEOPLE.c.failures >= most)
            connection.execute(PEOPLE.update().where(many).values(failures=0, locked=until))

        self._ledger.beside(work, writes=True)

    def begin(self, token: str, name: str, csrf: str, until: float, now: float) -> None:
        """A session, after the right password."""

        def work(connection: sa.Connection) -> None:
            connection.execute(SESSIONS.delete().where(SESSIONS.c.until <= now))
            connection.execute(PEOPLE.update().where(PEOPLE.c.name == name).values(failures=0, locked=0.0))
            connection.execute(SESSIONS.insert().values(token=token, name=name, csrf=csrf, until=until))

        self._ledger.beside(work, writes=True)

    def session(self, token: str, now: float) -> tuple[Person, str] | None:
        """Whose session it is, and what its forms must hold; None if it ended or its person may no longer sign in."""
        joined = sa.select(PEOPLE, SESSIONS.c.csrf).join(SESSIONS, SESSIONS.c.name == PEOPLE.c.name)
        query = joined.where(SESSIONS.c.token == token, SESSIONS.c.until > now, PEOPLE.c.active)
        found = self._ledger.beside(lambda c: c.execute(query).one_or_none())
        return None if found is None else (Person(*found[:-1]), str(found[-1]))

    def end(self, token: str) -> None:
        """The end of a session."""
        self._ledger.beside(lambda c: c.execute(SESSIONS.delete().where(SESSIONS.c.token == token)), writes=True)

    def issue(self, token: str, kept: ApiToken, now: float) -> None:
        """A new token."""

        def work(connection: sa.Connection, _: int) -> None:
            row = {"id": kept.id, "name": kept.name, "label": kept.label, "scopes": " ".join(kept.scopes)}
            connection.execute(TOKENS.insert().values(token=token, until=kept.until, made=now, **row))

        about = {"token": kept.id, "scopes": list(kept.scopes), "person": kept.name}
        self._ledger.record(
            "issue token", f"a token of {kept.name} that may {', '.join(kept.scopes)}", about, by=kept.name, beside=work
        )

    def tokens(self, name: str) -> list[ApiToken]:
        """The tokens of a person."""
        query = sa.select(TOKENS).where(TOKENS.c.name == name).order_by(TOKENS.c.made)
        return self._ledger.beside(lambda c: [_token(row) for row in c.execute(query)])

    def bearer(self, token: str, now: float) -> tuple[Person, ApiToken] | None:
        """Whose token it is; None if it is unknown, expired or revoked."""
        query = sa.select(TOKENS).where(TOKENS.c.token == token, TOKENS.c.until > now)
        found = self._ledger.beside(lambda c: c.execute(query).one_or_none())
        person = None if found is None else self.find(found.name)
        return None if person is None or not person.active else (person, _token(found))

    def revoke(self, which: str, name: str) -> None:
        """A token that opens nothing any more."""

        def work(connection: sa.Connection, _: int) -> None:
            found = connection.execute(TOKENS.delete().where(TOKENS.c.id == which, TOKENS.c.name == name))
            if not found.rowcount:
                raise BadInput("there is no such token; it may be revoked already")

        about = {"token": which, "person": name}
        self._ledger.record("revoke token", f"a token of {name} is revoked", about, by=name, beside=work)


def _coded(connection: sa.Connection, name: str, code: Code, entry: int) -> None:
    connection.execute(CODES.delete().where(CODES.c.name == name))  # one at a time
    connection.execute(CODES.insert().values(name=name, code=code.digest, until=code.until, entry=entry))


def _bound(connection: sa.Connection, identity: tuple[str, str], name: str, now: float) -> None:
    issuer, subject = identity
    here = (IDENTITIES.c.issuer == issuer) & (IDENTITIES.c.subject == subject)
    if connection.execute(sa.select(IDENTITIES).where(here)).first() is not None:
        raise BadInput("this identity has an account already")
    connection.execute(CODES.delete().where(CODES.c.name == name))
    connection.execute(IDENTITIES.insert().values(issuer=issuer, subject=subject, name=name, made=now))


def _token(row: Any) -> ApiToken:
    return ApiToken(row.id, row.name, row.label, tuple(row.scopes.split()), row.until)
