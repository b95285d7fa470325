"""The page that shows a guided tutorial in the frame: the questions of the project, and what is said beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import orjson

from crowdd.domain.projects.guides.reading import ShownTutorial
from crowdd.http.html.question_page import AT
from crowdd.kinds.questions import QUESTIONS
from crowdd.languages.content_languages import language_of

_LESSON: Final = f"{AT}lesson/"


def document(shown: ShownTutorial, info: Mapping[str, object]) -> str:
    """The body of the frame. Steps show the questions in ``info``; without any they show their pictures only."""
    asked = info.get(QUESTIONS)
    about = {"list": asked, "language": language_of(info), **shown}
    data = orjson.dumps(about).decode().replace("<", "\\u003c")
    return (
        f'<link rel="stylesheet" href="{AT}questions.css">\n<link rel="stylesheet" href="{_LESSON}lesson.css">\n'
        f'<script type="application/json" id="lesson">{data}</script>\n'
        f'<script type="module" src="{_LESSON}lesson.js"></script>\n'
    )
