"""The questions of a project: what a change of them means, and their earlier versions."""
