"""Mechanisms with a name: sheets, lattices, linkages."""
