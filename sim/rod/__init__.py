"""Planar discrete rods and networks of rods on rough ground, [Hu20]."""
