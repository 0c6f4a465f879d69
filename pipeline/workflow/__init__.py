"""What conf/workflow.yaml asks for, and making one step of it.

Begin with `make_step`, then `plan`, `study_batches` and the Snakefile, which asks them.
"""
