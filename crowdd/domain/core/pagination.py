"""The position of a page in a list, as front ends read it."""

from __future__ import annotations

from typing import TypedDict


class PlacePagination(TypedDict):
    """A page that has a number, or that begins at a row: then ``page`` is None. ``prev`` and ``next`` as below."""

    page: int | None
    per_page: int
    total: int
    prev: bool
    next: bool


class Pagination(TypedDict):
    """The page number must be 1 or more. ``prev`` and ``next`` say whether there is a page on that side."""

    page: int
    per_page: int
    total: int
    prev: bool
    next: bool
