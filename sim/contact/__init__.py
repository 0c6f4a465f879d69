"""Contact of triangulated panels: Sect. 3 of [ZF19], and edges that meet edges."""
