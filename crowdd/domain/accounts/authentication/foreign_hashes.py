"""Password hashes of PyBossa, as werkzeug writes them: checked at the first sign-in, and then replaced by ours.

A hash says itself what it costs, so absurd ones are refused: they would hold up everybody who signs in.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from crowdd.lazy import lazy

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


def is_foreign(stored: str) -> bool:
    """Whether a stored hash is one that ``check`` reads."""
    if match := _PBKDF2.fullmatch(stored):
        return 1 <= int(match[1]) <= MAX_ITERATIONS
    if match := _SCRYPT.fullmatch(stored):
        n, r, p = map(int, match.groups())
        return n >= 2 and n & (n - 1) == 0 and r >= 1 and p >= 1 and n * r * p <= MAX_SCRYPT
    return False


def check(stored: str, password: str) -> bool:
    """Whether a password fits a hash that ``is_foreign``. Takes up to a second of a processor."""
    try:
        return bool(security.check_password_hash(stored, password))
    except ValueError:  # also a password with a lone surrogate
        return False
