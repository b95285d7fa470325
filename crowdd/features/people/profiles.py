"""What people change of their own account, and the list of people page by page."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping

import attrs

from crowdd.core import log_statements, recent_proof
from crowdd.core.devices import Authenticated
from crowdd.core.records import statements as record_statements
from crowdd.core.records.statements import Keyset, KeysetPage
from crowdd.core.security_log import ADDRESS_CHANGED, PASSWORD_CHANGED, SecurityLog
from crowdd.database.access import Database, Transactions
from crowdd.features.accounts import list_statements as account_list_statements
from crowdd.features.accounts import statements as account_statements
from crowdd.features.accounts import validation
from crowdd.features.accounts.email_links import EmailLinks, greeted
from crowdd.features.accounts.passwords import PasswordPolicy, Passwords
from crowdd.features.accounts.rows import AccountPage, Address, ScoredPerson
from crowdd.features.accounts.sessions import lock_account
from crowdd.features.signin.access_revocation import NewPassword, Revoking, Way
from crowdd.features.signin.email_confirmation import EmailConfirmation
from crowdd.features.signin.sign_in import SigningIn
from crowdd.kernel.errors import NOT_FOUND, ConflictError, FormError, NotFoundError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds import names
from crowdd.kinds.user import USER

_MAX_KEY_LENGTH = 500


@attrs.frozen
class Profile:
    """What a person enters on the settings page."""

    name: str = attrs.field(converter=validation.stored_name)
    fullname: str = attrs.field(converter=validation.stored_fullname)
    email_addr: str
    locale: str
    privacy_mode: bool
    subscribed: bool

    def mistakes(self, row: AccountPage, locales: Collection[str]) -> validation.Mistakes:
        """What is wrong with it, per field. Names that are stored may go on as they are."""
        name, fullname = self.name, self.fullname
        return validation.select_mistakes(
            {
                "name": [] if name == row["name"] else validation.check_name(name),
                "fullname": [] if fullname == row["fullname"] else validation.check_fullname(fullname),
                "email_addr": validation.check_email(self.email_addr),
                "locale": [] if self.locale in locales else [_("Choose one of the languages of this site.")],
            }
        )

    def changes(self, row: AccountPage) -> Values:
        """What differs from the stored row."""
        stored: Mapping[str, object] = row
        values = {**attrs.asdict(self), "fullname": self.fullname.strip(), "email_addr": self.email_addr.strip()}
        return {name: value for name, value in values.items() if value != stored[name]}


@attrs.frozen
class PasswordForm:
    """The password that a person has, and the new one twice."""

    current: str = attrs.field(repr=False)
    new: str = attrs.field(repr=False)
    confirm: str = attrs.field(repr=False)


@attrs.frozen(eq=False)
class Profiles:
    """Changes of an account by its owner or an administrator; each is written down, without values."""

    _db: Transactions
    _passwords: Passwords
    _policy: PasswordPolicy
    _signing_in: SigningIn
    _email_confirmation: EmailConfirmation
    _email_links: EmailLinks
    _revoking: Revoking
    _security_log: SecurityLog

    async def update(self, row: AccountPage, profile: Profile, locales: Collection[str], who: Requester) -> bool:
        """Stores a profile; True when a new address is to be confirmed first.

        Raises FormError, also for a name or address that is taken, and ProofNeededError where the address changes.
        """
        mistakes = profile.mistakes(row, {*locales, row["locale"]})
        if profile.name != row["name"] and "name" not in mistakes:
            taken = await account_statements.is_name_taken(self._db, profile.name, names.RESERVED_NAMES, row["id"])
            mistakes |= validation.select_mistakes({"name": validation.describe_taken_name(taken)})
        if mistakes:
            raise FormError(mistakes)
        changes = profile.changes(row)
        moves = profile.email_addr.strip().lower() != row["email_addr"].lower()
        if moves:
            recent_proof.require(who)
        waits = moves and self._email_confirmation.required
        if waits:
            await self._email_confirmation.change(row, changes.pop("email_addr"), who)
        elif moves:
            changes["valid_email"] = False  # nobody has proved that they read the new one
        await self._write(
            row["id"], changes, who, self._email_confirmation.tell_old if moves and not waits else None, row
        )
        return waits

    async def set_service(self, user_id: int, catalog_api: str, who: Requester) -> None:
        """Stores the key of an external data catalogue; an empty one removes it."""
        if len(catalog_api) > _MAX_KEY_LENGTH:
            raise FormError({"catalog_api": [_("Use at most %(maximum)s characters.", maximum=_MAX_KEY_LENGTH)]})
        await self._write(user_id, {"catalog_api": catalog_api.strip() or None}, who)

    async def subscribe(self, user_id: int, wanted: bool | None) -> None:
        """Notes that the person was asked about the newsletter, and the answer (None: nothing was said)."""
        answer = {} if wanted is None else {"subscribed": wanted}
        await record_statements.update_row(self._db, USER, user_id, {"newsletter_prompted": True, **answer})

    async def ways_in(self, user_id: int) -> list[Way]:
        """The ways in that a person who had somebody else in their account is asked about."""
        return await self._revoking.choices(self._db, user_id)

    async def change_password(
        self,
        row: AccountPage,
        form: PasswordForm,
        who: Requester,
        *,
        revoke: bool = False,
        keep: Collection[str] = (),
    ) -> NewPassword:
        """Sets a new password after a check of the old one; returns what else has ended.

        ``revoke``: somebody else may have had access, so that all other ways in end, but those of ``ways_in`` that
        ``keep`` names. Raises FormError, TooManyRequestsError, BusyError, ForbiddenError without a session.
        """
        recent_proof.require_session(who)
        about = (row["name"], row["fullname"], row["email_addr"])
        words, again = await self._policy.mistakes(form.new, form.confirm, about)
        if mistakes := validation.select_mistakes({"new_password": words, "confirm": again}):
            raise FormError(mistakes)
        await self._signing_in.require_password(row["id"], form.current, who)
        return await self._set_in_transaction(row["id"], form.new, who, keep if revoke else None)

    async def set_password(self, user_id: int, new: str, who: Requester) -> NewPassword:
        """The same for a person who proved their identity otherwise. Ends every session and e-mail link."""
        return await self._set_in_transaction(user_id, new, who, None)

    async def _set_in_transaction(
        self, user_id: int, new: str, who: Requester, keep: Collection[str] | None
    ) -> NewPassword:
        hashed = await self._passwords.hash(new)
        return await self._db.transaction(lambda tx: self._set_password(tx, user_id, hashed, who, keep))

    async def _set_password(
        self, tx: Database, user_id: int, hashed: str, who: Requester, keep: Collection[str] | None
    ) -> NewPassword:
        row = await lock_account(tx, user_id, who)
        account = Authenticated(user_id, await account_statements.set_password(tx, user_id, hashed))
        if keep is None:
            done = await self._revoking.after_change(tx, account, who)
        else:
            done = await self._revoking.recover(tx, account, who, keep)
        await log_statements.write_act(tx, who, "change_password", "user", user_id)
        await self._security_log.note(tx, PASSWORD_CHANGED, who, user_id=user_id)
        context = {"new_key": done.recovered, "ended": done.ended, "name": greeted(row)}
        await self._email_links.send(tx, row["email_addr"], "password_changed", row["locale"], **context)
        return done

    async def _write(
        self,
        user_id: int,
        changes: Values,
        who: Requester,
        then: Callable[[Database, Address], Awaitable[None]] | None = None,
        before: Address | None = None,
    ) -> None:
        async def work(tx: Database) -> None:
            await lock_account(tx, user_id, who)
            try:
                await record_statements.update_row(tx, USER, user_id, changes)
            except ConflictError as error:
                raise FormError(validation.describe_taken(error)) from None
            for name in changes:
                await log_statements.write_act(tx, who, "update", "user", user_id, attribute=name)
            if "email_addr" in changes:
                await self._security_log.note(tx, ADDRESS_CHANGED, who, user_id=user_id)
            if then is not None and before is not None:
                await then(tx, before)

        await self._db.transaction(work)


MAX_PASSED = 10_000  # accounts that a page by its number may pass over


@attrs.frozen
class UserPage:
    """A page of people: the place at which it begins, rows of accounts with score, and how many people there are."""

    place: Keyset
    part: KeysetPage[ScoredPerson]
    total: int


class UserList:
    """Lists people; blocked ones are left out."""

    def __init__(self, db: Transactions) -> None:
        self._db = db

    async def page(self, place: Keyset) -> UserPage:
        """A page of people in the order of their ids, the newest first unless the place says otherwise."""
        return UserPage(
            place,
            await account_list_statements.list_unblocked_accounts(self._db, place),
            await account_list_statements.count_accounts(self._db),
        )

    async def numbered(self, number: int, size: int) -> UserPage:
        """A page by its number, the newest first. Raises NotFoundError beyond the last page and beyond MAX_PASSED."""
        passed = (number - 1) * size
        if passed > MAX_PASSED:
            raise NotFoundError(
                NOT_FOUND,
                hint=_("This page is too far back for its number. Use `before` with the id of an account."),
            )
        last = await account_list_statements.find_nth_newest(self._db, passed) if passed > 0 else None
        user_page = await self.page(Keyset(size, before=last))
        if number < 1 or (passed and (last is None or not user_page.part.rows)):
            raise NotFoundError(NOT_FOUND)
        return user_page
