"""MLflow: one process follows the run folders of a command or of a session.

Begin with `logging_process`, which starts and is that process, and `unlogged_runs`,
which it runs; `logged_contents` says what MLflow gets of a run; `mlflow_runs` writes
it, `mlflow_location` says where, `mlflow_database` makes the file.
"""
