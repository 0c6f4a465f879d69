"""What a mechanism is: nodes, constraints, joints (Figs. 4, 6 of [dJ23]), bodies.

Read `constraints` (six kinds of rows), `joints` (made of them), `structure` (nodes with
constraints), `measures` (E, S and L); then `solids` and `ranges`, which [dJ23] leaves
out.
"""
