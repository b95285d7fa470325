"""How good a new password is and what to change: a list of common ones, words of site and person, and zxcvbn."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from threading import Lock
from typing import Any

import attrs

from crowdd import PACKAGE
from crowdd.languages import _
from crowdd.values import Values

MIN_SCORE = 2  # zxcvbn: 0 and 1 fall to a million guesses
_MIN_WORD = 4  # shorter words of the site or the person are in too many good passwords
_MIN_REST = 8  # characters that a password must have beside such words
# Characters that zxcvbn looks at: where many of them may stand for letters ("4" for "a"), it tries every combination.
_ESTIMATED, _ESTIMATED_OF_SYMBOLS, _MAX_SYMBOLS = 24, 16, 6
_SYMBOLS = frozenset("4@8({[<369!|1705$+%2")

COMMON = _("This is one of the most common passwords.")
OWN_WORDS = _("Leave out the name of this site, your name and your e-mail address, or add more beside them.")
GUESSABLE = _("This password is easy to guess.")
ADVICE = {
    "dictionary": _("Use several words that do not belong together."),
    "repeat": _("Do not repeat characters or words."),
    "sequence": _("Leave out sequences such as abc or 6543."),
    "spatial": _("Leave out neighbouring keys such as qwerty."),
    "regex": _("Leave out years."),
    "date": _("Leave out dates."),
}
MORE = _("Add another word or two.")
_ONE = Lock()  # zxcvbn keeps the words of the person in a global dictionary while it estimates


@attrs.frozen
class Strength:
    """What is known of a password: ``score`` from 0 to 4, ``mistakes`` that rule it out, ``advice`` that would help."""

    score: int
    mistakes: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()


def assess(password: str, words: Iterable[str]) -> Strength:
    """The strength of a password for a person whom ``words`` belong to. Takes some milliseconds."""
    plain = password.casefold()
    known = sorted({word.casefold() for word in words if len(word) >= _MIN_WORD}, key=len, reverse=True)
    estimate = max((_zxcvbn(part, known) for part in _parts(plain)), key=lambda made: int(made["score"]))
    score, advice = int(estimate["score"]), _advice(estimate["sequence"])
    if is_common(plain):
        return Strength(0, (COMMON,), advice)
    if len(_without(plain, known)) < min(_MIN_REST, len(plain)):
        return Strength(min(score, 1), (OWN_WORDS,), advice)
    if score < MIN_SCORE:
        return Strength(score, (GUESSABLE, *advice), advice)
    return Strength(score, (), advice if score < 4 else ())


def words_of(*texts: str) -> list[str]:
    """A text and the words that it consists of: what a name, an address or a host is recognised by."""
    return [word for text in texts for word in (text, *re.split(r"[\W_]+", text)) if word]


def is_common(plain: str) -> bool:
    """Whether a password in lower case is among the 100,000 most common ones."""
    return "\n" not in plain and f"\n{plain}\n".encode("utf-8", "surrogatepass") in _common()


@cache
def _common() -> bytes:
    packed = PACKAGE / "domain/accounts/authentication/common_passwords/passwords.txt.gz"
    return b"\n" + gzip.decompress(packed.read_bytes())


def _parts(plain: str) -> list[str]:
    """What is estimated of a password: its beginning, and the end of a long one."""
    length = _ESTIMATED_OF_SYMBOLS if len(_SYMBOLS.intersection(plain)) > _MAX_SYMBOLS else _ESTIMATED
    return [plain[:length], plain[-length:]] if len(plain) > 2 * length else [plain[:length]]


def _without(plain: str, words: list[str]) -> str:
    for word in words:
        plain = plain.replace(word, "")
    return plain


def _advice(sequence: list[Values]) -> tuple[str, ...]:
    """One sentence for each weakness that zxcvbn has found, the commonest of all where it has found none."""
    return tuple(dict.fromkeys(ADVICE[each["pattern"]] for each in sequence if each["pattern"] in ADVICE)) or (MORE,)


def _zxcvbn(plain: str, words: list[str]) -> Any:
    # By name: its lists take a tenth of a second to import, which commands that set no password need not wait for.
    with _ONE:
        return import_module("zxcvbn").zxcvbn(plain or " ", user_inputs=words)
