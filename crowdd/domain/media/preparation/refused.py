"""Why the process for a file does not take it: a word of ``refusals.SENTENCES`` and its values."""

from __future__ import annotations


class RefusedFile(Exception):  # noqa: N818 - it is no fault of ours
    """The file is not used. ``word`` says why, ``values`` are short texts and numbers."""

    def __init__(self, word: str, **values: str | int) -> None:
        super().__init__(word)
        self.word, self.values = word, values


def damaged(format_: str) -> RefusedFile:
    """The file is not what a format prescribes."""
    return RefusedFile("damaged", format=format_)


def foreign(format_: str) -> RefusedFile:
    """Behind the end of the content there is something else."""
    return RefusedFile("foreign", format=format_)
