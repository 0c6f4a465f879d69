"""Motion in time: implicit steps, and rest.

Begin with `simulate`; it calls, from long to short, `loop` (many steps), `advance` (a
full step, cut where a node lands), `rules` and `newmark` (one implicit step),
`contacts` (its contact problem; of many nodes `many_contacts`, of many edges
`many_touches`), and its loads of edges (`along`). `setting`, `state` and `workspace`
say what they work on, `world`, `surroundings` and `options` what they are given.
"""
