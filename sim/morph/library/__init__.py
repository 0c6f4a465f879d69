"""Mechanisms with a name: sheets, lattices, the pentapod."""
