"""The version of the package, which its pyproject.toml reads, too."""

__version__ = "0.1.0"
