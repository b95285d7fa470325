"""Formats for parts of recordings: Audacity labels and Praat TextGrid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from crowdd.features.exports.annotations.annotation_format import SEGMENTS, Answer, Asked, Mark
from crowdd.features.exports.annotations.zip_files import ZipFiles
from crowdd.kernel.languages import _

Segment = tuple[float, float, str]
_EMPTY: Final = 1.0  # seconds of a recording of which nothing is known


def segments_of(marks: Sequence[Mark]) -> list[Segment]:
    """Start, end and label of each part, in the order of time."""
    segments = []
    for mark in marks:
        try:
            start, end = mark.number("start"), mark.number("end")
        except (KeyError, TypeError):
            continue
        if 0 <= start < end:
            segments.append((start, end, " ".join(mark.label.split())))
    return sorted(segments)


class Audacity:
    """Audacity: a file of labels for each answer."""

    name, title, ending, content_type = "audacity", "Audacity", "zip", "application/zip"
    types = SEGMENTS
    cannot = (_("Questions about marks are left out, and all questions share one track of labels."),)

    def writer(self, asked: Sequence[Asked]) -> AudacityWriter:
        return AudacityWriter(asked)


class AudacityWriter:
    """``<task>.txt``: start, end and label in each line, between tabs."""

    def __init__(self, asked: Sequence[Asked]) -> None:
        self._asked, self._archive = asked, ZipFiles()

    def begin(self) -> bytes:
        return b""

    def add(self, answer: Answer) -> bytes:
        segments = sorted(one for asked in self._asked for one in segments_of(answer.marks(asked)))
        lines = [f"{start:.6f}\t{end:.6f}\t{label}\n" for start, end, label in segments]
        return self._archive.add(f"{answer.key}.txt", "".join(lines).encode())

    def end(self) -> Iterator[bytes]:
        yield from self._archive.end()


class TextGrid:
    """Praat TextGrid: a tier of intervals for each question, and further ones where parts overlap."""

    name, title, ending, content_type = "textgrid", "Praat TextGrid", "zip", "application/zip"
    types = SEGMENTS
    cannot = (
        _("Questions about marks are left out. Parts that overlap are in further tiers."),
        _("A recording ends with its last part unless the tasks have a column duration, in seconds."),
    )

    def writer(self, asked: Sequence[Asked]) -> TextGridWriter:
        return TextGridWriter(asked)


class TextGridWriter:
    """``<task>.TextGrid``, in the long form."""

    def __init__(self, asked: Sequence[Asked]) -> None:
        self._asked, self._archive = asked, ZipFiles()

    def begin(self) -> bytes:
        return b""

    def add(self, answer: Answer) -> bytes:
        tiers = [tier for asked in self._asked for tier in _tiers(asked.name, segments_of(answer.marks(asked)))]
        last = max((end for _name, segments in tiers for _start, end, _label in segments), default=0.0)
        end = max(last, answer.size("duration") or 0.0) or _EMPTY
        head = ['File type = "ooTextFile"', 'Object class = "TextGrid"', "", "xmin = 0", f"xmax = {end:.10g}"]
        head += ["tiers? <exists>", f"size = {len(tiers)}", "item []:"]
        lines = [line for nth, (name, segments) in enumerate(tiers, 1) for line in _tier(nth, name, segments, end)]
        return self._archive.add(f"{answer.key}.TextGrid", ("\n".join([*head, *lines]) + "\n").encode())

    def end(self) -> Iterator[bytes]:
        yield from self._archive.end()


def _tiers(name: str, segments: Sequence[Segment]) -> list[tuple[str, list[Segment]]]:
    """The segments in as few tiers as have none that overlap."""
    tiers: list[list[Segment]] = [[]]
    for segment in segments:
        free = next((tier for tier in tiers if not tier or tier[-1][1] <= segment[0]), None)
        if free is None:
            free = []
            tiers.append(free)
        free.append(segment)
    return [(name if not nth else f"{name} {nth + 1}", tier) for nth, tier in enumerate(tiers)]


def _tier(nth: int, name: str, segments: Sequence[Segment], end: float) -> list[str]:
    """A tier, whose intervals leave no gap."""
    whole: list[Segment] = []
    at = 0.0
    for start, stop, label in segments:
        whole += [(at, start, "")] if start > at else []
        whole.append((start, stop, label))
        at = stop
    whole += [(at, end, "")] if at < end else []
    lines = [f"    item [{nth}]:", '        class = "IntervalTier"', f"        name = {_quoted(name)}"]
    lines += ["        xmin = 0", f"        xmax = {end:.10g}", f"        intervals: size = {len(whole)}"]
    for number, (start, stop, label) in enumerate(whole, 1):
        lines += [
            f"        intervals [{number}]:",
            f"            xmin = {start:.10g}",
            f"            xmax = {stop:.10g}",
        ]
        lines.append(f"            text = {_quoted(label)}")
    return lines


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
