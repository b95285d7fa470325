"""E-mails: written with what they are about, delivered once or again, and never more than they should say."""

from __future__ import annotations

import gettext
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import pytest_twisted
from support.servers.counting import worker_on
from support.servers.mailbox import PASSWORD, USER, Mailbox, certificate
from twisted.internet import reactor
from twisted.logger import globalLogPublisher

from crowdd.core.mail.backend import post
from crowdd.core.mail.mail import MAX_ATTEMPTS, MAX_PER_HOUR, Mail, Tally, pause
from crowdd.core.mail.message import (
    TEMPLATE_FOLDER,
    MailRenderer,
    RenderedMail,
    Sender,
    compose,
    one_line,
    plain_address,
)
from crowdd.core.mail.returned import Returned, read_report, sealed_by
from crowdd.features.imports import feature as import_feature
from crowdd.features.people.feature import PeopleFeature
from crowdd.kernel.config.outbound import MailSettings
from crowdd.kernel.errors import ConfigError, ConflictError, InvalidValueError, UnavailableError
from crowdd.kernel.languages import Languages
from crowdd.kernel.requester import Requester
from crowdd.sched.feature import Scheduling
from crowdd.sched.job import Handler

BASE = "https://crowdd.example"
SENDER = Sender(lambda: "Site & Söhne", "crowdd@example.org", "crowdd.example", sealed_by(b"key"))
LETTERS = MailRenderer(Languages(), lambda: "Site & Söhne", BASE)
EVIL = "Eve\r\nBcc: victim@example.org\r\n\r\n<script>alert(1)</script>{{ 7*7 }}"
# What each e-mail is told, by its name.
CONTEXTS: dict[str, dict[str, Any]] = {
    "test": {},
    "dead_work": {"fullname": EVIL, "work": EVIL, "number": 7, "error": EVIL},
    "source_off": {"name": EVIL, "short_name": "birds", "url": "https://x.example/", "reason": EVIL},
    "webhook_off": {"name": EVIL, "short_name": "birds", "reason": EVIL},
    "reset_password": {"name": EVIL, "url": "https://crowdd.example/x?key=k", "hours": 5},
    "confirm_registration": {"name": EVIL, "url": "https://crowdd.example/x?key=k", "hours": 5},
    "invitation": {"key": "k3y", "days": 1},
    "known_address": {"name": EVIL, "url": "https://crowdd.example/x?key=k", "hours": 5},
    "confirm_address": {"name": EVIL, "url": "https://crowdd.example/x?key=k", "hours": 1},
    "export_ready": {"name": EVIL, "url": "https://crowdd.example/x", "days": 3},
    "address_changed": {"name": EVIL},
    "password_changed": {"name": EVIL, "new_key": True, "ended": EVIL},
    "new_administrator": {"name": EVIL, "new": EVIL, "by": EVIL},
    "new_device": {"name": EVIL, "device": EVIL, "url": "https://crowdd.example/x"},
    "second_factor_changed": {"name": EVIL, "act": "totp_added", "url": "https://crowdd.example/x"},
    "news": {
        "name": EVIL,
        "items": [{"headline": EVIL, "detail": EVIL, "letter": [EVIL], "url": "https://crowdd.example/x"}],
        "unsubscribe": "https://crowdd.example/unsubscribe?to=5.s",
        "choices": "https://crowdd.example/x",
    },
    "recovery_code_used": {"name": EVIL, "left": 9, "url": "https://crowdd.example/x"},
}


class Bench:
    """Mail on a database, with a mail server to send to."""

    def __init__(self, pool: Any) -> None:
        self.pool, self.mailbox = pool, Mailbox(reactor)
        self.port = self.mailbox.listen()

    def mail(self, **more: Any) -> Mail:
        words = {"host": "127.0.0.1", "port": self.port, "tls": "off", "sender": SENDER.address, **more}
        return Mail(
            self.pool, LETTERS, SENDER, post(reactor, MailSettings(**words), SENDER.host), 14, lambda _topic: None
        )

    async def pass_time(self, **more: float) -> None:
        await self.pool.execute("UPDATE clock_shift SET ahead = ahead + %(by)s", {"by": timedelta(**more)})

    async def states(self) -> list[str]:
        return [row["state"] for row in await self.pool.fetch("SELECT state FROM mail ORDER BY id")]


@pytest_twisted.async_yield_fixture
async def bench(pool):
    made = Bench(pool)
    yield made
    await made.mailbox.close()


@pytest.fixture
def logged():
    """What is logged meanwhile."""
    lines: list[str] = []

    def observe(event: Any) -> None:
        lines.append(event["log_format"].format(**event) if event.get("log_format") else "")

    globalLogPublisher.addObserver(observe)
    yield lines
    globalLogPublisher.removeObserver(observe)


@pytest_twisted.ensureDeferred
async def test_a_letter_arrives_as_it_was_written(bench):
    mail = bench.mail()
    mail_id = await mail.send(bench.pool, "ada@example.org", "test", {})
    assert await mail.deliver() == Tally(sent=1)
    ((recipient, message),) = bench.mailbox.letters
    assert (recipient, message["To"], message["From"]) == (
        "ada@example.org", "ada@example.org", "Site & Söhne <crowdd@example.org>",
    )  # fmt: skip
    assert message["Subject"] == "Test e-mail from Site & Söhne" and message["Auto-Submitted"] == "auto-generated"
    assert message["Message-ID"].startswith(f"<{mail_id}.") and message["Date"]
    text, html = [part.get_content() for part in message.iter_parts()]
    assert "Mail delivery works." in text and f"{BASE}/" in text and "Site &amp; Söhne" in html
    assert await mail.deliver() == Tally()
    row = await mail.get(mail_id)
    assert (row.state, row.text, row.html) == ("sent", None, None)


@pytest_twisted.ensureDeferred
async def test_nothing_is_sent_for_a_transaction_that_was_rolled_back(bench):
    mail = bench.mail()

    async def work(tx: Any) -> None:
        await mail.send(tx, "ada@example.org", "test", {})
        raise InvalidValueError("no")

    with pytest.raises(InvalidValueError):
        await bench.pool.transaction(work)
    assert await mail.deliver() == Tally() and await bench.states() == []


@pytest_twisted.ensureDeferred
async def test_while_mail_is_off_links_are_logged_and_letters_held(bench, logged):
    off = bench.mail(host="")
    mail_id = await off.send(bench.pool, "ada@example.org", "test", {})
    assert await off.deliver() == Tally(held=1)
    assert await off.deliver() == Tally()
    (line,) = [line for line in logged if line.startswith("Mail is off.")]
    assert f"{BASE}/" in line and "ada@example.org" not in line
    on = bench.mail()
    assert await on.deliver() == Tally(), "what was held is not sent by surprise"
    await on.again(mail_id)
    assert await on.deliver() == Tally(sent=1)
    with pytest.raises(ConflictError):
        await on.again(mail_id)


@pytest_twisted.ensureDeferred
async def test_names_of_people_do_not_become_headers(bench):
    mail = bench.mail()
    await mail.send(bench.pool, "ada@example.org", "webhook_off", CONTEXTS["webhook_off"])
    await mail.deliver()
    ((recipient, message),) = bench.mailbox.letters
    assert recipient == "ada@example.org" and message["Bcc"] is None
    assert message["Subject"].startswith("The webhook of Eve Bcc: victim@example.org <script>")
    assert [line for line in bench.mailbox.seen if line.upper().startswith(b"RCPT")] == [b"RCPT TO:<ada@example.org>"]


@pytest_twisted.ensureDeferred
async def test_a_dot_alone_ends_no_letter(bench):
    """Wherever it stands: what followed would be commands to the mail server."""
    mail, smuggled = bench.mail(), "MAIL FROM:<eve@example.org>"
    error = f"\n.\n{smuggled}\n" + "".join(f"{'x' * (n % 70)}\n.\n{smuggled}\n" for n in range(1000))
    await mail.send(bench.pool, "ada@example.org", "dead_work", {**CONTEXTS["dead_work"], "error": error})
    assert await mail.deliver() == Tally(sent=1)
    ((_, message),) = bench.mailbox.letters
    text = message.get_body(("plain",)).get_content().replace("\r\n", "\n")
    assert text.count(f"\n.\n{smuggled}\n") == 1001
    assert [line for line in bench.mailbox.seen if line.upper().startswith(b"MAIL")] == [
        b"MAIL FROM:<crowdd@example.org>"
    ]
    sent = compose(RenderedMail("", ".\n..\n", ".<p>"), 1, "a@b.org", SENDER, datetime.now(UTC))
    assert not any(line.startswith(b".") for line in sent.splitlines())


HOSTILE = [
    "a@b.org\r\nBcc: c@d.org", "a@b.org\nDATA", "a@b.org, c@d.org", "a@b.org>", "<a@b.org>", "a b@c.org", "a", "@b.org",
    "a@", "a@b..org", "a@-b.org", "a\x00@b.org", "ä@b.org", "a@b\u2028.org", f"{'a' * 65}@b.org", f"a@{'b' * 300}.org",
]  # fmt: skip


@pytest.mark.parametrize("address", HOSTILE)
def test_an_address_is_one_address(address):
    with pytest.raises(InvalidValueError):
        plain_address(address)


def test_addresses_of_other_alphabets():
    assert plain_address(" ada.l+x@bücher.example ") == "ada.l+x@xn--bcher-kva.example"
    assert plain_address("O'Hara@localhost") == "O'Hara@localhost"


@pytest_twisted.ensureDeferred
async def test_an_address_that_is_none_fails_its_letter_and_nobody_else(bench):
    mail = bench.mail()
    for address in ("a@b.org\r\nBcc: c@d.org", "a\x00\ud800", "ada@example.org"):
        assert await mail.send(bench.pool, address, "test", {})
    assert await mail.deliver() == Tally(sent=1)
    assert await bench.states() == ["dead", "dead", "sent"]


@pytest_twisted.ensureDeferred
async def test_a_refusal_for_good_ends_a_letter_and_one_for_now_delays_it(bench):
    mail = bench.mail()
    bench.mailbox.refusals = {"gone@example.org": 550, "busy@example.org": 451}
    for name in ("gone", "busy", "ada"):
        await mail.send(bench.pool, f"{name}@example.org", "test", {})
    assert await mail.deliver() == Tally(sent=1, failed=2)
    assert await bench.states() == ["dead", "waiting", "sent"]
    rows = await mail.list()
    assert [row.error for row in rows] == ["", "451 No, thank you", "550 No, thank you"]
    bench.mailbox.refusals = {}
    assert await mail.deliver() == Tally(), "not before its time"
    await bench.pass_time(seconds=75)
    assert await mail.deliver() == Tally(sent=1)


@pytest_twisted.ensureDeferred
async def test_a_server_that_is_away_costs_no_letter(bench):
    mail = bench.mail()
    for name in ("ada", "bob"):
        await mail.send(bench.pool, f"{name}@example.org", "test", {})
    await bench.mailbox.close()
    for _ in range(2 * MAX_ATTEMPTS):
        with pytest.raises(UnavailableError):
            await mail.deliver()
        await bench.pass_time(seconds=75)
    assert await bench.states() == ["waiting", "waiting"]
    assert [row.attempts for row in await mail.list()] == [0, 0]
    bench.mailbox.listen(bench.port)
    await bench.pass_time(seconds=75)
    assert await mail.deliver() == Tally(sent=2)


@pytest_twisted.ensureDeferred
async def test_a_letter_of_a_killed_process_goes_out_again_as_the_same_message(bench):
    mail = bench.mail()
    await mail.send(bench.pool, "ada@example.org", "test", {})
    from crowdd.core.mail import statements as stored

    row = await stored.claim(bench.pool)  # and no more of that process
    assert await mail.deliver() == Tally()
    await bench.pass_time(minutes=11)
    assert await mail.deliver() == Tally(sent=1)
    ((_, message),) = bench.mailbox.letters
    assert message["Message-ID"] == f"<{row.id}.{SEAL(row.id)}@crowdd.example>"


@pytest.mark.parametrize("user", ["", USER.decode()])
@pytest_twisted.ensureDeferred
async def test_without_encryption_nothing_is_said_where_it_is_wanted(bench, user):
    mail = bench.mail(tls="starttls", user=user, password=PASSWORD.decode())
    await mail.send(bench.pool, "ada@example.org", "test", {})
    with pytest.raises(UnavailableError):
        await mail.deliver()
    assert await bench.states() == ["waiting"]
    assert not [line for line in bench.mailbox.seen if not line.upper().startswith((b"EHLO", b"QUIT"))]


@pytest.mark.parametrize("tls", ["starttls", "implicit"])
@pytest.mark.parametrize("password", [PASSWORD.decode(), "a wrong password"])
@pytest_twisted.ensureDeferred
async def test_signing_in_over_an_encrypted_way(bench, tmp_path, monkeypatch, password, tls):
    ours, trusted = certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    bench.mailbox = Mailbox(reactor, ours, sign_in=True)
    bench.port = bench.mailbox.listen(encrypted=tls == "implicit")
    mail = bench.mail(host="localhost", tls=tls, user=USER.decode(), password=password)
    mail_id = await mail.send(bench.pool, "ada@example.org", "test", {})
    if password == PASSWORD.decode():
        assert await mail.deliver() == Tally(sent=1)
        assert len(bench.mailbox.letters) == 1
    else:
        with pytest.raises(UnavailableError) as refused:
            await mail.deliver()
        row = await mail.get(mail_id)
        assert row.state == "waiting" and row.error.startswith("535")
        assert len(str(refused.value)) < 120 and "AUTH" not in str(refused.value).replace("Authentication", "")


@pytest.mark.parametrize("tls", ["starttls", "implicit"])
@pytest_twisted.ensureDeferred
async def test_a_certificate_that_nobody_vouches_for_is_not_believed(bench, tmp_path, tls):
    ours, _ = certificate(tmp_path)
    bench.mailbox = Mailbox(reactor, ours)
    bench.port = bench.mailbox.listen(encrypted=tls == "implicit")
    mail = bench.mail(host="localhost", tls=tls)
    await mail.send(bench.pool, "ada@example.org", "test", {})
    with pytest.raises(UnavailableError):
        await mail.deliver()
    assert bench.mailbox.letters == [] and await bench.states() == ["waiting"]


@pytest_twisted.ensureDeferred
async def test_who_is_to_encrypt_from_the_first_byte_says_nothing_in_the_clear(bench):
    mail = bench.mail(host="localhost", tls="implicit", user=USER.decode(), password=PASSWORD.decode())
    await mail.send(bench.pool, "ada@example.org", "test", {})
    with pytest.raises(UnavailableError):
        await mail.deliver()
    transcript = b"".join(bench.mailbox.seen)
    assert b"EHLO" not in transcript and PASSWORD not in transcript and await bench.states() == ["waiting"]


@pytest_twisted.ensureDeferred
async def test_one_address_gets_so_many_letters_an_hour(bench):
    mail = bench.mail()
    for _ in range(MAX_PER_HOUR):
        assert await mail.send(bench.pool, "ada@example.org", "test", {})
    assert await mail.send(bench.pool, "Ada@Example.org", "test", {}) is None
    assert await mail.send(bench.pool, "bob@example.org", "test", {})
    await bench.pass_time(minutes=61)
    assert await mail.send(bench.pool, "ada@example.org", "test", {})


@pytest_twisted.ensureDeferred
async def test_letters_have_their_time(bench):
    mail = bench.mail()
    await mail.send(bench.pool, "ada@example.org", "test", {})
    await bench.pass_time(days=13)
    await mail.send(bench.pool, "bob@example.org", "test", {})
    assert await mail.sweep() == 0
    await bench.pass_time(days=2)
    assert await mail.sweep() == 1
    assert [row.recipient for row in await mail.list()] == ["bob@example.org"]


@pytest_twisted.ensureDeferred
async def test_who_waits_for_work_that_died_is_told(house, pool):
    sql = (
        "INSERT INTO account (created, name, fullname, email_addr, api_key_hash, api_key_encrypted, locale)"
        " VALUES (clock(), 'ada', 'Ada L', 'ada@example.org', '', '', 'de') RETURNING id"
    )
    ada = Requester(user_id=(await pool.fetch(sql))[0]["id"])

    async def run(house: Any, item: Any) -> None:
        raise InvalidValueError("Line 3 is no task.")

    item_id = await house[Scheduling].queue.add(pool, "import_tasks", {}, ada)
    (settled,) = await worker_on(
        house, Handler("import_tasks", run, title=import_feature.IMPORT_TASKS_HANDLER.title)
    ).take()
    await settled
    (row,) = await house.base.mail.list()
    letter = await house.base.mail.get(row.id)
    assert (row.recipient, row.locale, row.template) == ("ada@example.org", "de", "dead_work")
    assert all(words in letter.text for words in ("Ada L", "Import von Aufgaben", str(item_id), "Line 3 is no task."))
    assert "Import von Aufgaben" in letter.subject and "Import von Aufgaben" in letter.html


@pytest_twisted.ensureDeferred
async def test_letters_go_with_the_account(served):
    mail, ada = served.house.base.mail, await served.person("ada")
    for name in ("Ada", "bob"):
        await mail.send(served.database, f"{name}@example.org", "test", {})

    async def told(done: int) -> None:
        pass

    await served.house[PeopleFeature].account_deletion.carry_out(ada.user_id, told)
    assert [row.recipient for row in await mail.list()] == ["bob@example.org"]


class Shouting(gettext.NullTranslations):
    """A language of its own."""

    def gettext(self, message: str) -> str:
        return message.upper().replace("%(SITE)S", "%(site)s")


def test_a_letter_speaks_its_readers_language():
    letters = MailRenderer(Languages({"de": Shouting(), "ar": Shouting()}), lambda: "Site", BASE)
    german = letters.write("test", {}, "de")
    assert (
        german.subject == "TEST E-MAIL FROM Site"
        and "MAIL DELIVERY WORKS." in german.text
        and "MAIL DELIVERY WORKS." in german.html
    )
    assert '<html lang="de" dir="ltr">' in german.html
    assert 'dir="rtl"' in letters.write("test", {}, "ar").html
    assert letters.write("test", {}, "xx").subject == "Test e-mail from Site"


@pytest.mark.parametrize("name", sorted({path.stem for path in TEMPLATE_FOLDER.rglob("*.txt")}))
def test_every_letter_escapes_what_people_say(name):
    letter = LETTERS.write(name, CONTEXTS[name], "en")
    assert "\n" not in letter.subject and letter.subject == one_line(letter.subject)
    assert letter.text.strip() and "49" not in letter.text + letter.html
    assert "<script" not in letter.html
    assert LETTERS.names() == sorted(CONTEXTS)


def test_pauses_and_the_end_of_patience():
    pauses = [pause(n) for n in range(1, MAX_ATTEMPTS + 1)]
    assert pauses[:3] == [60, 180, 540] and pauses[-2:] == [21600, None]
    assert 2 * 86400 < sum(each for each in pauses if each) * 1.2 < 4 * 86400


def test_mail_without_a_sender_does_not_start():
    for sender in ("", "nobody"):
        with pytest.raises(ConfigError):
            post(reactor, MailSettings(host="mail.example.org", sender=sender), "crowdd.example")


SEAL = SENDER.seal


def report(mail_id, *, status="5.1.1", action="failed", why="smtp; 550 5.1.1 No such user here", seal=SEAL, whole=True):
    """What a mail server sends back, with the whole e-mail or its headers."""
    about = f"Message-ID: <{mail_id}.{seal(mail_id)}@crowdd.example>\nTo: gone@example.org\n\n"
    last = ("message/rfc822" if whole else "text/rfc822-headers") + f"\n\n{about}"
    return (
        "From: MAILER-DAEMON@mx.example\nTo: crowdd@example.org\nSubject: Undelivered\nMessage-ID: <1.2@mx.example>\n"
        "MIME-Version: 1.0\n"
        'Content-Type: multipart/report; report-type=delivery-status; boundary="b"\n\n'
        "--b\nContent-Type: text/plain\n\nSorry.\n"
        "--b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; mx.example\n\n"
        f"Final-Recipient: rfc822; gone@example.org\nAction: {action}\nStatus: {status}\nDiagnostic-Code: {why}\n\n"
        f"--b\nContent-Type: {last}--b--\n"
    ).encode()


@pytest.mark.parametrize("whole", [True, False], ids=["whole", "headers"])
def test_a_report_says_which_letter_came_back_and_why(whole):
    assert read_report(report(7, whole=whole), SEAL) == Returned(
        7, "5.1.1 550 5.1.1 No such user here", no_mailbox=True
    )
    full = read_report(report(7, status="5.2.2", why="mailbox is full", whole=whole), SEAL)
    assert full == Returned(7, "5.2.2 mailbox is full", no_mailbox=False)


@pytest.mark.parametrize(
    "message",
    [
        report(7, seal=sealed_by(b"another")),
        report(7, action="delayed", status="4.4.1"),
        report(7).replace(b"delivery-status", b"plain"),
        b"Message-ID: <7." + SEAL(7).encode() + b"@crowdd.example>\n\nAction: failed\nStatus: 5.1.1\n",
        b"",
        b"\xff\0" * 1000,
        b"Content-Type: multipart/report; boundary=b\n\n" + b"--b\n" * 50_000,
    ],
    ids=["foreign seal", "delayed", "no report", "a letter itself", "empty", "bytes", "parts"],
)
def test_other_messages_are_about_no_letter(message):
    assert read_report(message, SEAL) is None


@pytest_twisted.ensureDeferred
async def test_an_address_from_which_a_letter_came_back_gets_no_more_until_somebody_looked(bench):
    mail = bench.mail()
    first = await mail.send(bench.pool, "Gone@example.org", "test", {})
    assert await mail.note_return(report(first)) is None, "it has not been sent"
    await mail.deliver()
    back = await mail.note_return(report(first))
    assert back is not None and (back.state, back.returned, back.error) == (
        "dead",
        True,
        "5.1.1 550 5.1.1 No such user here",
    )
    assert await mail.note_return(report(first)) is None, "twice changes nothing"
    again = await mail.get(await mail.send(bench.pool, "gone@example.org", "test", {}))
    assert (again.state, again.error) == ("dead", f"An e-mail to this address came back: {back.error}")
    assert (await mail.get(await mail.send(bench.pool, "ada@example.org", "test", {}))).state == "waiting"
    await mail.discard(first)
    assert (await mail.get(await mail.send(bench.pool, "gone@example.org", "test", {}))).state == "waiting"


@pytest_twisted.ensureDeferred
async def test_a_full_mailbox_is_written_to_again(bench):
    mail = bench.mail()
    first = await mail.send(bench.pool, "gone@example.org", "test", {})
    await mail.deliver()
    back = await mail.note_return(report(first, status="5.2.2"))
    assert (back.state, back.returned) == ("dead", False)
    assert (await mail.get(await mail.send(bench.pool, "gone@example.org", "test", {}))).state == "waiting"
