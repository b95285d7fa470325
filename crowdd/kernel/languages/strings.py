"""List every text that crowdd shows to people: ``make strings``.

One line each, with tabs between: kind, file and line, text. The kinds are ``ui`` (pages, forms and mail, which are
translated), ``help`` (of ``crowdctl``), ``output`` (what ``crowdctl`` prints), ``doc`` (of the API and of settings),
``error`` and ``log``. A value in a text is its expression in braces.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import attrs
from babel.messages.extract import extract_from_dir

from crowdd import PACKAGE
from crowdd.kernel.languages.update import JINJA, KEYWORDS, METHODS

_LOG_LEVELS: Final = frozenset({"debug", "info", "warn", "error", "critical", "failure"})
_LOGGERS: Final = frozenset({"log", "_log"})
_OUTPUT: Final = frozenset({"echo", "secho", "confirm", "prompt"})
_COMMANDS: Final = frozenset({"command", "group"})
_HELP: Final = frozenset({"help", "short_help", "epilog"})
_DOCS: Final = frozenset({"doc", "about", "summary"})
_DOCUMENTED: Final = frozenset({"Field", "Parameter"})  # their third argument says what they are
_ERROR_WORDS: Final = frozenset({"hint", "message", "meaning"})
_ERRORS: Final = ("Error", "Exception", "BadParameter", "ErrorCode")


@attrs.frozen(order=True)
class SourceText:
    """A text, its kind, and where it stands: a file below the package, and a line."""

    path: str
    line: int
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind}\t{self.path}:{self.line}\t{' '.join(self.text.split())}"


def texts(package: Path = PACKAGE) -> list[SourceText]:
    """Every text of the package, by file and line."""
    listed = {*_ui(package)}
    for path in package.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        name = str(path.relative_to(package))
        listed.update(SourceText(name, line, kind, text) for kind, line, text in _in_tree(tree) if text.strip())
    return sorted(listed)


def main() -> int:
    """Write the list to the standard output."""
    for each in texts():
        print(each)
    return 0


def _ui(package: Path) -> Iterator[SourceText]:
    for name, line, message, _comments, _context in extract_from_dir(str(package), METHODS, JINJA, KEYWORDS):
        for text in (message,) if isinstance(message, str) else message:
            yield SourceText(name, line, "ui", text)


def _in_tree(tree: ast.Module) -> Iterator[tuple[str, int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from _in_call(node)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and any(map(_is_command, node.decorator_list)):
            yield "help", node.lineno, ast.get_docstring(node) or ""
        elif isinstance(node, ast.ClassDef) and node.name.endswith("Error"):
            yield from _in_error_class(node)
        elif isinstance(node, ast.Assign) and _name(node.targets[0]) in _ERROR_WORDS:
            yield from _strings("error", [node.value])
        elif isinstance(node, ast.Dict):
            yield from _strings(
                "doc", [value for key, value in zip(node.keys, node.values, strict=True) if _is_doc(key)]
            )


def _in_call(call: ast.Call) -> Iterator[tuple[str, int, str]]:
    name, receiver = _name(call.func), _name(call.func.value) if isinstance(call.func, ast.Attribute) else ""
    if receiver in _LOGGERS and name in _LOG_LEVELS:
        yield from _strings("log", call.args[:1])
    elif receiver == "click" and name in _OUTPUT:
        yield from _strings("output", call.args[:1])
    elif name.endswith(_ERRORS):
        yield from _strings("error", call.args)
        yield from _strings("error", [each.value for each in call.keywords if each.arg in _ERROR_WORDS])
    yield from _strings("help", [each.value for each in call.keywords if each.arg in _HELP])
    yield from _strings("doc", [each.value for each in call.keywords if each.arg in _DOCS])
    if name in _DOCUMENTED:
        yield from _strings("doc", call.args[2:3])


def _in_error_class(node: ast.ClassDef) -> Iterator[tuple[str, int, str]]:
    """The message that a class gives its base class."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and _name(call.func) == "__init__":
            yield from _strings("error", call.args)


def _strings(kind: str, nodes: list[ast.expr]) -> Iterator[tuple[str, int, str]]:
    """Literal texts; a single word is a code, not a text."""
    for node in nodes:
        if isinstance(node, ast.IfExp):
            yield from _strings(kind, [node.body, node.orelse])
        elif isinstance(node, ast.JoinedStr | ast.BinOp):
            yield kind, node.lineno, _formatted(node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield kind, node.lineno, node.value


def _formatted(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(map(_formatted, node.values))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _formatted(node.left) + _formatted(node.right)
    if isinstance(node, ast.Constant):
        return str(node.value)
    return f"{{{ast.unparse(node.value if isinstance(node, ast.FormattedValue) else node)}}}"


def _is_command(decorator: ast.expr) -> bool:
    return _name(decorator.func if isinstance(decorator, ast.Call) else decorator) in _COMMANDS


def _is_doc(key: ast.expr | None) -> bool:
    """Whether it is the key of a description in JSON Schema."""
    return isinstance(key, ast.Constant) and key.value == "description"


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


if __name__ == "__main__":
    sys.exit(main())
