"""Crease patterns: what they are, where they come from, what folds rigidly.

Read `pattern`; `generators` makes the usual ones, `fold_format` reads files, whose
lines `panels` turns into panels for the model, cut apart by `cuts`; `rigid_folding` has
the folds of rigid panels.
"""
