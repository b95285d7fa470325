"""Pictures and documents: what is made of good ones, and a sentence for those that are hostile."""

import hashlib
import io
import re
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from domain.media.preparing import Prepare, by_role
from PIL import Image
from support.media_files import BERLIN, blank_png, drawn, exif, pdf, picture, zipped

from crowdd.features.media.prepared import clean_date, clean_description

SCRIPT = b"<script>alert(1)</script>"


def opened(path: Path) -> Image.Image:
    return Image.open(io.BytesIO(path.read_bytes()))


@pytest.mark.parametrize(
    ("form", "saving", "type_", "web"),
    [
        ("JPEG", {}, "image/jpeg", "image/jpeg"),
        ("PNG", {}, "image/png", "image/png"),
        ("GIF", {}, "image/gif", "image/png"),
        ("WEBP", {}, "image/webp", "image/webp"),
        ("TIFF", {"compression": "tiff_lzw"}, "image/tiff", "image/png"),
        ("AVIF", {}, "image/avif", "image/jpeg"),
        ("HEIF", {}, "image/heic", "image/jpeg"),
    ],
)
def test_each_format_becomes_a_picture_for_the_web_and_a_thumbnail(prepare: Prepare, form, saving, type_, web) -> None:
    if form == "HEIF":
        import pillow_heif

        pillow_heif.register_heif_opener()
    made = prepare(picture(form, (800, 500), **saving), web_pixels=600, thumbnail_pixels=100)
    assert (made.kind, made.type, made.width, made.height, made.frames) == ("picture", type_, 800, 500, 1)
    files = by_role(made)
    assert {*files} == {"web", "thumbnail"} and files["web"].type == web
    assert (files["web"].width, files["web"].height) == (600, 375) == opened(files["web"].path).size
    assert max(opened(files["thumbnail"].path).size) == 100
    for each in made.files:
        content = each.path.read_bytes()
        assert (each.bytes, each.sha256) == (len(content), hashlib.sha256(content).hexdigest())


@pytest.mark.parametrize("orientation", range(1, 9))
def test_pictures_are_turned_upright(prepare: Prepare, orientation: int) -> None:
    upright = drawn()
    turn = {  # how a camera that is held like this stores the picture
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_90,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }
    stored, out = upright.transpose(turn[orientation]) if orientation > 1 else upright, io.BytesIO()
    stored.save(out, "JPEG", exif=exif(orientation), quality=95)
    made = prepare(out.getvalue(), original=True)
    assert (made.width, made.height) == upright.size
    for role in ("web", "original"):
        shown = opened(by_role(made)[role].path)
        assert shown.size == upright.size and 0x0112 not in shown.getexif()
        for point in ((5, 100), (295, 100), (150, 5)):
            assert abs(shown.convert("L").getpixel(point) - upright.convert("L").getpixel(point)) < 12


@pytest.mark.parametrize("form", ["PNG", "WEBP", "TIFF", "AVIF"])
def test_pictures_of_other_formats_are_turned_upright_too(prepare: Prepare, form: str) -> None:
    out = io.BytesIO()
    drawn().transpose(Image.Transpose.ROTATE_90).save(out, form, exif=exif(6))
    made = prepare(out.getvalue(), original=True)
    assert (made.width, made.height) == (300, 200)
    for role in ("web", "original"):
        shown = opened(by_role(made)[role].path).convert("L")
        assert shown.size == (300, 200) and shown.getpixel((2, 100)) < 20 and shown.getpixel((297, 100)) > 235


def test_place_and_scripts_of_exif_xmp_and_comments_are_not_kept(prepare: Prepare) -> None:
    xmp = b"<x:xmpmeta>" + SCRIPT + b"</x:xmpmeta>"
    for form, saving in (("JPEG", {"comment": SCRIPT, "xmp": xmp}), ("PNG", {}), ("WEBP", {"xmp": xmp}), ("TIFF", {})):
        content = picture(form, exif=exif(1, BERLIN, SCRIPT.decode()), **saving)
        assert SCRIPT in content
        made = prepare(content, original=True)
        assert made.place is None
        for each in made.files:
            assert b"script" not in each.path.read_bytes() and not opened(each.path).getexif(), (form, each)


def test_place_is_kept_when_the_owner_wants_it(prepare: Prepare) -> None:
    made = prepare(picture("JPEG", exif=exif(6, BERLIN, "a text")), original=True, location=True)
    assert made.place == (52.52, 13.405)
    tags = opened(by_role(made)["original"].path).getexif()
    assert tags.get_ifd(0x8825)[1] == "N" and [*tags] == [0x8825]
    assert not opened(by_role(made)["web"].path).getexif()
    nonsense = {1: "N", 2: (999.0, 0.0, 0.0), 3: "E", 4: (13.0, 0.0, 0.0)}
    assert prepare(picture("JPEG", exif=exif(1, nonsense)), location=True).place is None


def test_date_and_description_are_read_and_cleaned(prepare: Prepare) -> None:
    tags = Image.Exif()
    tags[0x010E] = ("Nest,\n \u202eafter\x1b[2J rain <b>" + "é" * 3000).encode()
    tags.get_ifd(0x8769)[0x9003], tags.get_ifd(0x8769)[0x9011] = "2024:05:01 12:34:56", "+02:00"
    made = prepare(picture("JPEG", exif=tags.tobytes()))
    assert made.date == "2024-05-01T12:34:56+02:00"
    assert made.description.startswith("Nest, after[2J rain <b>éé") and len(made.description) == 2000
    assert not opened(by_role(made)["web"].path).getexif()
    caption = b"8BIM\4\4\0\0\0\0\0\x0b\x1c\2\x78\0\6Heron!\0"
    iptc = b"Photoshop 3.0\0" + caption
    content = picture("JPEG")
    content = content[:2] + b"\xff\xed" + struct.pack(">H", len(iptc) + 2) + iptc + content[2:]
    assert (prepare(content).description, prepare(content).date) == ("Heron!", "")


@pytest.mark.parametrize(
    ("said", "date"),
    [
        ("2023:12:31 23:59:59", "2023-12-31T23:59:59"),
        ("2023:12:31 23:59:59Z", "2023-12-31T23:59:59+00:00"),
        ("0000:00:00 00:00:00", ""),
        ("2023:02:30 10:00:00", ""),
        ("2023:12:31 23:59:59<script>", ""),
        ({"a": 1}, ""),
    ],
)
def test_dates_that_are_none_are_left_out(said: object, date: str) -> None:
    assert clean_date(said) == date and clean_description(said) == (said if isinstance(said, str) else "")


def test_transparency_many_bits_and_print_colours_are_shown(prepare: Prepare) -> None:
    see_through = prepare(picture("PNG", mode="RGBA"))
    assert by_role(see_through)["web"].type == "image/png"  # nothing of it is transparent, and it has few colours
    out = io.BytesIO()
    Image.merge("RGBA", [Image.effect_noise((300, 200), 50)] * 3 + [drawn(mode="L")]).save(out, "PNG")
    assert opened(by_role(prepare(out.getvalue()))["web"].path).mode == "RGBA"
    out = io.BytesIO()
    drawn(mode="I").point(lambda value: value * 16).convert("I;16").save(out, "PNG")
    deep = by_role(prepare(out.getvalue(), original=True))
    assert opened(deep["original"].path).mode.startswith("I") and opened(deep["web"].path).getextrema() == (0, 255)
    assert opened(by_role(prepare(picture("JPEG", mode="CMYK")))["web"].path).mode == "RGB"


def test_pages_of_documents_become_pictures(prepare: Prepare) -> None:
    made = prepare(pdf([(300, 200), (100, 400)]), web_pixels=600)
    assert (made.kind, made.type, made.pages) == ("document", "application/pdf", 2)
    sizes = [(each.role, each.page, each.width, each.height) for each in made.files if each.role == "page"]
    assert sizes == [("page", 1, 600, 400), ("page", 2, 150, 600)]
    assert [each.page for each in made.files if each.role == "thumbnail"] == [1, 2]
    first = opened(made.files[0].path).convert("L")
    assert (first.getpixel((100, 300)), first.getpixel((500, 50))) == (0, 255)
    out = io.BytesIO()
    drawn().save(out, "TIFF", save_all=True, append_images=[drawn(200, 300)])
    scan = prepare(out.getvalue())
    assert (scan.kind, scan.pages, len(scan.files)) == ("document", 2, 4)


def test_small_pages_are_not_blown_up_and_an_animation_shows_its_first_picture(prepare: Prepare) -> None:
    assert [each.width for each in prepare(pdf([(72, 72)])).files] == [300, 300]
    out = io.BytesIO()
    drawn().save(out, "GIF", save_all=True, append_images=[drawn().rotate(180), drawn()], loop=0)
    made = prepare(out.getvalue())
    assert made.frames == 3 and getattr(opened(by_role(made)["web"].path), "n_frames", 1) == 1


def huge_png(width: int, height: int) -> bytes:
    """A picture that says it is large, and has next to nothing."""
    head = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    chunk = struct.pack(">I", 13) + head + struct.pack(">I", zlib.crc32(head))
    return b"\x89PNG\r\n\x1a\n" + chunk + b"\0\0\0\0IDAT" + struct.pack(">I", zlib.crc32(b"IDAT"))


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (lambda: b"", "The file is empty"),
        (lambda: b"just words, and more\nof them", "This kind of file is not supported"),
        (lambda: b"filename;place\n1.jpg;north\n", "This is a table. Import it after the upload"),
        (
            lambda: b"\xef\xbb\xbf <?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg'><script/></svg>",
            "SVG files",
        ),
        (lambda: "<svg onload='x()'/>".encode("utf-16"), "SVG files"),
        (lambda: b"<!DOCTYPE html><html>", "web page"),
        (lambda: b"GIF89a/*" + SCRIPT + b"*/=1;alert(1)", "GIF file is damaged"),
        (lambda: picture("JPEG")[:2000], "JPEG file is damaged or incomplete"),
        (lambda: picture("PNG", mode="L")[:100], "PNG file is damaged or incomplete"),
        (lambda: picture("WEBP")[:200], "WebP file is damaged or incomplete"),
        (lambda: picture("TIFF")[:5000], "TIFF file is damaged or incomplete"),
        (lambda: huge_png(60_000, 60_000), "The picture has 3,600 million pixels. The limit is 120 million."),
        (lambda: blank_png(20_000, 20_000), "The picture has 400 million pixels"),
        (
            lambda: picture("GIF", (1, 1))[:6] + struct.pack("<HH", 65_535, 65_535) + picture("GIF", (1, 1))[10:],
            "million pixels",
        ),
        (lambda: b"RIFF\xff\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff", "million pixels"),
        (lambda: pdf([(300, 200)] * 3), "The file has 3 pages. The limit is 2."),
        (lambda: pdf([(300, 200)])[:60], "PDF file is damaged"),
        (lambda: b"%PDF-1.7\n" + SCRIPT, "PDF file is damaged"),
        (lambda: zipped({"word/document.xml": b"<x/>"}), "archive or an Office document"),
        (lambda: b"\0\0\0\x14ftypqt  \0\0\0\0qt  ", "QuickTime"),
    ],
)
def test_hostile_and_damaged_files_are_refused_with_a_sentence(
    prepare: Prepare, made: Callable[[], bytes], why: str
) -> None:
    """Each file is made by its own test: pictures made in this list would be made wherever tests are collected."""
    sentence = prepare.why(made(), max_pages=2)
    assert why in sentence and re.fullmatch(r"[A-Z][^<>]+\.", sentence), sentence
    assert [path.name for path in prepare.folder.glob("*.made/*")] == ["result.json"]


def test_what_stands_behind_a_picture_is_not_served(prepare: Prepare) -> None:
    for content in (picture("JPEG") + zipped({"x.html": SCRIPT}), picture("PNG") + SCRIPT, picture("GIF") + SCRIPT):
        for each in prepare(content, original=True).files:
            served = each.path.read_bytes()
            assert b"script" not in served and b"PK\x03\x04" not in served


def test_a_pdf_that_wants_a_password_is_refused(prepare: Prepare) -> None:
    encryption = b"/Encrypt<</Filter/Standard/V 1/R 2/O(%s)/U(%s)/P -4>>/ID[(a)(a)]" % (b"o" * 32, b"u" * 32)
    locked = pdf().replace(b"trailer\n<<", b"trailer\n<<" + encryption)
    assert "password" in prepare.why(locked)


def test_scripts_and_files_in_a_pdf_stay_behind(prepare: Prepare) -> None:
    made = prepare(pdf(more=b"/OpenAction<</S/JavaScript/JS(app.alert(1))>>"))
    assert {each.type for each in made.files} <= {"image/png", "image/jpeg"}
    assert all(b"JavaScript" not in each.path.read_bytes() for each in made.files)
