"""Functions from tables to a Figure, one module a paper or topic; files are not read.

Begin with `style`, which sets sizes, fonts and the line that names the runs;
`panel_3d`, `mechanisms` and `folded_sheets` draw bodies, and `captions` what stands
below.
"""
