"""The printed part: its geometry, once for the printer and for the virtual scanner."""
