"""From lines of answers to numbers: tasks and volunteers as they appear, classes by the choices; and their hash."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Sequence
from typing import Final

import attrs
import orjson

from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _
from crowdd.kinds.answers.fields import MAX_CHOICES, Choice, folded, key

_HASHED_AT_ONCE: Final = 10_000  # lines


@attrs.define(eq=False)
class Numbered:
    """Answers as numbers from 0, in three arrays of equal length; what the numbers stand for.

    ``label`` counts only classes that occur: ``classes`` has their numbers among ``choices``, from 1.
    """

    task: array[int]
    volunteer: array[int]
    label: array[int]
    tasks: list[int]
    actors: list[str]
    classes: list[int]
    choices: list[Choice]
    n_unfit: int
    hash: str


def number(lines: Iterable[bytes], choices: Sequence[Choice] | None, *, nulls: bool, texts: bool = False) -> Numbered:
    """Numbers the answers of lines of JSON [task, actor, value], which are in the order of tasks and answers.

    ``choices``: None if any value is one; null only with ``nulls``. ``texts``: each text is a class. Raises
    InvalidValueError for more than MAX_CHOICES different values, and where no answer fits.
    """
    reader = _Reader({key(one): n for n, one in enumerate(choices or (), 1)}, fixed=choices is not None, nulls=nulls)
    reader.texts = texts
    for line in lines:
        reader.take(*orjson.loads(line))
    if not reader.label:
        if texts:
            raise InvalidValueError(_("No answer has a text."))
        raise InvalidValueError(_("No answer has one of the choices. Check what answers should contain."))
    return reader.numbered(list(choices or ()))


class _Reader:
    texts = False

    def __init__(self, classes: dict[tuple[type, object], int], *, fixed: bool, nulls: bool) -> None:
        self._classes, self._fixed, self._nulls = classes, fixed, nulls
        self._folded: dict[str, set[int]] = {}
        for (_type, value), class_number in classes.items():
            self._fold(value, class_number)
        self._values: list[Choice] = []
        self._tasks: dict[int, int] = {}
        self._actors: dict[str, int] = {}
        self.task, self.volunteer, self.label = array("i"), array("i"), array("i")
        self._n_unfit = 0
        self._hash, self._lines = hashlib.sha256(), list[str]()

    def take(self, task: int, actor: str, value: Choice) -> None:
        """An answer."""
        label = self._class_of(value)
        if not label:
            self._n_unfit += 1
            return
        volunteer = self._actors.setdefault(actor, len(self._actors))
        self.task.append(self._tasks.setdefault(task, len(self._tasks)))
        self.volunteer.append(volunteer)
        self.label.append(label)
        self._lines.append(f"{task},{volunteer + 1},{label}\n")
        if len(self._lines) == _HASHED_AT_ONCE:
            self._flush()

    def _class_of(self, value: Choice) -> int:
        """From 1; 0 if it does not fit."""
        if self.texts:
            return self._text_of(value)
        named = key(value)
        class_number = self._classes.get(named, 0)
        if not class_number and isinstance(value, str):
            near = self._folded.get(folded(value), set())
            class_number = next(iter(near)) if len(near) == 1 else 0
        if class_number or self._fixed or (value is None and not self._nulls):
            return class_number
        if len(self._classes) == MAX_CHOICES:
            words = _("The answers have more than %(max)s different values. Declare the choices.", max=MAX_CHOICES)
            raise InvalidValueError(words)
        self._values.append(value)
        class_number = self._classes.setdefault(named, len(self._classes) + 1)
        self._fold(value, class_number)
        return class_number

    def _text_of(self, value: Choice) -> int:
        if not isinstance(value, str) or not value.strip():
            return 0
        if key(value) not in self._classes:
            self._values.append(value)
        return self._classes.setdefault(key(value), len(self._classes) + 1)

    def _fold(self, value: object, class_number: int) -> None:
        if isinstance(value, str):
            self._folded.setdefault(folded(value), set()).add(class_number)

    def _flush(self) -> None:
        self._hash.update("".join(self._lines).encode())
        self._lines.clear()

    def numbered(self, choices: list[Choice]) -> Numbered:
        """All of them."""
        self._flush()
        occurring = sorted(set(self.label))
        place = {label: n for n, label in enumerate(occurring)}
        labels = array("i", map(place.__getitem__, self.label))
        return Numbered(
            self.task,
            self.volunteer,
            labels,
            list(self._tasks),
            list(self._actors),
            occurring,
            choices or self._values,
            self._n_unfit,
            self._hash.hexdigest(),
        )
