"""Volunteers of another user base: tokens that a project's secret key makes (RFC 7519, HS256 only)."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from datetime import timedelta
from functools import lru_cache, partial
from typing import Any

import jwt

from crowdd.domain.gather import Gather, Gathering
from crowdd.domain.records import NOT_FOUND
from crowdd.domain.secrets import Secrets, place
from crowdd.errors import AnonymousError, ForbiddenError, NotFoundError
from crowdd.storage import projects
from crowdd.storage.database import Database, Row, one

_CLAIMS: Any = {"require": ["project_id", "short_name", "iat", "exp"], "verify_exp": False, "verify_iat": False}


class ExternalUsers:
    """Gives tokens out and checks them. ``hours`` is the life of a token."""

    def __init__(self, db: Database, gathering: Gathering, secrets: Secrets, hours: int) -> None:
        self._db, self._secrets, self._life = db, secrets, timedelta(hours=hours)
        self._keys: Gather[int, Row] = gathering(partial(projects.secret_keys, db))

    async def token(self, short_name: str, secret_key: str | None) -> str:
        """A token for whoever knows the project's secret key.

        Raises ForbiddenError without a key, NotFoundError for a wrong key and an unknown project alike.
        """
        if not secret_key:
            raise ForbiddenError(
                "The Authorization header with the project's secret key is missing.", code="key_missing"
            )
        row = await projects.secret_key(self._db, short_name)
        key = self._secrets.unseal(row["secret_key_sealed"], _place(row["id"])) if row else ""
        if row is None or not hmac.compare_digest(key.encode(), secret_key.encode("utf-8", "surrogatepass")):
            raise NotFoundError(NOT_FOUND)
        now = (await one(self._db, "SELECT clock() AS now"))["now"]
        claims = {"project_id": row["id"], "short_name": row["short_name"], "iat": now, "exp": now + self._life}
        return jwt.encode(claims, key, algorithm="HS256")

    async def verify(self, header: str | None, project_id: int) -> None:
        """Passes when ``Authorization: Bearer <token>`` was made for the project and has not run out.

        Raises AnonymousError whose code says what is wrong with it.
        """
        words = (header or "").split()
        if len(words) != 2 or words[0].lower() != "bearer":
            raise AnonymousError("An external user needs Authorization: Bearer <token>.", code="invalid_header")
        row = await self._keys.add(project_id)
        if row["id"] is None:
            raise NotFoundError(NOT_FOUND)
        claims = _claims(self._secrets, words[1], bytes(row["secret_key_sealed"]), row["id"])
        if claims["project_id"] != row["id"] or claims["short_name"] != row["short_name"]:
            raise AnonymousError("The token was made for another project.", code="wrong_project")
        if not claims["exp"] > row["now"]:
            raise AnonymousError("The token has run out.", code="token_expired", hint="Ask for a new one.")


def _place(project_id: int) -> str:
    return place("project", "secret_key_sealed", project_id)


@lru_cache(maxsize=1000)
def _claims(secrets: Secrets, token: str, sealed_key: bytes, project_id: int) -> Mapping[str, Any]:
    """What a token says that was made with this key; remembered, since each request of its users brings it again."""
    bad = AnonymousError("The token is not valid for this project.", code="decode_error")
    try:
        key = secrets.unseal(sealed_key, _place(project_id))
        claims = dict(jwt.decode(token, key, algorithms=["HS256"], options=_CLAIMS))
    except jwt.PyJWTError:
        raise bad from None
    if not isinstance(claims["exp"], int | float):
        raise bad
    return claims
