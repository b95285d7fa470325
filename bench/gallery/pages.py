"""Pictures of written pages: letters, diaries, labels. The texts are invented."""

from __future__ import annotations

import random

from bench.gallery.canvas import Canvas, blob, mixed

INK = "#2b2f55"
DIARY = (
    ("Monday. Wind from the north, cold.", "Two sails at noon, bearing south.", "Repaired the small boat."),
    ("Rain since the morning watch.", "Barometer falling, 741 at eight.", "The cook has caught a fine cod."),
    ("Calm sea. A school of porpoises", "kept us company until dusk.", "Wrote to my sister Clara."),
    ("Fog. We sounded the horn all night.", "Heard another ship quite near,", "but never saw her lights."),
    ("Land in sight at five o'clock.", "A green coast with low hills.", "All hands on deck to see it."),
    ("Took on water and fresh bread.", "Paid four shillings for apples.", "The harbour is full of herring."),
    ("Snow in the rigging this morning.", "Hands too stiff to write much.", "Thermometer at minus nine."),
    ("A fine breeze, all sails set.", "We made ninety miles since noon.", "The captain is in good spirits."),
    ("Mended nets with old Peterson.", "He says the winter will be hard,", "for the geese went early."),
    ("Sunday. Read aloud from the book", "that my father gave me.", "Nobody spoke for a long while."),
    ("Passed the lighthouse at two.", "Its keeper waved to us", "with a red scarf."),
    ("Home at last. Nine weeks at sea.", "The garden is quite overgrown,", "but the pear tree bears fruit."),
)
LETTERS = (
    (
        "Lisbon, 4 March 1891",
        "Dear Clara,",
        ("the ship leaves tomorrow at six.", "I shall write from Madeira", "as soon as we are there."),
        "Yours, Edward Holt",
    ),
    (
        "Vienna, 17 June 1874",
        "Dear Sir,",
        ("we thank you for your order", "of forty violins and will send", "them with the next train."),
        "A. Lindner & Sons",
    ),
    (
        "Bergen, 2 November 1903",
        "My dear brother,",
        ("the house is finished and", "the roof has stood the storm.", "Come before the snow."),
        "Your Ingrid",
    ),
)
LABELS = (
    ("HERBARIUM OF THE ISLAND", "Gentiana verna L.", "Wet meadow near the mill, 820 m", "12 May 1902   leg. M. Aubert"),
    (
        "HERBARIUM OF THE ISLAND",
        "Drosera rotundifolia L.",
        "Peat bog, north shore of the lake",
        "3 July 1911   leg. M. Aubert",
    ),
    (
        "HERBARIUM OF THE ISLAND",
        "Primula farinosa L.",
        "Limestone slope above the village",
        "28 April 1898   leg. J. Roth",
    ),
)


def _paper(width: int, height: int, seed: int) -> Canvas:
    chance = random.Random(seed)
    canvas = Canvas(width, height, "#efe3c8")
    for _stain in range(9):
        x, y = chance.uniform(0, width), chance.uniform(0, height)
        canvas.polygon(
            blob(x, y, chance.uniform(30, 120), chance), mixed("#efe3c8", "#d9c79c", chance.uniform(0.1, 0.4))
        )
    canvas.line([(0, 1), (width, 1), (width - 1, height), (1, height), (0, 0)], "#c8b68c", 3)
    return canvas


def diary(lines: tuple[str, ...], seed: int) -> Canvas:
    """A page of a diary."""
    canvas, chance = _paper(760, 120 + 92 * len(lines), seed), random.Random(seed)
    for number, words in enumerate(lines):
        y = 62 + number * 92
        canvas.line([(40, y + 52), (720, y + 52)], "#cdbf9a", 1)
        canvas.handwriting(56, y, words, 33, INK, chance)
    return canvas


def letter(head: str, greeting: str, lines: tuple[str, ...], name: str, seed: int) -> Canvas:
    """A letter."""
    canvas, chance = _paper(700, 560, seed), random.Random(seed)
    canvas.handwriting(330, 40, head, 24, INK, chance)
    canvas.handwriting(60, 120, greeting, 30, INK, chance)
    for number, words in enumerate(lines):
        canvas.handwriting(60, 200 + number * 62, words, 30, INK, chance)
    canvas.handwriting(340, 440, name, 32, INK, chance)
    return canvas


def label(lines: tuple[str, ...], seed: int) -> Canvas:
    """A label of a plant collection."""
    canvas = _paper(700, 360, seed)
    canvas.line([(24, 24), (676, 24), (676, 336), (24, 336), (24, 24)], "#4a3f2c", 2)
    canvas.text(60, 50, lines[0], 26, "#3a3123")
    canvas.line([(60, 92), (640, 92)], "#4a3f2c", 1)
    chance = random.Random(seed)
    for number, words in enumerate(lines[1:]):
        canvas.handwriting(60, 118 + number * 66, words, 28, "#2e2a24", chance)
    return canvas
