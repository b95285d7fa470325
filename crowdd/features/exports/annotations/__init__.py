"""The formats of other programs for marks: what each can hold, and how answers are written in it."""
