"""What a study tries, a designer drives, and a printer spaces.

Begin with `sampling`; `drivers`, `energy_profile` and `spacing` stand by themselves.
"""
