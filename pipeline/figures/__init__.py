"""Figures: what each reads of finished runs, and the caption below it.

Begin with `figure_names`: a figure is a file of the folder captions, which says what it
shows, and a function of analysis.figures, which draws it. `read_runs` reads runs for
it.
"""
