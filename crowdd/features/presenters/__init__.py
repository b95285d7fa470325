"""Presenters: the editor, the frames, and the pages on which tasks are answered."""
