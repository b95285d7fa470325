"""Addresses that a visitor brings: only paths of this site count."""

from urllib.parse import urljoin, urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crowdd.http.html.forms import local

PARTS = st.sampled_from(
    ["/", "\\", "//", ".", "..", "evil.example", ":", "@", "%2F", "\t", "\n", " ", "http", "?", "#", "[", "é"]
)


@pytest.mark.parametrize("address", ["/", "/project/birds/", "/a?b=//c#d", "/v%C3%B6gel", "/vögel", "/%2F%2Fevil"])
def test_paths_of_this_site_stay(address):
    assert local(address) == address


@given(st.lists(PARTS, max_size=6).map("".join))
@example("//evil.example")
@example("/\t/evil.example")
@example("/\\evil.example")
def test_whatever_comes_out_stays_here(address):
    path = local(address)
    # As browsers read it (URL standard): a backslash is a slash, tabs and line ends are not there.
    read = path.replace("\\", "/").replace("\t", "").replace("\n", "").replace("\r", "").strip()
    assert urlsplit(urljoin("https://here.example/page", read)).netloc == "here.example"
    assert path.startswith("/") and path in ("/", address)


def test_the_fallback_can_be_chosen():
    assert local("https://evil.example", "/home") == "/home" and local("", "") == ""
