"""The documents of the presenter frame, and what the page around it knows of the project and the volunteer."""

from __future__ import annotations

from typing import TypedDict

from crowdd.core.records.records import Records
from crowdd.features.accounts.accounts import Accounts
from crowdd.features.projects.files import FileAccess, readdressed
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.questions import documents, presenter_contents
from crowdd.features.questions.guides import GuideReader
from crowdd.features.tasks.contributions import Contributions
from crowdd.http.html import frames
from crowdd.http.html.rendering import Templates
from crowdd.http.reader_language import locale_of
from crowdd.http.request import Incoming
from crowdd.http.responses import BytesResponse
from crowdd.kernel.errors import NotFoundError
from crowdd.kernel.languages import _
from crowdd.kernel.languages.content_languages import direction_of, language_of
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds.project import PROJECT


class FrameFiles(TypedDict):
    """Static files that a frame loads, by their paths, and how many bytes they have."""

    paths: list[str]
    bytes: int


class PresenterFrames:
    """Makes the document of a frame."""

    def __init__(
        self, projects: Projects, file_access: FileAccess, guides: GuideReader, templates: Templates, base_url: str
    ) -> None:
        self._projects, self._file_access, self._templates = projects, file_access, templates
        self._guides = guides
        self._https = base_url.startswith("https:")

    async def presenter(self, incoming: Incoming, short_name: str, kind: presenter_contents.Kind) -> BytesResponse:
        """The owner's document. It holds nothing about the volunteer except the language."""
        locale = locale_of(incoming)
        row = await self._projects.shown(short_name, incoming.who, locale)
        source = presenter_contents.source(row["info"], kind)
        guided = kind == "tutorial" and presenter_contents.guided(row["info"])
        if guided and (shown := await self._guides.tutorial(row["info"], locale)):
            source = documents.render_tutorial_page(shown, row["info"])
        asks = guided or documents.uses_questions(source)
        declared = asks and not guided and not presenter_contents.is_written(row["info"], kind)
        if declared:
            source = documents.render_question_data(row["info"])
        own = locale if asks else language_of(row["info"])  # questions say themselves what is in another language
        context: dict[str, str | bool | list[str]] = {
            "title": row["name"],
            "source": readdressed(source, row, self._file_access.address(row)),
            "questions": asks,
            "families": documents.families_of(row["info"]) if declared else [],
            "libraries": presenter_contents.is_written(row["info"], kind),
            "lesson": guided,
            "locale": locale,
            "language": own or "und",
            "direction": direction_of(own) if own else "auto",
        }
        return self._document("project/frame.html", context)

    async def whole(self, incoming: Incoming, short_name: str) -> BytesResponse:
        """The document of the frame with a project's questions, as text, for people who take tasks along.

        Raises NotFoundError for a presenter of an owner's own, and for questions on a map, which need a line.
        """
        row = await self._projects.page(short_name, incoming.who)
        if presenter_contents.is_written(row["info"], "newtask") or not presenter_contents.has(row["info"], "newtask"):
            raise NotFoundError("404 Not Found")
        if "map" in documents.families_of(row["info"]):
            raise NotFoundError("404 Not Found")
        document = await self.presenter(incoming, short_name, "newtask")
        headers = {**frames.api_headers(), "Cache-Control": "no-store"}
        return BytesResponse(document.body, "text/plain; charset=utf-8", headers=headers)

    def files(self, info: presenter_contents.Info) -> FrameFiles:
        """The scripts and style sheets of the frame with a project's questions."""
        families = documents.families_of(info)
        paths = [f"bundles/{name}.{suffix}" for name in families for suffix in ("js", "css")]
        return FrameFiles(paths=paths, bytes=sum(map(self._templates.size, paths)))

    def preview(self, incoming: Incoming) -> BytesResponse:
        """An empty document for the preview in the editor: the page around the frame sends the text."""
        locale = locale_of(incoming)
        context: dict[str, str | bool | list[str]] = {
            "title": _("Preview"),
            "families": [],
            "libraries": True,
            "lesson": True,
            "locale": locale,
            "language": locale,
            "direction": direction_of(locale),
        }
        return self._document("project/preview.html", context)

    def _document(self, template: str, context: dict[str, str | bool | list[str]]) -> BytesResponse:
        document = self._templates.render(template, context)
        return BytesResponse(document.encode(), headers=frames.frame_headers(https=self._https))


class PresenterContexts:
    """Makes the context of the page around a presenter."""

    def __init__(
        self, records: Records, contributions: Contributions, file_access: FileAccess, accounts: Accounts
    ) -> None:
        self._records, self._contributions, self._file_access = records, contributions, file_access
        self._accounts = accounts

    async def of(self, who: Requester, row: ProjectPage, kind: presenter_contents.Kind, task_id: int | None) -> Values:
        """The context for a requester and the row of a project (``presenter_contents.page_context``)."""
        mine = await self._contributions.progress(who, row["id"])
        return presenter_contents.page_context(
            kind,
            self._records.public_view(PROJECT, row),
            task_id=task_id,
            volunteer=who.user_id,
            own_count=mine["done"],
            rank=await self._rank(who.user_id),
            progress=(int(row["n_completed_tasks"]), int(row["n_tasks"])),
            share=int(row["overall_progress"]),
            uploads=self._file_access.address(row),
            info=row["info"],
        )

    async def _rank(self, user_id: int | None) -> int | None:
        """The rank of an account by its answers; None without answers."""
        profile = None if user_id is None else await self._accounts.profile(user_id)
        return profile["rank"] if profile is not None and profile["score"] else None
