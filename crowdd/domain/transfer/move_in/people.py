"""Accounts of PyBossa as ours, and categories."""

from __future__ import annotations

import re
from typing import Final

from crowdd.domain.accounts import account_validation
from crowdd.domain.accounts.authentication import foreign_hashes
from crowdd.domain.projects.project_validation import slug
from crowdd.domain.transfer.move_in import values
from crowdd.domain.transfer.move_in.outcome import Converted
from crowdd.errors import InvalidValueError
from crowdd.kinds.category import CATEGORY
from crowdd.kinds.user import USER
from crowdd.storage.database import as_json
from crowdd.values import Values

NEW_NAME: Final = "The name breaks our rules or is taken in other letters. It got the id at its end."
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


def user(row: Values, names: set[str], emails: set[str]) -> Converted:
    """An account without its key. ``names`` and ``emails``: taken, in lower case; the new ones are added."""
    info, remarks = values.json_object(row["info"])
    created = values.moment(row["created"])
    if created is None:
        remarks.append(values.NO_TIME)
    name, email = _name(row, names, remarks), _email(row, emails, remarks)
    if row["restrict"]:
        remarks.append(HIDDEN)
    flags = {flag: default if row[flag] is None else bool(row[flag]) for flag, default in _FLAGS.items()}
    return Converted(
        {
            "id": row["id"],
            "created": created or values.now(),
            "name": name,
            "fullname": values.name(row["fullname"], 500, remarks) or name,
            "email_addr": email,
            "passwd_hash": _password(row, remarks),
            **flags,
            "privacy_mode": flags["privacy_mode"] or bool(row["restrict"]),
            "valid_email": flags["valid_email"] and email == row["email_addr"],
            "restrict": False,
            "locale": locale if 0 < len(locale := row["locale"] or "en") <= 10 else "en",
            "flags": row["flags"],
            "category": row["category"],
            "catalog_api": values.line(row["ckan_api"], 500) or None,
            "google_user_id": None if row["google_user_id"] is None else str(row["google_user_id"]),
            "info": as_json(info),
        },
        remarks,
    )


def category(row: Values, names: set[str], short_names: set[str]) -> Converted:
    """A category. ``names`` in lower case and ``short_names`` are taken; the new ones are added."""
    info, remarks = values.json_object(row["info"])
    name = values.name(row["name"], 240, remarks) or f"Category {row['id']}"
    if name.lower() in names:
        name = f"{name} {row['id']}"
        remarks.append(NEW_NAME)
    short_name = str(row["short_name"] or "")
    try:
        short_name = str(CATEGORY.field("short_name").parse(short_name))
    except InvalidValueError:
        short_name = f"{slug(short_name, 'category')}-{row['id']}"
        remarks.append(NEW_NAME)
    if short_name in short_names:
        short_name = f"{short_name}-{row['id']}"
        remarks.append(NEW_NAME)
    names.add(name.lower())
    short_names.add(short_name)
    created = values.moment(row["created"])
    return Converted(
        {
            "id": row["id"],
            "created": created or values.now(),
            "name": name,
            "short_name": short_name,
            "description": values.text(row["description"])[:10_000],
            "info": as_json(info),
        },
        remarks if created else [*remarks, values.NO_TIME],
    )


def _name(row: Values, names: set[str], remarks: list[str]) -> str:
    name = account_validation.stored_name(str(row["name"] or ""))
    if account_validation.name(name) or name.lower() in names:
        remarks.append(NEW_NAME)
        plain = re.sub(r"[^\w.-]+", "-", values.line(name, 20)).strip("-.") or "user"
        plain = slug(plain, "user") if account_validation.unusable(USER.field("name").type, plain) else plain
        name = f"{plain[:20]}-{row['id']}"
        while name.lower() in names:
            name = f"{name}-x"
    names.add(name.lower())
    return name


def _email(row: Values, emails: set[str], remarks: list[str]) -> str:
    email = str(row["email_addr"] or "")
    if account_validation.email(email) or email.lower() in emails:
        remarks.append(NEW_EMAIL)
        email = f"user-{row['id']}@example.invalid"
        while email.lower() in emails:
            email = f"x-{email}"
    emails.add(email.lower())
    return email


def _password(row: Values, remarks: list[str]) -> str | None:
    stored = row["passwd_hash"]
    if not stored:
        remarks.append(PROVIDER_ONLY)
        return None
    if not foreign_hashes.is_foreign(stored):
        remarks.append(NO_FORMAT)
        return None
    return str(stored)
