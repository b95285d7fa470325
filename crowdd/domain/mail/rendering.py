"""What e-mails say, in a language: a template with the blocks ``subject`` and ``text``, and one for the HTML."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import attrs

from crowdd import PACKAGE
from crowdd.languages import NAMES, SOURCE, Languages, Sentence
from crowdd.languages.content_languages import direction_of
from crowdd.lazy import lazy

if TYPE_CHECKING:
    import jinja2
else:
    jinja2 = lazy("jinja2")

FOLDER = PACKAGE / "domain/mail/templates"
FRAME = "layout"
MAX_SUBJECT_LENGTH = 200


@attrs.frozen
class RenderedMail:
    """An e-mail as it is read."""

    subject: str
    text: str
    html: str


class MailRenderer:
    """Writes e-mails. A template sees what it is given, and ``site``, ``base_url``, ``locale`` and ``direction``.

    Sentences in what it is given are said in its language. ``site`` returns the name of the site.
    """

    def __init__(self, languages: Languages, site: Callable[[], str], base_url: str) -> None:
        self._languages, self._site, self._base_url = languages, site, base_url
        self._speaking = lru_cache(maxsize=len(NAMES))(self._environment)

    def names(self) -> list[str]:
        """The e-mails that there are, sorted."""
        return sorted({path.stem for path in FOLDER.rglob("*.txt")} - {FRAME})

    def write(self, name: str, context: Mapping[str, object], locale: str) -> RenderedMail:
        """The e-mail in a language, English where there is no such language.

        Raises TemplateNotFound for an unknown name, UndefinedError for a word that the context lacks.
        """
        locale = locale if locale in NAMES else SOURCE
        ours = {"site": self._site(), "base_url": self._base_url, "locale": locale, "direction": direction_of(locale)}
        localized = {
            word: self._languages.say(v, locale) if isinstance(v, Sentence) else v for word, v in context.items()
        }
        values = {**ours, **localized}
        speaking = self._speaking(locale)
        plain = speaking.get_template(f"{name}.txt")
        subject, text = ("".join(plain.blocks[block](plain.new_context(values))) for block in ("subject", "text"))
        subject = one_line(subject)
        html = speaking.get_template(f"{name}.html").render({**values, "subject": subject})
        return RenderedMail(subject, text.strip() + "\n", html)

    def _environment(self, locale: str) -> jinja2.Environment:
        made = jinja2.Environment(
            autoescape=jinja2.select_autoescape(["html"], default=False),
            undefined=jinja2.StrictUndefined,
            loader=jinja2.FileSystemLoader([FOLDER, FOLDER / "account"]),
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
    shown = "".join(character if character.isprintable() else " " for character in text)
    return " ".join(shown.split())[:MAX_SUBJECT_LENGTH]
