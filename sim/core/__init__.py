"""What all solvers share: array types, options, compiled kernels, hinges.

Read `arrays`, `options`, `numba_kernels`; `modules` identifies the code of kernels and
runs.
"""
