"""Render an e-mail from its template, compose it for the wire (RFC 5322), and check the addresses in it.

A template has the blocks ``subject`` and ``text``; another one has the HTML.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import attrs

from crowdd import PACKAGE
from crowdd.core.mail.returned import Seal
from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import NAMES, SOURCE, Languages, Sentence, _
from crowdd.kernel.languages.content_languages import direction_of
from crowdd.kernel.lazy import lazy

if TYPE_CHECKING:
    import jinja2
else:
    jinja2 = lazy("jinja2")

TEMPLATE_FOLDER = PACKAGE / "core/mail/templates"
FRAME = "layout"
MAX_SUBJECT_LENGTH = 200


@attrs.frozen
class RenderedMail:
    """An e-mail as it is read. ``unsubscribe``: the address that ends e-mails of its sort; None where people cannot."""

    subject: str
    text: str
    html: str
    unsubscribe: str | None = None


class MailRenderer:
    """Writes e-mails. A template sees what it is given, and ``site``, ``base_url``, ``locale`` and ``direction``.

    Sentences in what it is given, also in lists and objects, are said in its language. ``site`` returns the name of the
    site.
    """

    def __init__(self, languages: Languages, site: Callable[[], str], base_url: str) -> None:
        self._languages, self._site, self._base_url = languages, site, base_url
        self._speaking = lru_cache(maxsize=len(NAMES))(self._environment)

    def names(self) -> list[str]:
        """The e-mails that there are, sorted."""
        return sorted({path.stem for path in TEMPLATE_FOLDER.rglob("*.txt")} - {FRAME})

    def write(self, name: str, context: Mapping[str, object], locale: str) -> RenderedMail:
        """The e-mail in a language, English where there is no such language.

        ``unsubscribe`` in the context is the address that ends e-mails of this sort.

        Raises TemplateNotFound for an unknown name, UndefinedError for a word that the context lacks.
        """
        locale = locale if locale in NAMES else SOURCE
        ours = {"site": self._site(), "base_url": self._base_url, "locale": locale, "direction": direction_of(locale)}
        values = {**ours, **{word: self._said(value, locale) for word, value in context.items()}}
        speaking = self._speaking(locale)
        plain = speaking.get_template(f"{name}.txt")
        subject, text = ("".join(plain.blocks[block](plain.new_context(values))) for block in ("subject", "text"))
        subject = one_line(subject)
        html = speaking.get_template(f"{name}.html").render({**values, "subject": subject})
        end = context.get("unsubscribe")
        return RenderedMail(subject, text.strip() + "\n", html, None if end is None else str(end))

    def _said(self, value: object, locale: str) -> object:
        if isinstance(value, Sentence):
            return self._languages.say(value, locale)
        if isinstance(value, list):
            return [self._said(one, locale) for one in value]
        if isinstance(value, dict):
            return {name: self._said(one, locale) for name, one in value.items()}
        return value

    def _environment(self, locale: str) -> jinja2.Environment:
        made = jinja2.Environment(
            autoescape=jinja2.select_autoescape(["html"], default=False),
            undefined=jinja2.StrictUndefined,
            loader=jinja2.FileSystemLoader([TEMPLATE_FOLDER, TEMPLATE_FOLDER / "account"]),
            extensions=["jinja2.ext.i18n"],
            auto_reload=False,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        install: Any = made.install_gettext_translations  # type: ignore[attr-defined]
        install(self._languages.of(locale), newstyle=True)
        return made


def one_line(text: str) -> str:
    """What a header may hold of a text that other people have a part in: one line of printable characters."""
    return " ".join(_printable(text).split())[:MAX_SUBJECT_LENGTH]


def printable_lines(text: str) -> str:
    """A text that other people have a part in, as an e-mail may hold it: lines of printable characters."""
    return "\n".join(one for line in text.splitlines() if (one := " ".join(_printable(line).split())))


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)


if TYPE_CHECKING:
    from email import headerregistry, policy, utils
    from email import message as email_message
else:
    headerregistry, policy, utils = lazy("email.headerregistry"), lazy("email.policy"), lazy("email.utils")
    email_message = lazy("email.message")

_LOCAL = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*")
_LABEL = r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_DOMAIN = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(\.{_LABEL})*")


@attrs.frozen
class Sender:
    """From whom e-mails come: ``name`` returns the name of the site, ``host`` is the name of this server.

    By the ``seal`` of its id, an e-mail that comes back is known as one of ours.
    """

    name: Callable[[], str]
    address: str
    host: str
    seal: Seal


def plain_address(address: str) -> str:
    """An address that can be written to, with its domain in ASCII.

    Raises InvalidValueError for what is none, among it everything that could reach beyond its line.
    """
    local, _at, services = address.strip().rpartition("@")
    try:
        services = services.encode("idna").decode("ascii")
    except UnicodeError:
        services = ""
    if not (_LOCAL.fullmatch(local) and len(local) <= 64 and _DOMAIN.fullmatch(services)):
        raise InvalidValueError(_("E-mail cannot be sent to this address. Check it."))
    return f"{local}@{services}"


def compose(letter: RenderedMail, mail_id: int, recipient: str, sender: Sender, at: datetime) -> bytes:
    """The whole message, its lines ended by LF. Sent twice it has the same id, by which a mailbox may know it.

    No line begins with a dot. To SMTP a dot alone is the end of a message, and Twisted doubles those at the beginning
    of a line only within the same 16 KiB.
    """
    made = email_message.EmailMessage(policy=policy.SMTP.clone(linesep="\n"))
    made["From"] = headerregistry.Address(sender.name(), addr_spec=sender.address)
    made["To"] = headerregistry.Address(addr_spec=recipient)
    made["Subject"] = letter.subject
    made["Date"] = utils.format_datetime(at)
    made["Message-ID"] = f"<{mail_id}.{sender.seal(mail_id)}@{sender.host}>"
    made["Auto-Submitted"] = "auto-generated"
    if letter.unsubscribe:
        # Mail programs show a button that posts there, with nothing further to confirm (RFC 8058).
        made["List-Unsubscribe"] = f"<{letter.unsubscribe}>"
        made["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    made.set_content(letter.text, cte="quoted-printable")
    made.add_alternative(letter.html, subtype="html", cte="quoted-printable")
    # Only a line of a body can begin with one, and these are quoted-printable.
    return re.sub(rb"^\.", b"=2E", made.as_bytes(), flags=re.MULTILINE)
