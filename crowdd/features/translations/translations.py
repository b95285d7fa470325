"""Translations of the texts of a project, for its owners and its translators."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import attrs
import orjson

from crowdd.core import log_statements
from crowdd.core.quotas import Quota
from crowdd.core.records import rights
from crowdd.core.records import statements as record_statements
from crowdd.database.access import Database, Transactions
from crowdd.features.translations import statements
from crowdd.features.translations.rows import (
    LanguageProgress,
    SourceProject,
    StoredTranslation,
    TranslatedString,
    Translation,
)
from crowdd.kernel.errors import (
    NOT_FOUND,
    ConflictError,
    InvalidValueError,
    NotFoundError,
    TooLargeError,
)
from crowdd.kernel.languages import NAMES, _
from crowdd.kernel.languages.content_languages import language_of
from crowdd.kernel.requester import Requester
from crowdd.kinds.project import PROJECT
from crowdd.kinds.roles import OWNERS, TRANSLATORS, Role
from crowdd.kinds.translations import (
    DIGEST,
    MAX_BYTES,
    NAME_KEY,
    SourceText,
    Translated,
    count_states,
    digest_of,
    same_language,
    source_texts,
)

MAX_STRINGS: Final = 20_000  # in one request


@attrs.frozen
class Change:
    """A new translation of a text; "" removes it.

    ``source`` is the digest of the text that it was made from, None for the text of now. ``seen`` is the digest of the
    translation that it replaces, None for any.
    """

    key: str
    text: str
    source: str | None = None
    seen: str | None = None


@attrs.frozen
class Outcome:
    """What became of changes. Nothing was stored if there are ``errors``, by key.

    ``unknown`` are keys of no text, ``conflicts`` those whose translation somebody else has changed meanwhile.
    """

    translation: Translation
    errors: dict[str, InvalidValueError]
    unknown: list[str]
    conflicts: list[str]


class TextTranslations:
    """Each method checks that the requester may translate the project. Raises NotFoundError, AnonymousError,
    ForbiddenError, and InvalidValueError for a language into which nothing can be translated.
    """

    def __init__(self, db: Transactions, quota: Quota) -> None:
        self._db, self._quota = db, quota

    async def progress(self, who: Requester, project_id: int) -> list[LanguageProgress]:
        """The languages of pages other than that of the project, and how far each is; [] if the project names none."""
        source = await self._source(self._db, who, project_id, "")
        own, stored = language_of(source["info"]), await statements.list_translations(self._db, project_id)
        known = {each["language"]: each for each in stored}
        languages = [name for name in NAMES if own and not same_language(name, own)]
        return [_progress(source, known.get(name) or StoredTranslation(language=name, version=0, strings={}))
                for name in languages]  # fmt: skip

    async def get(self, who: Requester, project_id: int, language: str) -> Translation:
        """All texts beside their translations; also for a language in which there is nothing yet."""
        source = await self._source(self._db, who, project_id, language)
        return _shown(source, source_texts(source, language), language)

    async def change(
        self,
        who: Requester,
        project_id: int,
        language: str,
        changes: Sequence[Change],
        version: int | None = None,
    ) -> Outcome:
        """Stores some translations; others stay as they are.

        Raises ConflictError if the translation is not at ``version`` any more, TooLargeError, and ForbiddenError when
        the account of the owner is full.
        """

        async def work(tx: Database) -> Outcome:
            await _require(tx, who, project_id, TRANSLATORS)
            if await statements.hold_translation(tx, project_id, language) is None:
                raise NotFoundError(NOT_FOUND)
            source = await self._source(tx, who, project_id, language)
            if version is not None and version != source["version"]:
                raise ConflictError(_("Someone else has changed this in the meantime."), code="changed_meanwhile")
            outcome = await _changed(tx, project_id, source, language, changes)
            if outcome.translation["version"] != source["version"]:
                after = {"language": language, "texts": len(changes)}
                await log_statements.write_act(
                    tx, who, "translate", "project", project_id, project_id=project_id, after=after
                )
                await self._quota.require(tx, who)
            return outcome

        return await self._db.transaction(work)

    async def remove(self, who: Requester, project_id: int, language: str) -> bool:
        """Removes a translation, for owners; False when there is none."""

        async def work(tx: Database) -> bool:
            await _require(tx, who, project_id, OWNERS)
            done = await statements.delete_translation(tx, project_id, language)
            if done:
                await log_statements.write_act(
                    tx,
                    who,
                    "delete_translation",
                    "project",
                    project_id,
                    project_id=project_id,
                    before={"language": language},
                )
            return done

        return await self._db.transaction(work)

    async def _source(self, db: Database, who: Requester, project_id: int, language: str) -> SourceProject:
        """The project with what is stored of a language; "" for none."""
        await _require(db, who, project_id, TRANSLATORS)
        source = await statements.find_source(db, project_id, language)
        if source is None:
            raise NotFoundError(NOT_FOUND)
        if language:
            _require_language(language, language_of(source["info"]))
        return source


async def _require(db: Database, who: Requester, project_id: int, wanted: frozenset[Role]) -> None:
    roles = await record_statements.roles_to_project(db, project_id, who)
    if roles is None or not roles & (TRANSLATORS | {Role.REACHABLE}):
        raise NotFoundError(NOT_FOUND)
    rights.require(who, roles, wanted)


def _require_language(language: str, source: str) -> None:
    if language not in NAMES:
        raise InvalidValueError(
            _("%(name)s must be one of %(choices)s.", name="language", choices=", ".join(NAMES)),
            code="no_such_language",
        )
    if not source:
        words = _("The project does not say in which language its texts are. Its owners set that in the settings.")
        raise InvalidValueError(words, code="no_source_language")
    if same_language(language, source):
        raise InvalidValueError(_("This is the language of the project itself."), code="no_such_language")


def _progress(source: SourceProject, stored: StoredTranslation) -> LanguageProgress:
    counts = count_states(source_texts(source, stored["language"]), stored["strings"])
    return LanguageProgress(
        language=stored["language"],
        version=stored["version"],
        missing=counts["missing"],
        outdated=counts["outdated"],
        translated=counts["translated"],
    )


def _shown(source: SourceProject, texts: Iterable[SourceText], language: str) -> Translation:
    stored = source["strings"]
    return Translation(
        language=language,
        source_language=language_of(source["info"]),
        version=source["version"],
        strings=[
            TranslatedString(
                key=text.key,
                source=text.text,
                digest=text.digest,
                text=text.shown(stored),
                state=text.state(stored),
            )
            for text in texts
        ],
    )


async def _changed(
    tx: Database, project_id: int, source: SourceProject, language: str, changes: Sequence[Change]
) -> Outcome:
    texts = source_texts(source, language)
    by_key, strings = {text.key: text for text in texts}, dict(source["strings"])
    errors: dict[str, InvalidValueError] = {}
    unknown, conflicts = list[str](), list[str]()
    for change in changes:
        text = by_key.get(change.key)
        if text is None:
            unknown.append(change.key)
            continue
        try:
            words = await _checked(tx, project_id, text, change)
        except InvalidValueError as error:
            errors[change.key] = error
            continue
        before = text.shown(source["strings"])
        if change.seen is not None and change.seen != digest_of(before) and words != before:
            conflicts.append(change.key)
        else:
            _put(strings, text, words, change.source or text.digest)
    if not errors and strings != source["strings"]:
        strings = _within_limits(strings, by_key)
        await statements.write_translation(tx, project_id, language, strings, source["version"] + 1)
        source = {**source, "strings": strings, "version": source["version"] + 1}
    return Outcome(_shown(source, texts, language), errors, unknown, conflicts)


async def _checked(tx: Database, project_id: int, text: SourceText, change: Change) -> str:
    """The translation as it is stored. Raises InvalidValueError."""
    if change.source is not None and not DIGEST.fullmatch(change.source):
        raise InvalidValueError(_("The digest must be 16 hexadecimal digits."))
    words = change.text.replace("\r\n", "\n").strip()
    if len(words) > text.maximum:
        raise InvalidValueError(
            _("This may have at most %(max)s characters (got %(size)s).", max=text.maximum, size=len(words))
        )
    if text.key == NAME_KEY and words:
        words = str(PROJECT.field("name").parse(words))
        if await statements.is_name_taken(tx, project_id, words):
            raise InvalidValueError(_("Another project has this name, or one that looks like it."))
    return words


def _put(strings: dict[str, Translated], text: SourceText, words: str, source: str) -> None:
    if not words:
        strings.pop(text.key, None)
    elif text.key in strings or words != text.given:
        strings[text.key] = Translated(text=words, source=source)


def _within_limits(strings: dict[str, Translated], texts: Mapping[str, SourceText]) -> dict[str, Translated]:
    """What is to be stored: of texts that are gone, only as much as there is room for. Raises TooLargeError."""
    if len(orjson.dumps(strings)) > MAX_BYTES:
        strings = {key: each for key, each in strings.items() if key in texts}
        if (size := len(orjson.dumps(strings))) > MAX_BYTES:
            sentence = _("A translation may have at most %(max)s bytes (got %(size)s).", max=MAX_BYTES, size=size)
            raise TooLargeError(sentence)
    return strings
