"""Every kind of event stands in docs/webhooks.md, with what its declaration says."""

from __future__ import annotations

import re
from pathlib import Path

from support.checks.shows import shows

from crowdd.sched.webhook_messages import KINDS

PAGE = Path(__file__).parents[2] / "docs" / "webhooks.md"


@shows("event-kinds")
def test_the_table_of_events_is_what_is_declared():
    rows = [line for line in PAGE.read_text("utf-8").splitlines() if re.match(r"\| `\w+` \|", line)]
    assert rows == [f"| `{kind.name}` | {kind.doc} |" for kind in KINDS.values()]
