"""Templates are compiled once; what is kept is used only for the text it was made of, and never needed."""

from datetime import UTC, datetime

import pytest
from support.servers.compiled import own_byte_code

from crowdd.http.html import rendering
from crowdd.http.html.rendering import Templates
from crowdd.http.html.static_files import StaticFiles

STATIC = StaticFiles({})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    monkeypatch.setattr(rendering, "open_byte_code_cache", own_byte_code)  # other tests share one of all servers
    made = tmp_path / "templates"
    made.mkdir()
    (made / "page.html").write_text("<p>{{ word }}</p>")
    (made / "other.html").write_text("<p>another</p>")
    return made


def templates(folder, data=None):
    return Templates(STATIC, now=lambda: datetime(2025, 11, 20, tzinfo=UTC), folder=folder, data=data)


def compiled(made):
    """Names of templates that are compiled from now on."""
    names, compile_ = [], made.environment.compile

    def noted(source, name, path):
        names.append(name)
        return compile_(source, name, path)

    made.environment.compile = noted
    return names


def test_another_process_compiles_nothing_but_what_has_changed(folder):
    first = templates(folder)
    names = compiled(first)
    assert first.render("page.html", {"word": "owl"}) == "<p>owl</p>"
    assert names == ["page.html"]
    first.compile_all()
    assert names == ["page.html", "other.html"], "only what was not asked for is left"

    second = templates(folder)
    names = compiled(second)
    second.compile_all()
    assert second.render("page.html", {"word": "fox"}) == "<p>fox</p>"
    assert names == []

    (folder / "page.html").write_text("<b>{{ word }}</b>")
    third = templates(folder)
    names = compiled(third)
    assert third.render("page.html", {"word": "fox"}) == "<b>fox</b>"
    assert names == ["page.html"]


def test_byte_code_of_another_version_is_not_used_and_goes(folder, monkeypatch):
    templates(folder).compile_all()
    before = {path.name for path in (folder / "__pycache__").iterdir()}
    changed = folder.parent / "filters.py"
    changed.write_text("# other filters")
    byte_code = rendering.open_byte_code_cache
    monkeypatch.setattr(
        rendering, "open_byte_code_cache", lambda folder, made_by, data: byte_code(folder, (changed,), data)
    )
    names = compiled(other := templates(folder))
    other.compile_all()
    assert sorted(names) == ["other.html", "page.html"]
    after = {path.name for path in (folder / "__pycache__").iterdir()}
    assert len(after) == 2 and not after & before


def test_damaged_byte_code_is_made_again(folder):
    templates(folder).compile_all()
    (file, other) = sorted((folder / "__pycache__").iterdir())
    file.write_bytes(file.read_bytes()[:60])
    other.write_bytes(b"")
    made = templates(folder)
    assert made.render("page.html", {"word": "owl"}) == "<p>owl</p>"
    assert made.render("other.html", {}) == "<p>another</p>"


def test_a_page_is_rendered_where_its_byte_code_cannot_be_kept(folder):
    made = templates(folder)
    (folder / "__pycache__").rmdir()  # as on a full disk: a file cannot be created
    assert made.render("page.html", {"word": "owl"}) == "<p>owl</p>"
    made.compile_all()
    (folder / "__pycache__").write_text("neither read nor written")
    assert templates(folder).render("page.html", {"word": "fox"}) == "<p>fox</p>"
    assert made.render("other.html", {}) == "<p>another</p>"


def test_where_the_folder_of_templates_cannot_be_written_the_data_folder_keeps_it(folder, tmp_path):
    (folder / "__pycache__").write_text("a file where the folder would be")
    data = tmp_path / "data"
    data.mkdir()
    templates(folder, data).compile_all()
    assert len([*(data / "templates").iterdir()]) == 2

    nowhere = templates(folder)
    assert nowhere.environment.bytecode_cache is None
    nowhere.compile_all()
    assert nowhere.render("page.html", {"word": "owl"}) == "<p>owl</p>"


def test_no_byte_code_is_written_beside_templates_where_python_writes_none(folder, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    templates(folder, tmp_path).compile_all()
    assert not (folder / "__pycache__").exists() and len([*(tmp_path / "templates").iterdir()]) >= 2
