"""What a new password must be like; passwords that people have already go on working."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from urllib.parse import urlsplit

from crowdd.config import Settings
from crowdd.domain.accounts import account_validation
from crowdd.domain.accounts.authentication.password_strength import Strength, assess, words_of
from crowdd.domain.accounts.authentication.passwords import Passwords
from crowdd.domain.accounts.registration import Registration


class PasswordPolicy:
    """``site`` returns the name of the site."""

    """Length, common passwords, words of the site and of the person, and how many guesses it takes."""

    def __init__(self, passwords: Passwords, settings: Settings, site: Callable[[], str]) -> None:
        self._passwords, self.min_length = passwords, settings.accounts.min_password_length
        self._site, self._host = site, urlsplit(settings.base_url).hostname or ""

    async def assess(self, password: str, about: Iterable[str] = ()) -> Strength:
        """How good a password is for a person of whom ``about`` tells: names, e-mail address. Raises BusyError."""
        words = words_of(self._site(), self._host, *about)
        return await self._passwords.in_thread(assess, password[: account_validation.MAX_PASSWORD_LENGTH], words)

    async def mistakes(self, password: str, again: str, about: Iterable[str]) -> tuple[list[str], list[str]]:
        """What is wrong with a new password, and with the same typed again."""
        words, differs = account_validation.password(password, again, self.min_length)
        return words or list((await self.assess(password, about)).mistakes), differs

    async def of_registration(self, form: Registration, *, passwordless: bool) -> account_validation.Mistakes:
        """What is wrong with what somebody says who signs up, per field."""
        if passwordless:
            return form.mistakes(None)
        words, differs = await self.mistakes(form.password, form.confirm, (form.name, form.fullname, form.email_addr))
        return account_validation.found({**form.mistakes(None), "password": words, "confirm": differs})
