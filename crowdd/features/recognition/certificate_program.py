"""The program that draws one certificate, with little memory and time."""

from __future__ import annotations

import os
from typing import Final

import orjson

from crowdd.features.projects import poster_program
from crowdd.features.projects.poster_drawing import fonts_for
from crowdd.features.recognition.certificate_drawing import CertificatePage, draw

LIMITS: Final = poster_program.LIMITS
DESCRIPTION: Final = "CROWDD_CERTIFICATE"
"""The variable of the environment with the certificate, as JSON."""


def make_pdf() -> bytes:
    """The PDF, or ``{"missing": "…"}`` with the letters that no font has; ``{}`` without libraries."""
    certificate = CertificatePage(**orjson.loads(os.environ[DESCRIPTION]))
    try:
        fonts = fonts_for(certificate.texts)
        if fonts.missing:
            return orjson.dumps({"missing": "".join(sorted(fonts.missing))})
        return draw(certificate.without(fonts.unprinted), fonts.more)
    except ModuleNotFoundError:
        return b"{}"
