"""Predictions of measured records, judged: what is fitted, what is left, what holds.

Begin with `series`, then `posterior`, `model_error`, `interval`, `verdicts`.
"""
