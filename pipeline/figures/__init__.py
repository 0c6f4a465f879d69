"""One module a figure: `draw` reads what finished runs left and calls analysis.figures.

The module of the figure NAME is NAME with underscores, such as dejong_3 for dejong-3.
"""
