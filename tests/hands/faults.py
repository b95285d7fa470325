"""Faults put into the page on purpose, to see that the robots find them: lines of scripts and styles that are served changed."""

from __future__ import annotations

import re
from typing import Any, Final

import attrs


@attrs.frozen
class Fault:
    """What is wrong with the page then, what is asked where it shows, and a pattern of what robots say of it.

    Each place is replaced once, in one file.
    """

    name: str
    file: str  # the end of its address
    place: str  # a pattern
    instead: str
    asked: str  # of hands.asked
    says: str
    walks: tuple[int, ...] = (0, 1, 2)  # within which it must be found

    def put(self, bundle: str) -> str:
        """The file with the fault, in its bundle. An error where the place is gone: it has to be put elsewhere then."""
        before, part, behind = self.parted(bundle)
        made, count = re.subn(self.place, self.instead, part, count=1, flags=re.DOTALL)
        if count != 1:
            raise LookupError(f"{self.name}: {self.place} is not in {self.file}")
        return before + made + behind

    def parted(self, bundle: str) -> tuple[str, str, str]:
        """The file in a bundle, with what stands before and behind it; "" for the part of a bundle without it."""
        if self.file.endswith(".css"):
            return "", bundle, ""
        before, begin, rest = bundle.partition(f'add("{self.file}", ')
        end = re.search(r"\n\}\);\n(?=add\(\"|for \(const path of)", rest)
        at = end.start() if end else len(rest)
        return before + begin, rest[:at], rest[at:]

    def into(self, context: Any) -> None:
        """Lets a browser get the file with the fault."""

        def answer(route: Any) -> None:
            response = route.fetch()
            source = response.text()
            route.fulfill(response=response, body=self.put(source) if self.parted(source)[1] else source)

        suffix = self.file.rpartition(".")[2]
        context.route(re.compile(rf"/static/bundles/(?!task)\w+\.{suffix}"), answer)


FAULTS: Final = (
    Fault(
        "a heading that receives the focus is shown and goes away at the press",
        "presenter/frame.css", r"\A", ".questions .say h1:focus { display: block !important; position: static !important; clip-path: none !important;"
        " inline-size: auto !important; block-size: 80px !important; }\n", "gallery count-animals", "without effect",
    ),
    Fault(
        "choosing a label changes the mark drawn last",
        "questions/marks/field.js", r"(choose\(label\) \{)", r"\1 const before = this.items.at(-1); if (before) { before.label = label.value; this.changed(); }",
        "type point on picture", "label '[a-z]+' is stored",
    ),
    Fault(
        "a box is stored six pixels too far to the right",
        "questions/marks/field.js", r"(add\(geometry, said, id\) \{)",
        r"\1 if ('x' in geometry && 'width' in geometry) geometry = { ...geometry, x: geometry.x + 6 };", "type box on picture", r"\+\d+ px away",
    ),
    Fault(
        "a place on a map is stored ten pixels away",
        "questions/marks/map.js", r"active\.created\(point\(\[latlng\.lng, latlng\.lat\]\)\);",
        "{ const here = this.map.latLngToContainerPoint(latlng), { lng, lat } = this.map.containerPointToLatLng([here.x + 10, here.y]);"
        " active.created(point([lng, lat])); }", "type map_place on map", "10 px away",
    ),
    Fault(
        "the wheel changes a number",
        "questions/types/number.js", r"(input\.addEventListener\(\"input\",)",
        r"""input.addEventListener("wheel", () => { input.value = String(parseInt(input.value, 10) - 1); context.changed(); }); \1""",
        "type number on sound", "is stored, .* was meant", (0, 1, 2, 3, 4, 5),
    ),
    Fault(
        "the caret does not go into the line whose box was drawn",
        "questions/types/transcription.js", r"if \(item && hasBox\(geometry\)\) item\.focus\(\);", "", "type transcription on picture", r"cannot be reached: '\[data-question=.sure.\]",
    ),
    Fault(
        "the answer to the last question is not stored",
        "questions/group.js", r"(value\(\) \{.{0,40}this\.blocks)\.filter", r"\1.filter((block, nth) => !nth || nth < this.blocks.length - 1).filter",
        "type rating on text", "more: nothing is stored", (0, 1, 2, 3),
    ),
    Fault(
        "a text loses its last letter",
        "questions/types/texts.js", r"(value: \(\) => input\.value\.trim\(\))", r"\1.slice(0, -1)", "type short_text on video", "is stored, .* was meant",
    ),
    Fault(
        "a key answers the next task, too",
        "questions/form.js", r"(key\(key\) \{)", r"\1 setTimeout(() => document.querySelector('button.answer')?.click(), 700);",
        "one click", "rows are stored|is stored|without effect|no next task", (0, 1, 2, 3, 4, 5),
    ),
    Fault(
        "a press on a choice chooses the one after it",
        "questions/types/single_choice.js", r"(chosen = choice;)", r"chosen = choices[(choices.indexOf(choice) + 1) % choices.length];", "yes or no",
        "is stored, .* was meant|without effect",
    ),
)  # fmt: skip
