"""Pages that create a project."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Final, TypedDict
from urllib.parse import quote

from crowdd.core.records.records import Records
from crowdd.features.accounts.validation import Mistakes, as_stored, check_characters, select_mistakes
from crowdd.features.gallery.drafts import Wish, info_for_own_data
from crowdd.features.gallery.gallery import Gallery
from crowdd.features.gallery.shown_templates import GROUP_NAMES, ShownTemplate, show_template
from crowdd.features.gallery.template import Template
from crowdd.features.projects import project_validation
from crowdd.features.projects.project_validation import slug
from crowdd.features.questions.questions import data_page
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.reader_language import locale_of
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import AnonymousError, ConflictError, CostlyTextError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds.project import PROJECT
from crowdd.kinds.questions import asks_opinions
from crowdd.kinds.questions.text_languages import text_in

_FIELDS = ("name", "short_name", "description", "long_description")
_MAX_NAMES: Final = 50  # that are tried for a project without a name of its own


class NewProjectPublic(Titled, WithForm, Message):
    """``errors`` says whether the form has mistakes."""

    errors: bool


class NewProjectPrivate(TypedDict):
    """``groups`` are the titles of groups of templates by their names, ``chosen`` is the template that was sent."""

    chosen: str
    templates: list[ShownTemplate]
    groups: dict[str, str]


class NewProjectPages:
    """``/project/new``. ``own_example`` returns the short name of a requester's copy of an example."""

    def __init__(
        self, records: Records, gallery: Gallery, forms: Forms, own_example: Callable[[Requester, str], Awaitable[str]]
    ) -> None:
        self._records, self._gallery, self._forms, self._own_example = records, gallery, forms, own_example

    def routes(self) -> Iterator[Route]:
        yield get("/project/new", self.form)
        yield post("/project/new", self.create)
        yield post("/project/new/example", self.example)

    async def form(self, incoming: Incoming) -> Response:
        _require_account(incoming)
        return await self._page(incoming, self._forms.blank(incoming, *_FIELDS))

    async def create(self, incoming: Incoming) -> Response:
        """Creates a draft. Missing fields are derived: the short name from the name, the description from the story.

        With ``template``, it has the questions of that template, and everything else may be missing.
        """
        _require_account(incoming)
        if template := incoming.field("template").strip():
            return await self._of_template(incoming, await self._gallery.one(incoming.who, template))
        values = {name: incoming.field(name).strip() for name in _FIELDS}
        values["short_name"] = values["short_name"] or (slug(values["name"]) if values["name"] else "")
        values["short_name"] = as_stored(PROJECT.field("short_name").type, values["short_name"])
        values["description"] = values["description"] or project_validation.first_sentence(values["long_description"])
        wrong = project_validation.mistakes(values["name"], values["short_name"] or "x", values["description"])
        wrong = wrong or await self._created(incoming, values)
        if wrong:
            form = self._forms.refused(incoming, wrong, *_FIELDS)
            return await self._page(incoming, form, MISTAKES)
        return Redirect(
            f"/project/{quote(values['short_name'])}/tasks/taskpresentereditor",
            _("Project created. Others cannot find it until you publish it."),
        )

    async def _of_template(self, incoming: Incoming, template: Template) -> Response:
        """A draft with the questions of a template and no tasks; next come the owner's own data."""
        locale, name = locale_of(incoming), incoming.field("name").strip()
        info = {**info_for_own_data(template, Wish(locale)), "language": locale}
        values: Values = {"description": text_in(template.card.description, locale), "info": info}
        if asks_opinions(info):  # what people say of themselves is for its owner, until they decide otherwise
            values["zip_download"] = False
        wrong: Mistakes = select_mistakes({"name": check_characters(PROJECT.field("name").type, name)})
        title = text_in(template.card.title, locale)
        for called, short_name in [] if wrong else _names(name, title, incoming.who.user_name):
            wrong = await self._created(incoming, {**values, "name": called, "short_name": short_name})
            if not wrong:
                words = _(
                    "Project created with the questions of the template. Add your data: you can change everything"
                    " later."
                )
                return Redirect(f"/project/{quote(short_name)}/{data_page(info)}", words)
        return await self._page(incoming, self._forms.refused(incoming, wrong, *_FIELDS), MISTAKES)

    async def example(self, incoming: Incoming) -> Response:
        """Creates the requester's own copy of an example (``example``), unless they have one, and goes there."""
        short_name = await self._own_example(incoming.who, incoming.field("example"))
        words = _("This is your own copy of the example. Nobody else sees it: try it, and change what you like.")
        return Redirect(f"/project/{quote(short_name)}/", words)

    async def _created(self, incoming: Incoming, values: Values) -> Mistakes:
        try:
            await self._records.create(PROJECT, incoming.who, values)
        except ConflictError as error:
            return project_validation.taken(error)
        except CostlyTextError as error:
            return {error.attribute: [error.sentence]}
        return {}

    async def _page(self, incoming: Incoming, form: Form, message: Message = NO_MESSAGE) -> Response:
        public = NewProjectPublic(title=_("Start a project"), form=form, errors=bool(form["errors"]), **message)
        if incoming.wants_json:
            return Page("project/new.html", public)
        locale = locale_of(incoming)
        templates = await self._gallery.found(incoming.who, "", "", locale)
        private = NewProjectPrivate(
            chosen=incoming.field("template"),
            templates=[show_template(each, locale) for each in templates],
            groups=GROUP_NAMES,
        )
        return Page("project/new.html", public, private)


def _names(name: str, title: str, user_name: str) -> Iterator[tuple[str, str]]:
    """Names and short names to try in turn: the owner's own only, or the title of a template and some like it."""
    if name:
        yield name, slug(name)
        return
    yield title, slug(title)
    for number in range(1, _MAX_NAMES):
        other = f"{title} ({user_name}{f' {number}' if number > 1 else ''})"
        yield other, slug(other)


def _require_account(incoming: Incoming) -> None:
    if incoming.who.acting_user is None:
        raise AnonymousError(_("Sign in first."))
