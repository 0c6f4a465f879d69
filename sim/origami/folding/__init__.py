"""How a sheet follows its loading: equilibria, steps, stability, reactions.

Read `folding` (increments), `controls` and `actuated` (how each advances), then the
iterations: `equilibrium` (Newton's, and along a path), `minimum` (with a line search)
and `large` (the same of many panels, with `far` moves); `problem` and `sheet` are what
they work on. The rest looks at what was found.
"""
