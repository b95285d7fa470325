"""A small provider of identities on loopback: OpenID Connect as google and orcid speak it, OAuth 2 as github does.

It holds its side of the protocol strictly (redirect address, client, PKCE, codes that work once) and lies on request.
"""

from __future__ import annotations

import base64
import hashlib
import os
import secrets
import time
from collections.abc import Callable
from functools import cache
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import attrs
import jwt
import orjson
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm
from twisted.web.resource import Resource
from twisted.web.server import Site

CLIENT, SECRET = "crowdd-at-home", "a secret between two servers"


@cache
def keys() -> dict[str, Any]:
    """The provider's keys, and one that is not its own; made once."""
    return {
        "rsa": rsa.generate_private_key(65537, 2048),
        "ec": ec.generate_private_key(ec.SECP256R1()),
        "foreign": rsa.generate_private_key(65537, 2048),
    }


@attrs.define
class Person:
    """Somebody with an account at the provider."""

    sub: str = "0000-0002-1825-0097"
    name: str = "Josiah Carberry"
    login: str = "jsc"
    email: str = "jsc@brown.example"
    verified: bool = True


class OpenIdProvider(Resource):
    """``url`` answers while it runs. ``person`` consents to everything; ``twist`` changes the claims of ID tokens."""

    isLeaf = True

    def __init__(self, reactor: Any) -> None:
        super().__init__()
        self._port = reactor.listenTCP(0, Site(self), interface="127.0.0.1")
        self.url = f"http://127.0.0.1:{self._port.getHost().port}"
        self.person = Person()
        self.twist: Callable[[dict[str, Any]], dict[str, Any]] = lambda claims: claims
        self.sign: Callable[[dict[str, Any]], str] = self.honest
        self.document: dict[str, Any] = {}
        self.kids = ["rsa", "ec"]
        self.seen: list[str] = []
        self.last: dict[str, str] = {}
        self._codes: dict[str, dict[str, str]] = {}

    def settings(self, *names: str) -> dict[str, str]:
        """What an operator writes who offers it under these names."""
        os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "yes"  # this provider speaks http
        made = {"CROWDD_OUTGOING_ALLOWED_HOSTS": "127.0.0.1:*"}
        for name in names:
            made |= {
                f"CROWDD_SIGNIN_{name.upper()}_CLIENT_ID": CLIENT,
                f"CROWDD_SIGNIN_{name.upper()}_CLIENT_SECRET": SECRET,
            }
            addresses = ("URL", "API_URL") if name == "github" else ("ISSUER",)
            made |= {f"CROWDD_SIGNIN_{name.upper()}_{word}": self.url for word in addresses}
        return made

    def stop(self) -> Any:
        """Ends it."""
        return self._port.stopListening()

    def honest(self, claims: dict[str, Any], key: str = "rsa", algorithm: str = "RS256") -> str:
        """An ID token signed as it should be."""
        return jwt.encode(claims, keys()[key], algorithm=algorithm, headers={"kid": key})

    def public(self, kid: str) -> dict[str, Any]:
        """A public key as it stands in the key set."""
        made = (
            ECAlgorithm.to_jwk(keys()[kid].public_key())
            if kid == "ec"
            else RSAAlgorithm.to_jwk(keys()[kid].public_key())
        )
        return {**orjson.loads(made), "kid": kid, "use": "sig"}

    # What it answers

    def render(self, request: Any) -> bytes:
        path = request.path.decode()
        self.seen.append(path)
        answers = {
            "/.well-known/openid-configuration": self._configuration, "/keys": self._keys, "/token": self._token,
            "/authorize": self._authorize, "/login/oauth/authorize": self._authorize,
            "/login/oauth/access_token": self._token, "/user": self._user, "/user/emails": self._emails,
        }  # fmt: skip
        answer = answers[path](request)
        if isinstance(answer, bytes):
            return answer
        request.setHeader(b"content-type", b"application/json")
        return orjson.dumps(answer)

    def _configuration(self, request: Any) -> Any:
        return {
            "issuer": self.url, "authorization_endpoint": f"{self.url}/authorize", "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys", **self.document,
        }  # fmt: skip

    def _keys(self, request: Any) -> Any:
        return {"keys": [self.public(kid) for kid in self.kids]}

    def _authorize(self, request: Any) -> bytes:
        """The person consents at once."""
        asked = dict(parse_qsl(urlsplit(request.uri.decode()).query))
        self.last = asked
        assert (
            asked["client_id"] == CLIENT
            and asked["response_type"] == "code"
            and asked["code_challenge_method"] == "S256"
        )
        code = secrets.token_urlsafe(8)
        self._codes[code] = asked
        request.setResponseCode(302)
        request.setHeader(
            b"location", f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}".encode()
        )
        return b""

    def _token(self, request: Any) -> Any:
        form = {name: values[0] for name, values in parse_qs(request.content.read().decode()).items()}
        asked = self._codes.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        good = asked and (form["client_id"], form["client_secret"], form["redirect_uri"], challenge) == (
            CLIENT, SECRET, asked["redirect_uri"], asked["code_challenge"],
        )  # fmt: skip
        if not good or asked is None:
            request.setResponseCode(400)
            return {"error": "invalid_grant"}
        now, person = int(time.time()), self.person
        claims = {
            "iss": self.url, "aud": CLIENT, "sub": person.sub, "iat": now, "exp": now + 300, "nonce": asked.get("nonce", ""),
            "name": person.name, "email": person.email, "email_verified": person.verified,
        }  # fmt: skip
        return {"access_token": "t0ken-of-theirs", "token_type": "bearer", "id_token": self.sign(self.twist(claims))}

    def _user(self, request: Any) -> Any:
        assert request.getHeader("authorization") == "Bearer t0ken-of-theirs"
        return {"id": 583231, "login": self.person.login, "name": self.person.name, "email": "not-verified@example.org"}

    def _emails(self, request: Any) -> Any:
        other = {"email": "second@example.org", "verified": True, "primary": False}
        return [other, {"email": self.person.email, "verified": self.person.verified, "primary": True}]
