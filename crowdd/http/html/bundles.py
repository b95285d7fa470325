"""Several of our scripts as one, and several style sheets: made of the static files when the server starts.

A bundle of scripts is a classic script. Its parts are ES modules as they stand in ``static``, each a function that runs
when another part first imports it, as in a browser. The attribute ``data-start`` of its element names the modules to
run. Two bundles on a page share their parts. Libraries of others come first, as they are.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import attrs

_IMPORT: Final = re.compile(
    r'^import (?:(?P<names>\{[^}]*\})|\* as (?P<all>\w+)) from "(?P<path>[^"]+)";$', re.MULTILINE
)
_EXPORT: Final = re.compile(
    r"^export (?=(?:async )?function\*? (?P<function>\w+)|class (?P<class>\w+)|(?:const|let) (?P<const>\w+) =)",
    re.MULTILINE,
)
_EXPORT_LIST: Final = re.compile(r"\bexport\s*\{(?P<names>[^{}]*)\};?\s*$")
_DYNAMIC: Final = re.compile(r"(?<![\w.])import\(")
_LEFT: Final = re.compile(r"^\s*(?:import|export)\b(?!\()|\bimport\.meta\b(?!\.url)", re.MULTILINE)
_COMMENT: Final = re.compile(r"^[ \t]*(?://[^\n]*|/\*(?:(?!\*/).)*\*/[ \t]*)\n", re.MULTILINE | re.DOTALL)
_URL: Final = re.compile(r"""url\((?P<quote>["']?)(?!data:|#|/|https?:)(?P<path>[^)"']+)(?P=quote)\)""")

_HEAD: Final = """\
(() => {
"use strict";
const { parts, had, shipped } = (window.crowddBundles ??= { parts: new Map(), had: new Map(), shipped: new Set() });
const at = (path) => new URL("%(prefix)s" + path, location.href).href;
function use(path) {
  if (!had.has(path)) {
    had.set(path, {});
    parts.get(path)(had.get(path), use);
  }
  return had.get(path);
}
async function bring(from, name) {
  const address = new URL(name, at(from)), path = address.pathname.slice("%(prefix)s".length);
  return parts.has(path) ? use(path) : import(address.href);
}
const add = (path, part) => { if (!parts.has(path)) parts.set(path, part); };
for (const path of %(shipped)s) shipped.add(path);
"""
_FOOT: Final = """\
for (const path of (document.currentScript?.dataset.start ?? "").split(" ").filter(Boolean)) use(path);
})();
"""


class BundleError(ValueError):
    """A static file cannot be a part of a bundle."""


@attrs.frozen
class Bundle:
    """A script or a style sheet made of static files; all paths are those of ``static``.

    ``parts`` are modules, which bring what they import, or style sheets. ``libraries`` are classic scripts of others,
    and ``sheets`` the style sheets that its page has, so that its modules load neither of them.
    """

    path: str
    parts: tuple[str, ...]
    libraries: tuple[str, ...] = ()
    sheets: tuple[str, ...] = ()


def bundles(wanted: Iterable[Bundle], files: Mapping[str, bytes], prefix: str) -> dict[str, bytes]:
    """The contents of bundles by their paths. A module of several of them is read once."""
    made: dict[str, str] = {}
    return {each.path: bundle(each, files, prefix, made) for each in wanted}


def bundle(wanted: Bundle, files: Mapping[str, bytes], prefix: str, made: dict[str, str] | None = None) -> bytes:
    """The content of a bundle. BundleError for a part that is not there, or that is written in another way than ours.

    ``made`` has modules of these files that were read before, and gets the others.
    """
    made = {} if made is None else made
    texts = {path: files[path].decode() for path in (*wanted.libraries, *wanted.parts) if path in files}
    if missing := [path for path in (*wanted.libraries, *wanted.parts) if path not in texts]:
        raise BundleError(f"{wanted.path}: {missing} must be static files.")
    if wanted.path.endswith(".css"):
        return "\n".join(sheet(texts[path], path, prefix) for path in wanted.parts).encode()
    shipped = sorted({*wanted.libraries, *wanted.sheets})
    head = _HEAD % {"prefix": prefix, "shipped": "[" + ", ".join(f'"{path}"' for path in shipped) + "]"}
    order = in_order(wanted.parts, files)
    made |= {path: part(path, files[path].decode()) for path in order if path not in made}
    return "".join(
        [*(f"{texts[path]}\n;\n" for path in wanted.libraries), head, *(made[path] for path in order), _FOOT]
    ).encode()


def in_order(paths: Sequence[str], files: Mapping[str, bytes]) -> list[str]:
    """Modules with all that they import, each after what it imports. BundleError where two import each other."""
    done: dict[str, None] = {}

    def visit(path: str, above: tuple[str, ...]) -> None:
        if path in above:
            raise BundleError(f"{path} and {above[-1]} import each other.")
        if path in done:
            return
        if path not in files:
            raise BundleError(f"{above[-1] if above else 'A bundle'} imports {path}, which must be a static file.")
        for imported in imports(path, files[path].decode()):
            visit(imported, (*above, path))
        done[path] = None

    for path in paths:
        visit(path, ())
    return list(done)


def imports(path: str, text: str) -> Iterator[str]:
    """The paths of the modules that a module imports by name."""
    for match in _IMPORT.finditer(text):
        yield _resolve(path, match["path"])


def part(path: str, text: str) -> str:
    """A module as a function that fills its exports."""
    text, exported = without_comments(text), dict[str, str]()

    def imported(match: re.Match[str]) -> str:
        names = match["all"] or re.sub(r"\b(\w+) as (\w+)\b", r"\1: \2", match["names"])
        return f'const {names} = use("{_resolve(path, match["path"])}");'

    def declared(match: re.Match[str]) -> str:
        name = match["function"] or match["class"] or match["const"]
        exported[name] = name
        return ""

    def listed(match: re.Match[str]) -> str:
        for name in filter(None, map(str.strip, match["names"].split(","))):
            own, _, other = name.partition(" as ")
            exported[other or own] = own
        return ""

    text = _EXPORT_LIST.sub(listed, _EXPORT.sub(declared, _IMPORT.sub(imported, text)))
    text = _DYNAMIC.sub(f'bring("{path}", ', text).replace("import.meta.url", f'at("{path}")')
    if left := _LEFT.search(text):
        raise BundleError(f"{path}: a bundle cannot have “{left.group().strip()}” in this form.")
    names = "".join(f"get {name}() {{ return {own}; }}, " for name, own in exported.items())
    define = f"Object.defineProperties(exports, Object.getOwnPropertyDescriptors({{ {names}}}));\n" if names else ""
    return f'add("{path}", (exports, use) => {{\n{define}{text.strip()}\n}});\n'


def sheet(text: str, path: str, prefix: str) -> str:
    """A style sheet with addresses that do not depend on where it is."""
    folder = posixpath.dirname(path)
    return _URL.sub(
        lambda match: f'url("{prefix}{posixpath.normpath(posixpath.join(folder, match["path"]))}")',
        without_comments(text),
    )


def without_comments(text: str) -> str:
    """A script or a style sheet without the comments that have lines of their own."""
    return _COMMENT.sub("", text)


def _resolve(path: str, name: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), name))


_SIMPLE: Final = (
    "presenter/prelude.js",
    "presenter/pybossa.js",
    "questions/questions.js",
    *(
        f"questions/types/{name}.js"
        for name in (
            "date",
            "file",
            "matrix",
            "multiple_choice",
            "number",
            "ranking",
            "rating",
            "single_choice",
            "texts",
        )
    ),
    *(f"questions/media/{name}.js" for name in ("picture", "pictures", "text", "zoom_picture")),
    *(f"questions/viewer/{name}.js" for name in ("picture", "tiles")),
)
_LOOK: Final = ("tokens.css", "questions/ground.css", "presenter/frame.css", "questions/questions.css")
_MARKS_LOOK: Final = "questions/marks/marks.css"


@attrs.frozen
class Family:
    """Questions whose scripts are one file: all simple ones, and those whose modules are ``parts``.

    ``libraries`` and ``modules`` are scripts and modules of others, ``looks`` their style sheets.
    """

    name: str
    parts: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    looks: tuple[str, ...] = ()

    @property
    def script(self) -> Bundle:
        """Its one script."""
        own = (f"questions/{part}.js" for part in self.parts)
        return Bundle(self.path("js"), (*_SIMPLE, *self.modules, *own), self.libraries, (_MARKS_LOOK, *self.looks))

    @property
    def sheet(self) -> Bundle:
        """Its one style sheet."""
        return Bundle(self.path("css"), (*_LOOK, *self.looks, _MARKS_LOOK))

    def path(self, suffix: str) -> str:
        """The path of its script (``js``) or of its style sheet (``css``)."""
        return f"bundles/{self.name}.{suffix}"


_ANNOTORIOUS, _RECOGITO = "vendor/annotorious-annotorious-3.8.10", "vendor/recogito-text-annotator-4.1.1"
_WAVES, _LEAFLET = "vendor/wavesurfer.js-8.0.1", "vendor/leaflet-1.9.4"
_GEOMAN = "vendor/geoman-io-leaflet-geoman-free-2.20.2"

FAMILIES: Final = (
    Family("choices", ("swipes",)),
    Family(
        "marks",
        ("types/box", "types/points", "types/lines", "types/transcription"),
        libraries=(f"{_ANNOTORIOUS}/annotorious.js",),
        looks=(f"{_ANNOTORIOUS}/annotorious.css",),
    ),
    Family(
        "text",
        ("types/text_spans",),
        libraries=(f"{_RECOGITO}/text-annotator.js",),
        looks=(f"{_RECOGITO}/text-annotator.css",),
    ),
    Family(
        "time",
        ("types/segments", "types/transcription", "media/sound", "media/video"),
        modules=(f"{_WAVES}/wavesurfer.js", f"{_WAVES}/regions.js"),
    ),
    Family(
        "map",
        ("types/geometries", "media/map", "media/base_map"),
        libraries=(f"{_LEAFLET}/leaflet.js", f"{_GEOMAN}/leaflet-geoman.min.js"),
        looks=(f"{_LEAFLET}/leaflet.css", f"{_GEOMAN}/leaflet-geoman.css"),
    ),
)

TASK_PAGE: Final = Bundle(
    "bundles/task.js",
    tuple(
        f"{name}.js"
        for name in (
            "ui",
            "unsaved",
            "task",
            "task_keys",
            "leases",
            "ride_page",
            "session",
            "tutorial",
            "presenter/bridge",
        )
    ),
)
"""The scripts of the page around a presenter."""

RIDES_PAGE: Final = Bundle("bundles/rides.js", ("presenter/rides.js",))
"""The script of the page where the installed site opens: in one piece, because without a connection no other comes."""

TASK_SHEET: Final = Bundle("bundles/task.css", ("tokens.css", "style.css", "presenter/page.css"))
_BOOTSTRAP: Final = "vendor/bootstrap-3.4.1"
_BRIDGE: Final = ("presenter/prelude.js", "presenter/pybossa.js")
FRAMES: Final = (
    Bundle("bundles/presenter.js", _BRIDGE, ("vendor/jquery-2.2.4/jquery.min.js", f"{_BOOTSTRAP}/js/bootstrap.min.js")),
    Bundle("bundles/bridge.js", _BRIDGE),
    Bundle("bundles/presenter.css", (f"{_BOOTSTRAP}/css/bootstrap.min.css", "tokens.css", "presenter/frame.css")),
)
"""What frames of presenters load: those with HTML of owners, and others."""

BUNDLES: Final = (
    *FRAMES,
    *(each for family in FAMILIES for each in (family.script, family.sheet)),
    TASK_PAGE,
    RIDES_PAGE,
    TASK_SHEET,
)


def families(parts: Iterable[str]) -> list[Family]:
    """The families that have modules of questions, named without folder and suffix (``types/box``): few of them."""
    wanted = set(parts)
    chosen = [family for family in FAMILIES if wanted.intersection(family.parts)]
    for family in reversed(chosen):
        others = {part for other in chosen if other is not family for part in other.parts}
        if wanted.intersection(family.parts) <= others:
            chosen = [other for other in chosen if other is not family]
    return chosen or [FAMILIES[0]]
