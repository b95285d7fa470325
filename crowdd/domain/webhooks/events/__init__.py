"""The kinds of events, one file each: a file here with an ``EVENT`` is all that a new kind takes.

Something of that kind happens by ``crowdd.storage.webhooks.events.add`` in the transaction that does it, or by a row of
``event`` that a function of the database writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules

from crowdd.domain.webhooks.event_kind import EventKind

_FOUND: list[EventKind] = [
    import_module(f"{__name__}.{module.name}").EVENT for module in sorted(iter_modules(__path__), key=lambda m: m.name)
]
KINDS: Mapping[str, EventKind] = {kind.name: kind for kind in _FOUND}
