"""What volunteers notice of something else: times of newtask and answers in turns with it, and in calm ones."""

from __future__ import annotations

from collections.abc import Sequence

from bench.support.figures import Times
from bench.support.pairs import Rush

MAX_RATIO = 1.5


class Beside:
    """Volunteers at a pace, whose times are kept apart by the kind of turn."""

    def __init__(self, rush: Rush, pace: float, kinds: Sequence[str]) -> None:
        self._rush, self._pace = rush, pace
        self.times = {kind: Times() for kind in ("calm", *kinds)}

    def run(self, kind: str, seconds: float) -> None:
        """A turn that counts."""
        self._rush.times = self.times[kind]
        self.pass_by(seconds, keep=True)

    def pass_by(self, seconds: float, *, keep: bool = False) -> None:
        """Volunteers work for so long; their times are forgotten."""
        if not keep:
            self._rush.times = Times()
        self._rush.run(seconds, self._pace)
        self._rush.times = Times()

    def lines(self) -> list[tuple[str, object]]:
        """Lines of a table: the times of each kind, and how many times the p99 is that of calm turns."""
        lines: list[tuple[str, object]] = []
        for kind, times in self.times.items():
            lines += [(f"{kind}: {what}", words) for what, words in times.lines()]
        return lines + [
            (f"p99 of {what}, {kind}", f"{self.ratio(kind, what):.2f} times")
            for kind in self.times if kind != "calm"
            for what in ("newtask", "taskrun")
        ]  # fmt: skip

    def ratio(self, kind: str, what: str) -> float:
        """How many times the p99 of requests in turns of a kind is that in calm ones."""
        return self.times[kind].percentile(what, 99) / self.times["calm"].percentile(what, 99)

    def broken(
        self, whats: Sequence[str] = ("newtask",), *, kinds: Sequence[str] = (), seconds: float = 0.0
    ) -> list[str]:
        """Gates that do not hold: p99 at most MAX_RATIO times that of calm turns, or at most ``seconds``.

        ``kinds``: of these turns, by default of all.
        """
        wrong = [
            f"{kind}: {what} takes {self.ratio(kind, what):.2f} times as long (p99)"
            for kind, times in self.times.items() if kind in (kinds or self.times.keys() - {"calm"})
            for what in whats
            if self.ratio(kind, what) > MAX_RATIO and times.percentile(what, 99) > seconds
        ]  # fmt: skip
        return wrong + [f"{count} times {what!r}" for what, count in self._rush.refused.items()]
