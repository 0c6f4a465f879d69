"""The plan of what is wanted, and running what is missing.

Begin with `steps_table`, then `plan`, `run` and `workflow`.
"""
