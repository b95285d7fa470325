"""Which addresses are public, and how a URL is read."""

from __future__ import annotations

import ipaddress

import pytest
from support.checks.refused import NAMES, REFUSED
from support.checks.shows import shows

from crowdd.core.outbound.url_policy import require_public, target, why_not_public
from crowdd.kernel.config.options import endpoints
from crowdd.kernel.errors import RefusedTargetError


@shows("outgoing-public")
@pytest.mark.parametrize("url", REFUSED)
def test_what_is_refused_says_why(url):
    """By its own words, or by those of what its name resolves to."""
    with pytest.raises(RefusedTargetError, match=REFUSED[url]):
        destination = target(url)
        for address in NAMES.get(destination.host, [["127.0.0.1"]])[0]:
            require_public(ipaddress.ip_address(address))


@shows("outgoing-public")
@pytest.mark.parametrize(
    "text",
    ["93.184.216.34", "1.1.1.1", "223.255.255.254", "2606:2800:220:1::1", "64:ff9b::101:101", "2002:101:101::", "::ffff:1.1.1.1"],
)  # fmt: skip
def test_public_addresses_are_public(text):
    assert why_not_public(ipaddress.ip_address(text)) == ""


@pytest.mark.parametrize(
    ("url", "host", "port", "canonical"),
    [
        ("http://Hooks.Example", "hooks.example", 80, "http://hooks.example/"),
        ("https://hooks.example.:443/a?b=c#d", "hooks.example", 443, "https://hooks.example/a?b=c"),
        ("https://hooks.example:8443/%7Ea/", "hooks.example", 8443, "https://hooks.example:8443/%7Ea/"),
        ("http://bücher.example/ä?ö=ü", "xn--bcher-kva.example", 80, "http://xn--bcher-kva.example/%C3%A4?%C3%B6=%C3%BC"),
        ("http://[2606:2800:220:1:0::1]:8080/", "2606:2800:220:1::1", 8080, "http://[2606:2800:220:1::1]:8080/"),
        ("http://a_b.1st.example", "a_b.1st.example", 80, "http://a_b.1st.example/"),
    ],
)  # fmt: skip
def test_a_url_has_one_reading(url, host, port, canonical):
    destination = target(url)
    assert (destination.host, destination.port, destination.url) == (host, port, canonical)
    assert target(destination.url) == destination


@shows("outgoing-public")
def test_a_host_and_port_that_the_operator_names_may_be_anywhere():
    assert target("http://127.0.0.1:25/", endpoints("127.0.0.1:25")).trusted
    assert target("http://Hooks.Internal:6379/", endpoints("hooks.internal:6379")).trusted
    assert target("http://[fd00::7]:8080/", endpoints("[fd00:0::7]:8080")).trusted
    assert not target("http://hooks.internal.example/", endpoints("hooks.internal:*")).trusted


def test_a_host_alone_is_trusted_on_ports_of_the_web_only():
    for entry in ("10.0.0.5", "fd00::7", "[fd00::7]"):
        host = entry if ":" not in entry else "[fd00::7]"
        assert target(f"http://{host}/", endpoints(entry)).trusted
        assert target(f"https://{host}/", endpoints(entry)).trusted
        with pytest.raises(RefusedTargetError, match="private"):
            target(f"http://{host}:8080/", endpoints(entry))
    with pytest.raises(RefusedTargetError, match="private"):
        target("http://10.0.0.5/", endpoints("10.0.0.5:8080"))
    assert target("http://10.0.0.5:8080/", endpoints("10.0.0.5:*")).trusted


@pytest.mark.parametrize(
    "text",
    ["168.63.129.16", "161.26.0.10", "166.9.20.20", "100.100.100.200", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254",
     "169.254.169.254", "::ffff:168.63.129.16", "64:ff9b::a83f:8110"],
)  # fmt: skip
def test_services_of_clouds_for_their_machines_are_not_public(text):
    assert why_not_public(ipaddress.ip_address(text))


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "http://a:b@127.0.0.1/", "http://2130706433/", "http://127.0.0.1:99999/"]
)
def test_what_cannot_be_read_in_one_way_is_refused_for_trusted_hosts_too(url):
    with pytest.raises(RefusedTargetError):
        target(url, endpoints("127.0.0.1:*") | endpoints("2130706433:*"))
