"""Second factors of people in tests: authenticator apps (pyotp), proofs, and time that passes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pyotp

from support.browsers import PASSWORD
from support.servers.served import Client, Response, Served


async def pass_time(served: Served, **length: float) -> None:
    """Moves the clock of the database."""
    await served.database.execute("UPDATE clock_shift SET ahead = ahead + %(by)s", {"by": timedelta(**length)})


async def now(served: Served) -> float:
    """The time by that clock, as epoch seconds."""
    return (await served.database.fetch("SELECT extract(epoch FROM clock())::float AS now"))[0]["now"]


async def code_of(served: Served, secret: str, *, steps: int = 0) -> str:
    """What an authenticator app shows now, or ``steps`` half minutes later."""
    return pyotp.TOTP(secret).at(int(await now(served)) + 30 * steps)


async def set_up_app(served: Served, browser: Client, name: str) -> tuple[str, list[str]]:
    """Sets an authenticator app up: its secret, and the recovery codes."""
    at = f"/account/{name}/authenticator"
    secret = (await browser.page(at)).json()["authenticator"]["secret"]
    answer = await browser.send_form(at, {"code": await code_of(served, secret)})
    assert answer.status == 200, answer.body
    await pass_time(served, seconds=60)  # the code of the enrolment is used up, and so is its time step
    return secret, answer.json()["codes"]


async def prove(browser: Client, password: str = PASSWORD) -> Response:
    """Gives the password once more."""
    return await browser.send_form("/account/prove", {"password": password})


async def letters(served: Served, template: str) -> list[Any]:
    """The letters of this name that were written."""
    sql = "SELECT recipient, subject, text FROM mail WHERE template = %(template)s ORDER BY id"
    return await served.database.fetch(sql, {"template": template})
