"""Bundles: which questions are in which, and that a script is taken as it stands or refused."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import playwright
import pytest

from crowdd.features.questions import documents
from crowdd.http.html.bundles import BUNDLES, FAMILIES, Bundle, BundleError, bundle, sheet
from crowdd.http.html.static_files import StaticFiles
from crowdd.kinds.questions.types import MEDIA, TYPES

FILES = StaticFiles.read()
NODE = Path(playwright.__file__).parent / "driver" / "node"  # Playwright brings it


def body(path: str) -> str:
    file = FILES.lookup(path)
    assert file is not None, path
    return file.body.decode()


def listed(*types: str, media: tuple[str, ...] = ()) -> dict[str, object]:
    step = {"questions": [{"type": name} for name in types], "media": [{"type": name} for name in media]}
    return {"questions": {"version": 1, "steps": [step]}}


@pytest.mark.parametrize("name", [*TYPES, *MEDIA])
def test_the_families_of_a_list_have_the_module_of_each_type_and_medium(name: str) -> None:
    module = f"questions/types/{TYPES[name].module or name}.js" if name in TYPES else f"questions/media/{name}.js"
    families = documents.families_of(listed(name) if name in TYPES else listed(media=(name,)))
    assert any(f'add("{module}", ' in body(f"bundles/{family}.js") for family in families), (module, families)


def test_a_list_of_simple_questions_loads_no_library_and_others_only_their_own() -> None:
    simple = listed(*(each.name for each in TYPES.values() if not each.media), media=("picture", "text"))
    assert documents.families_of(simple) == ["choices"] and "annotorious" not in body("bundles/choices.css")
    assert documents.families_of(listed("box", "single_choice")) == ["marks"]
    assert documents.families_of(listed("box", "map_place")) == ["marks", "map"]
    assert documents.families_of(listed("transcription", media=("picture",))) == ["marks"]
    assert documents.families_of(listed("transcription", media=("sound",))) == ["time"]
    assert documents.families_of(listed("transcription", "box", media=("picture", "sound"))) == ["marks", "time"]
    assert "vendor/leaflet" not in body("bundles/marks.js") and ".leaflet-pane" not in body("bundles/marks.css")


def test_no_part_of_a_bundle_is_asked_for_once_more() -> None:
    for family in FAMILIES:
        shipped = re.findall(r'"([^"]+)"', re.search(r"for \(const path of (\[.*?\])\)", body(family.path("js")))[1])  # type: ignore[index]
        assert {*family.libraries, *family.looks} <= set(shipped)


@pytest.mark.parametrize("path", [each.path for each in BUNDLES if each.path.endswith(".js")])
def test_each_bundle_is_a_script(path: str) -> None:
    done = subprocess.run([NODE, "--check", "-"], input=body(path), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_modules_run_once_in_their_order_and_see_what_others_export() -> None:
    files = {
        "a.js": b'import { two as double, Thing } from "./b/b.js";\nimport * as all from "./b/b.js";\n'
        b"console.log(double(3), new Thing().name, all.COUNT);\n"
        b'import("./b/c.js").then(({ late, first }) => console.log(late, first));\n',
        "b/b.js": b'/* said\n   never */\nconsole.log("once");\nexport const two = (n) => 2 * n;\n'
        b"export class Thing { name = `thing // kept`; }\nexport let COUNT = 1;\n",
        "b/c.js": b"const late = 5, hidden = 6;\nexport { late, hidden as first };\n",
    }
    made = bundle(Bundle("x.js", ("a.js", "b/c.js")), files, "/static/").decode()
    page = 'globalThis.window = globalThis; globalThis.location = { href: "http://h/p" };'
    page += 'globalThis.document = { currentScript: { dataset: { start: "a.js" } } };'
    done = subprocess.run([NODE, "-"], input=page + made, capture_output=True, text=True, check=False)
    assert (done.stdout.split("\n"), done.stderr) == (["once", "6 thing // kept 1", "5 6", ""], "")


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"a.js": b'import { b } from "./b.js";'}, "imports b.js"),
        ({"a.js": b'import { b } from "./b.js";', "b.js": b'import { a } from "./a.js";'}, "import each other"),
        ({"a.js": b"export default 5;"}, "cannot have"),
        ({"a.js": b'import b from "./b.js";', "b.js": b""}, "cannot have"),
        ({}, "must be static files"),
    ],
)
def test_what_cannot_be_bundled_is_refused(files: dict[str, bytes], why: str) -> None:
    with pytest.raises(BundleError, match=why):
        bundle(Bundle("x.js", ("a.js",)), files, "/static/")


def test_a_style_sheet_finds_its_pictures_from_elsewhere() -> None:
    rules = "/* no\n more */\na { background: url(images/x.png) } b { background: url('data:x') } c { mask: url(#m) }\n"
    assert sheet(rules, "vendor/map/map.css", "/static/") == (
        "a { background: url(\"/static/vendor/map/images/x.png\") } b { background: url('data:x') } c { mask: url(#m) }\n"
    )
