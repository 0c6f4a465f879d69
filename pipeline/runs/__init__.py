"""Runs on disk: what names them, where they are, who works on them, what they came to.

Begin with `run_directory` and `run_keys`, then `run_attempts` and `step_jobs`;
`study_members` are many runs; `summary`, `run_differences` and `provenance` read
finished ones; `sidecars` name the runs that a file is made of.
"""
