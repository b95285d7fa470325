"""Types of the rows of groups."""

from __future__ import annotations

from datetime import date, datetime
from typing import TypedDict

import attrs

from crowdd.database.access import Bytea


class ListedGroup(TypedDict):
    """A group in the list of its owner; ``lasts``: it has not ended."""

    id: int
    name: str
    size: int
    last_day: date
    lasts: bool
    n_members: int


class JoinedGroup(TypedDict):
    """A group that an account is a member of."""

    id: int
    name: str
    last_day: date
    answers: int


class GroupRow(TypedDict):
    """A group for its owner. ``code`` is None while nobody can join; ``ranks``: the board orders its members by time."""

    id: int
    name: str
    size: int
    last_day: date
    lasts: bool
    code: str | None
    shows_names: bool
    ranks: bool


class MemberRow(TypedDict):
    """A member, with their answers since they joined. ``guest``: they have no account."""

    id: int
    name: str
    guest: bool
    joined: datetime
    answers: int


class BoardMember(TypedDict):
    """A member on the board. ``seconds``: what their answers are worth; ``named``: they did not leave the board."""

    id: int
    name: str
    answers: int
    seconds: float
    named: bool


class MemberHours(TypedDict):
    """A member, and for how long they were at their answers."""

    name: str
    joined: datetime
    answers: int
    seconds: float


class OpenGroup(TypedDict):
    """A group that people can join."""

    id: int
    name: str
    size: int


class KnownGuest(TypedDict):
    """A guest by their name in a group."""

    actor: str
    number_hash: Bytea


class Membership(TypedDict):
    """Where a guest is a member, and what the group did together."""

    name: str
    member: str
    on_board: bool
    last_day: date
    answers: int
    n_members: int
    group_answers: int


class Count(TypedDict):
    n: int


@attrs.frozen
class GuestNetwork:
    """A network of the groups of an account (``id``), from 0."""

    id: int
    network: int
