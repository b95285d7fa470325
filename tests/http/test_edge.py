"""What the server decides before a request is a request: framing, host names, bodies, connections, the end."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
import pytest_twisted
from support import wire
from support.checks.shows import shows
from support.until import until
from twisted.internet.defer import ensureDeferred, gatherResults

from crowdd.http.edge import channel, site
from crowdd.http.edge.bodies import BodyLimits, imports_into
from crowdd.http.edge.headers import Hosts
from crowdd.kernel.config import Settings
from crowdd.kernel.config.server import HttpSettings

ROWS = b"[" + b",".join([b'{"project_id":1,"task_id":1,"info":0}'] * 200_000) + b"]"


def status_of(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def head_of(answer: bytes) -> dict[str, str]:
    lines = answer.partition(b"\r\n\r\n")[0].decode().split("\r\n")[1:]
    return {name.lower(): text.strip() for name, _, text in (line.partition(":") for line in lines)}


def settings(**http: Any) -> Settings:
    return Settings(http=HttpSettings(**http))


class TestFraming:
    @pytest.mark.parametrize(
        "head",
        [
            b"GET /api/category HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n",
            b"GET /api/category HTTP/1.1\r\n",
            b"GET /api/category HTTP/1.1\r\nHost: local host\r\n",
            b"GET /api/category HTTP/1.1\r\nHost: localhost\r\nX-A: b\r\n c\r\n",
            b"POST /api/task HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
            b"POST /api/task HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n",
            b"POST /api/task HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n",
            b"POST /api/task HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n",
        ],
        ids=["two hosts", "no host", "odd host", "fold", "chunked and identity", "identity", "gzip", "1.0"],
    )
    @pytest_twisted.ensureDeferred
    async def test_ambiguous_head_is_400_and_closes(self, served, head):
        answer = await wire.exchange(served.base, head + b"\r\n{}GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert status_of(answer) == 400 and answer.count(b"HTTP/1.1 ") == 1
        assert orjson.loads(answer.partition(b"\r\n\r\n")[2])["error_code"] == "bad_request"

    @pytest_twisted.ensureDeferred
    async def test_plain_chunked_body_is_read(self, served):
        status, body = await wire.request(
            served.base, b"POST /api/task", b"Transfer-Encoding: chunked", body=b"2\r\n{}\r\n0\r\n\r\n"
        )
        assert (status, orjson.loads(body)["status_code"]) == (415, 415) or status == 401

    @pytest_twisted.ensureDeferred
    async def test_http_1_0_needs_no_host(self, served):
        assert status_of(await wire.exchange(served.base, b"GET /health HTTP/1.0\r\n\r\n")) == 200


@shows("format-host")
class TestHosts:
    @pytest_twisted.ensureDeferred
    async def test_foreign_host_is_misdirected_and_probes_are_answered(self, served):
        status, body = await wire.request(served.base, b"GET /api/category", b"Host: evil.example")
        assert (status, wire.error_of(body)["error_code"]) == (421, "misdirected")
        for path in (b"/metrics", b"/"):
            assert (await wire.request(served.base, b"GET " + path, b"Host: evil.example"))[0] == 421
        for path in (b"/health", b"/ready"):
            assert (await wire.request(served.base, b"GET " + path, b"Host: 192.0.2.1:80"))[0] == 200
        assert (await wire.request(served.base, b"GET http://evil.example/api/category", b"Host: localhost"))[0] == 421

    @pytest.mark.parametrize(
        ("http", "host", "here", "allowed"),
        [
            ({"base_url": "https://crowd.example"}, b"crowd.example", "10.0.0.5", True),
            ({"base_url": "https://crowd.example"}, b"CROWD.example:8443", "10.0.0.5", True),
            ({"base_url": "https://crowd.example"}, b"10.0.0.5", "10.0.0.5", False),
            ({"base_url": "https://crowd.example"}, b"localhost:8000", "127.0.0.1", True),
            ({"base_url": "https://crowd.example"}, b"localhost:8000", "10.0.0.5", False),
            ({"base_url": "https://crowd.example", "allowed_hosts": ("crowdd",)}, b"crowdd:8000", "10.0.0.5", True),
            ({"base_url": "https://crowd.example"}, b"crowd.example.evil.example", "127.0.0.1", False),
            ({"host": "127.0.0.1"}, b"evil.example", "127.0.0.1", False),
            ({"host": "127.0.0.1"}, b"[::1]:8000", "127.0.0.1", True),
            ({"host": "127.0.0.1"}, b"127.0.0.2", "127.0.0.2", True),
            ({"host": "0.0.0.0"}, b"anything.example", "10.0.0.5", True),
        ],
    )
    def test_which_hosts_are_allowed(self, http, host, here, allowed):
        assert Hosts.of(settings(**http)).allow(b"/api/category", host, here) is allowed

    @pytest_twisted.ensureDeferred
    async def test_answers_name_the_server_without_its_version_and_ask_for_https(self, serve):
        served = await serve(CROWDD_HTTP_BASE_URL="https://crowd.example")
        ask = b"GET %b HTTP/1.1\r\nHost: crowd.example\r\nConnection: close\r\n\r\n"
        for path in (b"/", b"/api/category", b"/static/css/none.css", b"/nowhere"):
            head = head_of(await wire.exchange(served.base, ask % path))
            assert (head["server"], head["strict-transport-security"]) == ("crowdd", "max-age=31536000"), path
        plain = await serve()
        head = head_of(await wire.exchange(plain.base, ask.replace(b"crowd.example", b"localhost") % b"/"))
        assert head["server"] == "crowdd" and "strict-transport-security" not in head


@shows("limit-body")
class TestBodies:
    def test_what_may_be_sent_where(self):
        limits = BodyLimits.of(settings())
        assert (
            limits.limit(b"/api/task", known=False) == limits.limit(b"/project/a/tasks/import", known=False) == 262_144
        )
        assert limits.limit(b"/api/task", known=True) == 10_000_000
        assert limits.limit(b"/project/a/tasks/import?response_format=json", known=True) == 100_000_000
        assert BodyLimits.of(settings(max_body_bytes=100)).limit(b"/", known=False) == 100
        assert [imports_into(path) for path in (b"/project/b%20c/tasks/import/", b"/project/a/tasks")] == ["b c", None]

    @pytest_twisted.ensureDeferred
    async def test_anonymous_array_of_200_000_rows_is_refused_at_its_head(self, served):
        for path in (b"/api/taskrun", b"/api/task"):
            head = b"POST %b HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % (path, len(ROWS))
            status, body = status_and_body(await wire.exchange(served.base, head))
            assert (status, wire.error_of(body)["error_code"]) == (413, "too_large")
            assert "Sign in" in wire.error_of(body)["hint"]

    @pytest_twisted.ensureDeferred
    async def test_anonymous_chunked_body_is_refused_on_its_way(self, served):
        head = b"POST /api/taskrun HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        answer = await wire.exchange(served.base, head + b"%x\r\n%b\r\n" % (len(ROWS), ROWS))
        assert status_of(answer) == 413

    @pytest_twisted.ensureDeferred
    async def test_wrong_key_may_send_no_more_than_none(self, served):
        head = b"POST /api/task?api_key=wrong HTTP/1.1\r\nHost: localhost\r\nContent-Length: 300000\r\n\r\n"
        assert status_of(await wire.exchange(served.base, head)) == 413

    @pytest_twisted.ensureDeferred
    async def test_known_sender_is_asked_for_the_rest_once_looked_up(self, served):
        owner = await served.person("owner")
        body = orjson.dumps({"name": "x" * 300_000})
        head = (
            f"POST /api/project?api_key={owner.key} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            f"Expect: 100-continue\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        sender = await wire.connect(served.base, head.encode())
        await until(lambda: sender.got.startswith(b"HTTP/1.1 100 Continue\r\n\r\n"))
        sender.transport.write(body)
        assert status_of((await sender.closed).partition(b"\r\n\r\n")[2]) == 415
        whole = await owner.post("/api/project", data=body)
        assert whole.status == 415, "sent in one piece it is read as well"

    @pytest_twisted.ensureDeferred
    async def test_known_sender_may_send_chunks_beyond_the_anonymous_limit(self, served):
        owner = await served.person("owner")
        body = orjson.dumps({"name": "x" * 300_000})
        head = f"POST /api/project?api_key={owner.key}".encode()
        chunks = b"".join(
            b"%x\r\n%b\r\n" % (1000, body[at : at + 1000]) for at in range(0, len(body) // 1000 * 1000, 1000)
        )
        rest = body[len(body) // 1000 * 1000 :]
        chunks += (b"%x\r\n%b\r\n" % (len(rest), rest) if rest else b"") + b"0\r\n\r\n"
        assert (await wire.request(served.base, head, b"Transfer-Encoding: chunked", body=chunks))[0] == 415

    @pytest_twisted.ensureDeferred
    async def test_import_is_refused_after_its_head_unless_an_owner_sends_it(self, served):
        owner, stranger = await served.person("owner"), await served.person("stranger")
        await served.project(owner, tasks=1, published=True)
        head = "POST /project/birds/tasks/import HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000000\r\n"
        for who, expected in ((None, 401), (stranger, 403)):
            key = f"Authorization: {who.key}\r\n" if who else ""
            answer = await wire.exchange(served.base, f"{head}{key}\r\n".encode())
            assert status_of(answer) == expected, answer
        allowed = await wire.connect(
            served.base, f"{head}Authorization: {owner.key}\r\nExpect: 100-continue\r\n\r\n".encode()
        )
        await until(lambda: allowed.got)
        assert allowed.got == b"HTTP/1.1 100 Continue\r\n\r\n"
        allowed.transport.abortConnection()

    @pytest.mark.parametrize(("came", "seconds", "late"), [
        (0, 29, False), (0, 31, True), (200_000, 45, False), (200_000, 55, True), (9_000_000, 325, False), (9_000_000, 335, True)
    ])  # fmt: skip
    def test_body_has_a_least_rate_and_a_deadline(self, came, seconds, late):
        receiving = channel.Channel()
        receiving._began, receiving._came = 1000.0, came
        assert receiving.is_late(1000.0 + seconds) is late


def status_and_body(answer: bytes) -> tuple[int, bytes]:
    return status_of(answer), answer.partition(b"\r\n\r\n")[2]


class TestConnections:
    @pytest_twisted.ensureDeferred
    async def test_2000_connections_of_one_network_leave_room_for_others(self, serve):
        served = await serve(CROWDD_HTTP_MAX_CONNECTIONS="1000")
        greedy = await gatherResults([ensureDeferred(wire.connect(served.base, b"", "127.0.0.2")) for _ in range(2000)])
        await until(lambda: sum(one.closed.called for one in greedy) == 2000 - 256)
        assert (await served.client().get("/health")).status == 200
        connections = [one for one in greedy if not one.closed.called]
        connections[0].transport.abortConnection()
        await until(lambda: served.server._site.networks["127.0.0.2"] == 255)
        again = await wire.connect(served.base, b"GET /health HTTP/1.0\r\n\r\n", "127.0.0.2")
        assert status_of(await again.closed) == 200
        for one in connections[1:]:
            one.transport.abortConnection()
        await until(lambda: "127.0.0.2" not in served.server._site.networks)

    @pytest_twisted.ensureDeferred
    async def test_idle_connections_are_closed_but_not_one_that_a_response_is_sent_on(self, serve, monkeypatch):
        monkeypatch.setattr(site, "IDLE_SECONDS", 1)
        monkeypatch.setattr(site, "LOOK_SECONDS", 0.1)
        served = await serve()
        owner = await served.person("owner")
        await served.project(owner, tasks=1, published=True)
        head = f"GET /project/birds/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: {owner.key}\r\n\r\n"
        stream = await wire.connect(served.base, head.encode())
        await until(lambda: stream.got)
        assert status_of(stream.got) == 200
        silent = await wire.connect(served.base, b"")
        half = await wire.connect(served.base, b"GET /health HTTP/1.1\r\n")
        idle = await wire.connect(served.base, b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        for one in (silent, half):
            assert await one.closed == b""
        assert status_of(await idle.closed) == 200
        assert not stream.closed.called
        stream.transport.abortConnection()

    @pytest_twisted.ensureDeferred
    async def test_data_begins_the_time_of_an_idle_connection_again(self, serve):
        served = await serve()
        wire_ = await wire.connect(served.base, b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await until(lambda: wire_.got)
        (here,) = served.server._site.channels
        now = served.server._site.seconds()
        assert not here.is_idle(now + site.IDLE_SECONDS - 5) and here.is_idle(now + site.IDLE_SECONDS + 1)
        here._quiet_since = now - site.IDLE_SECONDS
        assert here.is_idle(now)
        wire_.transport.write(b"GET / HTTP/1.1\r\n")
        await until(lambda: here.is_receiving)
        assert not here.is_idle(now + 5)
        wire_.transport.abortConnection()

    @pytest_twisted.ensureDeferred
    async def test_trusted_proxies_and_a_limit_of_0_count_nobody(self, serve):
        limited = {"CROWDD_HTTP_MAX_CONNECTIONS_PER_NETWORK": "2", "CROWDD_HTTP_TRUSTED_PROXIES": "127.0.0.3"}
        for settings_, source in (
            (limited, "127.0.0.3"),
            ({"CROWDD_HTTP_MAX_CONNECTIONS_PER_NETWORK": "0"}, "127.0.0.2"),
        ):
            served = await serve(**settings_)
            held = [await wire.connect(served.base, b"", source) for _ in range(4)]
            more = await wire.connect(served.base, b"GET /health HTTP/1.0\r\n\r\n", source)
            assert status_of(await more.closed) == 200
            for one in held:
                one.transport.abortConnection()


class TestDraining:
    @pytest_twisted.ensureDeferred
    async def test_body_that_is_still_arriving_is_answered(self, served):
        owner = await served.person("owner")
        body = orjson.dumps({"name": "Late", "short_name": "late", "description": "?"})
        head = (
            f"POST /api/project?api_key={owner.key} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        half = await wire.connect(served.base, head.encode() + body[:10])
        await until(lambda: any(one.is_receiving for one in served.server._site.channels))
        stopped = ensureDeferred(served.server._site.drain(60))
        await until(lambda: served.server._site.draining)
        half.transport.write(body[10:])
        answer = await half.closed
        assert status_of(answer) == 200 and b'"short_name":"late"' in answer
        assert head_of(answer)["connection"] == "close"
        await stopped

    @pytest_twisted.ensureDeferred
    async def test_body_that_does_not_come_to_its_end_is_answered_503(self, served):
        half = await wire.connect(
            served.base, b"POST /api/task HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{"
        )
        await until(lambda: any(one.is_receiving for one in served.server._site.channels))
        stopped = ensureDeferred(served.server._site.drain(0))
        answer = await half.closed
        assert (status_of(answer), head_of(answer)["retry-after"]) == (503, "5")
        await stopped
