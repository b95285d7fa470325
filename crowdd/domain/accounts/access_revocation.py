"""Ways into an account that end when its person takes it back: links, the API key and tokens, providers, sessions."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from crowdd.domain.accounts.accounts import Accounts
from crowdd.domain.accounts.social.oauth import PROVIDERS, TITLES
from crowdd.requester import Requester
from crowdd.storage.accounts import accounts, api_tokens, one_time_links, provider_tokens, sessions
from crowdd.storage.core import audit
from crowdd.storage.database import Database

RESET, ADDRESS = "reset", "address"  # purposes of links in e-mails


@attrs.frozen
class Revoked:
    """What ended beside sessions and links: the API key was replaced, and these providers (titles) are disconnected."""

    new_key: bool = False
    providers: tuple[str, ...] = ()


class Revoking:
    """Ends ways in, within the transaction that sets a new password. The account's row has to be locked already."""

    def __init__(self, accounts_: Accounts) -> None:
        self._accounts = accounts_

    async def after_change(self, tx: Database, user_id: int, who: Requester) -> Revoked:
        """What every new password ends: sessions, and links in e-mails that are on their way."""
        await sessions.end_all(tx, user_id)
        for purpose in (RESET, ADDRESS):
            await one_time_links.drop_of_user(tx, user_id, purpose)
        return Revoked()

    async def after_reset(self, tx: Database, user_id: int, who: Requester) -> Revoked:
        """After an e-mail link: the key too, and providers that were connected before the address was proved."""
        return await self._everything(tx, user_id, await accounts.unproved_providers(tx, user_id), who)

    async def after_suspicion(self, tx: Database, user_id: int, who: Requester) -> Revoked:
        """The same when the person says that somebody else had access: the key, and all providers."""
        return await self._everything(tx, user_id, PROVIDERS, who)

    async def _everything(self, tx: Database, user_id: int, providers: Sequence[str], who: Requester) -> Revoked:
        await self.after_change(tx, user_id, who)
        await api_tokens.drop_of_user(tx, user_id)
        await self._accounts.renew_key(tx, user_id, who)
        connected = await accounts.connected_providers(tx, user_id, providers) if providers else []
        for provider in connected:
            await accounts.set_provider(tx, user_id, provider, None)
            await provider_tokens.drop(tx, user_id, provider)
            await audit.write(tx, who, "disconnect", "user", user_id, attribute=provider)
        return Revoked(True, tuple(TITLES[provider] for provider in connected))
