"""Passkeys (WebAuthn): registered by name, used to sign in or as a second factor."""

from __future__ import annotations

import binascii
import hmac
import ipaddress
import secrets as random
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import attrs
import orjson

from crowdd.core.devices import Authenticated
from crowdd.core.secrets import Secrets
from crowdd.database.access import Database, Transactions
from crowdd.features.accounts import statements as account_statements
from crowdd.features.accounts.rows import Passkey
from crowdd.features.signin import statements
from crowdd.kernel.errors import FormError
from crowdd.kernel.languages import _
from crowdd.kernel.lazy import lacking, lazy

if TYPE_CHECKING:
    import webauthn
    from webauthn import helpers
    from webauthn.helpers import exceptions, structs
else:
    webauthn, helpers = lazy("webauthn", extra="signin"), lazy("webauthn.helpers", extra="signin")
    exceptions, structs = lazy("webauthn.helpers.exceptions"), lazy("webauthn.helpers.structs")

SECONDS = 300  # for which a challenge may be answered
MAX_PASSKEYS = 20
MAX_NAME = 60
_BROKEN = (ValueError, TypeError, KeyError, AttributeError, binascii.Error)


@attrs.frozen
class RelyingParty:
    """We, as authenticators know us: a domain (``id``, "" where passkeys cannot work) and the origins of our pages."""

    id: str
    name: Callable[[], str]
    origins: tuple[str, ...]

    @classmethod
    def of(cls, base_url: str, name: Callable[[], str], more_origins: Iterable[str] = ()) -> RelyingParty:
        """The one of a site: browsers offer passkeys for domains over https, and for localhost."""
        parts = urlsplit(base_url)
        host, origin = parts.hostname or "", f"{parts.scheme}://{parts.netloc}"
        if _is_loopback(host):
            local = f"{parts.scheme}://localhost{f':{parts.port}' if parts.port else ''}"
            return cls("localhost", name, tuple(dict.fromkeys((origin, local, *more_origins))))
        works = parts.scheme == "https" and "." in host and not _is_address(host)
        return cls(host if works else "", name, (origin, *more_origins))


@attrs.frozen
class Challenge:
    """A question to a passkey that waits for its answer, kept by the browser (encrypted).

    ``purpose``: register, signin, second or prove. ``user_id``: whose passkey; None at signin.
    """

    purpose: str
    at: float
    user_id: int | None = None
    value: str = attrs.field(factory=lambda: random.token_urlsafe(32), repr=False)

    def packed(self) -> str:
        """As a text, for a cookie; encrypted there."""
        return orjson.dumps(attrs.asdict(self)).decode()

    @classmethod
    def unpacked(cls, text: str) -> Challenge | None:
        """From such a text; None without one."""
        return cls(**orjson.loads(text)) if text else None

    @property
    def bytes(self) -> bytes:
        """What the authenticator signs."""
        return helpers.base64url_to_bytes(self.value)


class Passkeys:
    """Challenges, registrations and uses of passkeys."""

    def __init__(self, db: Transactions, secrets: Secrets, party: RelyingParty) -> None:
        self._db, self._secrets, self._party = db, secrets, party

    @property
    def available(self) -> bool:
        """Whether browsers offer passkeys on this site."""
        return not self.obstacle

    @property
    def obstacle(self) -> str:
        """Why passkeys cannot be used on this site; "" where they can."""
        if not self._party.id:
            return _("Passkeys do not work on this site: they need a domain name and https.")
        words: str = "" if find_spec("webauthn") else lacking("signin").args[0]
        return words

    async def of_user(self, user_id: int) -> list[Passkey]:
        """The passkeys of an account, the oldest first: id, name, created, last_used and more."""
        return await statements.list_passkeys(self._db, user_id)

    async def challenge(self, purpose: str, user_id: int | None) -> Challenge:
        """A new challenge, good for five minutes."""
        return Challenge(purpose, await account_statements.read_time(self._db), user_id)

    async def creation_options(self, challenge: Challenge, user_id: int, name: str) -> Any:
        """What ``navigator.credentials.create`` is asked for, as JSON."""
        known = await self.of_user(user_id)
        options = webauthn.generate_registration_options(
            rp_id=self._party.id,
            rp_name=self._party.name(),
            user_id=self._handle(user_id),
            user_name=name,
            challenge=challenge.bytes,
            authenticator_selection=structs.AuthenticatorSelectionCriteria(
                resident_key=structs.ResidentKeyRequirement.PREFERRED,
                user_verification=structs.UserVerificationRequirement.PREFERRED,
            ),
            exclude_credentials=_descriptors(known),
        )
        return orjson.loads(webauthn.options_to_json(options))

    async def request_options(self, challenge: Challenge) -> Any:
        """What ``navigator.credentials.get`` is asked for, as JSON: any passkey of the site at signin, else theirs."""
        known = [] if challenge.user_id is None else await self.of_user(challenge.user_id)
        options = webauthn.generate_authentication_options(
            rp_id=self._party.id,
            challenge=challenge.bytes,
            allow_credentials=_descriptors(known),
            user_verification=structs.UserVerificationRequirement.PREFERRED,
        )
        return orjson.loads(webauthn.options_to_json(options))

    async def register(
        self, tx: Database, user_id: int, name: str, credential: str, challenge: Challenge | None
    ) -> None:
        """Stores the passkey that a browser made for the challenge. Raises FormError."""
        label = name.strip()
        if not 1 <= len(label) <= MAX_NAME or not label.isprintable():
            raise FormError({"name": [_("Use 1 to %(maximum)s characters.", maximum=MAX_NAME)]})
        if len(await statements.list_passkeys(tx, user_id)) >= MAX_PASSKEYS:
            raise FormError({"name": [_("You have %(maximum)s passkeys. Remove one first.", maximum=MAX_PASSKEYS)]})
        await self._use_challenge(tx, challenge, "register", user_id)
        assert challenge is not None
        try:
            made = webauthn.verify_registration_response(
                credential=credential,
                expected_challenge=challenge.bytes,
                expected_rp_id=self._party.id,
                expected_origin=list(self._party.origins),
            )
        except (exceptions.WebAuthnException, *_BROKEN):
            raise _refused() from None
        if not await statements.insert_passkey(
            tx, user_id, made.credential_id, made.credential_public_key, made.sign_count, label
        ):
            raise FormError({"name": [_("This passkey is registered already.")]})

    async def use(
        self, tx: Database, credential: str, challenge: Challenge | None, purpose: str, user_id: int | None
    ) -> Authenticated:
        """The account whose passkey answered the challenge, which is used up by it. Raises FormError.

        ``user_id``: whose passkey it has to be, whatever the browser keeps beside the challenge. At signin it is None:
        the passkey says who it is, and the device must have checked its person (by a fingerprint, a face or a PIN). A
        passkey that was added before the e-mail address was proved does not sign in alone.
        """
        await self._use_challenge(tx, challenge, purpose, user_id)
        assert challenge is not None
        row = await statements.find_passkey(tx, _credential_id(credential))
        if row is None or row.blocked or user_id not in (None, row.user_id):
            raise _refused()
        try:
            used = webauthn.verify_authentication_response(
                credential=credential,
                expected_challenge=challenge.bytes,
                expected_rp_id=self._party.id,
                expected_origin=list(self._party.origins),
                credential_public_key=bytes(row.public_key),
                credential_current_sign_count=row.sign_count,
            )
            good_handle = self._is_handle_of(row.user_id, credential, needed=purpose == "signin")
        except (exceptions.WebAuthnException, *_BROKEN):
            raise _refused() from None
        if not good_handle or not await statements.count_passkey_use(tx, row.id, row.sign_count, used.new_sign_count):
            raise _refused()
        if purpose == "signin" and not used.user_verified:
            words = _("Your device did not verify your identity. Sign in with your password, then use the passkey.")
            raise FormError({"credential": [words]})
        if purpose == "signin" and not row.address_proved:
            words = _(
                "This passkey was added before the e-mail address was confirmed. Sign in with your password, then use"
                " the passkey."
            )
            raise FormError({"credential": [words]})
        return Authenticated(row.user_id, row.access_version)

    async def _use_challenge(
        self, tx: Database, challenge: Challenge | None, purpose: str, user_id: int | None
    ) -> None:
        """Passes once for a challenge of this purpose and person that is not too old."""
        now = await account_statements.read_time(tx)
        good = challenge is not None and challenge.purpose == purpose and challenge.user_id == user_id
        if challenge is None or not good or not 0 <= now - challenge.at < SECONDS:
            raise FormError({"credential": [_("This took too long. Try again.")]})
        if not await statements.use_challenge(tx, self._secrets.digest("challenge", challenge.value), SECONDS):
            raise FormError({"credential": [_("This took too long. Try again.")]})

    def _handle(self, user_id: int) -> bytes:
        """What authenticators know an account by: nothing about its person."""
        return self._secrets.digest("passkey_user", str(user_id))

    def _is_handle_of(self, user_id: int, credential: str, *, needed: bool) -> bool:
        sent = orjson.loads(credential)["response"].get("userHandle")
        if not sent:
            return not needed
        return hmac.compare_digest(helpers.base64url_to_bytes(sent), self._handle(user_id))


def _credential_id(credential: str) -> bytes:
    try:
        return helpers.base64url_to_bytes(orjson.loads(credential)["rawId"])
    except (exceptions.WebAuthnException, *_BROKEN):
        raise _refused() from None


def _refused() -> FormError:
    return FormError({"credential": [_("This passkey was not accepted.")]})


def _descriptors(rows: list[Passkey]) -> list[structs.PublicKeyCredentialDescriptor]:
    return [structs.PublicKeyCredentialDescriptor(id=row.credential_id) for row in rows]


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _is_loopback(host: str) -> bool:
    if not _is_address(host):
        return host == "localhost"
    address = ipaddress.ip_address(host)
    return address.is_loopback or address.is_unspecified  # 0.0.0.0 is where a server listens, not where it is
