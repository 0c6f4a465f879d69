"""Predictions of measured records, judged: what is fitted, what is left, what holds.

Begin with `series`, then `posterior` (the fit, by `least_misfit` of `fitted_records`),
`model_error`, `prediction`, `judgement`; the others read numbers off kinds of records.
"""
