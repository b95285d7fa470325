"""Convert accounts, categories and projects of PyBossa."""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Callable
from typing import Final

import attrs
import orjson

from crowdd.database.access import as_json
from crowdd.features.accounts import passwords, validation
from crowdd.features.movein import values
from crowdd.features.movein.values import Converted, Refused
from crowdd.features.projects.project_validation import check_info, slug
from crowdd.kernel.errors import InvalidValueError, RefusedTargetError
from crowdd.kernel.values import Values
from crowdd.kinds.answer_files import ANSWER_FILES
from crowdd.kinds.category import CATEGORY
from crowdd.kinds.guides import GUIDES
from crowdd.kinds.names import RESERVED_SHORT_NAMES
from crowdd.kinds.project import PROJECT
from crowdd.kinds.questions import QUESTIONS
from crowdd.kinds.user import USER

NEW_PROJECT_NAME: Final = (
    "The project name is empty, too long, or taken in other letters. It was cut and got the id at its end."
)
NEW_SHORT_NAME: Final = "The short name is reserved or cannot stand in an address. The project has another address."
NO_WEBHOOK: Final = "The webhook address is not one that crowdd may ask ([outgoing] allowed_hosts). It was removed."
NO_IMPORTER: Final = "The automatic importer did not come over. Set up a scheduled import."
OTHER_INFO: Final = "A key of `info` means something else in crowdd. It got the prefix pybossa_."
NO_OWNER: Final = "The owner did not come over. The first administrator owns the project."
NO_CATEGORY: Final = "The category did not come over. The project is in the first one."
NOT_READ: Final = (
    "The project password cannot be read. The project has a random password: its owner must set a new one."
)
# Keys that crowdd reads and PyBossa does not: what stands there means something else.
_OURS: Final = (
    QUESTIONS, "questions_version", "answers", "answer_key", "answers_when_complete", "token_per_volunteer",
    "column_roles", "dataset", "gold_rate", "gold_start", "gold_feedback", "gold_embargo", "show_accuracy", "stopping",
    "max_answer_bytes", "max_marks", "lease_seconds", "counted_per_network", "counted_per_group", "language",
    ANSWER_FILES,
    *(guide.name for guide in GUIDES), *(guide.version_key for guide in GUIDES),
)  # fmt: skip
_CHECKED: Final = ("sched", "task_presenter", "results", "tutorial")


@attrs.frozen
class Surroundings:
    """What a project needs to find: accounts and categories that are here, names that are taken (in lower case)."""

    accounts: set[int]
    categories: set[int]
    administrator: int | None
    first_category: int | None
    names: set[str]
    short_names: set[str]
    require_webhook: Callable[[str], None]


@attrs.frozen
class Password:
    """The password of a project: a hash, or a text that is still to be hashed. Both None: it was lost."""

    hashed: str | None
    text: str | None


def convert_project(row: Values, here: Surroundings) -> tuple[Converted, Password | None, str]:
    """A project without its keys, its password and its scheduler. Raises Refused."""
    info, remarks = values.json_object(row["info"])
    owner = row["owner_id"]
    if owner not in here.accounts:
        owner = here.administrator
        remarks.append(NO_OWNER)
    if owner is None:
        raise Refused("It has no owner, and there is no administrator.")
    category = row["category_id"]
    if category not in here.categories:
        category = here.first_category
        remarks.append(NO_CATEGORY)
    password = _project_password(info, remarks)
    created = values.parse_time(row["created"])
    if created is None:
        remarks.append(values.NO_TIME)
    created = min(created or values.current_time(), values.current_time())
    published = bool(row["published"])
    # PyBossa takes abandoned projects offline: they were published once.
    was_published = published or bool(row["contacted"])
    sched = _plain_info(info, remarks)
    name, short_name = _names(row, here, remarks)
    project_values = {
        "id": row["id"],
        "created": created,
        "updated": values.parse_time(row["updated"]) or created,
        "name": name,
        "short_name": short_name,
        "description": values.clean_line(row["description"], 255),
        "long_description": values.clean_text(row["long_description"]),
        "webhook": _webhook(row, here, remarks),
        "allow_anonymous_contributors": row["allow_anonymous_contributors"] is not False,
        "published": False,
        "first_published": created if was_published else None,
        "featured": bool(row["featured"]),
        "contacted": bool(row["contacted"]),
        "zip_download": row["zip_download"] is not False,
        "owner_id": owner,
        "owners_ids": sorted({owner, *(each for each in row["owners_ids"] or () if each in here.accounts)}),
        "category_id": category,
        "info": as_json(info),
    }
    return Converted(project_values, remarks), password, sched


def _names(row: Values, here: Surroundings, remarks: list[str]) -> tuple[str, str]:
    line = values.clean_line(row["name"], 255)
    name = values.clean_name(line, 255, remarks)
    if not name or line != row["name"] or name.lower() in here.names:
        name = f"{name[:230] or 'Project'} {row['id']}"
        remarks.append(NEW_PROJECT_NAME)
    short_name = str(row["short_name"] or "")
    try:
        short_name = str(PROJECT.field("short_name").parse(short_name))
    except InvalidValueError:
        short_name = ""
    if not short_name or short_name.lower() in RESERVED_SHORT_NAMES or short_name in here.short_names:
        short_name = f"{slug(str(row['short_name'] or ''))}-{row['id']}"
        remarks.append(NEW_SHORT_NAME)
    here.names.add(name.lower())
    here.short_names.add(short_name)
    return name, short_name


def _plain_info(info: Values, remarks: list[str]) -> str:
    """Takes out of ``info`` what crowdd would read otherwise; the scheduler."""
    if info.pop("autoimporter", None):
        remarks.append(NO_IMPORTER)
    wrong = [key for key in _OURS if key in info] + [
        key for key in _CHECKED if key in info and _is_wrong(key, info[key])
    ]
    for key in wrong:
        info[f"pybossa_{key}"] = info.pop(key)
    if wrong:
        remarks.append(OTHER_INFO)
    return str(info.get("sched") or "default")


def _is_wrong(key: str, value: object) -> bool:
    try:
        check_info({key: value})
    except InvalidValueError:
        return True
    return False


def _webhook(row: Values, here: Surroundings, remarks: list[str]) -> str | None:
    address = str(row["webhook"] or "").strip()
    if not address:
        return None
    try:
        here.require_webhook(address)
    except (RefusedTargetError, InvalidValueError):
        remarks.append(NO_WEBHOOK)
        return None
    return address


def _project_password(info: Values, remarks: list[str]) -> Password | None:
    """The password in ``info``: a hash, or a signed token whose first part is the password as JSON."""
    stored = info.pop("passwd_hash", None)
    if not stored:
        return None
    if passwords.is_foreign_hash(str(stored)):
        return Password(str(stored), None)
    text = _signed_text(str(stored))
    if text is None:
        remarks.append(NOT_READ)
    return Password(None, text)


def _signed_text(token: str) -> str | None:
    compressed, body = token.startswith("."), token.lstrip(".").partition(".")[0]
    try:
        decoded = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))
        unpacked = zlib.decompressobj().decompress(decoded, 10_000) if compressed else decoded
        payload = orjson.loads(unpacked)
    except (ValueError, binascii.Error, zlib.error):
        return None
    return payload if isinstance(payload, str) and payload else None


NEW_USER_NAME: Final = "The name breaks our rules or is taken in other letters. It got the id at its end."
NEW_EMAIL: Final = (
    "The e-mail address is not valid or is taken in other letters. It became user-ID@example.invalid:"
    " the user can sign in with the name."
)
NO_FORMAT: Final = "The password hash is of no format that crowdd reads. The user must reset the password."
PROVIDER_ONLY: Final = "The account has no password. The user signs in with Google or resets the password."
HIDDEN: Final = (
    "`restrict` hides a user from lists in PyBossa, but blocks a user in crowdd. The full name was hidden instead."
)
_FLAGS: Final = {
    "admin": False,
    "pro": False,
    "privacy_mode": True,
    "newsletter_prompted": False,
    "valid_email": False,
    "confirmation_email_sent": False,
    "subscribed": False,
    "consent": False,
}


def convert_user(row: Values, names: set[str], emails: set[str]) -> Converted:
    """An account without its key. ``names`` and ``emails``: taken, in lower case; the new ones are added."""
    info, remarks = values.json_object(row["info"])
    created = values.parse_time(row["created"])
    if created is None:
        remarks.append(values.NO_TIME)
    name, email = _name(row, names, remarks), _email(row, emails, remarks)
    if row["restrict"]:
        remarks.append(HIDDEN)
    flags = {flag: default if row[flag] is None else bool(row[flag]) for flag, default in _FLAGS.items()}
    return Converted(
        {
            "id": row["id"],
            "created": created or values.current_time(),
            "name": name,
            "fullname": values.clean_name(row["fullname"], 500, remarks) or name,
            "email_addr": email,
            "passwd_hash": _user_password(row, remarks),
            **flags,
            "privacy_mode": flags["privacy_mode"] or bool(row["restrict"]),
            "valid_email": flags["valid_email"] and email == row["email_addr"],
            "restrict": False,
            "locale": locale if 0 < len(locale := row["locale"] or "en") <= 10 else "en",
            "flags": row["flags"],
            "category": row["category"],
            "catalog_api": values.clean_line(row["ckan_api"], 500) or None,
            "google_user_id": None if row["google_user_id"] is None else str(row["google_user_id"]),
            "info": as_json(info),
        },
        remarks,
    )


def convert_category(row: Values, names: set[str], short_names: set[str]) -> Converted:
    """A category. ``names`` in lower case and ``short_names`` are taken; the new ones are added."""
    info, remarks = values.json_object(row["info"])
    name = values.clean_name(row["name"], 240, remarks) or f"Category {row['id']}"
    if name.lower() in names:
        name = f"{name} {row['id']}"
        remarks.append(NEW_USER_NAME)
    short_name = str(row["short_name"] or "")
    try:
        short_name = str(CATEGORY.field("short_name").parse(short_name))
    except InvalidValueError:
        short_name = f"{slug(short_name, 'category')}-{row['id']}"
        remarks.append(NEW_USER_NAME)
    if short_name in short_names:
        short_name = f"{short_name}-{row['id']}"
        remarks.append(NEW_USER_NAME)
    names.add(name.lower())
    short_names.add(short_name)
    created = values.parse_time(row["created"])
    return Converted(
        {
            "id": row["id"],
            "created": created or values.current_time(),
            "name": name,
            "short_name": short_name,
            "description": values.clean_text(row["description"])[:10_000],
            "info": as_json(info),
        },
        remarks if created else [*remarks, values.NO_TIME],
    )


def _name(row: Values, names: set[str], remarks: list[str]) -> str:
    name = validation.stored_name(str(row["name"] or ""))
    if validation.check_name(name) or name.lower() in names:
        remarks.append(NEW_USER_NAME)
        plain = re.sub(r"[^\w.-]+", "-", values.clean_line(name, 20)).strip("-.") or "user"
        plain = slug(plain, "user") if validation.check_characters(USER.field("name").type, plain) else plain
        name = f"{plain[:20]}-{row['id']}"
        while name.lower() in names:
            name = f"{name}-x"
    names.add(name.lower())
    return name


def _email(row: Values, emails: set[str], remarks: list[str]) -> str:
    email = str(row["email_addr"] or "")
    if validation.check_email(email) or email.lower() in emails:
        remarks.append(NEW_EMAIL)
        email = f"user-{row['id']}@example.invalid"
        while email.lower() in emails:
            email = f"x-{email}"
    emails.add(email.lower())
    return email


def _user_password(row: Values, remarks: list[str]) -> str | None:
    stored = row["passwd_hash"]
    if not stored:
        remarks.append(PROVIDER_ONLY)
        return None
    if not passwords.is_foreign_hash(stored):
        remarks.append(NO_FORMAT)
        return None
    return str(stored)
