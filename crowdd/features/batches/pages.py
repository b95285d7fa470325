"""Media from an owner's computer: choosing files, and what becomes of a batch of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypedDict
from urllib.parse import quote

from crowdd.features.batches import made_files
from crowdd.features.batches.batch_state import BatchState
from crowdd.features.batches.batches import Batches, columns_of
from crowdd.features.batches.made_files import columns_for
from crowdd.features.batches.rows import MediaFile
from crowdd.features.media.incoming_files import Part
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.views import ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.features.tasks.sample_tasks import SampleTasks
from crowdd.http.edge.bodies import MAX_PART
from crowdd.http.html.forms import Form, Forms, WithForm
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, JsonResponse, Message, Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import (
    ConflictError,
    CrowddError,
    ForbiddenError,
    InvalidValueError,
    NotFoundError,
    TooLargeError,
    TooManyRequestsError,
)
from crowdd.kernel.languages import _, ngettext
from crowdd.kernel.values import Values
from crowdd.kinds.kind import outward
from crowdd.kinds.questions.columns import MEDIA_KINDS

_AT: Final = "/project/<short_name>/tasks/media"
SHOWN_ADDED, SHOWN_REFUSED = 12, 200  # files
_REFUSALS = (InvalidValueError, TooLargeError, TooManyRequestsError, ForbiddenError, ConflictError)


class MediaPublic(ProjectPublic, WithForm, Message):
    """``batches`` are the newest; ``columns`` those of the tasks that the questions of the project read, by kind."""

    batches: list[Values]
    columns: dict[str, list[str]]


class _Limits(TypedDict):
    """Sizes are in bytes; ``n_answers`` is what is proposed."""

    n_answers: int
    max_files: int
    max_file_bytes: int
    part_bytes: int


class MediaPrivate(ProjectPrivate, _Limits):
    """``web_pixels``: the longest side of a picture that volunteers see; ``tiles``: whether larger ones have tiles."""

    web_pixels: int
    tiles: bool


class BatchPublic(ProjectPublic, WithForm):
    """``files`` are the first that became tasks, ``refused`` the first that were refused, ``state`` a BatchState."""

    batch: Values
    state: BatchState
    files: list[Values]
    refused: list[Values]


class BatchPrivate(ProjectPrivate, _Limits):
    """``n_samples``: sample tasks of a template that are still there when the batch is done."""

    n_samples: int


class Plan(TypedDict):
    """What would become of files by their names (``BatchPlan``)."""

    files: int
    left_out: list[str]
    tasks_by_file: int
    tasks_by_name: int
    groups: dict[str, list[str]]


class MediaPages:
    """``/project/<short_name>/tasks/media`` and each batch below it."""

    def __init__(
        self, projects: Projects, batches: Batches, samples: SampleTasks, forms: Forms, views: ProjectViews
    ) -> None:
        self._projects, self._batches, self._samples = projects, batches, samples
        self._forms, self._views = forms, views

    def routes(self) -> Iterator[Route]:
        yield get(_AT, locked_out(self.first))
        yield post(_AT, locked_out(self.begin))
        yield post(f"{_AT}/plan", locked_out(self.plan))
        yield get(f"{_AT}/<int:batch_id>", locked_out(self.one))
        yield post(f"{_AT}/<int:batch_id>/close", locked_out(self.close))
        yield post(f"{_AT}/<int:batch_id>/resume", locked_out(self.resume))
        yield post(f"{_AT}/<int:batch_id>/discard", locked_out(self.discard))

    async def first(self, incoming: Incoming, short_name: str) -> Response:
        """Where files are chosen or dropped."""
        form = self._forms.filled(incoming, grouping="file", column="", n_answers=None)
        return await self._first(incoming, short_name, form)

    async def _first(self, incoming: Incoming, short_name: str, form: Form, message: Message = NO_MESSAGE) -> Response:
        row = await self._projects.owned(short_name, incoming.who)
        context = await self._views.context(incoming, row, _("Add pictures, sounds, videos or PDFs"))
        newest = await self._batches.newest(incoming.who, row)
        public = MediaPublic(
            **context.public,
            form=form,
            batches=[{name: outward(value) for name, value in each.items()} for each in newest],
            columns={kind: columns_for(kind, columns_of(row)) for kind in MEDIA_KINDS},
            **message,
        )
        proposed = await self._batches.proposed_redundancy(row)
        pictures = self._batches.pictures
        private = MediaPrivate(
            **context.private,
            **self._limits(proposed),
            web_pixels=pictures.web_pixels,
            tiles=bool(pictures.tile_pixels),
        )
        return Page("project/media.html", public, private)

    def _limits(self, n_answers: int) -> _Limits:
        limits = self._batches.limits
        return _Limits(
            n_answers=n_answers,
            max_files=limits.max_batch_files,
            max_file_bytes=limits.max_file_bytes,
            part_bytes=MAX_PART // 2,
        )

    async def plan(self, incoming: Incoming, short_name: str) -> Response:
        """What would become of files with the ``names`` of the body (JSON)."""
        row = await self._projects.owned(short_name, incoming.who)
        names = incoming.form.get("names")
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise InvalidValueError(_("%(name)s must be a list of texts.", name="names"))
        made = await self._batches.plan(incoming.who, row, names)
        return JsonResponse(
            Plan(
                files=made.files,
                left_out=made.left_out,
                tasks_by_file=made.tasks_by_file,
                tasks_by_name=made.tasks_by_name,
                groups=made.groups,
            )
        )

    async def begin(self, incoming: Incoming, short_name: str) -> Response:
        """Begins a batch. A form with ``files`` brings them at once, and the batch takes no others."""
        row = await self._projects.owned(short_name, incoming.who)
        try:
            files = incoming.files("files")
            if incoming.content_type == "multipart/form-data" and not files:
                raise InvalidValueError(_("Choose files first."))
            batch_id = await self._batches.begin(incoming.who, row, _choices(incoming))
            at = f"{_at(short_name)}/{batch_id}"
            if not files:
                return Redirect(at, more={"batch": batch_id, "files": f"{at}/files"})
            return Redirect(at, *await self._bring(incoming, short_name, batch_id))
        except _REFUSALS as error:
            words = error.args[0] if error.args else _("The file was refused.")
            form = self._forms.refused(incoming, {"files": [words]}, "grouping", "column", "n_answers")
            if incoming.wants_json:
                raise
            return await self._first(incoming, short_name, form, Message(flash=words, status="error"))

    async def _bring(self, incoming: Incoming, short_name: str, batch_id: int) -> tuple[str, str]:
        """What is said after the files of a form were taken; the first that was not taken is told."""
        row = await self._projects.owned(short_name, incoming.who)
        mistake: CrowddError | None = None
        taken = 0
        for name, content, size in incoming.files("files"):
            try:
                file = await self._batches.create(incoming.who, row, batch_id, name, size, f"{taken}")
                await self._batches.append(incoming.who, file, Part(0, content, size))
                taken += 1
            except _REFUSALS as error:
                mistake = mistake or error
        await self._batches.close(incoming.who, row, batch_id)
        if mistake is not None:
            return (mistake.args[0] if mistake.args else str(mistake)), "error"
        words = ngettext("%(count)s file arrived.", "%(count)s files arrived.", taken, count=f"{taken:,}")
        return words, "success"

    async def one(self, incoming: Incoming, short_name: str, batch_id: int) -> Response:
        """One batch: how far it is, and what became of its files."""
        row = await self._projects.owned(short_name, incoming.who)
        batch = await self._batches.get(incoming.who, row, batch_id)
        state = await self._batches.progress(row, batch_id)
        if state is None:
            raise NotFoundError("404 Not Found")
        added = await self._batches.contents(batch, 0, SHOWN_ADDED, ("added",))
        refused = await self._batches.contents(batch, 0, SHOWN_REFUSED, ("refused",))
        context = await self._views.context(incoming, row, _("Uploaded files"))
        names = (
            "id",
            "created",
            "closed",
            "grouping",
            "column_name",
            "keep_location",
            "keep_original",
            "n_answers",
            "work_error",
        )
        public = BatchPublic(
            **context.public,
            form=self._forms.filled(incoming),
            batch={name: outward(value) for name, value in batch.items() if name in names},
            state=state,
            files=[_shown(file) for file in added],
            refused=[_shown(file) for file in refused],
        )
        private = BatchPrivate(
            **context.private,
            **self._limits(batch["n_answers"]),
            n_samples=await self._samples.count(row["id"]) if state["state"] == "done" else 0,
        )
        return Page("project/media_batch.html", public, private)

    async def close(self, incoming: Incoming, short_name: str, batch_id: int) -> Response:
        """Says that all files have come; those that have not arrived completely are left out."""
        row = await self._projects.owned(short_name, incoming.who)
        await self._batches.close(incoming.who, row, batch_id)
        return Redirect(f"{_at(short_name)}/{batch_id}")

    async def resume(self, incoming: Incoming, short_name: str, batch_id: int) -> Response:
        """Has files prepared that wait, after the background task was stopped or failed."""
        row = await self._projects.owned(short_name, incoming.who)
        await self._batches.resume(incoming.who, row, batch_id)
        return Redirect(f"{_at(short_name)}/{batch_id}")

    async def discard(self, incoming: Incoming, short_name: str, batch_id: int) -> Response:
        """Leaves out all files that have not become tasks."""
        row = await self._projects.owned(short_name, incoming.who)
        count = await self._batches.discard(incoming.who, row, batch_id)
        words = ngettext("%(count)s file was left out.", "%(count)s files were left out.", count, count=f"{count:,}")
        return Redirect(f"{_at(short_name)}/{batch_id}", words)


def _choices(incoming: Incoming) -> Mapping[str, Any]:
    form = incoming.form
    flags = {name: incoming.flag(name, False) for name in ("keep_location", "keep_original")}
    return {**{name: form.get(name) for name in ("grouping", "column", "n_answers")}, **flags}


def _shown(file: MediaFile) -> Values:
    facts = file.prepared or {}
    return {
        "id": file.id,
        "path": file.path,
        "page": file.page,
        "kind": facts.get("kind"),
        "url": facts.get("url"),
        "thumbnail": facts.get("thumbnail"),
        "task_id": file.task_id,
        "reason": made_files.decode_reason(file.reason),
    }


def _at(short_name: str) -> str:
    return f"/project/{quote(short_name)}/tasks/media"
