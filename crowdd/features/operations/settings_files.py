"""Files and folders that settings name and that cannot be used, and what to do about each.

They are looked at as the user who runs the command, who should be the user of the server.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterator, Mapping
from pathlib import Path

from crowdd.core.findings import Finding
from crowdd.database.connector import read_dsn
from crowdd.features.operations import backups
from crowdd.features.operations.settings_rules import of_environment, of_settings
from crowdd.kernel.config import Settings
from crowdd.kernel.errors import ConfigError
from crowdd.kernel.files import name_page
from crowdd.kernel.listening import read_certificate


def check_settings(settings: Settings, environ: Mapping[str, str]) -> list[Finding]:
    """All that can be said without a database."""
    return [*of_settings(settings), *of_files(settings), *of_environment(environ)]


def of_files(settings: Settings) -> list[Finding]:
    """What can be said of the files and folders that the settings name."""
    looks = (_of_certificate, _of_data_folder, _of_log_file, _of_backup_files, _of_named_files)
    return [finding for look in looks for finding in look(settings)]


def _of_certificate(settings: Settings) -> Iterator[Finding]:
    try:
        read_certificate(settings.http)
    except ConfigError as error:
        yield Finding("tls", str(error), error.hint or "Correct [http] tls_certificate and tls_key.")


def _of_data_folder(settings: Settings) -> Iterator[Finding]:
    folder = settings.data.dir.absolute()
    above = next((path for path in (folder, *folder.parents) if os.path.lexists(path)), folder)
    if not above.is_dir():
        yield Finding(
            "data_dir",
            f"[data] dir is {settings.data.dir}, but {above} is not a folder.",
            "Set it to a folder, such as /var/lib/crowdd.",
        )
    elif not os.access(above, os.W_OK | os.X_OK):
        yield Finding(
            "data_dir",
            f"[data] dir is {settings.data.dir}, but {_account()} cannot write to {above}.",
            "Give the folder to the user who runs crowdd, and run crowdctl as that user: runuser -u crowdd -- crowdctl",
        )
    if settings.data.postgres_user and not _is_account(settings.data.postgres_user):
        yield Finding(
            "postgres_user",
            f"[data] postgres_user is {settings.data.postgres_user}, but there is no such user.",
            "Create the user, or leave the setting empty.",
        )


def _account() -> str:
    try:
        return f"the user {pwd.getpwuid(os.geteuid()).pw_name}"
    except KeyError:
        return f"the user {os.geteuid()}"


def _is_account(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


def _of_log_file(settings: Settings) -> Iterator[Finding]:
    if not settings.log.file:
        return
    file = Path(settings.log.file).absolute()
    if file.is_dir() or not file.parent.is_dir():
        what = "is a folder" if file.is_dir() else f"lies in {file.parent}, which is not there"
        yield Finding("log_file", f"[log] file is {file}, which {what}.", "Create the folder, and name a file in it.")
    elif not os.access(file if file.exists() else file.parent, os.W_OK):
        yield Finding(
            "log_file",
            f"[log] file is {file}, which {_account()} cannot write.",
            "Give it to the user who runs crowdd.",
        )


def _of_backup_files(settings: Settings) -> Iterator[Finding]:
    own = settings.backups
    if complaint := backups.complaint(settings):
        yield Finding(
            "backups",
            f"Scheduled backups fail. {complaint}",
            f"See {name_page('operations.md', 'Backup and restore')}.",
        )
    if own.passphrase_file and os.path.isfile(own.passphrase_file) and os.stat(own.passphrase_file).st_mode & 0o007:
        yield Finding(
            "backups_passphrase",
            f"Every user of this machine can read the passphrase in {own.passphrase_file}.",
            "Run chmod 640 on it.",
        )


def _of_named_files(settings: Settings) -> Iterator[Finding]:
    if settings.site.texts and not os.path.isdir(settings.site.texts):
        yield Finding(
            "site_texts",
            f"[site] texts is {settings.site.texts}, which is not a folder: your own terms of use are not shown.",
            "Create the folder, or correct the setting.",
        )
    for name in ("dsn", "migrate_dsn", "replica_dsn"):
        try:
            authority = read_dsn(getattr(settings.db, name)).get("sslrootcert", "system")
        except ConfigError:  # of_settings says so
            continue
        if authority != "system" and not os.path.isfile(authority):
            yield Finding(
                "sslrootcert",
                f"[db] {name} has sslrootcert={authority}, which is not a file.",
                "Copy the certificate of the authority there, or correct the path.",
            )
