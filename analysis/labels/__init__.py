"""Which sphere is which node.

Begin with `rigid_distances`, then `assign_labels`: `beam_search` finds labellings,
`scoring` rates them, and `ambiguity` withdraws labels that have a close competitor.
`scale_and_mirror_checks` and `rigid_bodies` check the result; `label_tracks` carries
labels through the frames of a series.
"""
