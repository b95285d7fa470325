"""What GitHub says about a person: OAuth 2 with state and PKCE, then its API; it knows no ID tokens."""

from __future__ import annotations

from crowdd.domain.accounts.social.oauth import OAuthClient, OAuthState, ProviderIdentity
from crowdd.domain.accounts.social.openid import ask, exchange
from crowdd.domain.outbound.client import Outgoing
from crowdd.errors import ProviderError
from crowdd.languages import _


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
