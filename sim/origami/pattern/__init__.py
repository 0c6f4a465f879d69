"""Crease patterns: what they are, where they come from, what folds rigidly.

Read `pattern`; `fold_format` and `drawing` say what files hold, `tessellations` and
`units` make patterns, `panels` readies them for the model. Rigid panels: `rigid` (one
vertex), `rigid_path` (all).
"""
