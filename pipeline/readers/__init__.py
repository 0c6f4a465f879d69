"""Own readers for scan files from outside: checked before memory is taken for them.

A reader never invents a point: what a file promises and does not hold is an error.
"""
