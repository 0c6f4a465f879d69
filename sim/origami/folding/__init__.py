"""How a sheet follows its loading: equilibria, steps, stability, reactions.

Read `folding` (increments), `controls` and `actuated` (how each advances), then the
iterations: `equilibrium` (Newton's, and along a path) and `minimum` (with a line
search); `problem` and `sheet` are what they work on. The rest looks at what was found.
"""
