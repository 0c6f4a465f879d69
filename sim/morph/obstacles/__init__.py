"""Bodies that cannot overlap, ranges that cannot be left, and their potential.

Read `pairs` (what can meet), then `volume` (the barrier potential).
"""
