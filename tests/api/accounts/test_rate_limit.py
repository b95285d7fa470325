"""The rate limit of the API. Windows are long here, so that none ends within a test."""

import time

import pytest_twisted
from support.browsers import newcomer
from support.checks.shows import shows
from support.wire import exchange

from crowdd.features.signin.feature import SigninFeature
from crowdd.kernel.requester import Requester

LONG = str(365 * 86400)


async def remaining(client, path="/api/category", method="GET"):
    """What the headers say is left, and the status."""
    answer = await client.request(method, path)
    left = answer.header("x-ratelimit-remaining")
    return answer.status, None if left is None else int(left)


@shows("limit-rate", "limit-rate-headers")
@pytest_twisted.ensureDeferred
async def test_three_hundred_pass_and_the_next_is_refused(serve):
    served = await serve(CROWDD_RATELIMIT_LIMIT="300", CROWDD_RATELIMIT_WINDOW=LONG)
    client = served.client()
    seen = [await remaining(client) for _ in range(300)]
    assert [left for _, left in seen] == list(range(299, -1, -1)) and {status for status, _ in seen} == {200}
    before = int(time.time())
    refused = await client.get("/api/category")
    error = refused.json()
    assert (refused.status, error["exception_cls"], error["error_code"]) == (
        429,
        "TooManyRequests",
        "too_many_requests",
    )
    assert (refused.header("x-ratelimit-limit"), refused.header("x-ratelimit-remaining")) == ("300", "0")
    sent = b"GET /api/category HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    assert (await exchange(served.base, sent)).startswith(b"HTTP/1.1 429 Too Many Requests\r\n")
    reset, wait = int(refused.header("x-ratelimit-reset")), int(refused.header("retry-after"))
    assert reset % int(LONG) == 0 and before <= reset - wait <= time.time() + 1


@shows("limit-rate")
@pytest_twisted.ensureDeferred
async def test_a_window_is_a_quarter_of_an_hour(serve):
    client = (await serve(CROWDD_RATELIMIT_LIMIT="300")).client()
    before = time.time()
    reset = int((await client.get("/api/category")).header("x-ratelimit-reset"))
    assert reset % 900 == 0 and before < reset <= time.time() + 900


@shows("limit-rate")
@pytest_twisted.ensureDeferred
async def test_an_endpoint_is_a_route_without_its_id_and_all_its_methods(serve):
    served = await serve(CROWDD_RATELIMIT_LIMIT="20", CROWDD_RATELIMIT_WINDOW=LONG)
    client = served.client()
    for number, (method, path) in enumerate(
        (
            ("GET", "/api/task"), ("GET", "/api/task/1"), ("GET", "/api/task/2"), ("POST", "/api/task"),
            ("PUT", "/api/task/1"), ("DELETE", "/api/task/1"), ("HEAD", "/api/task"), ("OPTIONS", "/api/task"),
            ("PATCH", "/api/task"), ("GET", "//api//task"), ("GET", "/%61pi/task"), ("GET", "/api/task?wrong=1"),
        )
    ):  # fmt: skip
        _, left = await remaining(client, path, method)
        assert left == 19 - number, (method, path)
    for path in ("/api/project", "/api/1/newtask", "/api/project/1/userprogress", "/api/nothing"):
        assert (await remaining(client, path))[1] == 19, path
    assert (await remaining(client, "/api/project/1/newtask"))[1] == 18
    assert (await remaining(client, "/"))[1] is None


@shows("limit-rate-own")
@pytest_twisted.ensureDeferred
async def test_a_caller_with_a_cookie_has_a_window_of_his_own(serve):
    served = await serve(CROWDD_RATELIMIT_LIMIT="2", CROWDD_RATELIMIT_WINDOW=LONG)
    volunteer, session = served.client(), await newcomer(served, "ada")
    await volunteer.get("/about")
    program = served.client()
    for client in (program, volunteer, session):
        assert [(await remaining(client))[0] for _ in range(3)] == [200, 200, 429]
    assert (await remaining(served.client()))[0] == 429


async def statuses(client, times, path="/api/category"):
    """What a client is answered that asks so many times."""
    return [(await client.get(path)).status for _ in range(times)]


@pytest_twisted.ensureDeferred
async def test_a_key_that_is_used_up_leaves_the_house_and_other_keys_alone(serve):
    served = await serve(CROWDD_RATELIMIT_LIMIT="2", CROWDD_RATELIMIT_KEY_LIMIT="3", CROWDD_RATELIMIT_WINDOW=LONG)
    script, colleague, volunteer = await served.person("ada"), await served.person("bob"), served.client()
    assert await statuses(script, 5) == [200, 200, 200, 429, 429]
    assert await statuses(volunteer, 3) == [200, 200, 429]
    assert await statuses(colleague, 4) == [200, 200, 200, 429]


@pytest_twisted.ensureDeferred
async def test_a_house_that_is_used_up_leaves_a_key_alone(serve):
    served = await serve(CROWDD_RATELIMIT_LIMIT="2", CROWDD_RATELIMIT_WINDOW=LONG)
    ada, volunteer = await served.person("ada"), served.client()
    assert await statuses(volunteer, 3) == [200, 200, 429]
    answer = await ada.get("/api/category")
    scope = {name: answer.header(f"x-ratelimit-{name}") for name in ("scope", "limit", "remaining")}
    assert (answer.status, scope) == (200, {"scope": "key", "limit": "300", "remaining": "299"})
    refused = await volunteer.get("/api/category")
    assert (refused.status, refused.header("x-ratelimit-scope")) == (429, "network")


@shows("limit-rate-own")
@pytest_twisted.ensureDeferred
async def test_a_key_and_each_token_have_windows_of_their_own(serve):
    served = await serve(CROWDD_RATELIMIT_KEY_LIMIT="2", CROWDD_RATELIMIT_LIMIT="1", CROWDD_RATELIMIT_WINDOW=LONG)
    ada = await served.person("ada")
    who = Requester(user_id=ada.user_id)
    tokens = [
        await served.house[SigninFeature].api_tokens.create(ada.user_id, n, "read", "", "", who) for n in ("a", "b")
    ]
    for program in (ada, *(served.client(Authorization=token) for token in tokens)):
        assert await statuses(program, 3) == [200, 200, 429]


@shows("limit-rate-own")
@pytest_twisted.ensureDeferred
async def test_wrong_keys_count_for_the_network_whatever_cookie_comes_with_them(serve):
    served = await serve(CROWDD_RATELIMIT_LIMIT="4", CROWDD_RATELIMIT_WINDOW=LONG)
    volunteer = served.client()
    await volunteer.get("/about")
    for number, key in enumerate(("wrong", "crowdd_wrong")):
        for client in (served.client(), volunteer):
            answer = await client.get("/api/category", headers={"Authorization": key})
            counted = answer.header("x-ratelimit-scope"), answer.header("x-ratelimit-remaining")
            assert counted == ("network", str(3 - 2 * number - (client is volunteer)))
    assert await statuses(served.client(Authorization="guess"), 1) == [429] and await statuses(served.client(), 1) == [
        429
    ]
    assert await statuses(volunteer, 1) == [200]


@shows("limit-rate-own")
@pytest_twisted.ensureDeferred
async def test_all_keys_of_an_address_together_have_a_ceiling(serve):
    served = await serve(
        CROWDD_RATELIMIT_KEY_LIMIT="2", CROWDD_RATELIMIT_SHARED_ADDRESS_FACTOR="2", CROWDD_RATELIMIT_LIMIT="2"
    )
    codes = []
    for name in ("ada", "bob", "eve"):
        codes += await statuses(await served.person(name), 2)
    assert codes == [200] * 4 + [429] * 2
    assert await statuses(served.client(), 3) == [200, 200, 429]


@pytest_twisted.ensureDeferred
async def test_several_servers_count_a_key_together(serve):
    limits = {"CROWDD_RATELIMIT_KEY_LIMIT": "12", "CROWDD_RATELIMIT_LIMIT": "6", "CROWDD_RATELIMIT_WINDOW": LONG}
    one, other = [await serve(**limits, CROWDD_RATELIMIT_SHARED="on") for _ in range(2)]
    ada = await one.person("ada")
    codes = [(await server.client(ada.key).get("/api/category")).status for _ in range(8) for server in (one, other)]
    assert codes == [200] * 12 + [429] * 4
    codes = [(await server.client().get("/api/category")).status for _ in range(4) for server in (one, other)]
    assert codes == [200] * 6 + [429] * 2


@shows("limit-rate-own")
@pytest_twisted.ensureDeferred
async def test_all_cookies_of_an_address_together_have_a_ceiling(serve):
    served = await serve(
        CROWDD_RATELIMIT_LIMIT="2", CROWDD_RATELIMIT_SHARED_ADDRESS_FACTOR="2", CROWDD_RATELIMIT_WINDOW=LONG
    )
    statuses = []
    for _ in range(3):
        browser = served.client()
        await browser.get("/about")
        statuses += [(await remaining(browser))[0] for _ in range(2)]
    assert statuses == [200] * 4 + [429] * 2


@shows("limit-rate-proxy")
@pytest_twisted.ensureDeferred
async def test_behind_a_proxy_the_forwarded_address_counts(serve):
    settings = {"CROWDD_RATELIMIT_LIMIT": "1", "CROWDD_RATELIMIT_WINDOW": LONG}
    served = await serve(**settings, CROWDD_HTTP_TRUSTED_PROXIES="127.0.0.1")
    for address, status in (("192.0.2.1", 200), ("192.0.2.2", 200), ("192.0.2.1", 429)):
        assert (await remaining(served.client(**{"X-Forwarded-For": address})))[0] == status
    same_house = ("2001:db8:1:2::1", 200), ("2001:db8:1:2:ffff::9", 429), ("2001:db8:1:3::1", 200)
    for address, status in same_house:
        assert (await remaining(served.client(**{"X-Forwarded-For": address})))[0] == status, address


@shows("limit-rate-proxy")
@pytest_twisted.ensureDeferred
async def test_without_a_trusted_proxy_a_forwarded_address_changes_nothing(serve):
    served = await serve(CROWDD_RATELIMIT_LIMIT="1", CROWDD_RATELIMIT_WINDOW=LONG)
    for address, status in (("192.0.2.1", 200), ("192.0.2.2", 429)):
        assert (await remaining(served.client(**{"X-Forwarded-For": address})))[0] == status


@shows("limit-rate")
@pytest_twisted.ensureDeferred
async def test_a_limit_of_nothing_is_no_limit(served):
    assert await remaining(served.client()) == (200, None)


@shows("limit-rate-presenter")
@pytest_twisted.ensureDeferred
async def test_a_presenter_uses_up_its_own_share_and_nothing_else_of_its_visitor(serve):
    served = await serve(CROWDD_RATELIMIT_LIMIT="5", CROWDD_RATELIMIT_WINDOW=LONG)
    browser = await newcomer(served, "ada")
    marked = {"X-Presenter": "7"}
    statuses = [(await browser.get("/api/task?project_id=7", headers=marked)).status for _ in range(7)]
    assert statuses[:5].count(429) == 0 and statuses[5:] == [429, 429]
    assert await remaining(browser, "/api/task") == (200, 4)
    other = await browser.get("/api/task?project_id=8", headers={"X-Presenter": "8"})
    assert other.status != 429 and other.header("x-ratelimit-remaining") == "4"
