"""Roles: the relations of a requester to a row that rights are made of, and the sets that declarations use often."""

from __future__ import annotations

import enum


class Role(enum.Enum):
    """The relation of a requester to a row. A right is a set of roles, and any one of them is enough.

    ``core.records.role_statements`` has the only SQL expression of each role.
    """

    ANYBODY = "anybody"
    SIGNED_IN = "signed_in"
    ADMIN = "admin"
    OWNER = "owner"  # owner or co-owner of the row's project
    REVIEWER = "reviewer"  # reviewer of the row's project: sees answers and decides tasks
    TRANSLATOR = "translator"  # translator of the row's project: reads its texts, and writes them in other languages
    CREATOR = "creator"  # owner of the row's project, co-owners left out
    SHOWN = "shown"  # the row is published, and so is its project (if any), without a password; or a person not blocked
    AUTHOR = "author"  # who made the row
    SELF = "self"  # the row is the requester
    OPEN = "open"  # the row is a person who shows fullname and date of joining (privacy mode off)
    LISTED = "listed"  # the row's project is published and has no password that the requester lacks
    REACHABLE = "reachable"  # the row's project was published once, or the requester has its "try it" link or owns it
    UNLOCKED = "unlocked"  # the row's project is reachable and has no password that the requester lacks
    ANSWERS_LISTED = "answers_listed"  # listed, and the owner lets everybody see the answers to the row's task
    ANSWERS_UNLOCKED = "answers_unlocked"  # the same for an unlocked project
    # Who may see the row's secret now: a person with a recent proof, an owner without a weak token.
    KEYHOLDER = "keyholder"


EVERYONE = frozenset({Role.ANYBODY})
NOBODY: frozenset[Role] = frozenset()
OWNERS = frozenset({Role.OWNER, Role.ADMIN})
REVIEWERS = OWNERS | {Role.REVIEWER}  # who decides tasks
TRANSLATORS = OWNERS | {Role.TRANSLATOR}  # who translates its texts
HELPERS = REVIEWERS | TRANSLATORS  # who does something for a project beside answering
KEYHOLDERS = frozenset({Role.KEYHOLDER})
ADMINS = frozenset({Role.ADMIN})
WHOLE_INFO = OWNERS | {Role.SELF}  # who reads the keys of info that are not public
