"""A project's blog: read by everybody, written by its owner."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from crowdd.domain.core import rights
from crowdd.domain.core.records import NOT_FOUND
from crowdd.domain.server.services import Services
from crowdd.errors import CostlyTextError, NotFoundError
from crowdd.http.html.forms import CORRECT, Forms
from crowdd.http.pages.omitted_pictures import LeftOut
from crowdd.http.pages.project.views import ProjectViews, locked_out
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kinds import BLOGPOST
from crowdd.languages import _
from crowdd.storage.projects.rows import ProjectPage
from crowdd.values import Requester

_AT = "/project/<short_name>"
_FIELDS = ("title", "body", "published")
_SHOWN = 20
_MAX_TITLE, _MAX_ID = 255, 2**63 - 1


class BlogPages:
    """``/project/<short_name>/blog``, its posts, and the forms of their author."""

    def __init__(self, services: Services, forms: Forms, views: ProjectViews) -> None:
        self._projects, self._records, self._forms, self._views = services.projects, services.records, forms, views

    def routes(self) -> Iterator[Route]:
        yield get(f"{_AT}/blog", locked_out(self.blog))
        yield get(f"{_AT}/<int:post_id>", locked_out(self.read))
        yield get(f"{_AT}/new-blogpost", locked_out(self.new_form))
        yield post(f"{_AT}/new-blogpost", locked_out(self.new))
        yield get(f"{_AT}/<int:post_id>/update", locked_out(self.update_form))
        yield post(f"{_AT}/<int:post_id>/update", locked_out(self.update))
        yield post(f"{_AT}/<int:post_id>/delete", locked_out(self.delete))

    async def blog(self, incoming: Incoming, short_name: str) -> Response:
        """The newest posts, or those before one (``before``, an id); drafts of posts for the owners alone."""
        row = await self._projects.page(short_name, incoming.who)
        posts, more = await self._views.posts(incoming, row, _SHOWN, incoming.query.get("before", ""))
        context = await self._views.context(incoming, row)
        return Page(
            "project/blog.html",
            **context,
            blogposts=posts,
            next=posts[-1]["id"] if more else None,
            _writes=bool(row["roles"] & BLOGPOST.rights.create),
            _prose=await self._views.prose([], posts),
        )

    async def read(self, incoming: Incoming, short_name: str, post_id: int) -> Response:
        row = await self._projects.page(short_name, incoming.who)
        found = await self._post(incoming, row, post_id)
        context = await self._views.context(incoming, row)
        writes, prose = _may_change(incoming.who, found), await self._views.prose([], [found])
        return Page("project/blogpost.html", **context, blogpost=found, _writes=writes, _prose=prose)

    async def _post(self, incoming: Incoming, row: ProjectPage, post_id: int) -> dict[str, Any]:
        """The post, when it is one of this project that the requester may see."""
        if post_id > _MAX_ID:
            raise NotFoundError(NOT_FOUND)
        found = await self._records.get(BLOGPOST, incoming.who, post_id)
        if found["project_id"] != row["id"]:
            raise NotFoundError(NOT_FOUND)
        return found

    async def _own_post(self, incoming: Incoming, row: ProjectPage, post_id: int) -> dict[str, Any]:
        found = await self._post(incoming, row, post_id)
        if not _may_change(incoming.who, found):
            rights.require(incoming.who, frozenset(), BLOGPOST.rights.update)
        return found

    async def new_form(self, incoming: Incoming, short_name: str) -> Response:
        row = await self._writer(incoming, short_name)
        form = self._forms.blank(incoming, "id", *_FIELDS) | {"published": True}
        return await self._form_page(incoming, row, form)

    async def new(self, incoming: Incoming, short_name: str) -> Response:
        row = await self._writer(incoming, short_name)
        if wrong := _mistakes(incoming):
            return await self._again(incoming, row, wrong)
        said = _said(incoming, published=False) | {"project_id": row["id"]}
        try:
            made = await self._records.create(BLOGPOST, incoming.who, said)
        except CostlyTextError as error:
            return await self._again(incoming, row, {error.attribute: [error.sentence]})
        return await self._saved(_at(short_name, made["id"]), said["body"])

    async def _writer(self, incoming: Incoming, short_name: str) -> ProjectPage:
        row = await self._projects.page(short_name, incoming.who)
        rights.require(incoming.who, row["roles"], BLOGPOST.rights.create)
        return row

    async def update_form(self, incoming: Incoming, short_name: str, post_id: int) -> Response:
        row = await self._projects.page(short_name, incoming.who)
        found = await self._own_post(incoming, row, post_id)
        form = self._forms.blank(incoming) | {name: found[name] for name in ("id", *_FIELDS)}
        return await self._form_page(incoming, row, form)

    async def update(self, incoming: Incoming, short_name: str, post_id: int) -> Response:
        row = await self._projects.page(short_name, incoming.who)
        found = await self._own_post(incoming, row, post_id)
        if wrong := _mistakes(incoming):
            return await self._again(incoming, row, wrong, id=post_id)
        said = _said(incoming, published=found["published"])
        try:
            await self._records.change(BLOGPOST, incoming.who, post_id, said)
        except CostlyTextError as error:
            return await self._again(incoming, row, {error.attribute: [error.sentence]}, id=post_id)
        return await self._saved(_at(short_name, post_id), said["body"])

    async def _saved(self, at: str, body: str) -> Response:
        return Redirect(at, *await LeftOut(self._views.services).after(body, _("The post is saved.")))

    async def delete(self, incoming: Incoming, short_name: str, post_id: int) -> Response:
        row = await self._projects.page(short_name, incoming.who)
        await self._own_post(incoming, row, post_id)
        await self._records.delete(BLOGPOST, incoming.who, post_id)
        return Redirect(f"/project/{quote(short_name)}/blog", _("The post is deleted."))

    async def _again(self, incoming: Incoming, row: ProjectPage, wrong: dict[str, list[str]], **more: Any) -> Response:
        form = self._forms.refused(incoming, wrong, "id", "title", "body") | more
        form["published"] = incoming.flag("published", False)
        return await self._form_page(incoming, row, form, flash=CORRECT, status="error")

    async def _form_page(self, incoming: Incoming, row: ProjectPage, form: dict[str, Any], **said: Any) -> Response:
        context = await self._views.context(incoming, row)
        pictures = await self._views.pictures(incoming, row, form["body"])
        return Page("project/edit_blogpost.html", **context, form=form, **said, **pictures)


def _mistakes(incoming: Incoming) -> dict[str, list[str]]:
    found = {name: [_("Please fill this in.")] for name in ("title", "body") if not incoming.field(name).strip()}
    if len(incoming.field("title").strip()) > _MAX_TITLE:
        found["title"] = [_("Use at most %(maximum)s characters.", maximum=_MAX_TITLE)]
    return found


def _said(incoming: Incoming, *, published: bool) -> dict[str, Any]:
    texts = {name: incoming.field(name).strip() for name in ("title", "body")}
    return {**texts, "published": incoming.flag("published", published)}


def _may_change(who: Requester, found: dict[str, Any]) -> bool:
    return who.acting_admin or (who.acting_user is not None and found["user_id"] == who.acting_user)


def _at(short_name: str, post_id: int) -> str:
    return f"/project/{quote(short_name)}/{post_id}"
