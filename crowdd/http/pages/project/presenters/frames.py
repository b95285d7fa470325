"""The documents of the presenter frame."""

from __future__ import annotations

from crowdd.domain.projects.file_access import FileAccess, readdressed
from crowdd.domain.projects.guides.reading import GuideReader
from crowdd.domain.projects.projects import Projects
from crowdd.http.html import presenter, question_page, tutorial_page
from crowdd.http.html.locales import locale_of
from crowdd.http.html.rendering import Templates
from crowdd.http.request import Incoming
from crowdd.http.responses import BytesResponse, Response
from crowdd.languages import _
from crowdd.languages.content_languages import direction_of, language_of


class PresenterFrames:
    """Makes the document of a frame."""

    def __init__(
        self, projects: Projects, file_access: FileAccess, guides: GuideReader, templates: Templates, base_url: str
    ) -> None:
        self._projects, self._file_access, self._templates = projects, file_access, templates
        self._guides = guides
        self._https = base_url.startswith("https:")

    async def presenter(self, incoming: Incoming, short_name: str, kind: presenter.Kind) -> Response:
        """The owner's document. It holds nothing about the volunteer except the language."""
        row = await self._projects.page(short_name, incoming.who)
        locale, source = locale_of(incoming), presenter.source(row["info"], kind)
        guided = kind == "tutorial" and presenter.guided(row["info"])
        if guided and (shown := await self._guides.tutorial(row["info"], locale)):
            source = tutorial_page.document(shown, row["info"])
        asks = guided or question_page.uses_questions(source)
        own = locale if asks else language_of(row["info"])  # questions say themselves what is in another language
        context: dict[str, str | bool] = {
            "title": row["name"],
            "source": readdressed(source, row, self._file_access.address(row)),
            "questions": asks,
            "libraries": presenter.is_written(row["info"], kind),
            "lesson": guided,
            "locale": locale,
            "language": own or "und",
            "direction": direction_of(own) if own else "auto",
        }
        return self._document("project/frame.html", context)

    def preview(self, incoming: Incoming) -> Response:
        """An empty document for the preview in the editor: the page around the frame sends the text."""
        locale = locale_of(incoming)
        context: dict[str, str | bool] = {
            "title": _("Preview"),
            "libraries": True,
            "lesson": True,
            "locale": locale,
            "language": locale,
            "direction": direction_of(locale),
        }
        return self._document("project/preview.html", context)

    def _document(self, template: str, context: dict[str, str | bool]) -> Response:
        document = self._templates.render(template, context)
        return BytesResponse(document.encode(), headers=presenter.frame_headers(https=self._https))
