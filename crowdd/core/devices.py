"""Who proved on a browser who they are: an account at its version, and a device with those who signed in on it."""

from __future__ import annotations

import attrs

from crowdd.core.secrets import token


@attrs.frozen
class Authenticated:
    """An account whose person has proved who they are, and its ``access_version`` then (0: of a new account).

    Every new password makes a new version, and with it worthless what was proved before.
    """

    user_id: int
    access_version: int = 0


@attrs.frozen
class Device:
    """A browser, and the accounts that signed in on it before. An account with a new password since is not known."""

    name: str = ""
    people: tuple[Authenticated, ...] = ()

    def knows(self, account: Authenticated) -> bool:
        """Whether the account signed in here with its password of today."""
        return account in self.people

    def with_person(self, account: Authenticated) -> Device:
        """The same device after somebody signed in; it remembers the last ten."""
        others = [known for known in self.people if known.user_id != account.user_id]
        return Device(self.name or token(), (*others[-9:], account))


UNKNOWN_DEVICE = Device()
