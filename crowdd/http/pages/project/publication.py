"""Pages that publish and pause a project."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from crowdd.domain.projects.projects import Projects
from crowdd.http import starters
from crowdd.http.html import presenter
from crowdd.http.html.forms import Forms
from crowdd.http.html.qr_codes import QrCode, qr_code
from crowdd.http.pages.project.views import ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.languages import _


class PublishPublic(ProjectPublic):
    """``trial_answers`` is how many answers are deleted when the project is published."""

    csrf: str
    try_link: str | None
    answers_wanted: dict[str, int]
    trial_answers: int


class PublishPrivate(ProjectPrivate):
    """``qr`` is the code of a published project's address, ``asked`` what a presenter made of a template asks."""

    qr: QrCode | None
    asked: starters.Asked | None


class PublishingPages:
    """``/project/<short_name>/publish``, ``pause`` and ``trylink``."""

    def __init__(self, projects: Projects, forms: Forms, views: ProjectViews) -> None:
        self._projects, self._forms, self._views = projects, forms, views

    def routes(self) -> Iterator[Route]:
        yield get("/project/<short_name>/publish", locked_out(self.publish_form))
        yield post("/project/<short_name>/publish", locked_out(self.publish))
        yield post("/project/<short_name>/pause", locked_out(self.pause))
        yield post("/project/<short_name>/trylink", locked_out(self.renew_link))

    async def publish_form(self, incoming: Incoming, short_name: str) -> Response:
        row = await self._projects.owned(short_name, incoming.who)
        context = await self._views.context(incoming, row)
        link = self._views.try_link(row)
        wanted = await self._projects.answers_wanted(row, incoming.who)
        trials = max(0, row["n_task_runs"] - wanted.pop("imported")) if row["first_published"] is None else 0
        csrf = self._forms.csrf.token(incoming)
        public = PublishPublic(**context.public, csrf=csrf, try_link=link, answers_wanted=wanted, trial_answers=trials)
        qr = qr_code(self._views.address(row)) if row["published"] else None
        asked = starters.asked(presenter.source(row["info"], "newtask"))
        return Page("project/publish.html", public, PublishPrivate(**context.private, qr=qr, asked=asked))

    async def renew_link(self, incoming: Incoming, short_name: str) -> Response:
        """Replaces the link by which others can try the draft."""
        row = await self._projects.owned(short_name, incoming.who)
        await self._projects.renew_link(row, incoming.who)
        words = _("A new link is ready. The old one no longer works.")
        return Redirect(f"/project/{quote(short_name)}/publish", words)

    async def publish(self, incoming: Incoming, short_name: str) -> Response:
        row = await self._projects.owned(short_name, incoming.who)
        done = await self._projects.publish(row, incoming.who)
        words = _("Project published. Volunteers can find it now.") if done else _("Project already published.")
        onward = "" if incoming.wants_json else "publish"  # there a browser finds what comes next: how to share it
        return Redirect(f"/project/{quote(short_name)}/{onward}", words, "success" if done else "info")

    async def pause(self, incoming: Incoming, short_name: str) -> Response:
        row = await self._projects.owned(short_name, incoming.who)
        done = await self._projects.pause(row, incoming.who)
        words = _("Project paused. Answers in progress still count.") if done else _("The project is not published.")
        return Redirect(f"/project/{quote(short_name)}/", words, "success" if done else "info")
