"""What is wrong with what an owner says of a project: of its fields on forms, of its short name and of its ``info``."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from crowdd.core.secrets import token
from crowdd.database import schema
from crowdd.features.accounts.validation import Mistakes, check_characters, select_mistakes
from crowdd.features.projects import dataset, papers
from crowdd.kernel.errors import ConflictError, InvalidValueError
from crowdd.kernel.languages import _
from crowdd.kernel.languages.content_languages import is_tag
from crowdd.kernel.values import Values
from crowdd.kinds import column_roles
from crowdd.kinds.answer_files import ANSWER_FILES, check_answer_files
from crowdd.kinds.column_roles import COLUMN_ROLES
from crowdd.kinds.gold_shares import GOLD_EMBARGO, GOLD_SHARES, check_embargo
from crowdd.kinds.names import RESERVED_SHORT_NAMES
from crowdd.kinds.project import PROJECT
from crowdd.kinds.questions.mark_types import MAX_MARKS, MAX_RAISED_MARKS
from crowdd.kinds.stopping import STOPPING, check_stopping
from crowdd.kinds.task_rules import TASK_RULES, check_rules
from crowdd.kinds.task_run import MAX_ANSWER_BYTES, MAX_KEY_CHARACTERS, MAX_RAISED_BYTES

MAXIMUM: Final = 255
_MIN_LEASE, _MAX_LEASE = 60, 7 * 86400  # seconds
MAX_SKIPS = 1000  # people after whom a task is set aside
MAX_PER_NETWORK = 1000  # answers of one network that an owner may let count per task
_MARKS = re.compile(r"[#*_`>~]++|!?\[([^\[\]]*+)\]\([^()]*+\)|<[^<>]*+>")


def mistakes(name: str, short_name: str, description: str) -> Mistakes:
    """All mistakes of the three fields that every project has."""
    return select_mistakes(
        {"name": _name(name), "short_name": _short_name(short_name), "description": _description(description)}
    )


def _name(text: str) -> list[str]:
    return _missing(text, _("Enter a name.")) or _too_long(text) or check_characters(PROJECT.field("name").type, text)


def _short_name(text: str) -> list[str]:
    if not text:
        return [_("Enter an address.")]
    if text.lower() in RESERVED_SHORT_NAMES:
        return [_("This address is a page of the site. Choose another one.")]
    if wrong := check_characters(PROJECT.field("short_name").type, text):
        return wrong
    try:
        PROJECT.field("short_name").parse(text)
    except InvalidValueError:
        return [
            _(
                "Do not use spaces or any of / ? # %% & \\ < > \" '. Instead of “%(text)s”, try “%(better)s”.",
                text=text[:60],
                better=slug(text),
            )
        ]
    return _too_long(text)


def _description(text: str) -> list[str]:
    return _missing(text, _("Describe the project in one sentence. It helps volunteers choose.")) or _too_long(text)


def _missing(text: str, words: str) -> list[str]:
    return [] if text else [words]


def _too_long(text: str) -> list[str]:
    return [_("Use at most %(maximum)s characters.", maximum=MAXIMUM)] if len(text) > MAXIMUM else []


def taken(error: ConflictError) -> Mistakes:
    """What a refused project is told: which of the two names that must be unique is not."""
    if error.constraint == "project_short_name":
        return {"short_name": [_("This address is taken. Add a place or a year.")]}
    if error.constraint == "project_short_name_skeleton":
        return {"short_name": [_("This address looks like a taken one. Add a place or a year.")]}
    if error.constraint == "project_name":
        return {"name": [_("There is already a project with this name. Add a place or a year.")]}
    if error.constraint == "project_name_skeleton":
        return {"name": [_("There is already a project with a name that looks the same. Add a place or a year.")]}
    raise error


def first_sentence(markdown: str) -> str:
    """The beginning of a long description as the one sentence that lists show, without its marks."""
    plain = " ".join(_MARKS.sub(lambda mark: mark[1] or "", markdown).split())
    return plain if len(plain) <= MAXIMUM else f"{plain[: MAXIMUM - 3]}..."


def slug(name: str, kind: str = "project") -> str:
    """A short name for a name: ASCII letters, digits, single hyphens; the kind and some letters where none are left."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:100] or f"{kind}-" + token()[:8].lower().strip("-_")


def check_info(info: Values) -> None:
    """Refuses what the server itself reads from ``info`` when it has an impossible value."""
    sched = info.get("sched")
    if sched is not None and sched not in schema.list_schedulers():
        raise InvalidValueError(f"info.sched must be one of {', '.join(schema.list_schedulers())}.")
    for name in ("task_presenter", "results", "tutorial"):
        if not isinstance(info.get(name), str | None):
            raise InvalidValueError(f"info.{name} must be a string.")
    for name in ("answers_when_complete", "token_per_volunteer", "gold_feedback", "show_accuracy", "shared_comments"):
        if not isinstance(info.get(name), bool | None):
            raise InvalidValueError(f"info.{name} must be true or false.")
    check_embargo(info.get(GOLD_EMBARGO))
    for name, allowed in GOLD_SHARES.items():
        share = info.get(name, 0)
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= allowed.maximum:
            raise InvalidValueError(f"info.{name} must be a number from 0 to {allowed.maximum}.")
    if info.get("language") is not None and not is_tag(info["language"]):
        raise InvalidValueError("info.language must be a language tag such as en, pt-BR or zh-Hant.")
    key = info.get("answer_key")
    if key is not None and (not isinstance(key, str) or not 1 <= len(key) <= MAX_KEY_CHARACTERS or "\0" in key):
        raise InvalidValueError(
            _("info.answer_key must be a string of 1 to %(max)s characters.", max=MAX_KEY_CHARACTERS)
        )
    if info.get(COLUMN_ROLES) is not None:
        column_roles.check(info[COLUMN_ROLES])
    check_stopping(info.get(STOPPING))
    check_rules(info.get(TASK_RULES))
    check_answer_files(info.get(ANSWER_FILES))
    dataset.read(info)
    papers.read(info)
    size = info.get("max_answer_bytes")
    if size is not None and (type(size) is not int or not MAX_ANSWER_BYTES <= size <= MAX_RAISED_BYTES):
        words = f"`info.max_answer_bytes` must be a whole number from {MAX_ANSWER_BYTES} to {MAX_RAISED_BYTES}"
        raise InvalidValueError(f"{words} (got {str(size)[:50]}).")
    marks = info.get("max_marks")
    if marks is not None and (type(marks) is not int or not MAX_MARKS <= marks <= MAX_RAISED_MARKS):
        words = f"`info.max_marks` must be a whole number from {MAX_MARKS} to {MAX_RAISED_MARKS}"
        raise InvalidValueError(f"{words} (got {str(marks)[:50]}).")
    skips = info.get("skip_limit")
    if skips is not None and (type(skips) is not int or not 0 <= skips <= MAX_SKIPS):
        raise InvalidValueError(_("`info.skip_limit` must be a whole number from 0 to %(max)s.", max=MAX_SKIPS))
    seconds = info.get("lease_seconds")
    if seconds is not None and (type(seconds) is not int or not _MIN_LEASE <= seconds <= _MAX_LEASE):
        raise InvalidValueError(f"info.lease_seconds must be a whole number from {_MIN_LEASE} to {_MAX_LEASE}.")
    maximum = info.get("counted_per_network")
    if maximum is not None and (type(maximum) is not int or not 0 <= maximum <= MAX_PER_NETWORK):
        raise InvalidValueError(
            _("info.counted_per_network must be a whole number from 0 to %(max)s.", max=MAX_PER_NETWORK)
        )
    of_group = info.get("counted_per_group")
    if of_group is not None and (type(of_group) is not int or not 1 <= of_group <= MAX_PER_NETWORK):
        raise InvalidValueError(
            _("`info.counted_per_group` must be a whole number from 1 to %(max)s.", max=MAX_PER_NETWORK)
        )


def free_name(short_name: str) -> str:
    """The short name, unless it is a page of the site. Raises InvalidValueError."""
    if short_name.lower() in RESERVED_SHORT_NAMES:
        raise InvalidValueError(f"short_name {short_name} is reserved for a page of the site.")
    return short_name
