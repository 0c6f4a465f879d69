"""The Python interface, which `import morphtrack as mt` offers.

Read `runs` (a case is simulated once, and compared with a scan), then what cases are
made of: `mechanisms`, `targets`, `patterns`, `robots`. `cases` has the cases, and says
how an object becomes the configuration of its run.
"""
