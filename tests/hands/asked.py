"""What volunteers are asked: each type of question and of media, the gallery, the examples, the starters."""

from __future__ import annotations

import functools
import io
import json
from pathlib import Path
from typing import Any, Final

import attrs
from PIL import Image, ImageDraw
from support.questions.marked_lists import ARABIC as ARABIC_TEXT
from support.questions.marked_lists import TEXT, _picture, _sound

from crowdd.features.gallery.gallery import SHIPPED
from crowdd.features.projects import starters
from crowdd.kinds.questions.types import TYPES

Json = dict[str, Any]
ROOT: Final = Path(__file__).parents[2]
EXAMPLES: Final = ROOT / "examples"
SITE: Final = "SITE/"  # the beginning of addresses of media; the server of media has another one each time
LOST: Final = "lost/"  # files below it are not there until somebody loads them again
TASKS: Final = 8
CENTRE: Final = (2.35, 48.85)
ZOOM: Final = 12

PICTURES: Final = ("picture", "zoom_picture")
"""Media by type: the type of medium and what its source is."""
_COLUMN: Final[dict[str, str]] = {
    "picture": "photo.jpg", "zoom_picture": "photo.jpg", "pictures": "photo.jpg", "sound": "call.wav", "video": "call.wav",
}  # fmt: skip
CHOICES: Final = [
    {"value": "fox", "text": {"en": "Fox", "de": "Fuchs", "ar": "ثعلب"}, "key": "f"},
    {"value": "owl", "text": {"en": "Owl", "de": "Eule", "ar": "بومة"}, "key": "o"},
    {"value": "cat", "text": {"en": "Cat", "de": "Katze", "ar": "قطة"}, "key": "c"},
]
LABELS: Final = [
    {"value": "duck", "text": {"en": "Duck", "de": "Ente", "ar": "بطة"}, "key": "d", "colour": "#a32a1c"},
    {"value": "boat", "text": {"en": "Boat", "de": "Boot", "ar": "قارب"}, "key": "b", "colour": "#0b3f63"},
]
_EACH: Final = [{"name": "hidden", "type": "yes_no", "text": "Is a part of it hidden?"}]
_OPTIONS: Final[dict[str, Json]] = {
    "single_choice": {"choices": CHOICES, "unsure": True, "required": True},
    "multiple_choice": {"choices": [{**each, "key": each["key"]} for each in CHOICES], "required": True},
    "yes_no": {"unsure": True, "required": True},
    "rating": {"min": 1, "max": 7, "low": "Bad", "high": "Good", "required": True},
    "number": {"min": -1000, "max": 100_000_000, "unit": "cm", "required": True, "unsure": True, "nothing": True},
    "short_text": {"max_length": 60, "required": True},
    "long_text": {"required": True},
    "date": {"min": "1500-01-01", "max": "2000-12-31", "required": True},
    "ranking": {"choices": [{"value": each["value"], "text": each["text"]} for each in CHOICES], "required": True},
    "matrix": {
        "rows": [{"value": "day", "text": "By day"}, {"value": "night", "text": "By night"}],
        "columns": [{"value": "hunts", "text": "It hunts"}, {"value": "rests", "text": "It rests"}],
        "required": True,
    },
    "transcription": {"required": True},
}


@attrs.frozen
class Asked:
    """A project: its questions or its presenter, and what its tasks have. A task's ``info`` may name files of SITE."""

    name: str
    tasks: list[Json]
    questions: Json | None = None
    presenter: str = ""

    @property
    def every(self) -> list[Json]:
        """Its questions, without those about single marks."""
        return [each for step in (self.questions or {"steps": []})["steps"] for each in step.get("questions", [])]


def _medium(kind: str) -> Json:
    column = {"column": "medium"}
    if kind == "map":
        return {
            "name": "on",
            "type": "map",
            "center": [CENTRE[1], CENTRE[0]],
            "zoom": ZOOM,
            "tiles": {"SITE": "tiles/{z}/{x}/{y}.png"},
        }
    source: Any = [column, column] if kind == "pictures" else column
    return {"name": "on", "type": kind, "source": source, "description": "An example"}


def _of_type(kind: str, medium: str) -> Asked:
    """One type beside one medium, and a question after it, as in most projects."""
    declared = TYPES[kind]
    question: Json = {
        "name": "it",
        "type": kind,
        "text": f"This is about {kind.replace('_', ' ')}.",
        **_OPTIONS.get(kind, {}),
    }
    if declared.media:
        question |= {"on": "on", "required": True}
        if kind != "transcription":
            question |= {"labels": LABELS}
        if kind == "box":
            question |= {"each": _EACH}
        if kind == "map_place":
            question |= {"max": 1}
            question.pop("labels")
    more = {"name": "more", "type": "short_text", "text": "Is there anything to add?", "max_length": 200}
    about = {"name": "sure", "type": "yes_no", "text": "Are you sure?"}
    step: Json = {"name": "look", "media": [_medium(medium)] if medium else [], "questions": [question, about, more]}
    if not medium:
        step.pop("media")
    text = ARABIC_TEXT if medium == "arabic" else TEXT
    tasks = [{"medium": text if medium == "text" else SITE + _COLUMN.get(medium, ""), "n": n} for n in range(TASKS)]
    return Asked(f"type {kind}" + (f" on {medium}" if medium else ""), tasks, {"version": 1, "steps": [step]})


FROM_ELSEWHERE: Final = {"file"}
"""Types whose answers come out of a window of the system, where no hand of these tests reaches (test_file_questions)."""


def of_types() -> list[Asked]:
    """Each type beside each medium that it may be on; the others beside each medium in turn."""
    media = ["", "picture", "pictures", "text", "sound", "video", "zoom_picture"]
    made, turn = [], 0
    for kind, declared in TYPES.items():
        if kind in FROM_ELSEWHERE:
            continue
        made += [_of_type(kind, medium) for medium in sorted(declared.media)]
        if not declared.media:
            made.append(_of_type(kind, media[turn % len(media)]))
            turn += 1
    return made


def _alone(kind: str, name: str) -> Asked:
    """One question alone: where a click answers it."""
    question = {"name": "it", "type": kind, "text": "What is it?", "required": True, **_OPTIONS[kind]}
    step = {"name": "look", "media": [_medium("picture")], "questions": [question]}
    tasks = [{"medium": f"{SITE}photo.jpg", "n": n} for n in range(TASKS)]
    return Asked(name, tasks, {"version": 1, "steps": [step]})


def _parts_of_dates() -> Asked:
    """A date of which a part may be all that is known."""
    question = {
        "name": "it",
        "type": "date",
        "text": "When was it?",
        "partial": True,
        "nothing": True,
        "required": True,
    }
    question |= {"min": "1500-01-01", "max": "2000-12-31"}
    more = {"name": "more", "type": "short_text", "text": "Is there anything to add?"}
    tasks = [{"n": n} for n in range(TASKS)]
    return Asked("date in parts", tasks, {"version": 1, "steps": [{"name": "look", "questions": [question, more]}]})


def _missing(medium: str) -> Asked:
    """One question beside a medium that does not load at first; each task has a file of its own."""
    question = {"name": "it", "type": "single_choice", "text": "What is it?", "required": True, "choices": CHOICES}
    step = {"name": "look", "media": [_medium(medium)], "questions": [question]}
    name = _COLUMN[medium]
    tasks = [{"medium": f"{SITE}{LOST}{n}-{name}", "n": n} for n in range(TASKS)]
    return Asked(f"missing {medium}", tasks, {"version": 1, "steps": [step]})


def _of_folder(folder: Path, name: str) -> Asked:
    """A project of a folder, with enough tasks."""
    record = json.loads((folder / "project.json").read_text())
    rows = [json.loads(line) for line in (folder / "tasks.ndjson").read_text().splitlines()][:TASKS]
    infos = [{key: _file(folder, value) for key, value in row.get("info", row).items()} for row in rows]
    infos = [infos[n % len(infos)] for n in range(TASKS)]
    if "questions" in record["info"]:
        return Asked(name, infos, record["info"]["questions"])
    return Asked(name, infos, presenter=(folder / "presenter.html").read_text())


def _file(folder: Path, value: Any) -> Any:
    """An address of what a task names in its folder."""
    if isinstance(value, str) and len(value) < 200 and "\n" not in value and (folder / value).is_file():
        return f"{SITE}{folder.parent.name}/{folder.name}/{value}"
    return value


@functools.cache
def everything() -> dict[str, Asked]:
    """All that is asked, by name."""
    made = [*of_types(), _alone("single_choice", "one click"), _alone("yes_no", "yes or no")]
    made += [_of_folder(folder, f"gallery {folder.name}") for folder in sorted(SHIPPED.iterdir()) if folder.is_dir()]
    made += [
        _of_folder(folder, f"example {folder.name}")
        for folder in sorted(EXAMPLES.iterdir())
        if (folder / "project.json").is_file()
    ]
    made += [_missing(medium) for medium in ("picture", "zoom_picture", "sound", "video")]
    pictures = [{"picture": f"{SITE}photo.jpg"} for _ in range(TASKS)]
    texts = [{"text": f"Wind NNW, {n}. Heavy swell."} for n in range(TASKS)]
    for name in starters.NAMES:
        made.append(
            Asked(f"starter {name}", pictures if name == "picture" else texts, presenter=starters.source(name) or "")
        )
    made.append(_parts_of_dates())
    return {each.name: each for each in made}


@functools.lru_cache(64)
def file(path: str) -> tuple[str, bytes] | None:
    """The type and content of a medium; None where there is none."""
    if path.startswith(LOST):
        path = path.partition("-")[2]
    if path in ("photo.jpg", "call.wav"):
        return ("image/jpeg", _picture()) if path == "photo.jpg" else ("audio/wav", _sound())
    if path.startswith("tiles/"):
        return "image/png", _tile()
    folder, _, rest = path.partition("/")
    place = {SHIPPED.name: SHIPPED, EXAMPLES.name: EXAMPLES}.get(folder)
    on_disk = place / rest if place else None
    if not on_disk or not on_disk.is_file() or ".." in rest:
        return None
    kinds = {".webp": "image/webp", ".png": "image/png", ".mp3": "audio/mpeg", ".webm": "video/webm"}
    return kinds.get(on_disk.suffix, "application/octet-stream"), on_disk.read_bytes()


@functools.cache
def _tile() -> bytes:

    image, held = Image.new("RGB", (256, 256), "#cfe3d4"), io.BytesIO()
    ImageDraw.Draw(image).rectangle((0, 0, 255, 255), outline="#7a9")
    image.save(held, "PNG")
    return held.getvalue()
