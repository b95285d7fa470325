"""Projects and people as pages show them (interface: page-project-summary, account-record)."""

from __future__ import annotations

from collections.abc import Mapping

from crowdd.core.text.words import ago
from crowdd.features.accounts.rows import PersonRow
from crowdd.features.projects.rows import ProjectSummary
from crowdd.kernel.values import Values
from crowdd.kinds.kind import outward
from crowdd.kinds.project import PROJECT
from crowdd.kinds.user import USER

_SUMMARY = (
    "name", "short_name", "description", "info", "n_tasks", "n_volunteers", "overall_progress", "created", "updated",
    "category_id", "featured", "n_task_runs", "n_completed_tasks", "n_results",
    "last_activity_raw", "owner",
)  # fmt: skip
_PERSON = ("name", "fullname", "locale", "created", "info", "rank", "score", "n_answers", "total")
_OPEN = frozenset({"fullname", "created"})  # shown when privacy mode is off
_PRIVATE = (
    "id", "email_addr", "admin", "pro", "privacy_mode", "subscribed", "newsletter_prompted", "valid_email",
    "confirmation_email_sent", "flags", "category", "catalog_api", "google_user_id", "github_user_id", "orcid_user_id",
)  # fmt: skip


def project_summary(row: ProjectSummary, *, owned: bool = False) -> Values:
    """A project in a list, with its figures; owners also get id, owner_id and published."""
    values: Mapping[str, object] = row
    shown = {name: outward(values[name]) for name in _SUMMARY}
    shown["overall_progress"] = int(row["overall_progress"])
    shown["last_activity"] = ago(row["last_activity_raw"])
    shown["info"] = public_info(row["info"])
    if owned:
        shown |= {"id": row["id"], "owner_id": row["owner_id"], "published": row["published"]}
    return shown


def public_info(info: Values) -> Values:
    """What everybody may read of a project's ``info``."""
    return {key: value for key, value in info.items() if key in (PROJECT.public_info or info)}


def person(row: PersonRow, *, api_key: str | None = None, private: bool = False) -> Values:
    """A person as others see them, or with everything for the person and administrators."""
    shown: Values = {}
    values: Mapping[str, object] = row
    for name in _PERSON:
        hidden = name in _OPEN and row["privacy_mode"] and not private
        shown[name] = None if hidden else outward(values.get(name))
    shown["registered_ago"] = ago(row["created"]) if private or not row["privacy_mode"] else None
    shown["task_runs"] = values.get("n_answers")
    keys = USER.public_info or frozenset()
    shown["info"] = row["info"] if private else {k: v for k, v in row["info"].items() if k in keys}
    if private:
        shown |= {name: outward(values[name]) for name in _PRIVATE}
        shown |= {"api_key": api_key, "passwd_hash": None}
    return shown
