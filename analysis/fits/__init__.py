"""Parameters from measured series, and what a series does not determine.

Begin with `parameter_fit`.
"""
