"""A finished run read back, for figures and comparisons.

Begin with `simulated_run`; `shown` is what a figure is given and gives.
"""
