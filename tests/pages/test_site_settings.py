"""Settings of the site: what each changes on the pages, what is refused, who hears of it, and two administrators at once."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import pytest_twisted
from PIL import Image
from support.browsers import newcomer, registration, signed_in
from support.checks.page_reader import Page, faults
from support.checks.shows import shows
from support.until import until
from twisted.internet.defer import ensureDeferred, gatherResults

import crowdd
from crowdd.core.change_notifier import SITE
from crowdd.core.text import contrast
from crowdd.features.site.site_pages import style_of

HTML = {"Accept": "text/html"}


async def boss_of(served: Any) -> Any:
    await served.person("boss", admin=True)
    return await signed_in(served, "boss")


async def save(boss: Any, path: str, **form: Any) -> Any:
    return (await boss.send_form(path, form)).json()


async def entries(served: Any) -> list[tuple[Any, ...]]:
    rows = await served.database.fetch("SELECT attribute, before, after FROM audit WHERE kind = 'site' ORDER BY id")
    return [(row["attribute"], row["before"], row["after"]) for row in rows]


@shows("admin-site")
@pytest_twisted.ensureDeferred
async def test_a_name_is_on_every_page_and_in_e_mails_and_the_log_says_who_gave_it(served):
    boss = await boss_of(served)
    page = (await boss.page("/admin/site")).json()
    assert page.keys() == {"template", "title", "form", "settings", "usual", "texts"}
    assert page["settings"]["name"] is None and page["usual"]["name"] == "crowdd"
    saved = await save(boss, "/admin/site/look", name="Lake Watch")
    assert (saved["next"], saved["status"]) == ("/admin/site", "success")
    visitor = served.client()
    assert "Lake Watch" in (await visitor.get("/", headers=HTML)).text
    await boss.send_form("/admin/site/test-mail", {}, "/admin/site")
    (letter,) = await served.database.fetch("SELECT recipient, html FROM mail")
    assert letter["recipient"] == "boss@example.org" and "Lake Watch" in letter["html"]
    assert await entries(served) == [("name", None, "Lake Watch"), ("test_mail", None, None)]
    # The same again changes nothing; an empty name is that of crowdd.conf.
    await save(boss, "/admin/site/look", name="Lake Watch")
    await save(boss, "/admin/site/look", name="")
    assert len(await entries(served)) == 3
    assert "Lake Watch" not in (await visitor.get("/", headers=HTML)).text


@shows("admin-site")
@pytest_twisted.ensureDeferred
async def test_a_colour_that_cannot_be_read_is_refused_with_its_contrast(served):
    boss = await boss_of(served)
    refused = await save(boss, "/admin/site/look", name="Lake", accent_light="#f0a51c", accent_dark="#123456")
    assert refused["status"] == "error"
    for field in ("accent_light", "accent_dark"):
        stated = re.fullmatch(r".* ([0-9.]+):1 with #[0-9a-f]{6}\. .*4\.5:1.*", refused["form"]["errors"][field][0])
        assert stated and float(stated[1]) < 4.5
    assert refused["form"]["name"] == "Lake" and await entries(served) == []
    for wrong in ("red", "#12345", "#1234567", "url(x)", "#0b3f63;}"):
        assert "accent_light" in (await save(boss, "/admin/site/look", accent_light=wrong))["form"]["errors"]
    assert 'href="/site.css' not in (await boss.get("/", headers=HTML)).text
    await save(boss, "/admin/site/look", accent_light="#7A1F5C")
    address = re.search(r'href="(/site\.css\?v=\d+)"', (await boss.get("/", headers=HTML)).text)
    assert address
    as_browsers_do = {"Sec-Fetch-Dest": "style", "Sec-Fetch-Site": "cross-site"}  # the frame of a presenter, too
    sheet = await served.client().get(address[1], headers=as_browsers_do)
    assert sheet.status == 200 and sheet.header("cross-origin-resource-policy") == "cross-origin"
    assert "--blue: light-dark(#7a1f5c, #cfe5f4)" in sheet.text and sheet.header("content-type").startswith("text/css")
    assert "immutable" in sheet.header("cache-control")
    assert (await served.client().get("/site.css?v=99")).header("cache-control") == "no-cache"


@pytest.mark.parametrize(("colour", "theme", "enough"), [
    ("#0b3f63", "light", True), ("#cfe5f4", "dark", True), ("#9dcef2", "dark", True), ("#777777", "light", False),
    ("#777777", "dark", False),
])  # fmt: skip
def test_contrast_is_that_of_wcag(colour, theme, enough):
    assert contrast.ratio("#000000", "#ffffff") == pytest.approx(21)
    assert contrast.ratio("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert (contrast.worst(colour, theme).ratio >= contrast.AA) is enough


def test_the_backgrounds_are_those_of_the_style_sheet():
    text = (Path(crowdd.__file__).parent / "http/static/tokens.css").read_text()
    pairs = {name: colours for name, *colours in re.findall(r"--([\w-]+): light-dark\((#\w+), (#\w+)\)", text)}

    def whole(name: str, theme: int) -> str:
        colour = pairs[name][theme]
        return colour if len(colour) == 7 else "#" + "".join(letter * 2 for letter in colour[1:])

    names = ("paper", "sheet", "sunk", "wash", "sun-wash", "ok-wash", "bad-wash")
    for theme, number in (("light", 0), ("dark", 1)):
        assert contrast.BACKGROUNDS[theme] == tuple(whole(name, number) for name in names)
        assert contrast.ON_ACCENT[theme] == whole("on-blue", number)
    assert style_of(None, None).startswith(
        f":root {{ --blue: light-dark({', '.join(pairs['blue'])}); --blue-2: light-dark({', '.join(pairs['blue-2'])})"
    )


def picture(size: tuple[int, int], form: str = "PNG", **more: Any) -> bytes:
    out = BytesIO()
    Image.new("RGB", size, (255, 0, 0)).save(out, form, **more)
    return out.getvalue()


async def send_logo(boss: Any, content: bytes | None, **fields: str) -> Any:
    form = (await boss.page("/admin/site/look")).json()["form"]
    files = {"files": {"logo": ("evil.svg", BytesIO(content))}} if content is not None else {}
    return await boss.post(
        "/admin/site/look?response_format=json", data={"csrf_token": form["csrf"], **fields}, **files
    )


@shows("admin-site")
@pytest_twisted.ensureDeferred
async def test_a_logo_is_drawn_again_and_the_one_before_goes(served):
    boss = await boss_of(served)
    exif = Image.Exif()
    exif[0x010E] = "a secret place"
    assert (await send_logo(boss, picture((1200, 300), "JPEG", exif=exif), name="Lakes")).json()["status"] == "success"
    path = served.house.base.site.row.logo
    logo_file = served.house.base.uploads.folder / path
    with Image.open(logo_file) as logo:
        assert (logo.format, logo.size, b"secret" in logo_file.read_bytes()) == ("WEBP", (480, 120), False)
    page = (await served.client().get("/", headers=HTML)).text
    assert f'src="/uploads/{path}"' in page and (await served.client().get(f"/uploads/{path}")).status == 200
    for broken in (b"<svg onload='alert(1)'/>", b"GIF89a", b"\x89PNG\r\n\x1a\n" + b"\0" * 50):
        refused = (await send_logo(boss, broken, name="Rivers")).json()
        assert "logo" in refused["form"]["errors"], broken
    assert served.house.base.site.row.logo == path and logo_file.exists()
    await send_logo(boss, picture((40, 40)))
    assert not logo_file.exists() and served.house.base.site.row.logo != path
    await send_logo(boss, None, remove_logo="y")
    assert served.house.base.site.row.logo is None and "/uploads/site" not in (await boss.get("/", headers=HTML)).text


@shows("admin-site-texts")
@pytest_twisted.ensureDeferred
async def test_texts_are_shown_in_the_language_of_the_reader_or_in_one_there_is(served):
    boss = await boss_of(served)
    evil = "# Our lakes\n\nWe *count* birds.\n\n<script>alert(1)</script>"
    await save(boss, "/admin/site/texts/en", headline="Birds & <b>lakes</b>", intro="Look **closely**.", about=evil)
    await save(boss, "/admin/site/texts/de", headline="Vögel und Seen")
    home = (await served.client().get("/", headers=HTML)).text
    assert "Birds &amp; &lt;b&gt;lakes&lt;/b&gt;" in home and "<strong>closely</strong>" in home
    german = (await served.client().get("/", headers=HTML | {"Accept-Language": "de"})).text
    assert "Vögel und Seen" in german and re.search(r'<div class="prose lead" lang="en" dir="ltr">', german)
    about = await served.client().get("/about", headers=HTML)
    assert '<h1 class="after">Our lakes</h1>' in about.text and "<em>count</em>" in about.text
    assert "alert(1)</script>" not in about.text and faults(Page(about.text)) == []
    document = (await served.client().page("/about")).json()
    assert document.keys() == {"template", "title", "content"} and document["title"] == "Our lakes"
    assert (await served.client().page("/help/terms-of-use")).json()["title"] == "Terms of use"
    # Back to the text that comes with crowdd.
    await save(boss, "/admin/site/texts/en", about="")
    assert (await served.client().page("/about")).json()["title"] != "Our lakes"
    assert (await boss.page("/admin/site/texts/xx")).status == 404


@shows("admin-site-texts")
@pytest_twisted.ensureDeferred
async def test_texts_are_bounded(served):
    boss = await boss_of(served)
    long = {"headline": "x" * 121, "intro": "x" * 2001, "about": "x" * 20_001, "terms": "[" * 19_000}
    refused = await save(boss, "/admin/site/texts/en", **long, privacy="Fine.")
    assert refused["form"]["errors"].keys() == long.keys()
    assert (await save(boss, "/admin/site/texts/en", headline="two\nlines"))["status"] == "error"
    assert served.house.base.site.row.texts == {} and await entries(served) == []


@shows("admin-site")
@pytest_twisted.ensureDeferred
async def test_of_two_administrators_the_second_is_told_of_the_first(served):
    boss = await boss_of(served)
    version = (await boss.page("/admin/site/look")).json()["version"]
    token = (await boss.page("/admin/site/look")).json()["form"]["csrf"]
    posts = [
        boss.post("/admin/site/look", json={"name": name, "version": version}, headers={"X-CSRFToken": token})
        for name in ("One", "Two")
    ]
    first, second = sorted(
        (answer.json() for answer in await gatherResults([ensureDeferred(post) for post in posts])),
        key=lambda document: document["status"],
        reverse=True,
    )
    assert (first["status"], second["status"]) == ("success", "error")
    assert "changed in the meantime" in second["flash"] and second["version"] == version + 1
    assert len(await entries(served)) == 1
    # With the new version the words that were typed are saved.
    saved = await save(boss, "/admin/site/look", name=second["form"]["name"], version=second["version"])
    assert saved["status"] == "success" and served.house.base.site.name() == second["form"]["name"]


@pytest_twisted.ensureDeferred
async def test_another_process_reads_the_settings_when_it_hears_of_a_change(served):
    await served.database.execute("UPDATE site SET name = 'Elsewhere', version = version + 1")
    assert served.house.base.site.name() == "crowdd"
    await served.database.notify("changes", f"another {SITE}")
    await until(lambda: served.house.base.site.name() == "Elsewhere")


@pytest_twisted.ensureDeferred
async def test_pages_read_the_settings_without_a_statement(served, monkeypatch):
    boss = await boss_of(served)
    await save(boss, "/admin/site/look", name="Lakes", accent_light="#7a1f5c")
    await save(boss, "/admin/site/texts/en", intro="Hello.", headline="Lakes")
    asked = []
    fetch = type(served.database).fetch

    async def counted(self, sql, values=None):
        asked.append(str(getattr(sql, "text", sql)))
        return await fetch(self, sql, values)

    monkeypatch.setattr(type(served.database), "fetch", counted)
    for _ in range(20):  # the server itself reads them again after a change, which may be while a page is made
        asked.clear()
        await served.client().get("/", headers=HTML)
        read = [sql for sql in asked if re.search(r"FROM site\b|rendered_text", sql)]
        if not read:
            break
    assert asked and not read


@shows("admin-site-limits")
@pytest_twisted.ensureDeferred
async def test_limits_count_above_crowdd_conf(serve):
    served = await serve(CROWDD_ACCOUNTS_SIGNUPS_PER_HOUR="1", CROWDD_QUOTA_MAX_PROJECTS="5")
    boss = await boss_of(served)
    wrong = {"default_redundancy": "0", "signups_per_hour": "-1", "max_projects": "many", "signup": "never"}
    assert (await save(boss, "/admin/site/rules", **wrong))["form"]["errors"].keys() == wrong.keys()
    await newcomer(served, "first")
    assert (await served.client().send_form("/account/register", registration("second"))).status == 429
    await save(boss, "/admin/site/rules", signups_per_hour="0", max_projects="1", default_redundancy="7")
    await newcomer(served, "second")
    ada = await served.person("ada")
    project = await served.project(ada)
    refused = await ada.post("/api/project", json={"name": "b", "short_name": "b", "description": "b"})
    assert refused.status == 403 and "1 projects" in refused.text
    # The page proposes the default of the site in its forms; what other forms and programs send gets that of the interface.
    browser = await signed_in(served, "ada")
    at = f"/project/{project['short_name']}/tasks/import"
    assert (await browser.get(at, headers=HTML)).text.count('name="n_answers" value="7"') == 3
    document = (await ada.post(at, json={"rows": "a\n3", "map": True})).json()
    assert (await ada.page(document["next"])).json()["form"]["n_answers"] == 30


@shows("admin-site-steps")
@pytest_twisted.ensureDeferred
async def test_an_administrator_sees_the_first_steps_until_they_are_hidden(served):
    boss = await boss_of(served)
    home = (await boss.get("/", headers=HTML)).text
    assert "First steps for administrators" in home and "0 of 4 done" in home
    assert 'href="/admin/"' in home and "First steps" not in (await served.client().get("/", headers=HTML)).text
    ada = await served.person("ada")
    await served.project(ada)
    await save(boss, "/admin/site/look", name="Lakes")
    await boss.send_form("/admin/site/test-mail", {}, "/admin/site")
    assert "4 of 4 done" in (await boss.get("/", headers=HTML)).text
    hidden = (await boss.send_form("/admin/site/hide-steps", {}, "/admin/site")).json()
    assert hidden["next"] == "/" and "First steps for" not in (await boss.get("/", headers=HTML)).text
