"""Writing a project to a folder that ``folder_import`` takes: so it moves to another server, or is made again.

What the project is goes along: texts, settings, tasks, earlier versions of questions and guides, translations, the
files that these name. What people did with it does not: answers, results, who owns it, its password, its blog. Tasks
that were taken out are left out.
"""

from __future__ import annotations

import shutil
from collections.abc import AsyncGenerator, Callable, Set
from contextlib import aclosing
from pathlib import Path
from typing import Any

import attrs
import orjson

from crowdd.core.base import Base
from crowdd.core.uploads import Uploads, container_of
from crowdd.database.access import Database
from crowdd.features.exports import statements as export_statements
from crowdd.features.exports.file_writer import Resources
from crowdd.features.gallery.folders import INFO_FILES, LONG_DESCRIPTION, PROJECT_FILE, TASK_FILES, texts_changed
from crowdd.features.media.store import MediaStore
from crowdd.features.media.stores import fetch
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.questions import folder_versions
from crowdd.features.questions.folder_versions import VERSIONS_FILE
from crowdd.features.translations import folder_translations
from crowdd.features.translations.folder_translations import TRANSLATIONS_FILE
from crowdd.kernel import exact_json
from crowdd.kernel.requester import SYSTEM
from crowdd.kernel.values import Values
from crowdd.kinds.project import PROJECT
from crowdd.kinds.roles import OWNERS
from crowdd.kinds.task import TASK

FILES = "files"
TASKS_FILE = TASK_FILES[0]
ATTRIBUTES = ("name", "short_name", "description", "allow_anonymous_contributors", "zip_download", "webhook")
PARTS = (PROJECT_FILE, LONG_DESCRIPTION, VERSIONS_FILE, TRANSLATIONS_FILE, *TASK_FILES, *INFO_FILES)
OF_TASKS = ("info", "n_answers", "priority_0", "quorum", "calibration")
_PLACES = ("container", "thumbnail")  # of the picture on this server, beside its address


class UploadCopies:
    """The uploads that texts name, copied into the folder, each once. ``elsewhere`` are keys of media in a store."""

    def __init__(
        self, uploads: Uploads, project_id: int, base_url: str, folder: Path, elsewhere: Set[str] = frozenset()
    ) -> None:
        self._uploads, self._container, self._folder = uploads, container_of(project_id), folder
        self._elsewhere = elsewhere
        self._begins = tuple(f"{base}/uploads/{self._container}/" for base in ("", base_url))
        self.copied: dict[str, Path] = {}
        self._wanted: dict[str, Path] = {}

    def named_in(self, value: object) -> Any:
        """The value with the paths of files in the places of their addresses: what ``Folder.named_in`` undoes."""
        return texts_changed(value, self._path)

    def _path(self, text: str) -> str:
        name = next((text.removeprefix(begin) for begin in self._begins if text.startswith(begin)), None)
        upload = self._uploads.find(self._container, name) if name else None
        key = f"{self._container}/{name}"
        if name is None or (upload is None and key not in self._elsewhere):
            return text
        if name not in self.copied:
            self.copied[name] = self._folder / FILES / name
            self.copied[name].parent.mkdir(parents=True, exist_ok=True)
            if upload is None:
                self._wanted[key] = self.copied[name]
            else:
                shutil.copyfile(upload[0], self.copied[name])
        return f"{FILES}/{name}"

    async def fetch(self, store: MediaStore) -> None:
        """Copies the media that were named since the last call. Raises MediaStoreError."""
        while self._wanted:
            key, target = self._wanted.popitem()
            await fetch(store, key, target)


@attrs.frozen
class Unloading:
    """What writes projects as folders."""

    base: Base
    projects: Projects
    media_store: MediaStore
    resources: Resources


async def unload(unloading: Unloading, row: ProjectPage, folder: Path, report: Callable[[int], object]) -> list[Path]:
    """The files that make up a project (a row of ``Projects.page``), all written; those that are there are replaced.

    ``report`` gets the number of tasks that are done. ``project.json`` comes last: a folder without it is not whole and
    cannot be loaded. A text that has the address of a file somewhere inside keeps it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    elsewhere = {key async for key, _size in unloading.media_store.keys(row["id"])}
    files = UploadCopies(unloading.base.uploads, row["id"], unloading.base.settings.base_url, folder, elsewhere)
    written = [await _write_tasks(unloading, row, folder, files, report)]
    about, texts = await _about(unloading, row, files)
    versions = await folder_versions.earlier(unloading.base.db, row["id"], row["info"])
    if versions:
        texts[VERSIONS_FILE] = orjson.dumps(files.named_in(versions), option=orjson.OPT_INDENT_2).decode() + "\n"
    if translations := await folder_translations.stored(unloading.base.db, row["id"]):
        texts[TRANSLATIONS_FILE] = orjson.dumps(translations, option=orjson.OPT_INDENT_2).decode() + "\n"
    await files.fetch(unloading.media_store)
    written += [_put(folder / name, text.encode()) for name, text in texts.items()]
    written += files.copied.values()
    return [*written, _put(folder / PROJECT_FILE, orjson.dumps(about, option=orjson.OPT_INDENT_2) + b"\n")]


async def _about(unloading: Unloading, row: ProjectPage, files: UploadCopies) -> tuple[Values, dict[str, str]]:
    """What project.json says, and the texts that have files of their own."""
    view = await unloading.base.records.get(PROJECT, SYSTEM, row["id"])
    categories = {category["id"]: category["short_name"] for category in await unloading.projects.categories()}
    info = files.named_in(view["info"])
    if "thumbnail_url" in info:
        info = {key: value for key, value in info.items() if key not in _PLACES}
    texts = {name: info.pop(key) for name, key in INFO_FILES.items() if _fits_a_file(info.get(key))}
    about = {name: view[name] for name in ATTRIBUTES}
    if view["category_id"] in categories:
        about["category"] = categories[view["category_id"]]
    if _fits_a_file(view["long_description"]):
        texts[LONG_DESCRIPTION] = view["long_description"]
    else:
        about["long_description"] = view["long_description"]
    return {**about, "published": view["published"], "info": info}, texts


def _fits_a_file(text: object) -> bool:
    """Whether a text comes back as it was: ends of lines and a mark at the beginning may not, when read from a file."""
    return isinstance(text, str) and text != "" and "\r" not in text and not text.startswith("\ufeff")


async def _write_tasks(
    unloading: Unloading, row: ProjectPage, folder: Path, files: UploadCopies, report: Callable[[int], object]
) -> Path:
    draft = folder / f"{TASKS_FILE}.part"

    async def work(tx: Database) -> None:
        await export_statements.begin(tx)
        done = 0
        with draft.open("wb") as out:
            async with aclosing(_tasks(unloading.resources, tx, row, unloading.base.settings.base_url)) as parts:
                async for tasks in parts:
                    for task in tasks:
                        out.write(orjson.dumps({name: files.named_in(task[name]) for name in OF_TASKS}) + b"\n")
                    await files.fetch(unloading.media_store)
                    report(done := done + len(tasks))

    await unloading.resources.reading.transaction(work)
    return draft.replace(folder / TASKS_FILE)


async def _tasks(
    resources: Resources, tx: Database, row: ProjectPage, base_url: str
) -> AsyncGenerator[list[Values], None]:
    """In parts and by their ids, as they are wanted: without those that were taken out."""
    roles = row["roles"]
    lines = export_statements.as_json(
        TASK, roles, base_url, export_statements.Chosen(row["id"], owns=bool(roles & OWNERS))
    )
    async with aclosing(resources.pieces(tx, lines)) as pieces:
        async for piece in pieces:
            yield [view for view in exact_json.stored(b"[%b]" % piece.content) if view["retired_at"] is None]


def _put(path: Path, content: bytes) -> Path:
    draft = path.with_name(f"{path.name}.part")
    draft.write_bytes(content)
    return draft.replace(path)
