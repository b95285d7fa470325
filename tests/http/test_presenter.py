"""Which document a request gets, what is refused, and what the headers forbid."""

from __future__ import annotations

from typing import Any

import pytest
from support.checks.shows import shows

from crowdd.features.questions import presenter_contents
from crowdd.http.html import frames

TASK = "/project/digits/newtask"


@pytest.mark.parametrize(
    ("path", "framed"),
    [
        ("/project/digits/newtask", True),
        ("/project/digits/newtask/", True),
        ("/project/digits/tutorial", True),
        ("/project/digits/results", True),
        ("/project/digits/task/17", True),
        ("/project/digits/task/x", False),
        ("/project/digits/task/", False),
        ("/project/digits/stats", False),
        ("/project/digits/", False),
        ("/project/a/b/newtask", False),
        ("/x/project/digits/newtask", False),
        ("/project/digits/newtask/settings", False),
        ("/account/profile", False),
    ],
)
def test_paths_that_have_a_presenter(path: str, framed: bool) -> None:
    assert bool(frames.FRAMED.fullmatch(path)) is framed


@shows("presenter-frame")
@pytest.mark.parametrize(
    ("path", "marked", "dest", "expected"),
    [
        (TASK, True, "iframe", "frame"),
        (TASK, True, "", "frame"),
        (TASK, True, "document", "page"),  # never the presenter as a page of ours
        (TASK, True, "empty", "page"),
        (TASK, True, "object", "page"),  # refused
        (TASK, True, "embed", "page"),  # refused
        (TASK, False, "document", "page"),
        (TASK, False, "", "page"),
        (TASK, False, "iframe", "stub"),
        ("/account/profile", True, "iframe", "stub"),
        ("/account/signout", False, "iframe", "stub"),
        ("/admin/users/add/5", False, "object", "page"),  # refused
        ("/", False, "frame", "stub"),
        ("/api/task/1", False, "iframe", "page"),  # its own headers keep it out of frames
        ("/static/style.css", False, "iframe", "page"),
        ("/uploads/project/digits/1.png", False, "object", "page"),
        ("/account/profile", True, "", "page"),
    ],
)
def test_frame_stub_or_page(path: str, marked: bool, dest: str, expected: str) -> None:
    frame, stub = frames.wants_frame(path, marked, dest), frames.wants_stub(path, marked, dest)
    assert ("frame" if frame else "stub" if stub else "page") == expected
    assert not (frame and stub)


@shows("cors-opaque", "get-parts")
@pytest.mark.parametrize(
    ("origin", "site", "dest", "refused"),
    [
        ("null", "cross-site", "empty", True),
        ("null", "", "", True),
        ("null", "same-origin", "document", True),
        ("", "cross-site", "image", True),
        ("", "cross-site", "script", True),
        ("", "cross-site", "iframe", True),
        ("", "cross-site", "", True),
        ("", "cross-site", "document", False),  # a link from elsewhere
        ("https://app.example", "cross-site", "empty", False),  # CORS decides
        ("", "same-origin", "image", True),
        ("", "same-site", "image", True),
        ("", "none", "image", True),
        *[
            ("", "same-origin", dest, True)
            for dest in ("audio", "video", "track", "style", "script", "font", "manifest")
        ],
        *[("", "same-origin", dest, True) for dest in ("object", "embed")],
        ("", "same-origin", "iframe", False),
        ("", "none", "document", False),
        ("http://127.0.0.1:8000", "same-origin", "empty", False),
        ("", "", "", False),  # programs
    ],
)
def test_refusals_by_origin(origin: str, site: str, dest: str, refused: bool) -> None:
    assert (frames.refusal(origin, site, dest) is not None) is refused


@pytest.mark.parametrize(
    ("scope", "path", "refused"),
    [
        ("", "/account/profile", False),
        ("1", "/account/profile", True),
        ("1", "/", True),
        ("1", "/apiary", True),
        ("1", "/api/taskrun", False),
    ],
)
def test_a_scope_reaches_the_api_only(scope: str, path: str, refused: bool) -> None:
    assert (frames.scope_refusal(scope, path) is not None) is refused


def directives(headers: dict[str, str]) -> dict[str, str]:
    parts = [part.strip().partition(" ") for part in headers["Content-Security-Policy"].split(";")]
    assert len({name for name, _, _ in parts}) == len(parts)  # browsers ignore the second of a name
    return {name: value for name, _, value in parts}


def test_the_page_runs_its_own_scripts_only() -> None:
    without, with_nonce = directives(frames.page_headers()), directives(frames.page_headers("abc"))
    assert without["script-src"] == "'none'"
    assert with_nonce["script-src"] == "'nonce-abc'"
    assert "unsafe" not in str(with_nonce)
    assert without["frame-src"] == "'self'"
    assert without["frame-ancestors"] == without["default-src"] == "'none'"
    assert frames.page_headers()["Referrer-Policy"] != "no-referrer"


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("crowd.example", "crowd.example/static/ crowd.example/uploads/ crowd.example/answer-files/ data:"),
        ("127.0.0.1:8000", "127.0.0.1:8000/static/ 127.0.0.1:8000/uploads/ 127.0.0.1:8000/answer-files/ data:"),
        ("[::1]:8000", "'self' data:"),
        ("a.example; script-src *", "'self' data:"),
        ("", "'self' data:"),
    ],
)
def test_pictures_come_from_two_folders_of_the_host(host: str, expected: str) -> None:
    assert directives(frames.page_headers("abc", host))["img-src"] == expected


@shows("presenter-frame")
def test_the_frame_is_sandboxed_and_cannot_be_kept() -> None:
    headers = frames.frame_headers(https=False)
    policy = directives(headers)
    assert set(policy["sandbox"].split()) == {"allow-scripts", "allow-forms"}
    assert policy["form-action"] == "'none'"
    assert policy["frame-ancestors"] == "'self'"
    assert "upgrade-insecure-requests" not in policy
    assert "upgrade-insecure-requests" in directives(frames.frame_headers(https=True))
    assert "camera=()" in headers["Permissions-Policy"]
    assert headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    "headers",
    [frames.page_headers(), frames.frame_headers(https=True), frames.stub_headers(), frames.api_headers()],
)
def test_only_public_files_are_readable_from_an_opaque_origin(headers: dict[str, str]) -> None:
    assert "Access-Control-Allow-Origin" not in headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert frames.public_headers()["Access-Control-Allow-Origin"] == "*"
    assert "Access-Control-Allow-Credentials" not in frames.public_headers()


def test_an_uploaded_document_runs_nothing() -> None:
    policy = directives(frames.upload_headers())
    assert (policy["sandbox"], policy["default-src"]) == ("", "'none'")
    assert "script-src" not in policy
    assert frames.upload_headers()["Access-Control-Allow-Origin"] == "*"


@shows("format-policies")
def test_the_stub_and_the_api_are_no_documents() -> None:
    assert directives(frames.api_headers())["sandbox"] == ""
    assert directives(frames.stub_headers())["sandbox"] == "allow-scripts"
    assert "location" in frames.STUB
    assert "cookie" not in frames.STUB


PROJECT: dict[str, Any] = {
    "id": 1,
    "short_name": "digits",
    "secret_key": "S",
    "webhook": "https://hooks.example",
    "info": {"task_presenter": "<p>task</p>", "tutorial": "<p>how</p>", "sched": "default", "results": None},
}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("newtask", "<p>task</p>"), ("task", "<p>task</p>"), ("tutorial", "<p>how</p>"), ("results", "")],
)
def test_the_source_of_each_page(kind: presenter_contents.Kind, expected: str) -> None:
    assert presenter_contents.source(PROJECT["info"], kind) == expected
    assert presenter_contents.source({}, kind) == ""


@shows("presenter-no-secret")
def test_the_bridge_gets_neither_secrets_nor_sources() -> None:
    assert presenter_contents.record(PROJECT) == {"id": 1, "short_name": "digits", "info": {"sched": "default"}}
    assert presenter_contents.record({"id": 2, "info": None}) == {"id": 2, "info": {}}
    assert PROJECT["info"]["task_presenter"]


def test_the_context_of_the_page() -> None:
    about = {"volunteer": 5, "own_count": 4, "rank": 9, "progress": (10, 200), "share": 4}
    context = presenter_contents.page_context("task", PROJECT, task_id=7, info=PROJECT["info"], **about)
    assert (context["volunteer"], context["own_count"], context["rank"]) == (5, 4, 9)
    assert context["progress"] == {"done": 10, "total": 200, "share": 4}
    assert (context["has_tutorial"], context["guided"], context["has_field_guide"]) == (True, False, False)
    assert context["tutorial_seen"] == "tutorial-1"
    guides = {"guided_tutorial": {"edition": 3}, "field_guide": {}}
    context = presenter_contents.page_context("task", PROJECT, info=guides)
    assert (context["has_tutorial"], context["guided"], context["has_field_guide"]) == (True, True, True)
    assert context["tutorial_seen"] == "tutorial-1-3", "another edition is shown again"
    context = presenter_contents.page_context("task", PROJECT, task_id=7, info={})
    assert (context["has_tutorial"], context["guided"], context["has_field_guide"]) == (False, False, False)
    assert context["task_id"] == 7
    assert context["record"] == presenter_contents.record(PROJECT)
