"""Several servers and high availability as their pages say it: every command as it stands, on machines that are new.

Each is typed into a new root shell in another folder (``support.servers.machines``). What a page leaves to the reader
(addresses, passwords, a certificate, a shared folder) the test does where the page says so.
"""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.servers.building import ROOT, built, copied
from support.servers.machines import NEEDS_ROOT, Machines, blocks, can_be_made, machines

SERVERS = "operating/several-servers.md"
AVAILABLE = "operating/high-availability.md"
INSTALL = ("install.md", "## Production installation")
PASSWORD = "another-password"

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(not can_be_made(), reason=NEEDS_ROOT),
]


def needs(*programs: str) -> pytest.MarkDecorator:
    missing = [name for name in programs if shutil.which(name, path="/usr/sbin:/usr/bin") is None]
    return pytest.mark.skipif(
        bool(missing),
        reason=f"{', '.join(missing)} is not installed: apt-get install -y --no-install-recommends haproxy socat patroni"
        " etcd-server etcd-client postgresql",
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("checkout")
    yield built("wheel", copied(folder), tmp_path_factory.mktemp("wheel"))


def at_once(site: Machines, names: tuple[str, ...], block: str) -> list[str]:
    """What a block prints on several machines, as somebody with as many terminals types it."""
    with ThreadPoolExecutor(len(names)) as pool:
        return [*pool.map(lambda name: site.types(name, block), names)]


def configure(site: Machines, name: str, ini: str, **others: str) -> None:
    """Sets what a page shows as sections of the configuration, in a file of conf.d."""
    lines = [line.replace("password=…", f"password={PASSWORD}") for line in ini.splitlines()]
    own = [f"{key} = {others[key]}" if (key := line.partition(" = ")[0]) in others else line for line in lines]
    site.types(
        name, "install -d /etc/crowdd/conf.d; cat > /etc/crowdd/conf.d/page.conf <<'END'\n" + "\n".join(own) + "\nEND"
    )


def problems(site: Machines, name: str) -> list[str]:
    """What ``crowdctl doctor`` finds wrong, but for what the page does not speak of."""
    lines = site.types(name, "runuser -u crowdd -- crowdctl doctor || true").splitlines()
    wrong = [line for line in lines if line.startswith("Problem:")]
    # Nobody else listens on this network; the pages say what to do where somebody can.
    return [line for line in wrong if "no administrator" not in line and "is not encrypted" not in line]


def install(site: Machines, name: str) -> None:
    """The program, its user, and a first configuration: steps 1 and 3."""
    user, _database, configuration, *_ = blocks(*INSTALL)
    site.types(name, user)
    site.types(name, configuration)


class Visitors:
    """Somebody who asks the proxy for the home page all the time. ``refused``: what was not answered."""

    def __init__(self, site: Machines) -> None:
        self._site, self._ends = site, threading.Event()
        self.answered, self.refused = 0, list[str]()
        self._thread = threading.Thread(target=self._ask)

    def __enter__(self) -> Visitors:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._thread.join()

    def _ask(self) -> None:
        address = "--resolve crowdd.example.org:443:10.0.0.10 https://crowdd.example.org/"
        many = " ".join([f'-o /dev/null -w "%{{http_code}}\\n" {address}'] * 10)
        while not self._ends.is_set():
            seen = self._site.types("proxy", f"curl -ks {many.replace(' -o', ' --next -ks -o')}").split()
            self.answered += seen.count("200")
            self.refused += [each for each in seen if each != "200"]


@needs("haproxy", "socat")
def test_two_servers_are_set_up_restarted_and_upgraded_as_it_is_written(wheel: Path) -> None:
    with machines(wheel, db=5, proxy=10, a=11, b=12) as site:
        set_up(site)
        restart, look = blocks(SERVERS, "## Restart one server after the other")
        stop, upgrade, start = blocks(SERVERS, "## Upgrade one server after the other")
        both_up = f'test "$({look.strip()} | grep -c ,UP)" = 2'
        site.until("proxy", both_up)
        with Visitors(site) as visitors:
            for name in ("a", "b"):
                site.types(name, restart)
                site.until("proxy", both_up)
            for name in ("a", "b"):
                for block in (stop, upgrade, start):
                    site.types(name, block)
                site.until("proxy", both_up)
        assert visitors.answered > 50 and visitors.refused == []
        assert [problems(site, name) for name in ("a", "b")] == [[], []]


def set_up(site: Machines) -> None:
    """The section Set up two servers."""
    copy_key, share, start, proxy = blocks(SERVERS, "## Set up two servers")
    (ini,) = blocks(SERVERS, "## Set up two servers", "ini")
    _user, database, _configuration, check, unit, _doctor = blocks(*INSTALL)
    site.add_postgresql("db", "10.0.0.5")
    site.types("db", database)
    site.types("db", f"runuser -u postgres -- psql -c \"ALTER ROLE crowdd PASSWORD '{PASSWORD}'\"")
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda name: install(site, name), ("a", "b")))
    for name, number in (("a", 11), ("b", 12)):
        configure(site, name, ini, host=f"10.0.0.{number}", node=name)
    site.types("a", check)
    site.types("a", unit)
    site.types("a", copy_key)
    site.types("b", check)
    site.types("b", unit)
    shared = site.place / "shared"
    shared.mkdir()
    for name in ("a", "b"):
        site.types(name, f"mkdir /srv/crowdd; mount --bind {shared} /srv/crowdd; systemctl stop crowdd")
        site.types(name, share)
    site.types("b", "systemctl start crowdd")
    seen = site.types("a", start)
    assert seen.count('"ready": true') == 2 or seen.count('"ready":true') == 2, seen
    assert re.findall(r"^([ab]) .* ready$", seen, re.MULTILINE) == ["a", "b"], seen
    site.types("proxy", "mkdir -p /run/haproxy /var/lib/haproxy; systemctl start haproxy")
    site.types(
        "proxy",
        "openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=crowdd.example.org -keyout /run/key -out /run/cert 2> /dev/null;"
        " cat /run/cert /run/key > /etc/haproxy/crowdd.pem;"
        # The limit on open files may be low here.
        f" sed 's/maxconn 20000/maxconn 2000/' {ROOT}/deploy/nodes/haproxy.cfg > /etc/haproxy/haproxy.cfg",
    )
    site.types("proxy", proxy)


NAMES = ("db1", "db2", "db3")


@needs("etcd", "etcdctl", "patroni", "patronictl")
def test_a_cluster_is_set_up_and_fails_over_as_it_is_written(wheel: Path) -> None:
    with machines(wheel, a=11, db1=21, db2=22, db3=23) as site:
        packages, etcd, patroni, role = blocks(AVAILABLE, "## Set up the database")
        for number, name in enumerate(NAMES):
            site.types(name, "install -d -o etcd -g etcd /var/lib/etcd; mkdir -p /etc/patroni")
            site.types(name, packages.partition("\n")[2])  # the packages are there, or this test is skipped
            place = {"etcd.env": "/etc/default/etcd", "patroni.yml": "/etc/patroni/config.yml"}
            for file, target in place.items():
                (site.place / name / file).write_text(own(file, name, f"10.0.0.2{number + 1}"))
                site.types(name, f"cp {site.place / name / file} {target}")
        at_once(site, NAMES, etcd.replace("endpoint health", "endpoint health || true"))
        assert site.types("db1", etcd.splitlines()[1]).count("is healthy") == 3
        at_once(site, NAMES, patroni)
        listed = "patronictl -c /etc/patroni/config.yml list"
        whole = f"{listed} | grep -q 'Sync Standby' && test $({listed} | grep -c running) = 3"
        site.until("db1", whole, 120)
        site.types("db2", role)
        _user, _database, _configuration, check, unit, _doctor = blocks(*INSTALL)
        (ini,) = blocks(AVAILABLE, "## Set up crowdd", "ini")
        install(site, "a")
        configure(site, "a", ini)
        site.types("a", check)
        site.types("a", unit)
        ready = "curl -sf http://127.0.0.1:8000/ready"
        site.until("a", ready)
        leader = re.search(r"(db\d) .*Leader", site.types("db3", listed))
        assert leader is not None
        site.types(leader[1], "systemctl stop patroni; pkill -9 -u postgres --ns $$ --nslist mnt || true")
        other = next(name for name in NAMES if name != leader[1])
        site.until(other, f"{listed} | grep Leader | grep -qv {leader[1]}", 60)
        site.until("a", ready, 30)
        site.types(leader[1], "systemctl start patroni")
        site.until(other, whole, 120)
        assert problems(site, "a") == []
        assert site.types("a", "runuser -u crowdd -- crowdctl check") == ""


def own(file: str, name: str, address: str) -> str:
    """A shipped file with what a machine has to put in: its name and its address."""
    text = (ROOT / "deploy/ha" / file).read_text("utf-8")
    text = re.sub(r"((?:NAME=|name: )\"?)db1", rf"\g<1>{name}", text)
    text = re.sub(r"(?m)^(?!.*(?:INITIAL_CLUSTER=|hosts:))(.*)10\.0\.0\.21", rf"\g<1>{address}", text)
    return text.replace("mode: automatic", 'mode: "off"')  # a watchdog would restart this machine
