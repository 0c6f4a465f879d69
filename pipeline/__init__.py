"""Files, command lines and tools around the solvers.

Begin with `steps` (what a command computes), `cases` (what is simulated) and `runs`
(a run on disk). `io` reads and writes files, `workflow` gives Snakemake its jobs, and
docs/explanation/architecture.md has the reasons.
"""
