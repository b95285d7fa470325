"""The lock in front of a project."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from crowdd.domain.projects.projects import Projects
from crowdd.http.auth.cookies import Cookies
from crowdd.http.html.forms import Forms, local
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.languages import _

UNLOCKED_SECONDS = 1800


class PasswordPages:
    """Opens a locked project in one browser."""

    def __init__(self, projects: Projects, forms: Forms, cookies: Cookies) -> None:
        self._projects, self._forms, self._cookies = projects, forms, cookies

    def routes(self) -> Iterator[Route]:
        yield get("/project/<short_name>/password", self.password_form)
        yield post("/project/<short_name>/password", self.password)

    async def password_form(self, incoming: Incoming, short_name: str) -> Response:
        return self._password_page(incoming, short_name, self._forms.blank(incoming, "password"))

    async def password(self, incoming: Incoming, short_name: str) -> Response:
        """Opens the project in this browser for half an hour."""
        lock = await self._projects.lock_opened_by(short_name, incoming.field("password"), incoming.who)
        if lock is None:
            wrong = {"password": [_("This password is wrong. Try again.")]}
            form = self._forms.refused(incoming, wrong, "password")
            return self._password_page(incoming, short_name, form, flash=wrong["password"][0], status="error")
        self._cookies.unlock(incoming, lock, UNLOCKED_SECONDS)
        return Redirect(local(incoming.query.get("next", ""), f"/project/{quote(short_name)}/"))

    def _password_page(self, incoming: Incoming, short_name: str, form: dict[str, Any], **said: Any) -> Response:
        project = {"name": short_name, "short_name": short_name}
        return Page("project/password.html", title=_("Password"), project=project, form=form, **said)
