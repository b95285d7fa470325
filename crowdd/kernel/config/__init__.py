"""Settings: read from a file, overridden by the environment, checked once, then frozen.

A setting is declared once, in the file of its section: name, type, default and what it is for. ``make documents``
writes ``etc/crowdd.conf`` and the tables of ``docs/configuration.md`` from it. The environment overrides any setting as
``CROWDD_<SECTION>_<OPTION>``.
"""

from crowdd.kernel.config.settings import SECTIONS, Settings, load, options, origins, parse

__all__ = ["SECTIONS", "Settings", "load", "options", "origins", "parse"]
