"""Origami as bars and hinges, with contact: Sect. 4 and 5 of [ZF19].

Read `pattern` (creases and panels), `model` (bars and hinges with stiffness), `loading`
(what is asked), `folding` (how the sheet follows). Begin with `folding.folding`, which
runs the others.
"""
