"""Keys of this server: one random root in a file, and everything derived from it.

There are no defaults: a server without its file makes a new one. Whoever loses it loses sessions, API keys and the
secret keys of projects (all of them can be made anew), never an answer.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import ipaddress
import os
import secrets
from functools import lru_cache
from pathlib import Path

import attrs
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from crowdd.errors import ConfigError

FILE = "secret.key"
_SIZE = 32


@attrs.frozen
class Secrets:
    """Keys derived from a root of 32 bytes; equal roots give equal keys on every process and node."""

    root: bytes = attrs.field(repr=False)

    def key(self, purpose: str) -> bytes:
        """The 32-byte key of a purpose."""
        return _derived(self.root, purpose)

    def digest(self, purpose: str, text: str) -> bytes:
        """A keyed hash: what tokens and API keys are looked up by."""
        return hmac.digest(self.key(purpose), text.encode("utf-8", "surrogatepass"), "sha256")

    def sign(self, purpose: str, text: str) -> str:
        """The text with a signature that ``verify`` accepts for the same purpose only."""
        return f"{text}.{self.digest(purpose, text).hex()[:40]}"

    def verify(self, purpose: str, signed: str) -> str | None:
        """The text of a signed one, or None when the signature is not ours."""
        if not signed:
            return None
        text, _, signature = signed.rpartition(".")
        good = hmac.compare_digest(self.digest(purpose, text).hex()[:40].encode(), signature.encode("utf-8", "replace"))
        return text if good else None

    def seal(self, text: str) -> bytes:
        """The text encrypted (AES-256-GCM, random nonce of 12 bytes in front)."""
        nonce = os.urandom(12)
        return nonce + AESGCM(self.key("seal")).encrypt(nonce, text.encode(), None)

    def unseal(self, sealed: bytes) -> str:
        """The text of a sealed one; raises ``cryptography.exceptions.InvalidTag`` for another root's."""
        return AESGCM(self.key("seal")).decrypt(bytes(sealed[:12]), bytes(sealed[12:]), None).decode()

    def pseudonym(self, address: str) -> str:
        """A stand-in of the same family for an address, the same each time.

        Two addresses that share a prefix have pseudonyms that share one of the same length, so that networks can
        still be told apart and nobody can be looked up (Xu et al., Prefix-Preserving IP Address Anonymization, 2002).
        """
        return _pseudonym(self.key("address"), address)

    def address_in(self, project_id: int, year: int, network: str) -> str:
        """What the answers in a project say of a network (its pseudonym): another address of the family.

        It is the same throughout a year. Nobody can tell from two projects, or from two years, that it was one network.
        """
        return _pseudonym(self.digest("address of a project", f"{project_id} {year}"), network)

    def masked(self, project_id: int, text: str) -> str:
        """What stands in a project for a text that others than its owners must not read: always the same."""
        return hashlib.sha256(self.key("mask") + f"{project_id}:{text}".encode("utf-8", "surrogatepass")).hexdigest()[
            :32
        ]


@lru_cache(maxsize=100)
def _derived(root: bytes, purpose: str) -> bytes:
    return hmac.digest(root, purpose.encode(), "sha256")


@lru_cache(maxsize=10_000)  # of who is at it; it takes some 60 µs, and 300 bytes to remember
def _pseudonym(key: bytes, address: str) -> str:
    try:
        given = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        given = ipaddress.ip_address("127.0.0.1")
    if isinstance(given, ipaddress.IPv6Address) and given.ipv4_mapped:
        given = given.ipv4_mapped
    bits = f"{int(given):0{given.max_prefixlen}b}"
    flips = (hashlib.blake2b(bits[:n].encode(), key=key, digest_size=1).digest()[0] & 1 for n in range(len(bits)))
    hidden = "".join(str(int(bit) ^ flip) for bit, flip in zip(bits, flips, strict=True))
    return str(type(given)(int(hidden, 2)))


def token() -> str:
    """A new unguessable text for addresses and cookies (256 bits)."""
    return secrets.token_urlsafe(32)


def load(folder: Path) -> Secrets:
    """The secrets of a data folder; made at the first call, in a file that only its owner may read.

    Raises ConfigError when the folder cannot be written or the file is not ours.
    """
    path = folder / FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _make(path)
        root = bytes.fromhex(path.read_text("ascii").strip())
    except OSError as error:
        raise ConfigError(
            f"Cannot keep secrets in {path}: {error.strerror}. Choose another folder: [data] dir."
        ) from None
    except ValueError:
        root = b""
    if len(root) != _SIZE:
        raise ConfigError(f"{path} does not hold the secrets of a server. Restore it from a backup, or remove it.")
    return Secrets(root)


def _make(path: Path) -> None:
    """Two that start at once end up with one file: whole under another name first, then linked if nobody was faster."""
    if path.exists():
        return
    if path.exists():
        return
    draft = path.with_name(f".{FILE}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(os.urandom(_SIZE).hex() + "\n")
        file.flush()
        os.fsync(file.fileno())
    with contextlib.suppress(FileExistsError):
        os.link(draft, path)
    draft.unlink()
