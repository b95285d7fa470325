"""The pages of adaptive redundancy: settings with their effect, savings, replays, and the drawing of the calibration.

The drawing shows what results claim against what was measured, with its interval.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypedDict
from urllib.parse import quote

import attrs

from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.projects.views import ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.features.results.consensus import share_interval
from crowdd.features.trust.adaptive import (
    CONFIDENCES,
    AdaptiveRedundancy,
    CheckedShares,
    Policy,
    Replay,
    StopEffect,
    TrustOverview,
    TrustSettings,
)
from crowdd.features.trust.review import ReviewQueue
from crowdd.features.trust.rows import TrustFigures
from crowdd.features.trust.sampling import share_of
from crowdd.features.trust.weighing import HEADLINE, MIN_HEADLINE, CalibrationStep
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import FormError
from crowdd.kernel.languages import _, joined, ngettext
from crowdd.kernel.values import Values

WIDTH, HEIGHT = 400, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 392, 10, 266
_LOWEST = 0.4  # where the axes begin, unless something lies below


class CalibrationPoint(TypedDict):
    """A step: where it is drawn, from where to where its interval goes, and how large the dot is."""

    x: float
    y: float
    low: float
    high: float
    radius: float
    step: CalibrationStep


class CalibrationChart(TypedDict):
    """``marks`` are shares with their places on the axes; ``line`` is where claim and measurement agree."""

    points: list[CalibrationPoint]
    marks: list[tuple[float, float, float]]
    line: tuple[float, float, float, float]


def chart(steps: Sequence[CalibrationStep]) -> CalibrationChart:
    """The chart of steps with tasks in them."""
    minimum = min([_LOWEST, *(step["low"] for step in steps), *(step["claimed"] for step in steps)])
    lowest = max(0.0, int(minimum * 10) / 10)

    def x(share: float) -> float:
        return round(_LEFT + (share - lowest) / (1 - lowest) * (_RIGHT - _LEFT), 1)

    def y(share: float) -> float:
        return round(_BOTTOM - (share - lowest) / (1 - lowest) * (_BOTTOM - _TOP), 1)

    maximum = max(step["tasks"] for step in steps)
    marks = [lowest + n * (1 - lowest) / 4 for n in range(5)]
    return {
        "points": [
            {
                "x": x(step["claimed"]),
                "y": y(step["share"]),
                "low": y(step["low"]),
                "high": y(step["high"]),
                "radius": round(3 + 5 * (step["tasks"] / maximum) ** 0.5, 1),
                "step": step,
            }
            for step in steps
        ],
        "marks": [(mark, x(mark), y(mark)) for mark in marks],
        "line": (x(lowest), y(lowest), x(1), y(1)),
    }


_AT = "/project/<short_name>/adaptive"
_FIELDS = ("min_answers", "confidence", "max_answers")
_DEFAULTS = {"min_answers": 2, "confidence": 95, "max_answers": 11}


class AdaptivePublic(ProjectPublic, WithForm, Message):
    """``figures`` is None where the first answer field is no label. ``replays`` are those that were asked for.

    ``effect``: what saving the form would do, None before it was asked for.
    """

    figures: TrustFigures | None
    checked: CheckedShares | None
    replays: list[Values]
    effect: Values | None


class Headline(TypedDict):
    """What was measured of tasks of which the model says that they are right in ``claimed`` of the cases or more.

    ``low`` and ``high`` are the interval of ``share``.
    """

    claimed: float
    share: float
    low: float
    high: float
    tasks: int


class AdaptivePrivate(ProjectPrivate):
    """``charts`` are those of gold tasks and of experts; ``headline`` is None with too few checked tasks.

    ``usual``: answers that a task gets at most now; None without tasks, and once a form is sent.
    """

    charts: dict[str, CalibrationChart]
    headline: Headline | None
    on: bool
    usual: int | None


@attrs.frozen(eq=False)
class AdaptivePages:
    """``/project/<short_name>/adaptive``."""

    _projects: Projects
    _adaptive: AdaptiveRedundancy
    _overview: TrustOverview
    _reviews: ReviewQueue
    _forms: Forms
    _views: ProjectViews

    def routes(self) -> Iterator[Route]:
        yield get(_AT, locked_out(self.page))
        yield post(_AT, locked_out(self.save))
        yield post(f"{_AT}/again", locked_out(self.ask_again))

    async def page(self, incoming: Incoming, short_name: str) -> Response:
        """The settings, and what they did."""
        row = await self._projects.owned(short_name, incoming.who)
        figures = await self._overview.figures(row["id"])
        usual = await self._adaptive.usual_answers(row["id"])
        form = self._forms.filled(incoming, **self._values(figures, usual))
        return await self._page(incoming, row, figures, form, usual=usual)

    @staticmethod
    def _values(figures: TrustFigures | None, usual: int | None) -> Values:
        on = figures is not None and figures["min_answers"] is not None
        if figures is None or not on:
            return {"on": on, "completed": False, **_DEFAULTS, "max_answers": max(usual or 0, _DEFAULTS["max_answers"])}
        percent = round(100 * (figures["confidence"] or 0), 1)
        return {
            "on": on,
            "completed": False,
            "min_answers": figures["min_answers"],
            "confidence": f"{percent:g}",
            "max_answers": usual or "",
        }

    async def save(self, incoming: Incoming, short_name: str) -> Response:
        """Saves the settings. ``btn`` = ``Effect`` shows what that would do, ``Replay`` what they would have done."""
        row = await self._projects.owned(short_name, incoming.who)
        figures = await self._overview.figures(row["id"])
        form: Form = {
            **self._forms.refused(incoming, {}, *_FIELDS),
            "on": incoming.flag("on", False),
            "completed": incoming.flag("completed", False),
        }
        try:
            settings = TrustSettings.parse(form)
        except FormError as error:
            return await self._page(incoming, row, figures, form | {"errors": error.errors}, MISTAKES)
        if incoming.field("btn") == "Replay" and figures is not None:
            replays = await self._replays(row, figures, settings)
            return await self._page(incoming, row, figures, form, replays=replays)
        if incoming.field("btn") == "Effect":
            effect = await self._adaptive.effect(incoming.who, row["id"], settings)
            return await self._page(incoming, row, figures, form, effect=effect)
        done = await self._adaptive.save(incoming.who, row["id"], settings)
        words = _("The settings are saved.")
        if done.queue_item is not None:
            words = joined(words, _("The tasks are being changed in the background."))
        return Redirect(f"/project/{quote(short_name)}/adaptive", words, more=attrs.asdict(done))

    async def ask_again(self, incoming: Incoming, short_name: str) -> Response:
        """Reopens the tasks that stopped early and are no longer sure."""
        row = await self._projects.owned(short_name, incoming.who)
        done = await self._adaptive.ask_again(incoming.who, row["id"], await self._reviews.doubted(incoming.who, row))
        words = ngettext("%(num)s task is open again.", "%(num)s tasks are open again.", done.reopened)
        return Redirect(f"/project/{quote(short_name)}/review", words, more=attrs.asdict(done))

    async def _replays(self, row: ProjectPage, figures: TrustFigures, chosen: TrustSettings) -> list[Values]:
        """The chosen settings, and the same with other confidences."""
        confidences = sorted({chosen.confidence, *CONFIDENCES})
        policies = [Policy(chosen.min_answers, confidence, chosen.max_answers) for confidence in confidences]
        replays = await self._overview.replays(row["id"], len(figures["choices"]), policies)
        return [
            _told(policy, one, policy.confidence == chosen.confidence)
            for policy, one in zip(policies, replays, strict=True)
        ]

    async def _page(
        self,
        incoming: Incoming,
        row: ProjectPage,
        figures: TrustFigures | None,
        form: Form,
        message: Message = NO_MESSAGE,
        *,
        replays: list[Values] | None = None,
        effect: StopEffect | None = None,
        usual: int | None = None,
    ) -> Response:
        context = await self._views.context(incoming, row, _("Adaptive redundancy"))
        checked = await self._overview.checked(row["id"]) if figures is not None else None
        public = AdaptivePublic(
            **context.public,
            figures=figures,
            checked=checked,
            replays=replays or [],
            effect=None if effect is None else attrs.asdict(effect),
            form=form,
            **message,
        )
        charts = {name: chart(one["steps"]) for name, one in _kinds(checked) if one["steps"]}
        private = AdaptivePrivate(
            **context.private,
            charts=charts,
            headline=headline(checked),
            on=figures is not None and figures["min_answers"] is not None,
            usual=usual,
        )
        return Page("project/adaptive.html", public, private)


def _kinds(checked: CheckedShares | None) -> list[tuple[str, Values]]:
    return [] if checked is None else [("gold", dict(checked["gold"])), ("experts", dict(checked["experts"]))]


def headline(checked: CheckedShares | None) -> Headline | None:
    """What was measured on gold tasks of which the model is sure; None with fewer than MIN_HEADLINE gold tasks."""
    if checked is None or checked["gold"]["tasks"] < MIN_HEADLINE:
        return None
    steps: list[CalibrationStep] = [step for step in checked["gold"]["steps"] if step["minimum"] >= HEADLINE]
    tasks, right = sum(step["tasks"] for step in steps), sum(step["right"] for step in steps)
    if not tasks:
        return None
    low, high = share_interval(right, tasks)
    return Headline(claimed=HEADLINE, share=right / tasks, low=low, high=high, tasks=tasks)


def _told(policy: Policy, one: Replay, chosen: bool) -> Values:
    return {
        **attrs.asdict(policy),
        **attrs.asdict(one),
        "fewer": one.fewer,
        "chosen": chosen,
        "same_share": share_of(one.same, one.compared),
        "right_share": share_of(one.right, one.checked),
    }
