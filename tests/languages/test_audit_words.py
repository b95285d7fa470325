"""Audit logs say in words whatever the code writes into them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import crowdd
from crowdd.kinds import KINDS

PACKAGE = Path(crowdd.__file__).parent
ACTS = PACKAGE / "features/tasks/templates/project__acts.html"
# Acts of which the code writes the names of what is done, or of the kind, from a variable.
VARIABLE = {
    *("remove_coowner project", "invite_coowner project", "transfer project", "reset_secret_key project"),
    *("rotate_webhook_secret project", "test_webhook project", "redeliver project", "switch_on_webhook project"),
    *("backfill project", "set_password project", "remove_password project", "update site", "test site"),
    *("totp_added user", "totp_removed user", "passkey_added user", "passkey_removed user", "codes_removed user"),
    *("publish snapshot", "hide snapshot", "delete snapshot", "publish_deposit snapshot"),
    *("send_again mail", "discard mail", "cancel queue", "retry queue", "discard queue", "send_reset_link user"),
    *(f"{change} {kind}" for change in ("redundancy", "priority", "retire", "reopen") for kind in ("project", "task")),
    *(f"delete {kind.name}" for kind in KINDS.values() if kind.name not in ("projectstats", "user")),
}


def test_each_act_has_words():
    """Finds every call of ``write_act`` and ``write_acts`` whose action and kind stand in the code."""
    phrases = set(re.findall(r'"(\w+ \w+)": _\(', ACTS.read_text(encoding="utf-8")))
    texts = [path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")]
    acts = {act for text in texts if "log_statements.write_" in text for act in _acts(ast.parse(text))}
    assert len(acts) > 25
    assert sorted((acts | VARIABLE) - phrases) == []


def _acts(tree: ast.AST) -> Iterator[str]:
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        if isinstance(call.func, ast.Attribute) and ast.unparse(call.func) in (
            "log_statements.write_act",
            "log_statements.write_acts",
        ):
            for action in _texts(call.args[2]):
                yield from (f"{action} {kind}" for kind in _texts(call.args[3]))


def _texts(node: ast.expr) -> list[str]:
    if isinstance(node, ast.IfExp):
        return _texts(node.body) + _texts(node.orelse)
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []
