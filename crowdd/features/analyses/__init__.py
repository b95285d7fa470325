"""Analyses of answers: Dawid-Skene, GLAD, MACE and their process."""
