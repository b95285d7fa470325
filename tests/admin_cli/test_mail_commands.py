"""crowdctl mail."""

from __future__ import annotations


def test_letters_are_written_listed_shown_and_sent_anyway(crowdctl, rows):
    mail_id = crowdctl.json("mail", "test", "ada@example.org")["id"]
    assert crowdctl.json("jobs", "run", "send_mail")["words"] == "0 sent, 1 held, 0 failed"
    (listed,) = crowdctl.json("mail", "list", "--state", "held")
    assert (listed["id"], listed["recipient"], listed["template"]) == (mail_id, "ada@example.org", "test")
    rows("UPDATE mail SET text = %s", "steering \x1b[2J words")
    shown = crowdctl("mail", "show", str(mail_id))
    assert "To: ada@example.org" in shown.output and "steering \ufffd[2J words" in shown.output
    assert crowdctl.json("mail", "send", str(mail_id))["state"] == "waiting"
    (act,) = rows("SELECT via, action, object_id FROM audit WHERE kind = 'mail'")
    assert tuple(act.values()) == ("cli", "send_again", mail_id)
