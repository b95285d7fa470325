"""The password of a locked project."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from crowdd.domain.projects.projects import Projects
from crowdd.http.auth.cookies import Cookies
from crowdd.http.html.forms import Form, Forms, WithForm, local
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.languages import _

UNLOCKED_SECONDS = 1800


class PasswordPublic(Titled, WithForm, Message):
    project: dict[str, str]


class PasswordPages:
    """Opens a locked project in one browser."""

    def __init__(self, projects: Projects, forms: Forms, cookies: Cookies) -> None:
        self._projects, self._forms, self._cookies = projects, forms, cookies

    def routes(self) -> Iterator[Route]:
        yield get("/project/<short_name>/password", self.password_form)
        yield post("/project/<short_name>/password", self.password)

    async def password_form(self, incoming: Incoming, short_name: str) -> Response:
        return self._password_page(short_name, self._forms.blank(incoming, "password"))

    async def password(self, incoming: Incoming, short_name: str) -> Response:
        """Opens the project in this browser for half an hour."""
        lock = await self._projects.lock_opened_by(short_name, incoming.field("password"), incoming.who)
        if lock is None:
            wrong = {"password": [_("This password is wrong. Try again.")]}
            form = self._forms.refused(incoming, wrong, "password")
            return self._password_page(short_name, form, Message(flash=wrong["password"][0], status="error"))
        self._cookies.unlock(incoming, lock, UNLOCKED_SECONDS)
        return Redirect(local(incoming.query.get("next", ""), f"/project/{quote(short_name)}/"))

    def _password_page(self, short_name: str, form: Form, message: Message = NO_MESSAGE) -> Response:
        project = {"name": short_name, "short_name": short_name}
        public = PasswordPublic(title=_("Password"), project=project, form=form, **message)
        return Page("project/password.html", public)
