"""Calibrations of a mechanism as built: poses, settings, tables and repetitions."""
