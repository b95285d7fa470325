"""Each command refuses what it must in one sentence, and changes nothing. ``test_coverage`` reads the table."""

from __future__ import annotations

from typing import Any

import pytest

USAGE, REFUSED = 2, 1
GONE = "999"

# Words of the command, its exit status, and what the sentence holds.
REFUSALS = [
    (
        ("import-zooniverse", "birds", "--workflow", "1", "--subjects", "birds/project.json"),
        REFUSED,
        "is not such an export of Zooniverse: it has no column locations",
    ),
    (("import-pybossa", "--dsn", "no dsn"), REFUSED, "--dsn is not valid"),
    (
        ("admin", "create", "--name", "eve", "--email", "nowhere", "--password", "good enough"),
        REFUSED,
        "e-mail address",
    ),
    (("admin", "add", "nobody"), REFUSED, "Account nobody does not exist."),
    (("admin", "remove", "nobody@example.org"), REFUSED, "Account nobody@example.org does not exist."),
    (("admin", "list", "ada"), USAGE, "unexpected extra argument"),
    (("admin", "link", "--json", "ada"), USAGE, "unexpected extra argument"),
    (("announcement", "list", "--limit", "0"), USAGE, "--limit"),
    (("nodes", "a"), USAGE, "unexpected extra argument"),
    (("site", "show", "name"), USAGE, "unexpected extra argument"),
    (("site", "set", "accent_light", "yellow"), REFUSED, "colour"),
    (("site", "invite", "--days", "0"), REFUSED, "1 to 90"),
    (("announcement", "add", "--title", "News"), USAGE, "--body"),
    (("announcement", "add", "--title", " ", "--body", "News"), REFUSED, "title"),
    (("announcement", "edit", GONE, "--title", "News"), REFUSED, "Announcement 999 does not exist."),
    (("announcement", "edit", "1"), USAGE, "Choose what to change"),
    (("announcement", "publish", GONE), REFUSED, "Announcement 999 does not exist."),
    (("announcement", "remove", GONE, "--yes"), REFUSED, "Announcement 999 does not exist."),
    (("announcement", "remove", "1"), USAGE, "Confirm with --yes"),
    (("audit", "--kind", "user", "--kind", "task"), USAGE, "may be given once"),
    (("audit", "--security", "--kind", "nothing"), USAGE, "'nothing' is not one of account_blocked"),
    (("audit", "--since", "yesterday"), USAGE, "'yesterday' is not a time such as"),
    (("backup", "birds/project.json", "--passphrase-file", "birds/project.json"), REFUSED, "already exists"),
    (("drill",), REFUSED, "[backups] dir is not set."),
    (("template", "list", "--nothing"), USAGE, "No such option"),
    (("project", "snapshot", "make", "nothing"), REFUSED, "Project nothing does not exist."),
    (("project", "snapshot", "list", "nothing"), REFUSED, "Project nothing does not exist."),
    (("project", "snapshot", "deposit", "nothing", "0" * 64), USAGE, "Missing access token: use --token-file"),
    (("project", "snapshot", "verify", "nothing"), REFUSED, "is neither a file nor the hash of a snapshot"),
    (("template", "add", "birds"), REFUSED, "has no questions"),
    (("template", "remove", "nothing", "--yes"), REFUSED, "Template nothing does not exist."),
    (("category", "list", "--nothing"), USAGE, "No such option"),
    (("category", "add", "--name", "Thinking"), REFUSED, "exists already"),
    (("category", "add", "--name", "Maps", "--short-name", "a/b"), REFUSED, "short_name"),
    (
        ("category", "edit", "poetry", "--name", "Verse"),
        REFUSED,
        "Category poetry does not exist. Categories: sensing, thinking.",
    ),
    (("category", "edit", "thinking"), USAGE, "Choose what to change"),
    (
        ("category", "remove", "thinking", "--yes"),
        REFUSED,
        "The category thinking still has projects. Move them first.",
    ),
    (("category", "remove", "sensing"), USAGE, "Confirm with --yes"),
    (("check", "everything"), USAGE, "unexpected extra argument"),
    (("completion", "csh"), USAGE, "csh"),
    (("config", "example", "--json"), USAGE, "No such option"),
    (("config", "show", "--nothing"), USAGE, "No such option"),
    (("-c", "gone.conf", "config", "check"), REFUSED, "gone.conf"),
    (("-c", "gone.conf", "config", "show"), REFUSED, "gone.conf"),
    (("config", "set", "http", "port", "1"), REFUSED, "There is no configuration to change."),
    (("-c", "gone.conf", "config", "where"), REFUSED, "gone.conf"),
    (("media", "copy"), REFUSED, "[media] s3_endpoint is missing"),
    (("media", "copy", "--remove"), USAGE, "Confirm with --yes"),
    (("db", "restored", "now"), USAGE, "unexpected extra argument"),
    (("db", "upgrade", "--nothing"), USAGE, "No such option"),
    (("-c", "gone.conf", "db", "upgrade"), REFUSED, "gone.conf"),
    (("db", "upgrade", "--postgresql"), REFUSED, "a PostgreSQL that crowdd does not manage"),
    (("db", "upgrade", "--old-bin", "."), USAGE, "require --postgresql"),
    (("-c", "gone.conf", "db", "status"), REFUSED, "gone.conf"),
    (("doctor", "--nothing"), USAGE, "No such option"),
    (("jobs", "list", "sweep_keys"), USAGE, "unexpected extra argument"),
    (("jobs", "show", "nothing"), REFUSED, "Unknown job nothing."),
    (("jobs", "run", "nothing"), REFUSED, "Unknown job nothing."),
    (("mail", "list", "--state", "lost"), USAGE, "lost"),
    (("mail", "show", GONE), REFUSED, "E-mail 999 does not exist."),
    (("mail", "send", GONE), REFUSED, "E-mail 999 does not exist."),
    (("mail", "test", "ada@example.org", "--locale"), USAGE, "--locale"),
    (("man",), USAGE, "DIRECTORY"),
    (("project", "list", "--owner", "nobody"), REFUSED, "Account nobody does not exist."),
    (("project", "list", "--category", "poetry"), REFUSED, "Category poetry does not exist."),
    (("project", "show", "nothing"), REFUSED, "Project nothing does not exist."),
    (("project", "publish", "bare"), REFUSED, "The project lacks a task presenter."),
    (("project", "pause", GONE), REFUSED, "Project 999 does not exist."),
    (("project", "feature", "nothing"), REFUSED, "Project nothing does not exist."),
    (("project", "add-media", "birds", "nowhere"), USAGE, "does not exist"),
    (("project", "add-media", "nothing", "."), REFUSED, "Project nothing does not exist."),
    (("project", "delete", "birds"), USAGE, "Confirm with --yes"),
    (("project", "delete", "nothing", "--yes"), REFUSED, "Project nothing does not exist."),
    (("project", "export", "birds"), USAGE, "--to"),
    (("project", "export", "nothing", "--to", "out"), REFUSED, "Project nothing does not exist."),
    (("project", "import", "birds"), USAGE, "Name a file or an address"),
    (("project", "import", "birds", "nothing.csv"), REFUSED, "nothing.csv is not a file"),
    (("project", "import", "birds", "--resume"), REFUSED, "The project has no unfinished import."),
    (("project", "import", "birds", "http://10.0.0.1/x.csv"), REFUSED, "private address"),
    (("project", "load", "."), REFUSED, "is not a project folder"),
    (("project", "transfer", "birds", "--to", "ada"), USAGE, "Confirm with --yes"),
    (("project", "transfer", "birds", "--to", "nobody", "--yes"), REFUSED, "Account nobody does not exist."),
    (("queue", "list", "--state", "lost"), USAGE, "lost"),
    (("queue", "show", GONE), REFUSED, "Background task 999 does not exist."),
    (("queue", "cancel", GONE), REFUSED, "Background task 999 does not exist."),
    (("queue", "retry", GONE), REFUSED, "Background task 999 does not exist."),
    (("queue", "discard", GONE), REFUSED, "Background task 999 does not exist."),
    (("mail", "returned", "/nonexistent"), USAGE, "No such file"),
    (("mail", "discard", GONE), REFUSED, "E-mail 999 does not exist."),
    (("queue", "work", "1"), USAGE, "unexpected extra argument"),
    (("restore", "birds/project.json", "--passphrase-file", "birds/project.json"), USAGE, "Confirm with --yes"),
    (("restore", "birds/project.json", "--yes", "--passphrase-file", "birds/project.json"), REFUSED, "not an archive"),
    (("secrets", "add"), USAGE, "Confirm with --yes"),
    (("secrets", "adopt", "--new-key"), USAGE, "Confirm with --yes"),
    (("-c", "gone.conf", "secrets", "list"), REFUSED, "gone.conf"),
    (("-c", "gone.conf", "secrets", "rotate"), REFUSED, "gone.conf"),
    (("-c", "gone.conf", "serve"), REFUSED, "gone.conf"),
    (("user", "list", "--limit", "0"), USAGE, "--limit"),
    (("user", "show", GONE), REFUSED, "Account 999 does not exist."),
    (("user", "create", "--name", "BOB", "--email", "x@example.org", "--password", "good enough"), REFUSED, "taken"),
    (("user", "create", "--name", "eve", "--email", "x@example.org", "--password", "short"), REFUSED, "Use 10 to"),
    (
        ("user", "create", "--name", "eve", "--email", "x@example.org", "--password", "good enough", "--locale", "tlh"),
        REFUSED,
        "Language tlh is not available.",
    ),
    (("user", "invite", "--name", "BOB", "--email", "x@example.org"), REFUSED, "taken"),
    (("user", "block", "ada"), REFUSED, "An administrator cannot be blocked."),
    (("user", "unblock", "nobody"), REFUSED, "Account nobody does not exist."),
    (("user", "reset-api-key", "nobody"), REFUSED, "Account nobody does not exist."),
    (("user", "reset-password", "bob", "--password", "short"), REFUSED, "password: Use 10 to"),
    (("user", "remove-factors", "nobody", "--yes"), REFUSED, "Account nobody does not exist."),
    (("user", "remove-factors", "bob"), USAGE, "Confirm with --yes"),
    (("user", "delete", "bob"), USAGE, "Confirm with --yes"),
    (("user", "delete", "bob", "--yes"), REFUSED, "bob owns projects: birds, bare."),
    (("user", "delete", "ada", "--yes"), REFUSED, "last administrator"),
    (("user", "export", "bob"), USAGE, "--to"),
    (("user", "export", "bob", "--to", "birds/project.json"), REFUSED, "birds/project.json already exists."),
    (("webhook", "list", "birds"), USAGE, "unexpected extra argument"),
    (("webhook", "show", "nothing"), REFUSED, "Project nothing does not exist."),
    (("webhook", "show", "birds", GONE), REFUSED, "Delivery 999 of birds does not exist."),
    (("webhook", "test", "birds"), REFUSED, "The project has no webhook."),
    (("webhook", "redeliver", "birds"), USAGE, "Choose deliveries"),
    (("webhook", "redeliver", "birds", "--failed"), REFUSED, "The project has no webhook."),
    (("webhook", "redeliver", "birds", "--failed", "--from", "1"), USAGE, "Choose deliveries"),
    (("webhook", "redeliver", "birds", "--to", "3"), USAGE, "Choose deliveries"),
    (("webhook", "backfill", "birds"), REFUSED, "The project has no webhook."),
    (("webhook", "on", "birds"), REFUSED, "The project has no webhook."),
]


@pytest.fixture(scope="module")
def before(stage: Any) -> list[dict[str, Any]]:
    """How much there is on the stage."""
    return stage.counts()


@pytest.mark.parametrize(
    ("words", "status", "said"), REFUSALS, ids=lambda value: " ".join(value)[:60] if isinstance(value, tuple) else ""
)
def test_it_is_refused_in_a_sentence_and_nothing_changes(stage, before, words, status, said):
    assert said in stage.crowdctl.refused(*words, status=status)
    assert stage.counts() == before


def test_digits_that_are_an_id_and_a_nickname_are_nobodys(stage):
    """A person who takes another's id for a nickname is not made an administrator by mistake."""
    bob = stage.crowdctl.json("user", "show", "bob")["id"]
    words = ("--name", f"00{bob}", "--email", "two@example.org", "--password", "good enough")
    impostor = stage.crowdctl.json("user", "create", *words)
    error = stage.crowdctl.refused("admin", "add", f"00{bob}")
    assert "the id of one account and the user name of another" in error
    assert stage.crowdctl.json("user", "show", "two@example.org")["id"] == impostor["id"]
