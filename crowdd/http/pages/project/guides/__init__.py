"""The views of guides: the field guide, and the editors of both guides."""
