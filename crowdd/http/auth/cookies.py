"""Our cookies, and the bearer token that a request brings for an external user.

Cookies: session, device, volunteer, csrf, flash, project passwords, and the preferences of a browser.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator
from typing import Any

import attrs
import orjson
from cryptography.exceptions import InvalidTag
from werkzeug.http import dump_cookie

from crowdd.core.devices import Authenticated, Device
from crowdd.core.secrets import API_TOKEN_PREFIX, Secrets
from crowdd.http.request import Incoming
from crowdd.kernel.languages import Sentence, _

SESSION = "session"
VOLUNTEER = "volunteer"
CSRF = "csrf"
FLASH = "flash"
UNLOCKED = "unlocked"
DEVICE = "device"
FLOW = "signin_flow"  # a sign-in with a provider that is under way
NEWCOMER = "newcomer"  # whom a provider sent, and who has no account yet
SECOND_STEP = "second_step"  # somebody whose password was right and who owes a second factor
CHALLENGE = "passkey_challenge"  # a question to a passkey that waits for its answer
YEAR = 365 * 86400


@attrs.frozen
class Cookies:
    """Sets cookies the same way everywhere.

    ``now`` gives epoch seconds; ``cross_site``: for a front end on another site (needs https).
    """

    secrets: Secrets
    now: Callable[[], float]
    secure: bool
    cross_site: bool = False

    def set(
        self, incoming: Incoming, name: str, value: str, *, seconds: int | None = None, script: bool = False
    ) -> None:
        """Adds a Set-Cookie; without ``seconds`` it ends with the browser, with 0 it goes.

        Under https its name begins with ``__Host-``.
        """
        self._set(incoming, f"{incoming.cookie_prefix}{name}", value, seconds, script=script)

    def _set(
        self, incoming: Incoming, full_name: str, value: str, seconds: int | None, *, script: bool = False
    ) -> None:
        cookie = dump_cookie(
            full_name,
            value,
            max_age=seconds,
            secure=self.secure or self.cross_site,
            httponly=not script,
            samesite="None" if self.cross_site else "Lax",
            sync_expires=False,
            max_size=0,
        )
        incoming.cookies_to_set.append(cookie.encode())

    def drop(self, incoming: Incoming, name: str) -> None:
        """Takes a cookie away."""
        self.set(incoming, name, "", seconds=0)

    def move(self, incoming: Incoming) -> Sentence | str:
        """Gives cookies from before the site had prefixes their new names; what to tell the person, "" for nothing.

        An old session is not moved: a sibling host may have set it, to have people act as somebody else.
        """
        for name in (VOLUNTEER, DEVICE):
            if incoming.has_old_cookie(name):
                self.set(incoming, name, incoming.cookie(name), seconds=YEAR)
                self._drop_old(incoming, name)
        if not incoming.has_old_cookie(SESSION):
            return ""
        self._drop_old(incoming, SESSION)
        return "" if incoming.who.signed_in else _("Sign in again. This site now protects sign-ins better.")

    def _drop_old(self, incoming: Incoming, name: str) -> None:
        self._set(incoming, name, "", 0)

    def signed(self, incoming: Incoming, name: str) -> str:
        """The value of a cookie that we signed, or ""."""
        return self.secrets.verify(name, incoming.cookie(name)) or ""

    def set_signed(self, incoming: Incoming, name: str, value: str, *, seconds: int | None = None) -> None:
        """Sets a cookie with our signature."""
        self.set(incoming, name, self.secrets.sign(name, value), seconds=seconds)

    def volunteer(self, incoming: Incoming) -> str:
        """The name of the volunteer whose cookie it is; "" without one, or when it is older than a year.

        A cookie that says nothing of its time was given before cookies did.
        """
        name, _, rest = self.signed(incoming, VOLUNTEER).partition("~")
        issued = rest.partition("~")[0]
        return "" if issued.isdigit() and int(issued) + YEAR < self.now() else name

    def encrypted(self, incoming: Incoming, name: str) -> str:
        """The text of a cookie that nobody but us can read, or ""."""
        try:
            text = self.secrets.decrypt(
                base64.urlsafe_b64decode(incoming.cookie(name).encode("ascii", "replace")), name
            )
        except (ValueError, InvalidTag):
            return ""
        return text.removeprefix(f"{name}:") if text.startswith(f"{name}:") else ""

    def set_encrypted(self, incoming: Incoming, name: str, text: str, *, seconds: int) -> None:
        """Sets such a cookie; what one of another name holds does not pass for it."""
        packed = base64.urlsafe_b64encode(self.secrets.encrypt(f"{name}:{text}", name)).decode()
        self.set(incoming, name, packed, seconds=seconds)

    # A message for the next page, and the locks that a browser has opened.

    def flash(self, incoming: Incoming, message: str, status: str) -> None:
        """Keeps a message for the next page."""
        packed = base64.urlsafe_b64encode(orjson.dumps({"message": message, "status": status})).decode()
        self.set_signed(incoming, FLASH, packed, seconds=120)

    def take_flash(self, incoming: Incoming) -> list[dict[str, Any]]:
        """The message that waits for this page, once."""
        packed = self.signed(incoming, FLASH)
        if not packed:
            return []
        self.drop(incoming, FLASH)
        try:
            return [orjson.loads(base64.urlsafe_b64decode(packed))]
        except (ValueError, binascii.Error):
            return []

    def device(self, incoming: Incoming) -> Device:
        """This browser with those who signed in on it."""
        name, *people = self.signed(incoming, DEVICE).split("~")
        known = (word.partition(".") for word in people)
        return Device(name, tuple(Authenticated(int(user_id), int(version or 0)) for user_id, _, version in known))

    def remember(self, incoming: Incoming, account: Authenticated) -> None:
        """Notes that somebody signed in here."""
        device = self.device(incoming).with_person(account)
        people = [f"{known.user_id}.{known.access_version}" for known in device.people]
        self.set_signed(incoming, DEVICE, "~".join([device.name, *people]), seconds=YEAR)

    def unlocked(self, incoming: Incoming) -> tuple[str, ...]:
        """Lock ids of projects whose password this browser has given lately."""
        if not incoming.cookie(UNLOCKED):
            return ()
        return tuple(lock_id for lock_id, until in self._opened(incoming) if int(until) > self.now())

    def unlock(self, incoming: Incoming, lock_id: str, seconds: int) -> None:
        """Remembers an opened lock, or the key of a draft, for so long; the last 20 are kept."""
        now = int(self.now())
        others = [(other, int(until)) for other, until in self._opened(incoming) if other != lock_id][-19:]
        opened = [*others, (lock_id, now + seconds)]
        longest = max(until for _, until in opened) - now
        self.set_signed(incoming, UNLOCKED, "~".join(f"{name}@{until}" for name, until in opened), seconds=longest)

    def _opened(self, incoming: Incoming) -> Iterator[tuple[str, str]]:
        for word in self.signed(incoming, UNLOCKED).split("~"):
            lock_id, sign, until = word.partition("@")
            if sign:
                yield lock_id, until


def bearer_token(incoming: Incoming) -> str | None:
    """The token of ``Authorization: Bearer <token>``; None where the header says something else.

    A token of an account is something else: it says who asks.
    """
    words = incoming.header("authorization").split()
    external = len(words) == 2 and words[0].lower() == "bearer" and not words[1].startswith(API_TOKEN_PREFIX)
    return words[1] if external else None
