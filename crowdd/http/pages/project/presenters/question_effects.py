"""What changed questions mean for answers that exist, in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from crowdd.domain.projects.questions.reviews import Effects
from crowdd.kinds.questions.changes import Change, Fit
from crowdd.languages import _, ngettext

_MAX_NAMED: Final = 5  # values of choices


def sentences(effects: Effects) -> list[str]:
    """What the change means, for the owner to read before saving."""
    return [*_as_a_whole(effects), *(_changed(change, effects) for change in effects.changes), *_afterwards(effects)]


def _as_a_whole(effects: Effects) -> Iterator[str]:
    yield ngettext(
        "The project has one answer. It stays as it is.",
        "The project has %(num)s answers. They stay as they are.",
        effects.n_answers,
    )
    yield _("The questions become version %(version)s. New answers record it.", version=effects.version)


def _changed(change: Change, effects: Effects) -> str:
    fit = next((fit for fit in effects.fits if fit.name == change.name), None)
    description = _what(change)
    return (
        description
        if change.how in ("new", "words")
        else _("%(what)s %(fit)s", what=description, fit=_fit(fit, effects))
    )


def _what(change: Change) -> str:
    name = change.name
    if change.how == "new":
        return _("“%(name)s” is new: existing answers have nothing for it.", name=name)
    if change.how == "removed":
        return _("“%(name)s” is removed. Its answers stay stored.", name=name)
    if change.how == "type":
        return _("The type of “%(name)s” has changed.", name=name)
    if change.how == "choices":
        gone = ", ".join(change.gone[:_MAX_NAMED]) + ("…" if len(change.gone) > _MAX_NAMED else "")
        return _("“%(name)s” no longer has %(values)s.", name=name, values=gone)
    if change.how == "options":
        return _("The settings of “%(name)s” have changed.", name=name)
    return _("Only the wording of “%(name)s” has changed: all its answers still fit.", name=name)


def _fit(fit: Fit | None, effects: Effects) -> str:
    looked = effects.n_looked_at
    if fit is None:
        return ngettext(
            "The last answer has no value for it.", "None of the last %(num)s answers has a value for it.", looked
        )
    if not fit.unfit:
        return ngettext(
            "Of the last %(total)s answers, one has a value for it, which still fits.",
            "Of the last %(total)s answers, %(num)s have a value for it, and all of these still fit.",
            fit.given,
            total=looked,
        )
    return ngettext(
        "Of the last %(total)s answers, one has a value for it; %(unfit)s no longer fits.",
        "Of the last %(total)s answers, %(num)s have a value for it; %(unfit)s of these no longer fit.",
        fit.given,
        total=looked,
        unfit=fit.unfit,
    )


def _afterwards(effects: Effects) -> Iterator[str]:
    before, after = effects.compared
    if before != after:
        yield _("Agreement is then measured by “%(after)s” instead of “%(before)s”.", before=before, after=after)
    if effects.n_completed:
        yield ngettext(
            "The completed task stays completed. Nothing is asked again.",
            "The %(num)s completed tasks stay completed. Nothing is asked again.",
            effects.n_completed,
        )
