"""Analyses of the answers of a project: labels of tasks and accuracies of volunteers, by a stated method."""
