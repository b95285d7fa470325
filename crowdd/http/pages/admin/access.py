"""Access and form checks for the pages of administrators."""

from __future__ import annotations

from collections.abc import Mapping

from crowdd.domain.core import rights
from crowdd.errors import ConflictError
from crowdd.http.errors import message_of
from crowdd.http.request import Incoming
from crowdd.http.responses import Response
from crowdd.http.routing import Handler
from crowdd.kinds.roles import ADMINS
from crowdd.languages import _

MAX_CHARACTERS = 255


def admins_only(handler: Handler) -> Handler:
    """The handler for administrators only. Others are refused, or sent to sign in, before the handler runs."""

    async def allowed(incoming: Incoming, **names: object) -> Response:
        rights.require(incoming.who, rights.of_requester(incoming.who), ADMINS)
        return await handler(incoming, **names)

    return allowed


def field_errors(incoming: Incoming, maximum: Mapping[str, int | None]) -> dict[str, list[str]]:
    """The mistakes in required fields of a form. ``maximum`` has the greatest number of characters per field."""
    errors: dict[str, list[str]] = {}
    for name, limit in maximum.items():
        text = incoming.field(name).strip()
        if not text:
            errors[name] = [_("Please fill this in.")]
        elif limit is not None and len(text) > limit:
            errors[name] = [_("Use at most %(maximum)s characters.", maximum=limit)]
    return errors


def taken(error: ConflictError) -> dict[str, list[str]]:
    """The mistake for a name that is in use."""
    return {"name": [message_of(error)]}
