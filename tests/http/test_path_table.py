"""The short way to the hot routes finds what Klein finds, and nothing else."""

import pytest
from support.servers.served import Served
from twisted.internet import reactor
from twisted.web.test.requesthelper import DummyRequest
from werkzeug.exceptions import HTTPException

from crowdd import web
from crowdd.http import router
from crowdd.http.edge import gateway
from crowdd.http.routing import PathTable

HOT = [
    "/api/7/newtask", "/api/project/7/newtask", "/api/birds/newtask", "/api/project/birds/newtask", "//api//7/newtask",
    "/api/project/birds/userprogress", "/api/project/7/userprogress", "/api/project/%C3%BC/userprogress",
    "/api/taskrun", "/api/task/7", "/api/task/007", "/api/task/newtask", "/api/%74ask/7", "/api/a%2Fb/newtask", "/api/project//newtask",
    "http://elsewhere/api/taskrun", "/api/task/" + "9" * 30, "/api/task", "/api/taskrun/7", "/api/project/7", "/api/result", "/health",
    "/", "/leaderboard/", "/account/signin", "/account/ada/", "/project/birds/", "/project/birds/stats", "/project/birds/tasks/",
    "/project/category/birds/", "/project/page/stats", "/project/7/newtask", "/project/birds/tasks/browse",
]  # fmt: skip
OTHERS = [
    "/api", "/api/", "/api/task/7/", "/api/task/x", "/api/task/-7", "/api/task/7.5", "/api/task/",
    "/api/task/%C2%B2", "/api/task/٣", "/api/taskrun/", "/api//",
    "/api/project/7/newtask/", "/api/project/7/newtask/x", "/xapi/7/newtask", "/project/7/newtask/", "/api/project/birds/x",
    "/API/taskrun", "/api/auth/project/birds/token", "/static/x",
    "/project/new/", "/project/search/", "/account/signin/", "/account/profile/", "/account/page/1",
    "/project/category/stats", "/project/category/tasks/", "/project/birds", "/leaderboard", "/project//",
]  # fmt: skip


@pytest.fixture
def ways(settings, monkeypatch):
    """The server's path table, and Klein's table."""
    made = {}

    def keep(routes):
        made["table"] = PathTable(routes)
        return made["table"]

    def answers(klein):
        made["klein"] = klein.url_map.bind("")
        return router.answers(klein)

    monkeypatch.setattr(web, "PathTable", keep)
    monkeypatch.setattr(web, "answers", answers)
    Served(reactor, settings)
    return made["table"], made["klein"]


def both(ways, address):
    """What each finds: the names in the address, None for nothing."""
    table, klein = ways
    request = DummyRequest([])
    request.path = address.encode()
    gateway.normalise_path(request)
    route = table.find(request.postpath)
    try:
        matched = klein.match("/" + b"/".join(request.postpath).decode(), "GET")[1]
    except HTTPException:
        matched = None
    return None if route is None else route[1], matched


@pytest.mark.parametrize("address", HOT)
def test_a_hot_address_is_found_with_the_same_names(ways, address):
    names, matched = both(ways, address)
    assert names is not None and names == matched


@pytest.mark.parametrize("address", OTHERS)
def test_any_other_address_is_left_to_klein(ways, address):
    names, _ = both(ways, address)
    assert names is None


def test_every_method_of_a_hot_address_is_there(ways):
    table, _ = ways
    methods, _ = table.find([b"api", b"task", b"7"])
    assert set(methods) == {"GET", "PUT", "DELETE"}
