"""Files of other kinds: scans, meshes, structures, crease patterns, rods, motions.

Scans: begin with `point_cloud`, which asks `text_clouds`, `binary_clouds`,
`scanned_meshes` and `ply`; all give a `reader_interface`. Structures: `structure_file`.
Crease patterns: `fold_file`. Rods: `rod_file`. Motions: `measured_motions`. Records of
measurements: `record_files`.
"""
