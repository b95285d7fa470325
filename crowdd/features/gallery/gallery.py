"""The templates that a person sees, and copies of them as drafts under a free name.

Templates come with crowdd, are offered by the site, or are the person's own.
"""

from __future__ import annotations

import secrets as random
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import attrs

from crowdd import PACKAGE
from crowdd.core import log_statements
from crowdd.core.records import rights
from crowdd.core.text.picture_addresses import FILES_AT
from crowdd.database.access import Database, Transactions
from crowdd.features.gallery import statements, template
from crowdd.features.gallery.folders import Folder
from crowdd.features.gallery.statements import ListedTemplate, NewRow, StoredTemplate
from crowdd.features.gallery.template import THUMBNAIL, Card, Template
from crowdd.kernel.errors import NOT_FOUND, AnonymousError, ConflictError, ForbiddenError, NotFoundError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds.questions.text_languages import text_in

SHIPPED: Final = PACKAGE / "features/gallery/library"
MAX_OWN: Final = 20
MAX_OF_SITE: Final = 200
MAX_LISTED: Final = 300
_MAX_WORDS = 10


@attrs.frozen
class Listed:
    """A template in a list.

    ``thumbnail`` is an address, "" without a picture; ``owner`` is "" for those of the site.
    """

    name: str
    card: Card
    thumbnail: str
    shipped: bool = False
    hidden: bool = False
    own: bool = False
    offered: bool = True
    owner: str = ""


@attrs.frozen
class NewTemplate:
    """What is to become a template. ``files`` are contents by name."""

    card: Card
    questions: Values
    tasks: list[Values]
    n_answers: int | None
    files: Mapping[str, bytes]


class Gallery:
    """Lists, finds, adds and removes templates."""

    def __init__(self, db: Transactions, folder: Path = SHIPPED) -> None:
        self._db, self._folder = db, folder
        self._shipped: dict[str, Template] = {}

    def shipped(self) -> Mapping[str, Template]:
        """The templates that come with crowdd, by name. They are read once."""
        if not self._shipped:
            paths = sorted(path for path in self._folder.iterdir() if (path / template.CARD_FILE).is_file())
            self._shipped = {path.name: template.read(path).as_template(path.name, path) for path in paths}
        return self._shipped

    async def found(self, who: Requester, text: str, group: str, language: str) -> list[Listed]:
        """The templates that the requester may use and that have each word of ``text``: own ones first.

        If there are none, those that have words with which one slip of the keys makes the words.
        """
        hidden = await statements.list_hidden_names(self._db)
        rows = await statements.list_templates(self._db, who, MAX_LISTED)
        own_first = sorted(map(_listed, rows), key=lambda each: not each.own)
        usable = [each for each in (*own_first, *self._listed_shipped(frozenset(hidden))) if not each.hidden]
        candidates = [each for each in usable if not group or each.card.group == group]
        words = text.casefold().split()[:_MAX_WORDS]
        exact = [each for each in candidates if each.card.matches(words, language)]
        return exact or [each for each in candidates if each.card.matches(words, language, slip=True)]

    async def all(self, who: Requester) -> list[Listed]:
        """Every template of the site, for administrators. Raises ForbiddenError."""
        require_admin(who)
        rows = await statements.list_templates(self._db, who, MAX_LISTED, all_of_them=True)
        return [*map(_listed, rows), *self._listed_shipped(await statements.list_hidden_names(self._db))]

    def _listed_shipped(self, hidden: frozenset[str]) -> list[Listed]:
        order = {group: number for number, group in enumerate(template.GROUPS)}
        shipped_templates = sorted(self.shipped().values(), key=lambda each: order[each.card.group])
        return [_listed_one(each, each.name in hidden) for each in shipped_templates]

    async def one(self, who: Requester, name: str) -> Template:
        """A template by the name in its address. Raises NotFoundError, also for one of others that is not offered."""
        shipped = self.shipped().get(name)
        if shipped is not None and (who.acting_admin or name not in await statements.list_hidden_names(self._db)):
            return shipped
        row = None if shipped is not None else await statements.find_template(self._db, who, name)
        if row is None:
            raise NotFoundError(NOT_FOUND)
        return _template(row)

    async def file(self, name: str, file: str) -> Path | bytes:
        """A file of a template: its path or its content. Raises NotFoundError."""
        shipped = self.shipped().get(name)
        if shipped is not None and shipped.folder is not None and file in shipped.files:
            return shipped.folder / file
        content = None if shipped is not None else await statements.read_file(self._db, name, file)
        if content is None:
            raise NotFoundError(NOT_FOUND)
        return content

    async def files(self, gallery_template: Template) -> dict[str, bytes]:
        """The files of a template that does not come with crowdd."""
        return {} if gallery_template.row_id is None else await statements.read_files(self._db, gallery_template.row_id)

    async def add(self, who: Requester, new: NewTemplate, *, of_site: bool = False) -> str:
        """Keeps a template for its owner, or for the site, which offers it to everybody. The name in its address.

        Raises AnonymousError, ForbiddenError (also when there are too many).
        """
        if of_site:
            require_admin(who)
        elif who.acting_user is None:
            raise AnonymousError(_("Sign in first."))
        rights.require_scope(who, "write")
        rights.require_project_scope(who, None)
        token, owner = f"t-{random.token_urlsafe(18)}", None if of_site else who.acting_user

        async def work(tx: Database) -> None:
            _require_room(await statements.lock_templates(tx, owner), of_site)
            thumbnail = THUMBNAIL if THUMBNAIL in new.files else _first_picture(new)
            row = NewRow(token, owner, new.card.as_json(), new.questions, new.tasks, new.n_answers, thumbnail)
            template_id = await statements.insert_template(tx, row, new.files)
            await log_statements.write_act(
                tx, who, "create", "template", template_id, after={"title": text_in(new.card.title, "en")}
            )

        await self._db.transaction(work)
        return token

    async def remove(self, who: Requester, name: str) -> None:
        """Deletes a template of the requester's own.

        Administrators delete any, and hide those that come with crowdd.
        """
        if name in self.shipped():
            await self.hide(who, name, hidden=True)
            return

        async def work(tx: Database) -> None:
            template_id = await statements.delete_template(tx, who, name)
            if template_id is None:
                raise NotFoundError(NOT_FOUND)
            await log_statements.write_act(tx, who, "delete", "template", template_id)

        await self._db.transaction(work)

    async def hide(self, who: Requester, name: str, *, hidden: bool) -> None:
        """Hides a template that comes with crowdd, or shows it again."""
        require_admin(who)
        if name not in self.shipped():
            raise NotFoundError(NOT_FOUND)

        async def work(tx: Database) -> None:
            await statements.hide_template(tx, name, hidden)
            await log_statements.write_act(
                tx, who, "hide" if hidden else "show", "template", None, after={"template": name}
            )

        await self._db.transaction(work)

    async def offer(self, who: Requester, name: str, *, offered: bool) -> None:
        """Offers an owner's template to everybody, or no longer."""
        require_admin(who)

        async def work(tx: Database) -> None:
            template_id = await statements.offer_template(tx, name, offered)
            if template_id is None:
                raise NotFoundError(NOT_FOUND)
            await log_statements.write_act(tx, who, "offer", "template", template_id, after={"offered": offered})

        await self._db.transaction(work)


def require_admin(who: Requester) -> None:
    """Raises ForbiddenError for all but administrators and the command line."""
    if not (who.acting_admin or who.via == "cli"):
        raise ForbiddenError(_("Only administrators may do this."))


def _require_room(count: int, of_site: bool) -> None:
    maximum = MAX_OF_SITE if of_site else MAX_OWN
    if count >= maximum:
        raise ForbiddenError(_("There may be at most %(max)s templates. Delete one first.", max=maximum))


def _first_picture(new: NewTemplate) -> str:
    """The first picture of the sample tasks, which stands for the template."""
    texts = [value for info in new.tasks for value in info.values() if isinstance(value, str)]
    pictures = (text for text in texts if text in new.files)
    return next((name for name in pictures if name.endswith((".png", ".jpg", ".jpeg", ".gif", ".webp"))), "")


def _card(card: Values) -> Card:
    return Card(card["group"], card["title"], card["description"], card["keywords"])


def _listed(row: ListedTemplate) -> Listed:
    thumbnail = f"{FILES_AT}{row.token}/{row.thumbnail}" if row.thumbnail else ""
    return Listed(row.token, _card(row.card), thumbnail, own=row.own, offered=row.offered, owner=row.owner)


def _listed_one(gallery_template: Template, hidden: bool) -> Listed:
    return Listed(gallery_template.name, gallery_template.card, gallery_template.thumbnail, shipped=True, hidden=hidden)


def _template(row: StoredTemplate) -> Template:
    tasks: list[Any] = row.tasks
    return Template(
        row.token, _card(row.card), row.questions, tasks, row.n_answers, frozenset(row.files),
        row_id=row.id, owner=row.owner, own=row.own, offered=row.offered,
    )  # fmt: skip


_MAX_NAMES: Final = 50


def copies(folder: Folder, who: Requester) -> Iterator[Folder]:
    """The folder under one name after the other; the first is nearly always free."""
    name, short_name = folder.project["name"], folder.project["short_name"]
    for number in range(1, _MAX_NAMES + 1):
        more = f" {number}" if number > 1 else ""
        address = f"{short_name}-{who.user_id}{more.replace(' ', '-')}"
        other = {"name": f"{name} ({who.user_name}{more})", "short_name": address}
        yield attrs.evolve(folder, project={**folder.project, **other})


async def first_made(copies: Iterable[Folder], make: Callable[[Folder], Awaitable[str | None]]) -> str:
    """The short name of the first copy that ``make`` makes; it returns None for a name that is taken.

    Raises ConflictError if all names are taken.
    """
    for copy in copies:
        for _attempt in range(2):  # a twin of this click may have been faster
            with suppress(ConflictError):  # or a stranger's project is called so
                made = await make(copy)
                if made is not None:
                    return made
                break
    raise ConflictError(_("No name is available for the project. Delete an earlier draft first."))
