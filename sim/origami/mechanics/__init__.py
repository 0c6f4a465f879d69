"""What a designer asks of a folded sheet: modes, stiffness, Poisson's ratios.

Read `modes` (a state of a run) and `plate` (a sheet that repeats).
"""
