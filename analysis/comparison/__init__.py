"""Does a simulation agree with a scan? Begin with `validation`, then `verdicts`.

`assumptions` is what is stated beforehand; `deviation`, `validation_uncertainty` and
`input_uncertainty` are what a verdict needs; `compare_series` compares measured series.
"""
