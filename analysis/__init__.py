"""Tables and figures from what was simulated and what was scanned.

From a scan to a verdict: `spheres`, `labels`, `alignment`, `validation`.
"""
