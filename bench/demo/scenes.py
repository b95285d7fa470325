"""The projects of the demonstration: what their tasks show, and what people make of it.

Pictures and recordings are drawn, so that it is known what is in them. A person is as careful as ``skill`` says, from
0 to 1.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from bench.gallery import island, nature, pages, sounds, texts, views
from bench.gallery.canvas import Canvas

Json = dict[str, Any]
Say = Callable[[Any, random.Random, float], Json]
_TRIES: Final = 24  # pictures of a project


@attrs.frozen
class Shown:
    """A task: its columns, and what is to be seen or heard in it."""

    columns: Json
    truth: Any = None


@attrs.frozen
class Scene:
    """A project made from a template of the gallery (``template``)."""

    template: str
    short_name: str
    name: str
    category: str
    n_answers: int
    make: Callable[[Path], list[Shown]]
    say: Say
    description: str


def _slip(chance: random.Random, skill: float) -> bool:
    return chance.random() > skill


def _mark(x: float, y: float, width: float, height: float) -> Json:
    left, top = max(0.0, round(x, 1)), max(0.0, round(y, 1))
    box = {"x": left, "y": top, "width": round(width, 1), "height": round(height, 1)}
    return {**box, "selector": _fragment(f"xywh=pixel:{left:g},{top:g},{box['width']:g},{box['height']:g}")}


def _fragment(value: str) -> Json:
    return {"type": "FragmentSelector", "conformsTo": "http://www.w3.org/TR/media-frags/", "value": value}


# Pictures of a wildlife camera


def _clearings(folder: Path) -> list[Shown]:
    shown = []
    for seed in range(_TRIES):
        chance = random.Random(seed)
        species = chance.choice(("fox", "deer", "hedgehog", "bird", "bird", ""))
        place = (chance.uniform(250, 600), chance.uniform(380, 450), chance.uniform(120, 220))
        name = f"{seed + 1:02d}.webp"
        nature.trap([(species, *place)] if species else [], seed, chance.choice(("day", "dusk"))).save(folder / name)
        kind = "nothing" if not species else "bird" if species == "bird" else "mammal"
        shown.append(Shown({"picture": name}, kind))
    return shown


def _sorted(truth: str, chance: random.Random, skill: float) -> Json:
    if not _slip(chance, skill):
        return {"seen": truth}
    return {"seen": chance.choice([None, *(each for each in ("mammal", "bird", "nothing") if each != truth)])}


# Boxes and points


def _drawn(folder: Path, seed: int, canvas: Canvas) -> Shown:
    name = f"{seed + 1:02d}.webp"
    canvas.save(folder / name)
    return Shown({"picture": name}, canvas.things)


def _lakes(folder: Path) -> list[Shown]:
    return [_drawn(folder, seed, nature.lake(2 + seed % 5, 1 + seed % 3, 100 + seed)) for seed in range(_TRIES)]


def _boxed(truth: Sequence[tuple[str, float, float, float, float]], chance: random.Random, skill: float) -> Json:
    marks, spread = [], 6 * (1.1 - skill)
    for label, left, top, right, bottom in truth:
        if _slip(chance, skill + 0.5 * (1 - skill)):
            continue
        edges = [each + chance.gauss(0, spread) for each in (left, top, right, bottom)]
        named = label if not _slip(chance, 0.9 + 0.1 * skill) else "boat" if label == "duck" else "duck"
        mark = _mark(edges[0], edges[1], max(8, edges[2] - edges[0]), max(8, edges[3] - edges[1]))
        marks.append({**mark, "label": named, "answers": {"hidden": chance.random() < 0.1}})
    return {"objects": marks}


def _colonies(folder: Path) -> list[Shown]:
    return [_drawn(folder, seed, nature.penguins(6 + seed % 9, 2 + seed % 5, 200 + seed)) for seed in range(_TRIES)]


def _counted(truth: Sequence[tuple[str, float, float, float, float]], chance: random.Random, skill: float) -> Json:
    marks = []
    for label, left, top, right, bottom in truth:
        if _slip(chance, skill + 0.6 * (1 - skill)):
            continue
        x = round((left + right) / 2 + chance.gauss(0, 3), 1)
        y = round((top + bottom) / 2 + chance.gauss(0, 4), 1)
        marks.append({"x": x, "y": y, "selector": _fragment(f"xywh=pixel:{x:g},{y:g},1,1"), "label": label})
    return {"penguins": marks, "snow": False}


# Texts that are read and typed

_PLANTS: Final = (
    "Gentiana verna L.",
    "Drosera rotundifolia L.",
    "Primula farinosa L.",
    "Silene acaulis L.",
    "Arnica montana L.",
)
_SITES: Final = (
    "Wet meadow near the mill", "Peat bog, north shore of the lake", "Limestone slope above the village",
    "Edge of the forest",
)  # fmt: skip
_MONTHS: Final = ("April", "May", "June", "July", "August")


def _labels(folder: Path) -> list[Shown]:
    shown = []
    for seed in range(_TRIES):
        chance = random.Random(300 + seed)
        day = f"{chance.randrange(1, 29)} {chance.choice(_MONTHS)} {chance.randrange(1885, 1921)}"
        lines = ("HERBARIUM OF THE ISLAND", chance.choice(_PLANTS), chance.choice(_SITES), f"{day}   leg. M. Aubert")
        pages.label(lines, seed).save(folder / f"{seed + 1:02d}.webp")
        shown.append(Shown({"picture": f"{seed + 1:02d}.webp"}, "\n".join(" ".join(line.split()) for line in lines)))
    return shown


def _typed(truth: str, chance: random.Random, skill: float) -> Json:
    letters = list(truth)
    for place in range(len(letters)):
        if letters[place].isalpha() and chance.random() > 0.97 + 0.03 * skill:
            letters[place] = chance.choice("aeinorst")
    return {"text": "".join(letters)}


# Names in texts

_NAMES: Final = {
    "person": (
        "Elias Brandt", "Harriet Colby", "Teresa Moreno", "Jonas Field", "Ada Lindqvist", "Paul Renner", "Walter Finch",
        "Edith Crane", "Brandt", "Samuel Oakes", "Lucie Perrin", "Otto Hansen", "Peter Moll",
    ),
    "place": (
        "Port Selwyn", "Madeira", "Lower Marsh", "Ashford", "Granby", "Holm Bridge", "Norrby", "Cape Norr", "Lisbon",
    ),
    "date": (
        "3 May 1887", "12 October 1901", "9 March", "2 August 1899", "17 January", "1 June 1876", "5 November",
        "February 1888", "4 September 1893", "30 April", "21 July 1905", "1743",
    ),
}  # fmt: skip


def _spans(text: str) -> list[tuple[str, int, int]]:
    """Label, start and end of each name in a text; the longest one where several begin at a place."""
    spans: dict[int, tuple[str, int, int]] = {}
    for label, names in _NAMES.items():
        for name in sorted(names, key=len):
            at = text.find(name)
            if at >= 0 and not any(start < at < end for _, start, end in spans.values()):
                spans[at] = (label, at, at + len(name))
    return [spans[at] for at in sorted(spans)]


def _newspaper(folder: Path) -> list[Shown]:
    return [Shown({"text": text}, (text, _spans(text))) for text in texts.NEWS]


def _named(truth: tuple[str, list[tuple[str, int, int]]], chance: random.Random, skill: float) -> Json:
    text, spans = truth
    marks = []
    for label, start, end in spans:
        if _slip(chance, skill + 0.5 * (1 - skill)):
            continue
        wrong = _slip(chance, 0.85 + 0.15 * skill)
        selector = {"type": "TextPositionSelector", "start": start, "end": end}
        named = "place" if wrong else label
        marks.append({"start": start, "end": end, "text": text[start:end], "label": named, "selector": selector})
    return {"names": marks}


# Letters to a town

_LETTERS: Final = (
    ("The lime trees in the park were pruned so carefully this spring. Thank you!", ["green"], 5),
    ("For the third week in a row nobody has collected the bins in our street. This is unbearable.", ["waste"], 1),
    ("Could the traffic light at the school stay green a little longer? The children have to run.", ["traffic"], 3),
    ("Cars park on the cycle path in Mill Street every single morning.", ["traffic"], 2),
    ("The new benches by the pond are lovely. Could there be one in the shade, too?", ["green"], 5),
    ("Somebody leaves old tyres behind the allotments, right among the young trees.", ["green", "waste"], 2),
    ("When does the library open on Saturdays now? The notice at the door says two things.", ["other"], 3),
    ("Thank you for the glass bin at the station. It was needed.", ["waste"], 4),
    ("The 14 bus has been late for a month, and nobody tells us why.", ["traffic"], 2),
    ("The playground smells of the rubbish that is left beside the full bins.", ["waste"], 1),
    ("Please mow the meadow later this year: there were orchids in it.", ["green"], 4),
    ("The street lamp in front of number 9 has been dark since Christmas.", ["other"], 2),
)


def _letters(folder: Path) -> list[Shown]:
    return [Shown({"text": text}, (topics, mood)) for text, topics, mood in _LETTERS]


def _judged(truth: tuple[list[str], int], chance: random.Random, skill: float) -> Json:
    topics, mood = truth
    named = [chance.choice(("traffic", "green", "waste", "other"))] if _slip(chance, skill) else topics
    return {"topic": named, "mood": min(5, max(1, mood + round(chance.gauss(0, 1.2 - skill))))}


# Sounds


def _pond(folder: Path) -> list[Shown]:
    shown = []
    for seed in range(12):
        chance = random.Random(400 + seed)
        voices = [chance.choice(("frog", "bird", "engine", "frog")) for _ in range(3)]
        events = [(0.6 + step * 2.4 + chance.uniform(0, 0.4), voice) for step, voice in enumerate(voices)]
        name = f"{seed + 1:02d}.wav"
        (folder / name).write_bytes(sounds.wav(sounds.scene(8.0, events, seed)).getvalue())
        lengths = {"frog": 0.5, "bird": 1.2, "engine": 1.9}
        shown.append(Shown({"sound": name}, [(voice, at, at + lengths[voice]) for at, voice in events]))
    return shown


def _heard(truth: Sequence[tuple[str, float, float]], chance: random.Random, skill: float) -> Json:
    marks = []
    for label, start, end in truth:
        if _slip(chance, skill + 0.5 * (1 - skill)):
            continue
        first, last = (round(max(0, each + chance.gauss(0, 0.08)), 2) for each in (start, end))
        last = max(last, round(first + 0.1, 2))
        named = label if not _slip(chance, 0.9 + 0.1 * skill) else "bird"
        marks.append({"start": first, "end": last, "label": named, "selector": _fragment(f"t={first:g},{last:g}")})
    return {"events": marks}


_CALLS: Final = ("cuckoo", "woodpecker", "warbler")


def _songs(folder: Path) -> list[Shown]:
    shown = []
    for seed in range(12):
        call = _CALLS[seed * 7 % 3]
        name = f"{seed + 1:02d}.wav"
        recording = sounds.scene(4.0, [(0.4, call), (2.2, call)], 500 + seed)
        (folder / name).write_bytes(sounds.wav(recording).getvalue())
        shown.append(Shown({"sound": name}, call))
    return shown


def _recognised(truth: str, chance: random.Random, skill: float) -> Json:
    slips = _slip(chance, skill)
    sure = min(5, max(1, round(chance.gauss(2 if slips else 2 + 3 * skill, 0.8))))
    return {"bird": chance.choice([None, *_CALLS]) if slips else truth, "sure": sure}


# Maps

_PLACES: Final = (
    (-0.02, 0.058), (-0.02, -0.009), (-0.028, -0.062), (0.104, 0.0), (-0.017, -0.02), (-0.02, 0.017), (-0.095, -0.021),
    (-0.02, -0.035), (-0.003, -0.06), (-0.02, 0.036), (0.05, -0.012), (-0.02, -0.006),
)  # fmt: skip


def _notes(folder: Path) -> list[Shown]:
    shape = island.geojson()
    return [
        Shown({"text": note, "map": shape}, island.at(*place))
        for note, place in zip(island.NOTES, _PLACES, strict=True)
    ]


def _placed(truth: Sequence[float], chance: random.Random, skill: float) -> Json:
    spread = 0.0025 * (1.1 - skill)  # degrees
    place = [round(each + chance.gauss(0, spread), 6) for each in truth]
    geometry = {"type": "Point", "coordinates": place}
    return {"place": [{"geometry": geometry}], "exact": "spot" if chance.random() < skill - 0.2 else "about"}


# Two pictures


def _villages(folder: Path) -> list[Shown]:
    shown = []
    for seed in range(_TRIES):
        chance = random.Random(600 + seed)
        gone = tuple(sorted(chance.sample(range(14), chance.choice((0, 0, 1, 2, 4, 6)))))
        flooded = chance.random() < 0.25
        before, after = f"{seed + 1:02d}-before.webp", f"{seed + 1:02d}-after.webp"
        views.village(seed).save(folder / before)
        views.village(seed, gone, flooded).save(folder / after)
        kinds = ["houses"] * bool(gone) + ["water"] * flooded
        changed = "no" if not kinds else "much" if len(gone) > 3 or flooded else "little"
        shown.append(Shown({"before": before, "after": after}, (changed, kinds)))
    return shown


def _compared(truth: tuple[str, list[str]], chance: random.Random, skill: float) -> Json:
    changed, kinds = truth
    if _slip(chance, skill):
        changed = chance.choice(("no", "little", "much"))
    return {"changed": changed} if changed == "no" else {"changed": changed, "what": kinds or ["trees"]}


# A survey

_WISHES: Final = (
    "A safe way to school.", "More buses on Sundays.", "Fewer cars in the old town.", "Trees along the main street.",
    "Lights on the path by the river.", "A lift at the station.", "Slower traffic in Mill Street.", "Cheaper tickets.",
)  # fmt: skip


def _survey(folder: Path) -> list[Shown]:
    return [Shown({"text": texts.SURVEY[0]})]


def _opinion(_truth: None, chance: random.Random, _skill: float) -> Json:
    how = chance.choices(("bike", "bus", "car", "foot"), (34, 27, 24, 15))[0]
    liked = {"bike": ("paths", (2, 3, 5)), "bus": ("buses", (2, 5, 3))}.get(how)
    rate = {row: chance.choices(("good", "fair", "poor"), (4, 4, 2))[0] for row in ("paths", "buses", "walks")}
    if liked:
        rate[liked[0]] = chance.choices(("good", "fair", "poor"), liked[1])[0]
    wanted = {aim: chance.random() + place / 3 for place, aim in enumerate(("safe", "fast", "cheap"))}
    answer: Json = {"how": how, "rate": rate, "order": sorted(wanted, key=wanted.__getitem__)}
    answer["happy"] = min(10, max(0, round(chance.gauss({"bike": 7, "foot": 7.5, "bus": 5.5, "car": 5}[how], 1.8))))
    if how == "car":
        answer["parking"] = chance.random() < 0.4
    if how == "bus":
        answer["wait"] = max(1, round(chance.gauss(11, 5)))
    if chance.random() < 0.3:
        answer["wish"] = chance.choice(_WISHES)
    return answer


SCENES: Final = (
    Scene(
        "sort-pictures", "forest-cameras", "Forest cameras", "sensing", 5, _clearings, _sorted,
        "What walked past the camera: a mammal, a bird, or nothing?",
    ),
    Scene(
        "boxes", "lake-counts", "Ducks on the lake", "sensing", 5, _lakes, _boxed,
        "Draw a box around every duck and every boat.",
    ),
    Scene(
        "count-animals", "penguin-colony", "Penguin colony", "sensing", 5, _colonies, _counted,
        "Click on every adult and every chick.",
    ),
    Scene(
        "transcribe-field", "herbarium", "Labels of a herbarium", "thinking", 3, _labels, _typed,
        "Type what is written on the labels of dried plants.",
    ),
    Scene(
        "names-and-places", "old-newspaper", "Names in an old newspaper", "thinking", 5, _newspaper, _named,
        "Mark the people, places and dates.",
    ),
    Scene(
        "topic-of-text", "letters-to-the-town", "Letters to the town", "thinking", 7, _letters, _judged,
        "What are the letters about, and how friendly are they?",
    ),
    Scene(
        "sound-events", "night-pond", "A pond at night", "sensing", 5, _pond, _heard,
        "Mark frogs, birds and engines in recordings.",
    ),
    Scene(
        "which-bird", "dawn-chorus", "Dawn chorus", "sensing", 7, _songs, _recognised,
        "Which bird sings?",
    ),
    Scene(
        "place-on-map", "island-notes", "Notes from an island", "thinking", 7, _notes, _placed,
        "Find the places of old field notes on the map.",
    ),
    Scene(
        "compare", "after-the-storm", "After the storm", "sensing", 5, _villages, _compared,
        "What has changed between two pictures from above?",
    ),
    Scene(
        "survey", "into-town", "Into town", "thinking", 240, _survey, _opinion,
        "How do people get into town, and what should become better?",
    ),
)  # fmt: skip
