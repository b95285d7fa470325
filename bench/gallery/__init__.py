"""Makes the sample data of templates and examples, and the thumbnails of templates. All of it is drawn and synthesised.

``python -m bench.gallery.samples`` writes the files, always the same ones. ``python -m bench.gallery.thumbnails`` draws
the thumbnails with Chromium. What they write is in the public domain (CC0 1.0).
"""
