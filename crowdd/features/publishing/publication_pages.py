"""Pages that publish and pause a project."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from crowdd.features.projects import starters
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.views import ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.features.publishing import publishing
from crowdd.features.publishing.publishing import PublishingChecks, Readiness, media_columns
from crowdd.features.questions import presenter_contents
from crowdd.features.tasks.sample_tasks import SampleTasks
from crowdd.http import queries
from crowdd.http.html.forms import Forms
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values
from crowdd.kinds.questions import asks_opinions


class PublishPublic(ProjectPublic):
    """``trial_answers`` is how many answers are deleted when the project is published."""

    csrf: str
    try_link: str | None
    answers_wanted: dict[str, int]
    trial_answers: int


class PublishPrivate(ProjectPrivate):
    """``asked`` is what a presenter made of a starter asks, ``n_samples`` how many sample tasks of a template are left.

    ``opinions``: people say something of themselves, so that owners are asked who may see it.
    ``ready``: what is there and how long the answers take, with ``volunteers`` a day as they were typed.
    """

    asked: starters.Asked | None
    ready: Readiness
    volunteers: str
    mistake: str
    n_samples: int
    opinions: bool


class PublishingPages:
    """``/project/<short_name>/publish``, ``pause`` and ``trylink``."""

    def __init__(
        self, projects: Projects, checks: PublishingChecks, samples: SampleTasks, forms: Forms, views: ProjectViews
    ) -> None:
        self._projects, self._checks, self._samples = projects, checks, samples
        self._forms, self._views = forms, views

    def routes(self) -> Iterator[Route]:
        yield get("/project/<short_name>/publish", locked_out(self.publish_form))
        yield post("/project/<short_name>/publish", locked_out(self.publish))
        yield post("/project/<short_name>/pause", locked_out(self.pause))
        yield post("/project/<short_name>/trylink", locked_out(self.renew_link))

    async def publish_form(self, incoming: Incoming, short_name: str) -> Response:
        """The checks, and the estimate with the ``volunteers`` of the query."""
        row = await self._projects.owned(short_name, incoming.who)
        context = await self._views.context(incoming, row)
        link = self._views.try_link(row)
        wanted = await self._projects.answers_wanted(row, incoming.who)
        trials = max(0, row["n_task_runs"] - wanted.pop("imported")) if row["first_published"] is None else 0
        csrf = self._forms.csrf.token(incoming)
        public = PublishPublic(**context.public, csrf=csrf, try_link=link, answers_wanted=wanted, trial_answers=trials)
        asked = starters.asked(presenter_contents.source(row["info"], "newtask"))
        typed = incoming.query.get("volunteers", "").strip() or str(publishing.USUAL_VOLUNTEERS)
        volunteers, mistake = _volunteers(typed)
        ready = await self._checks.of(row, incoming.who, _columns(row["info"], asked), volunteers)
        private = PublishPrivate(
            **context.private,
            asked=asked,
            n_samples=await self._samples.count(row["id"]),
            opinions=asks_opinions(row["info"]) and row["first_published"] is None,
            ready=ready,
            volunteers=typed,
            mistake=mistake,
        )
        return Page("project/publish.html", public, private)

    async def renew_link(self, incoming: Incoming, short_name: str) -> Response:
        """Replaces the link by which others can try the draft."""
        row = await self._projects.owned(short_name, incoming.who)
        await self._projects.renew_link(row, incoming.who)
        words = _("A new link is ready. The old one no longer works.")
        return Redirect(f"/project/{quote(short_name)}/publish", words)

    async def publish(self, incoming: Incoming, short_name: str) -> Response:
        """Publishes. ``samples`` says what becomes of the sample tasks of a template before: ``remove`` or ``keep``.

        ``answers`` says who may see the answers from then on: everybody (``open``) or the owners (``closed``).
        """
        row = await self._projects.owned(short_name, incoming.who)
        if not row["published"]:
            await self._settle_samples(incoming, row["id"])
            if (answers := incoming.field("answers")) in ("open", "closed"):
                await self._projects.open_answers(row, incoming.who, is_open=answers == "open")
        done = await self._projects.publish(row, incoming.who)
        words = _("Project published. Volunteers can find it now.") if done else _("Project already published.")
        onward = "" if incoming.wants_json else "share"  # what comes next, for people
        return Redirect(f"/project/{quote(short_name)}/{onward}", words, "success" if done else "info")

    async def _settle_samples(self, incoming: Incoming, project_id: int) -> None:
        chosen = incoming.field("samples")
        if chosen == "remove":
            await self._samples.remove(incoming.who, project_id)
        elif chosen == "keep":
            await self._samples.keep(incoming.who, project_id)

    async def pause(self, incoming: Incoming, short_name: str) -> Response:
        row = await self._projects.owned(short_name, incoming.who)
        done = await self._projects.pause(row, incoming.who)
        words = _("Project paused. Answers in progress still count.") if done else _("The project is not published.")
        return Redirect(f"/project/{quote(short_name)}/", words, "success" if done else "info")


def _volunteers(typed: str) -> tuple[int, str]:
    """The number of volunteers that was typed, or the usual one and what is wrong."""
    limits = {"minimum": 1, "maximum": f"{publishing.MAX_VOLUNTEERS:,}"}
    try:
        volunteer_count = queries.parse_number(typed, "volunteers", 0, publishing.MAX_VOLUNTEERS)
    except InvalidValueError:
        volunteer_count = 0
    if volunteer_count:
        return volunteer_count, ""
    return publishing.USUAL_VOLUNTEERS, _("Enter a whole number from %(minimum)s to %(maximum)s.", **limits)


def _columns(info: Values, asked: starters.Asked | None) -> list[str]:
    """The columns of tasks that volunteers see: those of questions, or of a presenter made of a starter."""
    named = [asked.get(name, "") for name in ("picture", "text")] if asked else media_columns(info)
    return [column for column in named if column]
