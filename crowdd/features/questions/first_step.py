"""What the page of a task shows before any script is there: the first step of its questions, without a task."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypedDict

from crowdd.features.questions.guides import pick_text
from crowdd.features.questions.presenter_contents import Info
from crowdd.kernel.languages.content_languages import direction_of, language_of
from crowdd.kernel.values import Values
from crowdd.kinds.questions import QUESTIONS

_ONE_CLICK: Final = ("single_choice", "yes_no")
_LISTED: Final = (*_ONE_CLICK, "multiple_choice")
_MAX_QUESTIONS: Final = 4
_MEDIA: Final = {
    "picture": "picture", "pictures": "picture", "zoom_picture": "picture", "sound": "sound", "video": "video",
}  # fmt: skip


class Words(TypedDict):
    """A text with its language, which is empty where nobody has said it."""

    words: str
    language: str
    direction: str


class FirstQuestion(TypedDict):
    """A question with its answers; without a list of them there is one field.

    Before the ``answers`` are those of ``yes_no``, and behind them that volunteers cannot tell, where it has no words
    of the owner (``unsure``).
    """

    text: Words
    yes_no: bool
    answers: list[Words]
    unsure: bool


class FirstStep(TypedDict):
    """The first step: its heading, the type of its first medium ("" for none), and what can be answered.

    ``is_immediate``: a click answers the whole task. ``columns`` of a task have its pictures, sounds and videos,
    by these kinds.
    """

    heading: Words | None
    medium: str
    columns: dict[str, list[str]]
    questions: list[FirstQuestion]
    is_immediate: bool
    is_last: bool


def first_step(info: Info, locale: str) -> FirstStep | None:
    """The first step of the questions in ``info`` of a project, in the language of the page; None without questions."""
    if info.get(QUESTIONS) is None:
        return None
    steps: list[Values] = info[QUESTIONS]["steps"]
    language, step = language_of(info) or "", steps[0]
    asked, media = step.get("questions", []), step.get("media", [])

    def words(text: object) -> Words:
        picked, tag = pick_text(text, locale, language)
        return Words(words=picked, language=tag, direction=direction_of(tag) if tag else "auto")

    alone = len(asked) == 1 and not step.get("title")
    heading = step["title"] if step.get("title") else asked[0]["text"] if alone else None
    shown = [each for each in asked if not each.get("show_if")][:_MAX_QUESTIONS]
    return FirstStep(
        heading=None if heading is None else words(heading),
        medium=media[0]["type"] if media else "",
        columns=_columns(media),
        questions=[
            FirstQuestion(
                text=words(each["text"]),
                yes_no=each["type"] == "yes_no",
                answers=[words(text) for text in _answers(each)],
                unsure=each["type"] in _LISTED and each.get("unsure") is True,
            )
            for each in shown
        ],
        is_immediate=len(steps) == 1
        and len(asked) == 1
        and asked[0]["type"] in _ONE_CLICK
        and bool(asked[0].get("required")),
        is_last=len(steps) == 1,
    )


def _columns(media: list[Values]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for medium in media:
        source = medium.get("source")
        for each in source if isinstance(source, list) else [source]:
            if medium["type"] in _MEDIA and isinstance(each, dict) and "column" in each:
                found.setdefault(_MEDIA[medium["type"]], []).append(each["column"])
    return found


def _answers(question: Values) -> Iterator[object]:
    """The texts of a list of answers in which one is chosen by a click."""
    if question["type"] not in _LISTED:
        return
    yield from (choice["text"] for choice in question.get("choices", []))
    if (unsure := question.get("unsure")) and unsure is not True:
        yield unsure
