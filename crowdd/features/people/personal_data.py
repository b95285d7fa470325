"""The file with all data about a person: a background task writes it as a ZIP archive, and a job deletes it later.

The archive has tables, each as JSON and as CSV. It is written piece by piece, so that its size does not matter.
"""

from __future__ import annotations

import csv
import io
import os
import secrets as random
import shutil
import tempfile
import zipfile
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from pathlib import Path

import attrs
import orjson

from crowdd.core import log_statements
from crowdd.core.text.words import csv_cell
from crowdd.core.uploads import Uploads
from crowdd.database.access import Database, Row, Transactions
from crowdd.features.accounts import statements as account_statements
from crowdd.features.accounts.email_links import EmailLinks
from crowdd.features.answer_files.answer_files import AnswerFiles
from crowdd.features.people import personal_data_statements
from crowdd.kernel import files as kernel_files
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.errors import ConflictError, NotFoundError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds.kind import outward
from crowdd.sched.queue import Queue


class Table:
    """One table on its way: two files in a folder."""

    def __init__(self, folder: Path, name: str) -> None:
        self._json, self._csv = folder / f"{name}.json", folder / f"{name}.csv"
        self._any = False

    def add(self, rows: Sequence[Row]) -> None:
        """Appends rows; the first ones say which columns there are."""
        with self._json.open("ab") as out:
            for row in rows:
                out.write(b",\n" if self._any else b"[\n")
                out.write(orjson.dumps({name: outward(value) for name, value in row.items()}, default=str))
                self._begin(row)
        text = io.StringIO(newline="")
        writer = csv.writer(text)
        writer.writerows([csv_cell(value) for value in row.values()] for row in rows)
        with self._csv.open("a", encoding="utf-8", newline="") as out_csv:
            out_csv.write(text.getvalue())

    def end(self) -> None:
        """Closes the array; without a row it is an empty one, and there is no CSV."""
        with self._json.open("ab") as out:
            out.write(b"\n]\n" if self._any else b"[]\n")

    def _begin(self, row: Row) -> None:
        if not self._any:
            self._any = True
            with self._csv.open("w", encoding="utf-8", newline="") as out:
                csv.writer(out).writerow(row)


def pack_folder(folder: Path, target: Path) -> int:
    """Zips the files of a folder to a new file that only we may read; its size in bytes."""
    draft = target.with_suffix(".part")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as out, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.iterdir()):
            archive.write(path, path.name)
    draft.replace(target)
    return target.stat().st_size


HANDLER = "personal_export"
KEPT_DAYS = 3
_READ_ME = """Everything that this site knows about you, each table as JSON and as CSV.

account          what you told us, and what you chose
sessions         where you are signed in
projects         what you own or help to own
task_runs        your answers
file_…           the files that you sent with them; their addresses end with the rest of the name
reliability      how often you were right in each project (id), on tasks whose answer was known and by what others said
favourites       tasks that you marked
collections      what you called your collections of tasks
collected_tasks  the tasks in them, with your notes
comments         what you wrote about tasks
news             which news you want by e-mail, when you looked at them, and whether you left the leaderboards
notices          answers to your comments
muted_projects   projects of which you want no news
certificates     certificates of what you gave, with the keys of their links
leaderboards     on which leaderboards you are, and what your answers are worth there
groups           groups that you made
memberships      groups that you joined, and your name there
templates        what you saved as templates, with sample tasks
blogposts        what you wrote
announcements    what you announced
acts             what you did that is written down
letters          which mails went to you
picture.png      your picture, if you gave us one

Passwords and keys are not in here: nobody but you should have them in a file.
"""
Progress = Callable[[int], Awaitable[None]]


@attrs.frozen
class Export:
    """Where somebody's request stands: none, waiting or ready."""

    state: str
    requested: datetime | None = None
    ready: datetime | None = None
    bytes: int | None = None


@attrs.frozen(eq=False)
class PersonalData:
    """Exports of people, below ``folder``: never under an address that can be guessed, and never without asking who."""

    _db: Transactions
    _queue: Queue
    _uploads: Uploads
    _worker_thread: WorkerThread
    _email_links: EmailLinks
    _files: AnswerFiles
    folder: Path

    async def status(self, user_id: int) -> Export:
        """What became of the last request."""
        row = await personal_data_statements.export(self._db, user_id)
        if row is None:
            return Export("none")
        return Export("ready" if row.ready else "waiting", row.requested, row.ready, row.bytes)

    async def request(self, user_id: int, who: Requester) -> bool:
        """Has an export made; False when one is under way. The one before goes."""

        async def work(tx: Database) -> tuple[bool, str | None]:
            new, before = await personal_data_statements.request_export(tx, user_id)
            if new:
                await self._queue.add(tx, HANDLER, {"user_id": user_id}, who)
                await log_statements.write_act(tx, who, "export", "user", user_id)
            return new, before

        new, before = await self._db.transaction(work)
        self.forget([before] if before else [])
        return new

    async def file(self, user_id: int) -> Path:
        """The file that is ready. Raises NotFoundError."""
        row = await personal_data_statements.export(self._db, user_id)
        path = self.folder / (row.file if row and row.file else "none")
        if row is None or not row.file or not path.is_file():
            raise NotFoundError(_("There is no export of your data, or it has expired. Create a new one."))
        return path

    async def read(self, path: Path) -> bytes:
        """The content of a file, read in a thread."""
        return await self._worker_thread.do(path.read_bytes)

    async def make(self, user_id: int, report: Progress) -> Values:
        """Makes the file; ``report`` gets the number of rows so far."""
        name = f"{random.token_hex(16)}.zip"
        done = await self._pack(user_id, self.folder / name, report)
        if not await self._db.transaction(lambda tx: self._ready(tx, user_id, name, done["bytes"])):
            self.forget([name])
        return done

    async def write_to(self, user_id: int, target: Path, who: Requester, report: Progress) -> Values:
        """The same at once, to a new file of the operator's choice; nobody is written to. Raises ConflictError."""
        if target.exists():
            raise ConflictError(f"{target} already exists.")
        done = await self._pack(user_id, target, report)
        await log_statements.write_act(self._db, who, "export", "user", user_id)
        return done

    async def _pack(self, user_id: int, target: Path, report: Progress) -> Values:
        kernel_files.make_folder(self.folder, self.folder.parent)
        folder = Path(tempfile.mkdtemp(prefix="making-", dir=self.folder))
        try:
            done = await self._gather(user_id, folder, report)
            return {"rows": done, "bytes": await self._worker_thread.do(pack_folder, folder, target)}
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    async def _ready(self, tx: Database, user_id: int, name: str, size: int) -> bool:
        """Writes that the file is there, and to the person; False when they have gone meanwhile."""
        if not await personal_data_statements.keep_export(tx, user_id, name, size):
            return False
        row = await account_statements.lock_address(tx, user_id)
        # While mail is off its links appear in the log, where nobody's name belongs.
        await self._email_links.send_page(tx, "/account/profile", row, "export_ready", days=KEPT_DAYS)
        return True

    async def _gather(self, user_id: int, folder: Path, report: Progress) -> int:
        (folder / "README.txt").write_text(_READ_ME, "utf-8")
        done = 0
        for part in personal_data_statements.PARTS:
            table, after = Table(folder, part), 0
            while rows := await personal_data_statements.rows(self._db, part, user_id, after):
                await self._worker_thread.do(table.add, rows)
                done, after = done + len(rows), rows[-1]["id"]
                await report(done)
            table.end()
        picture = await personal_data_statements.avatar(self._db, user_id)
        if picture and (self._uploads.folder / picture).is_file():
            shutil.copyfile(self._uploads.folder / picture, folder / "picture.png")
        return done + await self._files.copy_of_person(user_id, folder)

    def forget(self, names: list[str]) -> None:
        """Removes files."""
        for name in names:
            (self.folder / name).unlink(missing_ok=True)

    async def sweep(self, now: float) -> int:
        """Removes exports that have had their days, and what a broken-off attempt left; ``now`` in epoch seconds."""
        old = await personal_data_statements.drop_old_exports(self._db, KEPT_DAYS)
        self.forget(old)
        names = await personal_data_statements.exports_kept(self._db)
        left = [
            path for path in self.folder.glob("*") if path.name not in names and now - path.stat().st_mtime > _A_DAY
        ]
        for path in left:
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        return len(old) + len(left)


_A_DAY = 86400.0
