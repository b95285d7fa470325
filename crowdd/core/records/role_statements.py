"""Who a requester is to a row, in SQL: the one expression of each role.

``%(me)s``, ``%(is_admin)s``, ``%(unlocked)s``, ``%(only_project)s`` (the one project that an API token may write) and the
``sees_…`` are the requester, ``%(visitor)s`` and ``%(visits_all)s`` the account that stands behind a presenter's request
(``Requester.role_values``), ``t`` is the row and ``p`` the project it belongs to. A list asks for rows where any of the wanted roles holds, so that a page is
full unless it is the last; a row asked for by its id brings every role along, and ``core.records.rights`` decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from crowdd.kinds.kind import Kind
from crowdd.kinds.roles import Role

_ALLOWED = "(%(only_project)s::bigint IS NULL OR p.id = %(only_project)s)"
_UNBOUND = "%(only_project)s::bigint IS NULL"
_REQUESTER = {
    Role.ANYBODY: "true",
    Role.SIGNED_IN: f"(%(me)s::bigint IS NOT NULL AND {_UNBOUND})",
    Role.ADMIN: "%(is_admin)s",
}
# What owners may enter, they may also enter as the volunteers that a presenter makes of them.
_VISITS = "(%(visits_all)s OR coalesce(p.owners_ids @> ARRAY[%(visitor)s::bigint], false))"
_REACHABLE = (
    f"(p.first_published IS NOT NULL OR coalesce(p.draft_key = ANY (%(unlocked)s::text[]), false) OR {_VISITS})"
)
_LISTED = "(p.published AND (p.lock_id IS NULL OR p.lock_id = ANY (%(unlocked)s::text[])))"
_UNLOCKED = f"((p.lock_id IS NULL OR p.lock_id = ANY (%(unlocked)s::text[]) OR {_VISITS}) AND {_REACHABLE})"
# The task that a row t answers has all its answers.
COMPLETE = "EXISTS (SELECT FROM task_ledger l WHERE l.project_id = t.project_id AND l.task_id = t.task_id AND (l.done OR l.retired))"
_PROJECT = {
    Role.OWNER: f"(coalesce(p.owners_ids @> ARRAY[%(me)s::bigint], false) AND {_ALLOWED})",
    Role.REVIEWER: f"(coalesce(p.reviewer_ids @> ARRAY[%(me)s::bigint], false) AND {_ALLOWED})",
    Role.TRANSLATOR: f"(coalesce(p.translator_ids @> ARRAY[%(me)s::bigint], false) AND {_ALLOWED})",
    Role.CREATOR: f"(coalesce(p.owner_id = %(me)s::bigint, false) AND {_ALLOWED})",
    Role.LISTED: _LISTED,
    Role.REACHABLE: _REACHABLE,
    Role.UNLOCKED: _UNLOCKED,
}
_ROW = {
    Role.AUTHOR: f"(coalesce(t.user_id = %(me)s::bigint, false) AND {_UNBOUND})",
    Role.SELF: f"(coalesce(t.id = %(me)s::bigint, false) AND {_UNBOUND})",
    Role.OPEN: "NOT t.privacy_mode",
}

_KEYHOLDER = {
    # Nobody is told by a request from before a new password which key they have since.
    "user": "CASE WHEN coalesce(t.id = %(me)s::bigint, false) THEN %(sees_own_key)s"
    " AND (SELECT a.access_version FROM account a WHERE a.id = t.id) = %(access_version)s ELSE %(sees_all_keys)s END",
    "project": f"(%(sees_secrets)s AND (%(is_admin)s OR {_PROJECT[Role.OWNER]}))",
}


# Of the values of a requester (``Requester.role_values`` and ``actor``), for prepared statements.
TYPES: Final[Mapping[str, str]] = {
    "me": "bigint",
    "is_admin": "boolean",
    "unlocked": "text[]",
    "visitor": "bigint",
    "visits_all": "boolean",
    "only_project": "bigint",
    "sees_own_key": "boolean",
    "access_version": "int",
    "sees_all_keys": "boolean",
    "sees_secrets": "boolean",
    "actor": "text",
}


def source(kind: Kind) -> str:
    """The FROM clause: the kind as t and, where it has one, its project as p."""
    if kind.name == "project":
        return "project_record t JOIN project p ON p.id = t.id"
    if "project_id" in kind.by_name:
        return f"{kind.source} t JOIN project p ON p.id = t.project_id"
    return f"{kind.source} t"


def has_project(kind: Kind) -> bool:
    """Whether a row of this kind is a project or belongs to one."""
    return kind.name == "project" or "project_id" in kind.by_name


def expressions(kind: Kind) -> dict[Role, str]:
    """Every role that one can have towards a row of this kind."""
    role_expressions = dict(_REQUESTER)
    if has_project(kind):
        role_expressions |= _PROJECT
        role_expressions |= _answers(kind)
    if kind.name in _KEYHOLDER:
        role_expressions[Role.KEYHOLDER] = _KEYHOLDER[kind.name]
    if "published" in kind.by_name and kind.name != "project":
        project = f" AND {_PROJECT[Role.LISTED]}" if "project_id" in kind.by_name else ""
        role_expressions[Role.SHOWN] = f"(t.published{project})"
    if "user_id" in kind.by_name:
        role_expressions[Role.AUTHOR] = _ROW[Role.AUTHOR]
    if kind.name == "user":
        role_expressions |= {Role.SELF: _ROW[Role.SELF], Role.OPEN: _ROW[Role.OPEN]}
        role_expressions[Role.SHOWN] = 'NOT t."restrict"'
    return role_expressions


def _answers(kind: Kind) -> dict[Role, str]:
    """Whether everybody may see answers: those to the row's task, or to complete ones when the row is the project.

    Nobody while the project has gold tasks, whose answers they would tell.
    """
    seen = "p.zip_download AND NOT p.has_gold"
    if "task_id" in kind.by_name:
        seen += f" AND (NOT p.answers_when_complete OR {COMPLETE})"
    return {
        Role.ANSWERS_LISTED: f"({_LISTED} AND {seen})",
        Role.ANSWERS_UNLOCKED: f"({_UNLOCKED} AND {seen})",
    }


def any_of(kind: Kind, wanted: Iterable[Role]) -> str:
    """A condition: the requester has at least one of these roles."""
    have = expressions(kind)
    if Role.ANYBODY in (wanted := frozenset(wanted)):
        return "true"
    return "(" + (" OR ".join(have[s] for s in sorted(wanted & have.keys(), key=lambda s: s.value)) or "false") + ")"


def columns(kind: Kind) -> str:
    """A select item that lists the names of the roles that hold towards a row of this kind."""
    return _listed(expressions(kind))


def to_project() -> str:
    """The same towards a project p itself, for a child that is not there yet."""
    return _listed(_REQUESTER | _PROJECT)


def to_project_owner() -> str:
    """A condition on a project p: the requester owns or co-owns it."""
    return _PROJECT[Role.OWNER]


def _listed(expressions: dict[Role, str]) -> str:
    cases = ", ".join(f"CASE WHEN {sql} THEN '{role.value}' END" for role, sql in expressions.items())
    return f"array_remove(ARRAY[{cases}], NULL) AS roles"
