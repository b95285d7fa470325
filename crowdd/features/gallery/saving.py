"""New templates: of a project, or of a project folder in a zip archive."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

from crowdd.core.records.listing_statements import Query, equal
from crowdd.core.records.records import Records
from crowdd.core.uploads import TYPES, Uploads, container_of, suffix_of
from crowdd.database.access import Row
from crowdd.features.gallery import template
from crowdd.features.gallery.folders import PROJECT_FILE, TASK_FILES, texts_changed
from crowdd.features.gallery.gallery import NewTemplate
from crowdd.features.gallery.template import CARD_FILE, MAX_BYTES, MAX_FILES, Card, TemplateFolder, card_of, group_of
from crowdd.features.imports.files.containers import BROKEN, require_small_directory
from crowdd.kernel.errors import InvalidValueError, NotFoundError, TooLargeError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds.questions.text_languages import columns_of
from crowdd.kinds.task import TASK

SAMPLES: Final = 5  # tasks of a project that a template keeps
_MAX_MEMBERS: Final = 500
_MAX_JSON: Final = 1_000_000  # bytes of each text file of a folder
_TEXT_FILES: Final = frozenset({PROJECT_FILE, CARD_FILE, *TASK_FILES})
_PIECE: Final = 65_536
Aside = Callable[..., Awaitable[Any]]


class TemplateMaker:
    """Makes templates of what owners have. ``aside`` calls functions that wait for the disk."""

    def __init__(self, records: Records, uploads: Uploads, aside: Aside, base_url: str) -> None:
        self._records, self._uploads, self._aside, self._base_url = records, uploads, aside, base_url.rstrip("/")

    async def of_project(self, who: Requester, row: Row, title: str, description: str, *, samples: bool) -> NewTemplate:
        """The questions of a project and, with ``samples``, its first tasks: the columns that its questions show.

        Nothing else of the project goes along: no answers, no other columns, no right answers of tasks, no other files.
        A project with a password gives no tasks. Raises InvalidValueError, TooLargeError.
        """
        document: Any = row["info"].get("questions")
        if document is None:
            raise InvalidValueError(_("The project has no questions. A template needs a list of questions."))
        card = _card(title, description, document, row)
        tasks = await self._tasks(who, row, document) if samples and row["lock_id"] is None else []
        (asked, shown), files = await self._aside(self._with_files, row["id"], [document, tasks])
        return NewTemplate(card, asked, shown, None, files)

    async def of_archive(self, path: Path) -> NewTemplate:
        """The project folder in a zip archive. Raises InvalidValueError, TooLargeError."""
        new_template: NewTemplate = await self._aside(_unpacked, path)
        return new_template

    async def of_folder(self, path: Path) -> NewTemplate:
        """A project folder on the disk of the server. Raises NotFoundError, InvalidValueError, TooLargeError."""
        new_template: NewTemplate = await self._aside(_read, path)
        return new_template

    async def _tasks(self, who: Requester, row: Row, document: Values) -> list[Values]:
        shown = columns_of(document) | {"title"}
        tasks = await self._records.list(Query(TASK, equal(TASK, project_id=row["id"]), limit=SAMPLES), who)
        infos = [task["info"] for task in tasks if isinstance(task["info"], dict)]
        return [{name: value for name, value in info.items() if name in shown} for info in infos]

    def _with_files(self, project_id: int, value: object) -> tuple[Any, dict[str, bytes]]:
        """The value with names in the places of addresses of the project's files, and these files."""
        container, files = container_of(project_id), dict[str, bytes]()
        begins = tuple(f"{base}/uploads/{container}/" for base in ("", self._base_url))

        def named(text: str) -> str:
            name = next((text.removeprefix(begin) for begin in begins if text.startswith(begin)), "")
            upload = self._uploads.find(container, name) if name else None
            if upload is None or upload[0].suffix.lower() not in TYPES:
                return text
            if name not in files:
                _require_bounded(len(files) + 1, upload[0].stat().st_size + sum(map(len, files.values())))
                files[name] = upload[0].read_bytes()
            return name

        return texts_changed(value, named), files


def _card(title: str, description: str, document: Values, row: Row) -> Card:
    return card_of(
        {
            "group": group_of(document),
            "title": title.strip() or row["name"],
            "description": description.strip() or row["description"] or row["name"],
        }
    )


def _unpacked(path: Path) -> NewTemplate:
    with tempfile.TemporaryDirectory(prefix="crowdd-template-") as place:
        try:
            require_small_directory(path)
            with zipfile.ZipFile(path) as archive:
                _extract(archive, Path(place))
        except BROKEN:
            raise InvalidValueError(
                _("The archive cannot be read. It must be a zip archive of a project folder.")
            ) from None
        return _read(Path(place))


def _extract(archive: zipfile.ZipFile, place: Path) -> None:
    """Unpacks the files that a template may have, by their plain names: nothing is written elsewhere."""
    members = [member for member in archive.infolist() if not member.is_dir()]
    if len(members) > _MAX_MEMBERS:
        raise TooLargeError(_("The archive has more than %(max)s files.", max=_MAX_MEMBERS))
    top = _top(members)
    left = MAX_BYTES + len(_TEXT_FILES) * _MAX_JSON
    for member in members:
        name = member.filename.removeprefix(top)
        if "/" in name or "\\" in name or name.startswith(".") or not _wanted(name):
            continue
        left -= _copy(archive, member, place / name, min(left, _MAX_JSON if name in _TEXT_FILES else MAX_BYTES))


def _top(members: list[zipfile.ZipInfo]) -> str:
    """The folder inside the archive that has project.json, with its slash; "" for none. The shortest path wins."""
    paths = sorted(
        (member.filename for member in members if member.filename.rpartition("/")[2] == PROJECT_FILE), key=len
    )
    if not paths:
        raise InvalidValueError(_("The archive has no %(name)s.", name=PROJECT_FILE))
    return paths[0].removesuffix(PROJECT_FILE)


def _wanted(name: str) -> bool:
    return name in _TEXT_FILES or (Path(name).suffix.lower() in TYPES and len(name) <= 200)


def _copy(archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path, maximum: int) -> int:
    """How many bytes a member has, which are counted while they are unpacked: archives may lie about them."""
    size = 0
    with archive.open(member) as source, target.open("wb") as out:
        while piece := source.read(_PIECE):
            size += len(piece)
            if size > maximum:
                raise TooLargeError(_too_large())
            out.write(piece)
    return size


def _read(path: Path) -> NewTemplate:
    """The folder as a new template, with the contents of its files."""
    try:
        folder = template.read(path)
    except (InvalidValueError, NotFoundError) as error:
        raise InvalidValueError(str(error).replace(f"{path}/", "")) from None
    return _of_folder(folder)


def _of_folder(folder: TemplateFolder) -> NewTemplate:
    used = {name: file for name, file in folder.files.items() if name == template.THUMBNAIL or _is_used(name, folder)}
    _require_bounded(len(used), sum(file.stat().st_size for file in used.values()))
    contents = {name: file.read_bytes() for name, file in used.items()}
    for name, content in contents.items():
        _require_type(name, content)
    return NewTemplate(folder.card, folder.project["info"]["questions"], folder.tasks, folder.n_answers, contents)


def _is_used(name: str, folder: TemplateFolder) -> bool:
    """Whether questions or sample tasks name a file."""
    texts: set[str] = set()

    def seen(text: str) -> str:
        texts.add(text)
        return text

    texts_changed([folder.project["info"]["questions"], folder.tasks], seen)
    return name in texts


def _require_type(name: str, content: bytes) -> None:
    """Raises InvalidValueError for a file that is not what its name says."""
    if TYPES.get(suffix_of(content)) != TYPES[Path(name).suffix.lower()] and not _is_plain_mp3(name, content):
        raise InvalidValueError(_("The file “%(name)s” is not what its name says.", name=name[:100]))


def _is_plain_mp3(name: str, content: bytes) -> bool:
    return name.lower().endswith(".mp3") and content[:1] == b"\xff" and content[1:2] >= b"\xe0"


def _require_bounded(count: int, size: int) -> None:
    if count > MAX_FILES:
        raise TooLargeError(_("A template may have at most %(max)s files.", max=MAX_FILES))
    if size > MAX_BYTES:
        raise TooLargeError(_too_large())


def _too_large() -> str:
    return _("The files of a template may have at most %(max)s MB together.", max=MAX_BYTES // 1_000_000)
