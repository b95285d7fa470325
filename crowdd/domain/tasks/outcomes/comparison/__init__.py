"""Consensus of answer fields that takes longer than a transaction may: texts, boxes, points, areas and marked parts."""
