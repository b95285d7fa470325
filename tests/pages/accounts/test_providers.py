"""Signing in with google, github and orcid, against a provider on loopback: what is believed, and what is not."""

import re
from urllib.parse import parse_qs, parse_qsl, quote, urlsplit

import attrs
import jwt
import orjson
import pytest
import pytest_twisted
import treq
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from support.browsers import newcomer, registration, sign_in, who
from support.checks.shows import shows
from support.servers.openid import CLIENT, OpenIdProvider, Person, keys
from twisted.internet import reactor

ALL = ("google", "github", "orcid")


@pytest.fixture
def provider():
    made = OpenIdProvider(reactor)
    yield made
    pytest_twisted.blockon(made.stop())


@pytest_twisted.async_yield_fixture
async def site(serve, provider):
    yield await serve(**provider.settings(*ALL))


async def out(browser, name="google", next_="/"):
    """To the provider and its consent; the path with which it sends the browser back."""
    begun = await browser.page(f"/{name}/?next={quote(next_)}")
    assert begun.status == 200, begun.body
    consent = await treq.get(begun.json()["next"], allow_redirects=False)
    back = urlsplit(consent.headers.getRawHeaders("location")[0])
    return f"{back.path}?{back.query}"


async def come(browser, name="google", next_="/"):
    """The whole way; where it ends."""
    return (await browser.get(await out(browser, name, next_))).header("location")


async def told(browser):
    """The message that waits for the next page."""
    return (await browser.get("/account/signin")).text + (await browser.get("/")).text


async def account(browser):
    return (await browser.page("/account/profile")).json().get("user")


@shows("account-providers", "account-signin")
@pytest_twisted.ensureDeferred
async def test_only_what_is_configured_is_offered(serve, provider):
    served = await serve(**provider.settings("orcid"))
    page = (await served.client().page("/account/signin")).json()
    assert page["auth"] == {"google": False, "github": False, "orcid": True}
    html = (await served.client().get("/account/signin")).text
    assert 'href="/orcid/"' in html and "/google/" not in html
    assert (await served.client().page("/google/")).status == 404
    assert (await served.client().page("/google/oauth_authorized?code=x&state=y")).status == 404


@shows("account-providers")
@pytest.mark.parametrize("name", ALL)
@pytest_twisted.ensureDeferred
async def test_somebody_new_gets_an_account_and_comes_back_to_it(site, provider, name):
    browser = site.client()
    assert await come(browser, name, "/project/birds/") == "/project/birds/"
    me = await account(browser)
    assert (me["name"], me["fullname"], me["email_addr"]) == (
        "jsc" if name == "github" else "josiahcarberry",
        "Josiah Carberry",
        "jsc@brown.example",
    )
    assert (
        me[f"{name}_user_id"] == ("583231" if name == "github" else provider.person.sub) and me["valid_email"] is True
    )
    again = site.client()
    await come(again, name)
    assert (await account(again))["id"] == me["id"]
    scope = provider.last["scope"]
    assert scope == {"google": "openid email profile", "github": "read:user user:email", "orcid": "openid"}[name]


@shows("caller-one-person-begins")
@pytest_twisted.ensureDeferred
async def test_what_a_browser_has_answered_is_answered_for_who_signs_in_with_a_provider(site):
    await come(site.client())
    project = await site.project(await site.person("owner"), tasks=2, published=True, n_answers=2)
    browser, path = site.client(), f"/api/project/{project['id']}/newtask"
    await browser.get("/about")
    first = (await browser.get(path)).json()["id"]
    await browser.post("/api/taskrun", json={"project_id": project["id"], "task_id": first, "info": "yes"})
    await come(browser)
    assert (await account(browser))["name"] == "josiahcarberry"
    assert (await browser.get(path)).json()["id"] != first


@pytest_twisted.ensureDeferred
async def test_a_name_that_is_taken_gets_a_number(site, provider):
    await site.person("jsc")
    browser = site.client()
    await come(browser, "github")
    assert await who(browser) == "jsc2"


@shows("account-providers")
@pytest_twisted.ensureDeferred
async def test_nobody_takes_an_account_over_by_its_address(site, provider):
    await site.person("ada")
    provider.person = Person(email="ADA@example.org")
    browser = site.client()
    assert await come(browser) == "/account/signin"
    assert await who(browser) is None and "connect Google in your settings" in await told(browser)
    provider.person = Person(email="ada@example.org", verified=False)
    assert (await come(browser)).startswith("/account/register") and await who(browser) is None


@pytest_twisted.ensureDeferred
async def test_who_brings_no_address_is_asked_for_one_and_needs_no_password(site, provider):
    provider.person = Person(email="", verified=False)
    browser = site.client()
    assert await come(browser, "orcid") == "/account/register?next=/"
    page = await browser.get("/account/register")
    assert "ORCID confirmed who you are" in page.text and 'type="password"' not in page.text
    form = (await browser.page("/account/register")).json()["form"]
    assert (form["fullname"], form["name"]) == ("Josiah Carberry", "josiahcarberry")
    refused = await browser.send_form("/account/register", {"name": "j", "fullname": "", "email_addr": "x"})
    assert set(refused.json()["form"]["errors"]) == {"name", "fullname", "email_addr"}
    sent = {"name": "josiah", "fullname": "Josiah C.", "email_addr": "jo@example.org"}
    assert (await browser.send_form("/account/register", sent)).json()["status"] == "success"
    me = await account(browser)
    assert (me["name"], me["orcid_user_id"]) == ("josiah", provider.person.sub)
    assert "newcomer" not in browser.cookies
    assert (await sign_in(site.client(), "josiah", "")).json()["status"] == "error"
    again = site.client()
    await come(again, "orcid")
    assert await who(again) == "josiah"


@shows("account-providers-connect")
@pytest_twisted.ensureDeferred
async def test_an_account_is_connected_and_disconnected(site, provider):
    ada = await newcomer(site, "ada")
    settings = await ada.get("/account/ada/update")
    assert '<form method="post" action="/orcid/">' in settings.text
    assert await come(ada, "orcid") == "/account/ada/update"
    assert (await account(ada))["orcid_user_id"] == provider.person.sub
    stranger = site.client()
    await come(stranger, "orcid")
    assert await who(stranger) == "ada"
    done = await ada.send_form("/account/ada/unlink", {"provider": "orcid"}, token_from="/account/ada/update")
    assert done.json()["status"] == "success" and (await account(ada))["orcid_user_id"] is None
    assert (
        await ada.send_form("/account/ada/unlink", {"provider": "orcid"}, token_from="/account/ada/update")
    ).status == 404
    assert (await ada.get("/api/token")).json() == {}


@pytest_twisted.ensureDeferred
async def test_one_identity_is_of_one_account(site, provider):
    ada, bob = await newcomer(site, "ada"), await newcomer(site, "bob")
    await come(ada)
    assert await come(bob) == "/account/profile"
    assert (await account(bob))["google_user_id"] is None and "Another account is connected" in (
        await bob.get("/")
    ).text


@shows("account-providers-connect")
@pytest_twisted.ensureDeferred
async def test_the_last_way_in_stays_open(site, provider):
    browser = site.client()
    await come(browser)
    name = await who(browser)
    done = await browser.send_form(
        f"/account/{name}/unlink", {"provider": "google"}, token_from=f"/account/{name}/update"
    )
    assert done.json()["status"] == "error" and (await account(browser))["google_user_id"]
    await come(browser, "orcid")
    done = await browser.send_form(
        f"/account/{name}/unlink", {"provider": "google"}, token_from=f"/account/{name}/update"
    )
    assert done.json()["status"] == "success"


@shows("get-asks")
@pytest_twisted.ensureDeferred
async def test_connecting_asks_first_and_leads_on_by_a_page(site):
    ada = await newcomer(site, "ada")
    for headers in ({}, {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document"}, {"Sec-Fetch-Site": "none"}):
        asked = await ada.get("/google/", headers=headers)
        assert asked.status == 200 and '<form method="post" action="/google/">' in asked.text
        assert "oauth" not in " ".join(ada.cookies)
    token = re.search(r'name="csrf_token" value="([^"]+)"', asked.text.partition("<main")[2]).group(1)
    assert (await ada.post("/google/")).status == 400
    leaving = await ada.post("/google/", data={"csrf_token": token})
    (target,) = re.findall(r'http-equiv="refresh" content="0; url=([^"]+)"', leaving.text)
    assert leaving.status == 200 and "state=" in target
    assert (await site.client().post("/google/", data={})).status in (302, 400)


@pytest_twisted.ensureDeferred
async def test_a_sign_in_ends_in_the_browser_that_began_it(site, provider):
    ada, mallory = site.client(), site.client()
    back = await out(mallory)
    assert (await ada.get(back)).header("location") == "/account/signin" and await who(ada) is None
    mine = await out(ada)
    state = parse_qs(urlsplit(mine).query)["state"][0]
    for query in (
        mine.replace(state, state[:-1] + ("A" if state[-1] != "A" else "B")), mine.replace(state, ""), mine.split("&")[0],
        back.replace(parse_qs(urlsplit(back).query)["state"][0], "x"), f"/google/oauth_authorized?error=access_denied&state={state}",
    ):  # fmt: skip
        again = site.client()
        again.cookies.update(ada.cookies)
        assert (await again.get(query)).header("location") == "/account/signin", query
        assert await who(again) is None
    assert (await ada.get(mine)).header("location") == "/" and await who(ada)
    assert (await ada.get(mine)).header("location") == "/account/profile"


@pytest_twisted.ensureDeferred
async def test_a_sign_in_is_of_one_provider_and_does_not_last(site):
    browser = site.client()
    back = await out(browser, "google")
    assert (await browser.get(back.replace("/google/", "/orcid/"))).header("location") == "/account/signin"
    late = await out(browser, "google")
    await site.database.execute("UPDATE clock_shift SET ahead = '11 minutes'")
    assert (await browser.get(late)).header("location") == "/account/signin"
    assert await who(browser) is None


@pytest_twisted.ensureDeferred
async def test_who_signed_in_meanwhile_is_not_connected(site):
    browser = site.client()
    back = await out(browser)
    await site.person("ada")
    await sign_in(browser, "ada")
    assert (await browser.get(back)).header("location") == "/account/profile"
    assert (await account(browser))["google_user_id"] is None


def hs256_with_the_public_key(provider):
    pem = keys()["rsa"].public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)

    def sign(claims):
        import base64
        import hashlib
        import hmac

        part = lambda value: base64.urlsafe_b64encode(orjson.dumps(value)).rstrip(b"=")  # noqa: E731
        text = part({"alg": "HS256", "kid": "rsa", "typ": "JWT"}) + b"." + part(claims)
        return (text + b"." + base64.urlsafe_b64encode(hmac.digest(pem, text, hashlib.sha256)).rstrip(b"=")).decode()

    return sign


LIES = {
    "another audience": lambda p: setattr(p, "twist", lambda c: {**c, "aud": "somebody-else"}),
    "two audiences, nobody's party": lambda p: setattr(p, "twist", lambda c: {**c, "aud": [CLIENT, "other"]}),
    "the party is another": lambda p: setattr(p, "twist", lambda c: {**c, "azp": "other"}),
    "another issuer": lambda p: setattr(p, "twist", lambda c: {**c, "iss": "https://accounts.google.com"}),
    "another nonce": lambda p: setattr(p, "twist", lambda c: {**c, "nonce": "x"}),
    "no nonce": lambda p: setattr(p, "twist", lambda c: {k: v for k, v in c.items() if k != "nonce"}),
    "run out": lambda p: setattr(p, "twist", lambda c: {**c, "exp": c["iat"] - 600, "iat": c["iat"] - 900}),
    "not yet valid": lambda p: setattr(p, "twist", lambda c: {**c, "iat": c["iat"] + 900, "exp": c["exp"] + 900}),
    "no end": lambda p: setattr(p, "twist", lambda c: {k: v for k, v in c.items() if k != "exp"}),
    "nobody": lambda p: setattr(p, "twist", lambda c: {**c, "sub": ""}),
    "alg none": lambda p: setattr(p, "sign", lambda c: jwt.encode(c, None, algorithm="none", headers={"kid": "rsa"})),
    "a way that is not agreed on": lambda p: setattr(p, "sign", lambda c: p.honest(c, "rsa", "PS512")),
    "the public key as a secret": lambda p: setattr(p, "sign", hs256_with_the_public_key(p)),
    "the client's secret": lambda p: setattr(p, "sign", lambda c: jwt.encode(c, "a secret between two servers!!!!", algorithm="HS256")),
    "a foreign key": lambda p: setattr(p, "sign", lambda c: jwt.encode(c, keys()["foreign"], algorithm="RS256", headers={"kid": "rsa"})),
    "an unknown key": lambda p: setattr(p, "sign", lambda c: jwt.encode(c, keys()["foreign"], algorithm="RS256", headers={"kid": "x"})),
    "no token": lambda p: setattr(p, "sign", lambda c: None),
    "no text": lambda p: setattr(p, "sign", lambda c: "a.b.c"),
    "changed after signing": lambda p: setattr(p, "sign", lambda c: p.honest(c)[:-6] + "AAAAAA"),
}  # fmt: skip


@pytest_twisted.ensureDeferred
async def test_an_id_token_that_is_not_right_in_everything_signs_nobody_in(serve, provider):
    served = await serve(**provider.settings("google"))
    honest = (provider.twist, provider.sign)
    for words, lie in LIES.items():
        lie(provider)
        browser = served.client()
        assert await come(browser) == "/account/signin", words
        assert await who(browser) is None, words
        provider.twist, provider.sign = honest
    assert (await served.database.fetch("SELECT count(*) AS n FROM account"))[0]["n"] == 0
    browser = served.client()
    provider.sign = lambda claims: provider.honest(claims, "ec", "ES256")
    assert await come(browser) == "/" and await who(browser)


@pytest_twisted.ensureDeferred
async def test_a_provider_changes_its_keys(serve, provider):
    served = await serve(**provider.settings("google"))
    provider.kids = ["rsa"]
    await come(served.client())
    provider.kids, provider.sign = ["ec"], lambda claims: provider.honest(claims, "ec", "ES256")
    assert await come(served.client()) == "/account/signin"
    await served.database.execute("UPDATE clock_shift SET ahead = '61 seconds'")
    browser = served.client()
    assert await come(browser) == "/" and provider.seen.count("/keys") == 2


@pytest_twisted.ensureDeferred
async def test_a_document_of_another_issuer_is_not_followed(serve, provider):
    provider.document = {"issuer": "https://evil.example"}
    served = await serve(**provider.settings("google"))
    assert (await served.client().get("/google/")).header("location") == "/account/signin"
    provider.document = {"token_endpoint": "ftp://evil.example/token"}
    assert (await served.client().get("/google/")).header("location") == "/account/signin"


@pytest_twisted.ensureDeferred
async def test_a_provider_that_is_not_public_is_asked_only_when_allowed(serve, provider):
    settings = {**provider.settings("google"), "CROWDD_OUTGOING_ALLOWED_HOSTS": ""}
    served = await serve(**settings)
    browser = served.client()
    assert (await browser.get("/google/")).header("location") == "/account/signin" and provider.seen == []


@pytest_twisted.ensureDeferred
async def test_what_the_browser_keeps_meanwhile_is_encrypted(site):
    browser = site.client()
    await out(browser)
    assert "verifier" not in browser.cookies["signin_flow"]
    mixed = site.client()
    mixed.cookies["newcomer"] = browser.cookies["signin_flow"]
    assert 'type="password"' in (await mixed.get("/account/register")).text
    mixed.cookies["newcomer"] = "AAAA" + browser.cookies["signin_flow"][4:]
    assert (await mixed.get("/account/register")).status == 200


@pytest.mark.parametrize(
    ("more", "marks", "not_there"),
    [
        ({}, ("SameSite=Lax",), "Secure"),
        ({"CROWDD_HTTP_BASE_URL": "https://crowd.example"}, ("SameSite=Lax", "Secure"), "None"),
        ({"CROWDD_HTTP_CROSS_SITE_COOKIES": "on"}, ("SameSite=None", "Secure"), "Lax"),
    ],
)
@pytest_twisted.ensureDeferred
async def test_the_cookie_of_a_sign_in_is_out_of_reach_and_short(serve, provider, more, marks, not_there):
    served = await serve(**more, **provider.settings("google"))
    lines = (await served.client().get("/google/")).headers.getRawHeaders("set-cookie")
    (line,) = [line for line in lines if line.removeprefix("__Host-").startswith("signin_flow")]
    options = line.split("; ")[1:]  # after the value, in which any letters may stand
    assert {"HttpOnly", "Path=/", "Max-Age=600", *marks} <= {*options} and not any(not_there in one for one in options)


@pytest_twisted.ensureDeferred
async def test_a_blocked_person_does_not_come_in_by_a_provider(site):
    browser = site.client()
    await come(browser)
    await site.database.execute('UPDATE account SET "restrict" = true')
    assert await come(site.client()) == "/account/signin"


@shows("provider-tokens")
@pytest_twisted.ensureDeferred
async def test_ones_own_tokens_over_the_api(site):
    browser = site.client()
    await come(browser, "github")
    await come(browser, "orcid")
    theirs = {"oauth_token": "t0ken-of-theirs"}
    assert (await browser.get("/api/token")).json() == {"github_token": theirs, "orcid_token": theirs}
    assert (await browser.get("/api/token/orcid")).json() == {"orcid_token": theirs}
    for path, status in (("/api/token/google", 404), ("/api/token/nobody", 404)):
        assert (await browser.get(path)).status == status
    anonymous = await site.client().get("/api/token")
    assert (anonymous.status, anonymous.json()["exception_cls"]) == (401, "Unauthorized")
    key = (await account(browser))["api_key"]
    assert (await site.client(key).get("/api/token/github")).json() == {"github_token": theirs}
    assert (await site.client(key).post("/api/token", json={})).status == 405
    stored = await site.database.fetch("SELECT encrypted FROM provider_token")
    assert all(b"t0ken" not in bytes(row["encrypted"]) for row in stored)


@shows("cors-spa")
@pytest_twisted.ensureDeferred
async def test_with_a_front_end_elsewhere_the_way_ends_there(serve, provider):
    served = await serve(CROWDD_HTTP_SPA_BASE_URL="https://front.example/app/", **provider.settings("google"))
    browser = served.client()
    address = urlsplit(await come(browser, next_="/project/birds/"))
    assert (address.scheme, address.netloc, address.path) == ("https", "front.example", "/app/project/birds/")
    import base64

    message = orjson.loads(base64.urlsafe_b64decode(dict(parse_qsl(address.query))["flash"]))
    assert message == {"flash": "Welcome. You signed in with Google.", "status": "success"} and await who(browser)
    refused = urlsplit((await served.client().get("/google/oauth_authorized?code=x&state=y")).header("location"))
    assert refused.path == "/app/account/signin" and "flash=" in refused.query


@pytest_twisted.ensureDeferred
async def test_next_never_leads_away_after_a_provider_either(site):
    for address in ("//evil.example", "https://evil.example", "/\\evil.example", "/\t/evil.example"):
        assert await come(site.client(), next_=address) == "/", address


@pytest_twisted.ensureDeferred
async def test_who_registers_by_password_is_not_given_an_encrypted_identity(site, provider):
    """A cookie of one browser is of no use with the form of another that has none."""
    provider.person = attrs.evolve(Person(), email="", verified=False)
    browser = site.client()
    await come(browser, "orcid")
    plain = site.client()
    await plain.send_form("/account/register", registration("bob"))
    assert (await account(plain))["orcid_user_id"] is None
