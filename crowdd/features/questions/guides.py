"""Guides of a project: what a reader sees of them, checks before they are stored, and their earlier versions.

A reader gets each text in one language, with Markdown as HTML.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NotRequired, TypedDict

from markupsafe import Markup

from crowdd.core.records import rights
from crowdd.core.records import statements as record_statements
from crowdd.core.text.rendered_text import Laid, Prose
from crowdd.database.access import Database, Row
from crowdd.features.projects import statements as project_statements
from crowdd.features.projects.parts import ProjectPart
from crowdd.features.questions import questions, statements
from crowdd.features.questions.rows import GuideVersion, GuideVersionSummary
from crowdd.kernel.errors import NOT_FOUND, InvalidValueError, NotFoundError
from crowdd.kernel.languages import _, ngettext
from crowdd.kernel.languages.content_languages import direction_of, language_of
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds.guides import FIELD_GUIDE, GUIDES, TUTORIAL, Guide
from crowdd.kinds.project import PROJECT
from crowdd.kinds.roles import OWNERS, Role

_HEADING: Final = 3  # the level of the highest headings in a text


class Words(TypedDict):
    """A text with its language ("" if unknown) and direction."""

    words: str
    lang: str
    dir: str


class Html(TypedDict):
    """A text as HTML that is safe, with its language and direction."""

    html: Markup
    lang: str
    dir: str


class ShownPicture(TypedDict):
    """A picture; what it shows and its credit are "" where the owner says nothing."""

    url: str
    description: str
    credit: str


class ShownStep(TypedDict):
    """A step of a tutorial; ``task`` names a sample task."""

    name: str
    title: Words
    text: Html | None
    picture: ShownPicture | None
    task: str | None
    highlight: Values | None
    practice: list[Values] | None


class ShownTutorial(TypedDict):
    """A tutorial; ``tasks`` are the columns of the sample tasks by name."""

    tasks: dict[str, Values]
    steps: list[ShownStep]


class ShownGroup(TypedDict):
    name: str
    title: Words


class ShownEntry(TypedDict):
    """An entry of a field guide; ``find`` is what a search looks through, in all languages."""

    name: str
    title: Words
    text: Html | None
    pictures: list[ShownPicture]
    find: str
    group: NotRequired[str]


class ShownFieldGuide(TypedDict):
    version: int
    groups: list[ShownGroup]
    entries: list[ShownEntry]


class GuideReader:
    """Reads guides for one reader: ``locale`` is the language of the page."""

    def __init__(self, prose: Prose) -> None:
        self._prose = prose

    async def tutorial(self, info: Values, locale: str) -> ShownTutorial | None:
        """The guided tutorial in ``info`` of a project, None without one."""
        document = info.get(TUTORIAL.name)
        return None if document is None else await self.tutorial_of(document, language_of(info), locale)

    async def tutorial_of(self, document: Values, language: str, locale: str) -> ShownTutorial:
        """A valid tutorial. ``language`` is that of the project."""
        reader = await self._reader(document["steps"], language, locale)
        tasks = {task["name"]: task["info"] for task in document.get("tasks", [])}
        first = next(iter(tasks), None)
        return ShownTutorial(tasks=tasks, steps=[reader.step(step, first) for step in document["steps"]])

    async def field_guide(self, info: Values, locale: str) -> ShownFieldGuide | None:
        """The field guide in ``info`` of a project, None without one."""
        document = info.get(FIELD_GUIDE.name)
        if document is None:
            return None
        shown = await self.field_guide_of(document, language_of(info), locale)
        return {**shown, "version": info[FIELD_GUIDE.version_key]}

    async def field_guide_of(self, document: Values, language: str, locale: str) -> ShownFieldGuide:
        """A valid field guide that has no number yet (0)."""
        reader = await self._reader(document["entries"], language, locale)
        groups = [
            ShownGroup(name=group["name"], title=reader.words(group["title"])) for group in document.get("groups", [])
        ]
        return ShownFieldGuide(version=0, groups=groups, entries=[reader.entry(one) for one in document["entries"]])

    async def _reader(self, parts: list[Values], language: str, locale: str) -> _Reader:
        texts = [pick_text(part["text"], locale, language)[0] for part in parts if "text" in part]
        return _Reader(locale, language, await self._prose.of(texts, _HEADING))


class _Reader:
    def __init__(self, locale: str, language: str, laid: Laid) -> None:
        self._locale, self._language, self._laid = locale, language, laid

    def words(self, text: object) -> Words:
        words, tag = pick_text(text, self._locale, self._language)
        return Words(words=words, lang=tag, dir=direction_of(tag) if tag else "auto")

    def _plain(self, part: Values, name: str) -> str:
        return pick_text(part[name], self._locale, self._language)[0] if name in part else ""

    def _html(self, part: Values) -> Html | None:
        if "text" not in part:
            return None
        localized = self.words(part["text"])
        return Html(html=self._laid[localized["words"], _HEADING].html, lang=localized["lang"], dir=localized["dir"])

    def _picture(self, picture: Values) -> ShownPicture:
        described, credit = self._plain(picture, "description"), self._plain(picture, "credit")
        return ShownPicture(url=picture["url"], description=described, credit=credit)

    def step(self, step: Values, first: str | None) -> ShownStep:
        shows_task = "task" in step or "highlight" in step or "practice" in step
        practice = step.get("practice")
        return ShownStep(
            name=step["name"],
            title=self.words(step["title"]),
            text=self._html(step),
            picture=self._picture(step["picture"]) if "picture" in step else None,
            task=step.get("task", first) if shows_task else None,
            highlight=step.get("highlight"),
            practice=None if practice is None else [self._known(known) for known in practice],
        )

    def _known(self, known: Values) -> Values:
        plain_texts = {name: self._plain(known, name) for name in ("right", "wrong")}
        return {**known, **plain_texts}

    def entry(self, entry: Values) -> ShownEntry:
        pictures = [self._picture(picture) for picture in entry.get("pictures", [])]
        shown = ShownEntry(
            name=entry["name"],
            title=self.words(entry["title"]),
            text=self._html(entry),
            pictures=pictures,
            find=" ".join(words for name in ("title", "keywords") for words in _all(entry.get(name, ""))),
        )
        return {**shown, "group": entry["group"]} if "group" in entry else shown


def pick_text(text: object, locale: str, language: str) -> tuple[str, str]:
    """A text in the language of the page, or in the first of those that come next, with its language.

    The order is that of ``static/questions/texts.js``.
    """
    if not isinstance(text, dict):
        return str(text), language
    base = locale.partition("-")[0]
    wanted = (locale, base, language, language.partition("-")[0], "en")
    preferred = next((tag for tag in wanted if tag and tag in text), None)
    akin = next((tag for tag in text if tag.partition("-")[0] == base), None)
    tag = preferred or akin or next(iter(text))
    return str(text[tag]), str(tag)


def _all(text: object) -> Iterator[str]:
    yield from text.values() if isinstance(text, dict) else [str(text)]


class QuestionsPart(ProjectPart):
    """What follows from the questions and guides of a project; new versions of both are kept."""

    async def complete(self, tx: Database, row: Row | None, info: Values) -> Values:
        before = {} if row is None else row["info"]
        completed = questions.complete_questions(before, info)
        for guide in GUIDES:
            if row is None:
                completed = _first_numbered(guide, completed)
            else:
                completed = await _numbered(tx, row["id"], guide, before, completed)
        return completed

    async def complete_keys(self, tx: Database, project_id: int, stored: Values, keys: Values) -> Values:
        changed = [guide for guide in GUIDES if guide.name in keys]
        for guide in GUIDES:
            keys = _without_version(guide, keys)
        completed_keys = await questions.complete_questions_part(tx, project_id, stored, keys)
        if not changed:
            return completed_keys
        await record_statements.lock_row(tx, PROJECT, project_id)
        before = await project_statements.read_info(tx, project_id)
        for guide in changed:
            completed_keys = await _numbered(tx, project_id, guide, before, completed_keys)
        return completed_keys

    async def made(self, tx: Database, who: Requester, project_id: int, values: Values) -> None:
        for guide in GUIDES:
            if values["info"].get(guide.name) is not None:
                await statements.insert_guide_version(tx, project_id, guide.name, values["info"][guide.name])


def _first_numbered(guide: Guide, info: Values) -> Values:
    """``info`` of a new project with the number of the first version of a guide. Raises InvalidValueError."""
    completed = _without_version(guide, info)
    if completed.get(guide.name) is not None:
        _require_usable(guide, completed[guide.name])
        completed[guide.version_key] = 1
    return completed


async def _numbered(tx: Database, project_id: int, guide: Guide, before: Values, info: Values) -> Values:
    """``info`` with the number of its guide. A changed guide gets the next one, also if there was none meanwhile."""
    document, known = info.get(guide.name), before.get(guide.version_key)
    info = _without_version(guide, info)
    if document is None:
        return info
    if document != before.get(guide.name) or known is None:
        _require_usable(guide, document)
        known = await statements.insert_guide_version(tx, project_id, guide.name, document)
    return {**info, guide.version_key: known}


def _without_version(guide: Guide, info: Values) -> Values:
    return {name: value for name, value in info.items() if name != guide.version_key}


def _require_usable(guide: Guide, document: object) -> None:
    problems = guide.validate(document)
    if not problems:
        return
    first, others = problems[0], len(problems) - 1
    more = ngettext(" There is one more problem.", " There are %(num)s more problems.", others) if others else ""
    at = f"info.{guide.name}{first.path}"
    sentence = _("`%(place)s`: %(sentence)s%(more)s", place=at, sentence=first.sentence, more=more)
    raise InvalidValueError(sentence, code="invalid_guide", hint="docs/projects/guides.md describes the format.")


class GuideVersions:
    """Lists and reads versions of the guides of a project, with the roles that the requester has there."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def listed(
        self, who: Requester, roles: frozenset[Role], project_id: int, guide: Guide
    ) -> list[GuideVersionSummary]:
        """The versions that are kept, the newest first."""
        rights.require(who, roles, OWNERS)
        return await statements.list_guide_versions(self._db, project_id, guide.name)

    async def get(
        self, who: Requester, roles: frozenset[Role], project_id: int, guide: Guide, version: int
    ) -> GuideVersion:
        """One version. Raises NotFoundError for one that is not kept."""
        rights.require(who, roles, OWNERS)
        guide_version = await statements.find_guide_version(self._db, project_id, guide.name, version)
        if guide_version is None:
            raise NotFoundError(NOT_FOUND)
        return guide_version
