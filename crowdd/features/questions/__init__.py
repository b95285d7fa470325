"""Questions as data: the builder, answer fields, guides and earlier versions."""
