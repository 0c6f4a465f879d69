"""Predictions of measured records, judged: what is fitted, what is left, what holds.

Begin with `predicted_quantities`, then `posterior` (the fit), `model_error`,
`prediction`, `prediction_verdicts`; `quantities` are numbers read off kinds of records.
"""
