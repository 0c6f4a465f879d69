"""Solvers: arrays in, arrays out; no files, no tools.

Read `linear` (sparse factorisations) and `contact` (distances, barrier) for what all
share, then one of the three models: `morph` for mechanisms that match a shape,
`origami` for sheets that fold, `rod` for soft robots that crawl. They do not know each
other. docs/glossary.md says what the words mean.
"""
