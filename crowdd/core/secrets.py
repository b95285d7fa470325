"""Keys of this server: random roots in a file, one per line, and everything derived from them.

The first line encrypts and signs; all lines decrypt and verify. Look-ups (hashes of API keys, sessions and links) and
pseudonyms of addresses come from the last line, the oldest, so that they are found after a new first line. There are no
defaults: a new server makes its own root, and writes the file once its database has taken it (``operations.keys``).
Losing the file loses sessions, API keys and the secret keys of projects (all of them can be created again), never an
answer.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import ipaddress
import os
import re
import secrets
from functools import lru_cache
from pathlib import Path

import attrs
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from crowdd.kernel.errors import ConfigError

FILE = "secret.key"
CANDIDATE = "secret.key.new"  # the root of a server whose database has not taken it yet
# What tells an API token from a key, a JWT and other sites' tokens; secret scanners look for it.
API_TOKEN_PREFIX = "crowdd_"  # noqa: S105
_SIZE = 32
_MARK = b"cs1:"  # a value of today begins with this and the id of its key; the first ones began with their nonce
_ID, _NONCE = 8, 12


@attrs.frozen
class Secrets:
    """Keys derived from roots of 32 bytes; equal roots give equal keys on every process and node.

    ``root`` is the first line of the file, ``older`` are those after it.
    """

    root: bytes = attrs.field(repr=False)
    older: tuple[bytes, ...] = attrs.field(default=(), repr=False)

    @property
    def roots(self) -> tuple[bytes, ...]:
        """All lines, the newest first."""
        return (self.root, *self.older)

    @property
    def encryption_prefix(self) -> bytes:
        """What every value begins with that the first line has encrypted."""
        return encryption_prefix(key_id(self.root))

    @property
    def fingerprints(self) -> tuple[bytes, ...]:
        """One for each line, the newest first: what a database knows its keys by. Nothing can be derived from them."""
        return tuple(_derived(root, "fingerprint for the database") for root in self.roots)

    def key(self, purpose: str) -> bytes:
        """The 32-byte key of a purpose that must stay the same as long as the server lives: of the oldest root."""
        return _derived(self.roots[-1], purpose)

    def digest(self, purpose: str, text: str) -> bytes:
        """A keyed hash: what tokens and API keys are looked up by."""
        return hmac.digest(self.key(purpose), text.encode("utf-8", "surrogatepass"), "sha256")

    def sign(self, purpose: str, text: str) -> str:
        """The text with a signature that ``verify`` accepts for the same purpose only."""
        return f"{text}.{_signature(self.root, purpose, text)}"

    def verify(self, purpose: str, signed: str) -> str | None:
        """The text of a signed one, or None when the signature is not ours."""
        if not signed:
            return None
        text, _, signature = signed.rpartition(".")
        signature_bytes = signature.encode("utf-8", "replace")
        signed_by = [
            hmac.compare_digest(_signature(root, purpose, text).encode(), signature_bytes) for root in self.roots
        ]
        return text if any(signed_by) else None

    def encrypt(self, text: str, place: str) -> bytes:
        """The text encrypted by the first root: AES-256-GCM with a random nonce, behind the id of the key.

        ``place`` is where the value is kept (``place()``): it opens nowhere else, so that nobody who writes to the
        database can put one row's secret into another.
        """
        nonce = os.urandom(_NONCE)
        return self.encryption_prefix + nonce + _cipher(self.root).encrypt(nonce, text.encode(), place.encode())

    def decrypt(self, encrypted: bytes | memoryview, place: str) -> str:
        """The text of a value encrypted for this place, or encrypted before places counted.

        Raises ``cryptography.exceptions.InvalidTag`` for a value of another root or place.
        """
        encrypted = bytes(encrypted)
        if encrypted.startswith(_MARK):
            body = encrypted[len(_MARK) + _ID :]
            for root in self.roots:
                if encrypted[len(_MARK) :].startswith(key_id(root)):
                    return _opened(root, body, place.encode())
        for root in self.roots[:-1]:
            with contextlib.suppress(InvalidTag):
                return _opened(root, encrypted, None)
        return _opened(self.roots[-1], encrypted, None)

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
        return _address_in(self.key("address of a project"), project_id, year, network)

    def masked(self, project_id: int, text: str) -> str:
        """What stands in a project for a text that others than its owners must not read: always the same."""
        return hashlib.sha256(self.key("mask") + f"{project_id}:{text}".encode("utf-8", "surrogatepass")).hexdigest()[
            :32
        ]


def place(table: str, column: str, key: object) -> str:
    """Where an encrypted value is kept: the table, the column, and the row's key.

    Values are bound to this text for good, and names of columns once ended in ``sealed``: renaming a column must not
    change it.
    """
    return f"{table}.{re.sub('encrypted$', 'sealed', column)}.{key}"


def encryption_prefix(id_: bytes) -> bytes:
    """What every value begins with that the key of this id has encrypted."""
    return _MARK + id_


def key_id(root: bytes) -> bytes:
    """The public name of a root, which tells nothing about it."""
    return _derived(root, "id")[:_ID]


def _cipher(root: bytes) -> AESGCM:
    return AESGCM(_derived(root, "seal"))


def _opened(root: bytes, body: bytes, place: bytes | None) -> str:
    if len(body) < _NONCE:
        raise InvalidTag
    return _cipher(root).decrypt(body[:_NONCE], body[_NONCE:], place).decode()


def _signature(root: bytes, purpose: str, text: str) -> str:
    key = _derived(root, purpose)
    return hmac.digest(key, text.encode("utf-8", "surrogatepass"), "sha256").hex()[:40]


@lru_cache(maxsize=100)
def _derived(root: bytes, purpose: str) -> bytes:
    return hmac.digest(root, purpose.encode(), "sha256")


@lru_cache(maxsize=10_000)  # of who is at it; it takes some 60 µs, and 300 bytes to remember
def _pseudonym(key: bytes, address: str) -> str:
    try:
        parsed_address = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        parsed_address = ipaddress.ip_address("127.0.0.1")
    if isinstance(parsed_address, ipaddress.IPv6Address) and parsed_address.ipv4_mapped:
        parsed_address = parsed_address.ipv4_mapped
    bits = f"{int(parsed_address):0{parsed_address.max_prefixlen}b}"
    flips = (hashlib.blake2b(bits[:n].encode(), key=key, digest_size=1).digest()[0] & 1 for n in range(len(bits)))
    hidden = "".join(str(int(bit) ^ flip) for bit, flip in zip(bits, flips, strict=True))
    return str(type(parsed_address)(int(hidden, 2)))


@lru_cache(maxsize=10_000)  # every request of a volunteer asks for it
def _address_in(key: bytes, project_id: int, year: int, network: str) -> str:
    return _pseudonym(hmac.digest(key, f"{project_id} {year}".encode(), "sha256"), network)


def token() -> str:
    """A new unguessable text for addresses and cookies (256 bits)."""
    return secrets.token_urlsafe(32)


def load(folder: Path) -> Secrets:
    """The secrets of a data folder; without its file those of a candidate, made at the first call, until ``keep``.

    All processes of a folder get the same. Raises ConfigError when the folder cannot be written or the file is foreign.
    """
    path, candidate = folder / FILE, folder / CANDIDATE
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.exists():
            return parsed(path.read_text("ascii"), path)
        _link(candidate, Secrets(os.urandom(_SIZE)))
        if path.exists():  # another process has kept one meanwhile, perhaps of the candidate before
            candidate.unlink(missing_ok=True)
            return parsed(path.read_text("ascii"), path)
        return parsed(candidate.read_text("ascii"), candidate)
    except OSError as error:
        raise _unwritable(path, error) from None
    except UnicodeDecodeError:
        raise _foreign(path) from None


def existing(folder: Path) -> Secrets | None:
    """The secrets in the file of a data folder; None without one. Makes nothing. Raises ConfigError."""
    path = folder / FILE
    try:
        return parsed(path.read_text("ascii"), path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unwritable(path, error) from None
    except UnicodeDecodeError:
        raise _foreign(path) from None


def parsed(text: str, path: Path) -> Secrets:
    """The secrets that a file holds, one in hexadecimal digits on each line. Raises ConfigError, naming the path."""
    try:
        roots = [bytes.fromhex(line) for line in text.split()]
    except ValueError:
        roots = []
    if not roots or any(len(root) != _SIZE for root in roots):
        raise _foreign(path)
    return Secrets(roots[0], tuple(roots[1:]))


def keep(folder: Path, keys: Secrets) -> None:
    """Write the file of a data folder that has none; the candidate goes. Raises ConfigError, also for another file."""
    try:
        _link(folder / FILE, keys)
        forget_candidate(folder)
    except OSError as error:
        raise _unwritable(folder / FILE, error) from None
    if existing(folder) != keys:
        raise ConfigError(f"Another process has just created {folder / FILE}.", hint="Start again.")


def forget_candidate(folder: Path) -> None:
    """Remove the root that no database has taken."""
    (folder / CANDIDATE).unlink(missing_ok=True)


def _unwritable(path: Path, error: OSError) -> ConfigError:
    return ConfigError(f"Cannot write the key file {path}: {error.strerror}. Choose another folder: [data] dir.")


def _foreign(path: Path) -> ConfigError:
    return ConfigError(f"{path} is not a valid key file. Restore it from a backup, or remove it.")


def add(folder: Path) -> Secrets:
    """The secrets of a data folder after a new root was put before the others. Raises ConfigError as ``load`` does."""
    path, before = folder / FILE, existing(folder)
    if before is None:
        raise ConfigError(f"{folder} contains no {FILE}.")
    added = Secrets(os.urandom(_SIZE), before.roots)
    try:
        _draft(path, added, path.stat()).replace(path)
    except OSError as error:
        raise ConfigError(f"Cannot write {path}: {error.strerror}.") from None
    return added


def _link(path: Path, keys: Secrets) -> None:
    """Two that start at once end up with one file: whole under another name first, then linked if nobody was faster."""
    if path.exists():
        return
    draft = _draft(path, keys, path.parent.stat())
    with contextlib.suppress(FileExistsError):
        os.link(draft, path)
    draft.unlink()


def _draft(path: Path, keys: Secrets, owner: os.stat_result) -> Path:
    """The secrets on the disk, whole, in a file of another name that only its owner may read.

    What root writes belongs to the given owner, since the server may run as another user.
    """
    draft = path.with_name(f".{FILE}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        if os.geteuid() == 0:
            os.fchown(descriptor, owner.st_uid, owner.st_gid)
        file.write("".join(f"{root.hex()}\n" for root in keys.roots))
        file.flush()
        os.fsync(descriptor)
    return draft
