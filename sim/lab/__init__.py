"""The printed part, and what a scanner does to it; all that it makes is synthetic.

Read `sizes`, `pieces` (what is printed, of `rods` and `solids`), `part` (assembled, by
`placing`), `layout` (on the beds); then `scanner`, `views`, `rays`, `measure`.
"""
