"""People who come from a provider: known ones signed in, accounts connected, new accounts made."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from crowdd.core import log_statements
from crowdd.core.devices import Authenticated
from crowdd.core.secrets import Secrets, place
from crowdd.database.access import Database, Transactions
from crowdd.features.accounts import statements as account_statements
from crowdd.features.accounts import validation
from crowdd.features.accounts.accounts import Accounts
from crowdd.features.accounts.invitations import Invitations
from crowdd.features.accounts.rows import AccountPage
from crowdd.features.accounts.sessions import lock_account
from crowdd.features.accounts.validation import Registration
from crowdd.features.signin import statements
from crowdd.features.signin.providers import PROVIDERS, TITLES, ProviderIdentity
from crowdd.kernel.errors import ConflictError, NotFoundError, ProviderError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kinds import names

_NAMES_TRIED = 50


class NoAddressError(ProviderError):
    """The provider gave no address that it has verified: the person has to name one."""


class InvitationNeededError(ProviderError):
    """Nobody gets an account here without an invitation: the person has to open the link of one."""


class SocialLogin:
    """Finds or makes the account of a provider's person; never joins two by an address alone."""

    def __init__(self, db: Transactions, accounts_: Accounts, secrets: Secrets, invitations: Invitations) -> None:
        self._db, self._accounts, self._secrets, self._invitations = db, accounts_, secrets, invitations

    async def sign_in(self, identity: ProviderIdentity, who: Requester) -> tuple[Authenticated, bool]:
        """The account, and whether it is new.

        Raises ProviderError; NoAddressError when there is no address, InvitationNeededError when the site is not open.
        """
        row = await account_statements.find_by_provider(self._db, identity.provider, identity.id)
        if row is not None:
            if row["restrict"]:
                raise ProviderError(_("This account is blocked."))
            await self._keep(self._db, row["id"], identity)
            return Authenticated(row["id"], row["access_version"]), False
        if await self._invitations.needed():
            raise InvitationNeededError(
                _("This site accepts new accounts by invitation only. Open the link of your invitation.")
            )
        if not identity.email or validation.check_email(identity.email):
            raise NoAddressError(_("%(provider)s did not send an e-mail address.", provider=TITLES[identity.provider]))
        if await account_statements.find_by_email(self._db, identity.email) is not None:
            words = _(
                "An account with this e-mail address already exists. Sign in with your password, then connect"
                " %(provider)s in your settings.",
                provider=TITLES[identity.provider],
            )
            raise ProviderError(words)
        return Authenticated(await self.register(identity, await self._introduced(identity), who)), True

    async def register(self, identity: ProviderIdentity, form: Registration, who: Requester) -> int:
        """A new account without a password, connected from the beginning. Raises FormError."""

        async def connect(tx: Database, user_id: int) -> None:
            await self.connect_in(tx, user_id, identity)

        proved = bool(identity.email) and form.email_addr.strip().lower() == identity.email.strip().lower()
        return await self._accounts.register(form, who, passwordless=True, proved=proved, then=connect)

    async def connect(self, user_id: int, identity: ProviderIdentity, who: Requester) -> None:
        """Lets a person sign in with a provider from now on. Raises ProviderError when another account does."""

        async def work(tx: Database) -> None:
            await lock_account(tx, user_id, who)
            await self.connect_in(tx, user_id, identity)
            await log_statements.write_act(tx, who, "connect", "user", user_id, attribute=identity.provider)

        await self._db.transaction(work)

    async def knows(self, user_id: int, identity: ProviderIdentity) -> bool:
        """Whether this person of a provider signs in to the account."""
        row = await account_statements.find_by_provider(self._db, identity.provider, identity.id)
        return row is not None and row["id"] == user_id

    async def disconnect(self, row: AccountPage, provider: str, who: Requester) -> None:
        """Ends it. Raises NotFoundError, and ProviderError when nothing else is left to sign in with."""
        ids: Mapping[str, object] = row
        if provider not in PROVIDERS or not ids[f"{provider}_user_id"]:
            raise NotFoundError(_("Your account is not connected to this provider."))
        others = [name for name in PROVIDERS if name != provider and ids[f"{name}_user_id"]]
        if not row["has_password"] and not others:
            raise ProviderError(
                _(
                    "You would not be able to sign in any more. Set a password first: choose “Forgotten?” on the"
                    " sign-in page."
                )
            )

        async def work(tx: Database) -> None:
            await statements.disconnect_provider(tx, row["id"], provider)
            await log_statements.write_act(tx, who, "disconnect", "user", row["id"], attribute=provider)

        await self._db.transaction(work)

    async def tokens(self, user_id: int) -> dict[str, dict[str, Any]]:
        """What providers gave a person for their own APIs: {"<provider>_token": {"oauth_token": …}}."""
        rows = await statements.list_provider_tokens(self._db, user_id)
        places = {row.provider: _place(user_id, row.provider) for row in rows}
        opened = {row.provider: self._secrets.decrypt(row.encrypted, places[row.provider]) for row in rows}
        return {f"{provider}_token": {"oauth_token": text} for provider, text in opened.items()}

    async def connect_in(self, tx: Database, user_id: int, identity: ProviderIdentity) -> None:
        """The same within a transaction, for an account that is just being made."""
        try:
            await statements.connect_provider(tx, user_id, identity.provider, identity.id)
        except ConflictError:
            words = _("Another account is connected to this %(provider)s account.", provider=TITLES[identity.provider])
            raise ProviderError(words) from None
        await self._keep(tx, user_id, identity)

    async def _keep(self, tx: Database, user_id: int, identity: ProviderIdentity) -> None:
        if identity.token:
            encrypted = self._secrets.encrypt(identity.token, _place(user_id, identity.provider))
            await statements.store_provider_token(tx, user_id, identity.provider, encrypted)

    async def _introduced(self, identity: ProviderIdentity) -> Registration:
        """What the person would have typed: a free nickname, and a name."""
        name = await self._free_name(identity)
        return introduction(identity, name, identity.email)

    async def _free_name(self, identity: ProviderIdentity) -> str:
        wanted = nickname(identity)
        for number in range(1, _NAMES_TRIED):
            name = wanted if number == 1 else f"{wanted[:31]}{number}"
            if not validation.check_name(name):
                taken = await account_statements.is_name_taken(self._db, name, names.RESERVED_NAMES)
                if taken is None:
                    return name
        raise ProviderError(_("No user name is available for you. Create an account and choose one."))


def _place(user_id: int, provider: str) -> str:
    return place("provider_token", "encrypted", f"{user_id}.{provider}")


def introduction(identity: ProviderIdentity, name: str, email: str) -> Registration:
    """A registration of a provider's person, who has no password."""
    plain = names.cleaned(" ".join(identity.fullname.split()))[:100]
    return Registration(name, name if validation.check_fullname(plain) else plain, email, "", "")


def nickname(identity: ProviderIdentity) -> str:
    """A nickname made of what a provider calls somebody: ASCII, small, at least two characters."""
    for words in (identity.nickname, identity.fullname, identity.email.partition("@")[0]):
        plain = unicodedata.normalize("NFKD", words).encode("ascii", "ignore").decode().lower()
        candidate = re.sub(r"[^a-z0-9_.-]+", "", plain).strip("._-")[:35]
        if len(candidate) >= 2 and candidate not in names.RESERVED_NAMES:
            return candidate
    return f"{identity.provider}-person"
