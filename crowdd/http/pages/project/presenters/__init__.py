"""Pages of a project's presenter: the editor, and what volunteers see."""
