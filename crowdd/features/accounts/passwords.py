"""Passwords: hash and check them, the policy for new ones, their strength, and hashes of PyBossa.

argon2id runs in threads of its own, so that the reactor never waits. Hashes of PyBossa (werkzeug's format) are checked
at the first sign-in and then replaced. A hash names its own cost, so absurd ones are refused: they would delay
everybody who signs in. The strength comes from a list of common passwords, words of the site and the person, and
zxcvbn.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import hmac
import os
import re
import sys
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from threading import Lock, Thread, get_native_id
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import urlsplit

import attrs
from cryptography.exceptions import InvalidKey
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id
from twisted.internet.interfaces import IReactorTime
from twisted.internet.threads import deferToThreadPool
from twisted.python.threadpool import ThreadPool

from crowdd import PACKAGE
from crowdd.features.accounts import validation
from crowdd.features.accounts.validation import Registration
from crowdd.kernel.concurrency.cache import Cache
from crowdd.kernel.config import Settings
from crowdd.kernel.errors import BusyError
from crowdd.kernel.languages import _
from crowdd.kernel.lazy import lazy
from crowdd.kernel.reactor import IReactor
from crowdd.kernel.values import Values

T = TypeVar("T")


if TYPE_CHECKING:
    from werkzeug import security
else:
    security = lazy("werkzeug.security")

MAX_ITERATIONS: Final = 2_000_000
"""Of PBKDF2: some 0.7 s of a processor. werkzeug's default is 1,000,000 today and was 1,000 in 2013."""
MAX_SCRYPT: Final = 2**20
"""n · r · p of scrypt: 128 MiB and some 0.3 s. werkzeug's default is 2**18."""
_SALT_AND_DIGEST: Final = r"\$[^$]{1,100}\$[0-9a-f]{32,256}"
_PBKDF2: Final = re.compile(rf"pbkdf2:sha(?:1|224|256|384|512):(\d{{1,9}}){_SALT_AND_DIGEST}")
_SCRYPT: Final = re.compile(rf"scrypt:(\d{{1,9}}):(\d{{1,4}}):(\d{{1,4}}){_SALT_AND_DIGEST}")


_SHA1: Final = re.compile(r"sha1\$([^$]{1,100})\$([0-9a-f]{40})")
"""Of PyBossa before 2014. It is weak, and replaced when its person signs in."""


def is_foreign_hash(stored: str) -> bool:
    """Whether a stored hash is one that ``check_foreign_hash`` reads."""
    if _SHA1.fullmatch(stored):
        return True
    if match := _PBKDF2.fullmatch(stored):
        return 1 <= int(match[1]) <= MAX_ITERATIONS
    if match := _SCRYPT.fullmatch(stored):
        n, r, p = map(int, match.groups())
        return n >= 2 and n & (n - 1) == 0 and r >= 1 and p >= 1 and n * r * p <= MAX_SCRYPT
    return False


def check_foreign_hash(stored: str, password: str) -> bool:
    """Whether a password fits a hash that ``is_foreign_hash`` accepts. Takes up to a second of a processor."""
    try:
        if match := _SHA1.fullmatch(stored):
            digest = hmac.new(match[1].encode(), password.encode(), "sha1").hexdigest()
            return hmac.compare_digest(digest, match[2])
        return bool(security.check_password_hash(stored, password))
    except ValueError:  # also a password with a lone surrogate
        return False


_SALT, _DIGEST = 16, 32  # bytes


@attrs.frozen
class Hasher:
    """argon2id with so many passes over so much memory (KiB), in one lane. A hash names its costs."""

    passes: int
    memory: int

    @property
    def prefix(self) -> str:
        """What every hash begins with."""
        return f"$argon2id$v=19$m={self.memory},t={self.passes},p=1$"

    def hash(self, password: str) -> str:
        """A new hash of a password."""
        salt = os.urandom(_SALT)
        own = Argon2id(salt=salt, length=_DIGEST, iterations=self.passes, lanes=1, memory_cost=self.memory)
        return own.derive_phc_encoded(_bytes_of(password))

    def verify(self, stored: str, password: str) -> bool:
        """Whether a password fits a hash, of whatever costs."""
        try:
            Argon2id.verify_phc_encoded(_bytes_of(password), stored)
        except (InvalidKey, ValueError):
            return False
        return True

    def unmatched(self) -> str:
        """A hash that no password fits, made without the time of hashing; to check it takes as long as any other."""
        salt, digest = (base64.b64encode(os.urandom(size)).rstrip(b"=").decode() for size in (_SALT, _DIGEST))
        return f"{self.prefix}{salt}${digest}"


def _bytes_of(password: str) -> bytes:
    return password.encode("utf-8", "surrogatepass")


# OWASP's smallest recommendation: 19 MiB, two passes, one lane; about 20 ms.
_HASHER = Hasher(passes=2, memory=19 * 1024)
_NOBODY = _HASHER.unmatched()
MAX_WAITING = 50
REMEMBERED_SECONDS = 600
_MAX_REMEMBERED = 10_000
_NICE = 10


class Passwords:
    """Hashes and checks. ``threads`` bounds how many run at once (19 MiB each), ``max_waiting`` how many wait.

    Every method raises BusyError when more wait.
    """

    def __init__(self, reactor: IReactor, threads: int = 1, max_waiting: int = MAX_WAITING) -> None:
        self._reactor = reactor
        self._pool = ThreadPool(0, threads, name="passwords")
        self._pool.threadFactory = _EndingThread
        self._max_unfinished = threads + max_waiting
        self._unfinished = 0
        self.remembered = Remembered(reactor)

    def start(self) -> None:
        """Begins to take work."""
        self._pool.start()

    def stop(self) -> None:
        """Ends the threads."""
        self._pool.stop()

    async def hash(self, password: str) -> str:
        """The hash to store."""
        return await self.in_thread(_HASHER.hash, password)

    async def check(self, stored: str | None, password: str) -> bool:
        """Whether the password fits; takes as long for an account that does not exist (None)."""
        return await self.in_thread(_check, stored or _NOBODY, password) and stored is not None

    def is_outdated(self, stored: str) -> bool:
        """Whether a stored hash was made with other parameters than a new one would be."""
        return not stored.startswith(_HASHER.prefix)

    async def in_thread(self, work: Callable[..., T], *arguments: object) -> T:
        """What a function gives that takes some milliseconds of processor time."""
        if self._unfinished >= self._max_unfinished:
            raise BusyError("Too many passwords are being checked at the moment.")
        self._unfinished += 1
        try:
            done: T = await deferToThreadPool(self._reactor, self._pool, work, *arguments)
        finally:
            self._unfinished -= 1
        return done


class Remembered:
    """Passwords that fitted lately, under a keyed hash, so that the same one need not be checked for ten minutes.

    For passwords that a program sends with each request. ``clock`` has ``seconds()``.
    """

    def __init__(self, clock: IReactorTime) -> None:
        self._key, self._names = os.urandom(32), Cache[bool](clock, REMEMBERED_SECONDS, _MAX_REMEMBERED)

    def add(self, stored: str, password: str) -> None:
        """Notes that the password fits the stored hash."""
        self._names.put(self._name(stored, password), True)

    def __contains__(self, pair: tuple[str, str]) -> bool:
        return self._name(*pair) in self._names

    def _name(self, stored: str, password: str) -> bytes:
        text = f"{stored}\0{password}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(text, key=self._key, digest_size=32).digest()


class _EndingThread(Thread):
    """A thread that does not keep the process alive when the server ends in disorder.

    The reactor has precedence. A hash does not hold the interpreter, so the reactor never waits for a thread that is
    not scheduled.
    """

    def __init__(self, *arguments: Any, **names: Any) -> None:
        super().__init__(*arguments, daemon=True, **names)

    def run(self) -> None:
        if sys.platform == "linux":  # elsewhere it would be the whole process
            # Without rights a thread cannot rise, and a process may have begun lower.
            os.setpriority(os.PRIO_PROCESS, get_native_id(), max(_NICE, os.getpriority(os.PRIO_PROCESS, 0)))
        super().run()


def _check(stored: str, password: str) -> bool:
    if is_foreign_hash(stored):
        return check_foreign_hash(stored, password)
    return _HASHER.verify(stored, password)


MIN_SCORE = 2  # zxcvbn: 0 and 1 fall to a million guesses
_MIN_WORD = 4  # shorter words of the site or the person are in too many good passwords
_MIN_REST = 8  # characters that a password must have beside such words
# Characters that zxcvbn looks at: where many of them may stand for letters ("4" for "a"), it tries every combination.
_ESTIMATED, _ESTIMATED_OF_SYMBOLS, _MAX_SYMBOLS = 24, 16, 6
_SYMBOLS = frozenset("4@8({[<369!|1705$+%2")

COMMON_MESSAGE = _("This is one of the most common passwords.")
OWN_WORDS_MESSAGE = _("Leave out the name of this site, your name and your e-mail address, or add more beside them.")
GUESSABLE_MESSAGE = _("This password is easy to guess.")
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
        return Strength(0, (COMMON_MESSAGE,), advice)
    if len(_without(plain, known)) < min(_MIN_REST, len(plain)):
        return Strength(min(score, 1), (OWN_WORDS_MESSAGE,), advice)
    if score < MIN_SCORE:
        return Strength(score, (GUESSABLE_MESSAGE, *advice), advice)
    return Strength(score, (), advice if score < 4 else ())


def words_of(*texts: str) -> list[str]:
    """A text and the words that it consists of: what a name, an address or a host is recognised by."""
    return [word for text in texts for word in (text, *re.split(r"[\W_]+", text)) if word]


def is_common(plain: str) -> bool:
    """Whether a password in lower case is among the 100,000 most common ones."""
    return "\n" not in plain and f"\n{plain}\n".encode("utf-8", "surrogatepass") in _common()


@cache
def _common() -> bytes:
    packed = PACKAGE / "features/accounts/common_passwords.txt.gz"
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


class PasswordPolicy:
    """Length, common passwords, words of the site and of the person, and how many guesses it takes.

    ``site`` returns the name of the site.
    """

    def __init__(self, passwords: Passwords, settings: Settings, site: Callable[[], str]) -> None:
        self._passwords, self.min_length = passwords, settings.accounts.min_password_length
        self._site, self._host = site, urlsplit(settings.base_url).hostname or ""

    async def assess(self, password: str, about: Iterable[str] = ()) -> Strength:
        """How good a password is for a person of whom ``about`` tells: names, e-mail address. Raises BusyError."""
        words = words_of(self._site(), self._host, *about)
        return await self._passwords.in_thread(assess, password[: validation.MAX_PASSWORD_LENGTH], words)

    async def mistakes(self, password: str, again: str, about: Iterable[str]) -> tuple[list[str], list[str]]:
        """What is wrong with a new password, and with the same typed again."""
        words, differs = validation.check_password(password, again, self.min_length)
        return words or list((await self.assess(password, about)).mistakes), differs

    async def of_registration(self, form: Registration, *, passwordless: bool) -> validation.Mistakes:
        """What is wrong with what somebody says who signs up, per field."""
        if passwordless:
            return form.mistakes(None)
        words, differs = await self.mistakes(form.password, form.confirm, (form.name, form.fullname, form.email_addr))
        return validation.select_mistakes({**form.mistakes(None), "password": words, "confirm": differs})
