"""The API of translations, so that a language can be sent to translators as a file and come back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from crowdd.features.translations.translations import MAX_STRINGS, Change, TextTranslations
from crowdd.http.api.objects import checked_id
from crowdd.http.api.operations import COUNT, PASSWORD, PROJECT_ID, of_project
from crowdd.http.operation import Parameter, Schema, array_of, closed_object
from crowdd.http.request import Incoming
from crowdd.http.responses import JsonResponse, Response
from crowdd.http.routing import Route, get
from crowdd.kernel import errors
from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import NAMES
from crowdd.kinds.body import Body, Listed, Nested
from crowdd.kinds.body import key as part
from crowdd.kinds.translations import MAX_BYTES
from crowdd.kinds.types import Integer, Text

_AT: Final = "/api/project/<int:object_id>/translations"
_ONE: Final = f"{_AT}/<language>"
_WHO: Final = "For owners and translators of the project, and administrators. "
_TEXT: Final[Schema] = {"type": "string"}
_LANGUAGE: Final = Parameter("language", {"type": "string", "enum": list(NAMES)}, "A language of pages.", where="path")
_REFUSALS: Final = (errors.AnonymousError, errors.NotFoundError, errors.InvalidValueError)
_PARTS: Final[dict[str, Schema]] = {
    "language": _TEXT,
    "source_language": {**_TEXT, "description": "That of the project."},
    "version": {**COUNT, "description": "How often the translation was changed; 0: there is none."},
    "strings": array_of(
        closed_object(
            key=_TEXT,
            source={**_TEXT, "description": "The text of the project."},
            digest={**_TEXT, "description": "Digest of that text."},
            text={**_TEXT, "description": "Its translation; empty if there is none."},
            state={"type": "string", "enum": ["missing", "outdated", "translated"]},
        )
    ),
}
_LIST = of_project(
    name="list_translations",
    summary="List the languages of a project",
    about=_WHO + "Returns the languages that pages have, without that of the project, and how many of its texts are in"
    " each state.",
    parameters=(PROJECT_ID, PASSWORD),
    answer=array_of(
        closed_object(language=_TEXT, version=COUNT, missing=COUNT, outdated=COUNT, translated=COUNT),
    ),
)
_GET = of_project(
    name="get_translation",
    summary="Read the texts of a project beside their translations",
    about=_WHO,
    parameters=(PROJECT_ID, _LANGUAGE, PASSWORD),
    answer=closed_object(**_PARTS),
    refusals=_REFUSALS,
)
_PUT = of_project(
    name="set_translation",
    summary="Translate texts of a project",
    about=_WHO + "Takes what GET returns, with other values of `text`. Texts that are not listed stay, and an empty"
    f" `text` removes a translation. A language may have {MAX_BYTES:,} bytes.",
    parameters=(PROJECT_ID, _LANGUAGE, PASSWORD),
    answer=closed_object(
        **_PARTS, unknown={**array_of(_TEXT), "description": "Keys that no text has; they were not stored."}
    ),
    refusals=(*_REFUSALS, errors.ConflictError, errors.ForbiddenError, errors.TooLargeError),
)
_DELETE = of_project(
    name="delete_translation",
    summary="Delete a translation",
    about="For owners of the project and administrators.",
    parameters=(PROJECT_ID, _LANGUAGE, PASSWORD),
    answer=None,
)


class StringBody(Body):
    """A text and its translation."""

    key: str = part(Text(maximum=2000), "Which text.")
    text: str = part(Text(maximum=50_000), "The translation; empty removes it.")
    digest: str = part(Text(maximum=16), "Digest of the text that was translated (default: that of now).", default="")
    source: str = part(Text(maximum=50_000), "Passed over.", default="")
    state: str = part(Text(maximum=20), "Passed over.", default="")


class TranslationBody(Body):
    """Translations of some texts."""

    strings: list[StringBody] = part(Listed(of=Nested(of=StringBody), maximum=MAX_STRINGS), "The translations.")
    version: int | None = part(
        Integer(minimum=0),
        "The request is refused if the translation has another version. Null or left out: whatever it has.",
        default=None,
        null=True,
    )
    language: str = part(Text(maximum=20), "If it is sent, that of the address.", default="")
    source_language: str = part(Text(maximum=20), "Passed over.", default="")


class TranslationsApi:
    """/api/project/<id>/translations."""

    def __init__(self, translations: TextTranslations) -> None:
        self._translations = translations

    def routes(self) -> Iterator[Route]:
        yield get(_AT, self.listed, endpoint="translations", operation=_LIST)
        yield get(_ONE, self.one, endpoint="translations", operation=_GET)
        yield Route("PUT", _ONE, self.put, endpoint="translations", operation=_PUT, body=TranslationBody)
        yield Route("DELETE", _ONE, self.delete, endpoint="translations", operation=_DELETE)

    async def listed(self, incoming: Incoming, object_id: int) -> Response:
        """The languages."""
        return JsonResponse(await self._translations.progress(incoming.who, checked_id(object_id)))

    async def one(self, incoming: Incoming, object_id: int, language: str) -> Response:
        """All texts of a language."""
        return JsonResponse({**await self._translations.get(incoming.who, checked_id(object_id), language)})

    async def put(self, incoming: Incoming, object_id: int, language: str, body: TranslationBody) -> Response:
        """Stores all that is sent, or nothing."""
        if body.language not in ("", language):
            words = f"`language` is {body.language}, but the address says {language}."
            raise InvalidValueError(words, code="another_language")
        changes = [Change(each.key, each.text, each.digest or None) for each in body.strings]
        outcome = await self._translations.change(incoming.who, checked_id(object_id), language, changes, body.version)
        for name, error in outcome.errors.items():
            raise InvalidValueError(f"`{name}`: {error}")
        return JsonResponse({**outcome.translation, "unknown": outcome.unknown})

    async def delete(self, incoming: Incoming, object_id: int, language: str) -> Response:
        """Removes a language."""
        await self._translations.remove(incoming.who, checked_id(object_id), language)
        return JsonResponse(None, 204)
