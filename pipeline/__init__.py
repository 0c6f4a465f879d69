"""Files, command lines and tools around the solvers."""
