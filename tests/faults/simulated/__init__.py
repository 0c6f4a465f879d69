"""Every call of a small study and workflow to disk, server and clock, failing in turn.

`calls` counts them and fails one, `disk` knows what a power cut keeps, `server` stands
for MLflow's, `projects` are what is made, `branches` lets one making be failed at many
calls, `trials` makes it, fails, makes it again and counts. One fault again:
python -m tests.faults.simulated study "crash before" 17
"""
