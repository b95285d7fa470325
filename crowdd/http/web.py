"""What the pages of all features share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

import attrs

from crowdd.core.feature import House, Parts, chosen
from crowdd.http.auth.cookies import Cookies
from crowdd.http.auth.csrf import Csrf
from crowdd.http.auth.volunteers import VolunteerCookies
from crowdd.http.html.forms import Forms
from crowdd.http.html.rendering import Templates
from crowdd.http.routing import View
from crowdd.sched.queue_worker import handlers

P = TypeVar("P", bound="FeatureWeb")


@attrs.frozen
class Web:
    """``now``: epoch seconds."""

    templates: Templates
    volunteers: VolunteerCookies
    forms: Forms
    now: Callable[[], float]

    @property
    def cookies(self) -> Cookies:
        """Reads and sets cookies of browsers."""
        return self.volunteers.cookies

    @property
    def csrf(self) -> Csrf:
        """Makes and checks the tokens of forms."""
        return self.forms.csrf


class FeatureWeb:
    """The pages and the API of one feature, and what later features' pages use of them.

    Its fields are the ``Web``, the ``Base``, features, and such classes of earlier features: it gets what they name.
    """

    @staticmethod
    def template_functions() -> Mapping[str, Callable[..., object]]:
        """Functions that templates may call, by their names there."""
        return {}

    def views(self) -> Iterator[View]:
        """What has the routes: nothing, unless a feature says otherwise."""
        yield from ()


def add_functions(templates: Templates, classes: Sequence[type[FeatureWeb]]) -> None:
    """Give templates the functions of all features, and ``handler``: what runs a background task, by its name."""
    templates.add_functions({"handler": handlers().get})
    for each in classes:
        templates.add_functions(each.template_functions())


class FeaturePages:
    """The pages and the API of all features, in their order."""

    def __init__(self, web: Web, house: House, classes: Sequence[type[FeatureWeb]]) -> None:
        """Raises TypeError for one that needs what does not stand before it."""
        add_functions(web.templates, classes)
        parts: Parts = {**house.parts, Web: web}
        self._made = []
        for each in classes:
            parts[each] = each(**chosen(inspect.get_annotations(each, eval_str=True), parts, each))
            self._made.append(parts[each])
        self._parts = parts

    def __getitem__(self, pages: type[P]) -> P:
        made: P = self._parts[pages]
        return made

    def views(self) -> Iterator[View]:
        """What has the routes of all features."""
        for each in self._made:
            yield from each.views()
