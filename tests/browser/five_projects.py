"""Volunteers of five projects in Chromium: what each of them does, and what must be stored of it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import mean, median
from typing import Any

import attrs
from browser.first_hour import WAYS, Hands, Way
from support.questions.marking import Surface, field, near

Json = dict[str, Any]
TILE = 256  # pixels of the world at zoom 0
LINES = ("Dear sister,", "the boat came in late", "your Anna")


@attrs.frozen
class Story:
    """A project and how its volunteers answer.

    ``act`` presses what a volunteer (a number from 0) presses at their nth task, and returns what is meant by that.
    ``says`` counts from that what the page of results must say. ``people`` take part, each in all ``tasks``.
    """

    way: Way
    act: Callable[[Hands, Any, int, int], Json]
    says: Callable[[list[list[Json]]], Json]
    tasks: int
    people: int = 3
    by: float = 3.0
    """How far numbers may be from what is meant: pixels of a screen are no pixels of a picture."""

    def stored(self, info: Json, meant: Json) -> bool:
        """Whether an answer says what is meant."""
        return all(near(info.get(name), value, self.by) for name, value in meant.items())


def _button(frame: Any, name: str) -> Any:
    return frame.get_by_role("button", name=name, exact=True)


def _send(hands: Hands, frame: Any) -> None:
    hands.press(_button(frame, "Send"))


# Letters: three lines, one of which the last volunteer reads otherwise.


def letter_lines(person: int, nth: int) -> list[str]:
    """What a volunteer reads at their nth letter."""
    lines = [*LINES]
    if person == 2:
        lines[1] = ("the goat came in late", "the boat came in 1ate")[nth % 2]
    return lines


def _letters(hands: Hands, frame: Any, person: int, nth: int) -> Json:
    question = field(frame, "lines")
    page = frame.locator("[data-medium=page] svg").first
    meant = []
    for number, text in enumerate(letter_lines(person, nth)):
        top = 75 + 100 * number + 2 * person
        hands.drag(page, (50 / 600, top / 400), (450 / 600, (top + 40) / 400))
        hands.until(lambda want=number + 1: question.locator(".mark-item").count() == want)
        hands.page.keyboard.type(text)
        meant.append({"text": text, "x": 50, "y": top, "width": 400, "height": 40})
    _send(hands, frame)
    return {"lines": meant}


# A survey

WAYS_INTO_TOWN = {"bike": "By bike", "bus": "By bus or train", "car": "By car", "foot": "On foot"}
RANKED = {"Safety": "safe", "Speed": "fast", "Price": "cheap"}
RATED, GRADES = ("paths", "buses", "walks"), ("good", "fair", "poor")


def opinion(person: int, nth: int) -> Json:
    """What a volunteer thinks."""
    how = ("bike", "bus", "car", "bike", "foot", "bike")[person]
    meant: Json = {"how": how, "order": [["safe", "fast", "cheap"], ["cheap", "safe", "fast"]][person % 2]}
    meant["rate"] = {row: GRADES[(person + at) % 3] for at, row in enumerate(RATED)}
    meant["happy"] = (person * 3 + nth) % 11
    if how == "bus":
        meant["wait"] = 7 + nth
    if how == "car":
        meant["parking"] = nth == 0
    if person % 2 == 0:
        meant["wish"] = f"More trees, says number {person}"
    return meant


def _survey(hands: Hands, frame: Any, person: int, nth: int) -> Json:
    meant = opinion(person, nth)
    hands.press(frame.locator("[data-question=how]").get_by_role("radio", name=WAYS_INTO_TOWN[meant["how"]]))
    if "wait" in meant:
        hands.write(frame.get_by_role("textbox", name="How many minutes"), str(meant["wait"]))
    if "parking" in meant:
        hands.press(
            frame.locator("[data-question=parking]").get_by_role("radio", name="Yes" if meant["parking"] else "No")
        )
    hands.press(_button(frame, "Next"))
    for row, value in meant["rate"].items():
        line = frame.locator("[data-question=rate] tbody tr").nth(RATED.index(row))
        hands.press(line.get_by_role("radio").nth(GRADES.index(value)))
    _rank(hands, frame, meant["order"])
    slider = frame.locator("[data-question=happy] input[type=range]")
    slider.focus()
    hands.page.keyboard.press("Home")
    for _ in range(meant["happy"]):
        hands.page.keyboard.press("ArrowRight")
    if "wish" in meant:
        hands.write(frame.locator("[data-question=wish] textarea"), meant["wish"])
    _send(hands, frame)
    return meant


def _rank(hands: Hands, frame: Any, order: list[str]) -> None:
    """Puts entries into an order with the buttons beside them."""
    question = frame.locator("[data-question=order]")
    if order == ["safe", "fast", "cheap"]:
        hands.press(question.get_by_role("button", name="Keep this order"))
        return
    for _ in range(2):
        hands.press(question.get_by_role("listitem").filter(has_text="Price").get_by_role("button").first)


# Places


PLACES = {"Am Ufer bei der Mühle": (47.5, 8.25), "Oben am Waldrand": (47.6, 8.4), "An der Brücke": (47.55, 8.3)}
ZOOM = 14  # at which a map begins at a place


def _table(folder: Path) -> list[Path]:
    """A table as a German spreadsheet writes it: places with decimal commas."""
    path = folder / "Fundorte.csv"
    rows = [f"{text};{y:.4f};{x:.4f}".replace(".", ",") for text, (y, x) in PLACES.items()]
    path.write_bytes("\r\n".join(("text;Breite;Länge", *rows, "")).encode("cp1252"))
    return [path]


def mercator(latitude: float, longitude: float, zoom: float) -> tuple[float, float]:
    """Pixels of a place from the upper left corner of the world."""
    wide, sine = TILE * 2**zoom, math.sin(math.radians(latitude))
    return wide * (longitude + 180) / 360, wide * (0.5 - math.log((1 + sine) / (1 - sine)) / (4 * math.pi))


def place_of(x: float, y: float, zoom: float) -> list[float]:
    """Longitude and latitude at a pixel of the world."""
    wide = TILE * 2**zoom
    return [x / wide * 360 - 180, math.degrees(2 * math.atan(math.exp(math.pi * (1 - 2 * y / wide))) - math.pi / 2)]


EXACT = ("I know the spot", "I know the spot", "About there")


def _map(hands: Hands, frame: Any, person: int, nth: int) -> Json:
    field(frame, "place")
    ground = frame.locator(".map:visible")
    latitude, longitude = PLACES[frame.locator("[data-medium=text]").inner_text().strip()]
    Surface(hands, ground, (1, 1)).click((0.5 + 0.01 * person, 0.5))
    right = 0.01 * person * ground.bounding_box()["width"]
    x, y = mercator(latitude, longitude, ZOOM)
    hands.press(frame.locator("[data-question=exact]").get_by_role("radio", name=EXACT[person]))
    _send(hands, frame)
    place = {"geometry": {"type": "Point", "coordinates": place_of(x + right, y, ZOOM)}}
    return {"exact": "spot" if person < 2 else "about", "place": [place]}


# Boxes: two ducks that all see, and a boat that one of three draws.


def _boxes(hands: Hands, frame: Any, person: int, nth: int) -> Json:
    question = field(frame, "objects")
    photo = frame.locator("[data-medium=photo] svg").first
    shift = 2 * person
    marks = [("Duck", 100 + shift, 100, 80, 60), ("Duck", 300 + shift, 200, 100, 90)]
    if person == 2 or nth == 0:
        marks.append(("Boat", 480, 330 + shift, 120, 100))
    meant = []
    for number, (label, x, y, width, height) in enumerate(marks):
        hands.press(question.locator(".marks-labels").get_by_label(label))
        hands.drag(photo, (x / 640, y / 480), ((x + width) / 640, (y + height) / 480))
        hands.until(lambda want=number + 1: question.locator(".mark-item").count() == want)
        meant.append({"x": x, "y": y, "width": width, "height": height, "label": label.lower()})
    _send(hands, frame)
    return {"objects": meant}


# Sounds: a bird that all hear, and a frog that one hears.


def _sounds(hands: Hands, frame: Any, person: int, nth: int) -> Json:
    question = field(frame, "events")
    waves = frame.locator(".waves:visible")
    marks = [("Bird", 0.2 + 0.02 * person, 0.8)]
    if person == 1:
        marks.append(("Frog", 1.2, 1.6))
    meant = []
    for number, (label, start, end) in enumerate(marks):
        hands.press(question.locator(".marks-labels").get_by_label(label))
        hands.drag(waves, (start / 2, 0.7), (end / 2, 0.7))
        hands.until(lambda want=number + 1: question.locator(".mark-item").count() == want)
        meant.append({"start": start, "end": end, "label": label.lower()})
    _send(hands, frame)
    return {"events": meant}


# What the page of results must say, counted here from what was meant

Meant = list[list[Json]]
"""By person, and by the tasks in their order."""


def _majority(values: list[str]) -> str:
    return Counter(values).most_common(1)[0][0]


def _letters_say(meant: Meant) -> Json:
    tasks = [*zip(*meant, strict=True)]
    lines = [[_majority([info["lines"][at]["text"] for info in task]) for at in range(3)] for task in tasks]
    return {"questions": {"Transcribe every line as it is written.": []}, "lines": lines}


def _survey_says(meant: Meant) -> Json:
    answers = [info for person in meant for info in person]
    ways = Counter(info["how"] for info in answers)
    order = [info["order"] for info in answers]
    ranks = {label: mean([each.index(value) + 1 for each in order]) for label, value in RANKED.items()}
    grades = [Counter(info["rate"][row] for info in answers) for row in RATED]
    happy = Counter(info["happy"] for info in answers)
    shown = range(min(happy), max(happy) + 1)
    return {
        "questions": {
            "How do you usually get into town?": [[words, str(ways[way])] for way, words in WAYS_INTO_TOWN.items()],
            "Do you find a parking space easily?": [
                [words, str(sum(info.get("parking") is answer for info in answers))]
                for words, answer in (("Yes", True), ("No", False))
            ],
            "How many minutes do you wait for the bus or train?": [
                [str(wait), str(n)]
                for wait, n in sorted(Counter(info["wait"] for info in answers if "wait" in info).items())
            ],
            "How good are these in your town?": [
                [words, str(row[grade])]
                for row in grades
                for grade, words in zip(GRADES, ("Good", "Fair", "Poor"), strict=True)
            ],
            "What matters most to you? Put it in order.": [
                [label, f"{rank:.2f}"] for label, rank in sorted(ranks.items(), key=lambda each: each[1])
            ],
            "How content are you, all in all?": [[str(at), str(happy[at])] for at in shown],
            "What would you change first?": [],
        },
        "texts": sorted(info["wish"] for info in answers if "wish" in info),
    }


def _map_says(meant: Meant) -> Json:
    tasks = [*zip(*meant, strict=True)]
    places = []
    for task in tasks:
        points = [info["place"][0]["geometry"]["coordinates"] for info in task]
        places.append([median(point[axis] for point in points) for axis in (1, 0)])
    exact = Counter(_majority([info["exact"] for info in task]) for task in tasks)
    rows = [
        [words, str(exact[value])] for value, words in zip(("spot", "about"), EXACT[1:], strict=True) if exact[value]
    ]
    return {
        "questions": {"Where was this? Mark the place on the map.": None, "How exact is it?": rows},
        "places": sorted(places),
    }


def _marked(name: str, question: str, meant: Meant) -> Json:
    """Of marks that at least two of three people make at the same place, the number in each task."""
    numbers = []
    for task in zip(*meant, strict=True):
        begins = [(each["label"], each.get("y", each.get("start"))) for info in task for each in info[name]]
        numbers.append(sum(n >= 2 for n in Counter((label, round(at / 10)) for label, at in begins).values()))
    return {"questions": {question: []}, "marks": numbers}


def _boxes_say(meant: Meant) -> Json:
    return _marked("objects", "Draw a box around every duck and every boat.", meant)


def _sounds_say(meant: Meant) -> Json:
    return _marked("events", "Mark every call and every noise.", meant)


_WAY = {way.template: way for way in WAYS}
_MAP = Way(
    "place-on-map",
    _table,
    lambda hands, frame: _first_place(hands, frame),
    lambda info: "place" in info,
    3,
    6,
    media=False,
)


def _first_place(hands: Hands, frame: Any) -> None:
    _map(hands, frame, 0, 0)


STORIES = {
    "letters": Story(_WAY["transcribe-lines"], _letters, _letters_say, tasks=2, by=4),
    "survey": Story(_WAY["survey"], _survey, _survey_says, tasks=2, people=6, by=0),
    "map": Story(_MAP, _map, _map_says, tasks=3, by=0.0005),
    "boxes": Story(_WAY["boxes"], _boxes, _boxes_say, tasks=3, by=4),
    "sound": Story(_WAY["sound-events"], _sounds, _sounds_say, tasks=2, by=0.05),
}
