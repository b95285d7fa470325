"""What a receiver is sent, and what its answer means: pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit, urlunsplit

import attrs
import orjson

from crowdd.domain.outbound.response import Response
from crowdd.domain.webhooks import signatures
from crowdd.domain.webhooks.event_kind import EventKind
from crowdd.domain.webhooks.events import KINDS
from crowdd.domain.webhooks.retry_policy import DeliveryFailure
from crowdd.storage.webhooks.rows import Delivery, DueDelivery

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


def message(delivery: DueDelivery, secrets: Sequence[str], timestamp: int) -> Message:
    """The request of a delivery (``storage.webhooks.deliveries.due``), signed with each of the secrets."""
    kind = KINDS.get(delivery.kind) or EventKind(delivery.kind, "An event of another version.")
    body = orjson.dumps(kind.body(delivery, delivery.short_name))
    headers = {
        "Content-Type": "application/json",
        "Accept": "text/plain",
        **signatures.headers(secrets, message_id(delivery), timestamp, body),
    }
    return Message(_rerun(delivery.url) if delivery.again else delivery.url, headers, body)


def _rerun(url: str) -> str:
    """PyBossa's mark of what an owner has sent once more."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    return urlunsplit(parts._replace(query="&".join(filter(None, (parts.query, "rerun=True")))))


def outcome(reply: Response) -> AttemptOutcome:
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


def no_answer(problem: str) -> AttemptOutcome:
    """Outcome when no response arrived."""
    return AttemptOutcome(None, "", problem, DeliveryFailure())


def answer_head(reply: Response) -> str:
    """Status, headers and the beginning of the body, as a text that can be stored and shown."""
    lines = [f"HTTP {reply.status}", *(f"{name}: {value}" for name, value in reply.headers.items())]
    text = "\n".join(lines) + "\n\n" + reply.body[:MAX_ANSWER].decode("utf-8", "replace")
    return _CONTROL.sub(" ", text)[:MAX_ANSWER].rstrip()


def _seconds(retry_after: str) -> float:
    return float(retry_after) if re.fullmatch(r"[0-9]{1,6}", retry_after.strip()) else 0.0
