"""The pages of docs/interface: every anchor that is cited exists, tests show every statement, nothing is left out."""

from __future__ import annotations

import ast
import functools
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from crowdd.database import schema
from crowdd.kinds import KINDS
from crowdd.kinds.kind import Kind, Write

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted((DOCS / "interface").glob("*.md"))
TEXT = "\n".join(page.read_text("utf-8") for page in PAGES)
TARGET = re.compile(r"^\(([a-z0-9-]+)\)=$", re.MULTILINE)
STATEMENTS = Counter(TARGET.findall(TEXT))
RECORDS = {int(path.name[:2]) for path in (DOCS / "decisions").glob("[0-9]*.md")}
CODE = [path for folder in ("crowdd", "tests", "bench") for path in sorted((ROOT / folder).rglob("*"))]
CITING = [
    path for path in CODE if path.suffix in (".py", ".sql", ".js", ".html", ".css") and "vendor" not in path.parts
]
# "(interface: newtask-lease)" and "(record 30)": how code cites.
CITED = re.compile(r"\(interface: ([^)]*)\)")
RECORD = re.compile(r"\brecords? (\d+(?:(?:, | and )\d+)*)\b")
# Earlier ways, and documents that are not here.
ELSEWHERE = re.compile(r"\(interface[,)]|\bdecisions? \d|clients\.md|\bincumbents?\b|domain rules")
SET_BY = {
    Write.FREE: "client",
    Write.ONCE: "once",
    Write.STAMPED: "recorded",
    Write.RESERVED: "server",
    Write.COMPUTED: "computed",
}

sys.path.insert(0, str(DOCS))

import reference  # noqa: E402


def marked() -> Iterator[tuple[str, str]]:
    """Every test with ``@shows``, and each anchor that it names."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                for decorator in node.decorator_list:
                    if isinstance(decorator, ast.Call) and getattr(decorator.func, "id", "") == "shows":
                        for argument in decorator.args:
                            yield f"{path.relative_to(ROOT)}::{node.name}", ast.literal_eval(argument)


def test_anchors_are_unique_and_in_front_of_a_statement():
    assert max(STATEMENTS.values()) == 1
    assert all(re.search(rf"^\({re.escape(anchor)}\)=\n\S", TEXT, re.MULTILINE) for anchor in STATEMENTS)


def test_tests_show_every_statement_and_name_no_other():
    shown = [*marked()]
    unknown = [(test, anchor) for test, anchor in shown if anchor not in STATEMENTS]
    assert unknown == []
    nobody = sorted(STATEMENTS.keys() - {anchor for _, anchor in shown})
    assert nobody == [], "statements that no test shows"
    assert max(Counter(shown).values()) == 1, "a test names an anchor once"


def faults_of(text: str) -> list[str]:
    """Anchors and records that a file cites and that do not exist, and documents that are not in the repository."""
    anchors = [anchor.strip() for citation in CITED.findall(text) for anchor in citation.split(",")]
    comments = [citation for words in re.findall(r"\((record[^()]*)\)", text) for citation in RECORD.findall(words)]
    records = [int(number) for citation in comments for number in re.findall(r"\d+", citation)]
    faults = [anchor for anchor in anchors if anchor not in STATEMENTS]
    faults += [f"record {number}" for number in records if number not in RECORDS]
    return faults + ELSEWHERE.findall(text)


def test_code_cites_anchors_and_records_that_exist():
    faults = {path: faults_of(path.read_text("utf-8")) for path in CITING if path != Path(__file__)}
    assert {str(path.relative_to(ROOT)): errors for path, errors in faults.items() if errors} == {}


def test_a_citation_of_something_that_is_not_there_is_found():
    assert faults_of("(interface: task-fields, no-such-thing) (record 28) (record 9999)") == [
        "no-such-thing",
        "record 9999",
    ]
    assert faults_of('"""Lists (interface, List query parameters), as decision 4 says."""') == [
        "(interface,",
        "decision 4",
    ]


def slug(heading: str) -> str:
    """The anchor of a heading, as the site and code hosts make it."""
    words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading.replace("`", ""))
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", words.strip().lower()))


@functools.cache
def anchors_of(path: Path) -> set[str]:
    """What a link to a page may have behind ``#``."""
    text = re.sub(r"^```.*?^```$", "", path.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    return {*TARGET.findall(text), *map(slug, re.findall(r"^#+ (.*)$", text, re.MULTILINE))}


TEXTS = [path for path in sorted(DOCS.rglob("*.md")) if not {"_build", "reference"} & {*path.relative_to(DOCS).parts}]
TEXTS += [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", ROOT / "CODE_OF_CONDUCT.md"]


def links() -> Iterator[tuple[Path, str]]:
    """Each text with each link in it that leads to a file or an anchor."""
    for path in TEXTS:
        text = re.sub(r"^```.*?^```$", "", path.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
        for target in re.findall(r"(?<!!)\[[^]]*\]\(([^)\s]+)\)", text):
            if not re.match(r"[a-z]+:", target):
                yield path, target


def test_links_lead_to_files_and_anchors():
    for path, target in links():
        name, _, anchor = target.partition("#")
        page = path if not name else (path.parent / name).resolve()
        if page.is_relative_to(DOCS / "reference"):
            continue  # made when the site is made
        assert page.exists(), (path.name, target)
        assert not anchor or anchor in anchors_of(page), (path.name, target)


def plain(path: str) -> str:
    """An address with its names left out."""
    return re.sub(r"<[^>]*>", "<>", path).rstrip("/") or "/"


def documented() -> set[str]:
    """Every address that the pages name; "…/x" and "/x" after an address stand for what they complete."""
    addresses: set[str] = set()
    for paragraph in re.split(r"\n\n", TEXT):
        words = [word for span in re.findall(r"`([^`]+)`", paragraph.replace("\n", " ")) for word in span.split()]
        paths = [plain(re.split(r"[?=]", word)[0]) for word in words if word.startswith(("/", "…/"))]
        full: list[str] = []
        for path in paths:
            if path.startswith("…/"):
                tail = path.removeprefix("…")
                parents = {"/".join(each.split("/")[:n]) for each in full for n in range(2, 1 + each.count("/") + 1)}
                addresses |= {parent + tail for parent in parents}
            else:
                addresses |= {each.rpartition("/")[0] + path for each in full}
                full.append(path)
        addresses |= {*full}
        for path in full:
            head, _, tail = path.rpartition("/")
            addresses |= {f"{head}/{word}" for word in tail.split("|")}
    return addresses


OBJECTS = {f"/api/{name}{row}" for name in KINDS for row in ("", "/<>")}
ALTERNATIVES = {
    "/<>": {"/google", "/github", "/orcid"},
    "/<>/oauth_authorized": {f"/{name}/oauth_authorized" for name in ("google", "github", "orcid")},
}


def test_every_address_of_a_server_is_stated():
    known = documented() | OBJECTS
    known |= {path for pattern, paths in ALTERNATIVES.items() if pattern in known for path in paths}
    assert sorted({route.path for route in reference.routes() if plain(route.path) not in known}) == []


def named_in(schema: object) -> Iterator[str]:
    """The names of all properties in a JSON Schema."""
    if isinstance(schema, Mapping):
        for key, inner in schema.items():
            yield from inner if key == "properties" and isinstance(inner, Mapping) else ()
            yield from named_in(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from named_in(inner)


def test_every_parameter_header_and_key_of_the_api_is_stated():
    words = {*re.findall(r"[A-Za-z0-9_-]+", TEXT)} | {f"{name}_token" for name in ("github", "orcid")}
    described = [route.operation for route in reference.routes() if route.operation]
    names = {each.name for doc in described for each in doc.parameters if each.where != "path"}
    names |= {name for doc in described for name in (*named_in(doc.bodies), *named_in(doc.answer))}
    assert names - words == set()


def rows_of(kind: Kind) -> list[list[str]]:
    """The table of a kind's attributes."""
    _, _, rest = TEXT.partition(f"({kind.name}-fields)=")
    table = re.search(r"^\| Attribute .*?\n\n", rest, re.MULTILINE | re.DOTALL)
    assert table is not None, kind.name
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[0].splitlines()[2:] if line]


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_tables_have_every_attribute_and_who_sets_it(kind):
    stated = [(name.strip("`"), set_by, "null" in type_) for name, type_, _, set_by, _ in rows_of(kind)]
    declared = [
        (field.name, SET_BY[field.write] + (", administrators" if field.writers else ""), field.null)
        for field in kind.fields
    ]
    assert stated == declared


def test_every_scheduler_is_in_the_table_of_their_names():
    table = TEXT.partition("(scheduler-names)=")[2].partition(")=")[0]
    assert [name for name in schema.list_schedulers() if f"`{name}`" not in table] == []
