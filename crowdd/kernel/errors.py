"""What can go wrong, in words of the domain.

None of these knows a status code or a response body: ``crowdd.http.errors`` has the one table for that. The text of an
error is written for the person who reads it; ``code`` is stable for programs, ``hint`` says what to do next, ``item``
is the index of the element of an array that caused it.
"""

import errno


class CrowddError(Exception):
    """Root of everything that crowdd refuses on purpose."""

    code = "failed"
    hint = ""
    item: int | None = None

    def __init__(self, message: str = "", *, code: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.code = code or type(self).code
        self.hint = hint or type(self).hint


class ConfigError(CrowddError):
    """A setting is unknown, missing or has an impossible value."""

    code = "config"


NOT_FOUND = "404 Not Found"
"""The message of NotFoundError, in the words that clients of PyBossa know."""


class NotFoundError(CrowddError):
    """The thing does not exist, or the requester must not learn that it does."""

    code = "not_found"


class UnknownFieldError(CrowddError):
    """A query or body names an attribute that the kind does not have (or does not show)."""

    code = "unknown_attribute"


class ReservedFieldError(CrowddError):
    """A body tries to change what only the server sets."""

    code = "reserved_attribute"


class InvalidValueError(CrowddError):
    """A value has the wrong type or is out of range; also a body that is not JSON."""

    code = "invalid_value"


class CostlyTextError(InvalidValueError):
    """A text in Markdown that exceeds a limit; ``sentence`` says which one, ``attribute`` where it stands."""

    code = "text_too_costly"
    hint = "Shorten the text, or split it."

    def __init__(self, attribute: str, sentence: str) -> None:
        super().__init__(f"`{attribute}`: {sentence}")
        self.attribute, self.sentence = attribute, sentence


class RefusedTargetError(InvalidValueError):
    """An address of another server that crowdd does not ask: not public, not the web, or not understood."""

    code = "refused_target"


class UnreachableError(CrowddError):
    """Another server could not be asked or did not answer; the text says why."""

    code = "unreachable"


class ProviderError(CrowddError):
    """Another site's word about a person cannot be had, or not be believed; the text says why."""

    code = "provider"


class InvalidRequestError(CrowddError):
    """The request makes no sense as a whole (bad CSRF token, missing parameter, unknown category)."""

    code = "bad_request"


class DisconnectedError(InvalidRequestError):
    """The client has gone before its body was read: nothing was begun, and nobody waits for an answer."""

    code = "disconnected"


class MisdirectedError(CrowddError):
    """The request names a host that this server does not answer for."""

    code = "misdirected"
    hint = "Use the address of the site. The operator can allow further hosts: [http] allowed_hosts."


class FormError(CrowddError):
    """A form with mistakes; ``errors`` maps each field to its sentences."""

    code = "form"

    def __init__(self, errors: dict[str, list[str]]) -> None:
        super().__init__("Please correct the errors.")
        self.errors = errors


class ConflictError(CrowddError):
    """A value that must be unique is taken, or a row is still needed by others."""

    code = "conflict"

    def __init__(
        self, message: str = "", *, constraint: str = "", table: str = "", code: str = "", hint: str = ""
    ) -> None:
        super().__init__(message, code=code, hint=hint)
        self.constraint = constraint
        self.table = table


class AnonymousError(CrowddError):
    """The requester would have to sign in (or bring a key) first."""

    code = "sign_in_required"
    hint = "Sign in, or send your API key."


class ForbiddenError(CrowddError):
    """The requester is known and still may not do this."""

    code = "forbidden"


class ProofNeededError(ForbiddenError):
    """The session has to prove first that its person is there: by the password or a second factor."""

    code = "proof_needed"
    hint = "Give your password or a second factor at /account/prove, then try again."


class SecondFactorNeededError(ForbiddenError):
    """Administrators have to set up a second factor before they may do this."""

    code = "second_factor_needed"
    hint = "Set up an authenticator app or a passkey: /account/<name>/security."


class MethodError(CrowddError):
    """The address exists but not for this method; ``allowed`` lists those it has."""

    code = "method_not_allowed"

    def __init__(self, message: str = "", *, allowed: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.allowed = allowed


class PreconditionError(CrowddError):
    """The object is not (any more) what the requester says it is."""

    code = "precondition_failed"


class OutdatedError(CrowddError):
    """What the requester wants to continue cannot be continued: they have to begin with all of it."""

    code = "outdated_cursor"
    hint = "Begin a new copy: send since without a value, and replace what you have."


class TooManyRequestsError(CrowddError):
    """A limit is used up; ``retry_after`` is in seconds."""

    code = "too_many_requests"

    def __init__(self, message: str = "", *, retry_after: int = 1, code: str = "", hint: str = "") -> None:
        super().__init__(message, code=code, hint=hint)
        self.retry_after = retry_after


class TooLargeError(CrowddError):
    """A body, file or text is larger than the stated limit."""

    code = "too_large"


class NotKeptError(CrowddError):
    """What was at that time is not known any more: earlier versions are kept for a time only, or not at all."""

    code = "not_kept"


class IdempotencyError(CrowddError):
    """An Idempotency-Key came back with another body."""

    code = "idempotency_key_reused"


class StoppedError(CrowddError):
    """Long work is to end here: it was cancelled, another process has taken it over, or the server is ending.

    ``reason`` is "cancelled", "lost" or "ending".
    """

    code = "stopped"

    def __init__(self, reason: str) -> None:
        super().__init__(f"The background task was stopped: {reason}.")
        self.reason = reason


class UnavailableError(CrowddError):
    """The database is away, busy or being restarted; try again after ``retry_after`` seconds.

    ``uncertain`` is true when the connection was lost at COMMIT, so that nobody knows whether the work was done.
    """

    code = "unavailable"
    hint = "Try again in a few seconds."

    def __init__(self, message: str = "", *, retry_after: int = 5, uncertain: bool = False) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.uncertain = uncertain


class NoSpaceError(UnavailableError):
    """A disk is full: of the server, or of its database. What was asked for was not done."""

    hint = "The operator has to free disk space. Try again later."

    def __init__(self, message: str = "The disk of the server is full.") -> None:
        super().__init__(message, retry_after=60)


def full_disk(error: BaseException) -> NoSpaceError | None:
    """What an error of the system means if it says that a disk is full, or a quota used up."""
    full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    return NoSpaceError() if full else None


class NoConnectionError(UnavailableError):
    """Nothing has begun, and every request at the same moment waits as long: the database is away, or all too busy."""


class BusyError(UnavailableError):
    """So many passwords are being hashed that no more are taken; nothing has begun."""

    code = "busy"


class MediaStoreError(UnavailableError):
    """The store of media files cannot be reached, or refuses. ``reason`` says why, for the operator's eyes only."""

    code = "media_unavailable"

    def __init__(self, reason: str) -> None:
        super().__init__("Media files are not available right now.", retry_after=30)
        self.reason = reason


class StatementTimeoutError(CrowddError):
    """A statement took longer than allowed; narrowing the request helps."""

    code = "timeout"
    hint = "Narrow the request: filter by project_id, use a smaller limit, page with last_id."


class at_item:  # noqa: N801 - it is used as a function; every answer passes it twice, and a generator costs more
    """What is refused within is refused because of this element of an array; None: there is no array.

    A database that is away or too slow is nobody's fault.
    """

    def __init__(self, index: int | None) -> None:
        self._index = index

    def __enter__(self) -> None:
        pass

    def __exit__(self, _type: object, error: BaseException | None, _traceback: object) -> None:
        faultless = isinstance(error, UnavailableError | StatementTimeoutError)
        if isinstance(error, CrowddError) and error.item is None and not faultless:
            error.item = self._index
