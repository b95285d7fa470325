"""Letters with links: signing up, new addresses, forgotten passwords; what they tell whom, once, in the same time."""

import base64
import re
from urllib.parse import parse_qsl, urlsplit

import orjson
import pytest
import pytest_twisted
from support.browsers import PASSWORD, newcomer, registration, sign_in, signed_in, who
from support.checks.shows import shows
from support.servers.queue_runner import worked

from crowdd.database.connection import Connection
from crowdd.features.accounts import passwords
from crowdd.features.accounts.feature import AccountsFeature
from crowdd.kernel.logs import request_id

CONFIRM = {"CROWDD_ACCOUNTS_CONFIRM_EMAIL": "on"}
ASKED = "If there is an account with this address, we have sent it an e-mail with a link to choose a new password."
NEW = {"new_password": "a new password", "confirm": "a new password"}


async def letters(served):
    """The e-mails so far, the oldest first, each with the path of its link."""
    rows = await served.database.fetch("SELECT recipient, template, subject, text, html FROM mail ORDER BY id")
    for row in rows:
        url_match = re.search(r"(https?://\S+)", row["text"] or "")
        address = urlsplit(url_match.group(1)) if url_match else None
        row["link"] = f"{address.path}?{address.query}" if address and address.query else None
        row["url"] = url_match.group(1) if url_match else None
    return rows


async def forget(served, email, browser=None):
    answer = await (browser or served.client()).send_form("/account/forgot-password", {"email_addr": email})
    await worked(served)
    return answer


async def last_link(served):
    return (await letters(served))[-1]["link"]


async def register(served, name, browser=None, /, **changes):
    return await (browser or served.client()).send_form("/account/register", registration(name, **changes))


# Signing up


@shows("account-register-sent")
@pytest.mark.parametrize(
    ("host", "confirm_email", "status"),
    [("", "auto", "success"), ("127.0.0.1", "auto", "sent"), ("127.0.0.1", "off", "success"), ("", "on", "sent")],
)
@pytest_twisted.ensureDeferred
async def test_addresses_are_confirmed_as_soon_as_there_is_a_mail_host_unless_the_setting_says_otherwise(
    serve, host, confirm_email, status
):
    mail = {"CROWDD_MAIL_HOST": host, "CROWDD_MAIL_SENDER": "crowdd@example.org" if host else ""}
    chosen = {} if confirm_email == "auto" else {"CROWDD_ACCOUNTS_CONFIRM_EMAIL": confirm_email}
    served = await serve(**mail, **chosen)
    assert (await register(served, "ada")).json()["status"] == status
    assert len(await served.database.fetch("SELECT FROM account")) == (status == "success")


# Forgotten passwords


@shows("account-forgot", "account-reset")
@pytest_twisted.ensureDeferred
async def test_the_keys_of_forgot_and_reset(served):
    await served.person("ada")
    page = (await served.client().page("/account/forgot-password")).json()
    assert page.keys() == {"form", "template", "title"} and page["form"].keys() == {"email_addr", "csrf", "errors"}
    asked = (await forget(served, "ada@example.org")).json()
    assert asked.keys() == {"form", "template", "title", "flash", "status"}
    wrong = (await forget(served, "nonsense")).json()
    assert (wrong["status"], list(wrong["form"]["errors"])) == ("error", ["email_addr"])
    link = await last_link(served)
    reset = (await served.client().page(link)).json()
    assert reset.keys() == {"form", "template", "title", "ways_in"}
    assert reset["form"].keys() == {"confirm", "csrf", "current_password", "errors", "new_password"}
    done = (await served.client().send_form(link, NEW)).json()
    assert done.keys() == {"flash", "status", "next"} and (done["status"], done["next"]) == ("success", "/")
    assert (await served.client().get("/account/forgot-password")).status == 200


@shows("account-reset")
@pytest_twisted.ensureDeferred
async def test_a_link_gives_a_new_password_once_and_ends_every_session(served):
    thief = await newcomer(served, "ada")
    await forget(served, " ADA@example.org ")
    (letter,) = await letters(served)
    assert (letter["recipient"], letter["template"]) == ("ada@example.org", "reset_password")
    assert letter["url"].startswith(served.house.base.settings.base_url) and letter["url"] in letter["html"].replace(
        "&amp;", "&"
    )
    browser = served.client()
    for sent, field in (
        ({"new_password": "short", "confirm": "short"}, "new_password"),
        ({**NEW, "confirm": "x"}, "confirm"),
    ):
        refused = (await browser.send_form(letter["link"], sent)).json()
        assert list(refused["form"]["errors"]) == [field] and refused["form"]["new_password"] is None
    html = await browser.get(letter["link"])
    assert html.status == 200 and 'autocomplete="new-password"' in html.text
    assert (await browser.send_form(letter["link"], NEW)).json()["status"] == "success"
    assert (await who(browser), await who(thief)) == ("ada", None)
    assert (await sign_in(served.client(), "ada", NEW["confirm"])).json()["status"] == "success"
    for answer in (await served.client().page(letter["link"]), await served.client().get(letter["link"])):
        assert answer.status == 403
    token = (await browser.page("/account/ada/update")).json()["form"]["csrf"]
    again = await browser.post(letter["link"], json=NEW, headers={"X-CSRFToken": token})
    assert again.status == 403 and await who(browser) == "ada"


@pytest_twisted.ensureDeferred
async def test_a_link_that_is_old_replaced_or_made_up_gives_nothing(served):
    await served.person("ada")
    links = []
    for _ in range(3):
        await forget(served, "ada@example.org")
        links.append(await last_link(served))
    second = links[2]
    assert [(await served.client().page(link)).status for link in links] == [403, 200, 200]
    await served.database.execute("UPDATE clock_shift SET ahead = '5 hours 1 minute'")
    assert (await served.client().page(second)).status == 403
    for key in ("", "x", "x" * 5000, "%00", "../..", second.partition("key=")[2][:-1]):
        assert (await served.client().page(f"/account/reset-password?key={key}")).status in (403, 415), key
    assert (await served.client().page("/account/reset-password")).status == 403
    key = await served.house[AccountsFeature].accounts.first_admin_link() or "none"
    assert (await served.client().page(f"/account/reset-password?key={key}")).status == 403


@pytest_twisted.ensureDeferred
async def test_a_link_of_one_purpose_is_of_no_use_for_another(serve):
    served = await serve(**CONFIRM)
    await served.person("ada")
    await forget(served, "ada@example.org")
    reset = await last_link(served)
    await register(served, "bob")
    confirm = await last_link(served)
    assert (
        await served.client().page(reset.replace("/account/reset-password", "/account/register/confirmation"))
    ).status == 403
    assert (
        await served.client().page(confirm.replace("/account/register/confirmation", "/account/reset-password"))
    ).status == 403


@pytest_twisted.ensureDeferred
async def test_changing_password_or_address_ends_links_that_are_out(served):
    ada = await newcomer(served, "ada")
    form = (await ada.page("/account/ada/update")).json()["form"]
    await forget(served, "ada@example.org")
    first = await last_link(served)
    body = {"btn": "Profile", "email_addr": "new@example.org"}
    await ada.post("/account/ada/update", json=body, headers={"X-CSRFToken": form["csrf"]})
    assert (await served.client().page(first)).status == 403
    assert [(letter["recipient"], letter["template"]) for letter in await letters(served)][-1] == (
        "ada@example.org",
        "address_changed",
    )
    await forget(served, "new@example.org")
    second = await last_link(served)
    body = {"btn": "Password", "current_password": PASSWORD, **NEW}
    assert (await ada.post("/account/ada/update", json=body, headers={"X-CSRFToken": form["csrf"]})).json()[
        "status"
    ] == "success"
    assert (await served.client().page(second)).status == 403
    assert [(letter["recipient"], letter["template"]) for letter in await letters(served)][-1] == (
        "new@example.org",
        "password_changed",
    )


@shows("account-forgot")
@pytest_twisted.ensureDeferred
async def test_who_has_no_account_or_is_blocked_gets_the_same_answer_and_no_letter(served):
    await served.person("ada")
    await served.person("bad")
    await served.database.execute("""UPDATE account SET "restrict" = true WHERE name = 'bad'""")
    answers = [
        (await forget(served, address)).json()
        for address in ("ada@example.org", "nobody@example.org", "bad@example.org")
    ]
    for answer in answers:
        answer["form"].pop("csrf")
    assert answers == [answers[0]] * 3 and (answers[0]["flash"], answers[0]["status"]) == (ASKED, "success")
    assert [letter["recipient"] for letter in await letters(served)] == ["ada@example.org"]
    stored = await served.database.fetch(
        "SELECT q::text AS t FROM queue_item q UNION ALL SELECT a::text FROM attempt_count a"
    )
    assert not [row for row in stored if "example.org" in row["t"]]


@pytest_twisted.ensureDeferred
async def test_nobody_floods_a_mailbox(served):
    await served.person("ada")
    statuses = [(await forget(served, "ada@example.org")).status for _ in range(5)]
    assert statuses == [200, 200, 200, 429, 429] and len(await letters(served)) == 3
    assert (await forget(served, "other@example.org")).status == 200


@pytest_twisted.ensureDeferred
async def test_links_name_the_configured_address_whatever_the_host_header_says(serve):
    served = await serve(CROWDD_HTTP_ALLOWED_HOSTS="evil.example")
    await served.person("ada")
    browser = served.client()
    for headers in ({"Host": "evil.example"}, {"X-Forwarded-Host": "evil.example"}, {"Forwarded": "host=evil.example"}):
        token = (await browser.page("/account/forgot-password")).json()["form"]["csrf"]
        sent = {"X-CSRFToken": token, "Content-Type": "application/json", **headers}
        await browser.post("/account/forgot-password", data=b'{"email_addr": "ada@example.org"}', headers=sent)
        await worked(served)
        letter = (await letters(served))[-1]
        assert "evil" not in letter["text"] + letter["html"] and letter["url"].startswith(
            served.house.base.settings.base_url
        )


# Signing up with an e-mail


@shows("account-register-sent", "format-status")
@pytest_twisted.ensureDeferred
async def test_an_account_comes_into_being_by_its_link(serve):
    served = await serve(**CONFIRM)
    browser = served.client()
    sent = await register(served, "ada", browser)
    assert sent.json().keys() == {"status", "template", "title"} and sent.json()["status"] == "sent"
    assert (await served.database.fetch("SELECT count(*) AS n FROM account"))[0]["n"] == 0 and await who(
        browser
    ) is None
    (letter,) = await letters(served)
    assert (letter["recipient"], letter["template"]) == ("ada@example.org", "confirm_registration")
    assert PASSWORD not in letter["text"] and letter["link"].startswith("/account/register/confirmation?key=")
    elsewhere = served.client()
    opened = await elsewhere.get(letter["link"], headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document"})
    assert "Create my account" in opened.text and await who(elsewhere) is None
    token = re.search(r'name="csrf_token" value="([^"]+)"', opened.text.partition("<main")[2]).group(1)
    done = await elsewhere.post(letter["link"], data={"csrf_token": token})
    assert (done.status, done.header("location"), await who(elsewhere)) == (302, "/", "ada")
    me = (await elsewhere.page("/account/profile")).json()["user"]
    assert (me["valid_email"], me["email_addr"], me["admin"]) == (True, "ada@example.org", False)
    assert (await sign_in(served.client(), "ada")).json()["status"] == "success"
    assert (await served.client().page(letter["link"])).status == 403


@shows("account-register-sent")
@pytest_twisted.ensureDeferred
async def test_a_front_end_confirms_by_get(serve):
    served = await serve(**CONFIRM)
    await register(served, "ada")
    browser = served.client()
    done = (await browser.page(await last_link(served))).json()
    assert (done["next"], done["status"], done["flash"]) == ("/", "success", "Thanks for signing up.") and await who(
        browser
    ) == "ada"


@pytest_twisted.ensureDeferred
async def test_an_address_that_is_known_is_told_to_its_owner_only(serve):
    served = await serve(**CONFIRM)
    await served.person("ada")
    answers = [
        (await register(served, name, email_addr=address)).json()
        for name, address in (("bob", "ADA@example.org"), ("carl", "carl@example.org"))
    ]
    assert answers[0] == answers[1]
    known, new = await letters(served)
    assert (known["recipient"], known["template"]) == ("ada@example.org", "known_address")
    assert new["template"] == "confirm_registration"
    browser = served.client()
    assert (await browser.send_form(known["link"], NEW)).json()["status"] == "success" and await who(browser) == "ada"
    taken = (await register(served, "ada", email_addr="other@example.org")).json()
    assert taken["form"]["errors"] == {"name": ["This name is taken."]}


@pytest_twisted.ensureDeferred
async def test_nobody_takes_an_account_over_by_a_link(serve):
    """PyBossa replaced the address of the person who had the name by then."""
    served = await serve(**CONFIRM)
    await register(served, "ada", email_addr="mallory@example.org")
    link = await last_link(served)
    await served.person("ada")
    browser = served.client()
    assert (await browser.page(link)).status == 403 and await who(browser) is None
    row = await served.house[AccountsFeature].accounts.find("ada")
    assert row["email_addr"] == "ada@example.org"


@pytest_twisted.ensureDeferred
async def test_the_newest_letter_counts_and_nothing_is_stored_in_clear(serve):
    served = await serve(**CONFIRM)
    await register(served, "ada")
    first = await last_link(served)
    await register(served, "byron", email_addr="ada@example.org")
    await register(served, "lovelace", email_addr="ada@example.org")
    second = await last_link(served)
    assert (await served.client().page(first)).status == 403
    stored = " ".join(row["t"] for row in await served.database.fetch("SELECT l::text AS t FROM one_time_link l"))
    # No name that hexadecimal digits could spell by chance.
    assert "lovelace" not in stored and "example.org" not in stored and "argon2" not in stored
    assert second.partition("key=")[2] not in stored
    assert (await served.client().page(second)).json()["status"] == "success"


@pytest_twisted.ensureDeferred
async def test_headers_cannot_be_added_to_letters(serve):
    served = await serve(**CONFIRM)
    for changes, field in (
        ({"email_addr": "a@example.org\r\nBcc: all@example.org"}, "email_addr"), ({"email_addr": "a@example.org,b@example.org"}, "email_addr"),
        ({"email_addr": "A <a@example.org>"}, "email_addr"), ({"email_addr": '"a\nb"@example.org'}, "email_addr"),
        ({"fullname": "Ada\r\nBcc: all@example.org"}, "fullname"), ({"fullname": "Ada\u2028Bcc: x"}, "fullname"), ({"name": "a\r\nb"}, "name"),
    ):  # fmt: skip
        form = {**registration("ada"), **changes}
        refused = (await served.client().send_form("/account/register", form)).json()
        assert list(refused["form"]["errors"]) == [field], changes
    await register(served, "ada", fullname="Buy at evil.example <b>x</b> {{ 7*7 }} %(site)s")
    (letter,) = await letters(served)
    assert not any("evil" in letter[part] or "<b>" in letter[part] for part in ("subject", "text", "html"))


@pytest_twisted.ensureDeferred
async def test_answers_of_this_browser_are_claimed_after_the_letter(serve):
    served = await serve(**CONFIRM)
    owner = await served.person("owner")
    birds = await served.project(owner, tasks=1, published=True)
    browser = served.client()
    await browser.get("/about")
    task = (await browser.get(f"/api/{birds['id']}/newtask")).json()
    await browser.post("/api/taskrun", json={"project_id": birds["id"], "task_id": task["id"], "info": 1})
    await register(served, "ada", browser, claim="y")
    done = (await browser.page(await last_link(served))).json()
    assert done["flash"] == "One answer is now under your name."
    assert (await browser.page("/account/profile")).json()["user"]["n_answers"] == 1


# New addresses


@shows("account-update-email")
@pytest_twisted.ensureDeferred
async def test_a_new_address_counts_when_its_link_is_opened(serve):
    served = await serve(**CONFIRM)
    await served.person("ada")
    ada = await signed_in(served, "ada")
    form = (await ada.page("/account/ada/update")).json()["form"]
    body = {**form, "btn": "Profile", "email_addr": "new@example.org", "fullname": "Countess"}
    done = (await ada.post("/account/ada/update", json=body, headers={"X-CSRFToken": form["csrf"]})).json()
    assert done["status"] == "success" and "open the link" in done["flash"]
    me = (await ada.page("/account/profile")).json()["user"]
    assert (me["email_addr"], me["fullname"], me["valid_email"], me["confirmation_email_sent"]) == (
        "ada@example.org", "Countess", False, True,
    )  # fmt: skip
    letter = (await letters(served))[-1]
    assert (letter["recipient"], letter["template"]) == ("new@example.org", "confirm_address")
    assert "Confirm the address" in (await ada.get(letter["link"])).text
    assert (await served.client().page(letter["link"])).json()["next"] == "/account/profile"
    me = (await ada.page("/account/profile")).json()["user"]
    assert (me["email_addr"], me["valid_email"], me["confirmation_email_sent"]) == ("new@example.org", True, False)
    assert [(each["recipient"], each["template"]) for each in await letters(served)][-1] == (
        "ada@example.org",
        "address_changed",
    )


@pytest_twisted.ensureDeferred
async def test_an_address_of_somebody_else_is_not_betrayed(serve):
    served = await serve(**CONFIRM)
    await served.person("ada")
    await served.person("bob")
    ada = await signed_in(served, "ada")
    pages = []
    for address in ("bob@example.org", "free@example.org"):
        form = (await ada.page("/account/ada/update")).json()["form"]
        body = {"btn": "Profile", "email_addr": address}
        pages.append((await ada.post("/account/ada/update", json=body, headers={"X-CSRFToken": form["csrf"]})).json())
    assert pages[0] == pages[1]
    assert [(each["recipient"], each["template"]) for each in await letters(served)] == [
        ("bob@example.org", "known_address"), ("free@example.org", "confirm_address"),
    ]  # fmt: skip


@shows("account-confirm-email")
@pytest_twisted.ensureDeferred
async def test_asking_for_a_letter_that_confirms(serve, settings):
    served = await serve(**CONFIRM)
    await served.person("ada")
    ada = await signed_in(served, "ada")
    assert (await ada.page("/account/profile")).json()["user"]["valid_email"] is False
    answer = (await ada.page("/account/confirm-email")).json()
    assert answer.keys() == {"flash", "status", "next"} and answer["status"] == "success"
    crossing = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document"}
    before = len(await letters(served))
    asked = await ada.get("/account/confirm-email", headers=crossing)
    assert 'action="/account/confirm-email"' in asked.text and len(await letters(served)) == before
    await served.client().page(await last_link(served))
    assert (await ada.page("/account/profile")).json()["user"]["valid_email"] is True
    assert (await ada.page("/account/confirm-email")).json()["status"] == "info"
    assert (await served.client().page("/account/confirm-email")).status == 302
    plain = await serve()
    assert (await (await signed_in(plain, "ada")).page("/account/confirm-email")).status == 404


@shows("cors-spa")
@pytest_twisted.ensureDeferred
async def test_letters_lead_to_a_front_end_elsewhere(serve):
    served = await serve(CROWDD_HTTP_SPA_BASE_URL="https://front.example/", **CONFIRM)
    await register(served, "ada")
    url = urlsplit((await letters(served))[-1]["url"])
    assert (url.scheme, url.netloc, url.path) == ("https", "front.example", "/account/register/confirmation")
    message = orjson.loads(base64.urlsafe_b64decode(dict(parse_qsl(url.query))["flash"]))
    assert message.keys() == {"flash", "status"}
    assert (await served.client().page(f"{url.path}?{url.query}")).json()["status"] == "success"


@pytest_twisted.ensureDeferred
async def test_letters_speak_the_language_of_their_reader(served):
    await served.person("ada")
    await served.database.execute("UPDATE account SET locale = 'ar'")
    await forget(served, "ada@example.org")
    (letter,) = await letters(served)
    assert 'dir="rtl"' in letter["html"]


# The same work for a known address and an unknown one


HASHED = "a password is hashed"


def hashing(said, act):
    """The same, and it is noted."""

    def noted(self, *words):
        said.append(HASHED)
        return act(self, *words)

    return noted


async def statements(ask, said):
    """The statements and hashes for each of both: the fewest of some tries, since jobs of the server run meanwhile."""
    tries = {"known": [], "unknown": []}
    for number in range(20):
        for name, heard in tries.items():
            ready = await ask(name, 1000 + number)
            said.clear()
            assert (await ready()).status == 200
            heard.append(list(said))
        fewest = {name: min(heard, key=len) for name, heard in tries.items()}
        if fewest["known"] == fewest["unknown"]:
            break
    return fewest


@pytest_twisted.ensureDeferred
async def test_work_tells_nobody_which_addresses_are_known(serve, monkeypatch):
    """The same statements in the same order, and as many hashes of passwords. How long it takes: bench/addresses.py."""
    served = await serve(CROWDD_ACCOUNTS_MAX_LOGIN_FAILURES="100000", CROWDD_QUEUE_WORKERS="0", **CONFIRM)
    await served.person("known")
    calls, run = [], Connection.run

    def noted(self, sql, *more, **named):
        if request_id.get():  # not what jobs and workers ask for meanwhile
            calls.append(str(sql))
        return run(self, sql, *more, **named)

    monkeypatch.setattr(Connection, "run", noted)
    hasher = passwords._HASHER
    for name in ("hash", "verify"):  # either is the same work
        monkeypatch.setattr(type(hasher), name, hashing(calls, getattr(type(hasher), name)))

    def asking(path, form):
        async def prepared(name, number):
            browser = served.client()
            token = (await browser.page(path)).json()["form"]["csrf"]
            await served.database.execute("DELETE FROM attempt_count")
            await served.database.execute("DELETE FROM queue_item")
            await served.database.execute("DELETE FROM mail")
            body = form(name, f"{name}@example.org", number)
            return lambda: browser.post(path, json=body, headers={"X-CSRFToken": token})

        return prepared

    forms = {
        "/account/signin": lambda name, email, n: {"email": email, "password": "not the password"},
        "/account/forgot-password": lambda name, email, n: {"email_addr": email},
        "/account/register": lambda name, email, n: registration(f"{name}{n}", email_addr=email),
    }
    for path, form in forms.items():
        asked = await statements(asking(path, form), calls)
        assert asked["known"] == asked["unknown"] and len(asked["known"]) >= 2, path
    assert HASHED in asked["known"], "a hash is noted"


@pytest_twisted.ensureDeferred
async def test_only_they_themselves_read_that_e_mails_come_back(served):
    ada = await served.person("ada")
    words = "E-mails to this address come back."
    assert words not in (await ada.get("/account/profile")).text
    await served.database.execute(
        "INSERT INTO mail (created, recipient, template, locale, subject, state, due, error, returned)"
        " VALUES (clock(), %(to)s, 'test', 'en', '', 'dead', clock(), '5.1.1 <b>gone', true)",
        {"to": "Ada@example.org"},
    )
    page = (await ada.get("/account/profile")).text
    assert words in page and "5.1.1 &lt;b&gt;gone" in page
    for other in (served.client(), await served.person("ben")):
        assert words not in (await other.get("/account/ada/")).text
        assert "5.1.1" not in (await other.get("/account/ada/?response_format=json")).text
    assert "5.1.1" not in (await ada.get("/account/profile?response_format=json")).text
