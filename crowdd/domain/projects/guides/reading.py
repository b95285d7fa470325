"""Guides as one reader sees them: each text in one language, Markdown as HTML."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NotRequired, TypedDict

from markupsafe import Markup

from crowdd.domain.core.text.rendered_text import Laid, Prose
from crowdd.kinds.guides import FIELD_GUIDE, TUTORIAL
from crowdd.languages.content_languages import direction_of, language_of
from crowdd.values import Values

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
        texts = [pick(part["text"], locale, language)[0] for part in parts if "text" in part]
        return _Reader(locale, language, await self._prose.of(texts, _HEADING))


class _Reader:
    def __init__(self, locale: str, language: str, laid: Laid) -> None:
        self._locale, self._language, self._laid = locale, language, laid

    def words(self, text: object) -> Words:
        words, tag = pick(text, self._locale, self._language)
        return Words(words=words, lang=tag, dir=direction_of(tag) if tag else "auto")

    def _plain(self, part: Values, name: str) -> str:
        return pick(part[name], self._locale, self._language)[0] if name in part else ""

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


def pick(text: object, locale: str, language: str) -> tuple[str, str]:
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
