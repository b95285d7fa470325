"""What errors of PostgreSQL and psycopg2 mean to us."""

from __future__ import annotations

import re
from typing import Any

import psycopg2.errors
from psycopg2 import errorcodes

from crowdd.kernel.errors import (
    ConflictError,
    InvalidValueError,
    NoSpaceError,
    StatementTimeoutError,
    UnavailableError,
)

UNAVAILABLE_CLASSES = ("08", "53", "57P", "25006")  # connection, resources, shutdown; a standby, or read-only
INVALID_CLASSES = ("22", "54")  # data exception, limit of the program
LOST_CLASSES = ("08", "57P", "25P03", "25P04")  # the latter: idle too long in a transaction, transaction too long
_REPLACED = re.compile(
    r"cache lookup failed for|could not open relation with OID|cached plan must not change result type"
)


def domain_error(error: Exception, *, lost: bool, uncertain: bool) -> Exception:
    """What an error of psycopg2 means to us; errors without a meaning of their own are returned as they are.

    ``lost``: the connection is gone. ``uncertain``: if it is, nobody knows whether the statement took effect.
    """
    code = getattr(error, "pgcode", None) or ""
    if code == errorcodes.DISK_FULL and not lost:
        return NoSpaceError("The database has no disk space left.")
    if lost or code.startswith(UNAVAILABLE_CLASSES):
        return UnavailableError(_away(code), uncertain=lost and uncertain)
    if code == errorcodes.QUERY_CANCELED:
        return _cancelled(error)
    if code == errorcodes.LOCK_NOT_AVAILABLE:
        return UnavailableError("The row is busy.", retry_after=1)
    if code in (errorcodes.UNIQUE_VIOLATION, errorcodes.FOREIGN_KEY_VIOLATION):
        return _conflict(error)
    if code.startswith(INVALID_CLASSES) or _is_no_text(error):
        return InvalidValueError("A value is too large or has the wrong format.")
    return error


def _away(code: str) -> str:
    if code == errorcodes.READ_ONLY_SQL_TRANSACTION:
        return "The database takes no changes."
    if code == errorcodes.OUT_OF_MEMORY:
        return "The database has no memory left."
    return "The database cannot be reached."


def _is_no_text(error: Exception) -> bool:
    """Whether psycopg2 refused a text before sending it: a NUL or a lone surrogate."""
    return isinstance(error, UnicodeEncodeError) or (isinstance(error, ValueError) and "NUL" in str(error))


def _cancelled(error: object) -> Exception:
    # One SQLSTATE for both; we never cancel, so what is not an operator's pg_cancel_backend() is the time limit.
    if "user request" in str(error):
        return UnavailableError("The statement was cancelled by an operator.")
    return StatementTimeoutError("The statement took longer than allowed.")


def _conflict(error: Any) -> ConflictError:
    words = {
        errorcodes.UNIQUE_VIOLATION: "A value that must be unique is taken.",
        errorcodes.FOREIGN_KEY_VIOLATION: "Something else still refers to it, or it refers to something that is not there.",
    }
    return ConflictError(
        words[error.pgcode],
        constraint=error.diag.constraint_name or "",
        table=error.diag.table_name or "",
    )


def is_replaced(error: Exception) -> bool:
    """Whether a statement failed because an upgrade replaced a function or view between its parsing and its execution.

    PostgreSQL has no SQLSTATE of its own for that.
    """
    return isinstance(error, psycopg2.errors.InternalError_ | psycopg2.errors.FeatureNotSupported) and bool(
        _REPLACED.search(str(error))
    )


def first_line(error: Exception) -> str:
    """The first line of an error's text."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
