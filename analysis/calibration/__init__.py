"""Parameters from measurements: of a printed mechanism, and of models.

Begin with `as_built_unknowns`, then `as_built_fit` and `outlier_checks`: lengths,
offsets and play of the mechanism as it was printed. `parameter_fit` needs none of them.
"""
