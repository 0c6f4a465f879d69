"""Solvers: arrays in, arrays out; no files, no tools.

Read `core` (arrays, options, compiled kernels), `linalg` (sparse factorisations),
`optimize` (Newton's method that ends at minima) and `contact` (distances, barrier) for
what all share, then one of the three models: `mechanism` for mechanisms that match a
shape, `origami` for sheets that fold, `rods` for soft robots that crawl. None imports
another. `virtual_lab` prints and scans a simulated shape. docs/reference/glossary.md
has the terms.
"""
