"""Which sphere is which node.

Begin with `mechanism`, then `assign`, which tries `starts`, follows them by `search`
and ends in `decide`; `checks` tells whether the answer can be.
"""
