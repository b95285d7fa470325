"""Volunteers of another user base: tokens that a project's secret key buys (RFC 7519, HS256 only).

Tokens are signed with a key derived from the secret key and this server's own secret: who knows the secret key can ask
for tokens as long as it is the project's, and can make none.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from datetime import timedelta
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from crowdd.core.secrets import Secrets, place
from crowdd.database.access import Database, now
from crowdd.features.projects import statements
from crowdd.features.projects.rows import CurrentProjectKey
from crowdd.kernel.concurrency.batching import Batcher, BatcherFactory
from crowdd.kernel.errors import NOT_FOUND, AnonymousError, ForbiddenError, InvalidRequestError, NotFoundError
from crowdd.kernel.lazy import lazy

if TYPE_CHECKING:
    import jwt
else:
    jwt = lazy("jwt")

_CLAIMS: Any = {"require": ["project_id", "short_name", "iat", "exp"], "verify_exp": False, "verify_iat": False}


class ExternalUsers:
    """Gives tokens out and checks them. ``hours`` is the life of a token.

    ``open_reads``: everybody may ask how far an external user is.
    """

    def __init__(
        self, db: Database, new_batcher: BatcherFactory, secrets: Secrets, hours: int, *, open_reads: bool
    ) -> None:
        self._db, self._secrets, self._life, self.open_reads = db, secrets, timedelta(hours=hours), open_reads
        self._keys: Batcher[int, CurrentProjectKey | None] = new_batcher(partial(statements.list_secret_keys, db))

    async def token(self, short_name: str, secret_key: str | None, uid: str | None = None) -> str:
        """A token in exchange for the project's secret key; with ``uid`` it is for this external user only.

        Raises ForbiddenError without a key, NotFoundError for a wrong key and an unknown project alike, and
        InvalidRequestError without ``uid`` where the project demands tokens that name their external user.
        """
        if not secret_key:
            raise ForbiddenError(
                "The Authorization header with the project's secret key is missing.", code="key_missing"
            )
        row = await statements.find_secret_key(self._db, short_name)
        key = self._secrets.decrypt(row["secret_key_encrypted"], _place(row["id"])) if row else ""
        if row is None or not hmac.compare_digest(key.encode(), secret_key.encode("utf-8", "surrogatepass")):
            raise NotFoundError(NOT_FOUND)
        if uid is None and row["token_per_volunteer"]:
            raise InvalidRequestError("Send external_uid: each token of this project is for one external user.")
        issued = await now(self._db)
        claims = {"project_id": row["id"], "short_name": row["short_name"], "iat": issued, "exp": issued + self._life}
        claims |= {} if uid is None else {"external_uid": uid}
        return jwt.encode(claims, signing_key(self._secrets, key), algorithm="HS256")

    async def verify(self, bearer: str | None, project_id: int, uid: str) -> str | None:
        """Passes when the token ``bearer`` was made for the project and the user, and has not expired.

        Returns the project's draft key, None once it was published. The code of the AnonymousError says what is wrong.
        """
        if bearer is None:
            raise AnonymousError("An external user needs Authorization: Bearer <token>.", code="invalid_header")
        row = await self._keys.add(project_id)
        if row is None:
            raise NotFoundError(NOT_FOUND)
        claims = _claims(self._secrets, bearer, bytes(row["secret_key_encrypted"]), row["id"])
        if claims["project_id"] != row["id"] or claims["short_name"] != row["short_name"]:
            raise AnonymousError("The token was made for another project.", code="wrong_project")
        if not claims["exp"] > row["now"]:
            raise AnonymousError("The token has expired.", code="token_expired", hint="Request a new one.")
        _require_user(claims, uid, named=row["token_per_volunteer"])
        return None if row["draft_key"] is None else str(row["draft_key"])


def signing_key(secrets: Secrets, secret_key: str) -> bytes:
    """The key that signs a project's tokens."""
    return secrets.digest("external token", secret_key)


def _require_user(claims: Mapping[str, object], uid: str, *, named: bool) -> None:
    """Passes for the user whom a token names, and for everybody when it may name none."""
    if named and "external_uid" not in claims:
        hint = "Ask for a token with external_uid."
        raise AnonymousError("The token does not name an external user.", code="token_names_nobody", hint=hint)
    if claims.get("external_uid", uid) != uid:
        raise AnonymousError("The token was made for another external user.", code="wrong_external_uid")


def _place(project_id: int) -> str:
    return place("project", "secret_key_encrypted", project_id)


@lru_cache(maxsize=1000)
def _claims(secrets: Secrets, token: str, encrypted_key: bytes, project_id: int) -> Mapping[str, Any]:
    """What a token says that was made with this key; remembered, since each request of its users brings it again."""
    bad = AnonymousError("The token is not valid for this project.", code="decode_error")
    try:
        key = signing_key(secrets, secrets.decrypt(encrypted_key, _place(project_id)))
        claims = dict(jwt.decode(token, key, algorithms=["HS256"], options=_CLAIMS))
    except jwt.PyJWTError:
        raise bad from None
    if not isinstance(claims["exp"], int | float):
        raise bad
    return claims
