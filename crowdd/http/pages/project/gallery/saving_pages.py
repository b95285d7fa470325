"""What owners do about templates: save a project as one, and remove or keep the sample tasks of one."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from crowdd.domain.projects.projects import Projects
from crowdd.domain.transfer.gallery.gallery import MAX_OWN, Gallery
from crowdd.domain.transfer.gallery.sample_tasks import SampleTasks
from crowdd.domain.transfer.gallery.saving import SAMPLES, TemplateMaker
from crowdd.errors import FormError, InvalidValueError, TooLargeError
from crowdd.http.errors import message_of
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm, local
from crowdd.http.pages.project.views import ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.languages import _, ngettext
from crowdd.storage.database import Row

_AT = "/project/<short_name>/template"
_FIELDS = ("name", "description", "samples")


class SavePublic(ProjectPublic, WithForm, Message):
    """``max_samples`` is how many tasks a template keeps, ``max_own`` how many templates an account may have."""

    max_samples: int
    max_own: int


class SavePrivate(ProjectPrivate):
    """``asks``: the project has a list of questions; ``locked``: it has a password."""

    asks: bool
    locked: bool


class SavingPages:
    """``/project/<short_name>/template`` and ``/project/<short_name>/samples``."""

    def __init__(
        self,
        projects: Projects,
        gallery: Gallery,
        maker: TemplateMaker,
        samples: SampleTasks,
        forms: Forms,
        views: ProjectViews,
    ) -> None:
        self._projects, self._gallery, self._maker, self._samples = projects, gallery, maker, samples
        self._forms, self._views = forms, views

    def routes(self) -> Iterator[Route]:
        yield get(_AT, locked_out(self.form))
        yield post(_AT, locked_out(self.save))
        yield post("/project/<short_name>/samples", locked_out(self.samples))

    async def form(self, incoming: Incoming, short_name: str) -> Response:
        row = await self._projects.owned(short_name, incoming.who)
        form = self._forms.filled(incoming, name=row["name"], description=row["description"], samples="y")
        return await self._page(incoming, row, form)

    async def save(self, incoming: Incoming, short_name: str) -> Response:
        """Saves the project as a template of the requester's own (``name``, ``description``, ``samples``)."""
        row = await self._projects.owned(short_name, incoming.who)
        try:
            name = await self._saved(incoming, row)
        except FormError as error:
            form = self._forms.refused(incoming, error.errors, *_FIELDS)
            return await self._page(incoming, row, form, MISTAKES)
        return Redirect(f"/templates/{quote(name)}", _("Template saved. Only you and administrators see it."))

    async def _saved(self, incoming: Incoming, row: Row) -> str:
        """The name of the new template. Raises FormError."""
        samples = bool(incoming.field("samples"))
        texts = (incoming.field("name"), incoming.field("description"))
        try:
            new = await self._maker.of_project(incoming.who, row, *texts, samples=samples)
        except (InvalidValueError, TooLargeError) as error:
            raise FormError({"name": [message_of(error)]}) from None
        return await self._gallery.add(incoming.who, new)

    async def samples(self, incoming: Incoming, short_name: str) -> Response:
        """Deletes the sample tasks of the project; with ``keep`` they become tasks like others.

        ``next`` is the page to show afterwards.
        """
        row = await self._projects.owned(short_name, incoming.who)
        if incoming.field("keep"):
            count = await self._samples.keep(incoming.who, row["id"])
            words = ngettext("%(num)s sample task is kept.", "%(num)s sample tasks are kept.", count)
        else:
            count = await self._samples.remove(incoming.who, row["id"])
            words = ngettext("%(num)s sample task deleted.", "%(num)s sample tasks deleted.", count)
        return Redirect(local(incoming.field("next"), f"/project/{quote(row['short_name'])}/tasks/import"), words)

    async def _page(self, incoming: Incoming, row: Row, form: Form, message: Message = NO_MESSAGE) -> Response:
        context = await self._views.context(incoming, row, _("Save as a template"))  # type: ignore[arg-type]
        public = SavePublic(**context.public, form=form, max_samples=SAMPLES, max_own=MAX_OWN, **message)
        asks = row["info"].get("questions") is not None
        private = SavePrivate(**context.private, asks=asks, locked=row["lock_id"] is not None)
        return Page("gallery/save.html", public, private)
