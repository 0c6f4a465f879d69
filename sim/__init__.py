"""Solvers: arrays in, arrays out; no files, no tools."""
