"""Requests that once cost a server seconds for a few bytes, sent again and again from a process for each attack."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
from collections.abc import Iterator
from typing import Any, Final

import attrs

from bench.support.attacks import Attack, Flood, Request, give_way, upload
from bench.support.testbed import Project
from bench.support.volunteers import address
from bench.support.wire import Client, LostError, Response

GOLD: Final = "gold answers with marks"
MARKS: Final = 1500  # boxes that all overlap
_ANONYMOUS: Final = 262_144  # bytes that may be sent without an account
_STRANGER: Final = 1_000_000  # some 10 MB may be sent with one, but the attackers' side has to send them
_FIRST_ADDRESS: Final = 3_000_000
_JSON, _FORM, _PARTS = "application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"
# Files that are hardly longer than they need to be, and one of the same for as long as it may be.
_COMMENTS: Final = {
    "comments.txt": b"<!---->" * 40,
    "line breaks.txt": b"\f" + b"\n" * 40,
    "many comments.txt": b"<!---->" * 150_000,
    "comments.json": b"<!---->" * 40 + b"{",
}


@attrs.frozen
class GoldTask:
    """A gold task of the attackers whose right answer has so many boxes."""

    project_id: int
    task: int
    boxes: int

    def answer(self, boxes: int) -> dict[str, Any]:
        """An answer with so many boxes."""
        return {"project_id": self.project_id, "task_id": self.task, "info": {"marks": overlapping(boxes)}}


@attrs.frozen
class GoldAnswers:
    """Volunteers of as many networks as it takes answer a gold task, ``number`` at once."""

    port: int
    gold: GoldTask
    number: int = 2

    def run(self) -> None:
        """Until this process is ended."""
        give_way()
        asyncio.run(self._all())

    async def _all(self) -> None:
        numbers = itertools.count()
        await asyncio.gather(*(self._one(numbers) for _ in range(self.number)))

    async def _one(self, numbers: Iterator[int]) -> None:
        for number in numbers:
            try:
                await answer(self.port, self.gold, number, (self.gold.boxes, MARKS)[number % 2])
            except (LostError, OSError, TimeoutError):
                await asyncio.sleep(0.05)  # as with other floods


async def answer(port: int, gold: GoldTask, number: int, boxes: int) -> Response:
    """What a volunteer of another network gets for an answer with so many boxes."""
    client = Client(port, {"X-Forwarded-For": address(_FIRST_ADDRESS + number)})
    with contextlib.closing(client):
        leased = await client.ask("POST", f"/api/task/{gold.task}/lease", {})
        return leased if leased.status != 200 else await client.ask("POST", "/api/taskrun", gold.answer(boxes))


def bodies(size: int, ids: dict[str, Any]) -> Iterator[tuple[str, str, bytes]]:
    """What is dear to parse, to lay out or to compare: a name, its media type, and the body of about ``size`` bytes."""
    text = "a|b\n" + "-" * 49_980 + "x"
    row = {"project_id": ids["project"], "task_id": ids["task"], "id": ids["result"], "info": {"answer": [1, 2]}}
    texts = dict.fromkeys(("title", "name", "body", "description", "long_description"), text)
    marks = [{"type": "box", "x": n % 100, "y": n % 90, "width": 20, "height": 20} for n in range(size // 80)]
    whole = json.dumps(row)
    yield "a text of hyphens", _JSON, json.dumps(row | texts | {"short_name": "s"}).encode()
    yield "an array of strings that do not end", _JSON, b'["' + b'\\"' * 1_000 + b" " * (size - 3_000)
    yield "an array of quotation marks", _JSON, b'["' + b'\\"' * (size // 2 - 10)
    yield "an array of empty objects", _JSON, b"[" + b"{}," * (size // 3 - 2) + b"{}]"
    yield "an array of rows", _JSON, f"[{','.join([whole] * (size // (len(whole) + 1) - 1))}]".encode()
    yield "an object with marks", _JSON, json.dumps(row | {"info": marks, "answers": marks}).encode()
    yield "an object of many keys", _JSON, json.dumps({f"k{n}": n for n in range(size // 20)} | row).encode()
    yield "nested arrays", _JSON, b"[" * 1000 + b"]" * 1000
    yield "a form of many fields", _FORM, b"&".join(b"a%d=%%41" % n for n in range(size // 14))
    parts = b"".join(b'--x\r\nContent-Disposition: form-data; name="a%d"\r\n\r\n1\r\n' % n for n in range(size // 64))
    yield "a multipart body of many parts", _PARTS, parts + b"--x--\r\n"


def overlapping(count: int) -> list[dict[str, float]]:
    """Boxes each of which overlaps all others by more than half."""
    return [{"x": number / 100, "y": 0, "width": 100, "height": 100} for number in range(count)]


def of_dear_requests(port: int, mine: Project, key: str, target: Project, gold: GoldTask) -> dict[str, Attack]:
    """By name. ``mine`` is a project of the attackers, ``key`` their API key, ``target`` the project of others."""
    by_key = {"Authorization": key}
    hyphens = json.dumps({"title": "x", "body": f"a|b\n{'-' * 49_980}x"}).encode()
    texts = [Request("POST", f"/api/{kind}", hyphens) for kind in ("announcement", "blogpost", "project")]
    arrays = [Request("POST", "/api/task", _unfinished(quotes), by_key) for quotes in (300, 1200, 130_000)]
    files = [upload(mine, key, name, content) for name, content in _COMMENTS.items()]
    return {
        "texts of hyphens, no account": Flood(port, 4, texts, refused=True),
        "arrays that do not end": Flood(port, 4, arrays, refused=True),
        "files of empty comments": Flood(port, 3, files),
        "dear bodies without rights": Flood(port, 4, list(_without_rights(key, target)), refused=True),
        "Accept headers": Flood(port, 4, [Request("GET", "/", headers=headers) for headers in _headers()]),
        GOLD: GoldAnswers(port, gold),
    }


def _unfinished(quotes: int) -> bytes:
    """An array whose first string does not end, as long as it may be without waiting for its sender's rights."""
    return (b'["' + b'\\"' * quotes).ljust(_ANONYMOUS + 3_000)


def _without_rights(key: str, target: Project) -> Iterator[Request]:
    """The dearest bodies for rows of others, from an account, and without one."""
    ids = {"project": target.id, "task": 1, "result": 1}
    paths = (("PUT", f"/api/project/{target.id}"), ("POST", "/api/task"), ("POST", "/api/announcement"))
    for headers, size in (({"Authorization": key}, _STRANGER), ({}, _ANONYMOUS - 5_000)):
        for _name, media, body in bodies(size, ids):
            for method, path in paths:
                yield Request(method, path, body, {**headers, "Content-Type": media})


def _headers() -> Iterator[dict[str, str]]:
    for text in ("a" + " " * 15_000 + "b", "a/b;q=" + "0" * 15_000, ",".join(["a/b;c=d"] * 1_800), '"' + "\\" * 15_000):
        yield {"Accept": text}
        yield {"Accept": "text/html", "Accept-Language": text}
