"""Jinja2 for our pages: the environment, its template files and byte code.

A template gets the public and the private context of its page and the frame's own names: ``site``, ``who``, ``csrf``,
``csp_nonce``, ``flashes``, ``locale``, ``direction``, ``theme``, ``path``. A missing name is an error, not a gap.

To compile a page's template and those it includes takes up to 150 ms, for which nobody else is answered, so that the
byte code is kept between starts.
"""

from __future__ import annotations

import hashlib
import pickle
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import attrs
import jinja2
import orjson
from jinja2 import BaseLoader, Environment, StrictUndefined, TemplateNotFound
from jinja2.bccache import Bucket, BytecodeCache, FileSystemBytecodeCache
from markupsafe import Markup

from crowdd import PACKAGE
from crowdd.core.site import Appearance
from crowdd.core.text.markdown import to_html
from crowdd.core.text.picture_addresses import FILES_AT, upload_path
from crowdd.core.uploads import NO_PICTURES
from crowdd.http.html import filters, frames
from crowdd.http.html.filters import Words, excerpt, markdown
from crowdd.http.html.images import draw_placeholder
from crowdd.http.html.static_files import StaticFiles, folder_for
from crowdd.kernel import exact_json
from crowdd.kernel.languages import Languages
from crowdd.kernel.languages.content_languages import CONTENT_LANGUAGES, direction_of, language_of


class _ByteCode(FileSystemBytecodeCache):
    """Files of Jinja. A damaged one counts as missing, and a full disk keeps no page from being rendered."""

    def load_bytecode(self, bucket: Bucket) -> None:
        try:
            super().load_bytecode(bucket)
        except (pickle.UnpicklingError, EOFError, ValueError, TypeError, OSError):
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            super().dump_bytecode(bucket)


def open_byte_code_cache(
    templates: Path, made_by: tuple[Path, ...], data: Path | None = None
) -> FileSystemBytecodeCache | None:
    """What keeps it for the templates of a folder; None where nothing can be written.

    A file holds for one text of its template, one Python (both are Jinja's rule), one Jinja, and text of
    ``made_by``: the modules with the settings and filters that they are compiled with.
    """
    folder = folder_for(templates, data, "templates")
    if folder is None:
        return None
    settings = hashlib.sha256(b"".join(path.read_bytes() for path in made_by)).hexdigest()[:8]
    return _ByteCode(str(folder), f"jinja-{jinja2.__version__}-{settings}-%s")


def sweep_byte_code(cache: BytecodeCache | None) -> None:
    """Removes what other settings and another Jinja have left."""
    if isinstance(cache, _ByteCode):
        for path in Path(cache.directory).glob("jinja-*"):
            if not path.name.startswith(cache.pattern.removesuffix("%s")):
                path.unlink(missing_ok=True)


class TemplateFiles(BaseLoader):
    """Finds templates: those of every page in one folder, those of a feature beside it. They are listed once.

    The name of a page's template is part of the interface (``template`` in its JSON answer). Its file in the folder of
    a feature has the same name with the slash as an underscore: ``project/tasks.html`` is ``project_tasks.html``.
    """

    def __init__(self, folder: Path, features: Path | None = None) -> None:
        own = [] if features is None else features.glob("*/templates/*.html")
        self._files = {
            **{str(path.relative_to(folder)): path for path in folder.rglob("*.html")},
            **{path.name.replace("_", "/", 1): path for path in own},
        }

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, None]:
        """The text and the path of a template. Raises TemplateNotFound."""
        path = self._files.get(template)
        if path is None:
            raise TemplateNotFound(template)
        return path.read_text("utf-8"), str(path), None

    def list_templates(self) -> list[str]:
        """The names of all templates, sorted."""
        return sorted(self._files)


_SAMPLE: Final = re.compile(rf"{FILES_AT}[a-z0-9-]+/[A-Za-z0-9_-]+\.(?:webp|png|jpe?g|gif)")


@attrs.frozen
class SiteContext:
    """What every page knows of the server."""

    static_files: StaticFiles = attrs.field(repr=False)
    appearance: Callable[[], Appearance] = Appearance
    base_url: str = ""
    has: Callable[[str], bool] = attrs.field(default=lambda path: True, repr=False)
    """Whether a path of this site is answered: a page links to nothing that is not there."""

    @staticmethod
    def frames(path: str) -> bool:
        """Whether the page of this address shows a presenter: nothing that takes text may open over it (record 21)."""
        return frames.FRAMED.fullmatch(path) is not None

    @property
    def name(self) -> str:
        """The name of the site."""
        return self.appearance().name

    @property
    def logo(self) -> str:
        """The path of its logo, or nothing."""
        return self.appearance().logo

    @property
    def style(self) -> str:
        """The path of the style sheet with its colours, or nothing."""
        return self.appearance().style

    @property
    def map(self) -> dict[str, str]:
        """The map that the site offers: its address as ``file`` or ``tiles``, and ``attribution``; empty without."""
        shown = self.appearance()
        offered = {"file": frames.SITE_MAP} if shown.map_file else {"tiles": shown.tiles} if shown.tiles else {}
        return {**offered, "attribution": shown.attribution} if offered else {}

    def static(self, path: str) -> str:
        """The versioned address of a static file."""
        return self.static_files.url(path)

    @property
    def release(self) -> str:
        """What changes with any static file."""
        return self.static_files.release

    def inline(self, *paths: str) -> Markup:
        """Scripts or style sheets for an element of the page itself."""
        return Markup(self.static_files.text(*paths))  # noqa: S704 - files of ours

    @property
    def early_script(self) -> Markup:
        """The script that the page around a presenter has in itself."""
        return self.inline(*frames.EARLY_SCRIPTS)

    @property
    def early_sheet(self) -> Markup:
        """Its style sheet."""
        return self.inline(*frames.EARLY_SHEETS)


class Templates:
    """Renders our templates. Built once; ``now`` is asked at each use of ``ago``, ``appearance`` for each page."""

    def __init__(
        self,
        static: StaticFiles,
        *,
        now: Callable[[], datetime],
        appearance: Callable[[], Appearance] = Appearance,
        base_url: str = "",
        languages: Languages | None = None,
        folder: Path | None = None,
        data: Path | None = None,
    ) -> None:
        """``data``: the data folder of the server, if it has one."""
        features = PACKAGE / "features" if folder is None else None
        folder = folder or PACKAGE / "http/templates"
        self.environment = Environment(
            autoescape=True,
            undefined=StrictUndefined,
            loader=TemplateFiles(folder, features),
            bytecode_cache=open_byte_code_cache(folder, (Path(__file__), Path(filters.__file__)), data),
            optimized=False,  # what filters make of constants is no part of the byte code that is kept
            extensions=["jinja2.ext.i18n"],
            auto_reload=False,
            trim_blocks=False,
        )
        # A task's columns keep their order: presenters take the first that fits, in previews as for volunteers.
        self.environment.policies["json.dumps_kwargs"] = {}
        self.environment.policies["json.dumps_function"] = _script_json
        languages = languages or Languages()
        words = Words(languages, now)
        words.install(self.environment)
        self._site = SiteContext(static, appearance, base_url.rstrip("/"))
        self.environment.globals["site"] = self._site
        self.environment.globals |= {"languages": languages.names, "zip": zip, "content_languages": CONTENT_LANGUAGES}
        self.environment.filters |= {
            "drawing": draw_placeholder,
            "markdown": markdown,
            "excerpt": excerpt,
            "our_markdown": to_html,
            "thumbnail": self._thumbnail,
            "avatar": self._avatar,
            "own_picture": self._own_picture,
            "language": language_of,
            "direction": direction_of,
        }
        self._base_url = base_url.rstrip("/")

    def worker(self) -> str:
        """The script of the service worker, with the name of what it keeps."""
        files = self._site.static_files
        return files.text("presenter/worker.js").replace("{release}", files.release)

    def static(self, path: str) -> str:
        """The versioned address of a static file."""
        return self._site.static(path)

    def size(self, path: str) -> int:
        """How many bytes a static file has as most browsers get it."""
        return self._site.static_files.size(path)

    @cached_property
    def inlined(self) -> frames.Inlined:
        """What the page around a presenter has in itself, for its policy."""
        source = self._site.static_files.source
        return frames.Inlined(source(*frames.EARLY_SCRIPTS), source(*frames.EARLY_SHEETS))

    def add_functions(self, functions: Mapping[str, Callable[..., object]]) -> None:
        """Lets templates call these functions of a feature by their names. Not after anything was rendered."""
        self.environment.globals |= functions

    def render(self, name: str, context: Mapping[str, object]) -> str:
        """The page as text. TemplateNotFound for an unknown name, UndefinedError for a name the context lacks."""
        return self.environment.get_template(name).render(context)

    def pieces(self, name: str, context: Mapping[str, object]) -> Iterator[str]:
        """The same in pieces, each made when it is asked for; errors as those of ``render``."""
        return self.environment.get_template(name).generate(context)

    def compile_all(self) -> None:
        """Compiles what has no byte code that is kept yet: two seconds after an installation, for a thread."""
        cache, loader = self.environment.bytecode_cache, self.environment.loader
        if cache is None or loader is None:
            return
        for name in self.environment.list_templates():
            source, path, _ = loader.get_source(self.environment, name)
            bucket = cache.get_bucket(self.environment, name, path, source)
            if bucket.code is None:
                bucket.code = self.environment.compile(source, name, path)
                cache.set_bucket(bucket)
        sweep_byte_code(cache)

    def set_answered(self, has: Callable[[str], bool]) -> None:
        """Tells the pages which paths are answered; until then they believe that all are."""
        self.environment.globals["site"] = attrs.evolve(self._site, has=has)

    def names(self) -> list[str]:
        """All templates there are, sorted."""
        return sorted(self.environment.list_templates(extensions=["html"]))

    def _thumbnail(self, project: Mapping[str, Any]) -> str:
        """The path of a project's own picture on this server, or nothing: a page asks no other server."""
        return self._own_picture((project.get("info") or {}).get("thumbnail_url"))

    def _avatar(self, user: Mapping[str, Any]) -> str:
        """The path of a person's picture on this server, or nothing."""
        return self._own_picture((user.get("info") or {}).get("avatar_url"))

    def _own_picture(self, address: object) -> str:
        """The path of an uploaded picture or of one of a template's samples, or nothing: a page asks no other server,
        and no other address of ours, nor a sound as a picture.
        """
        if isinstance(address, str) and _SAMPLE.fullmatch(address):
            return address
        path = upload_path(address, self._base_url)
        return "" if path.endswith(NO_PICTURES) else path


def _script_json(value: object) -> str:
    """The value as JSON that a script reads."""
    return exact_json.for_scripts(orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode())
