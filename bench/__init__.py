"""Proofs that run against a crowdd process over real sockets. What they share with the tests lies in tests/support."""

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
if str(ROOT / "tests") not in sys.path:
    sys.path.insert(0, str(ROOT / "tests"))
