"""A picture for a project that has none: rings in the colours of a blueprint, always the same for a name."""

from __future__ import annotations

import hashlib
import random
from functools import lru_cache
from typing import Final

from markupsafe import Markup

WIDTH: Final = 480
HEIGHT: Final = 320
# Ground and line.
_INKS: Final = (("#0b3f63", "#dbe8f0"), ("#17536f", "#dcebe9"), ("#0f4a52", "#d6e7dd"), ("#d9e1e3", "#1c557c"))


@lru_cache(maxsize=2048)
def drawing(name: str) -> Markup:
    """The ``<svg>`` of a name: 480 by 320, cropped by its box like a photograph, silent for screen readers.

    It has numbers and colours of this module only, nothing of the name itself.
    """
    chance = random.Random(hashlib.sha256(name.encode()).digest())  # noqa: S311 - not a secret
    (ground, line), x, y = chance.choice(_INKS), chance.randint(40, WIDTH - 40), chance.randint(40, HEIGHT - 40)
    rings = "".join(f'<circle cx="{x}" cy="{y}" r="{r + chance.randint(0, 12)}"/>' for r in range(8, 560, 16))
    return Markup(  # noqa: S704 - see above
        f'<svg class="print" viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="xMidYMid slice" aria-hidden="true">'
        f'<path fill="{ground}" d="M0 0h{WIDTH}v{HEIGHT}H0z"/>'
        f'<g stroke="{line}" stroke-width="1.6" opacity=".85" fill="none">{rings}</g></svg>'
    )
