"""CONTRIBUTING's map fits the tree."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from crowdd.features import FEATURES

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs/contributing").glob("*.md"))]
TEXT = "\n".join(page.read_text("utf-8") for page in PAGES)
MAP = TEXT.partition("## Source tree")[2].partition("\n## ")[0]
FIRST_COLUMN = [line.split("|")[1] for line in MAP.splitlines() if line.startswith("| `")]
PATHS = [path for cell in FIRST_COLUMN for path in re.findall(r"`([^`]+)`", cell)]
FOLDERS = ("crowdd/", "deploy/", "tests/", "docs/", "etc/", "bench/", "examples/", "twisted/", "clients/")


def named_in_text() -> list[str]:
    """Every path that stands anywhere in the pages for contributors."""
    return sorted({word for word in re.findall(r"`([\w./]+)`", TEXT) if word.startswith(FOLDERS)})


def test_what_is_named_is_there():
    assert [path for path in sorted({*PATHS, *named_in_text()}) if not (ROOT / path).exists()] == []


def test_files_that_are_named_by_the_end_of_their_path_are_there():
    ends = set(re.findall(r"`((?:[\w-]+/)*[\w-]+\.(?:py|sql|html|toml))`", TEXT))
    files = [*ROOT.glob("*.*"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.*"))]
    paths = [f"/{path.relative_to(ROOT)}" for path in files]
    ends -= {"project/x.html", "project_x.html"}  # how templates are named
    assert [end for end in sorted(ends) if not any(path.endswith(f"/{end}") for path in paths)] == []


def test_every_package_is_on_the_map():
    packages = {path.parent.relative_to(ROOT) for path in (ROOT / "crowdd").rglob("__init__.py")} - {Path("crowdd")}
    modules = {path.relative_to(ROOT) for path in (ROOT / "crowdd").glob("*.py")} - {Path("crowdd/__init__.py")}
    assert {str(path) for path in packages | modules} <= set(PATHS)


def test_the_map_goes_from_the_bottom_up():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    layers = next(each["layers"] for each in contracts if each.get("containers") == ["crowdd"])
    tops = [path.removeprefix("crowdd/").removesuffix(".py") for path in PATHS if path.count("/") == 1]
    assert [name for name in tops if name in layers] == layers[::-1]
    features = [path.removeprefix("crowdd/features/") for path in PATHS if path.startswith("crowdd/features/")]
    assert [name for name in features if "/" not in name] == list(FEATURES)


def test_the_page_on_security_names_tests_and_files_that_are_there():
    page = (ROOT / "docs/security.md").read_text("utf-8")
    tests = {tuple(name.split("::")) for name in re.findall(r"`(tests/[\w/]+\.py(?:::\w+)+)", page)}
    assert len(tests) > 200
    missing = [
        "::".join(names)
        for names in sorted(tests)
        if not all(re.search(rf"\b(?:def|class) {name}\b", (ROOT / names[0]).read_text("utf-8")) for name in names[1:])
    ]
    assert missing == []
    assert [path for path in re.findall(r"`((?:crowdd|docs|etc)/[\w/.]+)`", page) if not (ROOT / path).exists()] == []
