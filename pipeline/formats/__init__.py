"""Files of other kinds: structures, crease patterns, rods, meshes, series.

Begin with `json_file`, by which all are read that a person writes; then what each may
say: `structure_file` and the others of its name, `fold_file` (drawings come to it by
`crease_lines` and `dxf_file`), `rod_entries` (which puts together `rod_drawing`,
`rod_loading` and `rod_driven`) before `rod_file`. `solids` and `printed_files` are what
is printed, `vtk_series` what moves.
"""
