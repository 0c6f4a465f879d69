"""What all solvers share: array types, options, compiled kernels, hinges.

Read `arrays`, `options`, `numba_kernels`; `imported_code` identifies the code of
kernels and runs.
"""
