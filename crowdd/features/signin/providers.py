"""Sign-in with an account elsewhere: OpenID Connect (Core 1.0), GitHub, and the providers that the operator has set up.

Code flow with state, nonce and PKCE. An ID token counts when it is signed by a key of the provider with an algorithm of
public keys, made for us, by the provider that was asked, for this sign-in, and now. GitHub has no ID tokens: it is
asked by OAuth 2 with state and PKCE, and then by its API.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

import attrs
import orjson

from crowdd.core.outbound.client import Outgoing
from crowdd.core.secrets import token
from crowdd.database.access import Database
from crowdd.features.accounts import statements as account_statements
from crowdd.kernel.config.accounts import SignInSettings
from crowdd.kernel.errors import NotFoundError, ProviderError, RefusedTargetError, UnreachableError
from crowdd.kernel.languages import _
from crowdd.kernel.lazy import lazy

if TYPE_CHECKING:
    from oauthlib import oauth2
else:
    oauth2 = lazy("oauthlib.oauth2", extra="signin")

TITLES: Mapping[str, str] = {"google": "Google", "github": "GitHub", "orcid": "ORCID"}
PROVIDERS = tuple(TITLES)


@attrs.frozen
class ProviderIdentity:
    """A person as a provider knows them. ``email`` only when the provider has verified it; ``token`` is for its API."""

    provider: str
    id: str
    fullname: str = ""
    nickname: str = ""
    email: str = ""
    token: str = attrs.field(default="", repr=False)

    def packed(self) -> str:
        """As a text, for a cookie or a row; encrypted there."""
        return orjson.dumps(attrs.asdict(self)).decode()

    @classmethod
    def unpacked(cls, text: str) -> ProviderIdentity:
        """From such a text."""
        return cls(**orjson.loads(text))


@attrs.frozen
class OAuthState:
    """One sign-in under way, kept by the browser that began it (encrypted). ``user_id``: the account to connect;
    ``proof``: it is not connected, its person only shows that they are there.
    """

    provider: str
    next: str
    at: float
    user_id: int | None = None
    proof: bool = False
    state: str = attrs.field(factory=token, repr=False)
    nonce: str = attrs.field(factory=token, repr=False)
    verifier: str = attrs.field(factory=token, repr=False)

    def packed(self) -> str:
        """As a text, for a cookie; encrypted there."""
        return orjson.dumps(attrs.asdict(self)).decode()

    @classmethod
    def unpacked(cls, text: str) -> OAuthState:
        """From such a text."""
        return cls(**orjson.loads(text))


@attrs.frozen
class OAuthClient:
    """This server as a client of one provider, in the authorization code flow with PKCE (RFC 6749, RFC 7636).

    oauthlib builds the requests and reads the responses.
    """

    name: str
    id: str
    secret: str = attrs.field(repr=False)

    @property
    def title(self) -> str:
        """The provider's name for people."""
        return TITLES[self.name]

    def authorization(self, endpoint: str, oauth_state: OAuthState, redirect_uri: str, **more: str) -> str:
        """The address of the provider's question. Raises ProviderError for an endpoint without https."""
        web = oauth2.WebApplicationClient(self.id)
        challenge = web.create_code_challenge(oauth_state.verifier, "S256")
        try:
            return web.prepare_request_uri(
                endpoint,
                redirect_uri=redirect_uri,
                state=oauth_state.state,
                code_challenge=challenge,
                code_challenge_method="S256",
                **more,
            )
        except oauth2.InsecureTransportError:
            words = _("The address of %(provider)s must begin with https.", provider=self.title)
            raise ProviderError(words) from None

    def exchange(self, code: str, oauth_state: OAuthState, redirect_uri: str) -> bytes:
        """The form that turns a code into tokens."""
        form: str = oauth2.WebApplicationClient(self.id).prepare_request_body(
            code=code, redirect_uri=redirect_uri, client_secret=self.secret, code_verifier=oauth_state.verifier
        )
        return form.encode()

    def tokens(self, body: bytes) -> Mapping[str, Any]:
        """The tokens that a provider answers with; none when it answers with an error or something else."""
        try:
            return oauth2.WebApplicationClient(self.id).parse_request_body_response(body.decode())
        except (oauth2.OAuth2Error, ValueError, TypeError, AttributeError):
            return {}


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


class GitHub:
    """GitHub, or an enterprise's own at ``site`` with its API at ``api``."""

    def __init__(self, client: OAuthClient, site: str, api: str, outgoing: Outgoing) -> None:
        self.client, self._site, self._api, self._outgoing = client, site.rstrip("/"), api.rstrip("/"), outgoing

    async def address(self, oauth_state: OAuthState, redirect_uri: str, now: float) -> str:
        """Where the browser goes to be asked."""
        endpoint = f"{self._site}/login/oauth/authorize"
        return self.client.authorization(endpoint, oauth_state, redirect_uri, scope="read:user user:email")

    async def identity(self, code: str, oauth_state: OAuthState, redirect_uri: str, now: float) -> ProviderIdentity:
        """Who came back with this code. Raises ProviderError."""
        endpoint = f"{self._site}/login/oauth/access_token"
        tokens = await exchange(self._outgoing, self.client, endpoint, code, oauth_state, redirect_uri)
        token = tokens.get("access_token")
        if not isinstance(token, str) or not token:
            raise ProviderError(_("GitHub rejected this sign-in. Try again."))
        person = await ask(self._outgoing, self.client.title, f"{self._api}/user", token)
        emails = await ask(self._outgoing, self.client.title, f"{self._api}/user/emails", token)
        if not isinstance(person, dict) or not isinstance(person.get("id"), int):
            raise ProviderError(_("GitHub did not identify your account. Try again."))
        return ProviderIdentity(
            provider=self.client.name,
            id=str(person["id"]),
            fullname=str(person.get("name") or ""),
            nickname=str(person.get("login") or ""),
            email=_verified(emails),
            token=token,
        )


def _verified(emails: object) -> str:
    """The primary address among those that GitHub has verified, else the first of them."""
    rows = emails if isinstance(emails, list) else []
    good = [row for row in rows if isinstance(row, dict) and row.get("verified") is True and row.get("email")]
    first = sorted(good, key=lambda row: row.get("primary") is not True)
    return str(first[0]["email"]) if first else ""


FLOW_SECONDS = 600


class Provider(Protocol):
    """One provider, whatever it speaks."""

    client: OAuthClient

    async def address(self, oauth_state: OAuthState, redirect_uri: str, now: float) -> str:
        """Where the browser goes to be asked."""
        ...

    async def identity(self, code: str, oauth_state: OAuthState, redirect_uri: str, now: float) -> ProviderIdentity:
        """Who came back with this code."""
        ...


def build_providers(settings: SignInSettings, outgoing: Outgoing) -> dict[str, Provider]:
    """The providers with a client id, by name. They remember keys, so make them once for a set of settings."""
    google = OAuthClient("google", settings.google_client_id, settings.google_client_secret)
    github = OAuthClient("github", settings.github_client_id, settings.github_client_secret)
    orcid = OAuthClient("orcid", settings.orcid_client_id, settings.orcid_client_secret)
    made: list[Provider] = [
        OpenIdProvider(google, settings.google_issuer, "openid email profile", outgoing),
        GitHub(github, settings.github_url, settings.github_api_url, outgoing),
        OpenIdProvider(orcid, settings.orcid_issuer, "openid", outgoing),
    ]
    return {each.client.name: each for each in made if each.client.id}


class Providers:
    """Begins and ends sign-ins elsewhere. ``base_url`` is where browsers come back to."""

    def __init__(self, db: Database, providers: Mapping[str, Provider], base_url: str) -> None:
        self._db, self.found, self._base_url = db, providers, base_url

    @property
    def offered(self) -> dict[str, bool]:
        """Each of the three: whether one can sign in with it (the ``auth`` object of the interface)."""
        return {name: name in self.found for name in PROVIDERS}

    async def begin(self, name: str, next_: str, user_id: int | None, *, proof: bool = False) -> tuple[OAuthState, str]:
        """A new sign-in, and the address to send the browser to. Raises NotFoundError, ProviderError."""
        provider = self._named(name)
        now = await account_statements.read_time(self._db)
        oauth_state = OAuthState(name, next_, now, user_id, proof)
        return oauth_state, await provider.address(oauth_state, self._redirect_uri(name), now)

    async def finish(self, name: str, oauth_state: OAuthState | None, answer: Mapping[str, str]) -> ProviderIdentity:
        """Who it is, from the query with which the browser came back. Raises NotFoundError, ProviderError."""
        provider = self._named(name)
        now = await account_statements.read_time(self._db)
        good = oauth_state is not None and oauth_state.provider == name and now - oauth_state.at < FLOW_SECONDS
        same = oauth_state is not None and hmac.compare_digest(
            oauth_state.state.encode(), answer.get("state", "").encode("utf-8", "replace")
        )
        if oauth_state is None or not (good and same):
            raise ProviderError(_("This sign-in was started in another browser, or it took too long. Start again."))
        if "error" in answer or not answer.get("code"):
            raise ProviderError(_("%(provider)s did not sign you in.", provider=provider.client.title))
        return await provider.identity(answer["code"], oauth_state, self._redirect_uri(name), now)

    def _named(self, name: str) -> Provider:
        try:
            return self.found[name]
        except KeyError:
            raise NotFoundError("404 Not Found", code="not_configured") from None

    def _redirect_uri(self, name: str) -> str:
        return f"{self._base_url}/{name}/oauth_authorized"
