"""Loading a project from a folder, as often as one likes: it is made once, then brought up to date."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from itertools import islice
from typing import Any

import attrs

from crowdd.core import log_statements
from crowdd.core import statements as core_statements
from crowdd.core.base import Base
from crowdd.core.quotas import Quota
from crowdd.core.records import statements as record_statements
from crowdd.database.access import Database, Transactions
from crowdd.features.accounts.accounts import Accounts
from crowdd.features.gallery.folders import Folder
from crowdd.features.imports.import_rows import GOLD
from crowdd.features.projects import statements as project_statements
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.questions import folder_versions
from crowdd.features.tasks import sample_statements
from crowdd.features.tasks import statements as task_statements
from crowdd.features.translations import folder_translations
from crowdd.kernel.errors import ConflictError, InvalidValueError, NotFoundError
from crowdd.kernel.requester import SYSTEM, Requester
from crowdd.kernel.values import Values
from crowdd.kinds.project import PROJECT

CHUNK = 1000  # tasks in a transaction
Aside = Callable[..., Awaitable[Any]]  # calls a function with arguments, and has what it gives


async def _at_once(work: Callable[..., Any], *arguments: object) -> Any:
    return work(*arguments)


@attrs.frozen
class Loading:
    """What makes projects of folders. What waits for the disk is done ``aside``, if anything is to go on meanwhile."""

    base: Base
    accounts: Accounts
    projects: Projects
    aside: Aside = _at_once


@attrs.frozen
class Loaded:
    """What became of a folder: its project, whether that is new, and how many of its tasks are."""

    id: int
    short_name: str
    created: bool
    tasks: int
    added: int
    published: bool


async def load(
    loading: Loading,
    folder: Folder,
    *,
    owner: str | None = None,
    who: Requester = SYSTEM,
    publish: bool | None = None,
    progress: Callable[[int], object] = lambda done: None,
) -> Loaded:
    """Makes the project of a folder, or brings the one of that short name up to date, and adds the tasks it lacks.

    Tasks are the same when their ``info`` is; those that are no longer in the folder stay. A new project belongs to
    ``owner`` (name or e-mail), else to the requester (``who``), at the command line to the first administrator,
    else to an account for examples. ``publish`` None does what the folder says, the first time. ``progress`` is told
    the tasks done so far.

    Raises NotFoundError, ConflictError, InvalidValueError, ForbiddenError; tasks added until then stay.
    """
    row = await find(loading, folder.project["short_name"])
    created = row is None
    if row is None:
        row = await _create(loading, folder, await _owner(loading, owner, who))
    elif row["owner_id"] not in await _possible_owners(loading, owner, who, row):
        raise ConflictError(f"The project {row['short_name']} has another owner already.")
    files = FolderUploads(loading, folder, row["id"], who)
    await _restore_versions(loading, folder, row, files)
    await _update(loading, folder, row, files, who)
    await _restore_translations(loading, folder, row, who)
    importing = Import(loading.base.db, row["id"], who, loading.base.quota, samples=folder.samples)
    added = await _add_tasks(loading, folder, importing, files, progress)
    published = await _publish(loading, folder, publish, who)
    return Loaded(row["id"], row["short_name"], created, folder.n_tasks, added, published)


class FolderUploads:
    """Uploads the files that ``info`` names, each once."""

    def __init__(self, loading: Loading, folder: Folder, project_id: int, who: Requester) -> None:
        self._db, self._quota, self._who = loading.base.db, loading.base.quota, who
        self._kept: list[tuple[str, int]] = []
        self._uploads, self._aside = loading.base.uploads, loading.aside
        self._folder, self._project_id = folder, project_id
        self._addresses: dict[str, str] = {}

    async def replaced_in(self, info: object) -> Any:
        """The value with the addresses of files in the places of their paths."""
        replaced = await self._aside(self._folder.named_in, info, self._address)
        await self._count()
        return replaced

    async def _count(self) -> None:
        """Has the files counted that were kept since the last time."""
        new_files, self._kept = self._kept, []
        if not new_files:
            return

        async def work(tx: Database) -> None:
            await core_statements.note_files(tx, new_files, ())
            await self._quota.require(tx, self._who)

        await self._db.transaction(work)

    async def next(self, rest: Iterator[dict[str, object]]) -> list[Values]:
        """The next tasks, as many as one transaction takes, with the addresses of their files."""
        batch = list(await self._aside(self._next, rest))
        await self._count()
        return batch

    def _next(self, rest: Iterator[dict[str, object]]) -> list[Values]:
        named_in = self._folder.named_in
        return [{**values, "info": named_in(values["info"], self._address)} for values in islice(rest, CHUNK)]

    def _address(self, name: str) -> str:
        if name not in self._addresses:
            path = self._uploads.keep(self._project_id, self._folder.files[name], name)
            self._kept.append((path, self._folder.files[name].stat().st_size))
            self._addresses[name] = f"/uploads/{path}"
        return self._addresses[name]


class Import:
    """Adds tasks to a project unless it has them already, chunk by chunk; others may add some meanwhile.

    A task that stands in the file several times is wanted as often.
    """

    def __init__(
        self,
        db: Transactions,
        project_id: int,
        who: Requester = SYSTEM,
        quota: Quota | None = None,
        *,
        samples: bool = False,
    ) -> None:
        self._quota, self._samples = quota, samples
        self._db, self.project_id, self._who = db, project_id, who
        self._present: Counter[str] = Counter()  # tasks of the project by digest, when it had so many ordinals
        self._ordinals = -1
        self._seen: Counter[str] = Counter()  # tasks of earlier chunks by digest, all of which are in the project now

    async def add(self, chunk: list[Values]) -> int:
        """How many of the chunk were missing and have been added, in one transaction."""

        async def work(tx: Database) -> tuple[Counter[str], int, list[str], int]:
            ordinals = await task_statements.hold_imports(
                tx, self.project_id, gold=any(GOLD in values for values in chunk)
            )
            present = (
                self._present
                if ordinals == self._ordinals
                else await task_statements.count_digests(tx, self.project_id)
            )
            digests = await task_statements.compute_digests(tx, [values["info"] for values in chunk])
            missing = list(self._missing(present, digests, chunk))
            if missing:
                ids = await task_statements.insert_tasks(tx, self.project_id, missing)
                if self._samples:
                    await sample_statements.mark_samples(tx, self.project_id, ids)
                await self._note(tx, len(missing))
            if self._quota:
                await self._quota.require(tx, self._who)
            return present, ordinals + len(missing), digests, len(missing)

        self._present, self._ordinals, digests, added = await self._db.transaction(work)
        self._seen.update(digests)
        return added

    def _missing(self, present: Counter[str], digests: list[str], chunk: list[Values]) -> Iterator[Any]:
        here: Counter[str] = Counter()
        for digest, values in zip(digests, chunk, strict=True):
            if self._seen[digest] + here[digest] >= present[digest]:
                yield values
            here[digest] += 1

    async def _note(self, tx: Database, added: int) -> None:
        await log_statements.write_act(
            tx, self._who, "load", "task", None, project_id=self.project_id, after={"tasks": added}
        )


async def find(loading: Loading, short_name: str) -> ProjectPage | None:
    """The project with a short name, no matter who owns it, or None."""
    try:
        return await loading.projects.page(short_name, SYSTEM)
    except NotFoundError:
        return None


async def _possible_owners(loading: Loading, name: str | None, who: Requester, row: ProjectPage) -> set[int]:
    """Whose a project that is there already may be."""
    if name is not None:
        return {(await loading.accounts.find(name))["id"]}
    return {row["owner_id"] if who.user_id is None else who.user_id}


async def _owner(loading: Loading, name: str | None, who: Requester) -> Requester:
    """Whose the new project is: a person, or somebody as a requester at the command line."""
    if who.user_id is not None:
        return who
    if name is not None:
        row = await loading.accounts.find(name)
    else:
        admins = await loading.accounts.admins()
        row = admins[0] if admins else await loading.accounts.of_examples()
    return attrs.evolve(SYSTEM, user_id=row["id"], user_name=row["name"])


async def _create(loading: Loading, folder: Folder, who: Requester) -> ProjectPage:
    """A new project without its ``info``, which names files by their paths until they are uploaded."""
    category = await _category(loading, folder)
    made = await loading.base.records.create(PROJECT, who, {**folder.project, **category, "info": {}})
    return await loading.projects.page(made["short_name"], SYSTEM)


async def _update(loading: Loading, folder: Folder, row: ProjectPage, files: FolderUploads, who: Requester) -> None:
    """Keys of ``info`` that the folder does not have stay as they are."""
    info = {**row["info"], **await files.replaced_in(folder.project["info"])}
    body = {**folder.project, **await _category(loading, folder), "info": info}
    await loading.base.records.change(PROJECT, who, row["id"], body)


async def _restore_versions(loading: Loading, folder: Folder, row: ProjectPage, files: FolderUploads) -> None:
    """Before the questions and guides of the folder are stored: these then get the numbers that follow."""
    if not folder.versions:
        return
    versions = await files.replaced_in(folder.versions)

    async def work(tx: Database) -> None:
        await record_statements.lock_row(tx, PROJECT, row["id"])
        await folder_versions.restore(tx, row["id"], await project_statements.read_info(tx, row["id"]), versions)

    await loading.base.db.transaction(work)


async def _restore_translations(loading: Loading, folder: Folder, row: ProjectPage, who: Requester) -> None:
    if not folder.translations:
        return

    async def work(tx: Database) -> None:
        await folder_translations.restore(tx, row["id"], folder.translations)
        await loading.base.quota.require(tx, who)

    await loading.base.db.transaction(work)


async def _category(loading: Loading, folder: Folder) -> dict[str, int]:
    if folder.category is None:
        return {}
    known = {row["short_name"]: row["id"] for row in await loading.projects.categories()}
    if folder.category not in known:
        raise InvalidValueError(f"Category {folder.category} does not exist. Categories: {', '.join(known)}.")
    return {"category_id": known[folder.category]}


async def _add_tasks(
    loading: Loading,
    folder: Folder,
    importing: Import,
    files: FolderUploads,
    progress: Callable[[int], object],
) -> int:
    added, done = 0, 0
    rest = folder.tasks()
    while chunk := await files.next(rest):
        added += await importing.add(chunk)
        loading.base.shared.change_notifier.notify(importing.project_id)
        done += len(chunk)
        progress(done)
    return added


async def _publish(loading: Loading, folder: Folder, wanted: bool | None, who: Requester) -> bool:
    """Whether the project is published in the end; one that its owner has paused is opened only when told to."""
    row = await loading.projects.page(folder.project["short_name"], SYSTEM)
    if wanted is None:
        wanted = folder.published and row["first_published"] is None
    if wanted and not row["published"]:
        await loading.projects.publish(row, who)
    return bool(wanted or row["published"])
