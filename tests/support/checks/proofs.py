"""Which cases of a family of tests ``make test`` runs, and which are left to ``make proofs``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest


def examples(*ids: str) -> pytest.MarkDecorator:
    """Mark a test with many parameters: ``make test`` runs the cases with these ids, and the others are proofs."""
    return pytest.mark.examples(*ids)


def leave_to_proofs(config: pytest.Config, items: Sequence[pytest.Item]) -> None:
    """Mark cases of families as proofs unless they are examples.

    Raises UsageError for an example that is no case, for such a family may have lost its only one. Where somebody names
    single cases, others are not known and this is not looked for.
    """
    marked = [(item, marker) for item in items if (marker := item.get_closest_marker("examples"))]
    for item, marker in marked:
        if _id(item) not in marker.args:
            item.add_marker("proof")
    wanted = {(family(item.nodeid), each) for item, marker in marked for each in marker.args}
    unknown = wanted - {(family(item.nodeid), _id(item)) for item, _ in marked}
    if unknown and not any("::" in argument for argument in config.args):
        raise pytest.UsageError(f"no such cases: {sorted(unknown)}")


def _id(item: pytest.Item) -> str:
    call: Any = getattr(item, "callspec", None)
    return call.id if call else ""


def family(node: str) -> str:
    """The function of a case, by its node id."""
    return node.partition("[")[0]
