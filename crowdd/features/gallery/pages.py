"""The pages of the gallery: find, try and use templates, save a project as one, and keep or remove its sample tasks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, Final, TypedDict
from urllib.parse import quote, urlencode

import attrs

from crowdd.core.text.picture_addresses import FILES_AT
from crowdd.core.uploads import DOWNLOAD, TYPES
from crowdd.database.access import Row
from crowdd.features.gallery.drafts import Wish, use_in
from crowdd.features.gallery.gallery import MAX_OWN, Gallery, Listed
from crowdd.features.gallery.saving import SAMPLES, TemplateMaker
from crowdd.features.gallery.shown_templates import GROUP_NAMES, ShownTemplate, show_template
from crowdd.features.gallery.template import GROUPS, Template
from crowdd.features.presenters.frames import PresenterFrames
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.views import ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.features.tasks.sample_tasks import SampleTasks
from crowdd.http.edge import downloads
from crowdd.http.errors import message_of
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm, local
from crowdd.http.html.frames import upload_headers
from crowdd.http.reader_language import locale_of
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, BytesResponse, FileResponse, Message, Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import FormError, InvalidValueError, NotFoundError, TooLargeError
from crowdd.kernel.languages import _, ngettext
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds.questions.text_languages import text_in

EXAMPLES: Final = {
    "digits": (_("Handwritten digits"), _("200 pictures of digits, and a page of HTML that shows them.")),
    "ducks": (_("Ducks and boats"), _("12 pictures of a lake, to draw boxes on.")),
    "diary": (_("A sailor’s diary"), _("12 pages to transcribe line by line.")),
    "newspaper": (_("Old newspapers"), _("12 notices in which people, places and dates are marked.")),
    "pond": (_("Sounds at a pond"), _("10 recordings with frogs, birds and engines.")),
    "town": (_("Getting into town"), _("A survey in two steps that 30 people answer.")),
    "island": (_("Finds on an island"), _("12 notes to put on a map.")),
}
"""The example projects (``features.gallery.drafts``): a title and what is in them."""
_MAX_SEARCH: Final = 200
_HEADERS: Final = {**upload_headers(), "Accept-Ranges": "bytes", "Cache-Control": "public, max-age=3600"}
_GALLERY_AT: Final = "/templates"


class GalleryPublic(Titled):
    """``text`` and ``group`` are what was asked for."""

    templates: list[ShownTemplate]
    text: str
    group: str


class ForProject(TypedDict):
    """``project`` is the short name of the project that a template is wanted for, "" for a new one."""

    project: str


class GalleryPrivate(ForProject):
    """``groups`` are names with their titles; ``query`` what an address says of the project, with its ?.

    ``examples`` are the example projects by name.
    """

    groups: dict[str, str]
    query: str
    examples: dict[str, tuple[str, str]]


class TemplatePublic(Titled, WithForm):
    """``card`` is the template as lists show it, ``tasks`` are the ``info`` of its sample tasks."""

    card: ShownTemplate
    questions: Values
    tasks: list[Values]


class TemplatePrivate(ForProject):
    """``shown`` is what the frame is told. ``in_languages`` says whether the questions have texts in several ones."""

    group_title: str
    query: str
    shown: Values
    in_languages: bool
    may_delete: bool


class GalleryPages:
    """``/templates``. ``make_draft`` is ``features.gallery.drafts.make_draft``."""

    def __init__(
        self,
        gallery: Gallery,
        projects: Projects,
        frames: PresenterFrames,
        forms: Forms,
        make_draft: Callable[[Requester, Template, Wish], Awaitable[str]],
    ) -> None:
        self._gallery, self._projects, self._frames, self._forms = gallery, projects, frames, forms
        self._make_draft = make_draft

    def routes(self) -> Iterator[Route]:
        yield get(_GALLERY_AT, self.list)
        yield get(f"{_GALLERY_AT}/<template>", self.one)
        yield post(f"{_GALLERY_AT}/<template>/use", self.use)
        yield post(f"{_GALLERY_AT}/<template>/delete", self.delete)
        yield get(f"{FILES_AT}<template>/<file>", self.file, page=False)

    async def list(self, incoming: Incoming) -> Response:
        """The templates that have the words of ``q``, of the ``group``."""
        text, group = incoming.query.get("q", "").strip()[:_MAX_SEARCH], incoming.query.get("group", "")
        if group and group not in GROUPS:
            raise NotFoundError("404 Not Found")
        project = await self._wanted_for(incoming, incoming.query.get("project", ""))
        templates = await self._gallery.found(incoming.who, text, group, locale_of(incoming))
        public = GalleryPublic(
            title=_("Templates"),
            templates=[show_template(each, locale_of(incoming)) for each in templates],
            text=text,
            group=group,
        )
        private = GalleryPrivate(groups=GROUP_NAMES, project=project, query=_query(project), examples=EXAMPLES)
        return Page("gallery/index.html", public, private)

    async def one(self, incoming: Incoming, template: str) -> Response:
        """A template with its questions to try, or the empty document of their frame."""
        if incoming.is_frame:
            return self._frames.preview(incoming)
        gallery_template, locale = await self._gallery.one(incoming.who, template), locale_of(incoming)
        project = await self._wanted_for(incoming, incoming.query.get("project", ""))
        form: Form = self._forms.blank(incoming)
        public = TemplatePublic(
            title=text_in(gallery_template.card.title, locale),
            card=_shown_one(gallery_template, locale),
            questions=gallery_template.shown(gallery_template.questions),
            tasks=gallery_template.shown(gallery_template.tasks),
            form=form,
        )
        private = TemplatePrivate(
            project=project,
            group_title=GROUP_NAMES[gallery_template.card.group],
            query=_query(project),
            shown=_told(gallery_template, locale),
            in_languages=isinstance(gallery_template.card.title, dict) and len(gallery_template.card.title) > 1,
            may_delete=gallery_template.own or (incoming.who.acting_admin and gallery_template.row_id is not None),
        )
        return Page("gallery/template.html", public, private)

    async def use(self, incoming: Incoming, template: str) -> Response:
        """Makes a draft with the sample tasks. With ``project`` that project gets the questions only.

        ``name`` is a name for the draft, ``languages`` keeps the texts of all languages.
        """
        gallery_template = await self._gallery.one(incoming.who, template)
        wish = Wish(locale_of(incoming), bool(incoming.field("languages")), incoming.field("name").strip())
        if project := incoming.field("project"):
            short_name = await use_in(self._projects, incoming.who, gallery_template, project, wish)
            words = _("The project has the questions of the template now. Check which columns of your tasks they show.")
            return Redirect(f"/project/{quote(short_name)}/tasks/taskpresentereditor?part=questions", words)
        short_name = await self._make_draft(incoming.who, gallery_template, wish)
        words = _("This draft is yours, with sample tasks. Try it, change the questions, and add your own data.")
        return Redirect(f"/project/{quote(short_name)}/", words)

    async def delete(self, incoming: Incoming, template: str) -> Response:
        """Deletes a template of the requester's own. Projects that were made of it stay."""
        await self._gallery.remove(incoming.who, template)
        return Redirect(_GALLERY_AT, _("Template deleted. Projects made from it stay as they are."))

    async def file(self, incoming: Incoming, template: str, file: str) -> Response:
        """A file of a template. It needs no rights, because frames send no cookies; its address cannot be guessed."""
        stored_file = await self._gallery.file(template, file)
        type_ = TYPES.get(Path(file).suffix.lower(), DOWNLOAD)
        size = stored_file.stat().st_size if isinstance(stored_file, Path) else len(stored_file)
        begin, end, status, headers = _part(incoming.header("range"), size)
        if isinstance(stored_file, Path):
            return FileResponse(stored_file, type_, begin, end, status, headers)
        return BytesResponse(stored_file[begin:end], type_, status, headers)

    async def _wanted_for(self, incoming: Incoming, short_name: str) -> str:
        """The short name of the requester's project, "" for none. Raises NotFoundError, ForbiddenError."""
        return (await self._projects.owned(short_name, incoming.who))["short_name"] if short_name else ""


def _shown_one(template: Template, locale: str) -> ShownTemplate:
    card = template.card
    return show_template(
        Listed(
            template.name, card, template.thumbnail, own=template.own, offered=template.offered, owner=template.owner
        ),
        locale,
    )


def _told(template: Template, locale: str) -> Values:
    """What the frame is told: a project, its tasks, and the questions."""
    title = text_in(template.card.title, locale)
    project: dict[str, Any] = {"id": 0, "name": title, "short_name": template.name, "description": "", "info": {}}
    tasks = [
        {"id": number, "project_id": 0, "info": info} for number, info in enumerate(template.shown(template.tasks), 1)
    ]
    return {"project": project, "tasks": tasks, "list": template.shown(template.questions)}


def _query(project: str) -> str:
    return f"?{urlencode({'project': project})}" if project else ""


def _part(wanted: str, size: int) -> tuple[int, int, int, dict[str, str]]:
    """First byte, end, status and headers of the part of a file that a client asks for."""
    try:
        part = downloads.parse_range(wanted, size)
    except ValueError:
        return 0, 0, 416, {**_HEADERS, "Content-Range": f"bytes */{size}"}
    if part is None:
        return 0, size, 200, _HEADERS
    return part[0], part[1], 206, {**_HEADERS, "Content-Range": f"bytes {part[0]}-{part[1] - 1}/{size}"}


_SAVING_AT = "/project/<short_name>/template"
_FIELDS = ("name", "description", "samples")


class SavePublic(ProjectPublic, WithForm, Message):
    """``max_samples`` is how many tasks a template keeps, ``max_own`` how many templates an account may have."""

    max_samples: int
    max_own: int


class SavePrivate(ProjectPrivate):
    """``asks``: the project has a list of questions; ``locked``: it has a password."""

    asks: bool
    locked: bool


@attrs.frozen(eq=False)
class SavingPages:
    """``/project/<short_name>/template`` and ``/project/<short_name>/samples``."""

    _projects: Projects
    _gallery: Gallery
    _maker: TemplateMaker
    _samples: SampleTasks
    _forms: Forms
    _views: ProjectViews

    def routes(self) -> Iterator[Route]:
        yield get(_SAVING_AT, locked_out(self.form))
        yield post(_SAVING_AT, locked_out(self.save))
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
