"""Find accounts, projects and categories by id, short name, user name or e-mail address."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, TypeVar

from crowdd.domain.server.services import Services
from crowdd.errors import ConflictError, NotFoundError
from crowdd.kinds import PROJECT
from crowdd.storage.database import Row
from crowdd.values import SYSTEM

T = TypeVar("T")


async def account(services: Services, words: str) -> Row:
    """The account with this user name, e-mail address or id, with score and rank.

    Raises NotFoundError; ConflictError for digits that are one account's id and the user name of another, so that
    nobody gets another account's rights by choosing such a name.
    """
    found = {row["id"]: row for row in (await _by_id(services, words), await _by_name(services, words)) if row}
    if len(found) > 1:
        raise ConflictError(
            f"{words} is the id of one account and the user name of another.", hint="Use the e-mail address instead."
        )
    if not found:
        raise NotFoundError(f"Account {words} does not exist.")
    return found.popitem()[1]


async def _by_id(services: Services, words: str) -> Row | None:
    try:
        return await services.accounts.profile(number(words) or 0)
    except NotFoundError:
        return None


async def _by_name(services: Services, words: str) -> Row | None:
    try:
        return await services.accounts.profile((await services.accounts.find(words))["id"])
    except NotFoundError:
        return None


async def project(services: Services, words: str) -> Row:
    """The project with this short name or id, as its owners have it. Raises NotFoundError, ConflictError."""
    names = {words, await _short_name(services, words)} - {""}
    found = {row["id"]: row for row in [await _page(services, name) for name in sorted(names)] if row}
    if len(found) > 1:
        raise ConflictError(f"{words} is the id of one project and the short name of another.")
    if not found:
        raise NotFoundError(f"Project {words} does not exist.", hint="To list the projects: crowdctl project list")
    return found.popitem()[1]


async def _short_name(services: Services, words: str) -> str:
    try:
        view = await services.records.get(PROJECT, SYSTEM, number(words) or 0)
    except NotFoundError:
        return ""
    return str(view["short_name"])


async def _page(services: Services, short_name: str) -> Row | None:
    try:
        return await services.projects.owned(short_name, SYSTEM)
    except NotFoundError:
        return None


async def category(services: Services, words: str) -> Row:
    """The category with this short name or id, and the number of its projects. Raises NotFoundError."""
    rows = await services.administration.categories(SYSTEM)
    found = [row for row in rows if row["short_name"] == words] or [row for row in rows if row["id"] == number(words)]
    if not found:
        known = ", ".join(sorted(row["short_name"] for row in rows))
        raise NotFoundError(f"Category {words} does not exist. Categories: {known}.")
    return found[0]


async def known(work: Awaitable[T], what: str) -> T:
    """What the work returns. Raises NotFoundError with a message that begins with ``what``."""
    try:
        return await work
    except NotFoundError:
        raise NotFoundError(f"{what} does not exist.") from None


def number(words: str) -> int | None:
    """The id that the words are, or None."""
    return int(words) if words.isascii() and words.isdigit() and len(words) < 19 else None


def given(**options: Any) -> dict[str, Any]:
    """The options that were given."""
    return {name: value for name, value in options.items() if value is not None}
