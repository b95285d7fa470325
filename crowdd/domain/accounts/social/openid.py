"""What an OpenID provider says about a person (OpenID Connect Core 1.0), believed only after every check.

Code flow with state, nonce and PKCE. An ID token counts when it is signed by a key of the provider with an algorithm of
public keys, made for us, by the provider that was asked, for this sign-in, and now.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import orjson

from crowdd.domain.accounts.social.oauth import OAuthClient, OAuthState, ProviderIdentity
from crowdd.domain.outbound.client import Outgoing
from crowdd.errors import ProviderError, RefusedTargetError, UnreachableError
from crowdd.languages import _
from crowdd.lazy import lazy

if TYPE_CHECKING:
    import jwt
else:
    jwt = lazy("jwt")

ALGORITHMS = frozenset({"RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA"})
_KEPT_SECONDS = 3600.0  # how long a provider's addresses and keys are believed without asking again
_MIN_PAUSE = 60.0  # between two questions for keys: an unknown key must not become a flood
_LEEWAY = 120.0  # seconds by which clocks may differ
_REQUIRED: Any = {"require": ["iss", "sub", "aud", "exp", "iat"], "verify_exp": False, "verify_iat": False}
_SECONDS, _MAX_BYTES = 10.0, 200_000


class OpenIdProvider:
    """One provider: ``google`` or ``orcid``. Its addresses come from its own document (Discovery 1.0)."""

    def __init__(self, client: OAuthClient, issuer: str, scope: str, outgoing: Outgoing) -> None:
        self.client, self._issuer, self._scope, self._outgoing = client, issuer.rstrip("/"), scope, outgoing
        self._document: dict[str, Any] = {}
        self._keys: dict[str, Any] = {}
        self._document_at = self._keys_at = float("-inf")

    async def address(self, oauth_state: OAuthState, redirect_uri: str, now: float) -> str:
        """Where the browser goes to be asked. Raises ProviderError."""
        document = await self._discover(now)
        return self.client.authorization(
            document["authorization_endpoint"], oauth_state, redirect_uri, scope=self._scope, nonce=oauth_state.nonce
        )

    async def identity(self, code: str, oauth_state: OAuthState, redirect_uri: str, now: float) -> ProviderIdentity:
        """Who came back with this code. Raises ProviderError."""
        document = await self._discover(now)
        tokens = await exchange(
            self._outgoing, self.client, document["token_endpoint"], code, oauth_state, redirect_uri
        )
        token = tokens.get("id_token")
        if not isinstance(token, str):
            raise self._doubt(_("no ID token"))
        claims = await self._claims(token, oauth_state, now)
        return self._person(claims, str(tokens.get("access_token") or ""))

    def _person(self, claims: Mapping[str, object], access_token: str) -> ProviderIdentity:
        verified = claims.get("email_verified") in (True, "true")
        names = (claims.get("name"), f"{claims.get('given_name') or ''} {claims.get('family_name') or ''}".strip())
        return ProviderIdentity(
            provider=self.client.name,
            id=str(claims["sub"]),
            fullname=str(next((name for name in names if name), "")),
            nickname=str(claims.get("preferred_username") or ""),
            email=str(claims.get("email") or "") if verified else "",
            token=access_token,
        )

    async def _claims(self, token: str, oauth_state: OAuthState, now: float) -> Mapping[str, Any]:
        try:
            header = jwt.get_unverified_header(token)
            if header.get("alg") not in ALGORITHMS:
                raise self._doubt(_("unsupported signature algorithm"))
            key = await self._key(header.get("kid"), now)
            claims = jwt.decode(
                token,
                key,
                algorithms=[header["alg"]],
                audience=self.client.id,
                issuer=self._issuers(),
                options=_REQUIRED,
            )
        except (jwt.PyJWTError, ValueError, TypeError) as error:
            words = _("invalid ID token: %(error)s", error=type(error).__name__)
            raise self._doubt(words) from None
        self._check(claims, oauth_state, now)
        return claims

    def _issuers(self) -> list[str]:
        """Google's tokens may name it without the scheme (its own documentation)."""
        return (
            [self._issuer, "accounts.google.com"] if self._issuer == "https://accounts.google.com" else [self._issuer]
        )

    def _check(self, claims: Mapping[str, Any], oauth_state: OAuthState, now: float) -> None:
        """What PyJWT does not: the nonce, the party that the token is for, and the time by our own clock."""
        audience, party = claims["aud"], claims.get("azp")
        if (isinstance(audience, list) and len(audience) > 1 and party is None) or party not in (None, self.client.id):
            raise self._doubt(_("ID token issued for another site"))
        if not hmac.compare_digest(str(claims.get("nonce", "")).encode(), oauth_state.nonce.encode()):
            raise self._doubt(_("ID token of another sign-in"))
        times = [claims["exp"], claims["iat"], claims.get("nbf", 0)]
        if not all(isinstance(time, int | float) for time in times):
            raise self._doubt(_("ID token without issue and expiry times"))
        if claims["exp"] <= now - _LEEWAY or max(times[1:]) > now + _LEEWAY:
            raise self._doubt(_("ID token expired or not valid yet"))
        if not isinstance(claims["sub"], str) or not 0 < len(claims["sub"]) <= 255:
            raise self._doubt(_("no user id"))

    async def _discover(self, now: float) -> dict[str, Any]:
        if now - self._document_at < _KEPT_SECONDS:
            return self._document
        address = f"{self._issuer}/.well-known/openid-configuration"
        document = await ask(self._outgoing, self.client.name, address)
        if document.get("issuer") != self._issuer:
            raise self._doubt(_("issuer does not match"))
        for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
            scheme = urlsplit(str(document.get(name, ""))).scheme
            if scheme not in ("https", urlsplit(self._issuer).scheme):
                raise self._doubt(_("%(name)s is missing or not secure", name=name))
        self._document, self._document_at = document, now
        return document

    async def _key(self, kid: object, now: float) -> Any:
        """The public key of that name; requested again when it is unknown, as providers change their keys."""
        stale = now - self._keys_at >= _KEPT_SECONDS
        if stale or (kid not in self._keys and now - self._keys_at >= _MIN_PAUSE):
            key_set = await ask(self._outgoing, self.client.name, self._document["jwks_uri"])
            usable = [key for key in jwt.PyJWKSet.from_dict(key_set).keys if key.public_key_use in (None, "sig")]
            self._keys, self._keys_at = {str(key.key_id): key.key for key in usable if key.key_type != "oct"}, now
        if kid is None and len(self._keys) == 1:
            return next(iter(self._keys.values()))
        if kid not in self._keys:
            raise self._doubt(_("signed with an unknown key"))
        return self._keys[str(kid)]

    def _doubt(self, words: str) -> ProviderError:
        return ProviderError(
            _(
                "Sign-in failed: %(provider)s sent an invalid response (%(reason)s).",
                provider=self.client.title,
                reason=words,
            )
        )


async def exchange(
    outgoing: Outgoing, client: OAuthClient, endpoint: str, code: str, oauth_state: OAuthState, redirect_uri: str
) -> Mapping[str, Any]:
    """The tokens that a provider gives for a code; none when it refuses. Raises ProviderError."""
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    form = client.exchange(code, oauth_state, redirect_uri)
    return client.tokens(await _send(outgoing, client.title, "POST", endpoint, headers, form))


async def ask(outgoing: Outgoing, provider: str, url: str, token: str = "") -> Any:
    """The JSON that a provider answers with 200. Raises ProviderError."""
    body = await _send(outgoing, provider, "GET", url, {"Authorization": f"Bearer {token}"} if token else {})
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        raise ProviderError(_("Sign-in failed: %(provider)s did not return JSON.", provider=provider)) from None


async def _send(
    outgoing: Outgoing, provider: str, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None
) -> bytes:
    """The body of a response with status 200."""
    asked = {"Accept": "application/json", **headers}
    try:
        reply = await outgoing.request(method, url, asked, body, seconds=_SECONDS, max_bytes=_MAX_BYTES)
    except (RefusedTargetError, UnreachableError) as error:
        words = _("Could not reach %(provider)s: %(reason)s", provider=provider, reason=error.args[0])
        raise ProviderError(words) from None
    if reply.status != 200 or not reply.whole:
        raise ProviderError(
            _(
                "Sign-in failed: %(provider)s returned status %(status)s.",
                provider=provider,
                status=reply.status,
            )
        )
    return reply.body
