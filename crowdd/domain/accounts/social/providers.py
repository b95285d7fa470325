"""The providers that the operator has set up, and the way to one of them and back."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import Protocol

from crowdd.config.accounts import SignInSettings
from crowdd.domain.accounts.social.github import GitHub
from crowdd.domain.accounts.social.oauth import PROVIDERS, OAuthClient, OAuthState, ProviderIdentity
from crowdd.domain.accounts.social.openid import OpenIdProvider
from crowdd.domain.outbound.client import Outgoing
from crowdd.errors import NotFoundError, ProviderError
from crowdd.languages import _
from crowdd.storage.accounts import accounts
from crowdd.storage.database import Database

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


def configured(settings: SignInSettings, outgoing: Outgoing) -> dict[str, Provider]:
    """The providers with a client id, by name. They remember keys, so there is one of each in a program."""
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
        now = await accounts.now(self._db)
        oauth_state = OAuthState(name, next_, now, user_id, proof)
        return oauth_state, await provider.address(oauth_state, self._redirect_uri(name), now)

    async def finish(self, name: str, oauth_state: OAuthState | None, answer: Mapping[str, str]) -> ProviderIdentity:
        """Who it is, from the query with which the browser came back. Raises NotFoundError, ProviderError."""
        provider = self._named(name)
        now = await accounts.now(self._db)
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
