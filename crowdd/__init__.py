"""crowdd: a crowdsourcing server."""

from pathlib import Path
from typing import Final

__version__ = "0.1.0"
PACKAGE: Final = Path(__file__).parent
"""Where its files lie."""
