"""The report: one page that holds all verdicts, figures and runs.

Begin with `report`, then `sections`.
"""
