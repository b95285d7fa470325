"""What crowdd imports is declared, and Twisted still has the private names that crowdd relies on."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# Names without promise, and the modules of ours that use them. Each stands here once, so that the person who changes the version
# of a library knows where to look.
PRIVATE = [
    ("twisted.web.http", "HTTPChannel", "_command", "crowdd/http/edge/site.py"),
    ("twisted.web.http", "HTTPChannel", "_path", "crowdd/http/edge/channel.py"),
    ("twisted.web.http", "HTTPChannel", "_version", "crowdd/http/edge/channel.py"),
    ("twisted.web.http", "HTTPChannel", "_handlingRequest", "crowdd/http/edge/channel.py"),
    ("twisted.web.http", "HTTPChannel", "_networkProducer", "crowdd/http/edge/channel.py"),
    ("twisted.web.http", "HTTPChannel", "_receivedHeaderSize", "crowdd/http/edge/channel.py"),
    ("twisted.web.http", "HTTPChannel", "_abortingCall", "crowdd/http/edge/channel.py"),
    ("twisted.web.http", "HTTPChannel", "_send100Continue", "crowdd/http/edge/channel.py"),
    ("twisted.web.http", "HTTPChannel", "_respondToBadRequestAndDisconnect", "crowdd/http/edge/channel.py"),
    ("twisted.protocols.basic", "LineReceiver", "_buffer", "crowdd/http/edge/channel.py"),
    ("twisted.internet.tcp", "Connection", "_tempDataBuffer", "crowdd/http/edge/channel.py"),
    ("twisted.web.http", "Request", "_disconnected", "crowdd/http/edge/site.py"),
    ("twisted.web.server", "Request", "_handleStar", "crowdd/http/edge/site.py"),
    ("twisted.web.http_headers", "Headers", "_rawHeaders", "crowdd/http/edge/headers.py"),
]


def sources() -> list[Path]:
    return list((ROOT / "crowdd").rglob("*.py"))


def imported() -> dict[str, str]:
    """Packages that crowdd's modules import, each with a module that does."""
    packages: dict[str, str] = {}
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                packages.setdefault(name.partition(".")[0], str(path.relative_to(ROOT)))
    return {name: path for name, path in packages.items() if name not in sys.stdlib_module_names | {"crowdd", ""}}


# Of an extra that tests do without.
NOT_INSTALLED = {"crowdkit": "crowd-kit"}


def test_every_imported_package_is_declared():
    setup = (ROOT / "setup.py").read_text()
    declared = {re.sub(r"[-_.]+", "-", name).lower() for name in re.findall(r'"([A-Za-z0-9_.-]+)(?:>=|==)', setup)}
    owners = packages_distributions()
    missing = {
        name: path
        for name, path in imported().items()
        if not declared
        & {re.sub(r"[-_.]+", "-", owner).lower() for owner in owners.get(name, [NOT_INSTALLED.get(name, name)])}
    }
    assert missing == {}


@pytest.mark.parametrize(("module", "class_", "name", "user"), PRIVATE, ids=lambda value: str(value).rpartition("/")[2])
def test_private_name_exists_and_is_used(module, class_, name, user):
    family = [*getattr(importlib.import_module(module), class_).__mro__][:-1]
    assert any(re.search(rf"\b{name}\b", inspect.getsource(each)) for each in family if "zope" not in each.__module__)
    assert re.search(rf"\.{name}\b|def {name}\b", (ROOT / user).read_text())


def test_no_other_private_name_of_the_channel_is_used():
    """The channel and the request extend classes of Twisted: what they use of ``self`` without defining it is Twisted's."""
    used: set[str] = set()
    for path in ("crowdd/http/edge/channel.py", "crowdd/http/edge/site.py"):
        text = (ROOT / path).read_text()
        own = set(
            re.findall(
                r"^\s+(?:async )?def (_\w+)|^    (_\w+)\b[^\n]*(?:=|:)|self\.(_\w+)\b[^=\n]*(?<![=!<>])=(?!=)",
                text,
                re.M,
            )
        )
        names = {name for each in own for name in each}
        used |= {name for name in re.findall(r"(?:self|channel|super\(\))\.(_[a-z]\w+)", text) if name not in names}
    assert used <= {name for _, _, name, _ in PRIVATE}
