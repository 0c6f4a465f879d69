"""The report: one page that holds all verdicts, figures and runs; a run's own page.

Begin with `index`, then `sections` and `collected_runs`; `one_run` draws a single run,
`scene` and `moving_shape` what both show; `manuscript` writes tables, numbers and the
article.
"""
