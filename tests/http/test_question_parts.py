"""What the browser loads to show questions: how large it is, and that each part comes only with a list that uses it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from crowdd.features.questions import documents
from crowdd.http.html.static_files import StaticFiles
from crowdd.kinds.questions import TYPES
from crowdd.kinds.questions.types import MEDIA

FILES: Final = StaticFiles.read()
MAX_CORE: Final = 60_000  # compressed bytes without media and types
MAX_FORM: Final = 30_000  # of a list with every type of form and a picture
_IMPORT: Final = re.compile(r'^(?:import|export) [^;]*?from "([^"]+)"|^import "([^"]+)"', re.MULTILINE)
_MARKS: Final = ("marks/", "types/text_spans", "types/transcription")


def packed(path: str) -> int:
    """The size of a file as it is sent."""
    file = FILES.lookup(path)
    assert file is not None, path
    return len(file.packed.get("gzip", file.body))


def imports(path: str) -> Iterator[str]:
    """What a module needs before it can run, by its path."""
    file = FILES.lookup(path)
    assert file is not None, path
    folder = path.rsplit("/", 1)[0].split("/")
    for match in _IMPORT.finditer(file.body.decode()):
        steps, here = (match[1] or match[2]).split("/"), list(folder)
        for step in steps[:-1]:
            if step == "..":
                here.pop()
        yield "/".join([*here, *(step for step in steps if step not in (".", ".."))])


def needed(*paths: str) -> set[str]:
    """The modules with all that they import."""
    modules: set[str] = set()
    left = list(paths)
    while left:
        path = left.pop()
        if path not in modules:
            modules.add(path)
            left.extend(imports(path))
    return modules


def preloaded(*questions: str, media: tuple[str, ...] = ()) -> set[str]:
    """The modules that the page of a list names, so that they are loaded at once."""
    step = {
        "name": "one",
        "questions": [{"name": f"q{n}", "type": name} for n, name in enumerate(questions)],
        "media": [{"name": f"m{n}", "type": name} for n, name in enumerate(media)],
    }
    page = documents.render_question_page({"questions": {"version": 1, "steps": [step]}})
    return set(re.findall(r'modulepreload" href="/static/([^"]+)"', page)) | {"questions/questions.js"}


CORE: Final = needed("questions/questions.js")


def test_the_library_without_media_has_at_most_60_kb() -> None:
    sizes = {path: packed(path) for path in (*CORE, "questions/questions.css")}
    assert sum(sizes.values()) <= MAX_CORE, sizes
    assert not [path for path in CORE if "/types/" in path or "/media/" in path or "/marks/" in path]


def test_the_page_of_a_list_names_all_modules_that_are_needed_and_no_others() -> None:
    for kind in TYPES.values():
        module = f"questions/types/{kind.module or kind.name}.js"
        assert preloaded(kind.name) == CORE | {module}, kind.name
        own = needed(module) - CORE - {module}
        assert all(path.startswith("questions/marks/") for path in own), (kind.name, own)
        assert not own or kind.media, kind.name  # only what is drawn on a medium loads what draws
    for medium in MEDIA:
        assert preloaded(media=(medium,)) == CORE | {f"questions/media/{medium}.js"}, medium


def test_no_library_of_others_is_imported_before_a_question_asks_for_it() -> None:
    every = needed(
        "questions/questions.js", *(f"questions/types/{kind.module or kind.name}.js" for kind in TYPES.values())
    )
    assert not [path for path in every if "vendor" in path]
    forms = [kind for kind in TYPES.values() if not kind.media]
    small = needed(*(f"questions/types/{kind.module or kind.name}.js" for kind in forms), "questions/media/picture.js")
    assert sum(packed(path) for path in small | CORE) <= MAX_FORM
