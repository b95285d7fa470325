"""Find what an argument names: by id, short name, nickname or e-mail address."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

from crowdd.core.records.records import Records
from crowdd.features.accounts.accounts import Accounts
from crowdd.features.accounts.rows import AccountPage
from crowdd.features.projects.project_lists import ProjectLists
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import CountedCategory, ProjectPage
from crowdd.kernel.errors import ConflictError, NotFoundError
from crowdd.kernel.requester import SYSTEM
from crowdd.kernel.values import parse_number
from crowdd.kinds.project import PROJECT

T = TypeVar("T")


async def account(accounts: Accounts, words: str) -> AccountPage:
    """The account with this nickname, e-mail address or id, with score and rank.

    Raises NotFoundError. Raises ConflictError for digits that are the id of one account and the nickname of another:
    the account with that nickname must not get what is meant for the other one.
    """
    rows_by_id = {row["id"]: row for row in (await _by_id(accounts, words), await _by_name(accounts, words)) if row}
    if len(rows_by_id) > 1:
        raise ConflictError(
            f"{words} is the id of one account and the user name of another.", hint="Use the e-mail address instead."
        )
    if not rows_by_id:
        raise NotFoundError(f"Account {words} does not exist.")
    return rows_by_id.popitem()[1]


async def _by_id(accounts: Accounts, words: str) -> AccountPage | None:
    try:
        return await accounts.profile(parse_number(words) or 0)
    except NotFoundError:
        return None


async def _by_name(accounts: Accounts, words: str) -> AccountPage | None:
    try:
        return await accounts.profile((await accounts.find(words))["id"])
    except NotFoundError:
        return None


async def project(projects: Projects, records: Records, words: str) -> ProjectPage:
    """The project with this short name or id, as its owners have it. Raises NotFoundError, ConflictError."""
    names = {words, await _short_name(records, words)} - {""}
    rows_by_id = {row["id"]: row for row in [await _page(projects, name) for name in sorted(names)] if row}
    if len(rows_by_id) > 1:
        raise ConflictError(f"{words} is the id of one project and the short name of another.")
    if not rows_by_id:
        raise NotFoundError(f"Project {words} does not exist.", hint="To list the projects: crowdctl project list")
    return rows_by_id.popitem()[1]


async def _short_name(records: Records, words: str) -> str:
    try:
        view = await records.get(PROJECT, SYSTEM, parse_number(words) or 0)
    except NotFoundError:
        return ""
    return str(view["short_name"])


async def _page(projects: Projects, short_name: str) -> ProjectPage | None:
    try:
        return await projects.owned(short_name, SYSTEM)
    except NotFoundError:
        return None


async def category(project_lists: ProjectLists, words: str) -> CountedCategory:
    """The category with this short name or id, and the number of its projects. Raises NotFoundError."""
    rows = await project_lists.counted_categories()
    matches = [row for row in rows if row["short_name"] == words] or [
        row for row in rows if row["id"] == parse_number(words)
    ]
    if not matches:
        known = ", ".join(sorted(row["short_name"] for row in rows))
        raise NotFoundError(f"Category {words} does not exist. Categories: {known}.")
    return matches[0]


async def known(work: Awaitable[T], what: str) -> T:
    """What the work returns. Raises NotFoundError that names what the argument meant."""
    try:
        return await work
    except NotFoundError:
        raise NotFoundError(f"{what} does not exist.") from None


def given(**options: T | None) -> dict[str, T]:
    """The options that were given."""
    return {name: value for name, value in options.items() if value is not None}
