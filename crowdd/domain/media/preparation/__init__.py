"""A process of its own for each file that an owner brings: what the file is, and the files that are made of it.

``process.py`` runs in the server. Everything else here, but for ``refusals.py``, runs in the process for one file.
"""
