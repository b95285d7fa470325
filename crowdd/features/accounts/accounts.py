"""Accounts: create and find them, manage their API keys, and change who is an administrator."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial

import attrs

from crowdd.core import log_statements, recent_proof
from crowdd.core.mail.mail import Mail
from crowdd.core.quotas import HOUR_MINUTES, Attempts, Limit
from crowdd.core.records import rights
from crowdd.core.records.records import Behaviour
from crowdd.core.secrets import Secrets, place, token
from crowdd.core.security_log import ADMIN_MADE, ADMIN_REMOVED, KEY_MADE, SecurityLog
from crowdd.core.site import Site
from crowdd.database.access import Database, Row, Transactions
from crowdd.features.accounts import list_statements, statements, validation
from crowdd.features.accounts.invitations import Invitations
from crowdd.features.accounts.passwords import PasswordPolicy, Passwords
from crowdd.features.accounts.rows import Account, AccountPage, Administrator, Leader, NewLink, PersonRow
from crowdd.features.accounts.sessions import lock_account
from crowdd.features.accounts.validation import Registration
from crowdd.kernel.concurrency.batching import Batcher, BatcherFactory
from crowdd.kernel.errors import NOT_FOUND, ConflictError, ForbiddenError, FormError, NotFoundError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import SYSTEM, Requester
from crowdd.kernel.values import Values
from crowdd.kinds import names
from crowdd.kinds.names import EXAMPLES
from crowdd.kinds.roles import Role
from crowdd.kinds.types import clean_text
from crowdd.kinds.user import USER, is_guarded


@attrs.frozen
class Administrators:
    """Tells the security log, and by mail the other administrators."""

    security_log: SecurityLog
    mail: Mail

    async def changed(self, tx: Database, user_id: int, admin: bool, who: Requester) -> None:
        """Follow a change of an account's rights, in the transaction that makes it."""
        await (self.made if admin else self.removed)(tx, user_id, who)

    async def made(self, tx: Database, user_id: int, who: Requester) -> None:
        """Follow a new administrator: every other one gets an e-mail."""
        await self.security_log.note(tx, ADMIN_MADE, who, user_id=user_id, detail=who.via)
        everybody = await statements.list_admins(tx)
        new = next(row["name"] for row in everybody if row["id"] == user_id)
        for row in everybody:
            if row["id"] != user_id and not row["restrict"]:
                context = {"name": row["name"], "new": new, "by": who.user_name}
                await self.mail.send(tx, row["email_addr"], "new_administrator", context, row["locale"])

    async def removed(self, tx: Database, user_id: int, who: Requester) -> None:
        """Follow the end of an administrator's rights."""
        await self.security_log.note(tx, ADMIN_REMOVED, who, user_id=user_id, detail=who.via)


LINK_HOURS = 48


@attrs.frozen
class SignUp:
    """What becomes an account: words that were checked, and the hash of the password, if there is one.

    ``proved``: the person reads the address. ``invitation``: the digest of one, if not that of the form. Where one is
    needed it is used up.
    """

    form: Registration
    hashed: str | None = attrs.field(repr=False)
    admin: bool = False
    proved: bool = False
    invitation: bytes | None = None


@attrs.frozen(eq=False)
class Accounts:
    """Everything about accounts that pages, API and command line share."""

    _db: Transactions
    _new_batcher: BatcherFactory
    _passwords: Passwords
    _policy: PasswordPolicy
    _attempts: Attempts
    _secrets: Secrets
    _security_log: SecurityLog
    _administrators: Administrators
    _site: Site
    _invitations: Invitations
    # Looked up at each request: a key or an account that ends has ended at once, in every process.
    _keys: Batcher[bytes, Account | None] = attrs.field(init=False)

    @_keys.default
    def _make_keys(self) -> Batcher[bytes, Account | None]:
        return self._new_batcher(partial(statements.find_by_key, self._db))

    # Requesters

    async def by_key(self, key_hash: bytes) -> Account | None:
        """The account of an API key, or None."""
        return await self._keys.add(key_hash)

    def key_hash(self, key: str) -> bytes:
        """What an API key is looked up by."""
        return self._secrets.digest("api_key", key)

    # Signing up

    async def register(
        self,
        form: Registration,
        who: Requester,
        *,
        admin: bool = False,
        passwordless: bool = False,
        proved: bool = False,
        then: Callable[[Database, int], Awaitable[None]] | None = None,
    ) -> int:
        """The id of a new account; ``then`` is done in the same transaction. ``proved``: the person reads the address.

        Raises FormError, also for a name or address that is taken; TooManyRequestsError, BusyError.
        """
        await self.require_acceptable(form, who, passwordless=passwordless, tells_address=True)
        hashed = None if passwordless else await self._passwords.hash(form.password)

        async def work(tx: Database) -> int:
            user_id = await self.add(tx, SignUp(form, hashed, admin, proved), who)
            if then is not None:
                await then(tx, user_id)
            return user_id

        return await self._db.transaction(work)

    async def require_acceptable(
        self, form: Registration, who: Requester, *, passwordless: bool, tells_address: bool
    ) -> None:
        """Passes when somebody may sign up so, and counts it for their network.

        ``tells_address``: whether they may learn that the address has an account, which is counted, too. Raises
        FormError with all mistakes at once; TooManyRequestsError, BusyError.
        """
        mistakes = await self._mistakes(form, who, passwordless=passwordless)
        known = (
            tells_address
            and not mistakes.keys() & {"email_addr", "invitation"}
            and await statements.find_by_email(self._db, form.email_addr.strip()) is not None
        )
        if known or not mistakes:
            await self._count_sign_up(who)
        if known:
            mistakes |= validation.describe_taken_address()
        if mistakes:
            raise FormError(mistakes)

    async def _mistakes(self, form: Registration, who: Requester, *, passwordless: bool) -> validation.Mistakes:
        """What is wrong with a registration, per field, but for the address of an account."""
        mistakes = await self._policy.of_registration(form, passwordless=passwordless)
        if "name" not in mistakes:
            taken = await statements.is_name_taken(self._db, form.name, names.RESERVED_NAMES)
            mistakes |= validation.select_mistakes({"name": validation.describe_taken_name(taken)})
        if who.via != "cli":
            try:
                await self._invitations.require(self._invitations.digest(form.invitation))
            except FormError as error:
                mistakes |= error.errors
        return mistakes

    async def _count_sign_up(self, who: Requester) -> None:
        allowed = self._site.signups_per_hour
        if allowed and who.via != "cli":
            await self._attempts.count(Limit(f"signup:{who.network}", allowed, HOUR_MINUTES))

    async def add(self, tx: Database, sign_up: SignUp, who: Requester) -> int:
        """The id of a new account. Raises FormError for what is taken."""
        form, key = sign_up.form, token()
        hashed_key = self.key_hash(key)
        values = {
            "name": form.name,
            "fullname": form.fullname.strip(),
            "email_addr": form.email_addr.strip(),
            "passwd_hash": sign_up.hashed,
            "api_key_hash": hashed_key,
            "api_key_encrypted": b"",
            "admin": sign_up.admin,
            "valid_email": sign_up.proved,
            "locale": who.locale,
        }
        try:
            user_id = await statements.insert_account(tx, values)
        except ConflictError as error:
            raise FormError(validation.describe_taken(error)) from None
        await statements.set_api_key(tx, user_id, hashed_key, self._encrypted(user_id, key))
        if who.via != "cli" and not sign_up.admin:
            link = sign_up.invitation or self._invitations.digest(form.invitation)
            await self._invitations.accept(tx, link, user_id, who)
        maker = who if who.user_id or who.via == "cli" else attrs.evolve(who, user_id=user_id, user_name=form.name)
        await log_statements.write_act(tx, maker, "create", "user", user_id, after={"admin": sign_up.admin})
        if sign_up.admin:
            await self._administrators.made(tx, user_id, maker)
        return user_id

    # Profiles and keys

    async def profile(self, user_id: int) -> AccountPage:
        """The row of an account with score and rank."""
        row = await statements.read_profile(self._db, user_id)
        if row is None:
            raise NotFoundError(NOT_FOUND)
        return row

    async def find(self, name: str) -> Account:
        """id, name, e-mail and roles of the account with that nickname or e-mail; NotFoundError when there is none."""
        row = await (statements.find_by_email if "@" in name else statements.find_by_name)(self._db, name)
        if row is None:
            raise NotFoundError(f"Account {name} does not exist.")
        return row

    async def find_by_name(self, name: str) -> Account:
        """The same by nickname only, blocked ones left out: what an address names."""
        row = await statements.find_by_name(self._db, clean_text(name))
        if row is None or row["restrict"]:
            raise NotFoundError(NOT_FOUND)
        return row

    async def top(self, limit: int) -> list[Leader]:
        """Those with the most answers."""
        return await statements.list_top_accounts(self._db, limit)

    async def leaderboard(self, who: Requester, limit: int, window: int) -> list[Leader]:
        """The first ``limit`` people; then the requester, unless they are among them, and ``window`` around."""
        rows = await statements.list_top_accounts(self._db, limit)
        if who.acting_user is None:
            return rows
        known = {row["id"] for row in rows}
        near = await statements.list_accounts_around(self._db, who.acting_user, window)
        return rows + [row for row in near if row["id"] not in known]

    async def reset_api_key(self, user_id: int, who: Requester) -> str:
        """A new API key; the old one is worth nothing at once."""
        itself = frozenset({Role.SELF}) if who.acting_user == user_id else frozenset()
        rights.require(who, rights.of_requester(who) | itself, USER.rights.update)

        async def work(tx: Database) -> str:
            await lock_account(tx, user_id, who)
            return await self.renew_key(tx, user_id, who)

        return await self._db.transaction(work)

    async def renew_key(self, tx: Database, user_id: int, who: Requester) -> str:
        """The same within a transaction, for somebody whose right was checked."""
        key = token()
        await statements.set_api_key(tx, user_id, self.key_hash(key), self._encrypted(user_id, key))
        await log_statements.write_act(tx, who, "reset_api_key", "user", user_id)
        await self._security_log.note(tx, KEY_MADE, who, user_id=user_id)
        return key

    def api_key(self, row: PersonRow) -> str:
        """The API key of an account row."""
        return self._secrets.decrypt(row["api_key_encrypted"], _place(row["id"]))

    def own_key(self, row: AccountPage, who: Requester) -> str | None:
        """The API key of an account for the requester whose own it is, after a proof or for the key itself.

        None for a request from before a new password: the key may be a new one, and the request somebody else's.
        """
        shown = row["id"] == who.acting_user and who.sees_own_key and row["access_version"] == who.access_version
        return self.api_key(row) if shown else None

    def _encrypted(self, user_id: int, key: str) -> bytes:
        """The key as it is stored: bound to its account, so it can be encrypted only once the account has its id."""
        return self._secrets.encrypt(key, _place(user_id))

    async def of_examples(self) -> Account:
        """The account that owns projects loaded before there was anybody; nobody can sign in to it."""
        form = Registration(EXAMPLES, EXAMPLES.title(), f"{EXAMPLES}-{token()}@example.invalid", "", "")
        if await statements.find_by_name(self._db, EXAMPLES) is None:
            await self._db.transaction(lambda tx: self.add(tx, SignUp(form, None), SYSTEM))
        return await self.find(EXAMPLES)

    # Administrators

    async def set_admin(self, user_id: int, admin: bool, who: Requester) -> bool:
        """Makes an administrator or unmakes one; False when nothing changed. The last one stays."""
        rights.require(who, rights.of_requester(who), frozenset({Role.ADMIN}))

        async def work(tx: Database) -> bool:
            row = None if admin else await list_statements.lock_account(tx, user_id)
            if row and row["admin"]:
                await _leave_one(tx, user_id)
            changed = await statements.set_admin(tx, user_id, admin)
            if changed:
                await log_statements.write_act(tx, who, "add_admin" if admin else "remove_admin", "user", user_id)
                await self._administrators.changed(tx, user_id, admin, who)
            return changed

        return await self._db.transaction(work)

    async def admins(self) -> list[Administrator]:
        """All administrators."""
        return await statements.list_admins(self._db)

    async def first_admin_link(self) -> str | None:
        """The token of a fresh link that makes the first administrator; None once there is one. Older links end."""
        if await self.admins():
            return None
        made = token()

        async def work(tx: Database) -> None:
            await statements.delete_links(tx, "first_admin")
            await statements.insert_link(tx, NewLink(self._secrets.digest("link", made), "first_admin", LINK_HOURS))

        await self._db.transaction(work)
        return made

    async def first_admin_open(self, link: str) -> None:
        """Passes while the link works; NotFoundError otherwise."""
        row = await statements.find_link(self._db, self._secrets.digest("link", link), "first_admin")
        if row is None or await self.admins():
            raise NotFoundError(
                _("This link has been used or has expired."), hint="Restart the server to get a new link."
            )

    async def make_first_admin(self, link: str, form: Registration, who: Requester) -> int:
        """The id of the first administrator; the link is used up in the same transaction."""
        await self.first_admin_open(link)
        if mistakes := await self._policy.of_registration(form, passwordless=False):
            raise FormError(mistakes)
        hashed = await self._passwords.hash(form.password)

        async def work(tx: Database) -> int:
            if await statements.use_link(tx, self._secrets.digest("link", link), "first_admin") is None:
                raise NotFoundError(_("This link has been used or has expired."))
            return await self.add(tx, SignUp(form, hashed, admin=True), who)

        return await self._db.transaction(work)


def _place(user_id: int) -> str:
    return place("account", "api_key_encrypted", user_id)


class UserBehaviour(Behaviour):
    """People change their own record; administrators everybody's, and that is written down."""

    def __init__(self, administrators: Administrators) -> None:
        super().__init__(USER)
        self._administrators = administrators

    async def change(self, tx: Database, who: Requester, row: Row, changes: Values) -> None:
        if "admin" in changes:
            recent_proof.require(who)
        if changes.get("admin") is False and row["id"] == who.user_id:
            raise ForbiddenError(_("You cannot remove your own administrator rights."))
        if "info" in changes and not who.acting_admin:
            changes = {**changes, "info": guarded(row["info"], changes["info"])}
        if changes.get("admin") is False:
            await _leave_one(tx, row["id"])
        await super().change(tx, who, row, changes)
        for name, value in changes.items():
            shown = name in ("admin", "pro", "flags", "category")
            before, after = (row[name], value) if shown else (None, None)
            await log_statements.write_act(
                tx, who, "update", "user", row["id"], attribute=name, before=before, after=after
            )
        if changes.get("admin", row["admin"]) is not row["admin"]:
            await self._administrators.changed(tx, row["id"], changes["admin"], who)


def guarded(stored: Mapping[str, object], wanted: Mapping[str, object]) -> Values:
    """The new ``info`` of a person who is no administrator: what they may not write stays as it is stored.

    Raises ForbiddenError for a guarded key with another value than the stored one.
    """
    protected = {key: value for key, value in stored.items() if is_guarded(key)}
    for key, value in wanted.items():
        if is_guarded(key) and (key not in protected or protected[key] != value):
            raise ForbiddenError(f"You may not change info.{key[:100]}.")
    return {**wanted, **protected}


async def _leave_one(tx: Database, user_id: int) -> None:
    """Two who take each other's rights at once would leave nobody."""
    if await list_statements.is_last_admin(tx, user_id):
        raise ForbiddenError(_("You cannot remove the last administrator."), hint="Appoint another one first.")
