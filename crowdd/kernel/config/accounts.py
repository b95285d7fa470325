"""Volunteers, accounts, sign-in and personal data."""

from __future__ import annotations

import attrs

from crowdd.kernel.config.options import automatic, boolean, choice, not_negative, option, positive


@attrs.frozen
class VolunteerSettings:
    """``[volunteers]``: volunteers without an account."""

    anonymous: str = option(
        "cookie",
        choice("cookie", "address"),
        doc="How to tell volunteers without an account apart: by cookie (several can share an address) or by address.",
    )
    cookies_per_hour: int = option(200, positive, doc="New volunteer cookies per network and hour.")
    cookies_per_day: int = option(500, positive, doc="New volunteer cookies per network and day.")
    counted_per_network: int = option(
        1,
        not_negative,
        doc="Anonymous answers per network that count for a task, unless the project sets its own number. 0: no limit.",
        fixed=True,
    )
    keep_circumstances: bool = option(
        True,
        boolean,
        doc=(
            "Keep for owners how each answer was given, as the volunteer's page tells it: language, media, seconds, "
            "and whether they used a pointer, fingers or the keyboard."
        ),
    )
    open_external_uid: bool = option(
        False,
        boolean,
        doc=(
            "Let everybody ask, without a token, which tasks an external user has not answered (lists of tasks with "
            "`participated`) and how many they have (`userprogress`), as PyBossa does. Ids are often e-mail addresses."
        ),
    )


@attrs.frozen
class AccountSettings:
    """``[accounts]``: accounts and sessions."""

    session_days: int = option(30, positive, doc="Days without use after which a session ends.")
    session_max_days: int = option(90, positive, doc="Days after which a session ends, used or not.")
    proof_minutes: int = option(
        10,
        positive,
        doc="Minutes for which a password or second factor is accepted for changes that protect the account.",
    )
    admin_proof_hours: int = option(
        12, positive, doc="Hours after which administrators must confirm their identity again below /admin."
    )
    admin_idle_minutes: int = option(
        30,
        positive,
        doc="Minutes without use after which administrators must confirm their identity again below /admin.",
    )
    require_second_factor: str = option(
        "nobody",
        choice("nobody", "admins"),
        doc="Who needs a second factor: nobody or admins. Administrators without one cannot open /admin.",
    )
    key_in_query: bool = option(
        True,
        boolean,
        doc=(
            "Accept API keys in the address (?api_key=). Turn this off if you can: addresses end up in logs "
            "and browser histories."
        ),
    )
    keys_manage_projects: bool = option(
        False,
        boolean,
        doc=(
            "Let API keys, and tokens with the scope everything, delete and transfer projects and change their owners, "
            "reviewers, invitations, password and secret key. Off: only sessions with a recent proof and crowdctl do."
        ),
    )
    min_password_length: int = option(10, positive, doc="Minimum length of new passwords. Older passwords still work.")
    max_login_failures: int = option(10, positive, doc="Failed sign-ins per account and network in 15 minutes.")
    max_login_failures_per_hour: int = option(
        100,
        positive,
        doc="Failed sign-ins per account and hour, from all networks together. Known devices are exempt.",
    )
    max_posts: int = option(
        300, not_negative, doc="Requests per network to each form below /account in 15 minutes. 0: no limit."
    )
    signups_per_hour: int = option(
        10,
        not_negative,
        doc="New accounts per network and hour. 0: no limit. Raise it before a class signs up.",
    )
    confirm_email: str = option(
        "auto",
        automatic,
        doc=(
            "Whether new accounts and new addresses must be confirmed by e-mail: on, off, or auto (as soon as [mail] "
            "host is set)."
        ),
    )
    link_hours: int = option(5, positive, doc="Hours for which links in e-mails work.")


@attrs.frozen
class SignInSettings:
    """``[signin]``: sign-in with other providers. A provider without a client id is not offered."""

    google_client_id: str = option(
        "",
        doc=(
            "Client id from Google. Leave it empty to offer no sign-in with Google. Register the redirect "
            "address `<base_url>/google/oauth_authorized` there."
        ),
    )
    google_client_secret: str = option("", doc="Client secret from Google.")
    google_issuer: str = option("https://accounts.google.com", doc="Issuer of Google's ID tokens.")
    github_client_id: str = option(
        "",
        doc=(
            "Client id from GitHub. Leave it empty to offer no sign-in with GitHub. Register the redirect "
            "address `<base_url>/github/oauth_authorized` there."
        ),
    )
    github_client_secret: str = option("", doc="Client secret from GitHub.")
    github_url: str = option("https://github.com", doc="Address of GitHub or of a GitHub Enterprise server.")
    github_api_url: str = option("https://api.github.com", doc="Address of its API.")
    orcid_client_id: str = option(
        "",
        doc=(
            "Client id from ORCID. Leave it empty to offer no sign-in with ORCID. Register the redirect "
            "address `<base_url>/orcid/oauth_authorized` there."
        ),
    )
    orcid_client_secret: str = option("", doc="Client secret from ORCID.")
    orcid_issuer: str = option(
        "https://orcid.org", doc="Issuer of ORCID's ID tokens. For tests: https://sandbox.orcid.org."
    )


@attrs.frozen
class ExternalSettings:
    """``[external]``: volunteers of another user base."""

    token_hours: int = option(24, positive, doc="Hours for which a project token for external users is valid.")


@attrs.frozen
class RetentionSettings:
    """``[retention]``: how long personal data is kept. 0: for ever."""

    address_days: int = option(
        365,
        not_negative,
        doc="Days after which the pseudonym of the address is removed from answers. 0: never.",
    )
    event_days: int = option(365, not_negative, doc="Days after which user ids are removed from events. 0: never.")
    audit_days: int = option(1095, not_negative, doc="Days to keep rows of the audit log. 0: for ever.")


@attrs.frozen
class HistorySettings:
    """``[history]``: earlier versions of tasks, answers and results."""

    days: int = option(
        730,
        not_negative,
        doc="Days to keep earlier versions of tasks, answers and results, which owners read with `at`. 0: keep none.",
    )


@attrs.frozen
class CommentingSettings:
    """``[commenting]``: single sign-on at a commenting provider."""

    public_key: str = option(
        "", doc="Public key of a commenting provider for /api/commenting/sso. Leave it empty to turn this off."
    )
    secret_key: str = option("", doc="Secret key from the provider.")
