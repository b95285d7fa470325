"""Files of templates by their names.

The name of a page's template is part of the interface (``template`` in its JSON answer). It is a folder and a file
name, such as ``project/tasks.html``; the file may stand in a folder below that one: ``project/tasks/tasks.html``.
"""

from __future__ import annotations

from pathlib import Path

from jinja2 import BaseLoader, Environment, TemplateNotFound


class TemplateFiles(BaseLoader):
    """Finds templates below a folder. The files are listed once, when the loader is made."""

    def __init__(self, folder: Path) -> None:
        self._files = {_name(path.relative_to(folder)): path for path in folder.rglob("*.html")}

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, None]:
        """The text and the path of a template. Raises TemplateNotFound."""
        path = self._files.get(template)
        if path is None:
            raise TemplateNotFound(template)
        return path.read_text("utf-8"), str(path), None

    def list_templates(self) -> list[str]:
        """The names of all templates, sorted."""
        return sorted(self._files)


def _name(path: Path) -> str:
    return "/".join((*path.parts[:-1][:1], path.name))
