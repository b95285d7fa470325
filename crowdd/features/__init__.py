"""The features of crowdd, one folder each. A feature imports only those before it in ``FEATURES``."""

from __future__ import annotations

from typing import Final

FEATURES: Final = (
    "accounts",
    "signin",
    "media",
    "projects",
    "webhooks",
    "questions",
    "translations",
    "results",
    "groups",
    "answer_files",
    "tasks",
    "chains",
    "presenters",
    "trust",
    "analyses",
    "statistics",
    "exports",
    "imports",
    "batches",
    "snapshots",
    "gallery",
    "publishing",
    "community",
    "recognition",
    "news",
    "site",
    "people",
    "operations",
    "movein",
)
