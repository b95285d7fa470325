"""Settings of the site as administrators change them, on pages and with ``crowdctl site``.

What is set here counts above crowdd.conf (record 18). A change and its entries in the audit log are one transaction.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

import attrs

from crowdd.core import log_statements, site_statements
from crowdd.core.change_notifier import SITE
from crowdd.core.mail.mail import Mail
from crowdd.core.pictures import redrawn
from crowdd.core.records import rights
from crowdd.core.rows import SiteRow
from crowdd.core.site import HEADING, TEXTS, Site
from crowdd.core.text import contrast
from crowdd.core.text.rendered_text import Prose
from crowdd.core.uploads import FileChanges, Upload, Uploads, with_files
from crowdd.database.access import Database, Transactions
from crowdd.features.accounts.accounts import Accounts
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.errors import ConflictError, CostlyTextError, FormError, InvalidValueError, TooManyRequestsError
from crowdd.kernel.languages import NAMES, SOURCE, _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import parse_number
from crowdd.kinds.roles import ADMINS
from crowdd.kinds.task import TASK
from crowdd.kinds.types import clean_text

LOGO: Final = (480, 160)
"""Pixels that a finished logo has at most: three times as high as it is shown."""

MAX_NAME: Final = 60
SIGNUP: Final = ("open", "invitation")
_COLOUR = re.compile(r"#[0-9a-f]{6}")
Value = str | int | None


def _name(text: str) -> Value:
    if len(text) > MAX_NAME:
        raise InvalidValueError(_("Use at most %(maximum)s characters.", maximum=MAX_NAME))
    if not text.isprintable():
        raise InvalidValueError(_("Use a single line."))
    return text or None


def _accent(theme: str) -> Callable[[str], Value]:
    def parse(text: str) -> Value:
        colour = text.lower()
        if not colour:
            return None
        if not _COLOUR.fullmatch(colour):
            raise InvalidValueError(_("Enter a colour such as #0b3f63."))
        worst = contrast.worst(colour, theme)
        if worst.ratio < contrast.AA:
            shown = f"{int(worst.ratio * 100) / 100:.2f}"  # rounded down: 4.499 is not enough
            raise InvalidValueError(
                _(
                    "This colour has a contrast of %(ratio)s:1 with %(other)s. It needs at least 4.5:1 (WCAG AA).",
                    ratio=shown,
                    other=worst.beside,
                )
            )
        return colour

    return parse


def _number(text: str) -> Value:
    if not text:
        return None
    if (number := parse_number(text, 9)) is None:
        raise InvalidValueError(_("Enter a number, 0 or more."))
    return number


def _redundancy(text: str) -> Value:
    if not text:
        return None
    try:
        return int(TASK.field("n_answers").parse(text))
    except InvalidValueError:
        words = _("Enter a number from %(minimum)s to %(maximum)s.", minimum=1, maximum=f"{10_000:,}")
        raise InvalidValueError(words) from None


def _signup(text: str) -> Value:
    if text not in SIGNUP:
        raise InvalidValueError(_("%(name)s must be one of %(choices)s.", name="signup", choices=", ".join(SIGNUP)))
    return text


SETTINGS: Final[Mapping[str, Callable[[str], Value]]] = {
    "name": _name,
    "accent_light": _accent("light"),
    "accent_dark": _accent("dark"),
    "default_redundancy": _redundancy,
    "signup": _signup,
    "signups_per_hour": _number,
    "max_projects": _number,
}
"""The settings by their columns, each with what reads it. An empty text means: as crowdd.conf or the program says."""


@attrs.frozen(eq=False)
class SiteAdministration:
    """For pages and the command line; every method asks for an administrator."""

    _db: Transactions
    _site: Site
    _notify: Callable[[int], None]
    _uploads: Uploads
    _worker_thread: WorkerThread
    _prose: Prose
    _mail: Mail
    _accounts: Accounts

    async def get(self, who: Requester) -> SiteRow:
        """The settings as they are stored at this moment."""
        _require(who)
        return await site_statements.find(self._db)

    async def change(self, who: Requester, new_settings: Mapping[str, str], version: int | None = None) -> bool:
        """Changes settings, by the names of SETTINGS and, for texts, ``<text>.<language>``. False: they are so already.

        ``version``: that of the settings that the requester saw. Raises FormError; ConflictError when they were changed
        since.
        """
        _require(who)
        values, texts = await self._read(new_settings)

        async def work(tx: Database) -> bool:
            row = await site_statements.lock(tx)
            if version is not None and version != row.version:
                raise ConflictError(_("These settings were changed in the meantime. Check the values and save again."))
            changes = {name: value for name, value in values.items() if getattr(row, name) != value}
            changed_texts = {key: text for key, text in texts.items() if _text_of(row, *key) != text}
            for name, value in changes.items():
                await _note(tx, who, name, getattr(row, name), value)
            for key, text in changed_texts.items():
                before = log_statements.shorten_value(_text_of(row, *key))
                await _note(tx, who, ".".join(key), before or None, log_statements.shorten_value(text) or None)
            if changed_texts:
                changes["texts"] = _with_texts(row, changed_texts)  # type: ignore[assignment]
            if changes:
                await site_statements.change(tx, changes)
            return bool(changes)

        changed = await self._db.transaction(work)
        if changed:
            await self._announce()
        return changed

    async def _read(self, new_settings: Mapping[str, str]) -> tuple[dict[str, Value], dict[tuple[str, str], str]]:
        values: dict[str, Value] = {}
        texts: dict[tuple[str, str], str] = {}
        wrong: dict[str, list[str]] = {}
        for key, text in new_settings.items():
            name, _dot, language = key.partition(".")
            try:
                if name in TEXTS:
                    texts[name, language or SOURCE] = await self._text(name, language or SOURCE, text)
                elif key in SETTINGS:
                    values[key] = SETTINGS[key](clean_text(text.strip()))
                else:
                    raise InvalidValueError(f"Unknown setting. Settings: {', '.join((*SETTINGS, 'logo', *TEXTS))}.")
            except CostlyTextError as error:
                wrong[key] = [error.sentence]
            except InvalidValueError as error:
                wrong[key] = [error.args[0]]
        if wrong:
            raise FormError(wrong)
        return values, texts

    async def _text(self, name: str, language: str, text: str) -> str:
        """A text as it is stored; Markdown is laid out, so that no reader waits for it."""
        if language not in NAMES:
            raise InvalidValueError(
                _("%(name)s must be one of %(choices)s.", name="language", choices=", ".join(NAMES))
            )
        plain = clean_text(text.replace("\r\n", "\n").strip())
        if len(plain) > TEXTS[name]:
            raise InvalidValueError(_("Use at most %(maximum)s characters.", maximum=TEXTS[name]))
        if name == "headline" and not plain.isprintable():
            raise InvalidValueError(_("Use a single line."))
        if plain and name != "headline":
            await self._prose.admit_text(name, plain, HEADING)
        return plain

    async def set_logo(self, who: Requester, upload: Upload | None) -> None:
        """Gives the site a logo, redrawn; None takes it away. The file of before goes. Raises FormError."""
        _require(who)
        picture = None
        if upload is not None:
            try:
                picture = await self._worker_thread.do(_drawn, upload.content)
            except InvalidValueError as error:
                raise FormError({"logo": [error.args[0]]}) from None

        async def work(tx: Database, files: FileChanges) -> None:
            row = await site_statements.lock(tx)
            path = files.store("site", Upload("logo.webp", picture)) if picture is not None else None
            files.drop(row.logo)
            await site_statements.change(tx, {"logo": path})
            await _note(tx, who, "logo", row.logo, path)

        await with_files(self._db, self._uploads, work, _unchecked)
        await self._announce()

    async def send_test_mail(self, who: Requester) -> str:
        """Writes a test e-mail to the requester, and says to which address. Raises TooManyRequestsError."""
        _require(who)
        row = await self._accounts.profile(who.user_id or 0)

        async def work(tx: Database) -> None:
            if await self._mail.send(tx, row["email_addr"], "test", {}, row["locale"]) is None:
                raise TooManyRequestsError(
                    _("Too many e-mails were sent to this address. Try again later."), retry_after=3600
                )
            await site_statements.note_mail_test(tx)
            await _note(tx, who, "test_mail", None, None)

        await self._db.transaction(work)
        return row["email_addr"]

    @property
    def mail_is_on(self) -> bool:
        """Whether e-mails leave this server."""
        return self._mail.post is not None

    async def hide_steps(self, who: Requester) -> None:
        """Shows the first steps of an administrator to nobody any more."""
        _require(who)
        await site_statements.hide_steps(self._db)
        await self._announce()

    async def _announce(self) -> None:
        await self._site.load()
        self._notify(SITE)


def _drawn(content: bytes) -> bytes:
    return redrawn(content, None, LOGO, "WEBP", whole=True)


def _text_of(row: SiteRow, name: str, language: str) -> str:
    written = row.texts.get(name)
    return str(written.get(language) or "") if isinstance(written, dict) else ""


def _with_texts(row: SiteRow, changed: Mapping[tuple[str, str], str]) -> dict[str, dict[str, str]]:
    """The texts of a row with the changed ones; empty ones are left out."""
    texts = {(name, language): _text_of(row, name, language) for name in TEXTS for language in NAMES} | dict(changed)
    made: dict[str, dict[str, str]] = {}
    for (name, language), text in texts.items():
        if text:
            made.setdefault(name, {})[language] = text
    return made


async def _note(tx: Database, who: Requester, attribute: str, before: object, after: object) -> None:
    action = "test" if attribute == "test_mail" else "update"
    await log_statements.write_act(tx, who, action, "site", None, attribute=attribute, before=before, after=after)


async def _unchecked(tx: Database) -> None:
    """A site has one logo of some kB: it needs no quota."""


def _require(who: Requester) -> None:
    rights.require(who, rights.of_requester(who), ADMINS)
