"""What receivers are sent, and what their answers mean."""

from __future__ import annotations

from datetime import UTC, datetime

import attrs
import orjson
import pytest
from standardwebhooks import Webhook, WebhookVerificationError
from support.checks.shows import shows

from crowdd.core.outbound.client import Response
from crowdd.sched import webhook_messages
from crowdd.sched.event_statements import DueDelivery
from crowdd.sched.webhook_messages import KINDS

AT = datetime(2025, 3, 4, 5, 6, 7, 890, UTC)
EVENT = DueDelivery(
    project_id=7, short_name="night-gate", seq=12, id=99, kind="task_completed", task_id=3, result_id=4, at=AT, planned=AT,
    now=AT, data={"user_ids": [5, 6], "volunteers": ["a", "b"]}, attempts=0, again=False, url="https://hooks.example/x?a=b",
    secret_encrypted=b"", old_secret_encrypted=None,
)  # fmt: skip
PYBOSSA = {
    "event": "task_completed", "project_short_name": "night-gate", "project_id": 7, "task_id": 3, "result_id": 4,
    "fired_at": "2025-03-04 05:06:07",
}  # fmt: skip


def now() -> int:
    return int(datetime.now(UTC).timestamp())


@shows("event-body")
def test_the_body_has_the_keys_of_pybossa_the_number_and_who_answered():
    sent = webhook_messages.build_message(EVENT, [webhook_messages.new_secret()], 0)
    more = {"sequence": 12, "user_ids": [5, 6], "volunteers": ["a", "b"], "consensus": None}
    assert orjson.loads(sent.body) == PYBOSSA | more
    assert (sent.url, sent.headers["Content-Type"]) == ("https://hooks.example/x?a=b", "application/json")


@shows("event-body")
@pytest.mark.parametrize("name", KINDS)
def test_every_kind_has_these_keys(name):
    body = KINDS[name].body(attrs.evolve(EVENT, data=None), "night-gate")
    assert body == PYBOSSA | {"event": name, "sequence": 12} | dict.fromkeys(KINDS[name].data)


def test_a_kind_that_is_gone_is_sent_as_it_was_written():
    sent = webhook_messages.build_message(attrs.evolve(EVENT, kind="of_old"), [webhook_messages.new_secret()], 0)
    assert orjson.loads(sent.body)["event"] == "of_old"


@shows("delivery-once")
def test_what_its_owner_sends_again_says_so_and_has_the_same_id():
    first, again = (webhook_messages.build_message(attrs.evolve(EVENT, again=again), [], 0) for again in (False, True))
    assert again.url == "https://hooks.example/x?a=b&rerun=True"
    assert first.headers["webhook-id"] == again.headers["webhook-id"] == "event_7_12"


@shows("delivery-signed")
def test_a_receiver_verifies_it_with_either_secret_while_they_change():
    old, new, other = (webhook_messages.new_secret() for _ in range(3))
    sent = webhook_messages.build_message(EVENT, [new, old], now())
    for secret in (new, old):
        assert Webhook(secret).verify(sent.body, dict(sent.headers))["sequence"] == 12
    for secret, body in ((other, sent.body), (new, sent.body + b" ")):
        with pytest.raises(WebhookVerificationError):
            Webhook(secret).verify(body, dict(sent.headers))
    assert len({old, new, other}) == 3 and len(old) == 50


@pytest.mark.parametrize(
    ("status", "words", "gone"),
    [
        (200, "", None), (204, "", None), (301, "a redirect, which crowdd does not follow", False), (400, "400", False),
        (410, "refuses further events", True), (500, "500", False), (100, "100", False),
    ],
)  # fmt: skip
def test_an_answer_means(status, words, gone):
    made = webhook_messages.judge_response(Response(status, {}, b"", True))
    assert words in made.problem and (made.failure and made.failure.gone) is gone


@pytest.mark.parametrize(("text", "seconds"), [("120", 120), ("", 0), ("Wed, 21 Oct", 0), ("-1", 0), ("9" * 30, 0)])
def test_a_receiver_may_ask_for_time(text, seconds):
    assert webhook_messages.judge_response(Response(503, {"retry-after": text}, b"", True)).failure.wait == seconds


def test_an_answer_is_kept_as_a_text_that_can_be_stored():
    head = webhook_messages.answer_head(Response(200, {"x": "a\rb"}, b"\x00\xff\x1b[31m\n" + b"y" * 9000, True))
    assert head.startswith("HTTP 200\nx: a b\n\n \N{REPLACEMENT CHARACTER} [31m\nyyy") and len(head) == 2000
