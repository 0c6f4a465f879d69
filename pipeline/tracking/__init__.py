"""MLflow as the index of all runs: opened when there is something to write.

Begin with `track`, then `record`; `store` and `database` are MLflow's side.
"""
