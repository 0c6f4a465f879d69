"""What a designer asks of a folded sheet: modes, stiffness, Poisson's ratios.

Read `modes` (a state of a run), `plate` (a sheet that repeats); `moving_state`,
`motion` (a sheet that is let go) and `rubbing` (friction in it).
"""
