"""/api/token: the requester's tokens for the APIs of providers (interface: provider-tokens)."""

from __future__ import annotations

from collections.abc import Iterator

from crowdd.features.signin.providers import PROVIDERS
from crowdd.features.signin.social_login import SocialLogin
from crowdd.http.operation import Audience, Operation, Parameter, Schema
from crowdd.http.request import Incoming
from crowdd.http.responses import JsonResponse, Response
from crowdd.http.routing import Route, get
from crowdd.kernel.errors import AnonymousError, NotFoundError

_TOKEN: Schema = {
    "type": "object",
    "properties": {"oauth_token": {"type": "string"}},
    "required": ["oauth_token"],
    "additionalProperties": False,
}
_TOKENS: Schema = {
    "type": "object",
    "properties": {f"{name}_token": _TOKEN for name in PROVIDERS},
    "additionalProperties": False,
}
_ALL = Operation(
    name="tokens",
    section="tokens",
    summary="Read your tokens for the APIs of all providers",
    about="Contains only providers that you have signed in with.",
    answer=_TOKENS,
    refusals=(AnonymousError,),
    audience=Audience.SIGNED_IN,
)
_ONE = Operation(
    name="token",
    section="tokens",
    summary="Read your token for the API of one provider",
    parameters=(
        Parameter("provider", {"type": "string", "enum": list(PROVIDERS)}, "google, github or orcid.", where="path"),
    ),
    answer=_TOKENS,
    refusals=(AnonymousError, NotFoundError),
    audience=Audience.SIGNED_IN,
)


class TokensApi:
    """/api/token and /api/token/<provider>."""

    def __init__(self, social_login: SocialLogin) -> None:
        self._social_login = social_login

    def routes(self) -> Iterator[Route]:
        yield get("/api/token", self.all, endpoint="token", operation=_ALL, action="everything")
        yield get("/api/token/<provider>", self.one, endpoint="token", operation=_ONE, action="everything")

    async def all(self, incoming: Incoming) -> Response:
        return JsonResponse(await self._tokens(incoming))

    async def one(self, incoming: Incoming, provider: str) -> Response:
        name = f"{provider}_token"
        tokens = await self._tokens(incoming)
        if name not in tokens:
            raise NotFoundError("404 Not Found")
        return JsonResponse({name: tokens[name]})

    async def _tokens(self, incoming: Incoming) -> dict[str, dict[str, str]]:
        if incoming.who.acting_user is None:
            raise AnonymousError("Only signed-in users have tokens.")
        return await self._social_login.tokens(incoming.who.acting_user)
