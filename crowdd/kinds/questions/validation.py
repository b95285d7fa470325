"""What is wrong with a list of questions (``info.questions``). Pure, and bounded by the limits of the format."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from typing import Any, Final, Self

import attrs
import orjson

from crowdd.kernel.languages import _
from crowdd.kernel.values import Values
from crowdd.kinds.questions.format import (
    MAX_BYTES,
    MAX_COMPARED,
    MAX_CONDITIONS,
    MAX_MEDIA,
    MAX_QUESTIONS,
    MAX_STEPS,
    NAME,
    QUESTIONS,
    RESERVED,
    VERSION,
)
from crowdd.kinds.questions.options import DESCRIPTION, OPINION, TEXT, Option, Problem, at, check_object, is_number
from crowdd.kinds.questions.question_type import COMMON, COMMON_OF_MARKS, QuestionType
from crowdd.kinds.questions.types import MEDIA, TYPES

MAX_PROBLEMS: Final = 100
Media = dict[str, str]
"""Types of media by their names."""


def asks(info: Values) -> bool:
    """Whether volunteers have something to see: a presenter, or questions."""
    return bool(info.get("task_presenter")) or info.get(QUESTIONS) is not None


def asks_opinions(info: Values) -> bool:
    """Whether a question of a project asks people about themselves: one that has no right answer."""
    steps = (info.get(QUESTIONS) or {"steps": []})["steps"]
    return any(question.get("kind") == OPINION for step in steps for question in step.get("questions", []))


def validate(document: object) -> list[Problem]:
    """The first MAX_PROBLEMS problems in the order of the document, [] if it can be shown."""
    try:
        size = len(orjson.dumps(document))
    except (TypeError, ValueError, RecursionError):
        return [Problem("", _("This is not JSON."))]
    if size > MAX_BYTES:
        sentence = _("The questions may have at most %(max)s bytes (got %(size)s).", max=MAX_BYTES, size=size)
        return [Problem("", sentence)]
    return _first(_Check().document(document))


def _first(problems: Iterable[Problem]) -> list[Problem]:
    first_problems: list[Problem] = []
    for problem in problems:
        first_problems.append(problem)
        if len(first_problems) == MAX_PROBLEMS:
            break
    return first_problems


def is_usable(document: object) -> bool:
    """Whether it can be shown."""
    return not validate(document)


@attrs.frozen
class _Earlier:
    """A question that a condition may name. ``values``: its answers with their types, a type for any, None for none."""

    kind: QuestionType | None
    values: frozenset[tuple[type, Any]] | type | None
    unsure: bool

    @classmethod
    def of(cls, question: Values) -> Self:
        """What later conditions need, found once."""
        kind = TYPES.get(_text(question, "type"))
        answer_values = kind.values(question) if kind is not None else None
        values = (
            frozenset((type(value), value) for value in answer_values)
            if isinstance(answer_values, list)
            else answer_values
        )
        return cls(kind, values, bool(question.get("unsure")))

    def may_be(self, value: object) -> bool:
        """Whether the question can have this answer."""
        if value is None:
            return self.unsure
        if isinstance(self.values, frozenset):
            return isinstance(value, str | bool) and (type(value), value) in self.values
        return is_number(value)


@attrs.define
class _Check:
    """Walks through a document once. It remembers names, and the types of the questions before."""

    names: set[str] = attrs.field(factory=set)
    before: dict[str, _Earlier] = attrs.field(factory=dict)  # questions that a condition may name
    n_questions: int = 0

    def document(self, document: object) -> Iterator[Problem]:
        parts = {"version": Option(_check_version, {}, needed=True), "steps": Option(_nothing, {}, needed=True)}
        yield from check_object(document, "", parts)
        if not isinstance(document, dict) or "steps" not in document:
            return
        steps = document["steps"]
        if not isinstance(steps, list) or not 1 <= len(steps) <= MAX_STEPS:
            yield Problem("/steps", _("List 1 to %(max)s steps.", max=MAX_STEPS))
            return
        for nth, step in enumerate(steps):
            yield from self.step(step, at("/steps", nth))
            if self.n_questions > MAX_QUESTIONS:
                yield Problem("/steps", _("There may be at most %(max)s questions.", max=MAX_QUESTIONS))
                return
        if not self.n_questions:
            yield Problem("/steps", _("Ask at least one question."))

    def step(self, step: object, path: str) -> Iterator[Problem]:
        parts = {"name": self._name_option(), "title": TEXT} | dict.fromkeys(("media", "questions", "show_if"), _free())
        yield from check_object(step, path, parts)
        if not isinstance(step, dict):
            return
        yield from self.condition(step.get("show_if"), at(path, "show_if"), self.before)
        media = yield from self.media(step.get("media", []), at(path, "media"))
        yield from self.questions(step.get("questions", []), at(path, "questions"), self.before, media)
        yield from _check_shared_keys(step.get("questions", []), at(path, "questions"))

    def media(self, media: object, path: str) -> Generator[Problem, None, Media]:
        """Problems of a step's media; returns their types by name."""
        types: Media = {}
        if not isinstance(media, list) or len(media) > MAX_MEDIA:
            yield Problem(path, _("List at most %(max)s media.", max=MAX_MEDIA))
            return types
        for nth, medium in enumerate(media):
            here = at(path, nth)
            kind = MEDIA.get(_text(medium, "type"))
            options = kind.options if kind else {}
            known = {"name": self._name_option(), "type": _needed_free(), "description": DESCRIPTION, **options}
            if kind is None and isinstance(medium, dict):
                if "type" in medium:
                    pages = _(
                        "Pages of PDF files cannot be shown. Add the file to the tasks: each page becomes a picture."
                    )
                    yield Problem(at(here, "type"), pages if medium["type"] == "pdf" else _one_of(MEDIA))
                known |= {name: _free() for name in medium if name not in known}
            yield from check_object(medium, here, known)
            types[_text(medium, "name")] = _text(medium, "type")
        return types

    def questions(
        self, questions: object, path: str, before: dict[str, _Earlier], media: Media | None
    ) -> Iterator[Problem]:
        """Problems of a list of questions. ``media`` is None for questions about a mark."""
        if not isinstance(questions, list) or len(questions) > MAX_QUESTIONS:
            yield Problem(path, _("List at most %(max)s questions.", max=MAX_QUESTIONS))
            return
        for nth, question in enumerate(questions):
            self.n_questions += 1
            if self.n_questions > MAX_QUESTIONS:
                return
            yield from self.question(question, at(path, nth), before, media)
            if isinstance(question, dict):
                before[_text(question, "name")] = _Earlier.of(question)

    def question(
        self, question: object, path: str, before: dict[str, _Earlier], media: Media | None
    ) -> Iterator[Problem]:
        kind = TYPES.get(_text(question, "type"))
        common = COMMON if media is not None else COMMON_OF_MARKS
        known = {"name": self._name_option(), "type": _needed_free(), **common, "show_if": _free()}
        if kind is None and isinstance(question, dict):
            if "type" in question:
                yield Problem(at(path, "type"), _one_of(TYPES))
            known |= {name: _free() for name in question if name not in known}
        if kind is not None:
            known |= {
                **kind.options,
                **({"on": _free()} if kind.media else {}),
                **({"each": _free()} if kind.each else {}),
            }
        yield from check_object(question, path, known)
        if not isinstance(question, dict):
            return
        yield from self.condition(question.get("show_if"), at(path, "show_if"), before)
        if kind is not None:
            yield from kind.check(question, path)
            yield from self.marks(kind, question, path, before, media)
        yield from _check_keys(question, path)

    def marks(
        self,
        kind: QuestionType,
        question: Values,
        path: str,
        before: dict[str, _Earlier],
        media: Media | None,
    ) -> Iterator[Problem]:
        """What only questions on a medium have."""
        if media is None and kind.needs_medium:
            yield Problem(at(path, "type"), _("A question about a mark cannot mark something itself."))
            return
        if media is None and kind.whole:
            yield Problem(at(path, "type"), _("A question about a mark cannot ask for files."))
            return
        on = question.get("on")
        if on is None and kind.needs_medium:
            yield Problem(path, _("“%(name)s” is missing.", name="on"))
        if on is not None and kind.media and (media or {}).get(on if isinstance(on, str) else "") not in kind.media:
            sentence = _("Name a medium of this step of the type %(types)s.", types=", ".join(sorted(kind.media)))
            yield Problem(at(path, "on"), sentence)
        if kind.each and "each" in question:
            yield from self.questions(question["each"], at(path, "each"), dict(before), None)

    def condition(self, show_if: object, path: str, before: Mapping[str, _Earlier]) -> Iterator[Problem]:
        """Problems of a ``show_if``: None, a condition, or a list of them."""
        if show_if is None:
            return
        conditions = show_if if isinstance(show_if, list) else [show_if]
        if len(conditions) > MAX_CONDITIONS:
            yield Problem(path, _("Write at most %(max)s conditions.", max=MAX_CONDITIONS))
            return
        for nth, one in enumerate(conditions):
            yield from _check_condition(one, at(path, nth) if isinstance(show_if, list) else path, before)

    def _name_option(self) -> Option:
        return Option(self._check_name, {}, needed=True)

    def _check_name(self, value: object, path: str) -> Iterator[Problem]:
        if not isinstance(value, str) or not NAME.fullmatch(value):
            sentence = _("A name has 1 to 40 lower-case letters, digits and _, and begins with a letter.")
            yield Problem(path, sentence)
        elif value in RESERVED:
            yield Problem(path, _("The name “%(name)s” is reserved.", name=value))
        elif value in self.names:
            yield Problem(path, _("The name “%(name)s” is used twice.", name=value))
        else:
            self.names.add(value)


def _nothing(value: object, path: str) -> Iterator[Problem]:
    return iter(())


def _free() -> Option:
    return Option(_nothing, {})


def _needed_free() -> Option:
    return Option(_nothing, {}, needed=True)


def _text(value: object, name: str) -> str:
    text = value.get(name) if isinstance(value, dict) else None
    return text if isinstance(text, str) else ""


def _one_of(known: Mapping[str, object]) -> str:
    return _("The type must be one of %(types)s.", types=", ".join(known))


def _check_version(value: object, path: str) -> Iterator[Problem]:
    if value != VERSION or isinstance(value, bool):
        yield Problem(path, _("The version of the format is %(version)s.", version=VERSION))


def _check_condition(condition: object, path: str, before: Mapping[str, _Earlier]) -> Iterator[Problem]:
    yield from check_object(condition, path, dict.fromkeys(("question", "is"), _needed_free()))
    if not isinstance(condition, dict) or not {"question", "is"} <= condition.keys():
        return
    earlier = before.get(condition["question"]) if isinstance(condition["question"], str) else None
    if earlier is None:
        yield Problem(at(path, "question"), _("Name a question that comes before."))
    elif earlier.kind is not None and earlier.values is None:
        sentence = _("Nothing can depend on an answer of the type %(type)s.", type=earlier.kind.name)
        yield Problem(at(path, "question"), sentence)
    values = condition["is"]
    if not isinstance(values, list) or not 1 <= len(values) <= MAX_COMPARED:
        yield Problem(at(path, "is"), _("List 1 to %(max)s values.", max=MAX_COMPARED))
    elif earlier is not None and earlier.values is not None:
        for nth, value in enumerate(values):
            if not earlier.may_be(value):
                yield Problem(at(path, "is", nth), _("This can never be the answer to that question."))


def _keys_of(question: object) -> Iterator[tuple[str, str]]:
    """The keys of a question's choices and labels, with their paths in it."""
    for option in ("choices", "labels"):
        entries = question.get(option) if isinstance(question, dict) else None
        for nth, entry in enumerate(entries if isinstance(entries, list) else []):
            if key := _text(entry, "key"):
                yield key, at("", option, nth, "key")


def _check_keys(question: Values, path: str) -> Iterator[Problem]:
    """Two entries of a question with one key."""
    seen: set[str] = set()
    for key, where in _keys_of(question):
        if key in seen:
            yield Problem(path + where, _("Two entries have the key “%(key)s”.", key=key))
        seen.add(key)


def _check_shared_keys(questions: object, path: str) -> Iterator[Problem]:
    """A key of two questions of a step that are both always shown. Of others, the first one that is shown has it."""
    owners: dict[str, tuple[int, str]] = {}
    for nth, question in enumerate(questions if isinstance(questions, list) else []):
        if not isinstance(question, dict) or question.get("show_if") is not None:
            continue
        for key, where in _keys_of(question):
            owner, name = owners.setdefault(key, (nth, _text(question, "name")))
            if owner != nth:
                sentence = _("The key “%(key)s” belongs to the question “%(name)s” of this step.", key=key, name=name)
                yield Problem(at(path, nth) + where, sentence)
