"""The ways into an account that its person may keep when they take the account back."""

from __future__ import annotations

from crowdd.database.access import Database, fetch_rows
from crowdd.features.accounts.rows import KeepableWay

_OF_USER = """
SELECT 'provider' AS kind, p.name AS key, '' AS name, coalesce(c.created, a.created) AS created, NULL::timestamptz AS last_used,
       coalesce(c.address_proved, false) AS address_proved
  FROM account a
 CROSS JOIN LATERAL (VALUES ('google', a.google_user_id), ('github', a.github_user_id), ('orcid', a.orcid_user_id)) p(name, id)
  LEFT JOIN provider_connection c ON c.user_id = a.id AND c.provider = p.name
 WHERE a.id = %(user)s AND p.id IS NOT NULL
UNION ALL
SELECT 'passkey', id::text, name, created, last_used, address_proved FROM passkey WHERE user_id = %(user)s
UNION ALL
SELECT 'authenticator', '', '', created, NULL, address_proved FROM totp WHERE user_id = %(user)s AND confirmed IS NOT NULL
UNION ALL
SELECT 'recovery_codes', '', '', min(created), NULL, bool_and(address_proved)
  FROM recovery_code WHERE user_id = %(user)s HAVING count(*) > 0
 ORDER BY created, kind, key
"""


async def keepable(db: Database, user_id: int) -> list[KeepableWay]:
    """Those of an account, the oldest first."""
    return await fetch_rows(db, KeepableWay, _OF_USER, {"user": user_id})
