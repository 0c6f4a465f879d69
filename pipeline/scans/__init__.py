"""From the points of a scan to its spheres: what finding them in files needs.

Begin with `merge_views`, the points; `sphere_tables` and `seed_spheres` are the tables;
`no_sphere_hints` says why no sphere is found; `scan_page` shows what was.
"""
