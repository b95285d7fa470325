"""The settings of adaptive redundancy: when a task is complete before it has its maximum of answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from crowdd.domain.projects.answers.stopping import MAX_ANSWERS
from crowdd.domain.tasks.changes import Changes, Effect
from crowdd.domain.tasks.review.policy_simulator import Policy
from crowdd.domain.tasks.review.trust_overview import TrustOverview
from crowdd.errors import FormError
from crowdd.languages import _
from crowdd.requester import Requester

_MIN_PERCENT, _MAX_PERCENT = 50, 99.9  # per cent


@attrs.frozen
class TrustSettings:
    """``on``: tasks stop early. ``confidence`` is from 0.5 to 0.999; ``max_answers`` is n_answers of the tasks.

    ``completed``: also completed tasks follow, and may be open again.
    """

    on: bool
    min_answers: int
    confidence: float
    max_answers: int
    completed: bool = False

    @classmethod
    def parse(cls, form: Mapping[str, object]) -> TrustSettings:
        """The settings of a form, with the confidence in per cent. Raises FormError."""
        wrong: dict[str, list[str]] = {}
        minimum, maximum = _whole(form, "min_answers", wrong), _whole(form, "max_answers", wrong)
        percent = _percent(form, wrong)
        if not wrong and minimum > maximum:
            wrong["max_answers"] = [_("The maximum must be at least the minimum.")]
        if wrong:
            raise FormError(wrong)
        return cls(bool(form.get("on")), minimum, round(percent / 100, 4), maximum, bool(form.get("completed")))

    @property
    def info(self) -> dict[str, object] | None:
        """What stands in ``info.trust``; None while tasks do not stop early."""
        return {"min_answers": self.min_answers, "confidence": self.confidence} if self.on else None

    @property
    def change(self) -> dict[str, object]:
        """The same for ``Changes.stopping``."""
        return {**(self.info or {}), "completed": self.completed}

    @property
    def policy(self) -> Policy:
        """The same for a replay."""
        return Policy(
            self.min_answers if self.on else self.max_answers, self.confidence if self.on else 1.0, self.max_answers
        )


@attrs.frozen
class StopEffect:
    """Open tasks that would be complete, complete ones that would be open; ``early`` of ``replayed`` ended before."""

    completed: int
    reopened: int
    early: int
    replayed: int


class AdaptiveRedundancy:
    """For owners: the caller has checked it."""

    def __init__(self, changes: Changes, overview: TrustOverview) -> None:
        self._changes, self._overview = changes, overview

    async def usual_answers(self, project_id: int) -> int | None:
        """How many answers a task of the project has at most."""
        return await self._changes.usual_answers(project_id)

    async def effect(self, who: Requester, project_id: int, settings: TrustSettings) -> StopEffect:
        """What saving the settings would do."""
        change = await self._changes.stopping(who, project_id, settings.change, dry_run=True)
        figures = await self._overview.figures(project_id)
        k = len(figures["choices"]) if figures else 2
        (replay,) = await self._overview.replays(project_id, k, [settings.policy])
        return StopEffect(change.completed, change.reopened, replay.early, replay.tasks)

    async def ask_again(self, who: Requester, project_id: int, named: Sequence[int]) -> Effect:
        """Reopens completed tasks that are no longer sure."""
        return await self._changes.ask_again(who, project_id, named)

    async def save(self, who: Requester, project_id: int, settings: TrustSettings) -> Effect:
        """Saves the settings, and has the tasks follow them."""
        done = await self._changes.stopping(who, project_id, settings.change)
        if await self.usual_answers(project_id) != settings.max_answers:
            done = await self._changes.redundancy(who, project_id, {"n_answers": settings.max_answers})
        return done


def _whole(form: Mapping[str, object], name: str, wrong: dict[str, list[str]]) -> int:
    text = str(form.get(name) or "").strip()
    if text.isascii() and text.isdigit() and 1 <= int(text) <= MAX_ANSWERS:
        return int(text)
    wrong[name] = [_("Enter a whole number from 1 to %(maximum)s.", maximum=MAX_ANSWERS)]
    return 0


def _percent(form: Mapping[str, object], wrong: dict[str, list[str]]) -> float:
    try:
        value = float(str(form.get("confidence") or "").strip().replace(",", "."))
    except ValueError:
        value = 0
    if _MIN_PERCENT <= value <= _MAX_PERCENT:
        return value
    wrong["confidence"] = [_("Enter a number from 50 to 99.9.")]
    return 0
