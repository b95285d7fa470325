"""Named API tokens: made for one program each, with a scope, shown once."""

from __future__ import annotations

from functools import partial

from crowdd.core import log_statements
from crowdd.core.secrets import API_TOKEN_PREFIX, Secrets, token
from crowdd.core.security_log import TOKEN_MADE, TOKEN_REMOVED, SecurityLog
from crowdd.database.access import Database, Transactions
from crowdd.features.accounts.rows import ApiToken, NewToken, TokenAccount
from crowdd.features.accounts.sessions import lock_account
from crowdd.features.signin import statements
from crowdd.kernel.concurrency.batching import Batcher, BatcherFactory
from crowdd.kernel.errors import FormError, NotFoundError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester

SCOPES = ("read", "answer", "predict", "project", "everything")
MAX_TOKENS = 50
MAX_NAME = 60
MAX_DAYS = 3650


class ApiTokens:
    """Found at each request: a token that is revoked or expires has ended at once, in every process."""

    def __init__(
        self, db: Transactions, new_batcher: BatcherFactory, secrets: Secrets, security_log: SecurityLog
    ) -> None:
        self._db, self._secrets, self._security_log = db, secrets, security_log
        self._found: Batcher[bytes, TokenAccount | None] = new_batcher(partial(statements.find_tokens_by_hash, db))

    async def find(self, text: str) -> TokenAccount | None:
        """The account of a token with its scope and project_id, or None. Stores the time of use once an hour."""
        if not text.startswith(API_TOKEN_PREFIX) or len(text) > 200:
            return None
        row = await self._found.add(self._hash(text))
        if row and row["stale"]:
            await statements.note_token_use(self._db, row["token_id"])
        return row

    async def listed(self, user_id: int) -> list[ApiToken]:
        """The tokens of a person, the newest first: id, name, scope, project, created, expires, last_used, expired."""
        return await statements.list_tokens(self._db, user_id)

    async def create(self, user_id: int, name: str, scope: str, project: str, days: str, who: Requester) -> str:
        """A new token; ``project`` is the id or short name of a project of theirs, ``days`` "" for no end.

        Raises FormError.
        """
        project_id = await self._project(user_id, scope, project)
        mistakes = _mistakes(name, scope, days)
        if scope == "project" and project_id is None:
            mistakes["project"] = [_("Choose a project that you own.")]
        if mistakes:
            raise FormError(mistakes)
        made = API_TOKEN_PREFIX + token()

        async def work(tx: Database) -> str:
            await lock_account(tx, user_id, who)
            if await statements.count_tokens(tx, user_id) >= MAX_TOKENS:
                raise FormError({"name": [_("You have %(maximum)s tokens. Revoke one first.", maximum=MAX_TOKENS)]})
            new = NewToken(name.strip(), scope, project_id, int(days) if days else None)
            await statements.insert_token(tx, user_id, self._hash(made), new)
            await log_statements.write_act(
                tx, who, "create_token", "user", user_id, project_id=project_id, after={"scope": scope}
            )
            await self._security_log.note(tx, TOKEN_MADE, who, user_id=user_id, detail=scope)
            return made

        return await self._db.transaction(work)

    async def revoke(self, user_id: int, token_id: int, who: Requester) -> None:
        """Ends a token. Raises NotFoundError."""

        async def work(tx: Database) -> None:
            if not await statements.delete_token(tx, user_id, token_id):
                raise NotFoundError(_("This token has been revoked already."))
            await log_statements.write_act(tx, who, "revoke_token", "user", user_id)
            await self._security_log.note(tx, TOKEN_REMOVED, who, user_id=user_id)

        await self._db.transaction(work)

    async def _project(self, user_id: int, scope: str, reference: str) -> int | None:
        if scope != "project" or not reference.strip():
            return None
        return await statements.find_owned_project(self._db, user_id, reference.strip())

    def _hash(self, text: str) -> bytes:
        return self._secrets.digest("api_token", text)


def _mistakes(name: str, scope: str, days: str) -> dict[str, list[str]]:
    errors: dict[str, list[str]] = {}
    if not 1 <= len(name.strip()) <= MAX_NAME or not name.strip().isprintable():
        errors["name"] = [_("Use 1 to %(maximum)s characters.", maximum=MAX_NAME)]
    if scope not in SCOPES:
        errors["scope"] = [_("Choose one of the scopes.")]
    if days and not (days.isascii() and days.isdigit() and len(days) < 6 and 1 <= int(days) <= MAX_DAYS):
        errors["days"] = [_("Use a number from 1 to %(maximum)s.", maximum=MAX_DAYS)]
    return errors
