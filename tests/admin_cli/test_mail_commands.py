"""crowdctl mail."""

from __future__ import annotations

import pytest
from support.servers.mail_server import MailServer


def test_letters_are_written_listed_shown_and_sent_anyway(crowdctl, rows):
    off = crowdctl("mail", "test", "ada@example.org")
    assert off.status == 1 and "is held, because mail is off: set [mail] host and sender" in off.output
    mail_id = crowdctl.json("mail", "list")[0]["id"]
    (listed,) = crowdctl.json("mail", "list", "--state", "held")
    assert (listed["id"], listed["recipient"], listed["template"]) == (mail_id, "ada@example.org", "test")
    rows("UPDATE mail SET text = %s", "steering \x1b[2J words")
    shown = crowdctl("mail", "show", str(mail_id))
    assert "To: ada@example.org" in shown.output and "steering \ufffd[2J words" in shown.output
    assert crowdctl.json("mail", "send", str(mail_id))["state"] == "waiting"
    (act,) = rows("SELECT via, action, object_id FROM audit WHERE kind = 'mail'")
    assert tuple(act.values()) == ("cli", "send_again", mail_id)


@pytest.fixture
def mail_server(tmp_path):
    """One that does not know two of its users."""
    made = MailServer(tmp_path / "letters", {"gone@example.org": 550, "busy@example.org": 451})
    yield made
    made.stop()


def test_a_test_says_what_the_mail_server_said(crowdctl, mail_server):
    """It returned at once with "is waiting to be sent", and the reason of a refusal was lost."""
    asked = {
        name: crowdctl("mail", "test", f"{name}@example.org", **mail_server.settings)
        for name in ("ada", "gone", "busy")
    }
    assert [ended.status for ended in asked.values()] == [0, 1, 1]
    assert "was accepted by the mail server" in asked["ada"].output
    assert "was refused: 550 No, thank you." in asked["gone"].output
    assert "was not accepted yet: 451 No, thank you." in asked["busy"].output
    assert len(mail_server.letters("ada@example.org")) == 1
    listed = crowdctl.json("mail", "list")
    assert [row["error"] for row in listed] == ["451 No, thank you", "550 No, thank you", ""]
    assert "State: dead 550 No, thank you" in crowdctl("mail", "show", str(listed[1]["id"])).output


def test_a_mail_server_that_is_away_is_said_so(crowdctl, mail_server):
    mail_server.stop()
    ended = crowdctl("mail", "test", "ada@example.org", **mail_server.settings)
    assert ended.status == 1 and "was not accepted yet: " in ended.output and "no server sends it" not in ended.output


def test_a_report_from_the_mail_server_marks_the_address(crowdctl, mail_server, tmp_path, rows):
    """As an alias of the mail server hands it over: on standard input, whatever it is."""
    crowdctl("mail", "test", "ada@example.org", **mail_server.settings)
    (letter,) = mail_server.letters("ada@example.org")
    sent = tmp_path / "report"
    sent.write_text(
        "Content-Type: multipart/report; report-type=delivery-status; boundary=b\n\n"
        "--b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; x\n\n"
        "Action: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 gone\n\n"
        f"--b\nContent-Type: text/rfc822-headers\n\nMessage-ID: {letter['Message-ID']}\n--b--\n"
    )
    taken = crowdctl.json("mail", "returned", str(sent))
    assert (taken["returned"], taken["error"]) == (True, "5.1.1 550 gone")
    assert [row["id"] for row in crowdctl.json("mail", "list", "--state", "dead")] == [taken["id"]]
    refused = crowdctl("mail", "test", "ada@example.org", **mail_server.settings)
    assert refused.status == 1 and "An e-mail to this address came back: 5.1.1 550 gone" in refused.output
    nothing = crowdctl("mail", "returned", told="Subject: hello\n\nyou there\n")
    assert nothing.status == 0 and "This is no report on an e-mail of this site." in nothing.output
    crowdctl("mail", "discard", str(taken["id"]))
    assert crowdctl("mail", "test", "ada@example.org", **mail_server.settings).status == 0
