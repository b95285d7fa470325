"""The client: projects of a server, objects of any kind, and requests."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any
from uuid import uuid4

import httpx

from crowdd_client.errors import NotFoundError
from crowdd_client.project import Project
from crowdd_client.retries import Retries
from crowdd_client.rows import Rows
from crowdd_client.transport import Transport, sleep


class Client:
    """A server, and the API key or token with which it is asked; without one you are an anonymous visitor.

    ``key`` is that of the environment variable KEY unless given. ``http`` replaces the connections, for a proxy or
    certificates of your own; ``wait`` replaces ``time.sleep``. Close the client, or use it in a ``with`` statement.
    """

    def __init__(
        self,
        site: str,
        key: str | None = None,
        *,
        retries: Retries | None = None,
        http: httpx.Client | None = None,
        wait: Callable[[float], None] = sleep,
    ) -> None:
        api_key = os.environ.get("KEY", "") if key is None else key
        self._transport = Transport(site, api_key, retries or Retries(), http, wait)

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        self._transport.close()

    def projects(self, **filters: object) -> Iterator[Project]:
        """Projects: your own, or with ``all=1`` all that you may see. Other filters are attributes of projects."""
        for record in self.objects("project", **filters):
            yield Project(self._transport, record)

    def project(self, name: str | int) -> Project:
        """The project with a short name or an id. Raises NotFoundError."""
        if isinstance(name, int):
            return Project(self._transport, self.request("GET", f"/api/project/{name}"))
        projects = self.request("GET", "/api/project", {"short_name": name, "all": 1})
        if not projects:
            raise NotFoundError(f"There is no project {name}, or you may not see it.", 404)
        return Project(self._transport, projects[0])

    def create_project(self, name: str, short_name: str, description: str = "", **attributes: object) -> Project:
        """A new draft with these attributes (``info`` is a dict). Raises ConflictError for a name that is taken."""
        body = {"name": name, "short_name": short_name, "description": description, **attributes}
        return Project(self._transport, self.request("POST", "/api/project", body=body, key=uuid4().hex))

    def objects(self, kind: str, **filters: object) -> Rows:
        """The objects of a kind of the API: project, task, taskrun, result, category, user, blogpost, …"""
        return Rows(self._transport, kind, filters)

    def request(
        self, method: str, path: str, query: Mapping[str, object] | None = None, *, body: object = None, key: str = ""
    ) -> Any:
        """The JSON of any address of the server, such as ``/api/task/12``; None where the response is empty.

        A POST is sent again after a lost connection only with a ``key`` (Idempotency-Key), which addresses that create
        objects know. Other methods are sent again in any case. Raises ApiError, ConnectionLostError.
        """
        return self._transport.json(method, path, query, body, key)
