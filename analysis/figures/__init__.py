"""Functions from tables to a Figure, one module a paper or topic; files are not read.

Begin with `style`, which sets sizes, fonts and the line that names the runs.
"""
