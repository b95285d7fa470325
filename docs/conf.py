"""How the site of these texts is made: ``make docs``."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import reference

project = "crowdd"
author = "the people of crowdd"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "crowdd"
html_copy_source = False
html_show_copyright = False
exclude_patterns = ["_build"]
myst_heading_anchors = 3
# Texts link to files of the source too, which the site does not have.
suppress_warnings = ["myst.xref_missing"]

# Tables of what is declared in the code, rewritten each time.
reference.write(HERE / "reference")
