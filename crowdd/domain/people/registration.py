"""What somebody says who signs up."""

from __future__ import annotations

import attrs

from crowdd.domain.people import checks


@attrs.frozen
class Registration:
    """What somebody who signs up says."""

    name: str
    fullname: str
    email_addr: str
    password: str = attrs.field(repr=False)
    confirm: str = attrs.field(repr=False)

    def mistakes(self, shortest_password: int) -> checks.Mistakes:
        """What is wrong with it, per field."""
        password, confirm = checks.password(self.password, self.confirm, shortest_password)
        return checks.found(
            {
                "fullname": checks.fullname(self.fullname),
                "name": checks.name(self.name),
                "email_addr": checks.email(self.email_addr),
                "password": password,
                "confirm": confirm,
            }
        )
