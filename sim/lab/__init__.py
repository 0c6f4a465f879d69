"""The printed part, and what a scanner does to it; all that it makes is synthetic."""
