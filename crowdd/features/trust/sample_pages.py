"""The page of a random sample of results: what it says, drawing more, and deciding its tasks without their results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

from crowdd.features.presenters.frames import PresenterFrames
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.views import ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.features.questions import presenter_contents
from crowdd.features.questions.previews import Preview, Previews
from crowdd.features.tasks.task_list import owns
from crowdd.features.trust.review_pages import KEYS
from crowdd.features.trust.rows import MIN_MEASURED, Recalibration
from crowdd.features.trust.sampling import Sampling
from crowdd.http import queries
from crowdd.http.auth.csrf import Csrf
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import InvalidValueError, PreconditionError
from crowdd.kernel.languages import _, ngettext
from crowdd.kernel.values import Values
from crowdd.kinds.kind import outward

_AT: Final = "/project/<short_name>/sample"
USUAL: Final = 200
"""So many results are offered to be drawn: the interval is then about three points to each side."""


class SamplePublic(ProjectPublic):
    """``sample``: what it says so far. ``task`` is the next one, None when all are decided. ``rest`` can be drawn:
    more than one draw takes are not counted.

    ``recalibration``: the curve by which confidence is measured, None while too few results are decided.
    """

    sample: Values
    choices: list[object]
    task: Values | None
    rest: int
    recalibration: Recalibration | None
    csrf: str


class SamplePrivate(ProjectPrivate):
    """``keys`` has a key for each class. ``preview`` is what the frame is told, with the ``source`` of its page.

    ``needed``: so many decided results measure confidence.
    """

    owns: bool
    keys: list[str]
    preview: Preview | None
    source: str
    usual: int
    needed: int


class SamplePages:
    """``/project/<short_name>/sample``."""

    def __init__(
        self,
        projects: Projects,
        sampling: Sampling,
        previews: Previews,
        frames: PresenterFrames,
        csrf: Csrf,
        views: ProjectViews,
    ) -> None:
        self._projects, self._sampling, self._previews = projects, sampling, previews
        self._frames, self._csrf, self._views = frames, csrf, views

    def routes(self) -> Iterator[Route]:
        yield get(_AT, locked_out(self.page))
        yield post(_AT, locked_out(self.draw))
        yield post(f"{_AT}/<int:task_id>", locked_out(self.decide))

    async def page(self, incoming: Incoming, short_name: str) -> Response:
        """What experts have said so far, and the next task."""
        if incoming.is_frame:
            return self._frames.preview(incoming)
        row = await self._projects.page(short_name, incoming.who)
        choices = await self._sampling.choices(row)
        figures = await self._sampling.figures(incoming.who, row, len(choices))
        task = await self._sampling.next(incoming.who, row)
        curve = await self._sampling.recalibration(row)
        context = await self._views.context(incoming, row, _("Random sample"))
        public = SamplePublic(
            **context.public,
            sample={**figures, "since": outward(figures["since"])},
            choices=choices,
            task=task,
            rest=await self._sampling.rest(row),
            recalibration=curve,
            csrf=self._csrf.token(incoming),
        )
        private = SamplePrivate(
            **context.private,
            owns=owns(row),
            keys=list(KEYS[: len(choices)]),
            preview=None if task is None else self._previews.of_task(row, task),
            source=presenter_contents.source(row["info"], "task"),
            usual=USUAL,
            needed=MIN_MEASURED,
        )
        return Page("project/sample.html", public, private)

    async def draw(self, incoming: Incoming, short_name: str) -> Response:
        """Draws ``n`` further results."""
        row = await self._projects.page(short_name, incoming.who)
        try:
            n = queries.parse_number(incoming.field("n").strip(), "n", 0)
            drawn = await self._sampling.draw(incoming.who, row, n)
        except InvalidValueError as error:
            return Redirect(_at(short_name), error.args[0], "error")
        words = ngettext("%(num)s result was drawn.", "%(num)s results were drawn.", drawn)
        return Redirect(_at(short_name), words, "success" if drawn else "info")

    async def decide(self, incoming: Incoming, short_name: str, task_id: int) -> Response:
        """Stores the ``class`` that an expert says; then comes the next task."""
        row = await self._projects.page(short_name, incoming.who)
        class_ = queries.parse_number(incoming.field("class"), "class", 0, 50)
        try:
            await self._sampling.decide(incoming.who, row, task_id, class_)
        except PreconditionError as error:
            return Redirect(_at(short_name), error.args[0], "warning")
        return Redirect(_at(short_name), _("Your decision is stored."))


def _at(short_name: str) -> str:
    return f"/project/{quote(short_name)}/sample"
