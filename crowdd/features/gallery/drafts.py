"""Create drafts from templates, and personal copies of the example projects that come with crowdd."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Final

import attrs
import orjson

from crowdd.database.access import Row
from crowdd.features.gallery import folders
from crowdd.features.gallery.folder_import import Loading, find, load
from crowdd.features.gallery.folders import PROJECT_FILE, TASK_FILES, Folder
from crowdd.features.gallery.gallery import Gallery, copies, first_made
from crowdd.features.gallery.template import Template
from crowdd.features.projects.project_validation import slug
from crowdd.features.projects.projects import Projects
from crowdd.features.tasks.changes import ANSWERS_PER_TASK
from crowdd.kernel.errors import AnonymousError, ConflictError, NotFoundError
from crowdd.kernel.files import find_shipped
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds.questions import QUESTIONS, asks_opinions
from crowdd.kinds.questions.text_languages import in_language, text_in

_USUAL_ANSWERS: Final = 3


@attrs.frozen
class Wish:
    """How a draft is to be: its language, whether the texts keep all languages, and a name ("" for the template's)."""

    language: str
    all_languages: bool = False
    name: str = ""


EXAMPLES: Final = ("digits", "ducks", "diary", "newspaper", "pond", "town", "island")
"""Their folders below examples; the first one is meant where none is named."""


@attrs.frozen
class Drafts:
    """Makes drafts for people."""

    _loading: Loading
    _gallery: Gallery

    async def make(self, who: Requester, template: Template, wish: Wish) -> str:
        """The short name of a draft of the requester with the questions and the sample tasks of a template.

        A second click returns the same draft if nothing in it has changed.
        One that was left half made is completed. Raises AnonymousError, ConflictError, ForbiddenError.
        """
        if who.acting_user is None:
            raise AnonymousError(_("Sign in first."))
        with tempfile.TemporaryDirectory(prefix="crowdd-template-") as place:
            source = template.folder
            if source is None:
                source = Path(place)
                await self._loading.aside(_write, source, template, await self._gallery.files(template))
            folder = await self._loading.aside(folders.read_folder, source)
            wished = _wished(folder, template, wish)
            under_names = chain([wished] if wish.name else [], copies(wished, who))
            return await first_made(under_names, partial(self._make, who))

    async def _make(self, who: Requester, copy: Folder) -> str | None:
        """The draft under the name of a copy; None if a project of that name has become another one."""
        row = await find(self._loading, copy.project["short_name"])
        if row is not None:
            state = state_of(row, copy, who)
            if state == "other":
                return None
            if state == "whole":
                return str(row["short_name"])
        done = await load(self._loading, attrs.evolve(copy, samples=True), who=who, publish=False)
        return done.short_name

    async def own_example(self, who: Requester, name: str = "") -> str:
        """The short name of the requester's own copy of an example, a draft.

        It is created once. A person who has a copy, changed or not, gets the short name of that copy. If the copy was
        deleted or renamed, a new one is created; an incomplete copy is completed.

        Raises AnonymousError, ConflictError, NotFoundError.
        """
        if who.acting_user is None:
            raise AnonymousError(_("Sign in first."))
        if name and name not in EXAMPLES:
            raise NotFoundError(_("No example has this name."))
        source = find_shipped(f"examples/{name or EXAMPLES[0]}")
        folder = await self._loading.aside(folders.read_folder, source)
        known = {category["short_name"] for category in await self._loading.projects.categories()}
        folder = attrs.evolve(folder, category=folder.category if folder.category in known else None)
        return await first_made(copies(folder, who), partial(self._make_example, who))

    async def _make_example(self, who: Requester, copy: Folder) -> str:
        row = await find(self._loading, copy.project["short_name"])
        if row is not None and row["owner_id"] == who.acting_user and row["n_tasks"]:
            return str(row["short_name"])
        return (await load(self._loading, copy, who=who, publish=False)).short_name


def state_of(row: Row, copy: Folder, who: Requester) -> str:
    """What a project under the name of a copy is.

    It is the copy (``whole``), a part of it (``begun``), or something ``other``.
    """
    info, wanted = row["info"], copy.project
    mine = row["owner_id"] == who.acting_user and row["first_published"] is None and row["name"] == wanted["name"]
    if not mine or info.get("questions") not in (None, wanted["info"]["questions"]) or info.get("task_presenter"):
        return "other"
    if row["n_tasks"] == copy.n_tasks and info.get("questions") is not None:
        return "whole"
    return "other" if row["n_tasks"] else "begun"


def _wished(folder: Folder, template: Template, wish: Wish) -> Folder:
    """The folder with the texts of the template in the language of who wants it."""
    info = {"questions": questions_for(template, wish), "language": wish.language, "template": template.name}
    project = {
        "name": wish.name or text_in(template.card.title, wish.language),
        "short_name": slug(wish.name) if wish.name else template.name,
        "description": text_in(template.card.description, wish.language),
        "info": info,
        **({"zip_download": False} if asks_opinions(info) else {}),
    }
    return attrs.evolve(folder, project=project, category=None, published=False)


def questions_for(template: Template, wish: Wish) -> Values:
    """The questions of a template in one language, or in all that it has."""
    document: Values = template.questions if wish.all_languages else in_language(template.questions, wish.language)
    return document


def info_for_own_data(template: Template, wish: Wish) -> Values:
    """What a project is given for other tasks than the samples: what describes the files of samples is left out."""
    document = template.shown(questions_for(template, wish))
    if template.folder is not None:
        document = {**document, "steps": [{**step, **_undescribed(step)} for step in document["steps"]]}
    answers = {} if template.n_answers is None else {ANSWERS_PER_TASK: template.n_answers}
    return {QUESTIONS: document, "template": template.name, **answers}


def _undescribed(step: Values) -> Values:
    """The media of a step, without the descriptions of those that come from a column of the tasks.

    Maps begin where two columns of the owner's tasks say, whatever their names.
    """
    if "media" not in step:
        return {}
    return {"media": [_from_column(medium) or medium for medium in step["media"]]}


def _from_column(medium: Values) -> Values | None:
    source = medium.get("source")
    if not (isinstance(source, dict) and "column" in source):
        return None
    left_out = ("description", "source") if medium["type"] == "map" else ("description",)
    return {name: value for name, value in medium.items() if name not in left_out}


def _write(place: Path, template: Template, files: Mapping[str, bytes]) -> None:
    """Writes a template as a project folder."""
    project: dict[str, Any] = {
        "name": text_in(template.card.title, "en"),
        "short_name": template.name,
        "n_answers": template.n_answers or _USUAL_ANSWERS,
        "info": {"questions": template.questions},
    }
    (place / PROJECT_FILE).write_bytes(orjson.dumps(project))
    (place / TASK_FILES[0]).write_bytes(b"".join(orjson.dumps({"info": info}) + b"\n" for info in template.tasks))
    for name, content in files.items():
        (place / name).write_bytes(content)


async def use_in(projects: Projects, who: Requester, template: Template, short_name: str, wish: Wish) -> str:
    """Gives the questions of a template to a project of the requester that asks nothing yet; its short name.

    Questions whose files belong to the template keep showing them. Raises NotFoundError, ForbiddenError, ConflictError.
    """
    row = await projects.owned(short_name, who)
    if row["info"].get("task_presenter") or row["info"].get("questions") is not None:
        words = _("The project has questions or a page of its own already. Use the template for a new project.")
        raise ConflictError(words)
    await projects.tell(row, info_for_own_data(template, wish), who)
    return row["short_name"]
