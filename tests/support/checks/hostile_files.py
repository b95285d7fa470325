"""Hostile files of tasks, one for each way to hurt an importer: what is in them, and the sentence that refuses them."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import resource
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pyarrow
import pyarrow.parquet

from crowdd.features.imports import import_rows
from crowdd.features.imports.files import Dialect, detect, inspect
from crowdd.features.imports.prepared.process import discard, prepare
from crowdd.kernel.errors import CrowddError
from support.darwin_core import described
from support.workbooks import cell, ods, ods_cell, ods_row, row, table, xlsx, xlsx_members, zipped

MAX_UPLOAD = 100_000_000  # bytes, as [http] max_import_bytes
MAX_MEMORY = 80e6  # bytes that the server may grow by
MAX_CHILD_MEMORY = 1.05e9  # bytes of the process that reads what is no text: its own limit
MAX_SECONDS = 30.0  # of CPU, both processes together
_PLAIN = table([["name", "n"], ["fox", 3]])
_SECRET = "SECRET-OF-THE-SERVER"


@attrs.frozen
class HostileFile:
    """``words``: one of them is in the sentence that refuses it. "rows" for a file that is read, but follows nothing."""

    format: str
    name: str
    content: Callable[[Path], bytes]
    words: tuple[str, ...]

    @property
    def id(self) -> str:
        """What it is called."""
        return f"{self.format}: {self.name}"


@attrs.frozen
class Outcome:
    """``words`` that refused a file, or "rows: n"; bytes of memory, and seconds of CPU."""

    words: str
    memory: int
    child_memory: int
    seconds: float
    left: tuple[str, ...]
    told: bool  # a secret of the server came out


def _parquet(columns: object, **options: object) -> bytes:
    out = io.BytesIO()
    pyarrow.parquet.write_table(columns, out, **options)  # type: ignore[no-untyped-call]
    return out.getvalue()


def _nested_parquet() -> bytes:
    deep: object = "x"
    for _ in range(90):
        deep = [deep]
    return _parquet(pyarrow.table({"a": [deep] * 10}))


def _dictionary() -> bytes:
    places = pyarrow.array([0] * 2000, pyarrow.int32())
    repeated = pyarrow.DictionaryArray.from_arrays(places, pyarrow.array(["x" * 900_000]))
    return _parquet(pyarrow.table({"a": repeated}), compression="zstd")


def _billion() -> bytes:
    nulls = pyarrow.table({"n": pyarrow.nulls(1_000_000_000, pyarrow.null())})
    return _parquet(nulls, row_group_size=1_000_000_000)


def _laughs(end: str = "") -> str:
    entities = '<!ENTITY a "aaaaaaaaaa">' + "".join(
        f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    return f'<?xml version="1.0"?><!DOCTYPE x [{entities}{end}]>'


def _sheet(text: str, head: str) -> bytes:
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    rows = table([["a"], [text]])
    sheet = f'{head}<worksheet xmlns="{main}"><sheetData>{rows}</sheetData></worksheet>'
    return zipped({**xlsx_members({"One": _PLAIN}), "xl/worksheets/sheet1.xml": sheet})


def _outside(folder: Path) -> str:
    (folder / "secret").write_text(_SECRET)
    return f'<!ENTITY x SYSTEM "file://{folder / "secret"}">'


def _external_link(_folder: Path) -> bytes:
    formulas = row(1, cell("A1", "url"), cell("B1", "n")) + row(
        2,
        cell("A2", "stored", formula="[1]Sheet1!A1"),
        cell(
            "B2",
            "x",
            formula="HYPERLINK(&quot;http://169.254.169.254/&quot;)+WEBSERVICE(&quot;http://169.254.169.254/&quot;)",
        ),
    )
    target = '<Relationship Id="rId1" TargetMode="External" Target="http://169.254.169.254/latest/meta-data"/>'
    members = {
        **xlsx_members({"One": formulas}),
        "xl/externalLinks/externalLink1.xml": '<?xml version="1.0"?><externalLink xmlns:r="r"><externalBook r:id="rId1"/></externalLink>',
        "xl/externalLinks/_rels/externalLink1.xml.rels": f'<?xml version="1.0"?><Relationships>{target}</Relationships>',
    }
    return zipped(members)


def _lying_sizes(_folder: Path) -> bytes:
    bomb = xlsx({"One": row(1, *(cell("A1", "x" * 100_000) for _ in range(300)))})
    with zipfile.ZipFile(io.BytesIO(bomb)) as archive:
        true = archive.getinfo("xl/worksheets/sheet1.xml").file_size
    return bomb.replace(true.to_bytes(4, "little"), (1000).to_bytes(4, "little"))


def _many_members(_folder: Path) -> bytes:
    return zipped({f"f{n}": b"" for n in range(20_000)} | {"a.csv": "a\n1\n"}, 0)


def _wide_ods(_folder: Path) -> bytes:
    wide = ods_cell("string", "a").replace(
        "<table:table-cell", '<table:table-cell table:number-columns-repeated="16384"'
    )
    return ods("One", ods_row(wide, repeated=1_000_000_000))


def _always(content: bytes | Callable[[], bytes]) -> Callable[[Path], bytes]:
    return lambda _folder: content if isinstance(content, bytes) else content()


FILES = (
    HostileFile("xml", "comments that could begin a web page", _always(b"<!---->" * 4_000), ("XML",)),
    HostileFile("ris", "line breaks before nothing", _always(b"\x0c" + b"\n" * 20_000), ("The file is empty",)),
    HostileFile("json", "contexts that do not end", _always(b"{" + b'"@context":[' * 9_000), ("JSON",)),
    HostileFile("csv", "100,000 columns", _always(lambda: b",".join(b"c%d" % n for n in range(100_000)) + b"\n" + b"1," * 99_999 + b"1\n"), ("columns", "No row of the file can be used")),
    HostileFile("csv", "100,000 cells in one row", _always(lambda: b"a,b\n1,2\n" + b"1," * 100_000 + b"\n"), ("rows",)),
    HostileFile("csv", "a line of 60 MB", _always(lambda: b"a,b\n" + b"x" * 60_000_000), ("longer than 1,000,000 bytes",)),
    HostileFile("csv", "a quotation mark that never ends", _always(lambda: b'a,b\n"' + b"x,y\n" * 1_000_000), ("rows",)),
    HostileFile("csv", "gzip of 1 GB of zeros", _always(lambda: gzip.compress(bytes(100_000_000)) * 10), ("compressed",)),
    HostileFile("csv", "zeros", _always(lambda: bytes(50_000_000)), ("not text", "empty", "UTF")),
    HostileFile("json", "a million brackets", _always(lambda: b"[" * 1_000_000), ("No row of the file can be used", "rows")),
    HostileFile("json", "objects in objects", _always(lambda: b"[" + b'{"a":' * 500_000 + b"]"), ("No row of the file can be used",)),
    HostileFile("json", "an object with 500,000 keys", _always(lambda: b"[{" + b",".join(b'"k%d":1' % n for n in range(500_000)) + b"}]"), ("No row of the file can be used",)),
    HostileFile("json", "a text of 60 MB", _always(lambda: b'[{"a":"' + b"x" * 60_000_000 + b'"}]'), ("No row of the file can be used",)),
    HostileFile("ndjson", "brackets in one line", _always(lambda: b'{"a":1}\n{"a":' + b"[" * 900_000 + b"\n"), ("rows",)),
    HostileFile("xlsx", "formulas and a link to another file", _external_link, ("rows",)),
    HostileFile("xlsx", "zip bomb", _always(lambda: xlsx({"One": _PLAIN + row(3, cell("A3", "x" * 50_000_000))})), ("unpacks to 50,",)),
    HostileFile("xlsx", "zip bomb that lies about its size", _lying_sizes, ("cannot be read", "too much memory or time", "no rows")),
    HostileFile("xlsx", "a billion laughs", lambda folder: _sheet("&amp;i;".replace("&amp;", "&"), _laughs()), ("cannot be read", "too much memory", "rows")),
    HostileFile("xlsx", "an entity with a file of the server", lambda folder: _sheet("&x;", _laughs(_outside(folder))), ("cannot be read", "rows")),
    HostileFile("xlsx", "a cell at each corner of a sheet", _always(lambda: xlsx({"One": row(1, cell("A1", "a")) + row(1_048_576, cell("XFD1048576", 1))})), ("too much memory or time",)),
    HostileFile("ods", "a billion repeated rows", _wide_ods, ("cannot be read", "too much memory")),
    HostileFile("ods", "zip bomb", _always(lambda: ods("One", ods_row(ods_cell("string", "x" * 50_000_000)))), ("unpacks to 50,", "unpacks to 100,")),
    HostileFile("ods", "a billion laughs", _always(lambda: ods("One", ods_row(ods_cell("string", "&i;")), _laughs())), ("cannot be read", "too much memory", "rows")),
    HostileFile("parquet", "a billion rows", _always(_billion), ("1,000,000,000 rows",)),
    HostileFile("parquet", "a dictionary that repeats a long value", _always(_dictionary), ("take more than 500,000,000 bytes", "too much memory or time")),
    HostileFile("parquet", "a page that unpacks to 310 MB", _always(lambda: _parquet(pyarrow.table({"a": ["x" * 310_000_000]}), compression="zstd", use_dictionary=False, write_statistics=False)), ("A row group of the Parquet file has 310,",)),
    HostileFile("parquet", "lists in lists in lists", _always(_nested_parquet), ("rows", "damaged", "too much memory")),
    HostileFile("parquet", "a footer of 2 GB", _always(lambda: _parquet(pyarrow.table({"a": ["x"]}))[:-8] + (2**31).to_bytes(4, "little") + b"PAR1"), ("damaged or in a form",)),
    HostileFile("dwca", "entities in its description", lambda folder: zipped({"meta.xml": described("scientificName", head=_laughs(_outside(folder)) + "<archive>&x;&i;"), "occurrence.txt": "1\tx\n"}), ("archive is damaged",)),
    HostileFile("dwca", "a table outside the archive", lambda folder: zipped({"meta.xml": described("scientificName").replace("occurrence.txt", "../../../../etc/passwd"), "occurrence.txt": "1\tx\n"}), ("archive is damaged",)),
    HostileFile("dwca", "zip bomb", _always(lambda: zipped({"meta.xml": described("scientificName"), "occurrence.txt": "1\t" + "x" * 50_000_000})), ("unpacks to 50,",)),
    HostileFile("observations", "zip bomb", _always(lambda: zipped({"observations.csv": "id,x\n1," + "x" * 50_000_000, "photos.csv": "observation_id,url\n"})), ("unpacks to",)),
    HostileFile("observations", "a field of 9 MB", _always(lambda: zipped({"observations.csv": 'id,x\n1,"' + "x" * 9_000_000, "photos.csv": "observation_id,url\n1,x\n"})), ("damaged",)),
    HostileFile("iiif", "nested a million times", _always(lambda: b'{"@context":"http://iiif.io/api/presentation/3/context.json","items":' + b"[" * 1_000_000 + b"}"), ("damaged", "not", "No row")),
    HostileFile("zip", "zip bomb", _always(lambda: zipped({"a.csv": b"a\n" + b"x\n" * 60_000_000})), ("more than 100,000,000 bytes",)),
    HostileFile("zip", "20,000 members", _many_members, ("cannot be read",)),
    HostileFile("zip", "a name that leads outside", _always(lambda: zipped({"../../../etc/cron.d/x.csv": b"a\n1\n"})), ("rows",)),
    HostileFile("zip", "an archive in an archive", _always(lambda: zipped({"a.csv": zipped({"b.csv": b"a\n1\n"})})), ("archive",)),
)  # fmt: skip


def examined(file: HostileFile) -> Outcome:
    """What becomes of a file, in a process of its own, as an import reads it."""
    with tempfile.TemporaryDirectory(prefix="crowdd-hostile-", dir="/tmp") as name:
        folder = Path(name)
        path = folder / "file"
        # Made by another process, whose memory does not count.
        _forked(lambda: path.write_bytes(file.content(folder)))
        outcome: Outcome = _forked(lambda: _measured(path))
        return outcome


def _forked(work: Callable[[], object]) -> Any:
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(source)
        try:
            with os.fdopen(sink, "wb") as out:
                pickle.dump(work(), out)
        finally:
            os._exit(0)
    os.close(sink)
    with os.fdopen(source, "rb") as stream:
        outcome = stream.read()
    os.waitpid(child, 0)
    assert outcome, "the process of a hostile file has died"
    return pickle.loads(outcome)


def _measured(path: Path) -> Outcome:
    def used() -> tuple[int, float]:
        own, others = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
        return own.ru_maxrss * 1024, own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime

    # A fork begins with the memory of its parent, so that only what is more than that is counted.
    memory, seconds = used()
    sample = ""
    try:
        import_rows.unpack_archive(path, MAX_UPLOAD)
        dialect = Dialect.from_json(detect(path).to_json())
        preview = inspect(prepare(path, dialect), 5, dialect)
        sample, words = str(preview.sample), f"rows: {preview.rows - preview.refused} of {preview.rows}"
    except CrowddError as error:
        words = str(error)
    more_memory, more_seconds = used()
    discard(path)
    left = tuple(sorted(each.name for each in path.parent.iterdir() if each.name != "secret"))
    child = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    leaked = _SECRET in words + sample
    return Outcome(words, more_memory - memory, child, more_seconds - seconds, left, leaked)


def violations(file: HostileFile, found: Outcome) -> list[str]:
    """What is wrong with what became of a file."""
    wrong = []
    if not any(words in found.words for words in file.words):
        wrong.append(f"told: {found.words}")
    if not found.words.startswith("rows:") and not found.words.endswith("."):
        wrong.append(f"no sentence: {found.words}")
    if found.memory > MAX_MEMORY or found.child_memory > MAX_CHILD_MEMORY:
        wrong.append(f"memory: {found.memory:,} and {found.child_memory:,} bytes")
    if found.seconds > MAX_SECONDS:
        wrong.append(f"{found.seconds:.1f} s of CPU")
    if found.told or found.left:
        wrong.append(f"left {found.left}, told {found.told}")
    return wrong
