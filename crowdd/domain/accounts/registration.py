"""What somebody says who signs up."""

from __future__ import annotations

import attrs

from crowdd.domain.accounts import account_validation


@attrs.frozen
class Registration:
    """What somebody who signs up says; ``invitation`` is the key of one."""

    name: str = attrs.field(converter=account_validation.stored_name)
    fullname: str = attrs.field(converter=account_validation.stored_fullname)
    email_addr: str
    password: str = attrs.field(repr=False)
    confirm: str = attrs.field(repr=False)
    invitation: str = attrs.field(default="", repr=False)

    def mistakes(self, min_password_length: int | None) -> account_validation.Mistakes:
        """What is wrong with it, per field; None: who comes from a provider has no password."""
        password, confirm = ([], []) if min_password_length is None else self._password(min_password_length)
        return account_validation.found(
            {
                "fullname": account_validation.fullname(self.fullname),
                "name": account_validation.name(self.name),
                "email_addr": account_validation.email(self.email_addr),
                "password": password,
                "confirm": confirm,
            }
        )

    def _password(self, min_length: int) -> tuple[list[str], list[str]]:
        return account_validation.password(self.password, self.confirm, min_length)
