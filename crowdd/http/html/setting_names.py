"""The settings of a project by the names that its settings page gives them, read from that page's template.

The template is the one list: a setting that is added or renamed there has the same name in the command palette.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jinja2 import Environment, nodes

TEMPLATE: Final = "project/settings.html"
_LINKS: Final = frozenset({"way"})  # macros whose first argument is an address below the project
_ANCHORS: Final = frozenset({"setting", "choice"})  # macros whose first argument is an id on the page


def setting_names(environment: Environment) -> list[tuple[str, str]]:
    """Pairs of a path below the project (``tasks/scheduler``, ``settings#webhook``) and the English name, once each."""
    assert environment.loader is not None
    source = environment.loader.get_source(environment, TEMPLATE)[0]
    names_by_path: dict[str, str] = {}
    for call in environment.parse(source).find_all(nodes.Call):
        for path, name in _setting(call):
            names_by_path.setdefault(path, name)
    return list(names_by_path.items())


def _setting(call: nodes.Call) -> Iterator[tuple[str, str]]:
    """The path and the name if this is a call of such a macro with both written out."""
    macro = call.node.attr if isinstance(call.node, nodes.Getattr) else ""
    if macro not in _LINKS | _ANCHORS or len(call.args) < 2:
        return
    path, name = _text(call.args[0]), _text(call.args[1])
    if path and name:
        yield (path if macro in _LINKS else f"settings#{path}"), name


def _text(node: nodes.Expr) -> str:
    """A text that is written out, marked for translation, or joined to the project's address; "" for anything else."""
    match node:
        case nodes.Const(value=str() as text):
            return text
        case nodes.Call(node=nodes.Name(name="_"), args=[nodes.Const(value=str() as text)]):
            return text
        case nodes.Concat(nodes=[nodes.Name(), nodes.Const(value=str() as text)]):
            return text
    return ""
