"""Proofs that run against a crowdd process over real sockets. What they share with the tests lies in tests/support."""

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [path for path in (str(ROOT / "tests"), str(ROOT / "clients/python/src")) if path not in sys.path]
