"""Springs, hinges and loads on a mechanism: equilibria, snapping, driving.

Read `elastic` (links and hinges), `loaded` (what acts), `potential` (the energy),
`equilibrium` (its minimum); then `snap` (along a driven coordinate) and `driving`.
"""
