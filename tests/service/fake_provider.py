"""A provider of identities on this machine that says what a test tells it to."""

import base64
import hashlib
import json
import threading
import time
from dataclasses import dataclass, field
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, OctKey

SECRET = "the secret of the client"


@dataclass
class FakeProvider:
    """Discovery, keys and tokens; `said` overrides claims, `key` signs, `about` overrides the description."""

    claims: dict[str, Any] = field(default_factory=dict)
    said: dict[str, Any] = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)
    header: dict[str, Any] = field(default_factory=lambda: {"alg": "ES256", "kid": "one"})
    key: Any = field(default_factory=lambda: ECKey.generate_key("P-256", {"kid": "one"}))
    published: Any = None
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    posted: list[dict[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.published = self.key

    @cached_property
    def server(self) -> ThreadingHTTPServer:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.tell(200, provider.described(self.path))

            def do_POST(self) -> None:
                form = dict(parse_qsl(self.rfile.read(int(self.headers["content-length"])).decode()))
                told = provider.token(form)
                self.tell(200 if "id_token" in told else 400, told)

            def tell(self, status: int, told: Any) -> None:
                body = json.dumps(told).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return made

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def described(self, path: str) -> dict[str, Any]:
        if path == "/keys":
            return dict(KeySet([self.published]).as_dict(private=False))
        ends = {f"{name}_endpoint": f"{self.issuer}/{name}" for name in ("authorization", "token")}
        return {"issuer": self.issuer, "jwks_uri": f"{self.issuer}/keys", **ends, **self.about}

    def approve(self, address: str) -> dict[str, str]:
        """Somebody has signed in there: what their browser brings back."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        code = f"code {len(self.codes)}"
        self.codes[code] = asked
        return {"code": code, "state": asked["state"]}

    def token(self, form: dict[str, str]) -> dict[str, Any]:
        """A token for a code: once, for the right verifier, secret and address."""
        self.posted.append(form)
        asked = self.codes.pop(form.get("code", ""), None)
        made = base64.urlsafe_b64encode(hashlib.sha256(form.get("code_verifier", "").encode()).digest()).decode()
        if asked is None or made.rstrip("=") != asked["code_challenge"] or asked["code_challenge_method"] != "S256":
            return {"error": "invalid_grant"}
        if form.get("client_secret") != SECRET or form["redirect_uri"] != asked["redirect_uri"]:
            return {"error": "invalid_client"}
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": asked["client_id"], "iat": now, "exp": now + 300, "nonce": asked["nonce"]}
        claims = {name: one for name, one in (claims | self.claims | self.said).items() if one is not None}
        if self.header["alg"] == "none":
            parts = [base64.urlsafe_b64encode(json.dumps(one).encode()).rstrip(b"=") for one in (self.header, claims)]
            return {"id_token": b".".join([*parts, b""]).decode(), "access_token": "a"}
        signed = jwt.encode(self.header, claims, self.key, algorithms=[self.header["alg"]])
        return {"id_token": signed, "access_token": "a"}

    def by_shared_secret(self) -> None:
        """Sign with what everybody can read: the published key, as if it were a shared secret."""
        public = json.dumps(self.published.as_dict(private=False)).encode()
        self.key, self.header = OctKey.import_key(public), {"alg": "HS256", "kid": "one"}
