"""The printed part, and what a scanner does to it; all that it makes is synthetic.

Read `lab_settings`, `solids_of_revolution`, `printed_pieces` (what is printed),
`overlapping_pieces` (what does not fit), `assembled_part` (assembled), `scan`.
"""
