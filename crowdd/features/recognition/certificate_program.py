"""The program that draws one certificate, with little memory and time."""

from __future__ import annotations

import os
from typing import Final

import orjson

from crowdd.features.projects import poster_program
from crowdd.features.recognition.certificate_drawing import CertificatePage, draw

LIMITS: Final = poster_program.LIMITS
DESCRIPTION: Final = "CROWDD_CERTIFICATE"
"""The variable of the environment with the certificate, as JSON."""


def make_pdf() -> bytes:
    """The PDF of the certificate, as ``draw_page`` of posters gives it."""
    return poster_program.draw_page(CertificatePage(**orjson.loads(os.environ[DESCRIPTION])), draw)
