"""Whether every run gives the same numbers after the code was rearranged.

A run's key changes with the code, and so do module paths and names of settings. Here a
run is found again by its step, its name and the settings that tell it from its like,
and its numbers are compared to the bit.
"""
