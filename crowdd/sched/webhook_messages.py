"""The kinds of events, the message that a receiver gets, its signature, and what the receiver's answer means. Pure.

Something of a kind happens by ``crowdd.sched.event_statements`` in the transaction that does it, or by a row of
``event`` that a function of the database writes. Signatures follow Standard Webhooks (standardwebhooks.com, symmetric
scheme v1); the database keeps the secrets encrypted.
"""

from __future__ import annotations

import base64
import hmac
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC
from urllib.parse import urlsplit, urlunsplit

import attrs
import orjson

from crowdd.core.outbound.client import Response
from crowdd.core.secrets import Secrets, place
from crowdd.sched.event_statements import Delivery, DueDelivery
from crowdd.sched.webhook_retries import DeliveryFailure


@attrs.frozen
class EventKind:
    """``name`` stands in the log and in what is sent; ``doc`` says when it happens.

    ``data`` are the keys that its events bring beside those that all have, each with what it holds. They come from the
    event's own ``data``; one that is not there is null.
    """

    name: str
    doc: str
    data: Mapping[str, str] = attrs.field(factory=dict)

    def body(self, event: DueDelivery, short_name: str) -> dict[str, object]:
        """What a receiver is sent: PyBossa's keys, the number, and those of the kind."""
        own = event.data or {}
        return {
            "event": self.name,
            "project_short_name": short_name,
            "project_id": event.project_id,
            "task_id": event.task_id,
            "result_id": event.result_id,
            "fired_at": event.at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S"),
            "sequence": event.seq,
            **{key: own.get(key) for key in self.data},
        }


PING = EventKind("ping", "An owner tests the webhook. `sequence` is null; sent once.")


PROJECT_COMPLETED = EventKind(
    "project_completed", "Every task of the project is done. It comes after all events before it."
)


RESULT_COMPARED = EventKind(
    "result_compared",
    "The texts or marks in the answers to a task were compared, about two seconds after it was completed. `result_id`"
    " names the result.",
    {"consensus": "What the answers say by answer field, as in the result; missing above 2,000 B."},
)


RESULT_UPDATED = EventKind(
    "result_updated",
    "A task that was opened again has all its answers once more. `result_id` names the new version of its result.",
    {
        "user_ids": "Accounts whose answers count, in the order of the answers; people without one are not in it.",
        "volunteers": "Codes of all volunteers whose answers count, in the order of the answers.",
        "consensus": "What the answers say by answer field, as in the result; missing without fields or above 2,000 B.",
    },
)


TASK_COMPLETED = EventKind(
    "task_completed",
    "A task has all its answers, for the first time. `result_id` names the result.",
    {
        "user_ids": "Accounts whose answers count, in the order of the answers; people without one are not in it.",
        "volunteers": "Codes of all volunteers whose answers count, in the order of the answers.",
        "consensus": "What the answers say by answer field, as in the result; missing without fields or above 2,000 B.",
    },
)


_KINDS: list[EventKind] = [
    PING,
    PROJECT_COMPLETED,
    RESULT_COMPARED,
    RESULT_UPDATED,
    TASK_COMPLETED,
]
KINDS: Mapping[str, EventKind] = {kind.name: kind for kind in _KINDS}


_PREFIX = "whsec_"
_BYTES = 32


def new_secret() -> str:
    """A new secret as receivers are given it: ``whsec_`` and 32 random bytes in base64."""
    return _PREFIX + base64.b64encode(os.urandom(_BYTES)).decode()


def sign_headers(secrets: Iterable[str], message_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """The three headers of a message; one signature for each secret, so that receivers may know any of them.

    ``message_id`` has no full stop and is the same whenever the message is sent; ``timestamp`` is epoch seconds.
    """
    signed = f"{message_id}.{timestamp}.".encode() + body
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(_signature(secret, signed) for secret in secrets),
    }


def _signature(secret: str, signed: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(_PREFIX))
    return "v1," + base64.b64encode(hmac.digest(key, signed, "sha256")).decode()


MAX_ANSWER = 2000  # characters of an answer that the log keeps
_CONTROL = re.compile(r"[^\S\n]|[\x00-\x09\x0b-\x1f\x7f-\x9f]")
_GONE = 410


@attrs.frozen
class Message:
    """A request to a receiver."""

    url: str
    headers: Mapping[str, str]
    body: bytes


@attrs.frozen
class AttemptOutcome:
    """How an attempt ended, as the log keeps it. ``failure`` is None when the receiver took it."""

    status: int | None
    answer: str
    problem: str
    failure: DeliveryFailure | None


def message_id(delivery: DueDelivery | Delivery) -> str:
    """The id by which a receiver knows that it has had a message before; a test has one of its own."""
    project_id, seq = delivery.project_id, delivery.seq
    return f"ping_{project_id}_{delivery.id}" if seq is None else f"event_{project_id}_{seq}"


def build_message(delivery: DueDelivery, secrets: Sequence[str], timestamp: int) -> Message:
    """The request of a delivery (``sched.event_statements.list_due``), signed with each of the secrets."""
    kind = KINDS.get(delivery.kind) or EventKind(delivery.kind, "An event of another version.")
    body = orjson.dumps(kind.body(delivery, delivery.short_name))
    headers = {
        "Content-Type": "application/json",
        "Accept": "text/plain",
        **sign_headers(secrets, message_id(delivery), timestamp, body),
    }
    return Message(_rerun(delivery.url) if delivery.again else delivery.url, headers, body)


def _rerun(url: str) -> str:
    """PyBossa's mark of what an owner has sent once more."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    return urlunsplit(parts._replace(query="&".join(filter(None, (parts.query, "rerun=True")))))


def judge_response(reply: Response) -> AttemptOutcome:
    """What an answer means: 2xx is taken, everything else is not, and 410 ends the webhook."""
    status = reply.status
    if 200 <= status < 300:
        return AttemptOutcome(status, answer_head(reply), "", None)
    if 300 <= status < 400:
        problem = f"The receiver answered {status}, a redirect, which crowdd does not follow."
    elif status == _GONE:
        problem = "The receiver answered 410: it refuses further events."
    else:
        problem = f"The receiver answered {status}."
    failure = DeliveryFailure(gone=status == _GONE, wait=_seconds(reply.headers.get("retry-after", "")))
    return AttemptOutcome(status, answer_head(reply), problem, failure)


def judge_no_response(problem: str) -> AttemptOutcome:
    """Outcome when no response arrived."""
    return AttemptOutcome(None, "", problem, DeliveryFailure())


def answer_head(reply: Response) -> str:
    """Status, headers and the beginning of the body, as a text that can be stored and shown."""
    lines = [f"HTTP {reply.status}", *(f"{name}: {value}" for name, value in reply.headers.items())]
    text = "\n".join(lines) + "\n\n" + reply.body[:MAX_ANSWER].decode("utf-8", "replace")
    return _CONTROL.sub(" ", text)[:MAX_ANSWER].rstrip()


def _seconds(retry_after: str) -> float:
    return float(retry_after) if re.fullmatch(r"[0-9]{1,6}", retry_after.strip()) else 0.0


def encrypted(secrets: Secrets, secret: str, project_id: int) -> bytes:
    """A project's webhook secret as it is stored; the old one stays where it is when a new one takes its place."""
    return secrets.encrypt(secret, place("webhook", "secret_encrypted", project_id))


def decrypted(secrets: Secrets, value: bytes, project_id: int) -> str:
    """A project's webhook secret. Raises ``InvalidTag``."""
    return secrets.decrypt(value, place("webhook", "secret_encrypted", project_id))
