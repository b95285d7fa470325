"""What administrators and owners read of queue, e-mails, audit log and security log: every row, on every page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from crowdd.features.site.admin_pages import WORDS
from crowdd.sched.queue_worker import handlers
from support.figures import Compared
from support.figures.lively_site import Site
from support.figures.reading import Row, json_over_pages, over_pages

_STATES = {"waiting": "Waiting", "running": "Running", "done": "Done", "dead": "Failed", "cancelled": "Cancelled",
           "held": "Held: mail is switched off", "sent": "Sent"}  # fmt: skip
_TITLES = {name: handler.title for name, handler in handlers().items()}
_QUEUE = """
SELECT q.id, q.name, q.state, q.error, q.done, q.total, a.name AS person FROM queue_item q LEFT JOIN account a ON a.id = q.user_id ORDER BY q.id DESC"""
_MAIL = "SELECT id, recipient, subject, state, error FROM mail ORDER BY id DESC"
_AUDIT = """
SELECT id, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') AS moment, user_name, via, action, kind, object_id, attribute, project_id
  FROM audit ORDER BY id DESC"""
_SECURITY = """
SELECT s.id, to_char(s.last_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') AS moment, s.kind, s.count, a.name AS person, s.network
  FROM security_log s LEFT JOIN account a ON a.id = s.user_id ORDER BY s.id DESC"""


async def of_logs(site: Site) -> Compared:
    """All of them."""
    boss = site.people["boss"]
    queue = await site.rows(_QUEUE)
    mail = await site.rows(_MAIL)
    acts = await site.rows(_AUDIT)
    security = await site.rows(_SECURITY)
    lists = (
        ("/admin/queue", "Queue", "items", queue, _item, "state", ("done", "dead", "waiting")),
        ("/admin/mail", "Mail", "letters", mail, _letter, "state", ("waiting", "sent")),
        ("/admin/audit", "Audit log", "entries", acts, _act, "kind", ("project", "task")),
        ("/admin/security", "Security log", "entries", security, _event, "kind", (security[0]["kind"],)),
    )
    for path, caption, key, rows, shown, filter_, values in lists:
        yield f"{path} has more than a page", len(rows) > 25, True
        async for compared in _list(site, boss, f"{path}?per_page=25", caption, rows, shown):
            yield compared
        if path != "/admin/mail":
            entries = await json_over_pages(site, f"{path}?per_page=25", key, boss)
            yield f"JSON of {path}", [one["id"] for one in entries], [row["id"] for row in rows]
        async for compared in _list(site, boss, f"{path}?per_page=100&orderby=id", caption, rows[::-1], shown):
            yield compared
        for value in values:
            chosen = [row for row in rows if row[filter_] == value]
            at = f"{path}?per_page=100&{filter_}={value}"
            async for compared in _list(site, boss, at, caption, chosen, shown):
                yield compared
            entries = (await site.json(at, boss))[key]
            yield f"JSON of {at}", [one["id"] for one in entries], [row["id"] for row in chosen[:100]]
    owner, birds = site.people["owner"], site.projects["birds"]
    own = [row for row in acts if row["project_id"] == birds]
    pages = await over_pages(site, "/project/birds/auditlog?per_page=25", owner)
    entries = [(row["Who"], row["Field"]) for page in pages for row in page.rows("Who changed what")]
    yield "audit log of birds", entries, [(f"{row['user_name']} {row['via']}", row["attribute"] or "–") for row in own]
    entries = await json_over_pages(site, "/project/birds/auditlog?per_page=25", "auditlog", owner)
    yield "JSON of the audit log of birds", [one["id"] for one in entries], [row["id"] for row in own]


async def _list(
    site: Site, who: Any, path: str, caption: str, rows: Sequence[Any], shown: Callable[[Any, Row], Row]
) -> Compared:
    """Every row on every page; ``shown`` says what a row has to read like, as far as it is compared."""
    page_rows = [row for page in await over_pages(site, path, who) for row in page.rows(caption)]
    yield f"rows of {path}", len(page_rows), len(rows)
    expected = [shown(row, one) for row, one in zip(rows, page_rows, strict=False)]
    yield path, [{name: one[name] for name in want} for one, want in zip(page_rows, expected, strict=False)], expected


def _item(row: Any, told: Row) -> Row:
    of = f"{row['done']:,} of {row['total']:,}" if row["total"] else f"{row['done']:,}" if row["done"] else "–"
    return {
        "Number": str(row["id"]), "Background task": f"{_TITLES[row['name']]} {row['error'][:120]}".strip(),
        "Person": row["person"] or "–", "State": _STATES[row["state"]],
        "Progress": told["Progress"] if told["Progress"].split("%")[-1].strip() == of else of,
    }  # fmt: skip


def _letter(row: Any, _told: Row) -> Row:
    return {"Number": str(row["id"]), "To": row["recipient"], "State": _STATES[row["state"]]}


def _act(row: Any, told: Row) -> Row:
    who = f"{row['user_name'] or '–'} {row['via']}"
    return {
        "When": row["moment"], "Who": told["Who"] if told["Who"].startswith(who) else who,
        "Action": told["Action"] if _names(told["Action"], row) else f"{row['action']} {row['kind']} {row['object_id']}", "Field": row["attribute"] or "–",
    }  # fmt: skip


def _names(told: str, row: Any) -> bool:
    """Whether words about an act say what it was done to: its number, its title, or its kind if there is one only."""
    return (
        told.endswith((f" {row['object_id']}", "”")) or row["object_id"] is None or row["kind"] in ("site", "project")
    )


def _event(row: Any, told: Row) -> Row:
    person = row["person"] or "–"
    return {
        "When": row["moment"], "What happened": WORDS[row["kind"]], "How often": f"{row['count']:,}",
        "Account": told["Account"] if told["Account"].split(" by ")[0] == person else person,
        "Network": row["network"] or "–",
    }  # fmt: skip
