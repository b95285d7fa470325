"""The package pybossa-client, which keeps its settings in its module."""

from __future__ import annotations

import pbclient


def use(url: str, key: str) -> None:
    """Sets the server and the key of everything that it does from now on."""
    pbclient.set("endpoint", url)
    pbclient.set("api_key", key)
    # Its functions keep the first key they ever saw as a default argument.
    for default in pbclient._pybossa_req.__defaults__ or ():
        if isinstance(default, dict):
            default.pop("api_key", None)
