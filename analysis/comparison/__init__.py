"""Does a simulation agree with a scan? Begin with `compare_scan`.

Then read `verdict_and_budget`. `assumptions` is what is stated beforehand; `deviation`,
`error_sources` and `input_uncertainty` are what a verdict needs; `compare_series`
compares measured series.
"""
