"""What all solvers share: array types, options, compiled kernels, hinges.

Read `arrays`, `options`, `numba_kernels`; `modules` tells what code a kernel or a run
is.
"""
