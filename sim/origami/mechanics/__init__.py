"""What a designer asks of a folded sheet: modes, stiffness, Poisson's ratios, energies.

Read `modes` (a state of a run), `plate` (a sheet that repeats), `landscape` (energy by
folds that are held) and `basins`, its minima; `moving_state`, `motion` (a sheet that
is let go) and `rubbing` (friction in it).
"""
