"""User: a person with an account (interface: user-fields)."""

from functools import partial

from crowdd.kinds.kind import Field, Kind, Rights, Write
from crowdd.kinds.roles import ADMINS, EVERYONE, KEYHOLDERS, NOBODY, Role
from crowdd.kinds.types import Boolean, Integer, JsonObject, Name, ShortName, Text, Timestamp

PRIVATE = frozenset({Role.SELF, Role.ADMIN})
SHOWN = PRIVATE | {Role.OPEN}
LISTED = PRIVATE | {Role.SHOWN}
of_server = partial(Field, read=PRIVATE, write=Write.RESERVED)

# Keys of info that administrators and the server write; the person keeps what is stored.
_ADMIN_INFO = frozenset({"extra", "container"})


def is_guarded(key: str) -> bool:
    """Whether a first-level key of a person's info is not theirs to write."""
    return key in _ADMIN_INFO or key.startswith("avatar")


USER = Kind(
    name="user",
    doc="A user is a person who signed up.",
    table="account",
    source="user_record",
    methods=frozenset({"GET", "PUT"}),
    public_info=frozenset({"avatar", "avatar_url", "container", "extra"}),
    pictures=("info.avatar_url",),
    rights=Rights(see=LISTED, get=LISTED, create=NOBODY, update=PRIVATE, delete=NOBODY),
    fields=(
        of_server("id", Integer(), "Unique id."),
        Field("created", Timestamp(), "When the account was created.", read=SHOWN, write=Write.RESERVED),
        Field("name", ShortName(maximum=35, minimum=2), "Unique user name.", read=EVERYONE, write=Write.RESERVED),
        Field("fullname", Name(maximum=500), "Full name.", read=SHOWN),
        Field("locale", Text(maximum=10), "Language of pages and e-mails.", read=EVERYONE),
        of_server("email_addr", Text(maximum=254), "E-mail address.", search=False),
        Field("api_key", Text(), "API key.", read=KEYHOLDERS, write=Write.RESERVED, encrypted=True),
        Field("passwd_hash", Text(), "Always null.", read=ADMINS, write=Write.RESERVED, null=True, search=False),
        Field("admin", Boolean(), "Whether the user is an administrator of the site.", read=PRIVATE, writers=ADMINS),
        Field("pro", Boolean(), "Mark for use by administrators.", read=PRIVATE, writers=ADMINS),
        Field("restrict", Boolean(), "Blocked.", read=ADMINS, write=Write.RESERVED),
        Field("privacy_mode", Boolean(), "Whether fullname and created are hidden.", read=PRIVATE),
        Field("subscribed", Boolean(), "Whether the user gets the weekly e-mail with news.", read=PRIVATE),
        of_server("newsletter_prompted", Boolean(), "Whether the user was asked about the weekly e-mail."),
        of_server("valid_email", Boolean(), "Whether the e-mail address is confirmed."),
        of_server("confirmation_email_sent", Boolean(), "Whether a confirmation e-mail was sent."),
        Field("consent", Boolean(), "Whether the user agreed to receive e-mails.", read=PRIVATE),
        Field("flags", Integer(), "For use by administrators.", read=PRIVATE, writers=ADMINS, null=True),
        Field("category", Integer(), "For use by administrators.", read=PRIVATE, writers=ADMINS, null=True),
        Field(
            "catalog_api",
            Text(maximum=500),
            "Key of an external data catalogue.",
            read=PRIVATE,
            null=True,
            search=False,
        ),
        of_server("google_user_id", Text(), "Id of the user at this provider.", null=True, search=False),
        of_server("github_user_id", Text(), "Id of the user at this provider.", null=True, search=False),
        of_server("orcid_user_id", Text(), "Id of the user at this provider.", null=True, search=False),
        Field("info", JsonObject(), "Free-form: avatar, container, extra …", read=PRIVATE, max_bytes=16_000),
    ),
)
