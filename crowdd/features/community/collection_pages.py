"""Collections of tasks (interface: account-collections): a person's own, and those that others published."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import quote

from crowdd.features.accounts.accounts import Accounts
from crowdd.features.community.collections import Collected, Collections
from crowdd.features.signin.views import NamedPrivate, own_account
from crowdd.http import queries
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import FormError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values
from crowdd.kinds.types import missing

_AT = "/account/<name>/collections"
_ONE = f"{_AT}/<int:collection_id>"
_TASK = f"{_ONE}/tasks/<int:task_id>"
_NEW = ("name", "description")


class CollectionsPublic(Titled, WithForm, Message):
    collections: list[Values]


class AddPublic(Titled, WithForm, Message):
    """``task`` is the one to add."""

    task: Values
    collections: list[Values]


class CollectionPublic(Titled, WithForm, Message):
    """``next``: before which item the next page begins."""

    collection: Values
    tasks: list[Values]
    next: int | None


class CollectionPrivate(NamedPrivate):
    address: str


class CollectionPages:
    """``/account/<name>/collections`` and what is below it. A published collection is for everybody."""

    def __init__(self, accounts: Accounts, collections: Collections, forms: Forms, base_url: str) -> None:
        self._accounts, self._collections, self._forms = accounts, collections, forms
        self._base_url = base_url.rstrip("/")

    def routes(self) -> Iterator[Route]:
        yield get(_AT, self.list)
        yield post(_AT, self.create)
        yield get(f"{_AT}/add", self.choose)
        yield post(f"{_AT}/add", self.add)
        yield get(_ONE, self.one)
        yield post(_ONE, self.change)
        yield post(f"{_ONE}/delete", self.delete)
        yield post(_TASK, self.note)
        yield post(f"{_TASK}/remove", self.remove)

    async def list(self, incoming: Incoming, name: str) -> Response:
        """The person's own collections."""
        owner = await self._own(incoming, name)
        return await self._list(incoming, owner, self._forms.blank(incoming, *_NEW))

    async def create(self, incoming: Incoming, name: str) -> Response:
        """Makes a collection."""
        owner = await self._own(incoming, name)
        try:
            made = await self._collections.create(incoming.who, *(incoming.field(field) for field in _NEW))
        except FormError as error:
            return await self._list(incoming, owner, self._forms.refused(incoming, error.errors, *_NEW), MISTAKES)
        return Redirect(_path(owner, made), _("The collection has been created."))

    async def choose(self, incoming: Incoming, name: str) -> Response:
        """Asks into which collection the task with the id ``task_id`` goes."""
        owner = await self._own(incoming, name)
        form = self._forms.filled(incoming, collection_id="", name="", note="")
        return await self._choose(incoming, owner, incoming.query.get("task_id", ""), form)

    async def add(self, incoming: Incoming, name: str) -> Response:
        """Adds the task to a new collection with the name in the form, or to the one that was chosen."""
        owner = await self._own(incoming, name)
        task_id, new = incoming.field("task_id"), incoming.field("name").strip()
        chosen = "" if new else incoming.field("collection_id")
        try:
            into = await self._collections.add_task(
                incoming.who,
                queries.parse_number(task_id, "task_id", 0),
                queries.parse_number(chosen, "collection_id", 0) if chosen else None,
                new,
                incoming.field("note"),
            )
        except FormError as error:
            form = self._forms.refused(incoming, error.errors, "collection_id", "name", "note")
            return await self._choose(incoming, owner, task_id, form, MISTAKES)
        return Redirect(_path(owner, into), _("The task has been added."))

    async def one(self, incoming: Incoming, name: str, collection_id: int) -> Response:
        """The newest tasks of a collection, or those before an item (``before``)."""
        text = incoming.query.get("before", "")
        before = queries.parse_number(text, "before", 0) if text else None
        collection = await self._collections.page(incoming.who, name, collection_id, before)
        return self._one(collection, self._filled(incoming, collection))

    async def change(self, incoming: Incoming, name: str, collection_id: int) -> Response:
        """Renames, describes, publishes or withdraws a collection. What the form does not have stays."""
        owner = await self._own(incoming, name)
        collection = await self._collections.page(incoming.who, owner, collection_id, None)
        stored = collection.row
        texts = incoming.text("name", stored["name"]), incoming.text("description", stored["description"])
        published = incoming.flag("published", stored["published"])
        try:
            await self._collections.change(incoming.who, collection_id, *texts, published)
        except FormError as error:
            form = self._forms.refused(incoming, error.errors, *_NEW, "published")
            return self._one(collection, form, MISTAKES)
        return Redirect(_path(owner, collection_id), _("The collection has been changed."))

    async def delete(self, incoming: Incoming, name: str, collection_id: int) -> Response:
        """Deletes a collection. Its tasks stay what they are."""
        owner = await self._own(incoming, name)
        await self._collections.delete(incoming.who, collection_id)
        return Redirect(_path(owner), _("The collection has been deleted."))

    async def note(self, incoming: Incoming, name: str, collection_id: int, task_id: int) -> Response:
        """Writes the note of a task."""
        owner = await self._own(incoming, name)
        if "note" not in incoming.form:
            raise missing("note")
        try:
            await self._collections.set_note(incoming.who, collection_id, task_id, incoming.field("note"))
        except FormError as error:
            collection = await self._collections.page(incoming.who, owner, collection_id, None)
            form = {**self._filled(incoming, collection), "errors": error.errors}
            return self._one(collection, form, Message(flash=error.errors["note"][0], status="error"))
        return Redirect(_path(owner, collection_id), _("The note has been saved."))

    async def remove(self, incoming: Incoming, name: str, collection_id: int, task_id: int) -> Response:
        """Takes a task out of a collection."""
        owner = await self._own(incoming, name)
        await self._collections.remove_task(incoming.who, collection_id, task_id)
        return Redirect(_path(owner, collection_id), _("The task has been removed."))

    async def _own(self, incoming: Incoming, name: str) -> str:
        return (await own_account(self._accounts, incoming, name, admins=False))["name"]

    async def _list(self, incoming: Incoming, owner: str, form: Form, message: Message = NO_MESSAGE) -> Response:
        shown = [_without(one, "has_task") for one in await self._collections.own(incoming.who)]
        public = CollectionsPublic(title=_("Your collections"), collections=shown, form=form, **message)
        return Page("account/collections.html", public, NamedPrivate(name=owner))

    async def _choose(
        self, incoming: Incoming, owner: str, task_id: str, form: Form, message: Message = NO_MESSAGE
    ) -> Response:
        row = await self._collections.task(incoming.who, queries.parse_number(task_id, "task_id", 0))
        own_collections = await self._collections.own(incoming.who, row["id"])
        public = AddPublic(
            title=_("Add to a collection"),
            task={"id": row["id"], "info": row["info"]},
            collections=[dict(one) for one in own_collections],
            form=form,
            **message,
        )
        return Page("account/collect.html", public, NamedPrivate(name=owner))

    def _filled(self, incoming: Incoming, collection: Collected) -> Form:
        row = collection.row
        if not row["own"]:
            return self._forms.blank(incoming)
        values: Values = {"name": row["name"], "description": row["description"], "published": row["published"]}
        return self._forms.filled(incoming, **values)

    def _one(self, collection: Collected, form: Form, message: Message = NO_MESSAGE) -> Response:
        row = collection.row
        public = CollectionPublic(
            title=row["name"],
            collection=dict(row),
            tasks=[_task(one) for one in collection.tasks],
            next=collection.next,
            form=form,
            **message,
        )
        address = f"{self._base_url}{_path(row['owner'], row['id'])}"
        return Page("account/collection.html", public, CollectionPrivate(name=row["owner"], address=address))


def _path(owner: str, collection_id: int | None = None) -> str:
    return f"/account/{quote(owner)}/collections{'' if collection_id is None else f'/{collection_id}'}"


def _task(row: Mapping[str, object]) -> Values:
    return {
        "note": row["note"],
        "task": {"id": row["task_id"], "info": row["info"]},
        "project": {"id": row["project_id"], "name": row["name"], "short_name": row["short_name"]},
    }


def _without(row: Mapping[str, object], name: str) -> Values:
    return {key: value for key, value in row.items() if key != name}
