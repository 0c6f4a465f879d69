"""Files of other kinds: structures, meshes as targets, series, LaTeX."""
