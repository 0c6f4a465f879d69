"""One module a step: its configuration and its function.

Each has `perform(job, needs, out)`, which pipeline.workflow.make_step names. Begin
with `compare_series`, a short one, or with `simulate`.
"""
