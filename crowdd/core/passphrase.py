"""What is encrypted by a passphrase: argon2id makes a key of it, AES-256-GCM encrypts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

from crowdd.kernel.errors import CrowddError

MIN_CHARACTERS = 10
# RFC 9106, second recommendation: 64 MiB, three passes, four lanes; some 100 ms.
_COST = {"time_cost": 3, "memory_kib": 65_536, "lanes": 4}
# An archive of somebody else must not make us compute for ever.
_MAX_COST = {"time_cost": 20, "memory_kib": 1_048_576, "lanes": 16}
_KEY, _SALT, _NONCE = 32, 16, 12


class PassphraseError(CrowddError):
    """The passphrase does not open what is encrypted, or what it was encrypted for has changed."""

    code = "passphrase"


def read(file: Path) -> str:
    """The passphrase in the first line of a file. Raises PassphraseError where it cannot be read or is too short."""
    try:
        word = (file.read_text("utf-8").splitlines() or [""])[0]
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise PassphraseError(f"The passphrase file {file} cannot be read: {reason}.") from None
    if len(word) < MIN_CHARACTERS:
        raise PassphraseError(f"The passphrase in {file} must have at least {MIN_CHARACTERS} characters.")
    return word


def encrypt(passphrase: str, content: bytes, bound_to: bytes) -> dict[str, object]:
    """The content as a JSON object that only the passphrase opens, together with the same ``bound_to``."""
    salt, nonce = os.urandom(_SALT), os.urandom(_NONCE)
    encrypted = AESGCM(_key(passphrase, salt, _COST)).encrypt(nonce, content, bound_to)
    return {"kdf": "argon2id", **_COST, "salt": salt.hex(), "nonce": nonce.hex(), "sealed": encrypted.hex()}


def decrypt(passphrase: str, box: Mapping[str, Any], bound_to: bytes) -> bytes:
    """The content. Raises PassphraseError."""
    try:
        cost = {name: int(box[name]) for name in _COST}
        salt, nonce, encrypted = (_bytes_of(box[name]) for name in ("salt", "nonce", "sealed"))
        if box["kdf"] != "argon2id" or any(not 1 <= cost[name] <= _MAX_COST[name] for name in cost):
            raise ValueError
        return AESGCM(_key(passphrase, salt, cost)).decrypt(nonce, encrypted, bound_to)
    except InvalidTag:
        raise PassphraseError("The passphrase is wrong, or the archive was changed.") from None
    except (KeyError, TypeError, ValueError):
        raise PassphraseError("The keys in the archive are not encrypted in a way that this crowdd knows.") from None


def _bytes_of(text: str) -> bytes:
    """What hexadecimal digits say, in small letters only: capitals say the same, but the archive was changed."""
    decoded = bytes.fromhex(text)
    if decoded.hex() != text:
        raise ValueError
    return decoded


def _key(passphrase: str, salt: bytes, cost: Mapping[str, int]) -> bytes:
    own = Argon2id(
        salt=salt,
        length=_KEY,
        iterations=cost["time_cost"],
        lanes=cost["lanes"],
        memory_cost=cost["memory_kib"],
    )
    return own.derive(passphrase.encode("utf-8", "surrogatepass"))
