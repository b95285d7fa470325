"""The settings of a project, and its secret key for external users."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from crowdd.features.projects import starters
from crowdd.features.projects.ownership import Ownership, SettingsOverview
from crowdd.features.projects.project_validation import MAX_SKIPS
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import ProjectPage, ProjectSettings
from crowdd.features.projects.serializers import person
from crowdd.features.projects.views import ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values
from crowdd.kinds.gold_shares import GOLD_SHARES
from crowdd.kinds.project import PROJECT
from crowdd.kinds.questions.mark_types import MAX_MARKS, MAX_RAISED_MARKS
from crowdd.kinds.task_run import MAX_ANSWER_BYTES, MAX_RAISED_BYTES
from crowdd.kinds.types import Integer

# Each limit of the form: its key of info, how much of it one is, and from what to what it goes.
_LIMITS = {
    "max_answer_kb": ("max_answer_bytes", 1000, MAX_ANSWER_BYTES // 1000, MAX_RAISED_BYTES // 1000),
    "max_marks": ("max_marks", 1, MAX_MARKS, MAX_RAISED_MARKS),
    "skip_limit": ("skip_limit", 1, 0, MAX_SKIPS),
}


class SettingsPublic(ProjectPublic, WithForm, Message):
    max_answer_bytes: int
    max_marks: int
    skip_limit: int


class SettingsPrivate(ProjectPrivate):
    """``deletes``: whether the requester may delete the project; ``asked``: what a presenter of a template asks.

    ``proved``: whether the session has a recent proof, so that what needs one can be shown.
    ``has_gold``: whether it has gold tasks; ``gold_rate``: how many volunteers get where the owner has not chosen.
    """

    coowners: list[Values]
    locked: bool
    deletes: bool
    proved: bool
    now: ProjectSettings
    asked: starters.Asked | None
    has_gold: bool
    gold_rate: float


class ProjectSettingsPages:
    """``/project/<short_name>/settings`` and ``…/resetsecretkey``."""

    def __init__(
        self,
        projects: Projects,
        ownership: Ownership,
        overview: SettingsOverview,
        forms: Forms,
        views: ProjectViews,
    ) -> None:
        self._projects, self._ownership, self._overview = projects, ownership, overview
        self._forms, self._views = forms, views

    def routes(self) -> Iterator[Route]:
        yield get("/project/<short_name>/settings", locked_out(self.settings))
        yield post("/project/<short_name>/settings", locked_out(self.update))
        yield post("/project/<short_name>/resetsecretkey", locked_out(self.reset_secret_key), manages=True)

    async def settings(self, incoming: Incoming, short_name: str) -> Response:
        """The keys of the project's page, for its owners (interface: page-settings)."""
        row = await self._projects.owned(short_name, incoming.who)
        return await self._page(incoming, row, self._forms.filled(incoming, **_stored(row)))

    async def update(self, incoming: Incoming, short_name: str) -> Response:
        """Sets the limits that are sent: ``max_answer_kb``, ``max_marks``, ``skip_limit``."""
        row = await self._projects.owned(short_name, incoming.who)
        limits, wrong = {}, {}
        for name in [name for name in _LIMITS if name in incoming.form] or ["max_answer_kb"]:
            key, factor, minimum, maximum = _LIMITS[name]
            try:
                limits[key] = Integer(minimum=minimum, maximum=maximum).parse(incoming.field(name)) * factor
            except InvalidValueError:
                at_least, at_most = f"{minimum:,}", f"{maximum:,}"
                words = _("Enter a whole number from %(minimum)s to %(maximum)s.", minimum=at_least, maximum=at_most)
                wrong[name] = [words]
        if wrong:
            return await self._refused(incoming, row, wrong)
        await self._projects.tell(row, limits, incoming.who)
        return Redirect(f"/project/{quote(short_name)}/settings", _("The maximum size of answers has been changed."))

    async def _refused(self, incoming: Incoming, row: ProjectPage, wrong: dict[str, list[str]]) -> Response:
        """The page with the refused form as it was sent."""
        return await self._page(incoming, row, self._forms.refused(incoming, wrong, *_LIMITS), MISTAKES)

    async def _page(self, incoming: Incoming, row: ProjectPage, form: Form, message: Message = NO_MESSAGE) -> Response:
        context = await self._views.context(incoming, row)
        owners = await self._ownership.owners(row)
        shown = [person(each) | {"is_creator": each["is_creator"]} for each in owners]
        public = SettingsPublic(
            **context.public,
            **message,
            form=form,
            max_answer_bytes=_max_answer_bytes(row),
            max_marks=_max_marks(row),
            skip_limit=_skip_limit(row),
        )
        private = SettingsPrivate(
            **context.private,
            coowners=shown,
            locked=row["lock_id"] is not None,
            deletes=bool(row["roles"] & PROJECT.rights.delete),
            proved=incoming.who.proved,
            now=await self._overview.current(row, incoming.who),
            asked=starters.asked(str(row["info"].get("task_presenter") or "")),
            has_gold=row["has_gold"],
            gold_rate=GOLD_SHARES["gold_rate"].default,
        )
        return Page("project/settings.html", public, private)

    async def reset_secret_key(self, incoming: Incoming, short_name: str) -> Response:
        row = await self._projects.owned(short_name, incoming.who)
        await self._ownership.reset_secret_key(row, incoming.who)
        words = _("The project has a new secret key. Tokens signed with the old one no longer work.")
        return Redirect(f"/project/{quote(short_name)}/settings", words)


def _stored(row: ProjectPage) -> Values:
    limits = {"max_answer_kb": _max_answer_bytes(row) // 1000, "max_marks": _max_marks(row)}
    return {**limits, "skip_limit": _skip_limit(row)}


def _skip_limit(row: ProjectPage) -> int:
    limit = row["info"].get("skip_limit")
    return limit if isinstance(limit, int) else 0


def _max_marks(row: ProjectPage) -> int:
    raised = row["info"].get("max_marks")
    return raised if isinstance(raised, int) and raised else MAX_MARKS


def _max_answer_bytes(row: ProjectPage) -> int:
    raised = row["info"].get("max_answer_bytes")
    return raised if isinstance(raised, int) and raised else MAX_ANSWER_BYTES
