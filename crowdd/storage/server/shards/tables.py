"""What moves with a project, and what stays; tests compare this with the tables that there are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_OWN: Final = "project_id = %(id)s"
_OF_PROJECT: Final = (
    "project_ledger", "task", "task_ledger", "task_run", "result", "lease", "expired_lease", "retirement",
    "task_skip", "task_skip_by", "task_key", "task_key_name", "task_origin", "task_comment", "task_import", "favourite",
    "sample_task", "blogpost", "helpingmaterial", "guide_version", "question_version", "upload_file",
    "webhook", "event", "event_sequence", "delivery", "delivery_attempt",
    "project_stat", "project_hour", "volunteer", "volunteer_day", "outcome_count",
    "alpha_delta", "alpha_expected", "alpha_sum", "agreement_due", "comparison_due",
    "gold_task", "reliability", "evidence", "trust_model", "review_opinion",
    "barred_volunteer", "volunteer_word", "withdrawn_volunteer",
    "analysis", "analysis_task", "analysis_volunteer", "snapshot", "snapshot_schedule",
    "import_source", "media_batch", "media_file", "queue_item",
    "change_feed", "tombstone", "past_row",
)  # fmt: skip

MOVED: Final[Mapping[str, str]] = {
    "project": "id = %(id)s",
    **dict.fromkeys(_OF_PROJECT, _OWN),
    "import_error": "import_id IN (SELECT id FROM task_import WHERE project_id = %(id)s)",
    "snapshot_file": "snapshot_id IN (SELECT id FROM snapshot WHERE project_id = %(id)s)",
    "deposit": "snapshot_id IN (SELECT id FROM snapshot WHERE project_id = %(id)s)",
}
"""Which rows of a table belong to a project; in an order in which rows that others refer to come first."""

CARD: Final = ("project", "project_ledger", "project_stat", "project_hour", "volunteer", "volunteer_day")
"""What home keeps of a project that lives elsewhere: its row, for names, owners and lists, and its figures."""

NOT_MOVED: Final = frozenset({
    # These are made again: positions of volunteers start over, links come with requests, counters are folded before the move.
    "position", "same_person", "stat_delta",
    # The audit log is a chain, and tells what happened on a database. Tokens and collections belong to people.
    "audit", "audit_chain", "api_token", "collection", "collection_item",
    # People, and what is theirs.
    "account", "account_deletion", "attempt_count", "idempotency", "key_network", "mail", "one_time_link",
    "passkey", "person_stat", "personal_export", "provider_connection", "provider_token", "recovery_code", "score_count", "security_log", "session",
    "totp", "used_challenge",
    # The site and the server.
    "announcement", "backup", "category", "clock_seen", "clock_shift", "cluster", "dashboard", "definition", "exposure",
    "hidden_template", "history", "job", "job_run", "migration", "move_in", "move_in_step", "node", "own_shard",
    "project_move", "project_place", "rate_count", "rendered_text", "server_key", "shard", "shard_score", "site", "stat_floor", "swept",
    "template", "template_file", "told_project", "told_score", "volunteer_rule",
})  # fmt: skip

# Changes of these are refused while a project moves; the other tables change only with them.
GUARDED: Final = ("project", *_OF_PROJECT, "stat_delta")
KINDS_FOLLOWED: Final = ("task", "task_run", "result")
EMPTY_WHEN_MOVED: Final = ("stat_delta", "position")
