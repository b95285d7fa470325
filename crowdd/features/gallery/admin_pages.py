"""The page on which administrators offer, hide, add and delete templates."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from crowdd.features.gallery.gallery import Gallery, Listed
from crowdd.features.gallery.saving import TemplateMaker
from crowdd.features.gallery.template import MAX_BYTES
from crowdd.features.projects.views import admins_only
from crowdd.http.errors import message_of
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.reader_language import locale_of
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.errors import FormError, InvalidValueError, NotFoundError, TooLargeError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values
from crowdd.kinds.questions.text_languages import text_in

_HERE: Final = "/admin/templates"
_MAX_ARCHIVE: Final = 2 * MAX_BYTES


class TemplatesPublic(Titled, WithForm, Message):
    """``templates`` have ``name``, ``title``, ``owner``, ``shipped``, ``hidden`` and ``offered``."""

    templates: list[Values]


class AdminTemplates:
    """``/admin/templates``."""

    def __init__(self, gallery: Gallery, maker: TemplateMaker, worker_thread: WorkerThread, forms: Forms) -> None:
        self._gallery, self._maker, self._worker_thread, self._forms = gallery, maker, worker_thread, forms

    def routes(self) -> Iterator[Route]:
        yield get(_HERE, admins_only(self.list))
        yield post(_HERE, admins_only(self.add))
        yield post(f"{_HERE}/<template>", admins_only(self.change))

    async def list(self, incoming: Incoming) -> Response:
        return await self._page(incoming, self._forms.blank(incoming))

    async def add(self, incoming: Incoming) -> Response:
        """Adds the project folder in a zip archive (``file``) as a template of the site."""
        try:
            await self._added(incoming)
        except FormError as error:
            return await self._page(incoming, self._forms.refused(incoming, error.errors), MISTAKES)
        return Redirect(_HERE, _("Template added. Everybody can use it."))

    async def _added(self, incoming: Incoming) -> None:
        upload = incoming.file("file")
        if upload is None or not upload[0]:
            raise FormError({"file": [_("Choose a file.")]})
        with tempfile.TemporaryDirectory(prefix="crowdd-template-") as place:
            path = Path(place) / "template.zip"
            try:
                await self._worker_thread.do(_copied, upload[1], path)
                new = await self._maker.of_archive(path)
            except (InvalidValueError, NotFoundError, TooLargeError) as error:
                raise FormError({"file": [message_of(error)]}) from None
        await self._gallery.add(incoming.who, new, of_site=True)

    async def change(self, incoming: Incoming, template: str) -> Response:
        """``btn`` is ``offer`` or ``withdraw`` (of owners), ``hide`` or ``show`` (of crowdd), or ``delete``."""
        button = incoming.field("btn")
        if button in ("offer", "withdraw"):
            await self._gallery.offer(incoming.who, template, offered=button == "offer")
        elif button in ("hide", "show"):
            await self._gallery.hide(incoming.who, template, hidden=button == "hide")
        elif button == "delete":
            await self._gallery.remove(incoming.who, template)
        else:
            raise InvalidValueError(_("Choose what to do."))
        return Redirect(_HERE, _("Template changed."))

    async def _page(self, incoming: Incoming, form: Form, message: Message = NO_MESSAGE) -> Response:
        templates, locale = await self._gallery.all(incoming.who), locale_of(incoming)
        shown = [_shown(each, locale) for each in templates]
        public = TemplatesPublic(title=_("Templates"), templates=shown, form=form, **message)
        return Page("gallery/admin.html", public)


def _shown(each: Listed, locale: str) -> Values:
    return {
        "name": each.name,
        "title": text_in(each.card.title, locale),
        "owner": each.owner,
        "shipped": each.shipped,
        "hidden": each.hidden,
        "offered": each.offered,
    }


def _copied(source: BinaryIO, path: Path) -> None:
    """Writes an upload to a file. Raises TooLargeError."""
    with path.open("wb") as out:
        shutil.copyfileobj(source, out)
    if path.stat().st_size > _MAX_ARCHIVE:
        raise TooLargeError(_("A file may have at most %(maximum)s bytes.", maximum=f"{_MAX_ARCHIVE:,}"))
