"""What a study tries, where a path rests, and what a printer spaces.

Begin with `sampling`; `energy_profile` and `spacing` stand by themselves.
"""
