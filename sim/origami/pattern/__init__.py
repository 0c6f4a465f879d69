"""Crease patterns: what they are, where they come from, what folds rigidly."""
