"""Pictures of people: whatever comes is read, cut out and redrawn, or refused."""

import struct
import zlib
from io import BytesIO

import orjson
import pytest
import pytest_twisted
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from support.browsers import newcomer
from support.checks.proofs import examples
from support.checks.shows import shows

from crowdd.core import pictures
from crowdd.core.pictures import EDGE, Box, redrawn
from crowdd.kernel.errors import InvalidValueError

RED, BLUE = (255, 0, 0), (0, 0, 255)


def picture(size=(100, 60), format="PNG", color=RED, **more):
    out = BytesIO()
    Image.new("RGB", size, color).save(out, format, **more)
    return out.getvalue()


def halves():
    """Red on the left, blue on the right."""
    made = Image.new("RGB", (200, 100), RED)
    made.paste(BLUE, (100, 0, 200, 100))
    out = BytesIO()
    made.save(out, "PNG")
    return out.getvalue()


def bomb(width=50_000, height=50_000):
    """A PNG of a few kilobytes that says it has 2,500 million pixels."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 10**6)) + chunk(b"IEND", b"")
    )


async def upload(browser, content, filename="blob", query="?response_format=json", **fields):
    token = (await browser.page("/account/ada/update")).json()["upload_form"]["csrf"]
    return await browser.post(
        f"/account/ada/update{query}",
        data={"btn": "Upload", **fields},
        files={"avatar": (filename, BytesIO(content))},
        headers={"X-CSRFToken": token},
    )


async def info_of(browser):
    return (await browser.page("/account/profile")).json()["user"]["info"]


@shows("account-update-post")
@pytest_twisted.ensureDeferred
async def test_a_picture_is_cut_out_and_served(served):
    ada = await newcomer(served, "ada")
    done = await upload(ada, halves(), x1="110", y1="10", x2="190.4", y2="90")
    assert done.json()["status"] == "success", done.body
    info = await info_of(ada)
    assert info.keys() == {"avatar", "avatar_url", "container"} and info["avatar_url"].endswith(info["avatar"])
    path = f"/uploads/{info['container']}/{info['avatar']}"
    answer = await served.client().get(path)
    with Image.open(BytesIO(answer.body)) as seen:
        assert (seen.size, seen.format, seen.convert("RGB").getpixel((0, 0))) == ((EDGE, EDGE), "PNG", BLUE)
    profile = (await ada.get("/account/profile")).text
    assert f'src="{path}"' in profile


@pytest_twisted.ensureDeferred
async def test_a_new_picture_replaces_the_file_of_the_old_one(served):
    ada = await newcomer(served, "ada")
    folder = served.house.base.uploads.folder
    for color in (RED, BLUE):
        await upload(ada, picture(color=color))
        assert len([path for path in folder.rglob("*") if path.is_file()]) == 1


@pytest_twisted.ensureDeferred
async def test_what_is_no_picture_is_refused_and_leaves_nothing(served):
    ada = await newcomer(served, "ada")
    svg = b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'
    for content, filename in (
        (b"<script>alert(1)</script>", "a.png"), (svg, "a.svg"), (svg, "a.png"), (b"GIF89a<script>alert(1)</script>", "a.gif"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 50, "a.png"), (picture()[:60], "a.png"), (bomb(), "a.png"), (b"", "a.png"),
        (picture(format="TIFF"), "a.tif"), (picture(format="BMP"), "a.bmp"),
    ):  # fmt: skip
        answer = (await upload(ada, content, filename)).json()
        assert answer["status"] == "error" and list(answer["upload_form"]["errors"]) == ["avatar"], filename
    assert await info_of(ada) == {} and not served.house.base.uploads.folder.exists()


@pytest_twisted.ensureDeferred
async def test_the_name_of_the_file_leads_nowhere(served):
    ada = await newcomer(served, "ada")
    for name in ("../../../../etc/cron.d/x", "/etc/passwd", "a.png\x00.html", "..", "C:\\x.png"):
        assert (await upload(ada, picture(), name)).json()["status"] == "success"
        assert (await info_of(ada))["avatar"].endswith(".png")
    files = [path for path in served.house.base.uploads.folder.rglob("*") if path.is_file()]
    assert [path.parent.name for path in files] == [f"user-{(await ada.page('/account/profile')).json()['user']['id']}"]


@pytest_twisted.ensureDeferred
async def test_what_a_person_writes_into_info_is_no_file_of_ours(served):
    ada, bob = await newcomer(served, "ada"), await newcomer(served, "bob")
    await upload(ada, picture())
    mine = await info_of(ada)
    me = (await bob.page("/account/profile")).json()["user"]["id"]
    lie = {**mine, "avatar_url": "https://evil.example/track.gif"}
    assert (await bob.put(f"/api/user/{me}", json={"info": lie})).status == 403
    values = {"info": orjson.dumps(lie).decode(), "id": me}  # as it could be written before
    await served.database.execute("UPDATE account SET info = %(info)s::jsonb WHERE id = %(id)s", values)
    assert "evil.example" not in (await bob.get("/account/profile")).text
    token = (await bob.page("/account/bob/update")).json()["upload_form"]["csrf"]
    form = {"data": {"btn": "Upload"}, "files": {"avatar": ("a", BytesIO(picture(color=BLUE)))}}
    await bob.post("/account/bob/update?response_format=json", headers={"X-CSRFToken": token}, **form)
    assert (await served.client().get(f"/uploads/{mine['container']}/{mine['avatar']}")).status == 200


@pytest_twisted.ensureDeferred
async def test_without_a_file_the_form_asks_for_one(served):
    ada = await newcomer(served, "ada")
    token = (await ada.page("/account/ada/update")).json()["upload_form"]["csrf"]
    for body in ({"json": {"btn": "Upload", "avatar": "x"}}, {"data": {"btn": "Upload"}}):
        answer = await ada.post("/account/ada/update?response_format=json", headers={"X-CSRFToken": token}, **body)
        assert list(answer.json()["upload_form"]["errors"]) == ["avatar"]


@pytest_twisted.ensureDeferred
async def test_a_broken_box_is_the_middle(served):
    ada = await newcomer(served, "ada")
    for box in (
        {"x1": "nan", "y1": "0", "x2": "5", "y2": "5"}, {"x1": "1"}, {"x1": "a", "y1": "0", "x2": "5", "y2": "5"},
        {"x1": "9e99", "y1": "0", "x2": "5", "y2": "5"}, {"x1": "-5", "y1": "-5", "x2": "-1", "y2": "-1"},
    ):  # fmt: skip
        assert (await upload(ada, picture(), **box)).json()["status"] == "success", box


def test_nothing_but_pixels_is_kept():
    metadata = PngInfo()
    metadata.add_text("Comment", "taken at home")
    content = picture(pnginfo=metadata, icc_profile=b"my own printer")
    assert b"taken at home" in content and b"at home" not in redrawn(content, None)
    assert b"iCCP" not in redrawn(content, None)
    assert b"PHP" not in redrawn(picture() + b"<?PHP", None)


def test_a_photo_is_turned_upright():
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was held upright
    wide = Image.open(BytesIO(halves()))
    out = BytesIO()
    wide.save(out, "JPEG", exif=exif, quality=95)
    with Image.open(BytesIO(redrawn(out.getvalue(), None))) as seen:
        top, bottom = (seen.convert("RGB").getpixel((EDGE // 2, y)) for y in (20, EDGE - 20))
    assert top[0] > 200 > 60 > bottom[0]


@pytest.mark.parametrize(
    ("box", "cut"),
    [
        (Box(10, 20, 50, 60), (10, 20, 50, 60)), (Box(50, 60, 10, 20), (10, 20, 50, 60)), (Box(-5, -5, 500, 500), (0, 0, 100, 80)),
        (Box(10, 10, 10, 10), (10, 0, 90, 80)), (Box(200, 200, 300, 300), (10, 0, 90, 80)),
    ],
)  # fmt: skip
def test_a_box_stays_within_the_picture(box, cut):
    assert box.within(100, 80) == cut


def test_many_pixels_are_refused_before_they_are_unpacked(monkeypatch):
    monkeypatch.setattr(pictures, "_drawn", lambda *_: pytest.fail("unpacked"))
    for content in (bomb(), bomb(8_000, 8_000)):
        with pytest.raises(InvalidValueError, match="million pixels"):
            redrawn(content, None)


@examples("lossless")
@pytest.mark.parametrize("more", [{}, {"lossless": True}, {"exif": b"Exif\0\0"}], ids=["lossy", "lossless", "extended"])
def test_a_large_webp_is_refused_before_it_is_opened(monkeypatch, more):
    small, large = picture((90, 60), "WEBP", **more), picture((6_000, 5_001), "WEBP", **more)
    assert Image.open(BytesIO(redrawn(small, None))).size == (EDGE, EDGE)
    monkeypatch.setattr(Image, "open", lambda *_, **__: pytest.fail("opened"))
    with pytest.raises(InvalidValueError, match="million pixels"):
        redrawn(large, None)
