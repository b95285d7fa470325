"""Password hashes of PyBossa: those that werkzeug wrote fit, and what would cost too much is no hash."""

from __future__ import annotations

import hmac

import pytest
from twisted.internet.task import Clock
from werkzeug.security import generate_password_hash

from crowdd.features.accounts import passwords

METHODS = ("pbkdf2:sha256:1000", "pbkdf2:sha1:1000", "pbkdf2:sha512:10", "scrypt:1024:8:1")


@pytest.mark.parametrize("method", METHODS)
def test_a_hash_of_werkzeug_fits_its_password_only(method: str) -> None:
    stored = generate_password_hash("the old password", method)
    assert passwords.is_foreign_hash(stored)
    assert passwords.check_foreign_hash(stored, "the old password") and not passwords.check_foreign_hash(
        stored, "The old password"
    )
    assert not passwords.check_foreign_hash(stored, "\ud800")


def test_a_hash_of_pybossa_before_2014_fits_and_is_renewed(reactor_passwords: passwords.Passwords) -> None:
    """werkzeug does not read them any more: HMAC-SHA1 of the password, with the salt as key."""
    stored = "sha1$Kw6fb2$2c2a05ac0d42e06d0e4f8d1c3a7ec8a3a7a2a1f0"
    assert passwords.is_foreign_hash(stored) and not passwords.check_foreign_hash(stored, "default")
    digest = hmac.new(b"Kw6fb2", b"the old password", "sha1").hexdigest()
    assert passwords.check_foreign_hash(f"sha1$Kw6fb2${digest}", "the old password")
    assert not passwords.check_foreign_hash(f"sha1$Kw6fb2${digest}", "\ud800")
    assert reactor_passwords.is_outdated(f"sha1$Kw6fb2${digest}"), "signing in stores another one"


@pytest.fixture
def reactor_passwords() -> passwords.Passwords:
    """Not started: nothing is hashed."""
    return passwords.Passwords(Clock())


@pytest.mark.parametrize(
    "method",
    [
        "pbkdf2:sha256:2000001",
        "pbkdf2:sha256:0",
        "pbkdf2:sha256",
        "pbkdf2:md5:1000",
        "scrypt:1048576:8:1",
        "scrypt:1000:8:1",
        "scrypt:2:0:1",
        "scrypt",
        "plain",
        "sha1",
    ],
)
def test_what_costs_too_much_or_is_no_such_hash_is_refused(method: str) -> None:
    assert not passwords.is_foreign_hash(f"{method}$salt$" + "0" * 64)


def test_a_hash_of_ours_is_not_foreign() -> None:
    assert not passwords.is_foreign_hash(passwords._HASHER.unmatched())
