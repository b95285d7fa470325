"""Signing in with an account elsewhere: what is kept of it while it goes on, and what comes out."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from urllib.parse import urlencode, urlsplit

import attrs
import orjson

from crowdd.domain.core.secrets import token

TITLES: Mapping[str, str] = {"google": "Google", "github": "GitHub", "orcid": "ORCID"}
PROVIDERS = tuple(TITLES)


@attrs.frozen
class ProviderIdentity:
    """A person as a provider knows him. ``email`` only when the provider has verified it; ``token`` is for its API."""

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

    @property
    def challenge(self) -> str:
        """What the provider learns of the verifier before it (RFC 7636, S256)."""
        digest = hashlib.sha256(self.verifier.encode()).digest()
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


@attrs.frozen
class OAuthClient:
    """We, as a provider knows us."""

    name: str
    id: str
    secret: str = attrs.field(repr=False)

    @property
    def title(self) -> str:
        """The provider's name for people."""
        return TITLES[self.name]

    def authorization(self, endpoint: str, oauth_state: OAuthState, redirect_uri: str, **more: str) -> str:
        """The address of the provider's question."""
        asked = {
            "response_type": "code",
            "client_id": self.id,
            "redirect_uri": redirect_uri,
            "state": oauth_state.state,
            "code_challenge": oauth_state.challenge,
            "code_challenge_method": "S256",
            **more,
        }
        return f"{endpoint}{'&' if urlsplit(endpoint).query else '?'}{urlencode(asked)}"

    def exchange(self, code: str, oauth_state: OAuthState, redirect_uri: str) -> dict[str, str]:
        """The form that turns a code into tokens."""
        return {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "client_id": self.id,
            "client_secret": self.secret,
            "code_verifier": oauth_state.verifier,
        }
