"""Import a file or an address into a project from the command line: preview, then its rows in the background queue."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import attrs
from twisted.internet.task import deferLater

from crowdd.admin_cli.runtime import presence, reactor
from crowdd.core.feature import House
from crowdd.features.imports.feature import ImportsFeature
from crowdd.features.imports.import_roles import Choices
from crowdd.features.imports.imports import CHECK, HANDLER, ImportPage
from crowdd.features.imports.progress import MOVING
from crowdd.features.imports.sources import is_address
from crowdd.features.projects.feature import ProjectsFeature
from crowdd.features.projects.lookups import project
from crowdd.kernel.errors import InvalidValueError, NotFoundError
from crowdd.kernel.requester import SYSTEM
from crowdd.kernel.values import Values
from crowdd.sched.feature import Scheduling
from crowdd.sched.job import Handler, RunningTask
from crowdd.sched.queue import QueuedTask
from crowdd.sched.queue_worker import Worker, handlers

FIGURES = ("rows", "added", "updated", "present", "refused", "empty", "twice", "kept")
SHOWN_REFUSED = 20  # rows
_LOOK_SECONDS = 0.5
_STOPPED = ("dead", "cancelled")
Report = Callable[[int], None]


@attrs.frozen
class Asked:
    """What is imported, and how. ``source`` is a file or an address, None to go on with the newest import."""

    source: str | None
    key: str | None = None
    keep_columns: bool = False
    n_answers: int | None = None
    sheet: str | None = None
    on_error: str | None = None
    dry_run: bool = False


async def run(house: House, which: str, asked: Asked, report: Report) -> Values:
    """The figures of an import as ``import``, ``state``, FIGURES and ``refused_rows``, when it has ended.

    Raises InvalidValueError for a file of which nothing can be used, and when rows are refused and nobody has said
    what becomes of them.
    """
    row = await project(house[ProjectsFeature].projects, house.base.records, which)
    if asked.source is None:
        return await _ended(house, which, await _newest(house, which), report)
    import_id = await _brought(house, which, asked)
    import_page = await _moved(house, which, import_id, report)
    if import_page["check_error"]:
        await house[ImportsFeature].imports.forget(SYSTEM, row, import_id)
        raise InvalidValueError(import_page["check_error"])
    if asked.dry_run:
        figures = await _told(house, which, import_page, import_page["preview"] or {}, "preview")
        await house[ImportsFeature].imports.forget(SYSTEM, row, import_id)
        return figures
    if import_page["waits"] and asked.on_error is None:
        await house[ImportsFeature].imports.forget(SYSTEM, row, import_id)
        raise InvalidValueError(f"{import_page['waits']} Use --on-error skip or --on-error stop. --dry-run lists them.")
    begun = await house[ImportsFeature].imports.go_on(SYSTEM, row, import_id, Choices(on_error=asked.on_error))
    if begun.waits:
        await house[ImportsFeature].imports.forget(SYSTEM, row, import_id)
        raise InvalidValueError(begun.waits)
    return await _ended(house, which, import_id, report)


async def _brought(house: House, which: str, asked: Asked) -> int:
    row = await project(house[ProjectsFeature].projects, house.base.records, which)
    dialect = {} if asked.sheet is None else {"sheet": asked.sheet}
    choices = Choices(
        dialect=dialect or None, key=asked.key, keep_columns=asked.keep_columns, n_answers=asked.n_answers, begin=False
    )
    source = asked.source or ""
    if is_address(source):
        return await house[ImportsFeature].imports.fetch(SYSTEM, row, source, choices)
    path = Path(source)
    if not path.is_file():
        raise NotFoundError(f"{source} is not a file and not an address.")
    with path.open("rb") as file:  # noqa: ASYNC230 - nothing else runs in this process
        return await house[ImportsFeature].imports.bring(SYSTEM, row, path.name, file, choices)


async def _newest(house: House, which: str) -> int:
    """The newest import that has begun and not ended. One that was stopped goes on."""
    row = await project(house[ProjectsFeature].projects, house.base.records, which)
    for each in await house[ImportsFeature].imports.newest(SYSTEM, row):
        if each["queue_item"] is not None and each["state"] in (*MOVING, *_STOPPED):
            if each["state"] in _STOPPED:
                await house[Scheduling].queue.retry(SYSTEM, each["queue_item"])
            return each["id"]
    raise NotFoundError("The project has no unfinished import.")


async def _moved(house: House, which: str, import_id: int, report: Report) -> ImportPage:
    """Works in the queue until an import waits or has ended. A running server may do the work as well."""
    row = await project(house[ProjectsFeature].projects, house.base.records, which)

    def start(handler: Handler, task: QueuedTask) -> RunningTask:
        return handler.run(house, task)

    known = {name: handler for name, handler in handlers().items() if name in (HANDLER, CHECK)}
    async with presence(house.base.settings) as session:
        worker = Worker(
            reactor, known, house.base.db, house[Scheduling].queue, house.base.mail, start, size=1, session=session
        )
        while (import_page := await house[ImportsFeature].imports.get(SYSTEM, row, import_id))["state"] in MOVING:
            begun = await worker.take()
            while not all(settled.called for settled in begun):
                await _look(house, which, import_id, report)
            if not begun:
                await _look(house, which, import_id, report)
    return import_page


async def _look(house: House, which: str, import_id: int, report: Report) -> None:
    await deferLater(reactor, _LOOK_SECONDS)
    row = await project(house[ProjectsFeature].projects, house.base.records, which)
    if (progress := await house[ImportsFeature].imports.progress(row, import_id)) is not None:
        report(progress["done"])


async def _ended(house: House, which: str, import_id: int, report: Report) -> Values:
    import_page = await _moved(house, which, import_id, report)
    if import_page["state"] != "done":
        error = (
            (import_page["work"] or {}).get("error")
            or import_page["check_error"]
            or f"The import is {import_page['state']}."
        )
        raise InvalidValueError(str(error))
    return await _told(house, which, import_page, import_page, "done")


async def _told(house: House, which: str, import_page: ImportPage, figures: Mapping[str, object], state: str) -> Values:
    row = await project(house[ProjectsFeature].projects, house.base.records, which)
    refused = await house[ImportsFeature].imports.errors(SYSTEM, row, import_page["id"], 0, SHOWN_REFUSED)
    counts = {name: figures.get(name, 0) for name in FIGURES}
    if state == "done":  # `rows` of an import are those of its file
        counts["rows"] = import_page["added"] + import_page["updated"] + import_page["present"] + import_page["refused"]
    return {"import": import_page["id"], "state": state, **counts, "refused_rows": [dict(each) for each in refused]}
