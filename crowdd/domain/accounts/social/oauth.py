"""Signing in with an account elsewhere: what is kept of it while it goes on, and what comes out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs
import orjson

from crowdd.domain.core.secrets import token
from crowdd.errors import ProviderError
from crowdd.languages import _
from crowdd.lazy import lazy

if TYPE_CHECKING:
    from oauthlib import oauth2
else:
    oauth2 = lazy("oauthlib.oauth2")

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
