"""crowdd in the process of the tests: the real Server on a real socket, and a client that asks it over HTTP."""

from __future__ import annotations

import re
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

import attrs
import orjson
import treq
from twisted.internet.defer import Deferred, ensureDeferred
from twisted.internet.task import deferLater
from twisted.internet.threads import deferToThread
from twisted.web.client import Agent, HTTPConnectionPool, readBody
from twisted.web.http_headers import Headers

from crowdd import app
from crowdd.core import base
from crowdd.features.accounts.feature import AccountsFeature
from crowdd.house import make_house
from crowdd.http.steps import Step
from crowdd.kernel.config import Settings
from support.servers.live import LiveServer
from support.until import PAUSE, until

StepT = TypeVar("StepT", bound=Step)
# Central, so that what is asked of passwords changes in one place.
PASSWORD = "a good password"
# Where a key speaks for its person outside /api: in the header. Everywhere else a session does.
KEYED = re.compile(r"/project(/|\?|$)|/account/[^/]+/export(/|\?|$)")
# What gives a project away: there a session does, too.
MANAGING = re.compile(
    r"(GET|POST) /project/[^/?]+/(coowners|add_coowner|del_coowner|transferownership|delete|reviewers|translators|resetsecretkey|update)([/?]|$)"
    r"|DELETE /api/project/\d+$"
)


@attrs.frozen
class Response:
    """A whole answer."""

    status: int
    headers: Any
    body: bytes

    def json(self) -> Any:
        return orjson.loads(self.body)

    @property
    def text(self) -> str:
        return self.body.decode()

    def header(self, name: str) -> str | None:
        values = self.headers.getRawHeaders(name)
        return values[-1] if values else None


@attrs.frozen
class Session:
    """A session of somebody, and a token for its forms."""

    token: str
    csrf_token: str


class Client:
    """A browser or a program: keeps cookies, sends an API key when it has one."""

    def __init__(self, base: str, agent: Any, key: str = "", headers: dict[str, str] | None = None) -> None:
        self.base, self._agent, self.key = base, agent, key
        self.headers = headers or {}
        self.cookies: dict[str, str] = {}
        self.open_session: Callable[[], Awaitable[Session]] | None = None
        self._session: Session | None = None

    async def session(self) -> Session:
        """The session in which this person does what no key may do."""
        assert self.open_session is not None
        self._session = self._session or await self.open_session()
        return self._session

    async def by_session(self) -> Client:
        """A browser in which this person is signed in; forms of it need their token."""
        browser = Client(self.base, self._agent)
        browser.cookies["session"] = (await self.session()).token
        return browser

    async def request(
        self, method: str, path: str, json: Any = ..., headers: dict[str, str] | None = None, **more: Any
    ) -> Response:
        """An answer, whatever its status; redirects are not followed. ``json`` is sent as a JSON body."""
        sent = {**self.headers, **(headers or {})}
        if json is not ...:
            more["data"] = orjson.dumps(json)
            sent.setdefault("Content-Type", "application/json")
        cookies = dict(self.cookies)
        by_session = self.open_session is not None and bool(MANAGING.match(f"{method} {path}"))
        if by_session and "X-CSRFToken" not in sent:
            self._session = None  # a new one, in which its person has just proved who they are
        if self.key and re.match(r"/api(/|\?|$)", path) and not by_session:
            path += ("&" if "?" in path else "?") + f"api_key={self.key}"
        elif self.key and not by_session and (KEYED.match(path) or self.open_session is None):
            sent.setdefault("Authorization", self.key)
        elif self.key:
            session = await self.session()
            cookies["session"] = session.token
            sent.setdefault("X-CSRFToken", session.csrf_token)
            if method == "DELETE":
                sent.setdefault("Content-Type", "application/json")
        if cookies:
            sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in cookies.items())
        response = await treq.request(
            method, self.base + path, headers=sent, agent=self._agent, allow_redirects=False, timeout=60, **more
        )
        self._keep(response.headers.getRawHeaders("set-cookie") or [])
        return Response(response.code, response.headers, await treq.content(response))

    def _keep(self, lines: list[str]) -> None:
        for line in lines:
            pair, *attributes = line.split(";")
            name, _, value = pair.partition("=")
            if any(a.strip().lower() == "max-age=0" for a in attributes):
                self.cookies.pop(name.strip(), None)
            else:
                self.cookies[name.strip()] = value

    async def get(self, path: str, **more: Any) -> Response:
        return await self.request("GET", path, **more)

    async def post(self, path: str, **more: Any) -> Response:
        return await self.request("POST", path, **more)

    async def put(self, path: str, **more: Any) -> Response:
        return await self.request("PUT", path, **more)

    async def delete(self, path: str, **more: Any) -> Response:
        return await self.request("DELETE", path, **more)

    async def page(self, path: str, **more: Any) -> Response:
        """A page as JSON."""
        return await self.get(path, headers={"Content-Type": "application/json"}, **more)

    async def send_form(self, path: str, json: dict[str, Any], token_from: str = "") -> Response:
        """Posts a form as front ends do: the token of the matching GET, JSON both ways."""
        form = (await self.page(token_from or path)).json()
        token = form.get("csrf") or form["form"]["csrf"]
        return await self.post(path, json=json, headers={"X-CSRFToken": token})


class Served:
    """A server on a port of its own."""

    def __init__(self, reactor: Any, settings: Settings) -> None:
        self._reactor = reactor
        port_of_its_own = attrs.evolve(settings, http=attrs.evolve(settings.http, port=0))
        # The reactor is that of all tests: one server that cannot start must not stop it.
        self.server = app.Server(reactor, port_of_its_own, give_up=lambda: None)
        self._pool = HTTPConnectionPool(reactor)
        self._pool.maxPersistentPerHost = 100
        self._agent = Agent(reactor, pool=self._pool)

    @property
    def house(self) -> Any:
        return self.server._house

    @property
    def database(self) -> Any:
        """The server's own pool."""
        return self.server._pools.requests

    @property
    def routes(self) -> list[Any]:
        """Every route there is."""
        table = self.server._site.resource._router.routes
        return [route for methods in table.values() for route in methods.values()]

    def step(self, kind: type[StepT]) -> StepT:
        """The step of that kind that every request takes."""
        return next(step for step in self.server._site.resource._router.steps if isinstance(step, kind))

    async def start(self) -> None:
        self.server.privilegedStartService()
        self.server.startService()
        await self._started()
        assert not self.server.exit_status, "crowdd did not start; its log says why"
        self.base = f"http://127.0.0.1:{self.server._port.getHost().port}"

    async def start_without_database(self) -> None:
        """As ``start``, but returns once the port is open, which answers while the database is waited for."""
        self.server.privilegedStartService()
        self.server.startService()
        await until(lambda: self.server._port)
        self.base = f"http://127.0.0.1:{self.server._port.getHost().port}"

    async def run_job(self, name: str) -> None:
        """The server runs a job now instead of when it is due."""
        runner = self.server._job_runner
        await until(lambda: name in runner._jobs and runner._loops)
        while (await runner.run(runner._jobs[name], force=True)).state == "busy":
            await deferLater(self._reactor, PAUSE)

    async def _started(self) -> None:
        done: Deferred[None] = Deferred()
        self.server._starting.addBoth(lambda result: done.callback(None) or result)
        await done

    async def stop(self) -> None:
        await self._pool.closeCachedConnections()
        await self.server.stopService()

    def client(self, key: str = "", **headers: str) -> Client:
        """A new browser or program."""
        return Client(self.base, self._agent, key, headers)

    async def bare(self, path: str, coding: str) -> Response:
        """The bytes as they come; other clients here unpack what was compressed."""
        headers = Headers({"Accept-Encoding": [coding]})
        response = await self._agent.request(b"GET", (self.base + path).encode(), headers)
        return Response(response.code, response.headers, await readBody(response))

    async def person(self, name: str, *, admin: bool = False) -> Client:
        """A program of a new person, with an API key; ``client.user_id`` is whose."""
        from crowdd.features.accounts.validation import Registration
        from crowdd.kernel.requester import SYSTEM

        form = Registration(name, name.title(), f"{name}@example.org", PASSWORD, PASSWORD)
        user_id = await self.house[AccountsFeature].accounts.register(form, SYSTEM, admin=admin)
        row = await self.house[AccountsFeature].accounts.profile(user_id)
        client = self.client(self.house[AccountsFeature].accounts.api_key(row))
        client.user_id = user_id
        client.open_session = lambda: self._open_session(user_id)
        return client

    async def _open_session(self, user_id: int) -> Session:
        from crowdd.core.devices import Authenticated
        from crowdd.kernel.requester import SYSTEM

        (row,) = await self.database.fetch("SELECT access_version FROM account WHERE id = %(id)s", {"id": user_id})
        account = Authenticated(user_id, row["access_version"])
        token = await self.house[AccountsFeature].sessions.open(account, "program", SYSTEM)
        salt = secrets.token_urlsafe(9)
        mac = self.house.base.secrets.digest("csrf", f"{salt}|session:{token}").hex()[:40]
        return Session(token, f"{salt}.{mac}")

    async def project(
        self, owner: Client, short_name: str = "birds", *, tasks: int = 0, published: bool = False, **task: Any
    ) -> dict[str, Any]:
        """A project with a presenter and tasks."""
        body = {
            "name": short_name.title(),
            "short_name": short_name,
            "description": "Is there a bird?",
            "info": {"task_presenter": "<p>?</p>"},
        }
        project = (await owner.post("/api/project", json=body)).json()
        if tasks:
            rows = [{"project_id": project["id"], "info": {"n": n}, "n_answers": 2, **task} for n in range(tasks)]
            project["tasks"] = [t["id"] for t in (await owner.post("/api/task", json=rows)).json()]
        if published:
            answer = await owner.post(f"/project/{short_name}/publish", json={})
            assert answer.status == 200, answer.body
        return project


class ServedByWorkers(Served):
    """The same by a twistd with as many workers as CROWDD_DAEMON_WORKERS says; the rules of this process make people."""

    def __init__(self, reactor: Any, settings: Settings, environment: Mapping[str, str]) -> None:
        self._reactor, self._settings = reactor, settings
        self._pool = HTTPConnectionPool(reactor)
        self._pool.maxPersistentPerHost = 100
        self._agent = Agent(reactor, pool=self._pool)
        settings.data.dir.mkdir(parents=True, exist_ok=True)
        self._database = base.make_pool(reactor, settings, size=2)
        self._house = make_house(reactor, settings, self._database)
        self._live = LiveServer(settings.db.dsn, settings.data.dir, **environment)

    @property
    def house(self) -> Any:
        return self._house

    @property
    def database(self) -> Any:
        return self._database

    async def start(self) -> None:
        self._house.start()
        await self._database.start()
        await deferToThread(self._live.start, 120)
        self.base = self._live.url

    async def run_job(self, name: str) -> None:
        """Waits for the next run of a job in one of them."""
        [asked] = await self._database.fetch("SELECT clock() AS at")
        ended = "SELECT FROM job WHERE name = %(name)s AND began >= %(at)s AND outcome <> 'running'"
        await until(lambda: ensureDeferred(self._database.fetch(ended, {"name": name, **asked})))

    async def stop(self) -> None:
        await self._pool.closeCachedConnections()
        await deferToThread(self._live.stop)
        self._house.stop()
        await self._database.close()
