"""A template: the questions of a project with sample tasks, and the card that the gallery shows of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final

import attrs
import orjson

from crowdd.core.text.picture_addresses import FILES_AT
from crowdd.core.text.words import slip_pattern
from crowdd.core.uploads import TYPES
from crowdd.features.gallery import folders
from crowdd.features.gallery.folders import texts_changed
from crowdd.kernel import exact_json
from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import SOURCE, _
from crowdd.kernel.values import Values
from crowdd.kinds import questions
from crowdd.kinds.questions.options import check_text
from crowdd.kinds.questions.text_languages import Text, text_in

CARD_FILE: Final = "template.json"
THUMBNAIL: Final = "thumbnail.webp"
GROUPS: Final = ("pictures", "text", "sound", "video", "maps", "forms")
MAX_TASKS: Final = 20
MAX_FILES: Final = 60
MAX_BYTES: Final = 5_000_000
"""Of all files of a template. Its questions have a limit of their own."""
_MAX_TITLE, _MAX_DESCRIPTION, _MAX_KEYWORDS = 120, 400, 400
_TEXTS: Final = {"title": _MAX_TITLE, "description": _MAX_DESCRIPTION, "keywords": _MAX_KEYWORDS}


@attrs.frozen
class Card:
    """What the gallery shows of a template. Texts are strings, or texts by language."""

    group: str
    title: Text
    description: Text
    keywords: Text = ""

    def matches(self, words: Iterable[str], language: str, *, slip: bool = False) -> bool:
        """Whether each of the words (lower case) stands in the card, in a language or in English.

        With ``slip`` a word will do that one slip of the keys makes of it.
        """
        texts = (self.title, self.description, self.keywords)
        inside = " ".join(text_in(text, tag) for text in texts for tag in (language, SOURCE)).casefold()
        return all(word in inside or (slip and _meant(word, inside)) for word in words)

    def as_json(self) -> Values:
        """The card as its file has it."""
        return attrs.asdict(self)


def _meant(word: str, inside: str) -> bool:
    other = slip_pattern(word)
    return bool(other) and re.search(rf"\b(?:{other})", inside) is not None


@attrs.frozen
class Template:
    """A template as it is shown and used.

    ``folder`` is where one that comes with crowdd lies, ``row_id`` the row of any other. ``name`` stands in addresses.
    ``tasks`` are the ``info`` of sample tasks, with names of files in ``files``.
    """

    name: str
    card: Card
    questions: Values
    tasks: list[Values]
    n_answers: int | None
    files: frozenset[str]
    folder: Path | None = None
    row_id: int | None = None
    owner: str = ""
    own: bool = False
    offered: bool = True

    @property
    def thumbnail(self) -> str:
        """The address of its picture, "" without one."""
        return self.address(THUMBNAIL) if THUMBNAIL in self.files else ""

    def address(self, file: str) -> str:
        """Where a file of the template is."""
        return f"{FILES_AT}{self.name}/{file}"

    def shown(self, value: object) -> Any:
        """Questions or tasks with the addresses of files in the places of their names."""
        return texts_changed(value, lambda text: self.address(text) if text in self.files else text)


@attrs.frozen
class TemplateFolder:
    """A project folder that is a template: everything in it has been checked."""

    card: Card
    project: Values
    tasks: list[Values]
    n_answers: int | None
    files: Mapping[str, Path]

    def as_template(self, name: str, folder: Path) -> Template:
        """The template that comes with crowdd from this folder."""
        document = self.project["info"]["questions"]
        return Template(name, self.card, document, self.tasks, self.n_answers, frozenset(self.files), folder=folder)


def read(path: Path) -> TemplateFolder:
    """The project folder as a template. Raises NotFoundError, InvalidValueError with the file; waits for the disk."""
    folder = folders.read_folder(path)
    source = path / CARD_FILE
    document = folder.project["info"].get("questions")
    if document is None:
        raise InvalidValueError(_("The project has no questions. A template needs `info.questions`."))
    for problem in questions.validate(document):
        raise InvalidValueError(f"{path / folders.PROJECT_FILE}, questions{problem.path}: {problem.sentence}")
    card = card_of(_json(source)) if source.is_file() else _card_of_project(folder.project, document)
    files = {name: file for name, file in folder.files.items() if name == THUMBNAIL or _named(name, folder)}
    tasks = [values["info"] for values in islice(folder.tasks(), MAX_TASKS)]
    template = TemplateFolder(card, folder.project, tasks, folder.n_answers, files)
    for name in files:
        require_file_name(name)
    return template


def _named(name: str, folder: folders.Folder) -> bool:
    """Whether a file is one that tasks or questions may show."""
    return Path(name).suffix.lower() in TYPES and "/" not in name


def require_file_name(name: str) -> None:
    """Raises InvalidValueError for a file that a template cannot have."""
    if len(name) > 200 or Path(name).suffix.lower() not in TYPES:
        raise InvalidValueError(_("A template cannot have the file “%(name)s”.", name=name[:100]))


def card_of(value: object) -> Card:
    """The card of a JSON value. Raises InvalidValueError with what is wrong."""
    if not isinstance(value, dict):
        raise InvalidValueError(f"{CARD_FILE}: this is not a JSON object.")
    for problem in _card_problems(value):
        raise InvalidValueError(f"{CARD_FILE}: {problem}")
    return Card(value["group"], value["title"], value["description"], value.get("keywords", ""))


def _card_problems(value: Values) -> Iterator[str]:
    if value.get("group") not in GROUPS:
        yield _("`group` must be one of %(groups)s.", groups=", ".join(GROUPS))
    for name, maximum in _TEXTS.items():
        text = value.get(name, "")
        if name == "keywords" and not text:
            continue
        for problem in check_text(text, f"/{name}"):
            yield f"{problem.path}: {problem.sentence}"
        if any(len(words) > maximum for words in _words(text)):
            yield _("`%(name)s` may have at most %(max)s characters.", name=name, max=maximum)


def _words(text: object) -> list[str]:
    return [each for each in (text.values() if isinstance(text, dict) else [text]) if isinstance(each, str)]


def _card_of_project(project: Values, document: Values) -> Card:
    """The card of a project folder that has none."""
    description = str(project.get("description") or "").strip()[:_MAX_DESCRIPTION] or project["name"]
    return card_of({"group": group_of(document), "title": project["name"][:_MAX_TITLE], "description": description})


def group_of(document: Values) -> str:
    """The group that questions belong to, by the first medium that they show."""
    groups = {"picture": "pictures", "pictures": "pictures", "zoom_picture": "pictures", "map": "maps"}
    media = [medium["type"] for step in document["steps"] for medium in step.get("media", [])]
    kinds = [groups.get(kind, kind) for kind in media]
    return next((kind for kind in ("maps", *kinds) if kind in kinds and kind in GROUPS), "forms")


def _json(source: Path) -> object:
    try:
        return exact_json.loads(source.read_bytes())
    except orjson.JSONDecodeError as error:
        raise InvalidValueError(f"{source}: this is not JSON: {error}.") from None
