"""Errors that prevent a server from starting."""

from crowdd.errors import CrowddError


class StartError(CrowddError):
    """Something that must be there before the server can start is missing, broken or taken; the text says what to do."""

    code = "start"
