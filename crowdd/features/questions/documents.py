"""The documents of the presenter frame that show a project's questions, and its guided tutorial.

Owners may take over the page of the questions as HTML.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import orjson

from crowdd.features.questions.guides import ShownTutorial
from crowdd.http.html.bundles import families
from crowdd.kernel.languages.content_languages import language_of
from crowdd.kernel.values import Values
from crowdd.kinds import column_roles
from crowdd.kinds.answer_files import ANSWER_FILES, FileRules
from crowdd.kinds.questions import QUESTIONS, TYPES
from crowdd.kinds.questions.form_types import questions_for_files
from crowdd.kinds.questions.suggest import HIDDEN_SHARE
from crowdd.kinds.questions.suggested import suggesting, suggestion_schemas

AT: Final = "/static/questions/"
"""Where the scripts of questions are. Their addresses have no version, because owners may store the page."""
_CORE: Final = (
    "element",
    "texts",
    "show_if",
    "modules",
    "group",
    "form",
    "stage",
    "sources",
    "drafts",
    "pointer",
    "sizes",
    "circumstances",
)


def render_question_page(info: Values, *, indented: bool = False) -> str:
    """The page for the questions in ``info`` of a project, "" without any; ``indented`` for people who edit it."""
    questions = info.get(QUESTIONS)
    if questions is None:
        return ""
    about = _about(info)
    loads = "".join(f'<link rel="modulepreload" href="{AT}{name}.js">\n' for name in _modules(questions))
    return (
        f'<link rel="stylesheet" href="{AT}questions.css">\n{loads}'
        f'<script type="application/json" id="questions">{_json(about, indented)}</script>\n'
        f'<script type="module" src="{AT}questions.js"></script>\n'
    )


def _about(info: Values) -> Values:
    questions = info[QUESTIONS]
    listed = with_places(questions, column_roles.of(info))
    about = {"list": listed, "version": info.get("questions_version", 1), "language": language_of(info)}
    if questions_for_files(questions):
        about["max_file_bytes"] = FileRules.of(info.get(ANSWER_FILES)).max_bytes
    suggested = suggested_data(questions)
    return {**about, "suggested": suggested} if suggested else about


def suggested_data(questions: Values) -> Values | None:
    """What scripts need to know which suggestions fit, None for questions without suggestions."""
    schemas = suggestion_schemas(questions)
    return {"schemas": schemas, "share": HIDDEN_SHARE} if schemas else None


def render_question_data(info: Values) -> str:
    """The questions in ``info`` of a project, for a frame that has their scripts."""
    about = _about(info)
    return f'<script type="application/json" id="questions">{_json(about, indented=False)}</script>\n'


def with_places(questions: Values, roles: Mapping[str, str]) -> Values:
    """The questions, whose maps begin at the place that two columns of the tasks have, unless they name another one."""
    columns = {role: name for name, role in roles.items()}
    latitude, longitude = columns.get("latitude"), columns.get("longitude")
    if latitude is None or longitude is None:
        return questions

    def placed(medium: Values) -> Values:
        begins = medium["type"] == "map" and medium.get("source", {"column": latitude}).get("column") == latitude
        return {**medium, "source": {"column": latitude, "longitude": longitude}} if begins else medium

    def shown(step: Values) -> Values:
        return {**step, "media": [*map(placed, step["media"])]} if "media" in step else step

    return {**questions, "steps": [*map(shown, questions["steps"])]}


def families_of(info: Values) -> list[str]:
    """The names of the families (``bundles``) whose scripts show the questions in ``info`` of a project."""
    return [family.name for family in families(_parts(info[QUESTIONS]))]


def _json(value: object, indented: bool) -> str:
    """JSON that ends no script element, whatever texts say."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 if indented else 0).decode().replace("<", "\\u003c")


def _modules(questions: Values) -> Iterator[str]:
    """What is imported, so that it is not found out one step after the other."""
    yield from _CORE
    if suggesting(questions):
        yield "suggestions"
    yield from _parts(questions)


def _parts(questions: Values) -> Iterator[str]:
    """The modules of types and media."""
    steps = questions["steps"]
    asked = [question for step in steps for question in step.get("questions", [])]
    about_marks = (each for question in asked for each in question.get("each", []))
    types = (TYPES[question["type"]] for question in [*asked, *about_marks])
    yield from dict.fromkeys(f"types/{kind.module or kind.name}" for kind in types)
    yield from dict.fromkeys(f"media/{medium['type']}" for step in steps for medium in step.get("media", []))


def uses_questions(source: str) -> bool:
    """Whether a presenter shows questions, also with a page that its owner has changed."""
    return f"{AT}questions.js" in source


_LESSON: Final = f"{AT}lesson/"


def render_tutorial_page(shown: ShownTutorial, info: Mapping[str, object]) -> str:
    """The body of the frame. Steps show the questions in ``info``; without any they show their pictures only."""
    asked = info.get(QUESTIONS)
    about = {"list": asked, "language": language_of(info), **shown}
    data = orjson.dumps(about).decode().replace("<", "\\u003c")
    return (
        f'<link rel="stylesheet" href="{AT}questions.css">\n<link rel="stylesheet" href="{_LESSON}lesson.css">\n'
        f'<script type="application/json" id="lesson">{data}</script>\n'
        f'<script type="module" src="{_LESSON}lesson.js"></script>\n'
    )
