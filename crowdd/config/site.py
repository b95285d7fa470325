"""The pages of the site."""

from __future__ import annotations

import attrs

from crowdd.config.option import option
from crowdd.config.parsers import boolean, contact


@attrs.frozen
class SiteSettings:
    """``[site]``: what the pages say about this server."""

    name: str = option("crowdd", doc="Name of the site.")
    texts: str = option(
        "",
        doc=(
            "Folder with your own about.md, help.md, terms.md, privacy.md, cookies.md and license.md. Add "
            "the language for translations: about.de.md is German. For missing files crowdd uses its own "
            "texts."
        ),
    )
    security_contact: str = option(
        "",
        contact,
        doc=(
            "Where to report vulnerabilities: an e-mail or https address, published in "
            "/.well-known/security.txt. Leave it empty to publish none."
        ),
    )
    debug: bool = option(
        False, boolean, doc="Show a page with all design elements at /about/design. Tracebacks are never shown."
    )
