"""Which sphere is which node.

Begin with `rigid_distances`, then `assign_labels`, which follows starts by
`beam_search`, weighs by `scoring` and ends in `ambiguity`; `scale_and_mirror_checks`
and `rigid_bodies` tell whether the answer can be, `label_tracks` carries labels through
frames.
"""
