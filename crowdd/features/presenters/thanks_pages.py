"""The page at the end of the tasks: what this volunteer did, what comes next, and where results appear."""

from __future__ import annotations

from collections.abc import Iterator

from crowdd.features.presenters.thanks import Thanks
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import ChainStep
from crowdd.features.projects.serializers import project_summary
from crowdd.features.projects.views import ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.features.results import result_display
from crowdd.features.results.rows import ResultSummary
from crowdd.http.reader_language import locale_of, text_language
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Response
from crowdd.http.routing import Route, get
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values
from crowdd.kinds.answers import declared
from crowdd.kinds.answers.words import words_of


class ThanksPublic(ProjectPublic):
    """``done`` answers of the requester. ``settled`` of the last ``recent`` have a result; null where that is not told.

    ``readings`` are two of these, and ``projects`` those to go on with; ``steps`` are around this one in its chain.
    """

    done: int
    recent: int
    settled: int | None
    readings: list[Values]
    projects: list[Values]
    steps: list[ChainStep]


class ThanksPrivate(ProjectPrivate):
    """``pictures``: for each of the readings what its picture is looked for among; ``told``: results may be seen.

    ``found``: what the results of the project say together, None for nothing; ``outcomes`` of them.
    """

    pictures: list[list[str]]
    told: bool
    found: ResultSummary | None
    outcomes: list[result_display.ShownOutcome]
    has_news: bool


class ThanksPages:
    """``/project/<short_name>/thanks``."""

    def __init__(self, projects: Projects, thanks: Thanks, views: ProjectViews) -> None:
        self._projects, self._thanks, self._views = projects, thanks, views

    def routes(self) -> Iterator[Route]:
        yield get("/project/<short_name>/thanks", locked_out(self.page))

    async def page(self, incoming: Incoming, short_name: str) -> Response:
        """What the account or browser that sent the request did here (interface: page-thanks)."""
        row = await self._projects.shown(short_name, incoming.who, text_language(incoming))
        work = await self._thanks.own_work(incoming.who, row)
        context = await self._views.context(incoming, row, _("Thank you"))
        public = ThanksPublic(
            **context.public,
            done=work.done,
            recent=work.recent,
            settled=work.settled,
            readings=[{name: value for name, value in one.items() if name != "task_info"} for one in work.readings],
            projects=[project_summary(one) for one in await self._thanks.next_projects(row)],
            steps=await self._thanks.steps(row),
        )
        if incoming.wants_json:
            return Page("project/thanks.html", public)
        asked = result_display.read_asked(row["info"])
        summary, fields = await self._thanks.found(row), declared(row["info"])
        words = words_of(row["info"], locale_of(incoming)).get(fields[0].name) if fields else None
        private = ThanksPrivate(
            **context.private,
            pictures=[result_display.pictures_of(one["task_info"], asked) for one in work.readings],
            told=self._thanks.tells_results(row),
            found=summary,
            outcomes=[result_display.show_outcome(one, words) for one in summary["outcomes"]] if summary else [],
            has_news=bool(row["n_blogposts"]),
        )
        return Page("project/thanks.html", public, private)
