"""Pages that create a project."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from urllib.parse import quote

from crowdd.domain.accounts.account_validation import Mistakes
from crowdd.domain.core.records import Records
from crowdd.domain.projects import project_validation
from crowdd.domain.projects.projects import slug
from crowdd.errors import AnonymousError, ConflictError, CostlyTextError
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.kinds.project import PROJECT
from crowdd.languages import _
from crowdd.requester import Requester

_FIELDS = ("name", "short_name", "description", "long_description")


class NewProjectPublic(Titled, WithForm, Message):
    """``errors`` says whether the form has mistakes."""

    errors: bool


class NewProjectPages:
    """``/project/new``. ``own_example`` returns the short name of a requester's copy of the example project."""

    def __init__(self, records: Records, forms: Forms, own_example: Callable[[Requester], Awaitable[str]]) -> None:
        self._records, self._forms, self._own_example = records, forms, own_example

    def routes(self) -> Iterator[Route]:
        yield get("/project/new", self.form)
        yield post("/project/new", self.create)
        yield post("/project/new/example", self.example)

    async def form(self, incoming: Incoming) -> Response:
        _require_account(incoming)
        return self._page(self._forms.blank(incoming, *_FIELDS))

    async def create(self, incoming: Incoming) -> Response:
        """Creates a draft. Missing fields are derived: the short name from the name, the description from the story."""
        _require_account(incoming)
        values = {name: incoming.field(name).strip() for name in _FIELDS}
        values["short_name"] = values["short_name"] or (slug(values["name"]) if values["name"] else "")
        values["description"] = values["description"] or project_validation.first_sentence(values["long_description"])
        wrong = project_validation.mistakes(values["name"], values["short_name"] or "x", values["description"])
        wrong = wrong or await self._created(incoming, values)
        if wrong:
            form = self._forms.refused(incoming, wrong, *_FIELDS)
            return self._page(form, MISTAKES)
        return Redirect(
            f"/project/{quote(values['short_name'])}/tasks/taskpresentereditor",
            _("Project created. Others cannot find it until you publish it."),
        )

    async def example(self, incoming: Incoming) -> Response:
        """Creates the requester's own copy of the example project, unless they have one, and goes there."""
        short_name = await self._own_example(incoming.who)
        words = _("This is your own copy of the example. Nobody else sees it: try it, and change what you like.")
        return Redirect(f"/project/{quote(short_name)}/", words)

    async def _created(self, incoming: Incoming, values: dict[str, str]) -> Mistakes:
        try:
            await self._records.create(PROJECT, incoming.who, values)
        except ConflictError as error:
            return project_validation.taken(error)
        except CostlyTextError as error:
            return {error.attribute: [error.sentence]}
        return {}

    def _page(self, form: Form, message: Message = NO_MESSAGE) -> Response:
        return Page(
            "project/new.html",
            NewProjectPublic(title=_("Start a project"), form=form, errors=bool(form["errors"]), **message),
        )


def _require_account(incoming: Incoming) -> None:
    if incoming.who.acting_user is None:
        raise AnonymousError(_("Sign in first."))
