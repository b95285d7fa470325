"""The blog of a project."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from crowdd.core.records import rights
from crowdd.core.records.records import Records
from crowdd.core.text.rendered_text import Laid
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.projects.views import EditorPictures, ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import NOT_FOUND, CostlyTextError, NotFoundError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds.blogpost import BLOGPOST

_AT = "/project/<short_name>"
_FIELDS = ("title", "body", "published")
_SHOWN = 20
_MAX_TITLE, _MAX_ID = 255, 2**63 - 1


class BlogPublic(ProjectPublic):
    blogposts: list[Values]
    next: int | None


class PostPublic(ProjectPublic):
    blogpost: Values


class PostPrivate(ProjectPrivate):
    """``writes`` says whether the requester may write or change posts."""

    writes: bool
    prose: Laid


class BlogPrivate(PostPrivate):
    """``feed``: strangers may read the blog, so that it has feeds."""

    feed: bool


class EditPublic(ProjectPublic, WithForm, Message):
    pass


class EditPrivate(ProjectPrivate, EditorPictures):
    pass


class BlogPages:
    """``/project/<short_name>/blog``, its posts, and the forms of their author."""

    def __init__(self, projects: Projects, records: Records, forms: Forms, views: ProjectViews) -> None:
        self._projects, self._records, self._forms, self._views = projects, records, forms, views

    def routes(self) -> Iterator[Route]:
        yield get(f"{_AT}/blog", locked_out(self.blog))
        yield get(f"{_AT}/<int:post_id>", locked_out(self.read))
        yield get(f"{_AT}/new-blogpost", locked_out(self.new_form))
        yield post(f"{_AT}/new-blogpost", locked_out(self.new))
        yield get(f"{_AT}/<int:post_id>/update", locked_out(self.update_form))
        yield post(f"{_AT}/<int:post_id>/update", locked_out(self.update))
        yield post(f"{_AT}/<int:post_id>/delete", locked_out(self.delete))

    async def blog(self, incoming: Incoming, short_name: str) -> Response:
        """The newest posts, or those before one (``before``, an id). Only owners see drafts of posts."""
        row = await self._projects.page(short_name, incoming.who)
        posts, more = await self._views.posts(incoming.who, row, _SHOWN, incoming.query.get("before", ""))
        context = await self._views.context(incoming, row)
        public = BlogPublic(**context.public, blogposts=posts, next=posts[-1]["id"] if more else None)
        writes, prose = bool(row["roles"] & BLOGPOST.rights.create), await self._views.prose([], posts)
        feed = row["published"] and row["lock_id"] is None
        private = BlogPrivate(**context.private, writes=writes, feed=feed, prose=prose)
        return Page("project/blog.html", public, private)

    async def read(self, incoming: Incoming, short_name: str, post_id: int) -> Response:
        row = await self._projects.page(short_name, incoming.who)
        blogpost = await self._post(incoming, row, post_id)
        context = await self._views.context(incoming, row)
        writes, prose = _may_change(incoming.who, blogpost), await self._views.prose([], [blogpost])
        private = PostPrivate(**context.private, writes=writes, prose=prose)
        return Page("project/blogpost.html", PostPublic(**context.public, blogpost=blogpost), private)

    async def _post(self, incoming: Incoming, row: ProjectPage, post_id: int) -> Values:
        """The post. Raises NotFoundError if it is not one of this project that the requester may see."""
        if post_id > _MAX_ID:
            raise NotFoundError(NOT_FOUND)
        blogpost = await self._records.get(BLOGPOST, incoming.who, post_id)
        if blogpost["project_id"] != row["id"]:
            raise NotFoundError(NOT_FOUND)
        return blogpost

    async def _own_post(self, incoming: Incoming, row: ProjectPage, post_id: int) -> Values:
        blogpost = await self._post(incoming, row, post_id)
        if not _may_change(incoming.who, blogpost):
            rights.require(incoming.who, frozenset(), BLOGPOST.rights.update)
        return blogpost

    async def new_form(self, incoming: Incoming, short_name: str) -> Response:
        row = await self._writer(incoming, short_name)
        form = self._forms.blank(incoming, "id", *_FIELDS) | {"published": True}
        return await self._form_page(incoming, row, form)

    async def new(self, incoming: Incoming, short_name: str) -> Response:
        row = await self._writer(incoming, short_name)
        if wrong := _mistakes(incoming):
            return await self._again(incoming, row, wrong)
        values = _values(incoming, published=False) | {"project_id": row["id"]}
        try:
            made = await self._records.create(BLOGPOST, incoming.who, values)
        except CostlyTextError as error:
            return await self._again(incoming, row, {error.attribute: [error.sentence]})
        return await self._saved(_at(short_name, made["id"]), values["body"])

    async def _writer(self, incoming: Incoming, short_name: str) -> ProjectPage:
        row = await self._projects.page(short_name, incoming.who)
        rights.require(incoming.who, row["roles"], BLOGPOST.rights.create)
        return row

    async def update_form(self, incoming: Incoming, short_name: str, post_id: int) -> Response:
        row = await self._projects.page(short_name, incoming.who)
        blogpost = await self._own_post(incoming, row, post_id)
        form = self._forms.blank(incoming) | {name: blogpost[name] for name in ("id", *_FIELDS)}
        return await self._form_page(incoming, row, form)

    async def update(self, incoming: Incoming, short_name: str, post_id: int) -> Response:
        row = await self._projects.page(short_name, incoming.who)
        blogpost = await self._own_post(incoming, row, post_id)
        if wrong := _mistakes(incoming):
            return await self._again(incoming, row, wrong, id=post_id)
        values = _values(incoming, published=blogpost["published"])
        try:
            await self._records.change(BLOGPOST, incoming.who, post_id, values)
        except CostlyTextError as error:
            return await self._again(incoming, row, {error.attribute: [error.sentence]}, id=post_id)
        return await self._saved(_at(short_name, post_id), values["body"])

    async def _saved(self, at: str, body: str) -> Response:
        return Redirect(at, *await self._views.left_out.after(body, _("The post is saved.")))

    async def delete(self, incoming: Incoming, short_name: str, post_id: int) -> Response:
        row = await self._projects.page(short_name, incoming.who)
        await self._own_post(incoming, row, post_id)
        await self._records.delete(BLOGPOST, incoming.who, post_id)
        return Redirect(f"/project/{quote(short_name)}/blog", _("The post is deleted."))

    async def _again(
        self, incoming: Incoming, row: ProjectPage, wrong: dict[str, list[str]], **values: int
    ) -> Response:
        form = self._forms.refused(incoming, wrong, "id", "title", "body") | values
        form["published"] = incoming.flag("published", False)
        return await self._form_page(incoming, row, form, MISTAKES)

    async def _form_page(
        self, incoming: Incoming, row: ProjectPage, form: Form, message: Message = NO_MESSAGE
    ) -> Response:
        context = await self._views.context(incoming, row)
        pictures = await self._views.pictures(incoming, row, form["body"])
        public = EditPublic(**context.public, form=form, **message)
        return Page("project/edit_blogpost.html", public, EditPrivate(**context.private, **pictures))


def _mistakes(incoming: Incoming) -> dict[str, list[str]]:
    mistakes = {name: [_("Please fill this in.")] for name in ("title", "body") if not incoming.field(name).strip()}
    if len(incoming.field("title").strip()) > _MAX_TITLE:
        mistakes["title"] = [_("Use at most %(maximum)s characters.", maximum=_MAX_TITLE)]
    return mistakes


def _values(incoming: Incoming, *, published: bool) -> Values:
    texts = {name: incoming.field(name).strip() for name in ("title", "body")}
    return {**texts, "published": incoming.flag("published", published)}


def _may_change(who: Requester, blogpost: Values) -> bool:
    return who.acting_admin or (who.acting_user is not None and blogpost["user_id"] == who.acting_user)


def _at(short_name: str, post_id: int) -> str:
    return f"/project/{quote(short_name)}/{post_id}"
