"""Tasks, answers, results, blog posts, helping materials and announcements of PyBossa as ours."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from datetime import datetime
from typing import Final

from crowdd.database.access import as_json
from crowdd.features.movein import values
from crowdd.features.movein.values import Converted
from crowdd.kernel.values import Values

OTHER_REDUNDANCY: Final = "`n_answers` was below 1 or above 10,000. It was moved into this range."
NO_USER: Final = "The user did not come over. The answer has a volunteer without an account."
NOBODY: Final = "The answer does not say who gave it. It has a volunteer of its own."
NO_PICTURE: Final = "`media_url` is not an address of a picture. It was put under `media_url` of `info`."
LONG_UID: Final = "`external_uid` was longer than 255 characters. It was cut."
_MAX_ANSWERS: Final = 10_000


def task(row: Values, now: datetime) -> Converted:
    """A task for ``features.movein.statements.add_tasks``."""
    info, remarks = values.json_text(row["info"])
    created = values.parse_time(row["created"])
    if created is None:
        remarks.append(values.NO_TIME)
    n_answers = values.whole_number(row["n_answers"], 1, _MAX_ANSWERS, 30)
    if row["n_answers"] is not None and n_answers != row["n_answers"]:
        remarks.append(OTHER_REDUNDANCY)
    return Converted(
        {
            "id": row["id"],
            "project": row["project_id"],
            "created": values.format_utc(min(created or now, now)),
            "info": values.raw_json(info),
            "n_answers": n_answers,
            "priority_0": values.finite_number(row["priority_0"]),
            "quorum": row["quorum"] or 0,
            "calibration": row["calibration"] or 0,
            "favourites": row["fav_user_ids"] or [],
        },
        remarks,
    )


def answer(row: Values, now: datetime, accounts: set[int], pseudonym: Callable[[str], str]) -> Converted:
    """An answer for ``add_answers``. ``accounts``: those of the rows that are here. ``pseudonym`` of a network."""
    info, remarks = values.json_text(row["info"])
    created, finished = values.parse_time(row["created"]), values.parse_time(row["finish_time"])
    if created is None or finished is None:
        remarks.append(values.NO_TIME)
    finished = min(finished or created or now, now)
    media = str(row["media_url"] or "")
    return Converted(
        {
            "id": row["id"],
            "project": row["project_id"],
            "task": row["task_id"],
            **_volunteer(row, accounts, pseudonym, remarks),
            "created": values.format_utc(min(created or finished, finished)),
            "finished": values.format_utc(finished),
            "calibration": row["calibration"],
            "media_url": media if 0 < len(media) <= 2000 else None,
            "info": values.raw_json(info),
        },
        remarks,
    )


def result(row: Values, now: datetime) -> Converted:
    """A result for ``add_results``."""
    info, remarks = values.json_text(row["info"])
    created = values.parse_time(row["created"])
    return Converted(
        {
            "id": row["id"],
            "project": row["project_id"],
            "task": row["task_id"],
            "last": row["last_version"] is not False,
            "created": values.format_utc(min(created or now, now)),
            "runs": row["task_run_ids"] or [],
            "info": values.raw_json(info),
        },
        [*remarks, *([] if created else [values.NO_TIME])],
    )


def blogpost(row: Values, accounts: set[int]) -> Converted:
    """A blog post; without the column ``published`` everybody could read it."""
    return Converted(*_text_of(row, accounts, project_id=row["project_id"]))


def announcement(row: Values, accounts: set[int]) -> Converted:
    """An announcement."""
    return Converted(*_text_of(row, accounts))


def helping_material(row: Values) -> Converted:
    """A helping material."""
    fields, remarks = _dated(row)
    return Converted(
        {**fields, "project_id": row["project_id"], "priority": values.finite_number(row["priority"])},
        remarks,
    )


def _text_of(row: Values, accounts: set[int], **more: object) -> tuple[Values, list[str]]:
    fields, remarks = _dated(row)
    author = row["user_id"] if row["user_id"] in accounts else None
    return {
        **fields,
        **more,
        "updated": values.parse_time(row["updated"]) or fields["created"],
        "user_id": author,
        "title": values.clean_line(row["title"], 255) or "-",
        "body": values.clean_text(row["body"]) or "-",
        "published": row["published"] is not False,
    }, remarks


def _dated(row: Values) -> tuple[Values, list[str]]:
    info, remarks = values.json_object(row["info"])
    created, media = values.parse_time(row["created"]), values.picture_address(row["media_url"])
    if created is None:
        remarks.append(values.NO_TIME)
    if row["media_url"] and media is None:
        remarks.append(NO_PICTURE)
        info = {"media_url": values.clean_text(row["media_url"]), **info}
    return {
        "id": row["id"],
        "created": created or values.current_time(),
        "info": as_json(info),
        "media_url": media,
    }, remarks


def _volunteer(row: Values, accounts: set[int], pseudonym: Callable[[str], str], remarks: list[str]) -> Values:
    """Who gave an answer: an external user, an account, a network, or somebody of whom nothing is known."""
    if uid := values.clean_line(row["external_uid"], 10_000):
        if len(uid) > 255:
            uid = uid[:255]
            remarks.append(LONG_UID)
        return {"actor": f"x:{uid}", "user_id": None, "ip": None, "uid": uid}
    if row["user_id"] in accounts:
        return {"actor": f"u:{row['user_id']}", "user_id": row["user_id"], "ip": None, "uid": None}
    if row["user_id"] is not None:
        remarks.append(NO_USER)
        uid = f"pybossa-user-{row['user_id']}"
        return {"actor": f"x:{uid}", "user_id": None, "ip": None, "uid": uid}
    network = _address(row["user_ip"])
    if network is not None:
        hidden = pseudonym(network)
        return {"actor": f"i:{hidden}", "user_id": None, "ip": hidden, "uid": None}
    uid = f"pybossa-{values.clean_line(row['user_ip'], 200) or 'run-' + str(row['id'])}"
    if not row["user_ip"]:
        remarks.append(NOBODY)
    return {"actor": f"x:{uid}", "user_id": None, "ip": None, "uid": uid}


def _address(value: object) -> str | None:
    try:
        return str(ipaddress.ip_address(str(value or "").strip()))
    except ValueError:
        return None
