"""The strength of a password while it is being chosen."""

from __future__ import annotations

from collections.abc import Iterator

import orjson

from crowdd.domain.accounts.authentication.password_policy import PasswordPolicy
from crowdd.domain.accounts.authentication.password_strength import Strength
from crowdd.http.html.locales import locale_of
from crowdd.http.html.presenter import api_headers
from crowdd.http.request import Incoming
from crowdd.http.responses import BytesResponse, Response
from crowdd.http.routing import Route, post
from crowdd.languages import Languages, _


class StrengthPages:
    """/account/password-strength: what the meter beside a password field shows. Nothing is stored."""

    def __init__(self, policy: PasswordPolicy, languages: Languages) -> None:
        self._policy, self._languages = policy, languages

    def routes(self) -> Iterator[Route]:
        yield post("/account/password-strength", self.assess)

    async def assess(self, incoming: Incoming) -> Response:
        """``score`` from 0 to 4, whether it is ``acceptable``, and ``words`` in the reader's language."""
        password, who = incoming.field("password"), incoming.who
        about = [incoming.field(name) for name in ("name", "fullname", "email_addr")] + [who.user_name, who.fullname]
        strength, min_length = await self._policy.assess(password, about), self._policy.min_length
        locale = locale_of(incoming)
        words = [self._languages.say(sentence, locale) for sentence in advice(strength, password, min_length)]
        acceptable = len(password) >= min_length and not strength.mistakes
        score = strength.score if acceptable else min(strength.score, 1)
        body = orjson.dumps({"score": score, "acceptable": acceptable, "words": " ".join(words)})
        return BytesResponse(body, "application/json", headers={**api_headers(), "Cache-Control": "no-store"})


def advice(strength: Strength, password: str, min_length: int) -> list[str]:
    """Advice about a password: why it is refused, otherwise how to improve it, otherwise that it is good."""
    if len(password) < min_length:
        return [_("Use %(num)s characters or more.", num=min_length), *strength.advice]
    if strength.mistakes:
        return list(dict.fromkeys([*strength.mistakes, *strength.advice]))
    return (
        [_("This is a good password.")]
        if strength.score >= 3
        else [_("This password is acceptable."), *strength.advice]
    )
