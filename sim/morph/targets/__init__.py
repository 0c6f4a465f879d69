"""Target shapes: the nearest point of each, and a wireframe to draw and print.

Read `protocol` (what a target is) and `surfaces`; the others are shapes of their own.
"""
