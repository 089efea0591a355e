"""What the owner of the machine decides: service.toml, with the tables that may be asked about and their codebook.

Only this file names data, ledger and key. Nothing that comes over the network can.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, StringConstraints, ValidationError, model_validator

from discreet.errors import BadInput
from discreet.plan.plan_file import Data, Population, Positive, Text
from discreet.plan.plan_tables import Name, Section

Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,59}$")]
Host = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9.\-:\[\]]{1,200}$")]
Role = Literal["analyst", "steward", "auditor", "admin"]  # those of the ledger's people
T = TypeVar("T", bound=BaseModel)
LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")


class CodebookColumn(Section):
    """[source.columns.NAME]: what the codebook says of a column; public, and never computed from the data."""

    label: Text | None = None
    unit: Name | None = None
    low: float | None = None
    high: float | None = None
    scale: Positive | None = None  # a public guess of the standard deviation, for forecasts
    categories: list[Name] = Field(default_factory=list)


class Source(Section):
    """[[source]]: a table that may be asked about, and whose budget it spends."""

    name: Slug
    title: Name
    description: Text = ""
    data: Data
    population: Population
    columns: dict[Name, CodebookColumn] = Field({})

    @property
    def path(self) -> str:
        """Where its rows are."""
        return self.data.source or ""

    @model_validator(mode="after")
    def _has_rows(self) -> "Source":
        if self.data.source is None:
            raise ValueError("data needs a source: a file, a glob or a folder, or the address of a database")
        return self


class Login(Section):
    """[login]: how long people stay signed in, and how often a password may be wrong."""

    hours: Positive = 8.0
    failures: Annotated[int, Field(ge=1)] = 5
    locked_minutes: Positive = 15.0
    attempts_a_minute: Annotated[int, Field(ge=1)] = 20  # from one address
    code_hours: Positive = 72.0  # until a code with which a password is chosen is too old


class OidcAccount(Section):
    """[[oidc.account]]: whom the provider means by a subject."""

    subject: Annotated[str, StringConstraints(min_length=1, max_length=255)]
    name: Name
    role: Role


class Oidc(Section):
    """[oidc]: sign-in with an outside provider of identities, and who gets which role by it."""

    issuer: Annotated[str, StringConstraints(pattern=r"^https?://[^\s?#]{1,300}$")]
    client: Name
    secret: Name | None = None  # the file that holds it
    title: Name = "your organisation's account"
    scopes: list[Name] = Field(["openid", "profile"])
    local: bool = True  # whether accounts with a password may sign in as well
    name: Name = "preferred_username"  # the claim that names a new account
    groups: Name = "groups"  # the claim that holds the names of groups
    account: list[OidcAccount] = Field([])
    roles: dict[Name, Role] = Field({})

    @model_validator(mode="after")
    def _is_whole(self) -> "Oidc":
        if not self.issuer.startswith("https://") and urlsplit(self.issuer).hostname not in (*LOOPBACK, "::1"):
            raise ValueError("issuer must begin with https://, as what it says decides who signs in")
        if "openid" not in self.scopes:
            raise ValueError('scopes must hold "openid"')
        if not self.account and not self.roles:
            raise ValueError("nobody has a role: give [[oidc.account]] for subjects, or [oidc.roles] for groups")
        if len({one.subject for one in self.account}) < len(self.account):
            raise ValueError("two [[oidc.account]] have one subject; give each its own")
        return self


class Settings(Section):
    """service.toml."""

    ledger: Name
    key: Name | None = None
    anchor: Name | None = None
    host: Host = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8321
    names: list[Host] = Field([])
    https: bool | None = None
    limit: Positive = 120.0
    tick: Positive = 60.0
    workers: Annotated[int, Field(ge=1, le=64)] = 1
    login: Login = Login()
    oidc: Oidc | None = None
    folders: list[Name] = Field([])  # below which stewards may name files
    databases: dict[Name, Name] = Field({})  # the addresses that stewards may name, by name
    engines: dict[Name, Name] = Field({})  # likewise
    source: Annotated[list[Source], Field(min_length=1)]

    @property
    def hosts(self) -> frozenset[str]:
        """The names by which browsers may call the server, with the port where it is not the usual one."""
        local = self.host in LOOPBACK or self.host == "::1"
        plain = {*self.names, *(LOOPBACK if local else ())}
        return frozenset({*plain, *(f"{name}:{self.port}" for name in plain if ":" not in name.strip("[]"))})

    @property
    def secure(self) -> bool:
        """Whether cookies travel over HTTPS alone: unless the server is on this machine only."""
        return self.https if self.https is not None else self.host not in LOOPBACK

    @property
    def passwords(self) -> bool:
        """Whether accounts with a password may sign in."""
        return self.oidc is None or self.oidc.local

    def table(self, name: str) -> Source | None:
        """A source of service.toml by its name."""
        return next((source for source in self.source if source.name == name), None)


def read_settings(path: Path) -> Settings:
    """The settings in a file; BadInput with what is wrong."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}; give the path of a service.toml") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{path.name} is not TOML: {error}") from None
    return settings_of(content, path.name)


def settings_of(content: Mapping[str, Any], name: str = "the settings") -> Settings:
    """The settings in a record; each source's ledger is the service's."""
    filled = dict(content)
    ours = {part: filled[part] for part in ("ledger", "key", "anchor") if filled.get(part) is not None}
    if isinstance(filled.get("source"), list):
        filled["source"] = [_filled(one, ours) for one in filled["source"]]
    found = _valid(Settings, filled, name)
    names = [source.name for source in found.source]
    if len(set(names)) < len(names):
        raise BadInput(f"{name}: two sources have one name; give each its own")
    if any(source.population.analyst is not None for source in found.source):
        raise BadInput(f"{name}: a source names an analyst; who asks is known from who has signed in: leave it out")
    if not found.names and found.host not in LOOPBACK and found.host != "::1":
        raise BadInput(f"{name}: give names, under which browsers call this server, as it listens on {found.host}")
    return found


def source_of_record(record: Mapping[str, Any], settings: Settings, name: str) -> Source:
    """One source in a record, as an entry of service.toml would be."""
    ours = settings.model_dump(include={"ledger", "key", "anchor"}, exclude_none=True)
    found = _valid(Source, _filled(record, ours), name)
    if found.population.analyst is not None:
        raise BadInput(f"{name} names an analyst; who asks is known from who has signed in: leave it out")
    return found


def _filled(record: Any, ours: Mapping[str, Any]) -> Any:
    """A source's record, with the service's own ledger, and the usual unit."""
    if not isinstance(record, dict):
        return record
    population, data = record.get("population"), record.get("data")
    more: dict[str, Any] = {"population": {**population, **ours}} if isinstance(population, dict) else {}
    return record | more | ({"data": {"unit": "person", **data}} if isinstance(data, dict) else {})


def _valid(model: type[T], record: Any, name: str) -> T:
    try:
        return model.model_validate(record)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise BadInput(f"{name}: {where}: {str(first['msg']).removeprefix('Value error, ')}") from None
