"""Predictions of measured records, judged: what is fitted, what is left, what holds.

Begin with `predicted_quantities`, then `fit_with_model_error`, `model_error`,
`prediction`, `prediction_verdicts`; `quantities` are numbers read off kinds of records.
"""
