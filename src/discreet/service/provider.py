"""Sign-in with an outside provider of identities: OpenID Connect, by the code flow with PKCE.

Promise
    [provider.1] Whoever signs in this way holds an unexpired ID token that the provider of the settings signed for this
          server and for this attempt in this browser.
    [provider.2] Account and role come from service.toml alone: by the subject, or by a group that has a role there. No
          word of the provider makes an account, or gives a role, that the settings do not name.
Why
    [provider.1] State, nonce and PKCE verifier are made from one secret in a cookie of this browser, for one attempt.
    The code is exchanged by this server itself. Signature (asymmetric ones only), issuer, audience, times and nonce of
    the token are checked by authlib and joserfc. [provider.2] `mapped` reads the settings; the subject, never a name
    that people can choose, is what an account is bound to (`PeopleStore.identity`).
"""

import hashlib
import hmac
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from discreet.errors import BadInput
from discreet.ledger.service_people import Person
from discreet.service.desk import Desk
from discreet.service.passwords import digest_of, fresh, same
from discreet.service.settings import LOOPBACK, Oidc

ALGORITHMS: Final = (
    "RS256",
    "RS384",
    "RS512",
    "PS256",
    "PS384",
    "PS512",
    "ES256",
    "ES384",
    "ES512",
    "EdDSA",
    "Ed25519",
)
KEPT: Final = 3600.0  # seconds that the provider's description and keys are remembered
AGAIN: Final = 60.0  # seconds until keys are fetched again for a signature by an unknown one
LEEWAY: Final = 60  # seconds by which clocks may differ
LARGEST: Final = 1_000_000  # bytes of an answer of the provider
REFUSED: Final = (
    "The sign-in was not completed, or this server's settings give you no role. Try again, or ask its administrator."
)


class NotSignedIn(Exception):
    """A sign-in that leads nowhere; why is told to nobody who could use it."""


class Provider:
    """The provider of the settings; what it says of itself is fetched when it is first needed."""

    def __init__(self, settings: Oidc, folder: Path) -> None:
        try:
            import authlib.oidc.core  # noqa: F401
            import joserfc.jwt  # noqa: F401
        except ModuleNotFoundError:
            raise BadInput("[oidc] needs its libraries: pip install 'discreet[oidc]'") from None
        self.settings = settings
        try:
            self._secret = (folder / settings.secret).read_text(encoding="utf-8").strip() if settings.secret else None
        except (OSError, UnicodeDecodeError):
            raise BadInput(f"oidc.secret: {settings.secret} cannot be read; it is the file with the secret") from None
        self._lock = threading.Lock()
        self._about: tuple[float, dict[str, Any]] | None = None
        self._keys: tuple[float, dict[str, Any]] | None = None

    def address(self, secret: str, back: str) -> str:
        """Where a browser with this secret is sent to sign in."""
        from authlib.oauth2.rfc7636 import create_s256_code_challenge

        asked = {"response_type": "code", "client_id": self.settings.client, "redirect_uri": back}
        asked |= {"scope": " ".join(self.settings.scopes), "state": derived(secret, "state")}
        asked |= {"nonce": derived(secret, "nonce"), "code_challenge_method": "S256"}
        asked["code_challenge"] = create_s256_code_challenge(derived(secret, "verifier"))
        where = self._endpoint("authorization_endpoint")
        return f"{where}{'&' if '?' in where else '?'}{urlencode(asked)}"

    def claims(self, secret: str, back: str, state: str, code: str) -> dict[str, Any]:
        """What the provider says of who signed in. [provider.1]"""
        if not secret or not code or len(code) > 4096 or not same(state, derived(secret, "state")):
            raise NotSignedIn
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": back}
        form |= {"client_id": self.settings.client, "code_verifier": derived(secret, "verifier")}
        if self._secret is not None:
            form["client_secret"] = self._secret
        found = self._fetch(self._endpoint("token_endpoint"), form)
        token = found.get("id_token")
        if not isinstance(token, str):
            raise NotSignedIn
        return self._verified(token, derived(secret, "nonce"), found.get("access_token"))

    def _verified(self, token: str, nonce: str, access: Any) -> dict[str, Any]:
        from authlib.oidc.core import CodeIDToken
        from joserfc import jwt
        from joserfc.jwk import KeySet

        for newest in (False, True):  # keys change: once more with those of now
            try:
                keys = KeySet.import_key_set(self._key_set(newest=newest))  # type: ignore[arg-type]
                read = jwt.decode(token, keys, algorithms=list(ALGORITHMS))
                break
            except Exception:  # noqa: BLE001  whatever is wrong with it, it is no token
                if newest:
                    raise NotSignedIn from None
        issuer, client = self.settings.issuer, self.settings.client
        wanted: dict[str, Any] = {"iss": {"essential": True, "value": issuer}, "sub": {"essential": True}}
        wanted |= {"aud": {"essential": True, "value": client}, "exp": {"essential": True}}
        params = {"nonce": nonce, "client_id": client, "access_token": access if isinstance(access, str) else None}
        claims = CodeIDToken(dict(read.claims), dict(read.header), wanted, params)
        try:
            claims.validate(int(time.time()), LEEWAY)  # [provider.1]
        except Exception:  # noqa: BLE001
            raise NotSignedIn from None
        subject = claims.get("sub")
        if not isinstance(subject, str) or not 0 < len(subject) <= 255:
            raise NotSignedIn
        return dict(claims)

    def _endpoint(self, name: str) -> str:
        with self._lock:
            if self._about is None or time.monotonic() - self._about[0] > KEPT:
                about = self._fetch(f"{self.settings.issuer.rstrip('/')}/.well-known/openid-configuration")
                if about.get("issuer") != self.settings.issuer:
                    raise NotSignedIn
                self._about = time.monotonic(), about
            where = self._about[1].get(name)
        if not isinstance(where, str) or not safe_address(where):
            raise NotSignedIn
        return where

    def _key_set(self, *, newest: bool) -> dict[str, Any]:
        where = self._endpoint("jwks_uri")
        with self._lock:
            age = None if self._keys is None else time.monotonic() - self._keys[0]
            if age is None or age > KEPT or (newest and age > AGAIN):
                self._keys = time.monotonic(), self._fetch(where)
            return self._keys[1]  # type: ignore[index]

    def _fetch(self, where: str, form: Mapping[str, str] | None = None) -> dict[str, Any]:
        import httpx

        try:
            with httpx.Client(timeout=10.0, follow_redirects=False, trust_env=False) as client:
                found = client.get(where) if form is None else client.post(where, data=dict(form))
            told = found.json() if found.status_code == 200 and len(found.content) <= LARGEST else None
        except (httpx.HTTPError, ValueError):
            told = None
        if not isinstance(told, dict):
            raise NotSignedIn
        return told


def derived(secret: str, what: str) -> str:
    """State, nonce or verifier of one attempt: nobody finds one from another."""
    made = hmac.new(secret.encode(), what.encode(), hashlib.sha256).digest()
    return urlsafe_b64encode(made).rstrip(b"=").decode()


def safe_address(where: str) -> bool:
    """Whether it is HTTPS, or on this machine."""
    parts = urlsplit(where)
    return parts.scheme == "https" or (parts.scheme == "http" and (parts.hostname or "") in (*LOOPBACK, "::1"))


def mapped(settings: Oidc, claims: Mapping[str, Any]) -> tuple[str, str, bool]:
    """Name and role by the settings, and whether they name this very subject. [provider.2]"""
    for one in settings.account:  # [provider.2]
        if one.subject == claims["sub"]:
            return one.name, one.role, True
    groups = claims.get(settings.groups)
    told = [groups] if isinstance(groups, str) else groups if isinstance(groups, list) else []
    roles = {settings.roles[group] for group in told if isinstance(group, str) and group in settings.roles}
    name = claims.get(settings.name)
    if len(roles) != 1 or not isinstance(name, str):  # none, or two that differ
        raise NotSignedIn
    return name, roles.pop(), False


def signed_in(desk: Desk, settings: Oidc, claims: Mapping[str, Any]) -> str:
    """A session's token for whom these claims are about; their account is made or changed as the settings say."""
    name, role, own = mapped(settings, claims)
    person = _account(desk, (settings.issuer, str(claims["sub"])), name, role, own=own)
    if not person.active:
        raise NotSignedIn
    if person.role != role:
        desk.people.change(person.name, f"role {role}, by the settings", {"role": role}, by=None)
    token, now = fresh(), desk.clock()
    desk.people.begin(digest_of(token), person.name, fresh(16), now + 3600 * desk.settings.login.hours, now)
    return token


def _account(desk: Desk, identity: tuple[str, str], name: str, role: str, *, own: bool) -> Person:
    """The account that an identity is bound to: at first the one that the settings name, or a new one."""
    bound = desk.people.identity(*identity)
    if bound is not None:
        if own and bound.name != name:
            raise NotSignedIn  # the settings now say another name: an administrator decides
        return bound
    known = desk.people.find(name)
    try:
        if known is None:
            return desk.people.add(name, role, "", "", by=None, now=desk.clock(), identity=identity)
        if own:  # [provider.2] an account that was there is taken over only where the settings name the subject
            return desk.people.bind(known, identity, now=desk.clock())
    except BadInput:
        pass
    raise NotSignedIn
