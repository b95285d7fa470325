"""What request headers ask for: one rule for every response."""

from __future__ import annotations

import pytest
import pytest_twisted
from support.checks.shows import shows

from crowdd.http.edge.headers import accepts_gzip, best_coding, best_language, cookies, matches_etag, prefers_json

TAG = '"0123abcd"'


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("", False), ("gzip", True), ("GZip", True), ("gzip;q=0", False), ("gzip; q=0.0, br", False), ("*", True),
        ("*;q=0", False), ("br", False), ("gzip;q=0.5, identity", False), ("identity;q=0.5, gzip;q=0.5", True),
        ("gzip, *;q=0", True), ("gzip;q=x", False), ("notgzip", False),
    ],
)  # fmt: skip
def test_gzip_is_used_as_its_weight_says(header, expected):
    assert accepts_gzip(header) is expected


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("", ""), ("zstd", "zstd"), ("gzip, deflate, br, zstd", "zstd"), ("zstd;q=0.5, gzip", "gzip"), ("Zstd, gzip;q=0.9", "zstd"),
        ("zstd;q=0, gzip", "gzip"), ("zstd;q=0", ""), ("*", "gzip"), ("zstd;q=0.5, *", "gzip"), ("zstd;q=0.5, identity", ""),
        ("zstd, identity", "zstd"), ("zstd, gzip;q=0", "zstd"), ("notzstd", ""), ("br", ""),
    ],
)  # fmt: skip
def test_the_coding_with_the_greatest_weight_is_used(header, expected):
    assert best_coding(header, ("zstd", "gzip")) == expected
    assert best_coding(header, ("gzip",)) in ("", "gzip")


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("", False), ("*", True), (TAG, True), ("W/" + TAG, True), ('"other"', False), ('"other", ' + TAG, True),
        ('"other",W/"0123abcd-gzip"', True), ('"0123abcd-gzip"', True), ('"0123abcd-zstd"', True), ('"0123abcd-br"', True), ('"0123abcd-xz"', False), (",,", False),
        ('"a, 0123abcd"', False),
    ],
)  # fmt: skip
def test_condition_names_the_entity_in_each_of_its_forms(header, expected):
    assert matches_etag(header, TAG) is expected


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("text/html;q=0.5, */*", True), ("application/*", True), ("application/json, */*;q=0.1", True), ("*/*", False),
        ("application/json;charset=utf-8", True), ("application/json, text/html", False), ("text/*, */*;q=0.1", False),
        ("application/json;q=0.5, */*", False),
    ],
)  # fmt: skip
def test_ranges_of_media_types_count_where_no_type_is_named(accept, expected):
    assert prefers_json(accept) is expected


def test_language_is_the_best_of_ours():
    assert [best_language(text) for text in ("", "nl", "de-AT, de;q=0.9, en;q=0.8", "nl, fr;q=0.1", "es;q=0")] == [
        "en", "en", "de", "fr", "en",
    ]  # fmt: skip


def test_cookies_are_parsed_whatever_stands_between_them():
    parsed = cookies(b'a=1; a=2;b="x y" ; broken; \xff=1; c=s~1.2-_:=; ; d=\xfc')
    assert (parsed["a"], parsed["b"], parsed["c"], parsed["d"]) == ("2", "x y", "s~1.2-_:=", "\ufffd")
    assert cookies(b"") == {}


@shows("etag-get")
@pytest_twisted.ensureDeferred
async def test_api_and_static_files_and_uploads_follow_the_same_rule(served):
    await served.project(await served.person("owner"), tasks=1, published=True)
    folder = served.house.base.uploads.folder / "project-1"
    folder.mkdir(parents=True)
    (folder / "birds.png").write_bytes(b"x" * 2000)
    client = served.client()
    for path in ("/api/project", "/static/style.css", "/uploads/project-1/birds.png"):
        plain = await client.get(path, headers={"Accept-Encoding": "gzip;q=0"})
        assert not plain.header("content-encoding"), path
        tag = plain.header("etag")
        for header in (tag, f"W/{tag}", f'"other", {tag}', "*"):
            known = await client.get(path, headers={"If-None-Match": header})
            assert (known.status, known.body) == (304, b""), (path, header)
        other = await client.get(path, headers={"If-None-Match": '"other"'})
        assert (other.status, len(other.body)) == (200, len(plain.body)), path


@pytest_twisted.ensureDeferred
async def test_cookie_of_any_bytes_is_moved_and_not_an_error(serve):
    served = await serve(CROWDD_HTTP_BASE_URL="https://crowd.example")
    browser = served.client()
    browser.cookies = {"volunteer": "\u00fc~1"}
    assert (await browser.get("/", headers={"Accept": "text/html"})).status == 200
