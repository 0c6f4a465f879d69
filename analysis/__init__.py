"""Tables and figures from what was simulated and what was scanned.

From a scan to a verdict: `spheres`, `labels`, `alignment`, `comparison`. `calibration`
finds the lengths of a print, `measured` compares measured experiments with their
predictions, and `figures` draws.
"""
