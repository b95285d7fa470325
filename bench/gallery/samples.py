"""Writes the sample tasks of all templates and the data of the examples: ``python -m bench.gallery.samples [NAME …]``.

The files are the same at each run with the same versions of Pillow, PyAV and eSpeak NG.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import orjson

from bench.gallery import films, island, nature, pages, sounds, texts, views
from bench.gallery.canvas import Canvas

ROOT = Path(__file__).parents[2]
TEMPLATES, EXAMPLES = ROOT / "crowdd/features/gallery/library", ROOT / "examples"
Task = dict[str, object]
Make = Callable[[Path], list[Task]]

_TRAPS: tuple[tuple[list[tuple[str, float, float, float]], str], ...] = (
    ([("fox", 430, 400, 210)], "day"),
    ([("bird", 350, 420, 130), ("bird", 560, 450, 110)], "day"),
    ([], "dusk"),
)
_SPECIES: tuple[tuple[list[tuple[str, float, float, float]], str], ...] = (
    ([("deer", 320, 390, 240), ("deer", 600, 380, 150)], "day"),
    ([("hedgehog", 420, 440, 170)], "dusk"),
    ([("fox", 480, 410, 200)], "dusk"),
)


def _pictures(folder: Path, canvases: list[Canvas], column: str = "picture", start: int = 1) -> list[Task]:
    rows: list[Task] = []
    for number, canvas in enumerate(canvases, start):
        name = f"{number:02d}.webp"
        canvas.save(folder / name)
        rows.append({column: name})
    return rows


def _traps(scenes: tuple[tuple[list[tuple[str, float, float, float]], str], ...], folder: Path) -> list[Task]:
    return _pictures(folder, [nature.trap(animals, seed, time) for seed, (animals, time) in enumerate(scenes, 11)])


def _lakes(count: int, folder: Path) -> list[Task]:
    return _pictures(folder, [nature.lake(3 + seed % 4, 1 + seed % 3, seed) for seed in range(count)])


def _colonies(folder: Path) -> list[Task]:
    return _pictures(folder, [nature.penguins(adults, chicks, adults) for adults, chicks in ((14, 5), (22, 9), (9, 3))])


def _fields(folder: Path) -> list[Task]:
    return _pictures(folder, [views.fields(lakes, seed) for seed, lakes in ((3, 2), (5, 1), (8, 3))])


def _skies(folder: Path) -> list[Task]:
    return _pictures(folder, [views.sky(galaxies, galaxies) for galaxies in (5, 8)])


def _villages(folder: Path) -> list[Task]:
    rows: list[Task] = []
    for number, (gone, flooded) in enumerate((((3, 7), False), ((), False), ((1, 2, 8, 12), True)), 1):
        before, after = f"{number:02d}-before.webp", f"{number:02d}-after.webp"
        views.village(number).save(folder / before)
        views.village(number, gone, flooded).save(folder / after)
        rows.append({"before": before, "after": after})
    return rows


def _things(folder: Path) -> list[Task]:
    return _pictures(folder, [views.thing(kind, 1) for kind in ("vase", "key", "bottle")])


def _diary(count: int, folder: Path) -> list[Task]:
    return _pictures(folder, [pages.diary(lines, seed) for seed, lines in enumerate(pages.DIARY[:count])])


def _letters(folder: Path) -> list[Task]:
    return _pictures(folder, [pages.letter(*parts, seed) for seed, parts in enumerate(pages.LETTERS)])


def _labels(folder: Path) -> list[Task]:
    return _pictures(folder, [pages.label(lines, seed) for seed, lines in enumerate(pages.LABELS)])


def _texts(rows: tuple[str, ...], folder: Path) -> list[Task]:
    return [{"text": words} for words in rows]


def _sounds(scenes: list[tuple[float, list[tuple[float, str]]]], folder: Path) -> list[Task]:
    rows: list[Task] = []
    for number, (seconds, events) in enumerate(scenes, 1):
        name = f"{number:02d}.mp3"
        sounds.save(sounds.scene(seconds, events, number), folder / name)
        rows.append({"sound": name})
    return rows


def _pond(count: int, folder: Path) -> list[Task]:
    voices = ("frog", "bird", "engine", "frog", "frog")
    scenes = []
    for number in range(count):
        events = [(0.6 + step * 2.3 + number % 3 * 0.2, voices[(number + step * 2) % 5]) for step in range(3)]
        scenes.append((8.0, events))
    return _sounds(scenes, folder)


def _birds(folder: Path) -> list[Task]:
    calls = (
        ((0.4, "cuckoo"), (2.0, "cuckoo")),
        ((0.5, "woodpecker"), (2.4, "woodpecker")),
        ((0.4, "warbler"), (2.3, "warbler")),
    )
    return _sounds([(4.0, list(events)) for events in calls], folder)


def _speech(folder: Path) -> list[Task]:
    rows: list[Task] = []
    for number, sentences in enumerate(texts.SPOKEN, 1):
        name = f"{number:02d}.mp3"
        sounds.save(sounds.speech(list(sentences)), folder / name)
        rows.append({"sound": name})
    return rows


def _films(folder: Path) -> list[Task]:
    rows: list[Task] = []
    for number, visits in enumerate(([(1.0, 6.0, 7.5)], [(0.5, 8.0, 9.5), (3.0, 6.0, 7.5)]), 1):
        name = f"{number:02d}.webm"
        films.save(films.feeder(list(visits)), folder / name)
        rows.append({"video": name})
    return rows


def _places(notes: tuple[str, ...], folder: Path) -> list[Task]:
    return [{"text": words, "map": island.geojson()} for words in notes]


MADE: dict[Path, Make] = {
    TEMPLATES / "sort-pictures": partial(_traps, _TRAPS),
    TEMPLATES / "identify-species": partial(_traps, _SPECIES),
    TEMPLATES / "boxes": partial(_lakes, 3),
    TEMPLATES / "count-animals": _colonies,
    TEMPLATES / "outline": _fields,
    TEMPLATES / "large-picture": _skies,
    TEMPLATES / "compare": _villages,
    TEMPLATES / "describe-object": _things,
    TEMPLATES / "transcribe-lines": partial(_diary, 3),
    TEMPLATES / "transcribe-field": _labels,
    TEMPLATES / "letter-metadata": _letters,
    TEMPLATES / "names-and-places": partial(_texts, texts.NEWS[:3]),
    TEMPLATES / "topic-of-text": partial(_texts, texts.CITIZENS),
    TEMPLATES / "sound-events": partial(_pond, 3),
    TEMPLATES / "which-bird": _birds,
    TEMPLATES / "transcribe-recording": _speech,
    TEMPLATES / "video-behaviour": _films,
    TEMPLATES / "place-on-map": partial(_places, island.NOTES[:3]),
    TEMPLATES / "area-on-map": partial(_places, island.AREAS),
    TEMPLATES / "survey": partial(_texts, texts.SURVEY),
    EXAMPLES / "ducks": partial(_lakes, 12),
    EXAMPLES / "diary": partial(_diary, 12),
    EXAMPLES / "newspaper": partial(_texts, texts.NEWS),
    EXAMPLES / "pond": partial(_pond, 10),
    EXAMPLES / "town": partial(_texts, texts.SURVEY),
    EXAMPLES / "island": partial(_places, island.NOTES),
}


def main(names: list[str]) -> None:
    """Makes those with these names, or all."""
    for folder, make in MADE.items():
        if names and folder.name not in names:
            continue
        folder.mkdir(parents=True, exist_ok=True)
        lines = [orjson.dumps(task) + b"\n" for task in make(folder)]
        (folder / "tasks.ndjson").write_bytes(b"".join(lines))
        print(folder.relative_to(ROOT), len(lines), sum(file.stat().st_size for file in folder.iterdir()) // 1000, "kB")


if __name__ == "__main__":
    main(sys.argv[1:])
