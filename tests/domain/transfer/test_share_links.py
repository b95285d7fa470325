"""Share links and the addresses of the files behind them."""

from __future__ import annotations

import pytest

from crowdd.features.imports.share_links import download_address

SHEET = "https://docs.google.com/spreadsheets/d"
CLOUD = "https://cloud.example.org"
TOKEN = "aBcDeFgHiJkLmN9"


@pytest.mark.parametrize(
    ("link", "address"),
    [
        (f"{SHEET}/1a-B_c/edit?usp=sharing", f"{SHEET}/1a-B_c/export?format=csv"),
        (f"{SHEET}/1a-B_c/edit?gid=12#gid=345", f"{SHEET}/1a-B_c/export?format=csv&gid=345"),
        ("https://docs.google.com/spreadsheets/u/1/d/1a/htmlview", f"{SHEET}/1a/export?format=csv"),
        (f"{SHEET}/1a", f"{SHEET}/1a/export?format=csv"),
        (f"{SHEET}/1a/edit#gid=x%0d%0aHost:", f"{SHEET}/1a/export?format=csv"),
        (f"{SHEET}/e/2PACX-1v/pubhtml?gid=7&single=true", f"{SHEET}/e/2PACX-1v/pub?output=csv&gid=7&single=true"),
        (f"{SHEET}/e/2PACX-1v/pub?output=xlsx", f"{SHEET}/e/2PACX-1v/pub?output=csv"),
        ("https://www.dropbox.com/scl/fi/ab/t.csv?rlkey=k&dl=0", "https://www.dropbox.com/scl/fi/ab/t.csv?rlkey=k&dl=1"),
        ("https://www.dropbox.com/s/ab/t.csv", "https://www.dropbox.com/s/ab/t.csv?dl=1"),
        (f"{CLOUD}/s/{TOKEN}", f"{CLOUD}/s/{TOKEN}/download"),
        (f"{CLOUD}:8443/nextcloud/index.php/s/{TOKEN}/?dir=/#x", f"{CLOUD}:8443/nextcloud/index.php/s/{TOKEN}/download"),
    ],
)  # fmt: skip
def test_a_share_link_leads_to_its_file(link, address):
    assert download_address(link) == address
    assert download_address(address) == address, "the address of a file stays as it is"


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/t.csv", f"{SHEET}/1a/export?format=xlsx", "https://docs.google.com/document/d/1a/edit",
        "https://docs.google.com.example.org/spreadsheets/d/1a/edit", "https://www.dropbox.com/home", f"{CLOUD}/s/short",
        f"{CLOUD}/s/{TOKEN}/download", "ftp://docs.google.com/spreadsheets/d/1a", "http://[", "x", "",
    ],
)  # fmt: skip
def test_other_addresses_stay_as_they_are(url):
    assert download_address(url) == url
