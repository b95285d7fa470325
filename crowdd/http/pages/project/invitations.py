"""Links that invite people to a project, as the pages of their makers show them."""

from __future__ import annotations

from typing import TypedDict
from urllib.parse import quote

from crowdd.http.responses import Message
from crowdd.kinds.types import iso
from crowdd.languages import _
from crowdd.storage.projects.owner_rows import Invitation


class NewInvitation(TypedDict, total=False):
    """The link of an invitation that was just made."""

    invitation_url: str


def invitation_link(base_url: str, short_name: str, key: str) -> str:
    """The link of an invitation with this key."""
    return f"{base_url.rstrip('/')}/project/{quote(short_name)}/invitation?key={key}"


def open_until(invitation: Invitation | None) -> str | None:
    """When an open invitation expires."""
    return iso(invitation["expires"]) if invitation else None


def ready() -> Message:
    """What the page with a new link says."""
    return Message(flash=_("The invitation is ready: send the link to one person."), status="success")
