"""/api/commenting/sso: single sign-on at a commenting provider (interface: commenting-sso)."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Callable, Iterator

import orjson

from crowdd.features.accounts.accounts import Accounts
from crowdd.http.operation import Operation, closed_object
from crowdd.http.request import Incoming
from crowdd.http.responses import JsonResponse, Response
from crowdd.http.routing import Route, get
from crowdd.kernel.config.accounts import CommentingSettings
from crowdd.kernel.errors import NotFoundError
from crowdd.kernel.values import Values

_SSO = Operation(
    name="commenting_sign_on",
    section="commenting",
    summary="Sign the caller in at a commenting provider",
    about="Returns a signed message about the caller. 404 if the operator has not configured the provider's keys.",
    answer=closed_object(api_key={"type": "string"}, remote_auth_s3={"type": "string"}),
    refusals=(NotFoundError,),
)


class CommentingSso:
    """/api/commenting/sso, which works while keys are configured."""

    def __init__(self, settings: CommentingSettings, accounts: Accounts, seconds: Callable[[], float]) -> None:
        self._settings, self._accounts, self._seconds = settings, accounts, seconds

    def routes(self) -> Iterator[Route]:
        yield get("/api/commenting/sso", self.sso, endpoint="commenting", operation=_SSO, action="everything")

    async def sso(self, incoming: Incoming) -> Response:
        """``api_key`` and ``remote_auth_s3``: the requester in base64, its HMAC-SHA1 with the time, the time."""
        if not (self._settings.public_key and self._settings.secret_key):
            raise NotFoundError(
                "404 Not Found", code="not_configured", hint="Set [commenting] public_key and secret_key."
            )
        message = base64.b64encode(orjson.dumps(await self._person(incoming))).decode()
        now = str(int(self._seconds()))
        key = self._settings.secret_key.encode()
        signature = hmac.new(key, f"{message} {now}".encode(), hashlib.sha1).hexdigest()
        return JsonResponse({"api_key": self._settings.public_key, "remote_auth_s3": f"{message} {signature} {now}"})

    async def _person(self, incoming: Incoming) -> Values:
        if incoming.who.acting_user is None:
            return {}
        row = await self._accounts.profile(incoming.who.acting_user)
        return {"id": row["id"], "username": row["name"], "email": row["email_addr"]}
